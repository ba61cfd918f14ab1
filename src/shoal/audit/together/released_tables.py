# SPDX-License-Identifier: Apache-2.0
"""Released tables and projections as subjects."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.audit.boxes import Boxes, Covering
from shoal.audit.ensembles import joint_spans
from shoal.audit.groups import Ids, Spans, numbered
from shoal.audit.tables import group_rows
from shoal.audit.together.blocks import components
from shoal.audit.together.pinned import Told
from shoal.audit.together.released import Released
from shoal.audit.together.rows_read import in_kind
from shoal.data.table import Column, Table
from shoal.release import (
    ProjectionsRelease,
    TableRelease,
)
from shoal.release.table import fit_column


class ReleasedTable(Released):
    """A released table: a person may be in every published group that stands for his public values.

    Its bins are groups and the exact values of the private columns.
    """

    def __init__(self, release: TableRelease) -> None:
        shown = [name for name in release.public if not release.is_hidden(name)]
        super().__init__(release, "a table", (*shown, *release.private), release.target)
        self.roles = {each.name: each.role for each in release.attributes}
        self.shown = shown

    def in_it(self, table: Table, public: Collection[str]) -> NDArray[np.bool_] | None:
        """The rows that some group stands for, where it says that rows are left out."""
        if not self.release.left_out:
            return None
        return self.covering(table, [name for name in self.shown if name in public]).covered

    def bins(self, table: Table) -> Ids:
        """The groups that stand for every row, and its private values."""
        private = [self._private(table, name).codes for name in self.release.private if name != self.target]
        found = self.covering(table, self.shown)
        return numbered([found.set_of_cell[found.cell_of_row], *private], table.n_rows)

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """The published groups that every row may be in."""
        found = self.covering(table, [name for name in self.shown if name in public])
        of_row, n_groups = found.set_of_cell[found.cell_of_row], found.n_groups[found.cell_of_row]
        private = [name for name in self.release.private if name in public and name != self.target]
        known = [self._private(table, name).codes for name in private]
        if self.release.left_out and not set(self.shown) <= set(public):
            of_row = found.cell_of_row  # whether he may be left out hangs on values that the attacker does not know
        single = (n_groups <= 1) & all(name in public for name in self.domain)
        return Spans.numbered(numbered([of_row, *known], table.n_rows), single, disjoint=False)

    def covering(self, table: Table, names: Sequence[str]) -> Covering:
        """Which groups, as far as some columns tell them apart, stand for which rows."""
        release = self.release
        example = group_rows([release.rows[name] for name in names], release.n_rows).example
        fitted = Table(in_kind(table[name], release.attribute(name).type) for name in names) if names else table
        return Boxes(release, names, example).covering(fitted)

    def _private(self, table: Table, name: str) -> Column:
        attribute = self.release.attribute(name)
        return fit_column(attribute, in_kind(table[name], attribute.type))

    def told(self, table: Table, public: Collection[str]) -> list[Told]:
        """Every private column, group by group."""
        found = self.covering(table, [name for name in self.shown if name in public])
        if not found.complete:
            return []
        blocks = components(found.cell, found.group, found.n_cells)[found.cell_of_row]
        hidden = [name for name in self.release.private if name not in public]
        return [Told.of(table[name], self._private(table, name).codes, blocks) for name in hidden]

    def totals(self) -> dict[str, dict[str, int]]:
        """The people of each value of every private column of categories; not where rows are left out."""
        if self.release.left_out:
            return {}
        columns = [self.release.rows[name] for name in self.release.private]
        known = [column for column in columns if column.kind == "categorical"]
        return {each.name: dict(zip(each.names, each.counts().tolist(), strict=False)) for each in known}


class ReleasedProjections(Released):
    """Released projections: a bin is a tuple of rows, one of each, so at worst it is known which belong together."""

    def __init__(self, release: ProjectionsRelease) -> None:
        self.tables = [ReleasedTable(table) for table in release.tables]
        looked_at = dict.fromkeys(name for table in self.tables for name in table.domain)
        what = "a projection" if len(release) == 1 else f"{len(release):,} projections"
        super().__init__(release, what, tuple(looked_at), release.target)
        self.roles = {each.name: each.role for each in release.attributes}

    def in_it(self, table: Table, public: Collection[str]) -> NDArray[np.bool_] | None:
        """The rows that every projection has a group for, where it says that rows are left out."""
        if not self.release.left_out:
            return None
        found = [each.covering(table, [name for name in each.shown if name in public]).covered for each in self.tables]
        return np.asarray(np.all(found, axis=0))

    def bins(self, table: Table) -> Ids:
        """The groups of every row, and its private values."""
        return numbered([each.bins(table) for each in self.tables], table.n_rows)

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """The groups of every projection that every row may be in."""
        return joint_spans([each.spans(table, public) for each in self.tables])

    def told(self, table: Table, public: Collection[str]) -> list[Told]:
        """Every private column, group by group, projection by projection."""
        return [told for each in self.tables for told in each.told(table, public)]

    def totals(self) -> dict[str, dict[str, int]]:
        """The people of each value of every private column of categories; not where rows are left out."""
        if self.release.left_out:
            return {}
        return {name: counts for each in self.tables for name, counts in each.totals().items()}
