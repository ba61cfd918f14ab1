# SPDX-License-Identifier: Apache-2.0
"""Random boosters and rows, and a walk down their trees that shares no code with the audit's."""

import numpy as np


def walk(grove, numbers):
    """The leaf of every row in every tree, one node at a time."""
    leaves = np.empty((len(numbers), grove.n_trees), dtype=np.int64)
    for t, root in enumerate(grove.roots):
        at = np.full(len(numbers), root)
        while (open_ := grove.feature[at] >= 0).any():
            for node in np.unique(at[open_]):
                rows = np.flatnonzero(at == node)
                left = grove.goes_left(node, numbers[rows, grove.feature[node]])
                at[rows] = np.where(left, grove.left[node], grove.right[node])
        leaves[:, t] = at
    return leaves


def same_leaves(ours, theirs):
    """Whether two ways to number leaves tell the same rows apart, tree by tree."""
    assert ours.shape == theirs.shape
    for a, b in zip(ours.T, theirs.T, strict=True):
        pairs = np.unique(np.stack([a, b]), axis=1)
        if not len(np.unique(pairs[0])) == len(np.unique(pairs[1])) == pairs.shape[1]:
            return False
    return True


def random_rows(rng, n=150, missing=0.15, categories=12):
    """A number with few digits, a small whole number with zero among them, and a category's number."""
    rows = np.column_stack(
        [np.round(rng.normal(size=n), 1), rng.integers(-2, 3, n), rng.integers(0, categories, n)]
    ).astype(np.float64)
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows


def is_trees(grove):
    """Every node is met exactly once on the way down from the roots."""
    met, stack = [], list(grove.roots)
    while stack:
        node = stack.pop()
        met.append(int(node))
        assert (grove.left[node] < 0) == (grove.right[node] < 0) == (grove.feature[node] < 0)
        if grove.feature[node] >= 0:
            stack += [grove.left[node], grove.right[node]]
        assert grove.left_set[node] < len(grove.sets)
    return sorted(met) == list(range(grove.n_nodes))
