# SPDX-License-Identifier: Apache-2.0
"""Released association rules as a subject, so that they are audited together with other releases of the same rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np

from shoal.audit.groups import Ids, Spans
from shoal.audit.rules.cells import items_of_table
from shoal.audit.rules.released import ReleasedRuleSubject, public_items
from shoal.audit.rules.transactions import Transactions, has_item
from shoal.audit.together.pinned import Told
from shoal.audit.together.released import Released
from shoal.audit.together.rows_read import in_kind
from shoal.data.table import Table
from shoal.errors import DataError
from shoal.privacy import needs_values
from shoal.release import RulesRelease


class ReleasedRules(Released):
    """Released rules: a bin is the joint state of all rules.

    What a rule says of a person's private items is fixed by which of its public parts he has. So the spans of rules and
    of models whose tests ask one column each combine (`docs/explanation/spans-of-rules.md`).
    """

    def __init__(self, release: RulesRelease) -> None:
        if release.rows == "table" and needs_values(release.requirement):
            raise DataError(
                "not-a-release",
                "Rules over a table that claim something of private values are not audited together with other "
                "releases: audit them alone.",
            )
        if release.rows == "table" and any(item.column is None for item in release.items):
            raise DataError("not-a-release", "These rules over a table do not say which columns they are about.")
        self.subject = ReleasedRuleSubject(release)
        self.roles = roles_of(release)
        super().__init__(release, self.subject.what, list(self.roles), None)

    def bins(self, table: Table) -> Ids:
        """The joint state of every row."""
        return self.subject.bins(self._items(table))

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """People have the same span exactly when they have the same of the rules' public parts."""
        return self.subject.spans(self._items(table), public_items(self.release, public))

    def _items(self, table: Table) -> Transactions:
        release: RulesRelease = self.release
        if release.rows == "table":
            kinds = release.kinds
            cells = items_of_table(Table(in_kind(table[name], kinds[name]) for name in self.domain), (), release.cuts)
        else:
            nobody = np.empty(0, dtype=np.int64)
            rows = [np.flatnonzero(has_item(table[name])) if name in table else nobody for name in self.domain]
            which = np.repeat(np.arange(len(rows)), list(map(len, rows)))
            cells = Transactions(np.concatenate(rows), which, list(self.domain), table.n_rows)
        return cells.with_categories(release.categories)

    def told(self, table: Table, public: Collection[str]) -> list[Told]:
        """Nothing: how many people of a block have each value of a column is not stated."""
        return []

    def totals(self) -> dict[str, dict[str, int]]:
        """None are stated of a whole column."""
        return {}


def roles_of(release: RulesRelease) -> dict[str, Literal["public", "private"]]:
    """The columns that rules are about: of baskets the items, the members of categories among them, of a table its."""
    if release.rows == "table":
        return {item.column: item.role for item in release.items if item.column is not None}
    return {name: item.role for item in release.items for name in item.members or (item.name,)}
