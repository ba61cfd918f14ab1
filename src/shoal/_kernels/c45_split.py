# SPDX-License-Identifier: Apache-2.0
"""What a split of a node gains in C4.5, and putting a node's people into its branches."""

from __future__ import annotations

import numpy as np
from numba import njit

LEAST = 2  # people in each of at least two branches
MOST = 25  # people that a part of a cut must have, however many the node has
SMALL = 1e-6  # what Weka takes for nothing


@njit(cache=True, nogil=True)
def _count(column, classes, rows, by_code, seen):
    """by_code[code]: rows by class, and all of them last; the codes that are there are entered in `seen`."""
    last = by_code.shape[1] - 1
    n_seen = 0
    for i in range(len(rows)):
        row = rows[i]
        code = column[row]
        if by_code[code, last] == 0:
            seen[n_seen] = code
            n_seen += 1
        by_code[code, last] += 1
        by_code[code, classes[row]] += 1
    return n_seen


@njit(cache=True, nogil=True)
def _known(whole, by_code, n_known, logs, known):
    """How many rows have a value, their impurity (people times entropy), and their classes in `known`."""
    n_classes = len(whole)
    missing = n_known < len(by_code)
    n = np.int64(0)
    bits = 0.0
    for c in range(n_classes):
        known[c] = whole[c] - (by_code[n_known, c] if missing else 0)
        n += known[c]
        bits -= logs[known[c]]
    return n, bits + logs[n]


@njit(cache=True, nogil=True)
def _gain(saved, n_known, n):
    """Bits a row, where rows without a value tell nothing; a saving of next to nothing is nothing."""
    saved *= n_known / n
    return saved / n_known if abs(saved) >= SMALL else 0.0


@njit(cache=True, nogil=True)
def _ratio(gain, split, n):
    return gain / (split / n) if abs(split) >= SMALL else 0.0


@njit(cache=True, nogil=True)
def all_values(column, classes, rows, n_known, whole, logs, by_code, seen, known):
    """A branch for each value: whether these rows can never be split so, the gain (−1: no split) and its ratio."""
    n, n_classes = len(rows), len(whole)
    n_seen = _count(column, classes, rows, by_code, seen)
    n_there, before = _known(whole, by_code, n_known, logs, known)
    parts, sizes, large = 0.0, logs[n - n_there], 0
    for k in range(n_seen):
        code = seen[k]
        size = by_code[code, n_classes]
        if code < n_known:
            large += size >= LEAST
            sizes += logs[size]
            parts += logs[size]
            for c in range(n_classes):
                parts -= logs[by_code[code, c]]
        by_code[code] = 0
    if large < 2:
        return True, -1.0, 0.0
    gain = _gain(before - parts, n_there, n)
    return False, gain, _ratio(gain, logs[n] - sizes, n)


@njit(cache=True, nogil=True)
def best_cut(column, classes, rows, n_known, whole, logs, by_code, seen, known, side):
    """The best of all cuts: whether there can never be one, the gain (−1: no split), its ratio, and the codes next to
    the cut."""
    n, n_classes = len(rows), len(whole)
    n_seen = _count(column, classes, rows, by_code, seen)
    n_there, before = _known(whole, by_code, n_known, logs, known)
    if n_known < len(by_code):
        by_code[n_known] = 0
    first, last = n_known, -1
    kept = 0
    for k in range(n_seen):
        code = seen[k]
        if code < n_known:
            seen[kept] = code
            kept += 1
            first, last = min(first, code), max(last, code)
    n_seen = kept
    if last - first < 8 * n_seen:  # to look at every code is cheaper than to sort
        n_seen = 0
        for code in range(first, last + 1):
            if by_code[code, n_classes]:
                seen[n_seen] = code
                n_seen += 1
    else:
        seen[:n_seen].sort()

    least = 0.1 * n_there / n_classes
    least = LEAST if least < LEAST + SMALL else min(least, MOST)
    best, low, n_low_best, n_cuts = 0.0, -1, 0, 0
    n_low = np.int64(0)
    side[:] = 0
    for k in range(n_seen):
        code = seen[k]
        n_low += by_code[code, n_classes]
        for c in range(n_classes):
            side[c] += by_code[code, c]
        by_code[code] = 0
        if n_low <= least - SMALL or n_there - n_low <= least - SMALL or k + 1 == n_seen:
            continue
        parts = logs[n_low] + logs[n_there - n_low]
        for c in range(n_classes):
            parts -= logs[side[c]] + logs[known[c] - side[c]]
        n_cuts += 1
        gain = _gain(before - parts, n_there, n)
        if gain > best + SMALL:
            best, low, n_low_best = gain, k, n_low
    if n_cuts == 0:
        return n_seen < 2, -1.0, 0.0, -1, -1
    gain = best - np.log2(n_cuts) / n
    if gain < SMALL:
        return False, -1.0, 0.0, -1, -1
    split = logs[n] - logs[n_low_best] - logs[n_there - n_low_best] - logs[n - n_there]
    return False, gain, _ratio(gain, split, n), seen[low], seen[low + 1]


@njit(cache=True, nogil=True)
def part(codes, classes, rows, spare, about, tree, node):
    """Put the rows of a node in order by the branch they take, and fill in its children."""
    feature, cut, first, width, gap, start, end, counts = tree
    f = feature[node]
    cuts, n_known = about[1][f], about[2][f]
    children = range(first[node], first[node] + width[node])
    for child in children:
        end[child] = 0
        counts[child] = 0
    n_missing = 0
    for i in range(start[node], end[node]):
        code = np.int64(codes[f, rows[i]])
        if code >= n_known:
            n_missing += 1
        else:
            end[first[node] + (code > cut[node] if cuts else code)] += 1
    largest = first[node]
    for child in children:
        if end[child] > end[largest]:
            largest = child
    gap[node] = largest - first[node]
    end[largest] += n_missing
    at = start[node]
    for child in children:
        size = end[child]
        start[child], end[child] = at, at
        at += size
    for i in range(start[node], end[node]):
        row = rows[i]
        code = np.int64(codes[f, row])
        if code >= n_known:
            child = largest
        else:
            child = first[node] + (code > cut[node] if cuts else code)
        spare[end[child]] = row
        end[child] += 1
        counts[child, classes[row]] += 1
    rows[start[node] : end[node]] = spare[start[node] : end[node]]
