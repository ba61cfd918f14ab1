# SPDX-License-Identifier: Apache-2.0
"""The audit of a released table: its groups are the rows that say the same of everything an attacker knows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.asking import ask, conclude
from shoal.audit.boxes import Boxes, Covering
from shoal.audit.columns import stated_columns
from shoal.audit.coverage import as_published, compare
from shoal.audit.groups import Groups, Ids, count_people
from shoal.audit.result import SHOWN, Audit, Finding
from shoal.audit.table_pieces import different_rows
from shoal.audit.unknowns import missing_figure
from shoal.audit.whose import more_than_claimed, whose_rows
from shoal.data.domain import check_sensitive
from shoal.data.frames import to_table
from shoal.data.pieces import Pieces
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical, with_target
from shoal.errors import DataError, RequirementError, RoleError, closest
from shoal.privacy import Requirement, as_requirement, least_people, needs_values
from shoal.release import ProjectionsRelease, TableRelease


def audit_table(
    release: TableRelease,
    X: Any = None,
    y: Any = None,
    *,
    public: Collection[str] | None = None,
    privacy: Requirement | int | None = None,
    person: str | None = None,
) -> Audit:
    """Recount the groups of a released table from the table alone and, where the original rows are given, against them.

    People who have several rows are counted in the original rows, each as the release publishes it, for the published
    ones do not tell whose they are. A group is exempt only where nothing private is published. The parameters are those
    of `audit`.
    """
    requirement = release.requirement if privacy is None else as_requirement(privacy)
    known = attacker_knows(release, public)
    stored = release.stored
    own = group_rows([stored[name] for name in release.public], stored.n_rows, weights=stored.weights)
    table = None if X is None else _read(release, X, y)
    covering, published, against_rows = None, None, []
    if table is not None:
        covering = Boxes(release, release.public, own.example).covering(table)
        if release.left_out and covering.covered.any():
            published, n_rows = covering.covered, table.n_people
            table, covering = table.take(published), covering.take(published)
            against_rows = left_out_finding(release, n_rows - table.n_people)
        against_rows += compare_rows(release, table, own, covering)
    rows, whose = stored, None
    about_people: list[Finding] = []
    if release.several_rows or person is not None:
        if table is None or covering is None:
            raise DataError(
                "rows-needed",
                "People with several rows each cannot be counted in what is published. Give the original rows, and the "
                "column that tells people apart with person=.",
            )
        whose = whose_rows(release, X, person, named=release.columns, public=public)
        if whose is not None and published is not None:
            whose = np.unique(whose[published], return_inverse=True)[1].reshape(-1)
        rows, unclear = as_published(release, table, covering, own.example)
        about_people = _about_people(release, whose, unclear)
    groups = group_rows(
        [rows[name] for name in release.columns if name in known], rows.n_rows, whose, weights=rows.weights
    )
    hidden = [name for name in release.columns if name not in known]
    counts_for = np.full(len(groups), bool(hidden))
    parts, failing, findings = ask(requirement, _sensitive(release, rows, known, requirement), groups, counts_for)
    findings = _describe(release, rows, known, groups, failing) + findings
    findings += against_rows + about_people
    told = [name for name in release.public if name in known]
    told_groups = (
        own if len(told) == len(release.public) else group_rows([stored[name] for name in told], stored.n_rows)
    )
    exact = not Boxes(release, told, told_groups.example).overlap()
    private = release.target is not None and release.target not in known
    verdict = conclude(
        requirement,
        groups,
        counts_for,
        parts,
        failing,
        findings,
        what="a table",
        target=rows[release.target] if private and release.target is not None else None,
        exact=exact,
        public=release.public if public is None else tuple(sorted(known)),
        sha256=release.sha256,
        columns=stated_columns(
            release.attributes, known, target=release.target, sensitive=release.sensitive, asked=release.columns
        ),
    )
    seen = [name for name in release.columns if name in known]
    if not seen:  # nothing public, so nothing of it is missing
        return verdict
    gaps = Table([rows[name] if name in release.private else with_gaps(release, rows[name]) for name in seen])
    least = least_people(requirement)
    figure = missing_figure(gaps, seen, groups, counts_for, least, weights=rows.weights)
    return replace(verdict, missing=figure)


def left_out_finding(release: TableRelease | ProjectionsRelease, found: int) -> list[Finding]:
    """Rows that fit no published one, beside the number of rows that the release says it leaves out."""
    if found == release.left_out:
        return [Finding("left-out", "note", f"{found:,} of these rows are left out of the release, as it says.", found)]
    return [
        Finding(
            "counts-differ",
            "breach",
            f"The release says that it leaves out {release.left_out:,} row(s), and {found:,} of these fit none of the "
            "published ones: other rows, or a changed file.",
            found,
        )
    ]


def with_gaps(release: TableRelease, column: Column) -> Column:
    """A public column in which the label that says missing, and nothing else, is a missing value."""
    code_of = np.arange(len(column.values))
    for code, value in enumerate(release.generalised[column.name]):
        if value.missing and not value.values and not value.intervals:
            code_of[code] = len(column.values)
    return replace(column, codes=code_of[column.codes], missing=True)


def _about_people(release: TableRelease, whose: Ids | None, unclear: int) -> list[Finding]:
    """What is wrong with counting people in the original rows, of which `unclear` fit several groups."""
    findings = more_than_claimed(release, whose)
    if unclear:
        findings.append(
            Finding(
                "people-unclear",
                "breach",
                f"{unclear:,} of these rows fit several groups of the release, so the people of a group cannot be "
                "counted.",
                unclear,
            )
        )
    people = 0 if whose is None else int(whose.max()) + 1
    if release.people is not None and release.people != people:
        findings.append(
            Finding(
                "counts-differ",
                "breach",
                f"The release states {release.people:,} people and these rows have {people:,}: other rows, or a "
                "changed file.",
                people,
            )
        )
    return findings


def group_rows(columns: Sequence[Column], n_rows: int, person: Ids | None = None, weights: Ids | None = None) -> Groups:
    """Number the rows by what some columns say: sorted, a new group begins wherever a column changes."""
    order = np.lexsort([column.codes for column in columns]) if columns else np.arange(n_rows)
    begins = np.zeros(n_rows, dtype=bool)
    begins[0] = True
    for column in columns:
        codes = column.codes[order]
        begins[1:] |= codes[1:] != codes[:-1]
    of_row = np.empty(n_rows, dtype=np.int64)
    of_row[order] = np.cumsum(begins) - 1
    people = count_people(of_row, int(begins.sum()), person, weights)
    return Groups(of_row, people, np.full(len(people), 2), order[begins], person, weights)


def attacker_knows(release: TableRelease | ProjectionsRelease, public: Collection[str] | None) -> frozenset[str]:
    """What the attacker knows: as the release says, or as the auditor says instead."""
    if public is None:
        return frozenset(release.public)
    if isinstance(public, str):
        raise RoleError("roles", f"public must be a list of column names; got one string. Try [{public!r}].")
    for name in public:
        if name not in release.columns:
            near = closest(name, release.columns)
            raise RoleError("roles", f"The release has no column {name!r} to be public.{near}")
    return frozenset(public)


def _sensitive(
    release: TableRelease, rows: Table, known: frozenset[str], requirement: Requirement
) -> list[Column | None]:
    """The columns whose values the requirement is about; [None] where group sizes are all it asks."""
    if not needs_values(requirement):
        return [None]
    names = [*([] if release.target is None else [release.target]), *release.sensitive]
    columns: list[Column | None] = []
    for name in names:
        if name not in known and name not in release.generalised:
            check_sensitive(rows[name])
            columns.append(rows[name].compact() if name != release.target else rows[name])
    if not columns:
        raise RequirementError(
            "nothing-sensitive",
            "A requirement about private values needs a private target or a private column named as sensitive.",
        )
    return columns


def _describe(
    release: TableRelease, rows: Table, known: frozenset[str], groups: Groups, failing: NDArray[np.bool_]
) -> list[Finding]:
    """The smallest failing groups in words: what the public columns say of them, and no private cell."""
    numbers = np.flatnonzero(failing)
    numbers = numbers[np.argsort(groups.people[numbers], kind="stable")][:SHOWN]
    findings = []
    for number in numbers:
        row, people = groups.example[number], int(groups.people[number])
        said = []
        for name in release.public:
            value = release.generalised[name][int(rows[name].codes[row])]
            if name in known and not value.is_all:
                said.append(f"{name} {value.label or '(missing)'}")
        words = said[:SHOWN] + ([f"{len(said) - SHOWN} more columns"] if len(said) > SHOWN else [])
        findings.append(
            Finding(
                "group-fails",
                "breach",
                f"A group of {people:,} {'person' if people == 1 else 'people'}: {' and '.join(words) or 'everybody'}.",
                people,
            )
        )
    return findings


def _read(release: TableRelease, X: Any, y: Any) -> Table:
    """The original rows, as far as the release publishes their columns; of rows in pieces the different ones."""
    if isinstance(X, Pieces):
        return different_rows(release, X, y)
    kinds = dict(release.kinds)
    if isinstance(y, str):
        kinds[y] = "categorical"
    table = to_table(X, kinds=kinds, only=kinds)
    listed = {name for name, kind in kinds.items() if kind == "categorical" and name in table}
    if any(table[name].kind == "numeric" for name in listed):  # numbers whose hierarchy listed them one by one
        table = Table(as_categorical(each) if each.name in listed else each for each in table.values())
    if release.target is None:
        if y is not None:
            raise DataError("no-target", "This release has no target, so there is nothing to compare y with.")
        return table
    return with_target(table, y, release.target) if y is not None or release.target in table else table


def compare_rows(
    release: TableRelease, table: Table, groups: Groups, covering: Covering, *, may_leave_out: bool = False
) -> list[Finding]:
    """Original rows that no published row stands for, and groups that are not those of the rows.

    With `may_leave_out`, rows that are in no group are only noted where that explains every difference: whoever made
    the table left them out.
    """
    found = compare(release, table, covering, groups.of_row)
    n_rows = table.n_people
    left_out = may_leave_out and not len(found.wrong) and release.n_people + found.uncovered == n_rows
    findings = []
    if found.uncovered and left_out:
        message = f"{found.uncovered:,} of these rows are in no published group: whoever made the table left them out."
        findings.append(Finding("left-out", "note", message, found.uncovered))
    elif found.uncovered:
        findings.append(
            Finding(
                "not-covered",
                "breach",
                f"{found.uncovered:,} of these rows fit none of the published ones: other rows, or a changed file.",
                found.uncovered,
            )
        )
    if len(found.wrong) or (n_rows != release.n_rows and not left_out):
        findings.append(
            Finding(
                "counts-differ",
                "breach",
                f"{len(found.wrong):,} group(s) of the release do not have the people of these rows "
                f"({release.n_rows:,} published, {n_rows:,} here): other rows, or a changed file.",
                int(groups.people[found.wrong].sum()),
            )
        )
    elif not found.decided:
        findings.append(
            Finding(
                "not-matched",
                "warning",
                "The published groups overlap so much that it was not worked out whether each has people of these "
                "rows: every row fits some group, and private values are as many as published.",
            )
        )
    return findings
