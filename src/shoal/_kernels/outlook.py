# SPDX-License-Identifier: Apache-2.0
"""What a split leads to: the cost of the trees that would grow below it, without growing them for good.

All of it is in whole numbers (see `gains`): bits about the class and the price of leaves, in units of 1/scale.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal._kernels.gains import _impurity


@njit(cache=True, nogil=True)
def _count(codes, classes, order, start, end, first, out):
    for i in range(start, end):
        row = order[i]
        c = classes[row]
        for f in range(codes.shape[1]):
            out[first[f] + codes[row, f], c] += 1


@njit(cache=True, nogil=True)
def _best_cut(counts, n_known, whole, people, before, least, gini, table, scale, low, high):
    """The best cut of an ordered feature: gain, cut and side (1: missing goes below)."""
    best, cut, side = np.int64(0), -1, 0
    for below in range(1 + len(counts) - n_known):
        n_low = np.int64(0)
        for c in range(len(low)):
            low[c] = counts[n_known, c] if below else 0
            n_low += low[c]
        for code in range(n_known - 1):
            here = np.int64(0)
            for c in range(len(low)):
                here += counts[code, c]
                low[c] += counts[code, c]
            if here == 0:
                continue
            n_low += here
            if people - n_low < least:
                break
            if n_low < least:
                continue
            for c in range(len(low)):
                high[c] = whole[c] - low[c]
            gain = before - _impurity(low, gini, table, scale) - _impurity(high, gini, table, scale)
            if gain > best:
                best, cut, side = gain, code, below
    return best, cut, side


@njit(cache=True, nogil=True)
def _order_values(counts, main, rare, values, shares, sizes):
    """Values that are not rare, by their share of the main class; how many, how many people are rare, their share."""
    n, few, few_main = 0, np.int64(0), np.int64(0)
    for value in range(len(counts)):
        size = np.int64(0)
        for c in range(counts.shape[1]):
            size += counts[value, c]
        sizes[value] = size
        if size < rare:
            few += size
            few_main += counts[value, main]
            continue
        share = counts[value, main] / size
        at = n
        while at > 0 and shares[at - 1] > share:
            shares[at], values[at] = shares[at - 1], values[at - 1]
            at -= 1
        shares[at], values[at] = share, value
        n += 1
    return n, few, few_main / few if few else 0.0


@njit(cache=True, nogil=True)
def _best_half(counts, whole, people, before, least, rare, gini, table, scale, low, high, values, shares, sizes):
    """The best cut through values ordered by class: gain, how many values are below, whether the rare ones are."""
    main = 0
    for c in range(len(whole)):
        low[c] = 0
        if whole[c] > whole[main]:
            main = c
    n, few, few_share = _order_values(counts, main, rare, values, shares, sizes)
    best, length, with_rare = np.int64(0), -1, False
    n_low, at, placed = np.int64(0), 0, few == 0
    while at < n or not placed:
        if not placed and (at == n or shares[at] > few_share):
            placed = True
            for value in range(len(counts)):
                if sizes[value] < rare:
                    for c in range(len(low)):
                        low[c] += counts[value, c]
            n_low += few
        else:
            for c in range(len(low)):
                low[c] += counts[values[at], c]
            n_low += sizes[values[at]]
            at += 1
        if n_low < least or people - n_low < least:
            continue
        for c in range(len(low)):
            high[c] = whole[c] - low[c]
        gain = before - _impurity(low, gini, table, scale) - _impurity(high, gini, table, scale)
        if gain > best:
            best, length, with_rare = gain, at, placed and few > 0
    return best, length, with_rare


@njit(cache=True, nogil=True)
def _part(codes, f, goes_low, order, start, end, kept):
    """Put those first whose code goes low; where the others start."""
    at, n = start, 0
    for i in range(start, end):
        row = order[i]
        if goes_low[codes[row, f]]:
            order[at] = row
            at += 1
        else:
            kept[n] = row
            n += 1
    order[at:end] = kept[:n]
    return at


@njit(cache=True, nogil=True)
def _grown_cost(codes, classes, order, start, end, first, n_codes, ordered, missing, least, rare, fewest, price, gini,
                table, scale, tables, work):  # fmt: skip
    """The cost of the tree that grows on order[start:end], greedily and then pruned; tables[0] holds its counts.

    The smaller part of a split is counted and done first, the larger gets the rest of the counts: so there are never
    more than log2(people) tables at a time.
    """
    n_classes = tables.shape[2]
    widest = n_codes.max()
    goes_low = np.zeros(widest, dtype=np.bool_)
    values, sizes, shares = np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(widest)
    low, high, whole = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    kept = np.empty(end - start, order.dtype)
    most = 2 * (end - start) + 1
    parent, cost, below = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    free = np.arange(len(tables) - 1, -1, -1)
    n_free, n_open, n_nodes = len(free) - 1, 1, 1  # the last one, 0, is taken
    parent[0] = -1
    work[0, 0], work[0, 1], work[0, 2], work[0, 3] = 0, start, end, 0
    while n_open:
        n_open -= 1
        node, start, end, place = work[n_open, 0], work[n_open, 1], work[n_open, 2], work[n_open, 3]
        counts, people = tables[place], end - start
        for c in range(n_classes):
            whole[c] = counts[: n_codes[0], c].sum()
        cost[node] = _impurity(whole, False, table, scale) + price
        below[node] = -1
        best, chosen = np.int64(0), -1
        # two leaves cost more than one whose bits are less than a leaf's price
        if cost[node] > 2 * price and people >= 2 * least and people >= fewest:
            before = _impurity(whole, gini, table, scale)
            for f in range(len(n_codes)):
                own = counts[first[f] : first[f] + n_codes[f]]
                if ordered[f]:
                    gain, cut, side = _best_cut(
                        own, n_codes[f] - missing[f], whole, people, before, least, gini, table, scale, low, high
                    )
                    if gain > best:
                        best, chosen = gain, f
                        goes_low[:] = False
                        goes_low[: cut + 1] = True
                        if missing[f]:
                            goes_low[n_codes[f] - 1] = side == 1
                else:
                    gain, length, with_rare = _best_half(
                        own, whole, people, before, least, rare, gini, table, scale, low, high, values, shares, sizes
                    )
                    if gain > best:
                        best, chosen = gain, f
                        for value in range(n_codes[f]):
                            goes_low[value] = with_rare and sizes[value] < rare
                        for i in range(length):
                            goes_low[values[i]] = True
        # every term of a gain was rounded once
        if best <= 3 * (n_classes + 1) or not n_free:
            free[n_free] = place
            n_free += 1
            continue
        middle = _part(codes, chosen, goes_low, order, start, end, kept)
        n_free -= 1
        other = free[n_free]
        tables[other] = 0
        below[node] = 0
        lower_is_less = middle - start <= end - middle
        less, rest = (start, middle), (middle, end)
        if not lower_is_less:
            less, rest = rest, less
        _count(codes, classes, order, less[0], less[1], first, tables[other])
        counts -= tables[other]
        for part, its_place in ((rest, place), (less, other)):
            parent[n_nodes] = node
            work[n_open, 0], work[n_open, 1], work[n_open, 2], work[n_open, 3] = n_nodes, part[0], part[1], its_place
            n_open += 1
            n_nodes += 1
    for node in range(n_nodes - 1, 0, -1):
        below[parent[node]] += cost[node] if below[node] < 0 else min(cost[node], below[node])
    return cost[0] if below[0] < 0 else min(cost[0], below[0])


@njit(cache=True, nogil=True)
def outlook(codes, classes, n_classes, branch, n_branches, n_codes, ordered, missing, least, rare, fewest, price, gini,
            table, scale):  # fmt: skip
    """What the trees below a split cost: bits and `price` for every leaf, after pruning at that price.

    Parameters
    ----------
    codes, classes, branch
        Of each person: the codes (people × features), the class, and the branch of the split.
    n_codes, ordered, missing
        Of each feature: how many codes, whether they are in order (else values are put in two groups, see
        `order_halves`), and whether the last one of an ordered feature is missing.
    least, rare, fewest
        People that each part of a split must have, people that a value must have to stand by itself, and people that a
        node must have to be split.
    """
    people = len(branch)
    ends = np.zeros(n_branches + 1, dtype=np.int64)
    for i in range(people):
        ends[branch[i] + 1] += 1
    largest = 0
    for b in range(n_branches):
        if ends[b + 1] > ends[largest + 1]:
            largest = b
    ends = np.cumsum(ends)
    at = ends.copy()
    order = np.empty(people, dtype=np.int32)
    for i in range(people):
        order[at[branch[i]]] = i
        at[branch[i]] += 1
    first = np.cumsum(n_codes) - n_codes
    n_tables = int(np.log2(max(people, 1))) + 3
    tables = np.zeros((n_tables, n_codes.sum(), n_classes), dtype=np.int32)
    work = np.empty((n_tables + 2, 4), dtype=np.int64)
    rest = np.zeros((n_codes.sum(), n_classes), dtype=np.int32)
    _count(codes, classes, order, 0, people, first, rest)
    total = np.int64(0)
    for turn in range(n_branches):
        # the largest comes last and needs no counting
        b = n_branches - 1 if turn == largest else turn
        b = largest if turn == n_branches - 1 else b
        if ends[b] == ends[b + 1]:
            continue
        if b == largest:
            tables[0] = rest
        else:
            tables[0] = 0
            _count(codes, classes, order, ends[b], ends[b + 1], first, tables[0])
            rest -= tables[0]
        total += _grown_cost(codes, classes, order, ends[b], ends[b + 1], first, n_codes, ordered, missing, least, rare,
                             fewest, price, gini, table, scale, tables, work)  # fmt: skip
    return total
