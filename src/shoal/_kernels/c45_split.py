# SPDX-License-Identifier: Apache-2.0
"""What a split of a node gains in C4.5, and putting a node's people into its branches."""

from __future__ import annotations

import numpy as np
from numba import njit

LEAST = 2  # people in each of at least two branches
MOST = 25  # people that a part of a cut must have, however many the node has
SMALL = 1e-6  # what Weka takes for nothing


@njit(cache=True, nogil=True)
def count_together(codes, classes, rows, columns, starts, n_columns, n_classes, block):
    """block[start + code·classes + class]: how many rows, for several features in one pass."""
    for i in range(len(rows)):
        row = rows[i]
        own = classes[row]
        for k in range(n_columns):
            block[starts[k] + np.int64(codes[row, columns[k]]) * n_classes + own] += 1


@njit(cache=True, nogil=True)
def count_one(codes, classes, rows, column, by_code, seen):
    """The same for one feature with more codes than it pays to look at; those that are there are entered in `seen`."""
    n_seen = 0
    for i in range(len(rows)):
        row = rows[i]
        code = codes[row, column]
        new = True
        for c in range(by_code.shape[1]):
            new = new and by_code[code, c] == 0
        if new:
            seen[n_seen] = code
            n_seen += 1
        by_code[code, classes[row]] += 1
    return n_seen


@njit(cache=True, nogil=True)
def there(by_code, first, end, seen):
    """Enter the codes from first to end that somebody has in `seen`, ascending."""
    n_seen = 0
    for code in range(first, end):
        for c in range(by_code.shape[1]):
            if by_code[code, c]:
                seen[n_seen] = code
                n_seen += 1
                break
    return n_seen


@njit(cache=True, nogil=True)
def ascend(seen, spare, most):
    """Put codes below `most` in order, byte by byte where there are many."""
    if len(seen) < 64:
        seen.sort()
        return
    places = np.empty(257, dtype=np.int64)
    shift = 0
    while most >> shift:
        places[:] = 0
        for k in range(len(seen)):
            places[((seen[k] >> shift) & 255) + 1] += 1
        for byte in range(1, 256):
            places[byte] += places[byte - 1]
        for k in range(len(seen)):
            byte = (seen[k] >> shift) & 255
            spare[places[byte]] = seen[k]
            places[byte] += 1
        seen[:] = spare[: len(seen)]
        shift += 8


@njit(cache=True, nogil=True)
def _known(whole, by_code, n_known, logs, known):
    """How many rows have a value, their impurity (people times entropy), and their classes in `known`."""
    missing = n_known < len(by_code)
    n = np.int64(0)
    bits = 0.0
    for c in range(len(whole)):
        known[c] = whole[c] - (by_code[n_known, c] if missing else 0)
        n += known[c]
        bits -= logs[known[c]]
    return n, bits + logs[n]


@njit(cache=True, nogil=True)
def _ratio(gain, split, n):
    return gain / (split / n) if abs(split) >= SMALL else 0.0


@njit(cache=True, nogil=True)
def all_values(by_code, seen, n_seen, n_known, whole, logs, known):
    """A branch for each value: whether these rows can never be split so, the gain (−1: no split) and its ratio.

    The counts are set to zero again. Rows without a value tell nothing, and are a part of their own in the ratio.
    """
    n, n_classes = whole.sum(), len(whole)
    n_there, before = _known(whole, by_code, n_known, logs, known)
    parts, sizes, large = 0.0, logs[n - n_there], 0
    for k in range(n_seen):
        code = seen[k]
        size, within = np.int64(0), 0.0
        for c in range(n_classes):
            size += by_code[code, c]
            within += logs[by_code[code, c]]
            by_code[code, c] = 0
        if code < n_known:
            large += size >= LEAST
            sizes += logs[size]
            parts += logs[size] - within
    if large < 2:
        return True, -1.0, 0.0
    gain = (before - parts) / n if (before - parts) * n_there >= SMALL * n else 0.0
    return False, gain, _ratio(gain, logs[n] - sizes, n)


@njit(cache=True, nogil=True)
def best_cut(by_code, seen, n_seen, n_known, whole, logs, known, side):
    """The best of all cuts: whether there can never be one, the gain (−1: no split), its ratio, and the codes next to
    the cut. `seen` must ascend. The counts are set to zero again."""
    n, n_classes = whole.sum(), len(whole)
    n_there, before = _known(whole, by_code, n_known, logs, known)
    if n_there < n:  # missing is the last that was seen
        n_seen -= 1
        by_code[seen[n_seen]] = 0
    least = 0.1 * n_there / n_classes
    least = LEAST if least < LEAST + SMALL else min(least, MOST)
    best, low, n_low_best, n_cuts = 0.0, -1, 0, 0
    n_low = np.int64(0)
    side[:] = 0
    two = n_classes == 2
    low_0, low_1 = np.int64(0), np.int64(0)
    for k in range(n_seen):
        code = seen[k]
        if two:  # the usual case, without arrays
            low_0 += by_code[code, 0]
            low_1 += by_code[code, 1]
            n_low = low_0 + low_1
            by_code[code, 0] = 0
            by_code[code, 1] = 0
        else:
            for c in range(n_classes):
                side[c] += by_code[code, c]
                n_low += by_code[code, c]
                by_code[code, c] = 0
        if n_low <= least - SMALL or n_there - n_low <= least - SMALL or k + 1 == n_seen:
            continue
        saved = before - logs[n_low] - logs[n_there - n_low]
        if two:
            saved += logs[low_0] + logs[known[0] - low_0] + logs[low_1] + logs[known[1] - low_1]
        else:
            for c in range(n_classes):
                saved += logs[side[c]] + logs[known[c] - side[c]]
        n_cuts += 1
        if saved > best + SMALL * n and saved * n_there >= SMALL * n:
            best, low, n_low_best = saved, k, n_low
    if n_cuts == 0:
        return n_seen < 2, -1.0, 0.0, -1, -1
    gain = (best - np.log2(n_cuts)) / n
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
        code = np.int64(codes[rows[i], f])
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
        code = np.int64(codes[row, f])
        if code >= n_known:
            child = largest
        else:
            child = first[node] + (code > cut[node] if cuts else code)
        spare[end[child]] = row
        end[child] += 1
        counts[child, classes[row]] += 1
    rows[start[node] : end[node]] = spare[start[node] : end[node]]
