# SPDX-License-Identifier: Apache-2.0
"""Whose rows a release was learned from, where people have several."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from shoal.audit.groups import Ids, person_codes
from shoal.audit.result import Finding
from shoal.data.frames import to_table
from shoal.errors import DataError, RoleError, closest
from shoal.release import ClustersRelease, ModelRelease, TableRelease, TreeRelease


def whose_rows(
    release: TreeRelease | TableRelease | ModelRelease | ClustersRelease,
    X: Any,
    person: str | None,
    *,
    named: Collection[str],
    public: Collection[str] | None,
) -> Ids | None:
    """The person of every row; None where every row is a person.

    `named` are the columns that the release says something of: the one that tells people apart cannot be among them.
    """
    if person is None:
        if release.several_rows:
            raise DataError(
                "person-needed",
                "This release counts different people, who have several rows. Name the column that tells them apart "
                "(person=, or --person on the command line).",
            )
        return None
    if person in named or person in (public or ()):
        raise RoleError("roles", f"Column {person!r} tells people apart: it can have no other role.")
    column = to_table(X, only=[person])
    if person not in column:
        names = list(map(str, getattr(X, "names", getattr(X, "columns", ()))))
        raise DataError("no-column", f"person: no column {person!r}.{closest(person, names)}")
    return person_codes(column[person])


def more_than_claimed(
    release: TreeRelease | TableRelease | ModelRelease | ClustersRelease, person: Ids | None
) -> list[Finding]:
    """That people were counted where the release counts rows."""
    if person is None or release.several_rows or int(person.max()) + 1 == len(person):
        return []
    return [
        Finding(
            "people-not-rows",
            "note",
            "The release takes every row for a person. Here different people were counted, which is more than it "
            "claims.",
        )
    ]
