# SPDX-License-Identifier: Apache-2.0
"""Merging the values of a column one after the other, from all apart to all together.

A ladder over n codes has n - 1 merges. The codes are the groups 0 to n - 1, and merge t makes group n + t. A ladder is
kept as `into`: the group that each group becomes a part of. The last group, of all codes, becomes a part of nothing;
its entry says how many merges the rare values took. Stage i of a ladder is what there is after i merges.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal._kernels.gains import _impurity


@njit(cache=True, nogil=True)
def _before(a, b, people, sums, first):
    """Whether group a is smaller than b; ties go by classes, then by codes."""
    if people[a] != people[b]:
        return people[a] < people[b]
    for c in range(sums.shape[1]):
        if sums[a, c] != sums[b, c]:
            return sums[a, c] < sums[b, c]
    return first[a] < first[b]


@njit(cache=True, nogil=True)
def _merge(a, b, new, level, people, sums, levels, first, into):
    into[a] = new
    into[b] = new
    into[new] = -1
    people[new] = people[a] + people[b]
    sums[new] = sums[a] + sums[b]
    levels[new] = level
    first[new] = min(first[a], first[b])


@njit(cache=True, nogil=True)
def _least(people, n, rare, most):
    """How many people a value must have to be looked at by itself, so that at most `most` values are."""
    if n <= most:
        return rare
    return max(rare, np.sort(people[:n])[n - most - 1] + 1)


@njit(cache=True, nogil=True)
def _pool(n, least, maps, people, sums, levels, first, into):
    """Put values of too few people together, family by family, whatever their classes; how many merges it took.

    What has too few people even so joins the smallest group of its family.
    """
    made = 0
    n_levels = maps.shape[0]
    pool = np.empty(n, dtype=np.int64)
    smallest = np.empty(n, dtype=np.int64)
    for level in range(1, n_levels + 1):
        pool[:] = -1
        smallest[:] = -1
        for g in range(n + made):
            if into[g] == -1 and people[g] < least:
                family = maps[level, first[g]] if level < n_levels else 0
                if pool[family] == -1:
                    pool[family] = g
                else:
                    _merge(pool[family], g, n + made, level, people, sums, levels, first, into)
                    pool[family] = n + made
                    made += 1
        for g in range(n + made):
            if into[g] == -1:
                family = maps[level, first[g]] if level < n_levels else 0
                other = smallest[family]
                if g != pool[family] and (other == -1 or _before(g, other, people, sums, first)):
                    smallest[family] = g
        for family in range(n):
            if pool[family] != -1 and people[pool[family]] < least and smallest[family] != -1:
                _merge(pool[family], smallest[family], n + made, level, people, sums, levels, first, into)
                made += 1
    return made


@njit(cache=True, nogil=True)
def ladders(people_of, counts, maps, rare, most, gini, table, scale, into):
    """into[s]: the ladder of node s, from people_of[s, code] and what they weigh, counts[s, code, class].

    `maps` tells the family of each code at each level of a hierarchy, finest first; level 0 is the codes themselves.
    Values of fewer than `rare` people (or not among the `most` largest, where there are more) are put together first.
    Then the smallest group merges with its nearest: that of the lowest common family, and among these the one whose
    merging loses least; ties go to the smaller, then by classes, then by codes.
    """
    n, n_classes, n_levels = counts.shape[1], counts.shape[2], maps.shape[0]
    people = np.empty(2 * n - 1, dtype=np.int64)
    sums = np.empty((2 * n - 1, n_classes), dtype=np.int64)
    levels = np.empty(2 * n - 1, dtype=np.int64)
    first = np.empty(2 * n - 1, dtype=np.int64)
    cost = np.empty(2 * n - 1, dtype=np.int64)
    live = np.empty(n, dtype=np.int64)
    both = np.empty(n_classes, dtype=np.int64)
    for s in range(counts.shape[0]):
        people[:n] = people_of[s]
        sums[:n] = counts[s]
        levels[:n] = 0
        first[:n] = np.arange(n)
        into[s, :n] = -1
        made = _pool(n, _least(people, n, rare, most), maps, people, sums, levels, first, into[s])
        by_size = made
        n_live = 0
        for g in range(n + made):
            if into[s, g] == -1:
                live[n_live] = g
                cost[g] = _impurity(sums[g], gini, table, scale)
                n_live += 1
        while n_live > 1:
            at = 0
            for i in range(1, n_live):
                if _before(live[i], live[at], people, sums, first):
                    at = i
            a = live[at]
            nearest, best_level, best_loss = -1, 0, np.int64(0)
            for i in range(n_live):
                b = live[i]
                if b == a:
                    continue
                level = max(levels[a], levels[b])
                while level < n_levels and maps[level, first[a]] != maps[level, first[b]]:
                    level += 1
                if nearest != -1 and level > best_level:
                    continue
                for c in range(n_classes):
                    both[c] = sums[a, c] + sums[b, c]
                loss = _impurity(both, gini, table, scale) - cost[a] - cost[b]
                closer = nearest == -1 or level < best_level or loss < best_loss
                if closer or (loss == best_loss and _before(b, live[nearest], people, sums, first)):
                    nearest, best_level, best_loss = i, level, loss
            new = n + made
            _merge(a, live[nearest], new, best_level, people, sums, levels, first, into[s])
            cost[new] = _impurity(sums[new], gini, table, scale)
            made += 1
            live[nearest] = new
            n_live -= 1
            live[at] = live[n_live]
        into[s, 2 * n - 2] = by_size


@njit(cache=True, nogil=True)
def ladder_sums(counts, into, out):
    """out[s, g]: the counts of group g of ladder s."""
    n = counts.shape[1]
    for s in range(counts.shape[0]):
        out[s, :n] = counts[s]
        out[s, n:] = 0
        for g in range(2 * n - 2):
            for c in range(counts.shape[2]):
                out[s, into[s, g], c] += out[s, g, c]


@njit(cache=True, nogil=True)
def ladder_gains(counts, into, gini, table, scale, out):
    """out[s, i]: what splitting node s into the groups of stage i gains."""
    n, n_classes = counts.shape[1], counts.shape[2]
    sums = np.empty((2 * n - 1, n_classes), dtype=np.int64)
    lost = np.empty(n - 1, dtype=np.int64)
    for s in range(counts.shape[0]):
        sums[:n] = counts[s]
        sums[n:] = 0
        lost[:] = 0
        apart = np.int64(0)
        for g in range(2 * n - 1):
            cost = _impurity(sums[g], gini, table, scale)
            if g < n:
                apart += cost
            else:
                lost[g - n] += cost
            if g < 2 * n - 2:
                lost[into[s, g] - n] -= cost
                for c in range(n_classes):
                    sums[into[s, g], c] += sums[g, c]
        gain = _impurity(sums[2 * n - 2], gini, table, scale) - apart
        for i in range(n - 1):
            out[s, i] = gain
            gain -= lost[i]


@njit(cache=True, nogil=True)
def ladder_kept(kept, into, out):
    """out[s, i]: whether all groups that there are at stage i of ladder s are kept, from kept[s, g].

    No stage is kept that has put together some of the rare values and not all: which they are is chance.
    """
    n = out.shape[1] + 1
    failing = np.empty(n + 1, dtype=np.int64)
    for s in range(out.shape[0]):
        failing[:] = 0
        for g in range(2 * n - 2):
            if not kept[s, g]:
                failing[max(0, g - n + 1)] += 1
                failing[into[s, g] - n + 1] -= 1
        n_failing = 0
        for i in range(n - 1):
            n_failing += failing[i]
            out[s, i] = n_failing == 0 and (i == 0 or i >= into[s, 2 * n - 2])


@njit(cache=True, nogil=True)
def ladder_groups(into, stages, out):
    """out[s, code]: the group of each code at a stage of each ladder, numbered in order of first codes."""
    n = out.shape[1]
    number = np.empty(2 * n - 1, dtype=np.int64)
    for s in range(out.shape[0]):
        number[:] = -1
        n_groups = 0
        for code in range(n):
            g = code
            while g < 2 * n - 2 and into[s, g] < n + stages[s]:
                g = into[s, g]
            if number[g] == -1:
                number[g] = n_groups
                n_groups += 1
            out[s, code] = number[g]
