# SPDX-License-Identifier: Apache-2.0
"""A minimal spanning tree of points by Borůvka's rounds on a k-d tree, and sums over the parts of a tree.

In each round every component of the forest so far finds its shortest edge to another one. Parts of the k-d tree that
are all of the asking component, or farther away than the best edge found, are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]


def spanning_tree(points: Floats) -> tuple[Ids, Ids, Floats]:
    """The edges of a minimal spanning tree: from, to and the squared length; no two points may be equal.

    >>> start, end, squares = spanning_tree(np.array([[0.0], [5.0], [1.0]]))
    >>> sorted(squares.tolist())
    [1.0, 16.0]
    """
    from sklearn.neighbors import KDTree

    if len(points) < 2:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0)
    tree = KDTree(points, leaf_size=16)
    data, order, nodes, bounds = tree.get_arrays()
    edges, squares = _rounds(
        np.ascontiguousarray(np.asarray(data)[order]),
        np.ascontiguousarray(nodes["idx_start"]).astype(np.int64),
        np.ascontiguousarray(nodes["idx_end"]).astype(np.int64),
        np.ascontiguousarray(nodes["is_leaf"]).astype(np.int64),
        np.ascontiguousarray(bounds[0]),
        np.ascontiguousarray(bounds[1]),
    )
    order = np.asarray(order, dtype=np.int64)
    return order[edges[:, 0]], order[edges[:, 1]], squares


@njit(cache=True, nogil=True)
def _rounds(points: Any, first: Any, last: Any, is_leaf: Any, low: Any, high: Any) -> Any:
    n = len(points)
    part = np.arange(n)
    edges = np.empty((n - 1, 2), dtype=np.int64)
    squares = np.empty(n - 1)
    n_edges = 0
    best, best_from, best_to = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    known = np.zeros(n)  # a point's nearest of another part is at least so far: parts only grow
    pure = np.empty(len(first), dtype=np.int64)
    stack, far = np.empty(128, dtype=np.int64), np.empty(128)
    while n_edges < n - 1:
        for node in range(len(first) - 1, -1, -1):
            pure[node] = part[first[node]]
            if is_leaf[node]:
                for i in range(first[node], last[node]):
                    if part[i] != pure[node]:
                        pure[node] = -1
                        break
            elif pure[2 * node + 1] != pure[2 * node + 2]:
                pure[node] = -1
            else:
                pure[node] = pure[2 * node + 1]
        best[:] = np.inf
        for i in range(n):
            mine = part[i]
            if known[i] > best[mine]:
                continue
            found, at = best[mine], -1
            stack[0], far[0], size = 0, 0.0, 1
            while size:
                size -= 1
                node = stack[size]
                if far[size] > found or pure[node] == mine:
                    continue
                if is_leaf[node]:
                    for j in range(first[node], last[node]):
                        if part[j] != mine:
                            square = 0.0
                            for axis in range(points.shape[1]):
                                square += (points[i, axis] - points[j, axis]) ** 2
                            # ties by number, so that rounds make no circle
                            if square < found or (square == found and _before(i, j, at, best_from, best_to, mine)):
                                found, at = square, j
                    continue
                left, right = _apart(points, i, low, high, 2 * node + 1), _apart(points, i, low, high, 2 * node + 2)
                nearer = 1 if left <= right else 2
                stack[size], far[size] = 2 * node + 3 - nearer, max(left, right)
                stack[size + 1], far[size + 1] = 2 * node + nearer, min(left, right)
                size += 2
            if at >= 0:
                known[i] = found
                best[mine], best_from[mine], best_to[mine] = found, i, at
            else:
                known[i] = max(known[i], found)
        for mine in range(n):
            if best[mine] == np.inf:
                continue
            a, b = _root(part, best_from[mine]), _root(part, best_to[mine])
            if a != b:
                edges[n_edges, 0], edges[n_edges, 1] = best_from[mine], best_to[mine]
                squares[n_edges] = best[mine]
                n_edges += 1
                part[max(a, b)] = min(a, b)
        for i in range(n):
            part[i] = _root(part, i)
    return edges, squares


@njit(cache=True, nogil=True)
def _before(i: int, j: int, at: int, best_from: Any, best_to: Any, mine: int) -> bool:
    """Whether the edge (i, j) comes before the best one of the same length, in one order of all edges."""
    a, b = (i, at) if at >= 0 else (best_from[mine], best_to[mine])
    low, high = min(i, j), max(i, j)
    return bool(low < min(a, b) or (low == min(a, b) and high < max(a, b)))


@njit(cache=True, nogil=True)
def _apart(points: Any, i: int, low: Any, high: Any, node: int) -> float:
    """The square of the distance between a point and the box of a node."""
    square = 0.0
    for axis in range(points.shape[1]):
        gap = max(low[node, axis] - points[i, axis], points[i, axis] - high[node, axis])
        if gap > 0:
            square += gap * gap
    return square


@njit(cache=True, nogil=True)
def _root(part: Any, i: int) -> int:
    while part[i] != i:
        part[i] = part[part[i]]
        i = part[i]
    return int(i)


@njit(cache=True, nogil=True)
def below(order: Any, parent: Any, cut: Any, values: Any) -> Any:
    """For every node of a tree the top of its part and the sum of `values` over what hangs below it.

    `order` lists nodes with parents before children. An edge above a node with `cut` is not there.
    """
    sums = values.copy()
    top = np.empty(len(order), dtype=np.int64)
    for place in range(len(order)):
        node = order[place]
        top[node] = node if place == 0 or cut[node] else top[parent[node]]
    for place in range(len(order) - 1, 0, -1):
        node = order[place]
        if not cut[node]:
            for column in range(values.shape[1]):
                sums[parent[node], column] += sums[node, column]
    return top, sums
