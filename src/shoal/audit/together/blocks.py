# SPDX-License-Identifier: Apache-2.0
"""Blocks of people of whom published counts tell a histogram."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from shoal.audit.groups import Ids, Spans
from shoal.audit.spans import TreeSpans


def tree_blocks(tree_spans: TreeSpans, spans: Spans) -> Ids:
    """Blocks of people: those whose spans share a leaf, directly or through others.

    The leaves of a block are in no other block's spans, so their published counts are the block's histogram.
    """
    if spans.disjoint:
        return spans.of_row
    leaves = [np.array(tree_spans.leaves_of(int(row)), dtype=np.int64) for row in spans.example]
    group = np.repeat(np.arange(len(leaves)), [len(each) for each in leaves])
    return components(group, np.concatenate(leaves), len(leaves))[spans.of_row]


def components(left: Ids, right: Ids, n: int) -> Ids:
    """For each of `n` things on the left, which part of the graph of pairs it is in."""
    m = int(right.max(initial=-1)) + 1
    pairs = sparse.csr_array((np.ones(len(left), dtype=np.int8), (left, n + right)), shape=(n + m, n + m))
    _, part = connected_components(pairs, directed=False)
    return np.asarray(part[:n], dtype=np.int64)
