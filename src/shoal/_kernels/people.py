# SPDX-License-Identifier: Apache-2.0
"""Counting the different people behind rows that are kept as segments of sorted columns.

The rows of a person stand next to each other in every segment, so somebody new begins wherever the person changes.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def people_by_branch(person, keys, per_code, branch_of, starts, ends, out):
    """Add to out[s, b] the people of each segment s with a row that branch_of[s, code] sends to b.

    A code is a key divided by per_code.
    """
    last = np.empty(out.shape[1], dtype=np.int64)  # the person who was counted last in each branch, by number
    n_keys = branch_of.shape[1] * per_code
    of_key = np.empty(n_keys, dtype=branch_of.dtype)
    for s in range(len(starts)):
        last[:] = 0
        number = 0
        tabled = ends[s] - starts[s] >= n_keys  # a table is faster than a division a row
        if tabled:
            for key in range(n_keys):
                of_key[key] = branch_of[s, key // per_code]
        for i in range(starts[s], ends[s]):
            if i == starts[s] or person[i] != person[i - 1]:
                number += 1
            b = of_key[keys[i]] if tabled else branch_of[s, keys[i] // per_code]
            if last[b] != number:
                last[b] = number
                out[s, b] += 1


@njit(cache=True, nogil=True)
def people_by_value(person, keys, per_code, branch_of, values, starts, ends, out):
    """Add to out[s, b, value] the people of each branch, each once: with the value that most people of it have.

    Of several values of a person that as many people have, the lowest counts.
    """
    n_branches, n_values = out.shape[1], out.shape[2]
    have = np.empty((n_branches, n_values), dtype=np.int64)
    last = np.empty((n_branches, n_values), dtype=np.int64)
    begun = np.empty(n_branches, dtype=np.int64)
    counted = np.empty(n_branches, dtype=np.int64)
    best = np.empty(n_branches, dtype=np.int64)
    for s in range(len(starts)):
        start, end = starts[s], ends[s]
        have[:], last[:], begun[:], counted[:] = 0, 0, 0, 0
        number = 0
        for i in range(start, end):
            if i == start or person[i] != person[i - 1]:
                number += 1
            b, v = branch_of[s, keys[i] // per_code], values[i]
            if last[b, v] != number:
                last[b, v] = number
                have[b, v] += 1
        number, first = 0, start
        for i in range(start, end):
            if i == start or person[i] != person[i - 1]:
                number, first = number + 1, i
            b, v = branch_of[s, keys[i] // per_code], values[i]
            if begun[b] != number:
                begun[b] = number
                best[b] = v
            elif have[b, v] > have[b, best[b]] or (have[b, v] == have[b, best[b]] and v < best[b]):
                best[b] = v
            if i + 1 == end or person[i + 1] != person[i]:
                for j in range(first, i + 1):
                    b = branch_of[s, keys[j] // per_code]
                    if counted[b] != number:
                        counted[b] = number
                        out[s, b, best[b]] += 1


@njit(cache=True, nogil=True)
def runs_of_people(codes, person, n_people, size, ends):
    """Runs of neighbouring codes with at least `size` different people each; what is left over goes with the last.

    Rows come sorted by code. ends[r] is the code after the last of run r; returns how many runs there are. With fewer
    people in all there is one run.
    """
    last = np.full(n_people, -1, dtype=np.int64)  # the run that each person was counted in last
    run, people = 0, 0
    for i in range(len(codes)):
        if last[person[i]] != run:
            last[person[i]] = run
            people += 1
        if people >= size and (i + 1 == len(codes) or codes[i + 1] != codes[i]):
            ends[run] = codes[i] + 1
            run += 1
            people = 0
    return max(run, 1)
