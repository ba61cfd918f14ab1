# SPDX-License-Identifier: Apache-2.0
"""Centroids that are somebody's values, whatever the spans say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.audit.clusters.cells import Floats
from shoal.audit.foreign._centroid_models import CentroidModel
from shoal.audit.groups import Ids, count_people
from shoal.audit.result import Finding
from shoal.data.table import Column
from shoal.release import Attribute


def centroid_findings(
    model: CentroidModel, points: Floats, target: Column | None, person: Ids | None, least: int
) -> list[Finding]:
    """Centroids behind which fewer than `least` people stand, and those that are a row of fewer.

    Parameters
    ----------
    points
        What the model sees of every row.
    target
        The class of every row, for a model whose centroids are means of classes.
    person
        Whose row each is, where people may have several.
    """
    members = _members(model, points, target)
    stated = np.unique(model.number_of) if target is None else np.arange(len(model.centroids))
    inside = members >= 0
    people = count_people(members[inside], len(model.centroids), None if person is None else person[inside])
    few = stated[people[stated] < least]
    copied = np.array(
        [
            number
            for number in stated[people[stated] >= least]
            if _is_row(model, number, points, members, person, least)
        ],
        dtype=np.int64,
    )
    findings = []
    if len(few):
        findings.append(
            Finding(
                "centroid-of-few",
                "breach",
                f"{_centroids(model, few, 'has', 'have')} fewer than {least} people behind {_it(few)}. A mean of so "
                "few is, or comes near, their own values, whatever the spans say.",
                _different(np.isin(members, few), person),
                tuple(few.tolist()),
            )
        )
    if len(copied):
        findings.append(
            Finding(
                "centroid-is-a-row",
                "breach",
                f"{_centroids(model, copied, 'is', 'are each')} a row that fewer than {least} people have, and no mean "
                "of the people there: somebody's own values.",
                len(copied),
                tuple(copied.tolist()),
            )
        )
    if model.keeps_labels:
        findings.append(
            Finding(
                "stores-labels",
                "warning",
                "The fitted model keeps the cluster of every row it was fitted on, in their order (labels_). Publish "
                "the centroids alone, or remove it before the file leaves the house.",
                _different(np.ones(len(points), dtype=bool), person),
            )
        )
    return findings


def _centroids(model: CentroidModel, numbers: Ids, one: str, several: str) -> str:
    kind = "cluster" if model.classes is None else "class"
    listed = model.listed(numbers).replace(" or ", " and ")
    return (
        f"The centroid of {kind} {listed} {one}" if len(numbers) == 1 else f"The centroids of {kind} {listed} {several}"
    )


def _it(numbers: Ids) -> str:
    return "it" if len(numbers) == 1 else "each"


def _members(model: CentroidModel, points: Floats, target: Column | None) -> Ids:
    """The centroid that every row stands behind: that of its class, or the nearest; −1 for none."""
    if target is None:
        return model.number_of[model.cell_of[model.predict(points)]]
    place = {value: number for number, value in enumerate(model.classes.tolist())}
    values = Attribute.of(target, "private").own_values.tolist()
    return np.array([*(place.get(value, -1) for value in values), -1], dtype=np.int64)[target.codes]


def _is_row(model: CentroidModel, number: int, points: Floats, members: Ids, person: Ids | None, least: int) -> bool:
    """Whether a centroid is a row of few people, and not merely where the mean of many happens to fall."""
    centroid = model.centroids[number]
    near = 64 * model.cells.precision * np.maximum(np.abs(centroid), np.abs(points).max(axis=0))
    same: NDArray[np.bool_] = (np.abs(points - centroid) <= near).all(axis=1)
    if not 0 < _different(same, person) < least:
        return False
    own = points[members == number]
    spread = own.max(axis=0) - own.min(axis=0)
    return bool((np.abs(own.mean(axis=0) - centroid) > near + 1e-6 * spread).any())


def _different(rows: NDArray[np.bool_], person: Ids | None) -> int:
    """How many people some rows are of."""
    return int(rows.sum()) if person is None else len(np.unique(person[rows]))
