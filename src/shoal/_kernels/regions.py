# SPDX-License-Identifier: Apache-2.0
"""Cutting regions whose people are kept as segments of columns of places (numbers of values in an order)."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def ranges(places, starts, ends, n_known, low, high, known):
    """The lowest and the highest place of each segment, and the highest of those below n_known (-1: none)."""
    for s in range(len(starts)):
        least, most, top = places[starts[s]], places[starts[s]], np.int32(-1)
        for i in range(starts[s], ends[s]):
            place = places[i]
            least, most = min(least, place), max(most, place)
            if place < n_known:
                top = max(top, place)
        low[s], high[s], known[s] = least, most, top


@njit(cache=True, nogil=True)
def count_cells(places, values, weights, starts, ends, n_places, found, counts, stops):
    """The different places of each segment, ascending, and how many people of each value have them.

    weights, unless it is empty, says for how many people each stands.
    Those of all segments come one after the other in found[cell] and counts[cell, value], which must be long enough;
    stops[s] is where those of segment s end. `counts` must be zero.
    """
    cell_of = np.full(n_places, -1, dtype=np.int64)
    there = np.empty(n_places, dtype=np.int32)
    cell, weighted = 0, len(weights) > 0
    for s in range(len(starts)):
        n = 0
        for i in range(starts[s], ends[s]):
            place = places[i]
            if cell_of[place] < 0:
                cell_of[place] = 0
                there[n] = place
                n += 1
        if n * 16 < n_places:
            there[:n].sort()
        else:  # to look at every place is faster than to sort many
            n = 0
            for place in range(n_places):
                if cell_of[place] >= 0:
                    there[n] = place
                    n += 1
        for j in range(n):
            found[cell + j] = there[j]
            cell_of[there[j]] = cell + j
        for i in range(starts[s], ends[s]):
            counts[cell_of[places[i]], values[i]] += weights[i] if weighted else 1
        for j in range(n):
            cell_of[there[j]] = -1
        cell += n
        stops[s] = cell


@njit(cache=True, nogil=True)
def cut_gains(counts, first, terms, below, gain):
    """How many people of its segment are at each cell or before it, and the information that a cut after it gains.

    The cells of segment s are those from first[s] to first[s + 1]; terms[x] is x times its binary logarithm. The gain
    is in bits, of all people together; the last cell of a segment has none.
    """
    n_values = counts.shape[1]
    whole, left = np.empty(n_values, dtype=np.int64), np.empty(n_values, dtype=np.int64)
    for s in range(len(first) - 1):
        whole[:] = 0
        left[:] = 0
        for cell in range(first[s], first[s + 1]):
            for v in range(n_values):
                whole[v] += counts[cell, v]
        people = whole.sum()
        mixed = terms[people]
        for v in range(n_values):
            mixed -= terms[whole[v]]
        n = 0
        for cell in range(first[s], first[s + 1]):
            parts = 0.0
            for v in range(n_values):
                left[v] += counts[cell, v]
                n += counts[cell, v]
                parts -= terms[left[v]] + terms[whole[v] - left[v]]
            below[cell] = n
            gain[cell] = mixed - (parts + terms[n] + terms[people - n])


@njit(cache=True, nogil=True)
def branches(places, starts, ends, bounds, first, branch):
    """The part of each person, segment after segment.

    The parts of segment s have the numbers first[s] to first[s + 1] and begin at the places bounds[part], ascending.
    """
    at = 0
    for s in range(len(starts)):
        lowest, n = first[s], first[s + 1] - first[s]
        if n == 2:
            second = bounds[lowest + 1]
            for i in range(starts[s], ends[s]):
                branch[at] = lowest + (places[i] >= second)
                at += 1
            continue
        for i in range(starts[s], ends[s]):
            low, high = 0, n  # the last part that does not begin beyond the place
            while high - low > 1:
                middle = (low + high) // 2
                if bounds[lowest + middle] <= places[i]:
                    low = middle
                else:
                    high = middle
            branch[at] = lowest + low
            at += 1


@njit(cache=True, nogil=True)
def halves(places, starts, ends, pivot, ties, branch):
    """Part 2s of each person below pivot[s] and of the first ties[s] who are at it, part 2s + 1 of all others."""
    at = 0
    for s in range(len(starts)):
        left = ties[s]
        for i in range(starts[s], ends[s]):
            upper = places[i] > pivot[s]
            if places[i] == pivot[s]:
                upper = left <= 0
                left -= 1
            branch[at] = 2 * s + upper
            at += 1


@njit(cache=True, nogil=True)
def sort_by_part(column, branch, starts, ends, first, sizes):
    """Sort each segment of a column by part (numbered as in `branches`, with its sizes), keeping the order in each."""
    longest = 0
    for s in range(len(starts)):
        longest = max(longest, ends[s] - starts[s])
    aside = np.empty(longest, dtype=column.dtype)
    place = np.empty(len(sizes), dtype=np.int64)
    at = 0
    for s in range(len(starts)):
        to = 0
        for part in range(first[s], first[s + 1]):
            place[part] = to
            to += sizes[part]
        n = ends[s] - starts[s]
        for i in range(starts[s], ends[s]):
            part = branch[at]
            aside[place[part]] = column[i]
            place[part] += 1
            at += 1
        column[starts[s] : ends[s]] = aside[:n]
