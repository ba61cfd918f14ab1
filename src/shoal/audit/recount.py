# SPDX-License-Identifier: Apache-2.0
"""Who is in which group, recounted from the rows and the released file alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.groups import Groups, Ids, Spans, count_people, group_people
from shoal.audit.spans import TreeSpans
from shoal.data.domain import check_sensitive, clip, declare_values
from shoal.data.table import Column, Columns, Table
from shoal.data.target import with_target
from shoal.errors import DataError, RoleError, closest
from shoal.release import TreeRelease

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Recount:
    """Rows fitted to a release, and what they amount to."""

    table: Columns
    target: Column
    public: frozenset[str]
    tree_spans: TreeSpans
    spans: Spans
    groups: Groups
    disjoint: bool  # no two groups share a bin
    bins: Counts  # leaf × class, as the rows give them; a row for every node
    outside: dict[str, int]  # rows whose value the release declares impossible, or has no branch for, by column


def recount(release: TreeRelease, X: Any, y: Any, public: Collection[str] | None, person: Ids | None = None) -> Recount:
    """Group the people of `X` by what an attacker who knows `public` can tell; `person` as in `Groups`."""
    table = with_target(release.read(X, target=y if isinstance(y, str) else None), y, release.target)
    known = public_names(release, public, X)
    target = fit_target(release, table[release.target])
    tree_spans = TreeSpans(release, known)
    ends = release.routing.apply(table)
    spans = tree_spans.spans(table, ends)
    groups = group_people(spans, target.codes, target.n_codes, target_is_public=release.target in known, person=person)
    outside = rows_outside(release, table, ends)
    key = ends * target.n_codes + target.codes
    # what the release states is compared in its own unit
    bins = count_people(key, len(release.nodes) * target.n_codes, person if release.several_rows else None)
    bins = bins.reshape(-1, target.n_codes)
    return Recount(table, target, known, tree_spans, spans, groups, spans.disjoint, bins, outside)


def rows_outside(release: TreeRelease, table: Table, ends: Counts) -> dict[str, int]:
    """Rows that contradict the declared domain: spans are taken over it, so it must hold for the people in it."""
    routing = release.routing
    outside: dict[str, int] = {}
    for name, atoms in zip(routing.names, routing.atoms, strict=True):
        possible = atoms.possible
        n = 0 if possible.all() else int((~possible[atoms.encode(table[name])]).sum())
        if n:
            outside[name] = n
    stuck = routing.tests[ends]
    for test in np.unique(stuck[stuck >= 0]):
        name = routing.names[test]
        outside[name] = outside.get(name, 0) + int((stuck == test).sum())
    return outside


def sensitive_column(release: TreeRelease, column: Column) -> Column:
    """A sensitive column in the release's own terms, whatever dictionary the rows came with."""
    attribute = release.attribute(column.name)
    if column.kind == "numeric":
        assert attribute.bounds is not None
        column = clip(column, *attribute.bounds).compact()
    else:
        column = declare_values(column, attribute.values)
    check_sensitive(column)
    return column


def public_names(release: TreeRelease, public: Collection[str] | None, X: Any = None) -> frozenset[str]:
    """What the attacker knows: as the release says, or as the auditor says instead."""
    if public is None:
        return frozenset(release.public)
    if isinstance(public, str):
        raise RoleError("roles", f"public must be a list of column names; got one string. Try [{public!r}].")
    names = [*(attribute.name for attribute in release.attributes), *release.unused]
    others = list(map(str, getattr(X, "names", getattr(X, "columns", ()))))  # columns the release says nothing of
    for name in public:
        if name not in names and name not in others:
            near = closest(name, [*names, *others])
            raise RoleError("roles", f"The release has no attribute {name!r} to be public.{near}")
    return frozenset(public)


def fit_target(release: TreeRelease, column: Column) -> Column:
    """The target's column in the codes of the release."""
    if column.missing:
        n = column.n_missing
        raise DataError("target-missing", f"The target {column.name!r} is missing in {n} row(s). Remove them first.")
    position = {value: code for code, value in enumerate(release.classes)}
    # a column of counted entries has one for missing, even if no row has it
    code_of = np.array([*(position.get(value, -1) for value in column.names), -1], dtype=np.int64)
    codes = code_of[column.codes]
    unknown = column.rows(codes < 0)
    if unknown:
        raise DataError(
            "unseen-value",
            f"{unknown} row(s) have a value of the target {column.name!r} that the release does not "
            "declare. Are these the rows it was learned from?",
        )
    return Column(column.name, "categorical", np.maximum(codes, 0), release.classes, weights=column.weights)
