# SPDX-License-Identifier: Apache-2.0
"""Splits of a repaired tree, or trees of a repaired forest, that are not worth keeping."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column
from shoal.repair.regrow import Kept
from shoal.trees.prune import expected_errors

CONFIDENCE = 0.05  # of the limit that errors are expected at, as in the trees that Shoal mines
LEAST = 1e-6  # no share is taken for less: one person in an empty leaf must not decide about a tree


def prune(root: Kept, target: Column, weight: NDArray[np.float64]) -> None:
    """Undo splits below which no fewer errors are expected than without them, from the leaves up.

    `weight` is that of a person by class, where the average person weighs one.
    """
    order = [root]
    for node in order:
        order += node.children
    expected: dict[int, float] = {}
    for node in reversed(order):
        counts = np.bincount(target.codes[node.rows], minlength=target.n_codes) * weight
        people = counts.sum(keepdims=True)
        as_leaf = float(expected_errors(people, people - counts.max(), CONFIDENCE)[0])
        below = sum(expected[id(child)] for child in node.children)
        if node.children and as_leaf <= below:
            node.column, node.way_of_code, node.children = None, None, []
        expected[id(node)] = below if node.children else as_leaf


def worth_keeping(shares: list[NDArray[np.float64]], target: Column, weight: NDArray[np.float64]) -> list[int]:
    """Trees of a forest that make its answer better, by the likelihood of the rows' own classes, best first.

    Taken back to what is safe, most trees know little, and the average of all says less than that of a few. `shares`
    are those of each tree for the rows, `weight` that of a person by class.
    """
    rows = np.arange(len(target.codes))
    own = [share[rows, target.codes] for share in shares]
    weights = weight[target.codes]
    order = sorted(range(len(own)), key=lambda t: _loss(own[t], weights))
    kept, total = [order[0]], own[order[0]].copy()
    best = _loss(total, weights)
    for t in order[1:]:
        loss = _loss((total + own[t]) / (len(kept) + 1), weights)
        if loss < best:
            kept.append(t)
            total += own[t]
            best = loss
    return sorted(kept)


def _loss(shares: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float(-(weights * np.log(np.maximum(shares, LEAST))).mean())
