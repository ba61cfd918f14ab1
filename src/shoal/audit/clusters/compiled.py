# SPDX-License-Identifier: Apache-2.0
"""Cells while no, one or two private columns vary: points, the lower envelope on a line, and clipped polygons.

The comparisons of a cell are half-planes `a·v <= h` over the steps v from 0 to 1. Each is known up to an error e. A
point that keeps all of `a·v <= h - e` proves the cell reachable, and no point with `a·v <= h + e` that it is not.

Written with scalars and plain loops: array expressions take the compiler several times as long.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from shoal.audit.clusters.cells import NO, UNDECIDED, YES

MOST_LINES = 100_000  # lines of whole numbers that are searched for one cell; beyond, it is undecided


@njit(cache=True, nogil=True, error_model="numpy")
def decide(
    rows: Any,
    cells: Any,
    scores: Any,
    errors: Any,
    shifts: Any,
    gradients: Any,
    counts: Any,
    mine: Any,
    other: Any,
    least: Any,
) -> Any:
    """The state of some pairs of person and cell, and for YES the start and the steps that lead there."""
    n_steps, n_compared = gradients.shape[1], mine.shape[1]
    state = np.zeros(len(rows), dtype=np.int8)
    start_of = np.zeros(len(rows), dtype=np.int64)
    where = np.zeros((len(rows), n_steps))
    a = np.zeros((n_compared, 2))
    h, e = np.ones(n_compared), np.zeros(n_compared)
    corners = np.zeros((2, n_compared + 8, 2))
    point = np.zeros(2)
    for pair in range(len(rows)):
        row, cell = rows[pair], cells[pair]
        lost = False
        for k in range(n_compared):
            me, it = mine[cell, k], other[cell, k]
            e[k] = 0.0
            for step in range(n_steps):
                a[k, step] = gradients[me, step] - gradients[it, step]
            if me != it:
                e[k] = errors[row, it] + errors[row, me]
                if least[cell, k] > scores[row, it] - scores[row, me] + e[k]:
                    lost = True  # this one alone is nearer in the whole box
                    break
        if lost:
            continue
        for start in range(len(shifts)):
            for k in range(n_compared):
                me, it = mine[cell, k], other[cell, k]
                h[k] = 1.0  # a site compared with itself always wins
                if me != it:
                    h[k] = (scores[row, it] - scores[row, me]) + (shifts[start, it] - shifts[start, me])
            if n_steps == 2:
                found = _plane(a, h, e, counts, corners, point)
            elif n_steps == 1:
                found = _line(a, n_steps - 1, h, e, counts[0], point)
            else:
                found = _point(h, e)
            if found > state[pair]:
                state[pair] = found
            if found == YES:
                start_of[pair] = start
                for step in range(n_steps):
                    where[pair, step] = point[step]
                break
    return state, start_of, where


@njit(cache=True, nogil=True, error_model="numpy")
def _point(h: Any, e: Any) -> int:
    state = YES
    for k in range(len(h)):
        if h[k] < -e[k]:
            return NO
        if h[k] <= e[k]:
            state = UNDECIDED
    return state


@njit(cache=True, nogil=True, error_model="numpy")
def _line(a: Any, axis: int, h: Any, e: Any, count: int, point: Any) -> int:
    """Where one line is the lowest: an interval along an axis, cut down by each of the others."""
    low, high, surely_low, surely_high = 0.0, 1.0, 0.0, 1.0
    for k in range(len(h)):
        slope = a[k, axis]
        if slope > 0:
            high = min(high, (h[k] + e[k]) / slope)
            surely_high = min(surely_high, (h[k] - e[k]) / slope)
        elif slope < 0:
            low = max(low, (h[k] + e[k]) / slope)
            surely_low = max(surely_low, (h[k] - e[k]) / slope)
        elif h[k] < -e[k]:
            return NO
        if low > high:
            return NO
    if surely_low > surely_high:
        middle = -1.0
    else:
        middle = (surely_low + surely_high) / 2
    if count > 0:
        if math.ceil(low * count) > math.floor(high * count):
            return NO
        first, last = math.ceil(surely_low * count), math.floor(surely_high * count)
        if surely_low > surely_high or first > last:
            return UNDECIDED
        middle = min(max(math.floor(middle * count), first), last) / count
    if middle < 0.0:
        return UNDECIDED
    for k in range(len(h)):
        if a[k, axis] * middle >= h[k] - e[k]:
            return UNDECIDED
    point[axis] = middle
    return YES


@njit(cache=True, nogil=True, error_model="numpy")
def _plane(a: Any, h: Any, e: Any, counts: Any, corners: Any, point: Any) -> int:
    """Where one plane is the lowest: the square of the two steps, clipped by each of the others."""
    now, size = _clip(a, h, e, 1.0, corners)
    if size == 0:
        return NO
    axis, first, last = 0, 0.0, -1.0
    for i in range(2):
        if counts[i] > 0:
            low, high = 1.0, 0.0
            for corner in range(size):
                low, high = min(low, corners[now, corner, i]), max(high, corners[now, corner, i])
            if last < first or (high - low) * counts[i] < last - first:
                axis, first, last = i, low * counts[i], high * counts[i]
    now, size = _clip(a, h, e, -1.0, corners)
    if size > 0:
        for i in range(2):
            point[i] = 0.0
            for corner in range(size):
                point[i] += corners[now, corner, i] / size
            if counts[i] > 0:
                point[i] = math.floor(point[i] * counts[i] + 0.5) / counts[i]
        inside = True
        for k in range(len(h)):
            inside = inside and a[k, 0] * point[0] + a[k, 1] * point[1] < h[k] - e[k]
        if inside:
            return YES
    if last < first:  # no column of whole numbers
        return UNDECIDED
    # rounding of a corner may hide the line it lies on, so one more is looked at on each side
    return _lines(a, h, e, counts, axis, max(math.floor(first), 0), min(math.ceil(last), counts[axis]), point)


@njit(cache=True, nogil=True, error_model="numpy")
def _clip(a: Any, h: Any, e: Any, side: float, corners: Any) -> Any:
    """What is left of the square, by Sutherland and Hodgman: each half-plane cuts the polygon once.

    The corners end in one of two buffers: which, and how many.
    """
    now, size = 0, 4
    for corner in range(4):
        corners[0, corner, 0] = 1.0 if corner in (1, 2) else 0.0
        corners[0, corner, 1] = 1.0 if corner >= 2 else 0.0
    for k in range(len(h)):
        limit = h[k] + side * e[k]
        kept = 0
        x, y = corners[now, size - 1, 0], corners[now, size - 1, 1]
        over = a[k, 0] * x + a[k, 1] * y - limit
        for corner in range(size):
            next_x, next_y = corners[now, corner, 0], corners[now, corner, 1]
            next_over = a[k, 0] * next_x + a[k, 1] * next_y - limit
            if (over <= 0) != (next_over <= 0):
                share = over / (over - next_over)
                corners[1 - now, kept, 0] = x + share * (next_x - x)
                corners[1 - now, kept, 1] = y + share * (next_y - y)
                kept += 1
            if next_over <= 0:
                corners[1 - now, kept, 0], corners[1 - now, kept, 1] = next_x, next_y
                kept += 1
            x, y, over = next_x, next_y, next_over
        now, size = 1 - now, kept
        if size == 0:
            break
    return now, size


@njit(cache=True, nogil=True, error_model="numpy")
def _lines(a: Any, h: Any, e: Any, counts: Any, axis: int, first: int, last: int, point: Any) -> int:
    """Whole numbers in the polygon: on each of its lines across the axis that has fewest, as with one column."""
    if last - first > MOST_LINES:
        return UNDECIDED
    rest = np.empty(len(h))
    state = NO
    for line in range(first, last + 1):
        for k in range(len(h)):
            rest[k] = h[k] - a[k, axis] * (line / counts[axis])
        found = _line(a, 1 - axis, rest, e, counts[1 - axis], point)
        if found == YES:
            point[axis] = line / counts[axis]
            return YES
        state = max(state, found)
    return state
