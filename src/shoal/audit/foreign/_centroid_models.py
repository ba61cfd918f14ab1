# SPDX-License-Identifier: Apache-2.0
"""The rules by which models of scikit-learn find the nearest centroid, as cells."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.audit.clusters.cells import Cells, Floats
from shoal.audit.foreign.dumps import final_estimator
from shoal.audit.groups import Ids

NAMED = 8  # clusters named in a sentence


@dataclass(frozen=True, eq=False)
class CentroidModel:
    """A model that goes by centroids, which it numbers from 0.

    Attributes
    ----------
    what
        What it is, as it stands in a sentence.
    centroids
        What it states (centroids × features).
    cells
        Its rule. Centroids that are equal share a cell.
    cell_of, number_of
        The cell of every centroid, and the first centroid of every cell.
    predict
        The model's own answer: the number of the centroid for every point.
    classes
        The class of every centroid; None for a clustering.
    keeps_labels
        Whether the fitted model remembers the cluster of every row.
    """

    what: str
    centroids: Floats
    cells: Cells
    cell_of: Ids
    number_of: Ids
    predict: Callable[[Floats], Ids]
    classes: Any = None
    keeps_labels: bool = False

    def words(self, verb: str, cells: Ids, end: str = "") -> str:
        """'can be in cluster 2 or 3 only', with the model's own numbers or its classes."""
        numbers = self.number_of[cells]
        said = f"{verb} {'cluster' if self.classes is None else 'the region of class'} {self.listed(numbers)}{end}"
        return f"{said} (of {len(self.cells)}, numbered from 0 as the model does)" if self.classes is None else said

    def listed(self, numbers: Ids) -> str:
        """Some centroids by number or class."""
        names = [str(number if self.classes is None else repr(self.classes.tolist()[number])) for number in numbers]
        if len(names) > NAMED:
            return f"{', '.join(names[:NAMED])} or {len(names) - NAMED} more"
        return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def is_centroid_model(model: Any) -> bool:
    """Whether a model, or what stands at the end of its pipeline, is one of those read here."""
    final = final_estimator(model)
    return type(final).__module__.startswith("sklearn.") and type(final).__name__ in _RULES


def centroid_model(estimator: Any) -> CentroidModel | None:
    """A fitted estimator by its rule; None where its rule is another one than the nearest centroid."""
    model = _RULES[type(estimator).__name__](estimator)
    return None if model is None else replace(model, keeps_labels=hasattr(estimator, "labels_"))


def _k_means(estimator: Any) -> CentroidModel:
    centroids = estimator.cluster_centers_
    cells, cell_of, number_of = merged(Cells.nearest(centroids))
    what = f"a {type(estimator).__name__} of {len(centroids)} clusters"
    predict = _asking(estimator, centroids.dtype)
    return CentroidModel(what, centroids.astype(np.float64), cells, cell_of, number_of, predict)


def _bisecting(estimator: Any) -> CentroidModel | None:
    """A tree of pairs of centroids: at each, the nearer one is followed."""
    root = getattr(estimator, "_bisecting_tree", None)
    if root is None:  # a version that keeps it elsewhere
        return None
    centroids = estimator.cluster_centers_
    shift = getattr(estimator, "_X_mean", 0.0)
    sites: list[Any] = []
    paths: dict[int, list[tuple[int, int]]] = {}
    waiting: list[tuple[Any, list[tuple[int, int]]]] = [(root, [])]
    while waiting:
        node, path = waiting.pop()
        if node.left is None:
            paths[int(node.label)] = path
            continue
        left, right = len(sites), len(sites) + 1
        sites += [node.left.center + shift, node.right.center + shift]
        waiting += [(node.left, [*path, (left, right)]), (node.right, [*path, (right, left)])]
    deepest = max(1, *(len(path) for path in paths.values()))
    pairs = np.array([paths[n] + [(0, 0)] * (deepest - len(paths[n])) for n in range(len(paths))], dtype=np.int64)
    rule = Cells.nearest(np.array(sites or [centroids[0]], dtype=centroids.dtype))
    cells = replace(rule, mine=pairs[:, :, 0], other=pairs[:, :, 1])
    same = np.arange(len(cells))
    what = f"a BisectingKMeans of {len(centroids)} clusters"
    return CentroidModel(what, centroids.astype(np.float64), cells, same, same, _asking(estimator, centroids.dtype))


def _nearest_centroid(estimator: Any) -> CentroidModel | None:
    """The mean of every class; with unequal priors distances are scaled and the log of the prior counts."""
    if estimator.metric != "euclidean":
        return None
    centroids, classes = estimator.centroids_, estimator.classes_
    priors = getattr(estimator, "class_prior_", np.full(len(classes), 1 / len(classes)))
    if np.isclose(priors, 1 / len(classes)).all():
        cells = Cells.nearest(centroids)
    else:
        if (priors <= 0).any():
            return None
        spread = estimator.within_class_std_dev_
        cells = Cells.nearest(centroids, np.where(spread != 0, spread, 1.0) ** -2.0)
        cells = replace(cells, offsets=cells.offsets - 2 * np.log(priors))
    cells, cell_of, number_of = merged(cells)
    predict = _asking(estimator, np.dtype(np.float64), {each: n for n, each in enumerate(classes.tolist())})
    what = f"a NearestCentroid of {len(classes)} classes"
    return CentroidModel(what, centroids, cells, cell_of, number_of, predict, classes)


def merged(cells: Cells) -> tuple[Cells, Ids, Ids]:
    """Cells whose sites are equal as one, and the numbers of cells and sites in terms of each other."""
    sites = np.column_stack([cells.slopes, cells.offsets])
    _, number_of, cell_of = np.unique(sites, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(number_of)  # in the order of the model
    number_of, cell_of = number_of[order], np.argsort(order)[cell_of.reshape(-1)]
    if len(number_of) < len(sites):
        cell_at = np.where(np.arange(len(sites)) == number_of[cell_of], np.arange(len(sites)), -1)
        mine, other = cells.mine[number_of], cells.other[number_of]
        cells = replace(cells, mine=mine, other=np.where(cell_at[other] < 0, mine, other))
    return cells, cell_of, number_of


def _asking(estimator: Any, kind: Any, numbers: dict[Any, int] | None = None) -> Callable[[Floats], Ids]:
    """The model's own answers, as numbers of centroids."""

    def predict(points: Floats) -> Ids:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names it was fitted with
            answer = estimator.predict(points.astype(kind))
        if numbers is not None:
            values, which = np.unique(answer, return_inverse=True)
            answer = np.array([numbers[value] for value in values.tolist()])[which.reshape(-1)]
        return np.asarray(answer, dtype=np.int64)

    return predict


_RULES: dict[str, Callable[[Any], CentroidModel | None]] = {
    "KMeans": _k_means,
    "MiniBatchKMeans": _k_means,
    "BisectingKMeans": _bisecting,
    "NearestCentroid": _nearest_centroid,
}
