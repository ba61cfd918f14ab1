# SPDX-License-Identifier: Apache-2.0
"""Plain C4.5 over codes, as Weka's J48 grows it with its default settings.

A tree is a tuple of arrays, one entry a node (node 0 is the root, children have higher numbers and stand together):

- `feature`: what the node asks for; −1 for a leaf.
- `cut`: of an ordered feature the last code that goes to the first of its two children.
- `first`, `width`: its children. A category goes to the child of its code; nobody may have been in it.
- `gap`: the child to which a missing value goes, that of most others.
- `start`, `end`: its people, a stretch of the rows it was grown on, which are put in order.
- `counts`: its people by class.

What is known of the features is a tuple too, see `describe`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal._kernels.c45_prune import collapse, prune
from shoal._kernels.c45_split import LEAST, SMALL, all_values, ascend, best_cut, count_one, count_together, part, there

NEARLY = 1e-3  # how far a gain may stay below the average
FEW = 16  # codes that are looked at one after the other, however few people there are
MANY = 3  # times as many codes as are there make it worth to sort those


@njit(cache=True, nogil=True)
def log_table(n):
    """x·log2(x) for whole numbers up to n."""
    table = np.zeros(n + 1)
    for x in range(2, n + 1):
        table[x] = x * np.log2(x)
    return table


@njit(cache=True, nogil=True)
def fit(codes, classes, rows, features, about, n_classes, logs):
    """The pruned tree of some rows and features; `rows` are put in order."""
    tree = grow(codes, classes, rows, features, about, n_classes, logs)
    collapse(tree)
    prune(codes, classes, rows, about, tree)
    return tree


@njit(cache=True, nogil=True)
def out_of_fold(codes, classes, folds, n_folds, features, about, n_classes, logs, out):
    """out[row, class]: the probabilities from the tree of all rows that are in other folds."""
    n_rows = len(classes)
    rows = np.empty(n_rows, dtype=np.int32)
    for fold in range(n_folds):
        n_train, n_test = 0, n_rows
        for row in range(n_rows):
            if folds[row] == fold:
                n_test -= 1
                rows[n_test] = row
            else:
                rows[n_train] = row
                n_train += 1
        tree = fit(codes, classes, rows[:n_train], features, about, n_classes, logs)
        probabilities(codes, rows[n_train:], about, tree, out)


@njit(cache=True, nogil=True)
def probabilities(codes, rows, about, tree, out):
    """out[row]: the Laplace-corrected shares of the leaf where a row ends; of its parent, where nobody was in it."""
    feature, cut, first, _width, gap, start, end, counts = tree
    ordered, n_known = about[1], about[2]
    n_classes = counts.shape[1]
    for i in range(len(rows)):
        row = rows[i]
        node, before = 0, 0
        while feature[node] >= 0:
            f = feature[node]
            code = np.int64(codes[row, f])
            before = node
            if code >= n_known[f]:
                node = first[node] + gap[node]
            elif ordered[f]:
                node = first[node] + (code > cut[node])
            else:
                node = first[node] + code
        if start[node] == end[node]:
            node = before
        people = end[node] - start[node] + n_classes
        for c in range(n_classes):
            out[row, c] = (counts[node, c] + 1) / people


@njit(cache=True, nogil=True)
def _bit(j):
    """The mark of a feature that cannot split a node or anything below it; there are marks for the first 64."""
    return np.uint64(1) << np.uint64(j) if j < 64 else np.uint64(0)


@njit(cache=True, nogil=True)
def _longer(array):
    longer = np.empty(2 * len(array), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


@njit(cache=True, nogil=True)
def _longer_table(table):
    longer = np.empty((2 * len(table), table.shape[1]), dtype=table.dtype)
    longer[: len(table)] = table
    return longer


@njit(cache=True, nogil=True)
def grow(codes, classes, rows, features, about, n_classes, logs):
    """The tree before it is pruned."""
    n_values, ordered, n_known, numbers, number_at = about
    n_features, n_rows = len(features), len(rows)
    most = 2
    offset = np.zeros(n_features + 1, dtype=np.int64)
    for j in range(n_features):
        most = max(most, n_values[features[j]])
        offset[j + 1] = offset[j] + n_values[features[j]] * n_classes
    block = np.zeros(offset[-1], dtype=np.int32)  # people of a node by feature, code and class; zero between nodes
    columns, starts = np.empty(n_features, dtype=np.int64), np.empty(n_features, dtype=np.int64)
    seen, sorting = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    known, side = np.empty(n_classes, dtype=np.int64), np.empty(n_classes, dtype=np.int64)
    spare = np.empty(n_rows, dtype=np.int32)
    below = _last_below(codes, rows, features, about)
    many = _many_valued(features, about, n_rows)

    size = 64
    while size < most + 1:
        size *= 2
    feature, cut = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    first, width = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    gap, start = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    end, closed = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.uint64)
    counts = np.empty((size, n_classes), dtype=np.int32)
    gain, ratio = np.empty(n_features), np.empty(n_features)
    low, high = np.empty(n_features, dtype=np.int32), np.empty(n_features, dtype=np.int32)

    feature[0], start[0], end[0], closed[0] = -1, 0, n_rows, 0
    counts[0] = 0
    for i in range(n_rows):
        counts[0, classes[rows[i]]] += 1
    n_nodes = 1
    # children stand behind their parents: one pass over the numbers grows everything
    node = -1
    while node + 1 < n_nodes:
        node += 1
        n = end[node] - start[node]
        if n < 2 * LEAST or counts[node].max() == n:
            continue
        here = rows[start[node] : end[node]]
        few = max(FEW, n // 2)
        n_columns = 0
        for j in range(n_features):
            gain[j] = -1.0
            f = features[j]
            if n_values[f] <= few and not closed[node] & _bit(j):
                columns[n_columns], starts[n_columns] = f, offset[j]
                n_columns += 1
        count_together(codes, classes, here, columns, starts, n_columns, n_classes, block)
        total, valid = 0.0, 0
        for j in range(n_features):
            if closed[node] & _bit(j):
                continue
            f = features[j]
            by_code = block[offset[j] : offset[j + 1]].reshape((n_values[f], n_classes))
            if n_values[f] <= few:
                n_seen = there(by_code, 0, n_values[f], seen)
            else:
                n_seen = count_one(codes, classes, here, f, by_code, seen)
                if ordered[f] and n_values[f] < MANY * n_seen:  # to look at every code is cheaper than to sort
                    n_seen = there(by_code, 0, n_values[f], seen)
                elif ordered[f]:
                    ascend(seen[:n_seen], sorting, n_values[f])
            if ordered[f]:
                single, gain[j], ratio[j], low[j], high[j] = best_cut(
                    by_code, seen, n_seen, n_known[f], counts[node], logs, known, side
                )
            else:
                single, gain[j], ratio[j] = all_values(by_code, seen, n_seen, n_known[f], counts[node], logs, known)
            if single:  # and below this node too
                closed[node] |= _bit(j)
            if gain[j] >= 0.0 and not many[j]:
                total += gain[j]
                valid += 1
        if valid == 0:
            continue
        best, most_ratio = -1, 0.0
        for j in range(n_features):
            if gain[j] >= 0.0 and gain[j] >= total / valid - NEARLY and ratio[j] > most_ratio + SMALL:
                best, most_ratio = j, ratio[j]
        if best < 0:
            continue
        f = features[best]
        feature[node], first[node] = f, n_nodes
        width[node] = 2 if ordered[f] else n_known[f]
        if ordered[f]:
            cut[node] = _cut_code(low[best], high[best], numbers[number_at[f] :], below[number_at[f] :])
        n_nodes += width[node]
        while n_nodes > len(feature):
            feature, cut, first, width = _longer(feature), _longer(cut), _longer(first), _longer(width)
            gap, start, end, closed = _longer(gap), _longer(start), _longer(end), _longer(closed)
            counts = _longer_table(counts)
        part(codes, classes, rows, spare, about, (feature, cut, first, width, gap, start, end, counts), node)
        own = closed[node]
        if not ordered[f]:
            own |= _bit(best)
        for child in range(first[node], n_nodes):
            feature[child] = -1
            closed[child] = own
    return (
        feature[:n_nodes],
        cut[:n_nodes],
        first[:n_nodes],
        width[:n_nodes],
        gap[:n_nodes],
        start[:n_nodes],
        end[:n_nodes],
        counts[:n_nodes],
    )


@njit(cache=True, nogil=True)
def _many_valued(features, about, n_rows):
    """Features with so many values beside the rows that they do not count in the average gain (unless all are)."""
    _, ordered, n_known, _, _ = about
    many = np.zeros(len(features), dtype=np.bool_)
    for j in range(len(features)):
        f = features[j]
        many[j] = not ordered[f] and not n_known[f] + SMALL < 0.3 * n_rows
    if many.all():
        many[:] = False
    return many


@njit(cache=True, nogil=True)
def _last_below(codes, rows, features, about):
    """Of each code of an ordered feature the largest code up to it that some row has."""
    _, ordered, n_known, numbers, number_at = about
    below = np.full(len(numbers), -1, dtype=np.int32)
    for j in range(len(features)):
        f = features[j]
        if not ordered[f]:
            continue
        own = below[number_at[f] : number_at[f] + n_known[f]]
        for i in range(len(rows)):
            code = codes[rows[i], f]
            if code < n_known[f]:
                own[code] = code
        for code in range(1, len(own)):
            if own[code] < 0:
                own[code] = own[code - 1]
    return below


@njit(cache=True, nogil=True)
def _cut_code(low, high, numbers, below):
    """The last code of the lower part: of the largest number among all rows that is at most in the middle."""
    middle = (numbers[low] + numbers[high]) / 2
    under, over = low, high
    while over - under > 1:
        between = (under + over) // 2
        if numbers[between] <= middle:
            under = between
        else:
            over = between
    return below[under]
