# SPDX-License-Identifier: Apache-2.0
"""Cells while no, one or two private columns vary: points, the lower envelope on a line, and clipped polygons.

The comparisons of a cell are half-planes `a·v <= h` over the steps v from 0 to 1. Each is known up to an error e. A
point that keeps all of `a·v <= h - e` proves the cell reachable, and no point with `a·v <= h + e` that it is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from shoal.audit.cells import NO, UNDECIDED, YES

MOST_LINES = 100_000  # lines of whole numbers that are searched for one cell; beyond, it is undecided


@njit(cache=True, nogil=True)
def decide(rows: Any, cells: Any, problem: Any) -> Any:
    """The state of some pairs of person and cell, and for YES the start and the steps that lead there."""
    scores, errors, shifts, gradients, counts, mine, other, least = problem
    n_steps, n_compared = gradients.shape[1], mine.shape[1]
    state = np.zeros(len(rows), dtype=np.int8)
    start_of = np.zeros(len(rows), dtype=np.int64)
    where = np.zeros((len(rows), n_steps))
    a = np.zeros((n_compared, 2))
    h, e = np.zeros(n_compared), np.zeros(n_compared)
    buffers = np.zeros((2, n_compared + 8, 2))
    point = np.zeros(2)
    for pair in range(len(rows)):
        row, cell = rows[pair], cells[pair]
        n, lost = 0, False
        for k in range(n_compared):
            me, it = mine[cell, k], other[cell, k]
            if me == it:
                continue
            h[n] = scores[row, it] - scores[row, me]
            e[n] = errors[row, it] + errors[row, me]
            if least[cell, k] > h[n] + e[n]:
                lost = True  # this one alone is nearer in the whole box
                break
            for step in range(n_steps):
                a[n, step] = gradients[me, step] - gradients[it, step]
            n += 1
        if lost:
            continue
        for start in range(len(shifts)):
            n = 0
            for k in range(n_compared):
                me, it = mine[cell, k], other[cell, k]
                if me != it:
                    h[n] = (scores[row, it] - scores[row, me]) + (shifts[start, it] - shifts[start, me])
                    n += 1
            if n_steps == 2:
                found = _plane(a, h, e, n, counts, buffers, point)
            elif n_steps == 1:
                found = _line(a[:, 0], h, e, n, counts[0], point)
            else:
                found = _point(h, e, n)
            if found > state[pair]:
                state[pair] = found
            if found == YES:
                start_of[pair] = start
                for step in range(n_steps):
                    where[pair, step] = point[step]
                break
    return state, start_of, where


@njit(cache=True, nogil=True)
def _point(h: Any, e: Any, n: int) -> int:
    state = YES
    for k in range(n):
        if h[k] < -e[k]:
            return NO
        if h[k] <= e[k]:
            state = UNDECIDED
    return state


@njit(cache=True, nogil=True)
def _line(a: Any, h: Any, e: Any, n: int, count: int, point: Any) -> int:
    """Where one line is the lowest: an interval, cut down by each of the others."""
    low, high, surely_low, surely_high = 0.0, 1.0, 0.0, 1.0
    for k in range(n):
        if a[k] > 0:
            high = min(high, (h[k] + e[k]) / a[k])
            surely_high = min(surely_high, (h[k] - e[k]) / a[k])
        elif a[k] < 0:
            low = max(low, (h[k] + e[k]) / a[k])
            surely_low = max(surely_low, (h[k] - e[k]) / a[k])
        elif h[k] < -e[k]:
            return NO
        if low > high:
            return NO
    middle = (surely_low + surely_high) / 2
    if count > 0:
        first, last = np.ceil(low * count), np.floor(high * count)
        if first > last:
            return NO
        first, last = max(first, np.ceil(surely_low * count)), min(last, np.floor(surely_high * count))
        if first > last:
            return UNDECIDED
        middle = min(max(np.round(middle * count), first), last) / count
    if not 0.0 <= middle <= 1.0:
        return UNDECIDED
    for k in range(n):
        if a[k] * middle >= h[k] - e[k]:
            return UNDECIDED
    point[0] = middle
    return YES


@njit(cache=True, nogil=True)
def _plane(a: Any, h: Any, e: Any, n: int, counts: Any, buffers: Any, point: Any) -> int:
    """Where one plane is the lowest: the square of the two steps, clipped by each of the others."""
    corners, size = _clipped(a, h, e, 1.0, n, buffers)
    if size == 0:
        return NO
    low = np.array([corners[:size, 0].min(), corners[:size, 1].min()])
    high = np.array([corners[:size, 0].max(), corners[:size, 1].max()])
    corners, size = _clipped(a, h, e, -1.0, n, buffers)
    if size > 0:
        for axis in range(2):
            point[axis] = corners[:size, axis].mean()
            if counts[axis] > 0:
                point[axis] = np.round(point[axis] * counts[axis]) / counts[axis]
        if _keeps(a, h, e, n, point):
            return YES
    if counts[0] == 0 and counts[1] == 0:
        return UNDECIDED
    return _lines(a, h, e, n, counts, low, high, point)


@njit(cache=True, nogil=True)
def _keeps(a: Any, h: Any, e: Any, n: int, point: Any) -> bool:
    return bool(np.all(a[:n, 0] * point[0] + a[:n, 1] * point[1] < h[:n] - e[:n]))


@njit(cache=True, nogil=True)
def _clipped(a: Any, h: Any, e: Any, side: float, n: int, buffers: Any) -> Any:
    """The corners that are left of the square, by Sutherland and Hodgman: each half-plane cuts the polygon once."""
    old, new = buffers[0], buffers[1]
    old[0, 0], old[0, 1], old[1, 0], old[1, 1] = 0.0, 0.0, 1.0, 0.0
    old[2, 0], old[2, 1], old[3, 0], old[3, 1] = 1.0, 1.0, 0.0, 1.0
    size = 4
    for k in range(n):
        limit = h[k] + side * e[k]
        kept = 0
        x, y = old[size - 1, 0], old[size - 1, 1]
        over = a[k, 0] * x + a[k, 1] * y - limit
        for i in range(size):
            next_x, next_y = old[i, 0], old[i, 1]
            next_over = a[k, 0] * next_x + a[k, 1] * next_y - limit
            if (over <= 0) != (next_over <= 0):
                share = over / (over - next_over)
                new[kept, 0], new[kept, 1] = x + share * (next_x - x), y + share * (next_y - y)
                kept += 1
            if next_over <= 0:
                new[kept, 0], new[kept, 1] = next_x, next_y
                kept += 1
            x, y, over = next_x, next_y, next_over
        old, new, size = new, old, kept
        if size == 0:
            break
    return old, size


@njit(cache=True, nogil=True)
def _lines(a: Any, h: Any, e: Any, n: int, counts: Any, low: Any, high: Any, point: Any) -> int:
    """Whole numbers in the polygon: on each of its lines along the axis that has fewest, as with one column."""
    axis = 0
    if counts[0] == 0 or (counts[1] > 0 and (high[1] - low[1]) * counts[1] < (high[0] - low[0]) * counts[0]):
        axis = 1
    # rounding of a corner may hide the line it lies on, so one more is looked at on each side
    first = max(int(np.floor(low[axis] * counts[axis])), 0)
    last = min(int(np.ceil(high[axis] * counts[axis])), counts[axis])
    if last - first > MOST_LINES:
        return UNDECIDED
    along, rest, state = np.zeros(n), np.zeros(n), NO
    for k in range(n):
        along[k] = a[k, 1 - axis]
    for line in range(first, last + 1):
        for k in range(n):
            rest[k] = h[k] - a[k, axis] * (line / counts[axis])
        found = _line(along, rest, e, n, counts[1 - axis], point)
        if found == YES:
            point[1 - axis] = point[0]
            point[axis] = line / counts[axis]
            return YES
        state = max(state, found)
    return state
