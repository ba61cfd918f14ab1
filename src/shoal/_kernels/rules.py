# SPDX-License-Identifier: Apache-2.0
"""Adding rules one after the other while every group of people that something private is told of has k people."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def add_in_order(has, people, first, second, tells_first, tells_second, order, k, out):
    """Mark in out[c] which candidates are taken, in the given order.

    has[p, r] says whether row pattern r (of people[r] people) has public part p. A candidate asks for two parts and
    may tell something private to those who have the one or the other. It is taken if afterwards every group, the
    patterns with the same answers to all parts asked for, either is told nothing or has k people.
    """
    n_rows = len(people)
    cell_of = np.zeros(n_rows, dtype=np.int64)  # four times the group of each pattern
    told = np.zeros(n_rows, dtype=np.uint8)  # by group; only the first n_groups count
    flags = np.zeros(n_rows, dtype=np.uint8)
    dead = np.zeros(len(has), dtype=np.uint8)  # parts that break a group by themselves: they do so ever after
    n_groups = 1
    size = np.zeros(4 * n_rows, dtype=np.int64)
    number = np.empty(4 * n_rows, dtype=np.int64)
    for c in order:
        one, two = first[c], second[c]
        if dead[one] or dead[two]:
            continue
        size[: 4 * n_groups] = 0
        for r in range(n_rows):
            size[cell_of[r] + 2 * has[one, r] + has[two, r]] += people[r]
        fits = True
        for cell in range(4 * n_groups):
            if 0 < size[cell] < k and (
                told[cell // 4] or (tells_first[c] and cell & 2) or (tells_second[c] and cell & 1)
            ):
                fits = False
                break
        if not fits:
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
        n_new = 0
        for cell in range(4 * n_groups):
            if size[cell]:
                number[cell] = 4 * n_new
                flags[n_new] = told[cell // 4] or (tells_first[c] and cell & 2) or (tells_second[c] and cell & 1)
                n_new += 1
        told[:n_new] = flags[:n_new]
        for r in range(n_rows):
            cell_of[r] = number[cell_of[r] + 2 * has[one, r] + has[two, r]]
        n_groups = n_new
