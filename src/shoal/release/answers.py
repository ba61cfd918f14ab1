# SPDX-License-Identifier: Apache-2.0
"""What each node of a tree answers with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.release.node import Node

Counts = NDArray[np.int64]


def people_by_class(nodes: Sequence[Node], n_classes: int) -> Counts:
    """How many people of each class are in each node: leaves as they say, inner nodes as their sums."""
    counts = np.zeros((len(nodes), n_classes), dtype=np.int64)
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        if node.counts is not None:
            counts[number] = node.counts
        for branch in node.branches:
            counts[number] += counts[branch.node]
    return counts


def believed(nodes: Sequence[Node], counts: Counts) -> Counts:
    """The counts a prediction rests on: a node nobody is in takes those of its nearest ancestor."""
    answer = counts.copy()
    for number, node in enumerate(nodes):
        for branch in node.branches:
            if not answer[branch.node].any():
                answer[branch.node] = answer[number]
    return answer
