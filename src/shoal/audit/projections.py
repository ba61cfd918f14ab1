# SPDX-License-Identifier: Apache-2.0
"""The audit of projections of one table: each as a release of its own, their rows joined again, and all together.

PartAL is about rejoined rows. What an attacker with the public columns can tell from all projections together is
another matter, so that is counted besides: the classes that are left for each person, the groups of people that all
projections together tell apart, and whom the published counts pin down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.columns import stated_columns
from shoal.audit.coverage import as_published
from shoal.audit.groups import group_people, numbered
from shoal.audit.rejoined import Side, rejoin
from shoal.audit.result import Finding
from shoal.audit.tables import attacker_knows, audit_table, group_rows, left_out_finding, with_gaps
from shoal.audit.together.joint import tellings
from shoal.audit.together.pinned import pinned
from shoal.audit.together.product import Product
from shoal.audit.together.released_tables import ReleasedProjections, ReleasedTable
from shoal.audit.together.rows_read import in_kind, read_rows
from shoal.audit.told_together import Counted, TogetherAudit, check_one_row_each, judge
from shoal.audit.unknowns import missing_figure
from shoal.data.domain import check_sensitive
from shoal.data.table import Column, Table
from shoal.errors import DataError, closest
from shoal.privacy import (
    KAnonymity,
    LikelyPartAL,
    Requirement,
    as_requirement,
    least_people,
    likely_asked,
    partal_asked,
)
from shoal.release import ProjectionsRelease, TableRelease
from shoal.release.table import fit_column


def audit_projections(
    release: ProjectionsRelease,
    X: Any = None,
    y: Any = None,
    *,
    public: Collection[str] | None = None,
    privacy: Requirement | int | None = None,
    person: str | None = None,
) -> TogetherAudit:
    """Recount projections from what they publish and from the original rows. The parameters are those of `audit`.

    What is asked of groups, besides PartAL, is asked of the groups that all projections together tell apart: their
    numbers of people are not published, so that is the worst case.
    """
    if X is None:
        raise DataError(
            "rows-needed", "What projections tell together can only be counted in the original rows. Give them."
        )
    check_one_row_each(release.tables[0], X, person, named=release.columns, public=public)
    requirement = release.requirement if privacy is None else as_requirement(privacy)
    known = attacker_knows(release, public)
    subjects = [ReleasedTable(table) for table in release.tables]
    rows, findings = _published(release, subjects, _read(release, X, y))
    k = partal_asked(requirement)
    alone = KAnonymity(least_people(requirement) if k is None else k)
    for number, table in enumerate(release.tables, 1):
        seen = None if public is None else [name for name in table.columns if name in known]
        own = audit_table(
            table, rows.select([name for name in table.columns if name in rows]), public=seen, privacy=alone
        )
        # of whom one projection alone makes the class certain is told with all of them
        findings += [_of_projection(finding, number) for finding in own.findings if finding.code != "target-certain"]
    product = Product(subjects, rows, known, [None] * len(subjects))
    every = list(range(len(subjects)))
    groups = group_people(product.spans(every), None, 1, target_is_public=False)
    target = fit_column(release.attribute(release.target), rows[release.target])
    of_row = [subject.spans(rows, known).of_row for subject in subjects]
    linked, shared = _linked(release.tables, known)
    if shared:
        findings.append(_linked_finding(shared))
    verdict = judge(
        requirement,
        Counted(
            rejoined=rejoin(sides_of(release.tables, known)),
            groups=groups,
            of_row=of_row,
            linked=[numbered([of_row[i] for i in each], rows.n_rows) for each in linked],
            target=None if release.target in known else target,
            pinned=pinned(tellings(product, every)),
            named=[tuple(name for name in table.columns if name != release.target) for table in release.tables],
            likely=[(asked, _likely(release, asked, known)) for asked in likely_asked(requirement)],
        ),
        _sensitive(release, rows, target, known),
        findings,
        what=ReleasedProjections(release).what,
        part="projection",
        public=release.public if public is None else tuple(sorted(known)),
        sha256=release.sha256,
        columns=stated_columns(
            release.attributes, known, target=release.target, sensitive=release.sensitive, asked=release.columns
        ),
    )
    return _with_missing(verdict, release, subjects, rows, known, alone.k)


def sides_of(tables: Sequence[TableRelease], known: Collection[str]) -> list[Side]:
    """Projections as sides of a join, from what they publish and nothing else."""
    times = Counter(name for table in tables for name in table.columns)
    sides = []
    for table in tables:
        rows, target = table.rows, table.target
        assert target is not None
        group = group_rows([rows[name] for name in table.columns if name in known], rows.n_rows).of_row
        common = {name: _values(rows[name]) for name in table.columns if times[name] > 1 and name != target}
        seen = {name: values for name, values in common.items() if name in known}
        hidden = {name: values for name, values in common.items() if name not in known}
        sides.append(Side(group, rows[target].codes.astype(np.int64), seen, hidden))
    return sides


def _likely(release: ProjectionsRelease, asked: LikelyPartAL, known: Collection[str]) -> int:
    """The PartAL that is kept with the certainty asked for, over all that an attacker may know besides."""
    strange = [name for name in asked.columns if name not in release.columns or name == release.target]
    if strange:
        raise DataError(
            "no-column",
            f"No column {strange[0]!r} that an attacker could know by chance is in a projection."
            f"{closest(strange[0], [name for name in release.private if name != release.target])}",
        )
    return asked.kept(
        (rejoin(sides_of(release.tables, {*known, *names})).partal, weight)
        for names, weight in asked.draws(asked.columns)
    )


def _values(column: Column) -> NDArray[Any]:
    """What a column says in each row, comparable between files; a missing number is beyond all others."""
    if column.kind == "categorical":
        return column.codes
    return np.append(column.numbers, np.inf)[column.codes]


def _read(release: ProjectionsRelease, X: Any, y: Any) -> Table:
    table = read_rows([release], X, y)
    kinds = release.kinds
    hidden = [table[name] for name in release.columns if name not in kinds and name in table]
    return Table([*(in_kind(table[name], kind) for name, kind in kinds.items()), *hidden])


def _sensitive(release: ProjectionsRelease, rows: Table, target: Column, known: Collection[str]) -> list[Column]:
    """The private columns that a requirement about values is asked of."""
    columns = [target] if release.target not in known else []
    for name in release.sensitive:
        if name not in known:
            check_sensitive(rows[name])
            columns.append(rows[name].compact())
    return columns


def _published(
    release: ProjectionsRelease, subjects: Sequence[ReleasedTable], rows: Table
) -> tuple[Table, list[Finding]]:
    """The rows that every projection may have: where some are left out, those whose group is published.

    Who is left out must follow from public values: if a class of a group were missing, that somebody of the group is
    left out would tell his class.
    """
    if not release.left_out:
        return rows, []
    covered = [subject.covering(rows, subject.shown).covered for subject in subjects]
    kept = np.asarray(np.all(covered, axis=0))
    if not kept.any():
        kept[:] = True
    return rows.take(kept), left_out_finding(release, int((~kept).sum()))


def _linked(tables: Sequence[TableRelease], known: Collection[str]) -> tuple[list[list[int]], list[str]]:
    """Which projections share columns that the attacker does not know, directly or through others; and the columns."""
    hidden = [{name for name in table.columns if name not in known and name != table.target} for table in tables]
    linked: list[list[int]] = []
    for i, own in enumerate(hidden):
        mine = [each for each in linked if any(hidden[j] & own for j in each)]
        linked = [*(each for each in linked if each not in mine), [*(j for each in mine for j in each), i]]
    times = Counter(name for own in hidden for name in own)
    return linked, sorted(name for name, n in times.items() if n > 1)


def _linked_finding(shared: Sequence[str]) -> Finding:
    return Finding(
        "linked-by-private",
        "warning",
        f"Several projections have the private column(s) {', '.join(map(repr, shared))}: by a value that few have, "
        "their rows can be put together again. So whose class is certain is counted as if all of them could be.",
    )


def _of_projection(finding: Finding, number: int) -> Finding:
    return replace(finding, message=f"Projection {number}: {finding.message}", nodes=())


def _with_missing(
    verdict: TogetherAudit,
    release: ProjectionsRelease,
    subjects: Sequence[ReleasedTable],
    rows: Table,
    known: frozenset[str],
    k: int,
) -> TogetherAudit:
    """The audit, with what changes if a missing public value could match any."""
    columns: dict[str, Column] = {}
    for subject, table in zip(subjects, release.tables, strict=True):
        example = group_rows([table.rows[name] for name in subject.shown], table.n_rows).example
        shown, _ = as_published(table, rows, subject.covering(rows, subject.shown), example)
        for name in table.columns:
            if name in known:
                columns[name] = with_gaps(table, shown[name]) if name in table.generalised else shown[name]
    if not columns:
        return verdict
    figure = missing_figure(Table(columns.values()), list(columns), verdict.groups, ~verdict.exempt, k)
    return replace(verdict, missing=figure)
