# SPDX-License-Identifier: Apache-2.0
"""C4.5's pruning: subtrees that save no error, subtree replacement and subtree raising.

The tree is that of `shoal._kernels.c45`, changed in place; nodes that no longer hang on the root stay in the arrays.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from shoal._kernels.c45_split import SMALL, part

CONFIDENCE = 0.25
Z = 0.6744897501960817  # of the normal distribution, at that confidence
SLACK = 0.1  # expected errors that a smaller tree may cost
NEARLY = 1e-3  # observed errors that a subtree must save


@njit(cache=True, nogil=True)
def expected_errors(n, e):
    """The upper limit of the errors of a leaf with n people, e of them wrong, as C4.5 computes it."""
    if n == 0:
        return 0.0
    if e == 0:
        return n * (1 - CONFIDENCE ** (1 / n))
    if e + 0.5 >= n:
        return np.float64(n)
    share = (e + 0.5) / n
    spread = np.sqrt(share / n - share * share / n + Z * Z / (4 * n * n))
    return (share + Z * Z / (2 * n) + Z * spread) / (1 + Z * Z / n) * n


@njit(cache=True, nogil=True)
def _expected(counts):
    n, most = np.int64(0), np.int64(0)
    for c in range(len(counts)):
        n += counts[c]
        most = max(most, counts[c])
    return expected_errors(n, n - most)


@njit(cache=True, nogil=True)
def collapse(tree):
    """Put a leaf in place of each subtree that makes no fewer errors on the rows it was grown on; from the root."""
    feature, _, first, width, _, _, _, counts = tree
    n_nodes = len(feature)
    as_leaf = np.empty(n_nodes, dtype=np.int64)
    below = np.zeros(n_nodes, dtype=np.int64)
    for node in range(n_nodes - 1, -1, -1):
        as_leaf[node] = counts[node].sum() - counts[node].max()
        if feature[node] < 0:
            below[node] = as_leaf[node]
        else:
            for child in range(first[node], first[node] + width[node]):
                below[node] += below[child]
    waiting = np.empty(n_nodes, dtype=np.int32)
    waiting[0], n_waiting = 0, 1
    while n_waiting:
        n_waiting -= 1
        node = waiting[n_waiting]
        if feature[node] < 0:
            continue
        if below[node] >= as_leaf[node] - NEARLY:
            feature[node] = -1
            continue
        for child in range(first[node], first[node] + width[node]):
            waiting[n_waiting] = child
            n_waiting += 1


@njit(cache=True, nogil=True)
def prune(codes, classes, rows, about, tree):
    """From the leaves up: a leaf, or the largest branch, in place of each subtree that is not expected to do better.

    A branch that is raised gets the people of its siblings, and is pruned again.
    """
    feature, cut, first, width, gap, start, end, counts = tree
    n_nodes = len(feature)
    errors = np.zeros(n_nodes)  # that are expected of what hangs on a node
    spare = np.empty(len(rows), dtype=np.int32)
    more = np.zeros((n_nodes, counts.shape[1]), dtype=np.int32)
    touched = np.empty(n_nodes, dtype=np.int32)
    waiting = np.empty(n_nodes + 1, dtype=np.int32)  # a node before its children, or ~node after them
    waiting[0], n_waiting = 0, 1
    while n_waiting:
        n_waiting -= 1
        node = waiting[n_waiting]
        if node >= 0:
            if feature[node] < 0:
                errors[node] = _expected(counts[node])
                continue
            waiting[n_waiting] = ~node
            n_waiting += 1
            for child in range(first[node], first[node] + width[node]):
                waiting[n_waiting] = child
                n_waiting += 1
            continue
        node = ~node
        as_tree, as_leaf = 0.0, _expected(counts[node])
        largest = first[node]
        for child in range(first[node], first[node] + width[node]):
            as_tree += errors[child]
            if end[child] - start[child] >= end[largest] - start[largest]:
                largest = child
        raised = as_leaf
        if feature[largest] >= 0:
            raised = errors[largest] + _more_errors(
                codes, classes, rows, about, tree, node, largest, errors, more, touched
            )
        if as_leaf < as_tree + SLACK + SMALL and as_leaf < raised + SLACK + SMALL:
            feature[node] = -1
            errors[node] = as_leaf
        elif raised < as_tree + SLACK + SMALL:
            feature[node], cut[node] = feature[largest], cut[largest]
            first[node], width[node], gap[node] = first[largest], width[largest], gap[largest]
            _part_all(codes, classes, rows, spare, about, tree, node, touched)
            waiting[n_waiting] = node
            n_waiting += 1
        else:
            errors[node] = as_tree


@njit(cache=True, nogil=True)
def _more_errors(codes, classes, rows, about, tree, node, largest, errors, more, touched):
    """How many more errors are expected of the largest branch when it gets all people of its parent."""
    feature, cut, first, _, gap, start, end, counts = tree
    ordered, n_known = about[1], about[2]
    n_touched = 0
    for i in range(start[node], end[node]):
        if start[largest] <= i < end[largest]:
            continue
        row = rows[i]
        at = largest
        while feature[at] >= 0:
            f = feature[at]
            code = np.int64(codes[row, f])
            if code >= n_known[f]:
                at = first[at] + gap[at]
            elif ordered[f]:
                at = first[at] + (code > cut[at])
            else:
                at = first[at] + code
        if more[at].max() == 0:
            touched[n_touched] = at
            n_touched += 1
        more[at, classes[row]] += 1
    total = 0.0
    for k in range(n_touched):
        at = touched[k]
        total += _expected(counts[at] + more[at]) - errors[at]
        more[at] = 0
    return total


@njit(cache=True, nogil=True)
def _part_all(codes, classes, rows, spare, about, tree, node, waiting):
    """Put the people of a node into the branches below it, all the way down."""
    feature, first, width = tree[0], tree[2], tree[3]
    waiting[0], n_waiting = node, 1
    while n_waiting:
        n_waiting -= 1
        at = waiting[n_waiting]
        part(codes, classes, rows, spare, about, tree, at)
        for child in range(first[at], first[at] + width[at]):
            if feature[child] >= 0:
                waiting[n_waiting] = child
                n_waiting += 1
