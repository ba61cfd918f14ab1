# SPDX-License-Identifier: Apache-2.0
"""Counting and regrouping people who are kept as segments of sorted columns."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_keys(keys, starts, ends, out):
    """Add to out[s, key] the people of each segment s of a sorted column."""
    other = np.zeros(out.shape[1], dtype=out.dtype)
    for s in range(len(starts)):
        start, end = starts[s], ends[s]
        if end - start < len(other):
            for i in range(start, end):
                out[s, keys[i]] += 1
            continue
        # two counters in turn: one that has just been written to is slow to read again
        for i in range(start, end - 1, 2):
            out[s, keys[i]] += 1
            other[keys[i + 1]] += 1
        if (end - start) % 2:
            out[s, keys[end - 1]] += 1
        for key in range(len(other)):
            out[s, key] += other[key]
            other[key] = 0


@njit(cache=True, nogil=True)
def count_pairs(keys, others, starts, ends, out):
    """Add to out[s, key, other] the people of each segment s of two sorted columns."""
    for s in range(len(starts)):
        for i in range(starts[s], ends[s]):
            out[s, keys[i], others[i]] += 1


@njit(cache=True, nogil=True)
def branches(keys, per_code, branch_of, starts, ends, branch, sizes):
    """branch[i]: where branch_of[s, code] sends each person of a segment; sizes[s, b]: how many go there.

    A code is a key divided by per_code.
    """
    n_keys = branch_of.shape[1] * per_code
    of_key = np.empty(n_keys, dtype=branch_of.dtype)
    for s in range(len(starts)):
        start, end = starts[s], ends[s]
        if end - start < n_keys:
            for i in range(start, end):
                b = branch_of[s, keys[i] // per_code]
                branch[i] = b
                sizes[s, b] += 1
            continue
        for key in range(n_keys):  # a table is faster than a division a person
            of_key[key] = branch_of[s, key // per_code]
        for i in range(start, end):
            b = of_key[keys[i]]
            branch[i] = b
            sizes[s, b] += 1


@njit(cache=True, nogil=True)
def sort_by_branch(column, branch, starts, ends, sizes):
    """Sort each segment of a column by branch, keeping the order within one."""
    longest = 0
    for s in range(len(starts)):
        longest = max(longest, ends[s] - starts[s])
    aside = np.empty(longest, dtype=column.dtype)
    place = np.empty(sizes.shape[1], dtype=np.int64)
    for s in range(len(starts)):
        start, end = starts[s], ends[s]
        if sizes.shape[1] == 2:
            # those of the first branch move up to the front, the others wait aside; both are written, one of them for
            # good: that is faster than to ask
            low, high = start, 0
            for i in range(start, end):
                key, upper = column[i], np.int64(branch[i])
                column[low] = key
                aside[high] = key
                low += 1 - upper
                high += upper
            column[low:end] = aside[:high]
            continue
        at = np.int64(0)
        for b in range(sizes.shape[1]):
            place[b] = at
            at += sizes[s, b]
        for i in range(start, end):
            b = branch[i]
            aside[place[b]] = column[i]
            place[b] += 1
        column[start:end] = aside[: end - start]


@njit(cache=True, nogil=True)
def regroup(counts, group_of, out):
    """Add counts[s, code, c] to out[s, group_of[code], c]."""
    for s in range(counts.shape[0]):
        for code in range(counts.shape[1]):
            for c in range(counts.shape[2]):
                out[s, group_of[code], c] += counts[s, code, c]
