# SPDX-License-Identifier: Apache-2.0
"""Adding rules one after the other while every group of people that something private is told of has k people.

`has[p, r]` says whether row pattern r (of `people[r]` people) has public part p. A candidate asks for two parts and may
tell something private to those who have the one or the other. Groups are the patterns with the same answers to all
parts asked for; `cell_of` is four times the group of each pattern, and `told` says of which groups something is told.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _count_cells(has, people, one, two, cell_of, n_groups, size):
    """How many people of each group answer the two parts in each of four ways."""
    size[: 4 * n_groups] = 0
    for r in range(len(people)):
        size[cell_of[r] + 2 * has[one, r] + has[two, r]] += people[r]


@njit(cache=True, nogil=True)
def _fits(size, n_groups, told, tells_one, tells_two, k):
    """Whether every cell that something is told of has k people, or none."""
    for cell in range(4 * n_groups):
        if 0 < size[cell] < k and (told[cell // 4] or (tells_one and cell & 2) or (tells_two and cell & 1)):
            return False
    return True


@njit(cache=True, nogil=True)
def _refine(size, cell_of, told, n_groups, has, one, two, tells_one, tells_two, number, flags):
    """Tell groups apart by two parts, in place; how many groups there are then."""
    n_new = 0
    for cell in range(4 * n_groups):
        if size[cell]:
            number[cell] = 4 * n_new
            flags[n_new] = told[cell // 4] or (tells_one and cell & 2) or (tells_two and cell & 1)
            n_new += 1
    told[:n_new] = flags[:n_new]
    for r in range(len(cell_of)):
        cell_of[r] = number[cell_of[r] + 2 * has[one, r] + has[two, r]]
    return n_new


@njit(cache=True, nogil=True)
def add_in_order(has, people, first, second, tells_first, tells_second, order, k, out):
    """Mark in out[c] which candidates are taken in the given order, each if it fits with those before it.

    Returns the groups of those taken: `cell_of`, `told` and how many they are.
    """
    n_rows = len(people)
    cell_of = np.zeros(n_rows, dtype=np.int64)
    told = np.zeros(n_rows, dtype=np.uint8)  # only the first n_groups count
    flags = np.zeros(n_rows, dtype=np.uint8)
    dead = np.zeros(len(has), dtype=np.uint8)  # parts that break a group by themselves: they do so ever after
    n_groups = 1
    size = np.zeros(4 * n_rows, dtype=np.int64)
    number = np.empty(4 * n_rows, dtype=np.int64)
    for c in order:
        one, two = first[c], second[c]
        if dead[one] or dead[two]:
            continue
        _count_cells(has, people, one, two, cell_of, n_groups, size)
        if not _fits(size, n_groups, told, tells_first[c], tells_second[c], k):
            for g in range(n_groups):
                if told[g]:
                    have_one, have_two = size[4 * g + 2] + size[4 * g + 3], size[4 * g + 1] + size[4 * g + 3]
                    everybody = have_one + size[4 * g] + size[4 * g + 1]
                    if 0 < have_one < k or 0 < everybody - have_one < k:
                        dead[one] = 1
                    if 0 < have_two < k or 0 < everybody - have_two < k:
                        dead[two] = 1
            continue
        out[c] = True
        n_groups = _refine(size, cell_of, told, n_groups, has, one, two, tells_first[c], tells_second[c], number, flags)
    return cell_of, told, n_groups


@njit(cache=True, nogil=True)
def fitting(has, people, first, second, tells_first, tells_second, cell_of, told, n_groups, candidates, k, out):
    """Mark in out[i] whether the i-th candidate fits with the groups that there are."""
    size = np.zeros(4 * n_groups, dtype=np.int64)
    for i in range(len(candidates)):
        c = candidates[i]
        _count_cells(has, people, first[c], second[c], cell_of, n_groups, size)
        out[i] = _fits(size, n_groups, told, tells_first[c], tells_second[c], k)


@njit(cache=True, nogil=True)
def fitting_pairs(has, people, first, second, tells_first, tells_second, cell_of, told, n_groups, candidates, k, out):
    """Clear out[i, j] where the i-th and the j-th candidate, each of which fits, do not fit together."""
    n, n_rows = len(candidates), len(people)
    size = np.zeros(4 * n_rows, dtype=np.int64)
    number = np.empty(4 * n_rows, dtype=np.int64)
    flags = np.zeros(n_rows, dtype=np.uint8)
    own_told = np.zeros(n_rows, dtype=np.uint8)
    for i in range(n):
        c = candidates[i]
        one, two, tells_one, tells_two = first[c], second[c], tells_first[c], tells_second[c]
        own = cell_of.copy()
        own_told[:n_groups] = told[:n_groups]
        _count_cells(has, people, one, two, own, n_groups, size)
        n_own = _refine(size, own, own_told, n_groups, has, one, two, tells_one, tells_two, number, flags)
        for j in range(i + 1, n):
            if not out[i, j]:
                continue
            d = candidates[j]
            _count_cells(has, people, first[d], second[d], own, n_own, size)
            out[i, j] = out[j, i] = _fits(size, n_own, own_told, tells_first[d], tells_second[d], k)
