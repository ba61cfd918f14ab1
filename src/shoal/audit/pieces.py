# SPDX-License-Identifier: Apache-2.0
"""The recount of a tree's groups from rows that are looked at a batch at a time.

Each batch is grouped by itself. Then one row of each of its groups is kept, as far as the tree tells public values
apart, and the rows kept are grouped once more: that tells which groups of different batches are the same. On a cluster,
workers do so with the batches that they have, and what they kept is grouped a third time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from shoal.audit.groups import Groups, Ids, Spans
from shoal.audit.recount import Recount, fit_target, public_names, rows_outside, sensitive_column
from shoal.audit.spans import TreeSpans
from shoal.data.counted import Counted
from shoal.data.pieces import Pieces
from shoal.data.table import Column, Table
from shoal.data.target import with_target
from shoal.release import TreeRelease

FEW_KEPT = 1 << 18  # rows kept of several batches that are not worth grouping yet


@dataclass(frozen=True)
class CountedGroups(Groups):
    """Groups of rows that are elsewhere. `of_row` and `example` are of one row of each group in each batch."""

    tables: dict[str, Ids] = field(default_factory=dict)  # of some columns: groups × values

    @property
    def n_rows(self) -> int:
        """How many rows there are: one a person."""
        return self.n_people

    @property
    def n_people(self) -> int:
        """How many people there are."""
        return int(self.people.sum())

    def by_value(self, column: Column) -> Ids:
        """How many people of each group have each value of a column that was counted."""
        return self.tables[column.name]

    def most_frequent(self, column: Column) -> Ids:
        """How many people of each group have its most frequent value of a column that was counted."""
        return np.asarray(self.tables[column.name].max(axis=1))

    def totals(self, column: Column) -> Ids:
        """How many people have each value of a column that was counted."""
        return np.asarray(self.tables[column.name].sum(axis=0))


def recount_pieces(
    release: TreeRelease, X: Pieces, y: str | None, public: Collection[str] | None, *, about_values: bool
) -> Recount:
    """As `recount`, from rows in pieces; `about_values` where values of sensitive columns are to be counted."""
    columns = with_target(X.columns, y, release.target)
    known = public_names(release, public, X)
    columns = columns.like({**columns, release.target: fit_target(release, columns[release.target])}.values())
    asked = [name for name in release.sensitive if name not in known] if about_values else []
    sensitive = [sensitive_column(release, columns[name]) for name in asked]
    names = (release.target, *asked)
    tree_spans = TreeSpans(release, known)
    _check_known(release, columns)
    counting = partial(_counted, release, frozenset(known), names)
    parts = [part for part in X.like(_needed(release, columns, sensitive)).mapped(counting) if part is not None]
    part, spans, groups = _together(release, tree_spans, parts, names, target_is_public=release.target in known)
    n_classes = columns[release.target].n_codes
    return Recount(
        columns,
        columns[release.target],
        known,
        tree_spans,
        spans,
        groups,
        spans.disjoint,
        part.bins.reshape(-1, n_classes),
        part.outside,
    )


@dataclass(frozen=True)
class _Part:
    """What there is to say of some rows."""

    kept: Table  # one row of each group, see `_only_told`
    counted: list[Ids]  # of some columns: groups × values
    bins: Ids
    outside: dict[str, int]


def _counted(
    release: TreeRelease, known: frozenset[str], names: Sequence[str], tables: Iterator[Table]
) -> _Part | None:
    """The groups of some rows, which may run elsewhere; None where there are none."""
    tree_spans = TreeSpans(release, known)
    public = release.target in known
    parts: list[_Part] = []
    n_kept, most = 0, FEW_KEPT
    for table in tables:
        parts.append(_part(release, tree_spans, table, names, target_is_public=public))
        n_kept += parts[-1].kept.n_rows
        if n_kept > most:  # most groups are in every batch: what is kept must not grow with the rows
            parts = [_together(release, tree_spans, parts, names, target_is_public=public)[0]]
            n_kept = parts[0].kept.n_rows
            most = 2 * n_kept + FEW_KEPT
    if not parts:
        return None
    return _together(release, tree_spans, parts, names, target_is_public=public)[0]


def _part(
    release: TreeRelease, tree_spans: TreeSpans, table: Table, names: Sequence[str], *, target_is_public: bool
) -> _Part:
    target = table[release.target]
    classes, n_classes = target.codes.astype(np.int64), target.n_codes
    ends = release.routing.apply(table)
    spans = tree_spans.spans(table, ends)
    bins = np.bincount(ends * n_classes + classes, minlength=len(release.nodes) * n_classes)
    of_row, example = spans.of_row, spans.example
    if target_is_public:  # the attacker sees the class
        _, example, of_row = np.unique(of_row * n_classes + classes, return_index=True, return_inverse=True)
    counted = [_by(of_row, len(example), table[name]) for name in names]
    known = (*tree_spans.public, *([release.target] if target_is_public else []))
    kept = Table(_only_told(release, column, name in known) for name, column in table.take(example).items())
    return _Part(kept, counted, bins, dict(rows_outside(release, table, ends)))


def _only_told(release: TreeRelease, column: Column, known: bool) -> Column:
    """A column of the rows kept, without what spans do not depend on: no person's row goes on from here.

    Of a public column, the first value stands for all that the tree does not tell apart; of any other, for all.
    """
    first = np.zeros(column.n_codes, dtype=column.codes.dtype)
    if known and column.name in release.routing.names:
        atoms = release.routing.atoms[release.routing.names.index(column.name)]
        atom = atoms.encode(replace(column, codes=np.arange(column.n_codes)))
        _, where, of_code = np.unique(atom, return_index=True, return_inverse=True)
        first = where[of_code].astype(column.codes.dtype)
    elif known:
        first = np.arange(column.n_codes, dtype=column.codes.dtype)
    return replace(column, codes=first[column.codes])


def _together(
    release: TreeRelease,
    tree_spans: TreeSpans,
    parts: Sequence[_Part],
    names: Sequence[str],
    *,
    target_is_public: bool,
) -> tuple[_Part, Spans, CountedGroups]:
    """Several parts as one, the spans of the rows that they kept, and all groups."""
    examples = Table(
        replace(column, codes=np.concatenate([part.kept[name].codes for part in parts]))
        for name, column in parts[0].kept.items()
    )
    spans = tree_spans.spans(examples)
    n_classes = examples[release.target].n_codes
    groups = _groups(spans.of_row, spans.n_bins, examples, release, n_classes, target_is_public=target_is_public)
    for i, name in enumerate(names):
        found = np.concatenate([part.counted[i] for part in parts])
        table_of = np.zeros((len(groups), found.shape[1]), dtype=np.int64)
        np.add.at(table_of, groups.of_row, found)
        groups.tables[name] = table_of
    groups = replace(groups, people=groups.tables[release.target].sum(axis=1))
    outside: dict[str, int] = {}
    for part in parts:
        for name, n in part.outside.items():
            outside[name] = outside.get(name, 0) + n
    bins = np.sum([part.bins for part in parts], axis=0)
    return _Part(examples.take(groups.example), [groups.tables[name] for name in names], bins, outside), spans, groups


def _check_known(release: TreeRelease, columns: Counted) -> None:
    """Refuse values outside the domain before anybody looks at rows: entries tell how many have them."""
    routing = release.routing
    unknown = []
    for name, atoms in zip(routing.names, routing.atoms, strict=True):
        column = columns[name]
        outside = atoms.encode(replace(column, codes=np.arange(column.n_codes))) < 0
        unknown.append(int(column.counts()[outside].sum()))
    routing.refuse_unknown(unknown, routing.names)


def _needed(release: TreeRelease, columns: Counted, sensitive: Sequence[Column]) -> Counted:
    """The columns that the tree asks for, its target, and what is sensitive."""
    own = {column.name: column for column in sensitive}
    names = dict.fromkeys([*release.routing.names, release.target, *own])
    return columns.like(own.get(name, columns[name]) for name in names)


def _by(of_row: Ids, n_groups: int, column: Column) -> Ids:
    key = of_row * column.n_codes + column.codes
    return np.bincount(key, minlength=n_groups * column.n_codes).reshape(n_groups, column.n_codes)


def _groups(
    of_row: Ids, n_bins: Ids, examples: Table, release: TreeRelease, n_classes: int, *, target_is_public: bool
) -> CountedGroups:
    """The groups of the rows kept, still without people."""
    key = of_row
    if target_is_public:
        key = of_row * n_classes + examples[release.target].codes
        n_bins = np.repeat(n_bins, n_classes)
    else:
        n_bins = n_bins * n_classes
    present, example, of_row = np.unique(key, return_index=True, return_inverse=True)
    return CountedGroups(of_row.reshape(-1), np.zeros(len(present), dtype=np.int64), n_bins[present], example)
