# SPDX-License-Identifier: Apache-2.0
"""What each node of a tree answers with. Classes may have weights: their counts are multiplied by them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.release.node import Node

Counts = NDArray[np.int64]
Shares = NDArray[np.float64]

LEAST_WEIGHT = 1e-9  # of a class; the largest is one over it, so that no product overflows


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


def stated_shares(nodes: Sequence[Node], n_classes: int) -> Shares:
    """The shares that nodes state; NaN for a node that states none."""
    shares = np.full((len(nodes), n_classes), np.nan)
    for number, node in enumerate(nodes):
        if node.shares is not None:
            shares[number] = node.shares
    return shares


def are_weights(weights: Sequence[float], n_classes: int) -> bool:
    """Whether these can be the weights of classes."""
    return len(weights) == n_classes and all(LEAST_WEIGHT <= weight <= 1 / LEAST_WEIGHT for weight in weights)


def weighted(numbers: NDArray[np.int64] | Shares, weights: Sequence[float] | None) -> Shares:
    """Shares of counts or of shares, each class by its weight; they add up to 1."""
    heavy = numbers if weights is None else numbers * np.array(weights)
    shares: Shares = heavy / heavy.sum(axis=1, keepdims=True)
    return shares


def likeliest(counts: Counts, weights: Sequence[float] | None) -> Counts:
    """The class with the largest count, each by its weight; the first of several."""
    answers: Counts = (counts if weights is None else counts * np.array(weights)).argmax(axis=1)
    return answers


def shares_of(shares: Shares, nodes: Counts) -> Shares:
    """The shares where some rows end; refused where a row ends at a node that states none."""
    answer: Shares = shares[nodes]
    untold = int(np.isnan(answer[:, 0]).sum())
    if untold:
        raise DataError(
            "no-probabilities",
            f"{untold:,} row(s) stop at a split, of which this release states only the predicted class. "
            "Try predict, or map their values to the declared domain first.",
        )
    return answer
