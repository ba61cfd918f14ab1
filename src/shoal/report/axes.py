# SPDX-License-Identifier: Apache-2.0
"""Clusters on a plane, without a word of drawing: two principal axes, and where everything is on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.audit import Audit
from shoal.audit.foreign import read_model
from shoal.audit.foreign._centroid_models import is_centroid_model
from shoal.audit.foreign.centroids import Centroids
from shoal.audit.foreign.dumps import final_estimator
from shoal.audit.foreign.features import Feature as ForeignFeature
from shoal.data.table import Column
from shoal.errors import DataError, ReleaseError
from shoal.release import ClustersRelease
from shoal.release.encoding import Encoding, Floats

NAMED = 3  # columns that an axis is named after
OF_FEW = {"centroid-of-few", "centroid-is-a-row"}
STEPS, MOST_LABELS = 200, 200  # in which labels are moved apart, and labels that are
SLIGHT = 0.25  # of the largest weight on an axis; what has less is not named


class Feature(NamedTuple):
    """A number between which distances are taken: its column, and its name, with the value it stands for if any."""

    column: str
    name: str


@dataclass(frozen=True, eq=False)
class Plane:
    """The two directions in which points differ most.

    Attributes
    ----------
    centre
        The mean of the points.
    directions
        Two unit vectors (2 × features); a line of zeros where there is no second direction.
    shares
        The share of all variance along each.
    """

    centre: Floats
    directions: Floats
    shares: tuple[float, float]

    def at(self, points: Floats) -> Floats:
        """Where points are on the plane (points × 2)."""
        return np.asarray((points - self.centre) @ self.directions.T)

    def named(self, features: Sequence[Feature]) -> tuple[str, str]:
        """What most tells one end of each axis from the other, each column once; a minus means less of it."""
        return _named(self.directions[0], features), _named(self.directions[1], features)


def _named(direction: Floats, features: Sequence[Feature]) -> str:
    # of two that weigh the same, as those of a column with two values do, the one that is more
    order = np.lexsort((direction < 0, -np.abs(direction).round(6))).tolist()
    first: dict[str, int] = {}
    for i in order:
        first.setdefault(features[i].column, i)
    kept = [i for i in list(first.values())[:NAMED] if abs(direction[i]) > SLIGHT * abs(direction[order[0]])]
    return ", ".join(f"{'−' if direction[i] < 0 else ''}{features[i].name}" for i in kept)


def principal_plane(points: Floats, weights: Any = None) -> Plane:
    """The two principal axes of points, each point counted `weights` times.

    >>> plane = principal_plane(np.array([[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]]))
    >>> plane.at(np.array([[4.0, 4.0]])).round(3).tolist(), plane.shares[0].round(3).item()
    ([[2.828, 0.0]], 1.0)
    """
    centre = np.average(points, axis=0, weights=weights)
    if len(points) < points.shape[1]:  # few centroids of very many categories: a matrix of features would be large
        roots = np.sqrt(np.ones(len(points)) if weights is None else np.asarray(weights, dtype=np.float64))
        _, lengths, lines = np.linalg.svd((points - centre) * roots[:, None], full_matrices=False)
        variances, vectors = lengths**2, lines.T
    else:
        spread = np.cov(points.T, aweights=weights, bias=True).reshape(points.shape[1], -1)
        variances, vectors = np.linalg.eigh(spread)
    directions = np.zeros((2, points.shape[1]))
    shares = [0.0, 0.0]
    total = float(variances.sum())
    for axis, number in enumerate(np.argsort(-variances, kind="stable")[:2].tolist()):
        if variances[number] > 1e-12 * max(total, 1e-300):
            direction = vectors[:, number]
            # a direction and its opposite are the same axis: the largest weight is positive
            directions[axis] = direction * np.sign(direction[np.argmax(np.abs(direction))])
            shares[axis] = variances[number] / total
    return Plane(centre, directions, (shares[0], shares[1]))


def apart(places: Floats, least: float) -> Floats:
    """Places for labels near some points, no two closer than `least` if that can be had; points apart stay.

    >>> apart(np.array([[0.0, 0.0], [0.0, 0.0], [9.0, 0.0]]), 2.0).round(2).tolist()
    [[-1.0, 0.0], [1.0, 0.0], [9.0, 0.0]]
    """
    places = places.astype(np.float64)
    first, second = np.triu_indices(len(places), 1)
    for _ in range(STEPS if len(places) <= MOST_LABELS else 0):
        away = places[second] - places[first]
        distance = np.hypot(*away.T)
        near = distance < 0.999 * least
        if not near.any():
            break
        # two at one point part along the first axis
        unit = np.where(distance[:, None] > 0, away / np.where(distance > 0, distance, 1)[:, None], [1.0, 0.0])
        push = unit[near] * ((least - distance[near]) / 2)[:, None]
        np.add.at(places, second[near], push)
        np.subtract.at(places, first[near], push)
    return places


@dataclass(frozen=True, eq=False)
class Scatter:
    """Rows of a clustering on their two principal axes.

    Attributes
    ----------
    rows
        Which rows are drawn.
    at, cluster, fails
        Of each of these: where it is, its cluster, and whether its group breaks a requirement.
    centroids
        Where the centroids are.
    sizes
        How many of all rows are in each cluster.
    few
        Clusters whose centroid is, or comes near, the values of too few people.
    plane, features
        The axes, and what their weights are of.
    """

    rows: NDArray[np.int64]
    at: Floats
    cluster: NDArray[np.int64]
    fails: NDArray[np.bool_]
    centroids: Floats
    sizes: NDArray[np.int64]
    few: frozenset[int]
    plane: Plane
    features: tuple[Feature, ...]

    @property
    def n_rows(self) -> int:
        """How many rows there are, drawn or not."""
        return int(self.sizes.sum())


def scatter(clusters: Any, X: Any, audit: Audit | None, most: int) -> Scatter:
    """Put rows on their principal axes; of very many, `most` that are the same each time.

    Rows of groups that fail are what one looks for, so they are drawn before others.
    """
    points, of_row, centroids, features, sha256 = _placed(clusters, X)
    fails = np.zeros(len(points), dtype=bool)
    if audit is not None:
        if audit.sha256 != sha256 or audit.n_rows != len(points):
            raise ReleaseError("audit-of-other", "This audit looked at another clustering, or at other rows.")
        fails[audit.rows_at_risk] = True
    order = np.random.default_rng(0).permutation(len(points))
    order = order[np.argsort(~fails[order], kind="stable")]
    rows = np.sort(order[:most])
    plane = principal_plane(points)
    return Scatter(
        rows,
        plane.at(points[rows]),
        of_row[rows],
        fails[rows],
        plane.at(centroids),
        np.bincount(of_row, minlength=len(centroids)),
        _few(audit),
        plane,
        tuple(features),
    )


def _few(audit: Audit | None) -> frozenset[int]:
    found = [] if audit is None else [each for each in audit.findings if each.code in OF_FEW]
    return frozenset(number for finding in found for number in finding.nodes)


def _placed(clusters: Any, X: Any) -> tuple[Floats, NDArray[np.int64], Floats, Sequence[Feature], str]:
    """The rows as points, the cluster of each, the centroids, the names of the features, and the fingerprint."""
    clusters = getattr(clusters, "release_", clusters)
    if isinstance(clusters, ClustersRelease):
        points = clusters.encoding.points(clusters.read(X))
        names = features_of(clusters.encoding)
        return points, clusters.nearest(points), clusters.centroids, names, clusters.sha256
    check_clustering(clusters)
    subject, table = read_model(clusters, X)
    if not isinstance(subject, Centroids):
        raise _not_clusters()
    names = [_foreign_feature(feature, table[feature.column]) for feature in subject.features]
    return subject.points(table), subject.nearest(table), subject.centroids, names, subject.sha256


def check_clustering(clusters: Any) -> None:
    """Refuse what is no clustering by the nearest centroid."""
    ours = isinstance(getattr(clusters, "release_", clusters), ClustersRelease)
    if not ours and not (is_centroid_model(clusters) and hasattr(final_estimator(clusters), "cluster_centers_")):
        raise _not_clusters()


def _not_clusters() -> DataError:
    return DataError(
        "not-clusters",
        "Only clusterings that go by the nearest centroid are drawn: those of Shoal, and k-means of scikit-learn, "
        "alone or at the end of a pipeline that takes each column by itself.",
    )


def features_of(encoding: Encoding) -> list[Feature]:
    """The features of a release: numeric columns, and the values of categorical ones; others go by their column."""
    features = []
    for number, each in enumerate(encoding.attributes):
        own = encoding.own(number)
        named = [f"{each.name} {value}" for value in each.values] if each.type == "categorical" else []
        names = named + [each.name] * (own.stop - own.start - len(named))
        features += [Feature(each.name, name) for name in names]
    return features


def _foreign_feature(feature: ForeignFeature, column: Column) -> Feature:
    """A feature that somebody else made of a column, named by the value that it stands for where there is one."""
    if column.kind == "numeric":
        return Feature(column.name, column.name)
    numbers = feature.numbers(column)[: len(column.values)]
    highest = np.flatnonzero(numbers == numbers.max())
    return Feature(column.name, f"{column.name} {column.names[highest[0]]}" if len(highest) == 1 else column.name)
