# SPDX-License-Identifier: Apache-2.0
"""Rows that are kept as segments of one order, and the parts that codes would split or do split them into."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_parts(order, starts, ends, codes, slot_of, n_slots, weights, rows, part_of):
    """The parts of each segment by the slot of its rows' codes: the segment, slot and size of every part with rows.

    weights, unless it is empty, says how much each row counts. rows and part_of, unless they are empty, get the rows of
    all segments, one after another, and the part of each.
    """
    most = 0
    for s in range(len(starts)):
        most += min(n_slots, ends[s] - starts[s])
    segment = np.empty(most, dtype=np.int64)
    slot = np.empty(most, dtype=np.int64)
    size = np.zeros(most, dtype=np.int64)
    part = np.full(n_slots, -1, dtype=np.int64)  # of each slot; below `first` it is one of an earlier segment
    n, at, told, weighted = 0, 0, len(rows) > 0, len(weights) > 0
    for s in range(len(starts)):
        first = n
        for i in range(starts[s], ends[s]):
            own = slot_of[codes[order[i]]]
            if part[own] < first:
                part[own], segment[n], slot[n] = n, s, own
                n += 1
            size[part[own]] += weights[order[i]] if weighted else 1
            if told:
                rows[at], part_of[at] = order[i], part[own]
                at += 1
    return segment[:n], slot[:n], size[:n]


@njit(cache=True, nogil=True)
def part_rows(order, starts, ends, codes, slot_of, n_slots):
    """Put the rows of each segment in the order of their slots, equals as they were; the ends of all parts with rows.

    Returns the segment of each part, where it starts and where it ends.
    """
    most, longest = 0, 0
    for s in range(len(starts)):
        most += min(n_slots, ends[s] - starts[s])
        longest = max(longest, ends[s] - starts[s])
    segment = np.empty(most, dtype=np.int64)
    begin = np.empty(most, dtype=np.int64)
    end = np.empty(most, dtype=np.int64)
    moved = np.empty(longest, dtype=order.dtype)
    place = np.empty(n_slots, dtype=np.int64)
    n = 0
    for s in range(len(starts)):
        start, stop = starts[s], ends[s]
        place[:] = 0
        for i in range(start, stop):
            place[slot_of[codes[order[i]]]] += 1
        at = 0
        for slot in range(n_slots):
            size = place[slot]
            place[slot] = at
            if size:
                segment[n], begin[n], end[n] = s, start + at, start + at + size
                n += 1
            at += size
        for i in range(start, stop):
            slot = slot_of[codes[order[i]]]
            moved[place[slot]] = order[i]
            place[slot] += 1
        order[start:stop] = moved[: stop - start]
    return segment[:n], begin[:n], end[:n]
