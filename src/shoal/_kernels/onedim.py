# SPDX-License-Identifier: Apache-2.0
"""Rows along one line: their place on a Hilbert curve, the cheapest way to cut the line, and mixed groups."""

from __future__ import annotations

import numpy as np
from numba import njit

RANGE, SET, TREE = 0, 1, 2  # what a group's cell of a column is: an interval, a set of values, a node of a hierarchy


@njit(cache=True, nogil=True)
def hilbert_keys(points, bits, out):
    """The place of each point on the Hilbert curve through a cube of ``2 ** bits`` a side (rows × words of 64 bits).

    The transposed index of J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707 (2004), 381-387; its bits
    are then read off level by level, the highest first.
    """
    n, d = points.shape
    x = np.empty(d, dtype=np.int64)
    for row in range(n):
        for j in range(d):
            x[j] = points[row, j]
        q = 1 << (bits - 1)
        while q > 1:
            low = q - 1
            for j in range(d):
                if x[j] & q:
                    x[0] ^= low
                else:
                    t = (x[0] ^ x[j]) & low
                    x[0] ^= t
                    x[j] ^= t
            q >>= 1
        for j in range(1, d):
            x[j] ^= x[j - 1]
        t = 0
        q = 1 << (bits - 1)
        while q > 1:
            if x[d - 1] & q:
                t ^= q - 1
            q >>= 1
        for j in range(d):
            x[j] ^= t
        place = 0
        for bit in range(bits - 1, -1, -1):
            for j in range(d):
                if (x[j] >> bit) & 1:
                    out[row, place >> 6] |= np.uint64(1) << np.uint64(63 - (place & 63))
                place += 1


@njit(cache=True, nogil=True)
def nearest_reference(points, references, out, distance):
    """The nearest of some reference points to each point, and how far it is (sums of differences)."""
    for row in range(len(points)):
        best, which = np.inf, 0
        for r in range(len(references)):
            far = 0.0
            for j in range(points.shape[1]):
                far += abs(points[row, j] - references[r, j])
                if far >= best:
                    break
            if far < best:
                best, which = far, r
        out[row], distance[row] = which, best


@njit(cache=True, nogil=True)
def _begin(lo, hi, many, gap, known):
    for j in range(len(lo)):
        lo[j], hi[j], many[j], gap[j] = known[j], -1, 0, 0


@njit(cache=True, nogil=True)
def _add(ranks, row, start, kinds, known, lo, hi, many, gap, seen, seen_at):
    for j in range(ranks.shape[1]):
        rank = ranks[row, j]
        if rank == known[j]:
            gap[j] = 1
            continue
        if kinds[j] == SET:
            if seen[seen_at[j] + rank] != start:
                seen[seen_at[j] + rank] = start
                many[j] += 1
        else:
            lo[j] = min(lo[j], rank)
            hi[j] = max(hi[j], rank)


@njit(cache=True, nogil=True)
def _loss(kinds, known, unit, node, value, at, lo, hi, many, gap):
    total = 0.0
    for j in range(len(lo)):
        if kinds[j] == SET:
            total += (many[j] + gap[j] - 1) * unit[j]
            continue
        if hi[j] < 0:  # nothing but missing
            continue
        if kinds[j] == RANGE:
            total += value[at[j] + hi[j]] - value[at[j] + lo[j]]
        else:
            level = at[j]
            while node[level + lo[j]] != node[level + hi[j]]:
                level += known[j]
            total += value[level + lo[j]]
        total += gap[j] * unit[j]
    return total


