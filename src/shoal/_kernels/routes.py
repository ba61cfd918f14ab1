# SPDX-License-Identifier: Apache-2.0
"""Sending rows down a tree of splits, and counting them where they end.

Rows come in blocks of codes (columns × rows) that are never sorted: each round begins at the root again.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def ends(codes, column, start, child, out):
    """out[i]: where row i ends.

    Set s is split by column[s] (−1: not at all), and child[start[s] + code] is where a code leads; −1: nowhere.
    """
    for i in range(codes.shape[1]):
        s = 0
        while s >= 0 and column[s] >= 0:
            s = child[start[s] + codes[column[s], i]]
        out[i] = s


@njit(cache=True, nogil=True)
def count_ends(codes, row_of, where, columns, first, n_values, values, people, out):
    """Add to out[row_of[where], first[f] + code · n_values + value] the people of each row; row_of −1 leaves them out.

    There is one `first` for each of `columns`.
    """
    for number in range(len(columns)):
        f, at = columns[number], first[number]
        for i in range(codes.shape[1]):
            s = where[i]
            if s < 0:
                continue
            row = row_of[s]
            if row >= 0:
                out[row, at + np.int64(codes[f, i]) * n_values + values[i]] += people[i]
