# SPDX-License-Identifier: Apache-2.0
"""A table that somebody else anonymised, as a subject of an audit: alone, or held against the rows it was made from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.audit.assumed import stated_domain
from shoal.audit.boxes import Boxes
from shoal.audit.finding import Finding
from shoal.audit.foreign.cells import is_numeric, labels_of, named_cells, numeric_cells
from shoal.audit.groups import Groups, Ids, Spans, numbered
from shoal.audit.result import SHOWN, Audit
from shoal.audit.subject import Subject, audit_subject
from shoal.audit.tables import compare_rows, group_rows
from shoal.data.frames import to_table
from shoal.data.hierarchy import Hierarchy, load_hierarchies
from shoal.data.read import read_table
from shoal.data.stack import with_values
from shoal.data.table import Column, Table, smallest_dtype
from shoal.data.target import as_categorical
from shoal.errors import DataError, RoleError, closest
from shoal.privacy import Requirement, least_people
from shoal.release import Attribute, TableRelease
from shoal.release.generalised import ALL, Generalised
from shoal.release.table import fit_column


class AnonymisedTable:
    """A table that claims to be anonymised, whoever made it.

    Parameters
    ----------
    data
        The published rows: a file such as a CSV, or a data frame or anything else that holds rows and columns.
    hierarchies
        What labels of public columns mean, as a folder or a dict from column to hierarchy. Not needed for numbers,
        intervals (``[20, 30)``, ``20-29``, ``<=30``, ``30+``), sets (``{a, b}``) and masked text (``130**``).
    suppressed
        Cells that stand for anything. Add an empty string where an empty cell was suppressed, as sdcMicro writes it.
    missing
        Cells of a file that mean missing, and of a data frame besides null and NaN.

    Examples
    --------
    >>> from shoal.audit import AnonymisedTable, audit
    >>> clinic = {"age": ["20-29", "20-29", "30-39", "30-39"], "zip": ["130**"] * 4, "ill": ["flu", "cold"] * 2}
    >>> print(audit(AnonymisedTable(clinic), privacy=2, sensitive=["ill"]))
    holds: smallest group 2 (2 groups of 4 people recounted)
      every group has at least 2 people: holds
      every row is taken for a person
      an attacker knows: age, zip
      ill: certain for nobody; l 2 (entropy 2, c above 1), alpha 0.5, t 0, beta 0 (enhanced 0), delta 0
    """

    def __init__(
        self,
        data: Any,
        *,
        hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        suppressed: Collection[str] = (ALL,),
        missing: Collection[str] = ("", "?"),
    ) -> None:
        if isinstance(suppressed, str):
            raise DataError("suppressed", f"suppressed must be a list of cells; got one string. Try [{suppressed!r}].")
        is_file = isinstance(data, str | os.PathLike)
        self.table = read_table(data, missing=missing) if is_file else to_table(data, missing=missing)
        self.hierarchies: dict[str, Hierarchy] = load_hierarchies(hierarchies, self.table.names)
        self.suppressed = frozenset(text.strip() for text in suppressed)

    def __repr__(self) -> str:
        return f"<AnonymisedTable: {self.table.n_rows} rows, {len(self.table)} columns>"

    @property
    def sha256(self) -> str:
        """A fingerprint of the published rows, in their order."""
        digest = hashlib.sha256()
        for name, column in self.table.items():
            for part in (name, repr(labels_of(column)), str(column.missing)):
                digest.update(part.encode())
            digest.update(column.codes.astype("<i8").tobytes())
        return digest.hexdigest()

    def suppressed_codes(self, name: str) -> Ids:
        """The codes of a column whose cells stand for anything."""
        column = self.table[name]
        found = [code for code, label in enumerate(labels_of(column)) if label.strip() in self.suppressed]
        if "" in self.suppressed and column.missing:
            found.append(len(column.values))
        return np.array(found, dtype=np.int64)


def audit_anonymised(
    published: AnonymisedTable,
    X: Any = None,
    *,
    public: Collection[str] | None = None,
    privacy: Requirement | int | None = None,
    domain: Mapping[str, Sequence[Any]] | None = None,
    sensitive: Sequence[str] = (),
    person: str | None = None,
) -> Audit:
    """Audit a table that somebody else anonymised. The parameters are those of `audit`.

    Without the original rows, a group is the published rows with equal cells in every public column. With them, a
    group is the people who fit the same published groups: that is what an attacker who knows their values can tell.
    """
    known = _known(published.table, public, sensitive, person)
    if X is None:
        alone = PublishedRows(published, known)
        return audit_subject(alone, published.table, public=known, privacy=privacy, sensitive=sensitive, person=person)
    rows = to_table(X)
    for name in (*known, *sensitive, *([person] if person else [])):
        rows[name]  # refuses with the nearest name
    subject, rows = OriginalRows.of(published, rows, known, domain, person)
    return audit_subject(subject, rows, public=known, privacy=privacy, sensitive=sensitive, person=person)


def _known(table: Table, public: Collection[str] | None, sensitive: Sequence[str], person: str | None) -> list[str]:
    if isinstance(public, str):
        raise RoleError("roles", f"public must be a list of column names; got one string. Try [{public!r}].")
    for name in public or ():
        if name not in table:
            raise RoleError("roles", f"The published table has no column {name!r} to be public.{closest(name, table)}")
    kept = set(table.names) - {person, *sensitive} if public is None else set(public)
    return [name for name in table if name in kept]


class PublishedRows(Subject):
    """A published table alone: a row is a person, and its bin is what its row says."""

    by_value = True
    separable = True

    def __init__(self, published: AnonymisedTable, known: Sequence[str]) -> None:
        self.published = published
        self.what = f"a table of {published.table.n_rows:,} rows that somebody anonymised"
        self.domain = stated_domain(published.table, [n for n in known if len(published.table[n].values)], None)
        self.single = len(published.table) == len(known)
        self.sha256 = published.sha256

    def bins(self, table: Table) -> Ids:
        """Rows that say the same are one bin."""
        return numbered([column.codes for column in table.values()], table.n_rows)

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """Rows with equal public cells can be any of the people behind them."""
        keys = numbered([table[name].codes for name in table if name in public], table.n_rows)
        return Spans.numbered(keys, np.full(table.n_rows, self.single), disjoint=True)

    def group_words(self, table: Table, public: Collection[str], row: int) -> tuple[str, tuple[int, ...]]:
        """What the public cells of the group say."""
        return _cells_in_words(self.published, [name for name in table if name in public], row), ()

    def with_gaps(self, table: Table) -> Table:
        """A suppressed cell could be anything, as a missing one."""
        for name in self.domain:
            column, codes = table[name], self.published.suppressed_codes(name)
            kept = np.setdiff1d(np.arange(len(column.values)), codes)
            if len(kept) and len(codes):  # a column that is suppressed throughout says nothing of anybody
                gone = np.isin(column.codes, codes)
                column = replace(column, codes=np.where(gone, len(column.values), column.codes), missing=True)
                table = table.with_column(replace(column.compact()))
        return table

    def findings(
        self, table: Table, public: Collection[str], groups: Groups, requirement: Requirement
    ) -> list[Finding]:
        """Rows that say nothing."""
        return _suppressed_rows(self.published, list(self.domain))


class OriginalRows(Subject):
    """The people that a published table was made of, and which of its groups each of them fits.

    A person may be in any published group whose cells cover all public values that an attacker knows of him. So his
    span is the set of these groups, with whatever private values they have; where the groups do not overlap, it is one.
    """

    separable = True

    def __init__(
        self,
        published: AnonymisedTable,
        release: TableRelease,
        known: Sequence[str],
        domain: Mapping[str, Attribute],
        person: str | None,
    ) -> None:
        self.published, self.release, self.person = published, release, person
        self.what = f"a table of {release.n_people:,} rows that somebody anonymised"
        self.domain = {name: domain[name] for name in known}
        self.groups = group_rows([release.rows[name] for name in known], release.n_people)
        self.sha256 = published.sha256

    @classmethod
    def of(
        cls,
        published: AnonymisedTable,
        rows: Table,
        known: Sequence[str],
        domain: Mapping[str, Any] | None,
        person: str | None,
    ) -> tuple[OriginalRows, Table]:
        """The subject, and the original rows as it reads them.

        A private column may be generalised as well. Then its cells must be true, too, but nobody is told apart by them.
        """
        table, attributes, generalised = [], [], {}
        for name, column in published.table.items():
            if name in known or (name in rows and name != person and _is_generalised(published, column, rows[name])):
                original, attribute, cells = _meaning(published, column, rows[name])
                rows = rows.with_column(original)
                column, generalised[name] = _labelled(column, cells), tuple(cells)
            elif name in rows and name != person:
                column, original = _alike(column, rows[name])
                rows = rows.with_column(original)
                attribute = _common(column, original)
                column = fit_column(attribute, column)
            else:
                continue
            table.append(column)
            attributes.append(attribute)
        release = TableRelease(None, tuple(attributes), (), Table(table), generalised)
        return cls(published, release, known, stated_domain(rows, known, domain), person), rows

    def bins(self, table: Table) -> Ids:
        """People who fit the same groups and have the same private values."""
        private = [table[name].codes for name in self.release.columns if name not in self.domain]
        return numbered([self.spans(table, list(self.domain)).of_row, *private], table.n_rows)

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """People who fit the same published groups have the same span."""
        names = [name for name in self.release.public if name in public and not self.release.is_hidden(name)]
        groups = self.groups if len(names) == len(self.domain) else self._groups(names)
        found = Boxes(self.release, names, groups.example).covering(table)
        n_groups = found.n_groups[found.cell_of_row]
        # with private values beside it a group is several bins; whoever is in no group can be linked to nothing
        tells_more = len(self.published.table) > len(self.domain)
        single = (n_groups == 0) | ((n_groups == 1) & (not tells_more))
        disjoint = bool(found.n_groups.max() <= 1)
        spans = Spans.numbered(found.set_of_cell[found.cell_of_row], single, disjoint=disjoint)
        return spans if found.complete else replace(spans, finer=np.ones(len(spans), dtype=bool))

    def _groups(self, names: Sequence[str]) -> Groups:
        return group_rows([self.release.rows[name] for name in names], self.release.n_people)

    def group_words(self, table: Table, public: Collection[str], row: int) -> tuple[str, tuple[int, ...]]:
        """Which published rows the people of the group fit."""
        return "people with the same public values, or values that fit the same published rows", ()

    def findings(
        self, table: Table, public: Collection[str], groups: Groups, requirement: Requirement
    ) -> list[Finding]:
        """Whether the table is true of these people, and what counting equal cells would have said."""
        if self.person is not None:
            found = [] if self.release.n_people == table.n_rows else [_rows_differ(self.release, table)]
        else:
            everything = group_rows([self.release.rows[name] for name in self.release.public], self.release.n_rows)
            covering = Boxes(self.release, self.release.public, everything.example).covering(table)
            found = compare_rows(self.release, table, everything, covering, may_leave_out=True)
        found += _suppressed_rows(self.published, list(self.domain))
        asked = groups.people[groups.n_bins > 1]
        if len(asked) and self.person is None:
            found += _equal_cells(int(self.groups.people.min()), int(asked.min()), least_people(requirement))
        return found


def _equal_cells(equal: int, fits: int, k: int) -> list[Finding]:
    """Where published groups overlap, what equal cells say is not what an attacker can tell."""
    if equal == fits:
        return []
    worse = fits < equal
    why = "some people fit groups that no others fit" if worse else "people of small groups fit others too"
    return [
        Finding(
            "overlapping-groups",
            "warning" if worse and fits < k <= equal else "note",
            f"By equal cells the smallest group has {equal:,} people; by the published groups that people fit it has "
            f"{fits:,}, as groups overlap and {why}. The latter is what counts here.",
        )
    ]


def _rows_differ(release: TableRelease, table: Table) -> Finding:
    return Finding(
        "counts-differ",
        "breach",
        f"{release.n_people:,} rows are published, {table.n_rows:,} are here: other rows, or a changed file.",
    )


def _suppressed_rows(published: AnonymisedTable, names: Sequence[str]) -> list[Finding]:
    gone = np.ones(published.table.n_rows, dtype=bool)
    for name in names:
        gone &= np.isin(published.table[name].codes, published.suppressed_codes(name))
    n = int(gone.sum())
    if not n or not names:
        return []
    message = f"{n:,} published row(s) say nothing of any public column. They are counted as a group of their own."
    return [Finding("suppressed-rows", "note", message, n)]


def _cells_in_words(published: AnonymisedTable, names: Sequence[str], row: int) -> str:
    said = []
    for name in names:
        column = published.table[name]
        code = int(column.codes[row])
        if code not in published.suppressed_codes(name):
            said.append(f"{name} {[*labels_of(column), '(missing)'][code]}")
    words = said[:SHOWN] + ([f"{len(said) - SHOWN} more columns"] if len(said) > SHOWN else [])
    return " and ".join(words) or "nothing is said of them"


def _meaning(
    published: AnonymisedTable, column: Column, original: Column
) -> tuple[Column, Attribute, list[Generalised]]:
    """How an original public column is read, its domain, and what each published label of it stands for."""
    suppressed, name = published.suppressed, column.name
    missing = column.missing or original.missing
    hierarchy = published.hierarchies.get(name)
    listed = hierarchy is not None and hierarchy.values is not None  # then it says what a label means
    if original.kind == "numeric" and len(original.numbers) and is_numeric(column, suppressed) and not listed:
        cells = numeric_cells(column, suppressed)
        bounds = (float(original.numbers[0]), float(original.numbers[-1]))
        attribute = Attribute(name, "public", "numeric", bounds=bounds, integer=original.integer, missing=missing)
    else:
        original = as_categorical(original)
        values, cells = named_cells(column, original, hierarchy, suppressed)
        attribute = Attribute(name, "public", "categorical", values=values, missing=missing)
        original = replace(with_values(original, values), labels="string")
    if column.missing:
        cells.append(Generalised("", missing="" not in suppressed))
    return original, attribute, cells


def _is_generalised(published: AnonymisedTable, column: Column, original: Column) -> bool:
    """Whether cells of a private column stand for several values; a label that stands for none is a changed value."""
    if column.kind == original.kind == "numeric" or {*labels_of(column)} <= {*labels_of(original)}:
        return False
    try:
        _meaning(published, column, original)
    except DataError as problem:
        return problem.code != "unknown-label"
    return True


def _labelled(column: Column, cells: Sequence[Generalised]) -> Column:
    """A published column as codes of its labels."""
    labels = tuple(cell.label for cell in cells)
    return Column(column.name, "categorical", column.codes.astype(smallest_dtype(len(labels))), labels)


def _alike(published: Column, original: Column) -> tuple[Column, Column]:
    """A private column of both tables, read as one kind."""
    if published.kind == original.kind:
        return published, original
    return as_categorical(published), as_categorical(original)


def _common(published: Column, original: Column) -> Attribute:
    """A domain that holds a private column of both tables."""
    wider = with_values(published, original.values)
    missing = published.missing or original.missing
    if wider.kind == "categorical":
        return Attribute(wider.name, "private", "categorical", values=wider.names, missing=missing)
    bounds = (float(wider.numbers[0]), float(wider.numbers[-1])) if len(wider.numbers) else (0.0, 0.0)
    return Attribute(wider.name, "private", "numeric", bounds=bounds, missing=missing)
