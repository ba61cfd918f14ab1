# SPDX-License-Identifier: Apache-2.0
"""Counting and regrouping people who are kept as segments of one permutation."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def histogram(codes, by, order, starts, ends, out):
    """Add to out[s, code, by] the people of each segment s of `order`."""
    for s in range(len(starts)):
        for i in range(starts[s], ends[s]):
            row = order[i]
            out[s, codes[row], by[row]] += 1


@njit(cache=True, nogil=True)
def split_segments(codes, branch_of, order, starts, ends, sizes):
    """Reorder each segment by branch_of[s, code], keeping the order within a branch; sizes[s, b] gets the lengths."""
    longest = 0
    for s in range(len(starts)):
        longest = max(longest, ends[s] - starts[s])
    kept = np.empty(longest, dtype=order.dtype)
    place = np.empty(sizes.shape[1], dtype=np.int64)
    for s in range(len(starts)):
        start, end = starts[s], ends[s]
        for i in range(start, end):
            sizes[s, branch_of[s, codes[order[i]]]] += 1
        at = start
        for b in range(sizes.shape[1]):
            place[b] = at
            at += sizes[s, b]
        for i in range(start, end):
            kept[i - start] = order[i]
        for i in range(end - start):
            row = kept[i]
            b = branch_of[s, codes[row]]
            order[place[b]] = row
            place[b] += 1


@njit(cache=True, nogil=True)
def regroup(counts, group_of, out):
    """Add counts[s, code, c] to out[s, group_of[code], c]."""
    for s in range(counts.shape[0]):
        for code in range(counts.shape[1]):
            for c in range(counts.shape[2]):
                out[s, group_of[code], c] += counts[s, code, c]