@njit(cache=True, nogil=True)
def cheapest_cuts(ranks, kinds, known, unit, node, value, at, seen_at, offsets, lengths, tail, cost, before):
    """Cut a line of rows into groups so that the sum of people times loss is least, by dynamic programming.

    Parameters
    ----------
    ranks
        The rank of each value (rows × columns), rows in their order; `known[column]` means missing.
    kinds, known, unit
        Of each column: what a cell is, how many ranks are known values, and the loss of one value more.
    node, value, at
        From `at[column]` on: of RANGE in `value` where each rank lies, from 0 to 1; of TREE, level by level, the node
        of each rank and the loss of that node. The last level has one node.
    seen_at
        Where the ranks of each column begin in a list of all.
    offsets, lengths
        The lengths that a group may have, ascending: from ``offsets[i]`` to ``offsets[i + 1]`` those of a group that
        begins at row i; where there are no offsets, all for each.
    tail
        Whether the rows from i on may be one group, whatever its length.
    cost, before
        Filled in: the least cost of the rows before i, and where the last group of them begins (-1 where there is no
        way).
    """
    n, d = ranks.shape
    lo, hi = np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64)
    many, gap = np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64)
    seen = np.full(seen_at[d], -1, dtype=np.int64)
    cost[:] = np.inf
    before[:] = -1
    cost[0] = 0.0
    shared = len(offsets) == 0
    for i in range(n):
        if not np.isfinite(cost[i]):
            continue
        _begin(lo, hi, many, gap, known)
        end = i
        first, last = (0, len(lengths)) if shared else (offsets[i], offsets[i + 1])
        for e in range(first, last):
            stop = i + lengths[e]
            if stop > n:
                break
            while end < stop:
                _add(ranks, end, i, kinds, known, lo, hi, many, gap, seen, seen_at)
                end += 1
            total = cost[i] + lengths[e] * _loss(kinds, known, unit, node, value, at, lo, hi, many, gap)
            if total < cost[stop]:
                cost[stop] = total
                before[stop] = i
    if len(tail):
        _begin(lo, hi, many, gap, known)
        for i in range(n - 1, -1, -1):
            _add(ranks, i, n, kinds, known, lo, hi, many, gap, seen, seen_at)
            if tail[i] and np.isfinite(cost[i]):
                total = cost[i] + (n - i) * _loss(kinds, known, unit, node, value, at, lo, hi, many, gap)
                if total < cost[n]:
                    cost[n] = total
                    before[n] = i


@njit(cache=True, nogil=True)
def mixed_groups(codes, n_codes, size, most, group):
    """Groups of at least `size` rows in none of which a value has more than `most` rows in `size`; gives their number.

    Rows are in their order. A group takes the first rows that are left, of each value as many as it may; but first of
    all so many of a value that the rest can be grouped as well, which is so when no value has more than `most` in
    `size` of it. Where rounding leaves no way the group takes one row more. No value may have more than that share of
    all.
    """
    n = len(codes)
    left = np.zeros(n_codes, dtype=np.int64)
    for row in range(n):
        left[codes[row]] += 1
    head, follows = np.full(n_codes, n, dtype=np.int64), np.full(n, n, dtype=np.int64)
    for row in range(n - 1, -1, -1):
        follows[row] = head[codes[row]]
        head[codes[row]] = row
    rest, number = n, 0
    taken = np.zeros(n_codes, dtype=np.int64)
    while rest >= size:
        now = size
        while not _can_take(left, rest, now, size, most, taken):
            now += 1
        cap, room = most * now // size, now
        for value in range(n_codes):
            for _ in range(taken[value]):
                group[head[value]] = number
                head[value] = follows[head[value]]
            left[value] -= taken[value]
            room -= taken[value]
        for _ in range(room):
            first = -1
            for value in range(n_codes):
                if taken[value] < cap and head[value] < n and (first < 0 or head[value] < head[first]):
                    first = value
            group[head[first]] = number
            head[first] = follows[head[first]]
            taken[first] += 1
            left[first] -= 1
        rest -= now
        number += 1
    for value in range(n_codes):  # too few for a group of their own; the last one stays mixed enough with them
        while head[value] < n:
            group[head[value]] = number - 1
            head[value] = follows[head[value]]
    return number


@njit(cache=True, nogil=True)
def _can_take(left, rest, now, size, most, taken):
    """Whether a group of `now` rows can be taken so that the rest can be grouped; `taken` is what it must take."""
    cap, needed, there = most * now // size, 0, 0
    for value in range(len(left)):
        # size * (left - taken) <= most * (rest - now)
        taken[value] = max(0, -((most * (rest - now) - size * left[value]) // size))
        if taken[value] > cap:
            return False
        needed += taken[value]
        there += min(cap, left[value])
    return needed <= now <= there
