# SPDX-License-Identifier: Apache-2.0
"""Splitting clusters while the judge agrees: along the longest edges of a spanning tree, or by 2-means."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal._kernels.spanning import below, spanning_tree
from shoal.clusters.judge import Judge, Model
from shoal.clusters.territory import Ids
from shoal.release.encoding import Floats

MANY = 5_000  # distinct rows beyond which a run of refused edges ends the search
KEPT = 3  # clusterings on the way, should the audit leave open what was decided here
MOST_REFUSED = 25  # that many in a row
INIT = 3  # starts of 2-means, the best of which is taken
STEP = 0.03  # by what share of the standard deviation of a column a centroid is moved at a time
FARTHEST = 0.2  # and at most in all
PATIENCE = 20  # moves in a row that help nobody
MENDED = 8  # splits in a round whose centroids are moved so; the others are taken as they are


@dataclass(frozen=True)
class Stop:
    """When to stop: at a number of clusters, or where a split lowers inertia by less than a share of the whole."""

    n_clusters: int | None
    min_gain: float

    def reached(self, model: Model) -> bool:
        """Whether there are clusters enough."""
        return self.n_clusters is not None and len(model) >= self.n_clusters


class Path:
    """The clusters so far, one more split each time; the latest few are kept."""

    def __init__(self, model: Model) -> None:
        self._models = deque([model], maxlen=KEPT)

    @property
    def now(self) -> Model:
        """The latest."""
        return self._models[-1]

    def add(self, model: Model) -> None:
        """Go on."""
        self._models.append(model)

    def latest_first(self) -> Iterator[Model]:
        """From the latest back."""
        return reversed(self._models)


def grow_by_edges(judge: Judge, path: Path, stop: Stop) -> None:
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
    while not stop.reached(path.now):
        model = path.now
        top, sums = below(order, parent, cut, values)
        rest = sums[top] - sums
        lighter = np.minimum(sums[:, 0], rest[:, 0])
        apart = sums[:, 1:] / sums[:, :1] - rest[:, 1:] / np.maximum(rest[:, :1], 1)
        gain = (apart**2).sum(axis=1) * sums[:, 0] * rest[:, 0] / (sums[:, 0] + rest[:, 0])
        open_ = ~cut & (lighter >= judge.least) & (gain >= stop.min_gain * whole)
        tried = by_length[open_[by_length]]
        for node in tried[: MOST_REFUSED if n > MANY else n].tolist():
            cut[node] = True
            new_top = below(order, parent, cut, values[:, :1])[0]
            old = int(cluster_of[top[node]])
            cluster_of[node] = len(model)
            found = judge.judge(cluster_of[new_top], model, (old, len(model)))
            if found is not None:
                path.add(found)
                break
            cut[node] = False
        else:
            return


def grow_by_means(judge: Judge, path: Path, stop: Stop, random: np.random.RandomState) -> None:
    """Take the centroids of k-means with one cluster more, as long as they, or some near them, may be released.

    In each round the centroids of k-means come first, then those that it reaches from the split of one cluster in two,
    the split that lowers inertia most before others. Centroids that only few people's groups forbid are moved a
    little. Where all of one size are refused, the centroids of k-means with another cluster more are tried before
    giving up.
    """
    whole = _inertia(judge)
    halves: dict[bytes, tuple[float, Ids]] = {}  # of the clusters seen so far
    while not stop.reached(path.now):
        model, splits = path.now, []
        for number in range(len(model)):
            rows = np.flatnonzero(model.part == number)
            key = rows.tobytes()
            if key not in halves:
                halves[key] = _in_two(judge, rows, random)
            gain, second = halves[key]
            if len(second) and gain >= stop.min_gain * whole:
                splits.append((-gain, number, second))
        if not splits:
            return
        n = len(model) + 1
        found = _mended(judge, _by_k_means(judge, n, "k-means++", random), random)
        for place, (_, number, second) in enumerate(sorted(splits, key=lambda each: each[:2])):
            if found is not None:
                break
            part = model.part.copy()
            part[second] = len(model)
            moved = _by_k_means(judge, n, _means(judge, part), random)
            found = _mended(judge, moved, random) if place < MENDED else judge.judge(moved)
            found = found or judge.judge(part, model, (number, len(model)))
        if found is None and stop.n_clusters != n and n < len(judge.points):
            found = _mended(judge, _by_k_means(judge, n + 1, "k-means++", random), random)
        if found is None:
            return
        path.add(found)


def _mended(judge: Judge, part: Ids, random: np.random.RandomState) -> Model | None:
    """The means of some parts, moved a little at random while that leaves fewer people in groups that fail.

    Spans that very few people have are those at the rim, so that a small move of a border takes them away.
    """
    best = judge.look(part)
    if best is None or best.failing > max(2 * judge.least, len(judge.distinct_of) // 100):
        return None
    moved = np.zeros_like(best.means)
    idle = 0
    while best.failing and idle < PATIENCE:
        step = STEP * random.normal(size=moved.shape) * judge.spread
        trial = np.clip(moved + step, -FARTHEST * judge.spread, FARTHEST * judge.spread)
        found = judge.look(part, trial)
        idle += 1
        if found is not None and found.failing < best.failing:
            best, moved, idle = found, trial, 0
    return None if best.failing else best


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
