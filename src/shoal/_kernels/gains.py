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
def _impurity_of_two(a, b, gini, table, scale):
    """`_impurity` of a group of two classes."""
    people = a + b
    if people == 0:
        return np.int64(0)
    if gini:
        squares = np.float64(a) * np.float64(a) + np.float64(b) * np.float64(b)
        return np.int64(np.rint((people - squares / people) * scale))
    if people < len(table):
        return table[people] - table[a] - table[b]
    total = _term(people, scale)
    total -= table[a] if a < len(table) else _term(a, scale)
    return total - (table[b] if b < len(table) else _term(b, scale))


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
            low_0, low_1 = low[0], low[n_classes - 1]
            for cut in range(n_known - 1):
                if n_classes == 2:  # the usual case, without arrays
                    here_0, here_1 = counts[s, cut, 0], counts[s, cut, 1]
                    low_0 += here_0
                    low_1 += here_1
                    if here_0 + here_1 == 0 and cut > 0:
                        out[s, cut, side] = out[s, cut - 1, side]
                        continue
                    parts = _impurity_of_two(low_0, low_1, gini, table, scale)
                    parts += _impurity_of_two(whole[0] - low_0, whole[1] - low_1, gini, table, scale)
                    out[s, cut, side] = before - parts
                    continue
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
    two = n_classes == 2  # the usual case, without arrays
    whole = np.empty(n_classes, dtype=np.int64)
    low = np.empty(n_classes, dtype=np.int64)
    high = np.empty(n_classes, dtype=np.int64)
    for s in range(counts.shape[0]):
        whole[:] = 0
        for code in range(counts.shape[1]):
            for c in range(n_classes):
                whole[c] += counts[s, code, c]
        people = whole.sum()
        before = _impurity(whole, gini, table, scale)
        gain[s] = 0
        position[s] = 0
        if people < 2 * least:
            continue
        for side in range(sides):
            n_low = np.int64(0)
            for c in range(n_classes):
                low[c] = counts[s, n_known, c] if side == 1 else 0
                n_low += low[c]
            low_0, low_1 = low[0], low[n_classes - 1]
            for cut in range(n_known - 1):
                if two:
                    here = counts[s, cut, 0] + counts[s, cut, 1]
                    low_0 += counts[s, cut, 0]
                    low_1 += counts[s, cut, 1]
                else:
                    here = np.int64(0)
                    for c in range(n_classes):
                        here += counts[s, cut, c]
                        low[c] += counts[s, cut, c]
                n_low += here
                if here == 0 and cut > 0:
                    continue  # the same two parts as one cut below
                if n_low < least:
                    continue
                if people - n_low < least:
                    break
                if two:
                    parts = _impurity_of_two(low_0, low_1, gini, table, scale)
                    parts += _impurity_of_two(whole[0] - low_0, whole[1] - low_1, gini, table, scale)
                else:
                    for c in range(n_classes):
                        high[c] = whole[c] - low[c]
                    parts = _impurity(low, gini, table, scale) + _impurity(high, gini, table, scale)
                at = cut * sides + side
                if before - parts > gain[s] or (before - parts == gain[s] > 0 and at < position[s]):
                    gain[s] = before - parts
                    position[s] = at


@njit(cache=True, nogil=True)
def order_halves(counts, units, rare, order):
    """order[s]: the codes of each node by their share of its main class, those of fewer than `rare` people by the share
    they have together (and after others of the same share). In shares a person of class c counts units[c] times."""
    n_codes, n_classes = counts.shape[1], counts.shape[2]
    people = np.empty(n_codes, dtype=np.int64)
    weight = np.empty(n_codes, dtype=np.int64)
    share = np.empty(n_codes, dtype=np.float64)
    for s in range(counts.shape[0]):
        main, most = 0, np.int64(-1)
        for c in range(n_classes):
            of_class = np.int64(0)
            for code in range(n_codes):
                of_class += counts[s, code, c] * units[c]
            if of_class > most:
                main, most = c, of_class
        all_rare, main_rare = np.int64(0), np.int64(0)
        for code in range(n_codes):
            people[code] = 0
            weight[code] = 0
            for c in range(n_classes):
                people[code] += counts[s, code, c]
                weight[code] += counts[s, code, c] * units[c]
            if people[code] < rare:
                all_rare += weight[code]
                main_rare += counts[s, code, main] * units[main]
        of_rare = main_rare / max(all_rare, 1)
        # common codes first, then a sort that keeps the order of equals
        at = 0
        for common in (True, False):
            for code in range(n_codes):
                if (people[code] >= rare) == common:
                    order[s, at] = code
                    share[at] = counts[s, code, main] * units[main] / weight[code] if common else of_rare
                    at += 1
        order[s] = order[s][np.argsort(share, kind="mergesort")]


@njit(cache=True, nogil=True)
def best_halves(counts, order, rare, least, gini, table, scale, gain, position):
    """`best_cuts` of codes that stand in a node's own order; no cut goes between two rare codes."""
    n_codes, n_classes = counts.shape[1], counts.shape[2]
    whole = np.empty(n_classes, dtype=np.int64)
    low = np.empty(n_classes, dtype=np.int64)
    high = np.empty(n_classes, dtype=np.int64)
    for s in range(counts.shape[0]):
        for c in range(n_classes):
            whole[c] = 0
            low[c] = 0
            for code in range(n_codes):
                whole[c] += counts[s, code, c]
        people = whole.sum()
        before = _impurity(whole, gini, table, scale)
        gain[s] = 0
        position[s] = 0
        n_low = np.int64(0)
        after = counts[s, order[s, 0]].sum()
        for cut in range(n_codes - 1):
            here, after = after, counts[s, order[s, cut + 1]].sum()
            for c in range(n_classes):
                low[c] += counts[s, order[s, cut], c]
            n_low += here
            if (here < rare and after < rare) or n_low < least or people - n_low < least:
                continue
            for c in range(n_classes):
                high[c] = whole[c] - low[c]
            found = before - _impurity(low, gini, table, scale) - _impurity(high, gini, table, scale)
            if found > gain[s]:
                gain[s] = found
                position[s] = cut
