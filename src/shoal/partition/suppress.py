# SPDX-License-Identifier: Apache-2.0
"""Rows to leave out, within a budget, so that more columns can be published (Sect. 5.10 and Fig. 13 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def rows_to_leave_out(
    codes: Sequence[NDArray[Any]], n_values: Sequence[int], quasi: Sequence[int], k: int, budget: int
) -> NDArray[np.bool_]:
    """The rows whose values of some public column are too rare for it to be in any projection.

    A column is made usable by leaving out all rows whose value of it fewer than k rows have. The column that costs the
    fewest rows comes first, as long as the budget lasts; rows that are gone may make values of other columns rare, so
    costs are counted anew each time.

    Examples
    --------
    One of four people has a value of his own in the first column; without him it can be published at k = 3:

    >>> rows_to_leave_out([np.array([0, 0, 0, 1]), np.array([0, 1, 2, 3])], [2, 4], [0, 1], 3, budget=1).tolist()
    [False, False, False, True]
    """
    n_rows = len(codes[0])
    left_out = np.zeros(n_rows, dtype=bool)
    chosen: set[int] = set()
    while True:
        costs = {}
        for feature in quasi:
            counts = np.bincount(codes[feature][~left_out], minlength=n_values[feature])
            rare = ~left_out & (counts[codes[feature]] < k)
            if rare.any():
                costs[feature] = rare
        # a column that was paid for before comes first: what it cost would otherwise be for nothing
        order = sorted(costs, key=lambda feature: (feature not in chosen, int(costs[feature].sum()), feature))
        for feature in order:
            wider = left_out | costs[feature]
            if int(wider.sum()) <= budget:
                left_out = wider
                chosen.add(feature)
                break
        else:
            return left_out


def groups_to_leave_out(
    codes: Sequence[NDArray[Any]], known: Sequence[Sequence[int]], k: int, left_out: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """`left_out`, and the rows of every group that then has fewer than k, whole groups of some projection each time.

    `known` are the public features of each projection. Only public values decide who is left out, and never the class:
    whoever knows them sees who is missing, and would otherwise learn of his class from that.

    >>> groups_to_leave_out([np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1])], [[0], [1]], 2, np.zeros(4, dtype=bool))
    array([ True, False, False,  True])
    """
    groups = [_groups(codes, features, len(left_out)) for features in known]
    while True:
        before = left_out
        for group in groups:
            left_out = left_out | (np.bincount(group[~left_out], minlength=int(group.max()) + 1)[group] < k)
        if (left_out == before).all():
            return left_out


def groups_with_new_classes(
    codes: Sequence[NDArray[Any]], target: NDArray[Any], known: Sequence[Sequence[int]], kept: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """The rows of every group, of some projection, in which somebody has a class that none of its `kept` rows has."""
    found = np.zeros(len(target), dtype=bool)
    n_classes = int(target.max()) + 1
    for features in known:
        group = _groups(codes, features, len(target))
        cell = group * n_classes + target
        there = np.bincount(cell[kept], minlength=(int(group.max()) + 1) * n_classes) > 0
        found |= np.isin(group, group[~there[cell]])
    return found


def _groups(codes: Sequence[NDArray[Any]], features: Sequence[int], n_rows: int) -> NDArray[np.int64]:
    """The number of each row's group by its values of some features."""
    group = np.zeros(n_rows, dtype=np.int64)
    for feature in features:
        group = np.unique(group * (int(codes[feature].max()) + 1) + codes[feature], return_inverse=True)[1].reshape(-1)
    return group
