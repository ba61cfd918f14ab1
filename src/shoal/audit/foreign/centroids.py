# SPDX-License-Identifier: Apache-2.0
"""Clusterings and classifiers of scikit-learn that go by the nearest centroid, as subjects of an audit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from shoal.audit.assumed import stated_domain
from shoal.audit.clusters.cells import NO, UNDECIDED, YES, Floats, States, reach, settle
from shoal.audit.foreign._centroid_findings import centroid_findings
from shoal.audit.foreign._centroid_models import CentroidModel, centroid_model, is_centroid_model
from shoal.audit.foreign._private_boxes import private_boxes
from shoal.audit.foreign.features import Feature, trace
from shoal.audit.groups import Groups, Ids, Spans, numbered
from shoal.audit.result import Finding
from shoal.audit.subject import Subject
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical
from shoal.errors import DataError
from shoal.privacy import Requirement, least_people
from shoal.release import Attribute
from shoal.release.verdict import fingerprint


class Centroids(Subject):
    """A model that puts a person into the cluster, or the class, of the nearest centroid.

    A cluster is in a person's span when some private values within the domain make its centroid nearest. Where that
    hangs on rounding, people with such a cluster are grouped by their public values too.
    """

    def __init__(
        self,
        model: CentroidModel,
        features: Sequence[Feature],
        domain: Mapping[str, Attribute],
        target: str | None,
        sha256: str,
    ) -> None:
        self._model = model
        self.features = features
        self.what = model.what
        self.domain = domain
        self.target = target
        self.sha256 = sha256

    @property
    def centroids(self) -> Floats:
        """What it states: centroids × features."""
        return self._model.centroids

    def points(self, table: Table) -> Floats:
        """What the model sees of every row."""
        return self._points(table, self.domain)

    def nearest(self, table: Table) -> Ids:
        """The number of every row's centroid, as the model numbers them."""
        return self._model.predict(self.points(table))

    def bins(self, table: Table) -> Ids:
        """The number of every row's cell, by the model's own rule."""
        return self._model.cell_of[self.nearest(table)]

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """Rows by the set of clusters they can be in; with everything public, by the one they are in."""
        known = [name for name in self.domain if name in public]
        if len(known) == len(self.domain):
            return Spans.numbered(self.bins(table), np.ones(table.n_rows, dtype=bool), disjoint=True)
        kind = numbered([table[name].codes for name in known], table.n_rows)
        _, example = np.unique(kind, return_index=True)
        state = self._reach(table.take(example), known)
        undecided = (state == UNDECIDED).any(axis=1)
        _, same = np.unique(state, axis=0, return_inverse=True)
        same = same.reshape(-1)
        span = np.where(undecided, same.max() + 1 + np.arange(len(state)), same)[kind]  # split by public values too
        _, rows, of_row = np.unique(span, return_index=True, return_inverse=True)
        possible = state[kind[rows]] > NO
        finer = undecided[kind[rows]]
        n_bins = np.where(finer, 2, possible.sum(axis=1))
        disjoint = bool((possible.sum(axis=0) <= 1).all())
        return Spans(of_row.reshape(-1), n_bins, rows, disjoint, finer if finer.any() else None)

    def group_words(self, table: Table, public: Collection[str], row: int) -> tuple[str, tuple[int, ...]]:
        """The clusters that a row's people can be in."""
        model, one = self._model, table.take(np.array([row]))
        known = [name for name in self.domain if name in public]
        if len(known) == len(self.domain):
            own = self.bins(one)
            return model.words("are in", own), tuple(model.number_of[own].tolist())
        state = self._reach(one, known)[0]
        surely, perhaps = np.flatnonzero(state == YES), np.flatnonzero(state == UNDECIDED)
        parts = [model.words("can be in", surely, "" if len(perhaps) else " only")] if len(surely) else []
        parts += [model.words("can perhaps be in", perhaps)] if len(perhaps) else []
        return " and ".join(parts), tuple(model.number_of[np.append(surely, perhaps)].tolist())

    def findings(
        self, table: Table, public: Collection[str], groups: Groups, requirement: Requirement
    ) -> list[Finding]:
        """Centroids that too few people stand behind: they are, or nearly are, these people's values."""
        points = self.points(table)
        target = None if self.target is None else as_categorical(table[self.target])
        return centroid_findings(self._model, points, target, groups.person, max(2, least_people(requirement)))

    def _reach(self, table: Table, known: Sequence[str]) -> States:
        """For every row and cell whether the row can be there, as far as an outsider can tell."""
        boxes = private_boxes(self.features, self.domain, known)
        if boxes is None:
            state = np.full((table.n_rows, len(self._model.cells)), UNDECIDED, dtype=np.int8)
            settle(state)  # a single cell is everybody's
            return state
        return reach(self._model.cells, self._points(table, known), boxes)

    def _points(self, table: Table, names: Collection[str]) -> Floats:
        """What the model sees of some columns of every row; 0 for its other features."""
        points = np.zeros((table.n_rows, len(self.features)))
        for place, feature in enumerate(self.features):
            if feature.column in names:
                column = table[feature.column]
                points[:, place] = feature.numbers(column)[column.codes]
        refused_at = ~np.isfinite(points)
        refused = refused_at.any(axis=1)
        if refused.any():
            bad = np.flatnonzero(refused_at.any(axis=0)).tolist()
            columns = {self.features[place].column for place in bad}
            raise DataError(
                "model-refuses",
                f"The model does not take {int(refused.sum())} of the rows: they are missing, or have a value it does "
                f"not know, in column(s) {', '.join(sorted(columns))}. Give the rows it was trained on.",
            )
        return points


def read(model: Any, table: Table, target: Column | None, domain: Mapping[str, Sequence[Any]] | None) -> Subject | None:
    """Take a clustering by k means or a classifier by the nearest centroid, alone or at the end of a pipeline."""
    if not is_centroid_model(model):
        return None
    estimator, features = trace(model, table.names)
    found = centroid_model(estimator)
    if found is None or any(feature is None for feature in features):
        return None  # features that mix columns, or another rule than the nearest centroid: a black box
    if found.classes is None:
        target = None  # a clustering has none
    known = [feature for feature in features if feature is not None]
    used = {feature.column for feature in known}
    stated = stated_domain(table, [name for name in table if name in used], domain)
    return Centroids(found, known, stated, None if target is None else target.name, _fingerprint(found, known))


def _fingerprint(model: CentroidModel, features: Sequence[Feature]) -> str:
    cells = model.cells
    return fingerprint(
        {
            "kind": "centroids",
            "what": model.what,
            "features": [[feature.column, feature.affine] for feature in features],
            "slopes": cells.slopes.tolist(),
            "offsets": cells.offsets.tolist(),
            "cells": [cells.mine.tolist(), cells.other.tolist()],
        }
    )
