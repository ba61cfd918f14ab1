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


def still_left_out(
    codes: Sequence[NDArray[Any]], target: NDArray[Any], known: Sequence[Sequence[int]], left_out: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Of rows that were left out, those that must stay so once the projections are chosen.

    `known` are the public features of each projection. A row comes back when its values and class are there already in
    every projection: then every count only grows. The other rows would add new ones.
    """
    stays = np.zeros(len(left_out), dtype=bool)
    for features in known:
        cells = np.stack([target, *(codes[feature] for feature in features)])
        number = np.unique(cells, axis=1, return_inverse=True)[1].reshape(-1)
        there = np.zeros(int(number.max()) + 1, dtype=bool)
        there[number[~left_out]] = True
        stays |= ~there[number]
    return stays
