# SPDX-License-Identifier: Apache-2.0
"""How much a split tells about the class, in fixed-point integers.

Sums of integers do not depend on their order. So neither the order of rows, nor the names (and hence the order) of
categories, nor the number of threads or machines that counted can change which split wins.
"""

from __future__ import annotations

import numpy as np
from numba import njit

TABLE = 1 << 16  # x·log2(x) is looked up below this and computed above


def scale_for(people: int) -> int:
    """The binary scale of the fixed-point numbers: as fine as float64 can tell for a table of this size."""
    bits = int(np.ceil(np.log2(max(people, 2) * max(np.log2(max(people, 2)), 1.0))))
    return max(8, min(24, 52 - bits))


@njit(cache=True, nogil=True)
def _term(x, scale):
    return np.int64(np.rint(x * np.log2(x) * scale)) if x > 1 else np.int64(0)


@njit(cache=True, nogil=True)
def log_table(n, scale):
    """x·log2(x) for x below n, in units of 1/scale."""
    table = np.zeros(n, dtype=np.int64)
    for x in range(2, n):
        table[x] = _term(x, scale)
    return table


@njit(cache=True, nogil=True)
def _impurity(counts, gini, table, scale):
    """People times entropy (bits) or Gini index of one group, in units of 1/scale."""
    people = np.int64(0)
    for c in range(len(counts)):
        people += counts[c]
    if people == 0:
        return np.int64(0)
    if gini:
        squares = 0.0
        for c in range(len(counts)):
            squares += np.float64(counts[c]) * np.float64(counts[c])
        return np.int64(np.rint((people - squares / people) * scale))
    total = table[people] if people < len(table) else _term(people, scale)
    for c in range(len(counts)):
        x = counts[c]
        total -= table[x] if x < len(table) else _term(x, scale)
    return total


@njit(cache=True, nogil=True)
def gains(counts, gini, table, scale, out):
    """out[s]: what splitting node s into groups gains, from counts[s, group, class]."""
    n_classes = counts.shape[2]
    whole = np.empty(n_classes, dtype=np.int64)
    for s in range(counts.shape[0]):
        whole[:] = 0
        parts = np.int64(0)
        for g in range(counts.shape[1]):
            parts += _impurity(counts[s, g], gini, table, scale)
            for c in range(n_classes):
                whole[c] += counts[s, g, c]
        out[s] = _impurity(whole, gini, table, scale) - parts


@njit(cache=True, nogil=True)
def threshold_gains(counts, n_known, gini, table, scale, out):
    """out[s, cut, side]: the gain of codes at most `cut` against the rest.

    Codes below n_known are ordered numbers; the one after them, if any, is missing and goes to the upper part
    (side 0) or to the lower (side 1).
    """
    n_classes = counts.shape[2]
    whole = np.empty(n_classes, dtype=np.int64)
    low = np.empty(n_classes, dtype=np.int64)
    high = np.empty(n_classes, dtype=np.int64)
    for s in range(counts.shape[0]):
        for side in range(out.shape[2]):
            for c in range(n_classes):
                whole[c] = 0
                low[c] = counts[s, n_known, c] if side == 1 else 0
                for code in range(counts.shape[1]):
                    whole[c] += counts[s, code, c]
            before = _impurity(whole, gini, table, scale)
            for cut in range(n_known - 1):
                moved = False
                for c in range(n_classes):
                    moved = moved or counts[s, cut, c] > 0
                    low[c] += counts[s, cut, c]
                    high[c] = whole[c] - low[c]
                if moved or cut == 0:
                    out[s, cut, side] = (
                        before - _impurity(low, gini, table, scale) - _impurity(high, gini, table, scale)
                    )
                else:  # nobody has this value: the same two parts as one cut below
                    out[s, cut, side] = out[s, cut - 1, side]


@njit(cache=True, nogil=True)
def best_cuts(counts, n_known, least, gini, table, scale, gain, position):
    """For each node its best cut whose two parts have at least `least` people: gain[s] and position[s].

    A position is cut · sides + side, as in `threshold_gains`; ties go to the first. 0 where no cut gains.
    """
    n_classes = counts.shape[2]
    sides = 2 if counts.shape[1] > n_known else 1
    whole = np.empty(n_classes, dtype=np.int64)
    low = np.empty(n_classes, dtype=np.int64)
    high = np.empty(n_classes, dtype=np.int64)
    for s in range(counts.shape[0]):
        for c in range(n_classes):
            whole[c] = 0
            for code in range(counts.shape[1]):
                whole[c] += counts[s, code, c]
        people = whole.sum()
        before = _impurity(whole, gini, table, scale)
        gain[s] = 0
        position[s] = 0
        for side in range(sides):
            n_low = np.int64(0)
            for c in range(n_classes):
                low[c] = counts[s, n_known, c] if side == 1 else 0
                n_low += low[c]
            for cut in range(n_known - 1):
                here = np.int64(0)
                for c in range(n_classes):
                    here += counts[s, cut, c]
                    low[c] += counts[s, cut, c]
                n_low += here
                if here == 0 and cut > 0:
                    continue  # the same two parts as one cut below
                if n_low < least or people - n_low < least:
                    continue
                for c in range(n_classes):
                    high[c] = whole[c] - low[c]
                found = before - _impurity(low, gini, table, scale) - _impurity(high, gini, table, scale)
                at = cut * sides + side
                if found > gain[s] or (found == gain[s] and found > 0 and at < position[s]):
                    gain[s] = found
                    position[s] = at
