# SPDX-License-Identifier: Apache-2.0
"""The audit of a released clustering: who can be in which clusters, recounted from the file and the rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.audit.clusters.cells import Cells
from shoal.audit.clusters.shares import shares_of_few
from shoal.audit.foreign._centroid_models import CentroidModel, merged
from shoal.audit.foreign.centroids import Centroids
from shoal.audit.foreign.features import NO_BREAKS, Feature, Numbers
from shoal.audit.groups import Groups, count_people
from shoal.audit.result import Audit, Finding
from shoal.audit.subject import audit_subject
from shoal.audit.whose import more_than_claimed, whose_rows
from shoal.data.frames import to_table
from shoal.data.table import Column, Table
from shoal.errors import DataError
from shoal.privacy import Requirement, least_people
from shoal.release import ClustersRelease
from shoal.release.encoding import Encoding


class ClustersSubject(Centroids):
    """A released clustering as a function from rows to clusters."""

    def __init__(self, release: ClustersRelease) -> None:
        cells, cell_of, number_of = merged(Cells.nearest(release.centroids))
        what = f"a clustering of {len(release)} cluster{'s' if len(release) > 1 else ''}"
        model = CentroidModel(what, release.centroids, cells, cell_of, number_of, release.nearest)
        domain = {each.name: each for each in release.attributes}
        super().__init__(model, encoded_features(release.encoding), domain, None, release.sha256)
        self._release = release

    def findings(
        self, table: Table, public: Collection[str], groups: Groups, requirement: Requirement
    ) -> list[Finding]:
        """Centroids that too few people stand behind, and whatever the release says that the rows do not."""
        found = super().findings(table, public, groups, requirement)
        found += shares_of_few(self._release, table, public, groups, max(2, least_people(requirement)))
        if self._release.small:  # it says itself that there may be such
            found = [replace(each, severity="warning") for each in found]
        return found + self._differences(table, groups)

    def _differences(self, table: Table, groups: Groups) -> list[Finding]:
        release = self._release
        people = count_people(release.nearest(self._points(table, self.domain)), len(release), groups.person)
        differ = np.flatnonzero(people != np.array(release.people))
        found = []
        # where a release takes rows for people, people may be counted all the same: then the numbers are others
        if (groups.person is None or release.several_rows) and (len(differ) or groups.n_people != release.n_people):
            found.append(
                Finding(
                    "counts-differ",
                    "breach",
                    f"The release states other numbers of people than these rows have, in {len(differ)} cluster(s): "
                    "other rows, or a changed file.",
                    groups.n_people,
                    tuple(differ.tolist()),
                )
            )
        for name, attribute in self.domain.items():
            column = table[name]
            if attribute.integer and not column.integer:
                n = int((np.mod(np.append(column.numbers, 0.0), 1) != 0)[column.codes].sum())
                found.append(
                    Finding(
                        "outside-domain",
                        "breach",
                        f"{n:,} row(s) have a value of {name!r} that the release declares impossible, so its spans are "
                        "not to be trusted. Declare the domain as it is.",
                        n,
                    )
                )
        return found


def audit_clusters(
    release: ClustersRelease,
    X: Any,
    y: Any = None,
    *,
    public: Collection[str] | None = None,
    privacy: Requirement | int | None = None,
    person: str | None = None,
) -> Audit:
    """Recount the groups of released clusters from the rows. The parameters are those of `audit`."""
    if y is not None:
        raise DataError("no-target", "A clustering has no target: leave out y.")
    names = [each.name for each in release.attributes]
    whose = whose_rows(release, X, person, named=names, public=public)
    table = release.read(X)
    if person is not None:
        table = table.with_column(to_table(X, only=[person])[person])
    verdict = audit_subject(
        ClustersSubject(release),
        table,
        public=release.public if public is None else public,
        privacy=release.requirement if privacy is None else privacy,
        sensitive=release.sensitive,
        person=person,
        declared=names,
    )
    return replace(verdict, findings=(*verdict.findings, *more_than_claimed(release, whose)))


def encoded_features(encoding: Encoding) -> Sequence[Feature]:
    """The features of a release's columns, each made of one of them."""
    return [
        _feature(encoding, number, place)
        for number in range(len(encoding.attributes))
        for place in range(*encoding.own(number).indices(encoding.n_features))
    ]


def _feature(encoding: Encoding, number: int, place: int) -> Feature:
    attribute = encoding.attributes[number]
    at = place - encoding.own(number).start

    def numbers(column: Column) -> Numbers:
        return encoding.numbers(number, column)[:, at]

    scale = encoding.scales[attribute.name]
    affine = (1 / scale.scale, -scale.centre / scale.scale) if attribute.type == "numeric" else None
    return Feature(attribute.name, numbers, affine, NO_BREAKS)
