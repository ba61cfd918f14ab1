# SPDX-License-Identifier: Apache-2.0
"""Whose territory somebody can be in: the nearest centroids while private values vary, by small linear programs.

With everything shared by all centroids left out, the squared distance to a centroid is linear in the private numbers:
``fixed + offset + slopes @ u``. A centroid can be the nearest if some u of the box makes it smaller than that of every
other, by more than rounding can change. The largest margin by which it can is a linear program; its dual has one row
more than there are private numbers, and people, enumerated values and narrower boxes change its costs only. So the
basis that settled one person is where the search for the next one starts, and mostly ends.

Neither answer hangs on the search: a YES is a point of the box that was put in, a NO a weighting of the comparisons
that no point of the box can satisfy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

NO, UNDECIDED, YES = 0, 1, 2
MOST_PIVOTS = 500  # of one program; beyond, nothing is said
FRESH = 60  # pivots after which the inverse is begun anew, for the sake of rounding
MOST_BOXES = 2_000  # parts of the box that are searched for whole numbers, for one person and centroid
OUTSIDE = 1e-12  # of the box, which is 1 wide: what is less is rounding
DEEPEST = 200  # of them that may wait


@njit(cache=True, nogil=True, error_model="numpy")
def reach(fixed: Any, offsets: Any, slopes: Any, counts: Any, slack: Any, cells: Any, spare: float, split: bool) -> Any:
    """For every person and some centroids whether the centroid can be the nearest: YES, NO or UNDECIDED.

    Parameters
    ----------
    fixed
        What public values add (people × centroids).
    offsets
        What each combination of enumerated private values adds (combinations × centroids).
    slopes
        What the other private numbers add from the lowest to the highest value of each (centroids × numbers). The box
        is from 0 to 1 in each.
    counts
        Into how many equal parts the values of each number cut it; 0 for a continuous one.
    slack
        By how much the sum for each centroid may be wrong.
    cells
        The centroids that are asked about.
    spare
        By what share of the sizes in a comparison a YES must win it besides.
    split
        Whether the box is split until whole numbers are found; otherwise those near the best point are all that is
        tried.
    """
    n_people, n = fixed.shape
    d = slopes.shape[1]
    state = np.zeros((n_people, len(cells)), dtype=np.int8)
    a, h, e = np.zeros((n, d)), np.zeros(n), np.zeros(n)
    inverse, basis = np.zeros((d + 1, d + 1)), np.zeros(d + 1, dtype=np.int64)
    point, tried = np.zeros(d + 1), np.zeros(d)
    lows, highs = np.zeros((DEEPEST, d)), np.zeros((DEEPEST, d))
    least = np.zeros(n)
    for place in range(len(cells)):
        me = cells[place]
        for k in range(n):
            e[k] = slack[me] + slack[k]
            least[k] = 0.0
            for i in range(d):
                a[k, i] = slopes[me, i] - slopes[k, i]
                least[k] += min(a[k, i], 0.0)
        _begin(a, me, inverse, basis)
        pivots = 0
        for person in range(n_people):
            for start in range(len(offsets)):
                lost = False
                for k in range(n):
                    h[k] = (fixed[person, k] - fixed[person, me]) + (offsets[start, k] - offsets[start, me])
                    if k != me and least[k] > h[k] + e[k]:
                        lost = True  # this one alone is nearer in the whole box
                        break
                if lost:
                    continue
                lows[0], highs[0] = 0.0, 1.0
                waiting, boxes = 1, 0
                found = NO
                while waiting:
                    waiting -= 1
                    boxes += 1
                    if boxes > MOST_BOXES or waiting + 2 >= DEEPEST:
                        found = UNDECIDED
                        break
                    low, top = lows[waiting], highs[waiting]
                    if pivots > FRESH:
                        _begin(a, me, inverse, basis)
                        pivots = 0
                    answer, more = _program(a, h, e, me, low, top, counts, spare, inverse, basis, point, tried)
                    if answer == UNDECIDED and pivots:  # the inverse may be worn out
                        _begin(a, me, inverse, basis)
                        answer, more = _program(a, h, e, me, low, top, counts, spare, inverse, basis, point, tried)
                        pivots = 0
                    pivots += more
                    if answer == YES:
                        found = YES
                        break
                    if answer == NO:
                        continue
                    cut = -1
                    for i in range(d):
                        wide = split and counts[i] and top[i] > low[i]
                        if wide and (cut < 0 or abs(point[i] - tried[i]) > abs(point[cut] - tried[cut])):
                            cut = i
                    if cut < 0:
                        found = UNDECIDED
                        continue
                    first, last = np.round(low[cut] * counts[cut]), np.round(top[cut] * counts[cut])
                    at = min(max(np.floor(point[cut] * counts[cut]), first), last - 1)
                    lows[waiting + 1], highs[waiting + 1] = low, top
                    highs[waiting, cut], lows[waiting + 1, cut] = at / counts[cut], (at + 1) / counts[cut]
                    waiting += 2
                if found > state[person, place]:
                    state[person, place] = found
                if found == YES:
                    break
    return state


@njit(cache=True, nogil=True, error_model="numpy")
def _begin(a: Any, me: int, inverse: Any, basis: Any) -> None:
    """The basis of a weighting that needs no search: one comparison alone, and the sides of the box that oppose it.

    Variables by number: the weight of each comparison, of each upper side and of each lower side.
    """
    n, d = a.shape
    first = 0 if me != 0 or n == 1 else 1
    inverse[:] = 0.0
    inverse[0, 0] = 1.0
    basis[0] = first
    for i in range(d):
        upper = a[first, i] < 0
        basis[i + 1] = n + i if upper else n + d + i
        sign = 1.0 if upper else -1.0
        inverse[i + 1, i + 1] = sign
        inverse[i + 1, 0] = -sign * a[first, i]


@njit(cache=True, nogil=True, error_model="numpy")
def _program(
    a: Any,
    h: Any,
    e: Any,
    me: int,
    low: Any,
    top: Any,
    counts: Any,
    spare: float,
    inverse: Any,
    basis: Any,
    point: Any,
    tried: Any,
) -> Any:
    """Search for a point with ``a @ u < h``, by the simplex method on the weights, and how many pivots it took.

    Left behind: in `point` the best u of the relaxed program, and in `tried` the same with whole numbers.
    """
    n, d = a.shape
    if n == 1:
        return YES, 0
    column = np.empty(d + 1)
    for pivot in range(MOST_PIVOTS):
        point[:] = 0.0  # the prices: the margin last, before it u
        for row in range(d + 1):
            cost = _cost(basis[row], n, d, h, low, top)
            for i in range(d):
                point[i] += cost * inverse[row, i + 1]
            point[d] += cost * inverse[row, 0]
        if point[d] < 0 and _refuted(a, h, e, low, top, inverse, basis):
            return NO, pivot
        worst, enters = 0.0, -1
        inside = True
        for i in range(d):
            over = max(point[i] - top[i], low[i] - point[i])
            if over > OUTSIDE:
                inside = False
                if over > worst:
                    worst, enters = over, n + i if point[i] > top[i] else n + d + i
        for k in range(n):
            if k == me:
                continue
            margin = h[k] - point[d]
            for i in range(d):
                margin -= a[k, i] * point[i]
            if -margin > 0.25 * e[k] and -margin > worst:
                worst, enters = -margin, k
        if inside and _holds(a, h, e, me, low, top, counts, spare, point, tried):
            return YES, pivot
        if enters < 0:
            return UNDECIDED, pivot
        for row in range(d + 1):
            column[row] = 0.0
            if enters < n:
                column[row] = inverse[row, 0]
                for i in range(d):
                    column[row] += inverse[row, i + 1] * a[enters, i]
            elif enters < n + d:
                column[row] = inverse[row, enters - n + 1]
            else:
                column[row] = -inverse[row, enters - n - d + 1]
        leaves, ratio = -1, np.inf
        for row in range(d + 1):
            if column[row] > 1e-11:
                share = max(inverse[row, 0], 0.0) / column[row]
                if share < ratio or (share == ratio and basis[row] < basis[leaves]):
                    leaves, ratio = row, share
        if leaves < 0:
            return UNDECIDED, pivot + FRESH  # rounding: the weights are bounded
        basis[leaves] = enters
        for i in range(d + 1):
            inverse[leaves, i] /= column[leaves]
        for row in range(d + 1):
            if row != leaves:
                for i in range(d + 1):
                    inverse[row, i] -= column[row] * inverse[leaves, i]
    return UNDECIDED, MOST_PIVOTS


@njit(cache=True, nogil=True, error_model="numpy")
def _cost(variable: int, n: int, d: int, h: Any, low: Any, top: Any) -> float:
    if variable < n:
        return float(h[variable])
    return float(top[variable - n]) if variable < n + d else -float(low[variable - n - d])


@njit(cache=True, nogil=True, error_model="numpy")
def _holds(
    a: Any, h: Any, e: Any, me: int, low: Any, top: Any, counts: Any, spare: float, point: Any, tried: Any
) -> bool:
    """Whether a point, moved into the box and to whole numbers, wins every comparison."""
    n, d = a.shape
    for i in range(d):
        tried[i] = point[i]
        if counts[i]:
            tried[i] = np.floor(point[i] * counts[i] + 0.5) / counts[i]
        tried[i] = min(max(tried[i], low[i]), top[i])
    for k in range(n):
        if k == me:
            continue
        left, size = h[k] - e[k], 0.0
        for i in range(d):
            left -= a[k, i] * tried[i]
            size += abs(a[k, i]) * (top[i] - low[i])
        if left <= spare * max(size, abs(h[k])):
            return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _refuted(a: Any, h: Any, e: Any, low: Any, top: Any, inverse: Any, basis: Any) -> bool:
    """Whether the comparisons, weighted as the basis says, contradict each other on the whole box."""
    n, d = a.shape
    limit = 0.0
    for row in range(d + 1):
        if basis[row] < n:
            limit += max(inverse[row, 0], 0.0) * (h[basis[row]] + e[basis[row]])
    for i in range(d):
        slope = 0.0
        for row in range(d + 1):
            if basis[row] < n:
                slope += max(inverse[row, 0], 0.0) * a[basis[row], i]
        limit -= min(slope * low[i], slope * top[i])
    return bool(limit < 0)
