# SPDX-License-Identifier: Apache-2.0
"""Splitting clusters while the judge agrees: along the longest edges of a spanning tree, or by 2-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal._kernels.spanning import below, spanning_tree
from shoal.clusters.judge import Judge, Model
from shoal.clusters.territory import Ids
from shoal.release.encoding import Floats

MANY = 5_000  # distinct rows beyond which a run of refused edges ends the search
MOST_REFUSED = 25  # that many in a row
INIT = 3  # starts of 2-means, the best of which is taken


@dataclass(frozen=True)
class Stop:
    """When to stop: at a number of clusters, or where a split lowers inertia by less than a share of the whole."""

    n_clusters: int | None
    min_gain: float

    def reached(self, model: Model) -> bool:
        """Whether there are clusters enough."""
        return self.n_clusters is not None and len(model) >= self.n_clusters


def grow_by_edges(judge: Judge, model: Model, stop: Stop, least: int) -> Model:
    """Cut the longest edge of the minimal spanning tree that may be cut, again and again.

    An edge that may not be cut is tried anew once another was: spans may have grown wider by then.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    n = len(judge.points)
    start, end, squares = spanning_tree(judge.points)
    graph = coo_array((np.ones(n - 1, dtype=np.int8), (start, end)), shape=(n, n)).tocsr()
    order, parent = breadth_first_order(graph, 0, directed=False)
    length = np.zeros(n)  # of the edge above every node
    down = parent[end] == start
    length[np.where(down, end, start)] = squares
    by_length = np.lexsort((np.arange(n), -length))
    weights = judge.weights.astype(np.float64)
    values = np.column_stack([weights, judge.points * weights[:, None]])
    whole = _inertia(judge)
    cut = np.zeros(n, dtype=bool)
    cut[order[0]] = True  # there is no edge above the root
    cluster_of = np.zeros(n, dtype=np.int64)  # of the top of every part
    while not stop.reached(model):
        top, sums = below(order, parent, cut, values)
        rest = sums[top] - sums
        lighter = np.minimum(sums[:, 0], rest[:, 0])
        apart = sums[:, 1:] / sums[:, :1] - rest[:, 1:] / np.maximum(rest[:, :1], 1)
        gain = (apart**2).sum(axis=1) * sums[:, 0] * rest[:, 0] / (sums[:, 0] + rest[:, 0])
        open_ = ~cut & (lighter >= least) & (gain >= stop.min_gain * whole)
        tried = by_length[open_[by_length]]
        for node in tried[: MOST_REFUSED if n > MANY else n].tolist():
            cut[node] = True
            new_top = below(order, parent, cut, values[:, :1])[0]
            old = int(cluster_of[top[node]])
            cluster_of[node] = len(model)
            found = judge.judge(cluster_of[new_top], model, (old, len(model)))
            if found is not None:
                model = found
                break
            cut[node] = False
        else:
            return model
    return model


def grow_by_means(judge: Judge, model: Model, stop: Stop, random: np.random.RandomState) -> Model:
    """Split the cluster in two whose split lowers inertia most among those that may be split, again and again.

    In each round the centroids of k-means with one cluster more are tried first, then those that it reaches from a
    split, then those of the split itself.
    """
    whole = _inertia(judge)
    halves: dict[bytes, tuple[float, Ids]] = {}  # of the clusters seen so far
    while not stop.reached(model):
        splits = []
        for number in range(len(model)):
            rows = np.flatnonzero(model.part == number)
            key = rows.tobytes()
            if key not in halves:
                halves[key] = _in_two(judge, rows, random)
            gain, second = halves[key]
            if len(second) and gain >= stop.min_gain * whole:
                splits.append((-gain, number, second))
        if not splits:
            return model
        found = judge.judge(_by_k_means(judge, len(model) + 1, "k-means++", random))
        for _, number, second in sorted(splits, key=lambda each: each[:2]):
            if found is not None:
                break
            part = model.part.copy()
            part[second] = len(model)
            moved = _by_k_means(judge, len(model) + 1, _means(judge, part), random)
            found = judge.judge(moved) or judge.judge(part, model, (number, len(model)))
        if found is None:
            return model
        model = found
    return model


def _in_two(judge: Judge, rows: Ids, random: np.random.RandomState) -> tuple[float, Ids]:
    """By how much 2-means lowers the inertia of some distinct rows, and which of them make the second half."""
    from sklearn.cluster import KMeans

    if len(rows) < 2:
        return 0.0, rows[:0]
    points, weights = judge.points[rows], judge.weights[rows]
    two = KMeans(2, n_init=INIT, random_state=random).fit(points, sample_weight=weights)
    centre = np.average(points, axis=0, weights=weights)
    gain = float((((points - centre) ** 2).sum(axis=1) * weights).sum() - two.inertia_)
    return gain, rows[two.labels_ == 1]


def _by_k_means(judge: Judge, n: int, start: Any, random: np.random.RandomState) -> Ids:
    """The parts that k-means finds from a start; clusters that it leaves empty are not there."""
    from sklearn.cluster import KMeans

    n_init = INIT if isinstance(start, str) else 1
    found = KMeans(n, init=start, n_init=n_init, random_state=random).fit(judge.points, sample_weight=judge.weights)
    _, part = np.unique(found.labels_, return_inverse=True)
    return np.asarray(part.reshape(-1), dtype=np.int64)


def _means(judge: Judge, part: Ids) -> Floats:
    total = np.bincount(part, weights=judge.weights)
    return np.column_stack([np.bincount(part, weights=each * judge.weights) / total for each in judge.points.T])


def _inertia(judge: Judge) -> float:
    centre = np.average(judge.points, axis=0, weights=judge.weights)
    return float((((judge.points - centre) ** 2).sum(axis=1) * judge.weights).sum())
