# SPDX-License-Identifier: Apache-2.0
"""What became of a table since an earlier release, and what whoever compares the two learns from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.audit.result import Finding
from shoal.audit.together.released import Released, in_kind
from shoal.data.table import Table
from shoal.privacy import people_behind
from shoal.release.ledger import Entry


@dataclass(frozen=True, eq=False)
class Earlier:
    """A release of the ledger, and what became of its rows."""

    entry: Entry
    subject: Released
    present: NDArray[np.bool_]  # the rows here that it was made from
    removed: int  # rows that it was made from and that are not here

    @property
    def added(self) -> int:
        """Rows here that it was not made from."""
        return int((~self.present).sum())


def columns_gone(entry: Entry, gone: Sequence[str]) -> Finding:
    """A release that cannot be audited with these rows."""
    return Finding(
        "columns-gone",
        "breach",
        f"Release {entry.number} needs {', '.join(map(repr, gone))}, which these rows lack: it cannot be audited "
        "together with this one. Give the table with all columns.",
        entry.people,
    )


def other_table(entry: Entry) -> Finding:
    """A release that is left out because few of its rows are here."""
    return Finding(
        "other-table",
        "warning",
        f"Release {entry.number} has columns of this table, but fewer than half of its rows: it is taken for one of "
        "other people and left out. If it is about the same people, with values changed, this verdict does not cover "
        "both.",
        entry.people,
    )


def changes(earlier: Earlier, table: Table, new: Released) -> list[Finding]:
    """What whoever compares counts learns of people who were added or removed since an earlier release."""
    if not earlier.added and not earlier.removed:
        return []
    least = max(people_behind(earlier.subject.requirement), people_behind(new.requirement))
    few = []
    for name, before in earlier.subject.totals().items():
        column = in_kind(table[name], "categorical")
        now = dict(zip(column.names, column.counts().tolist(), strict=False))
        differ = [abs(now.get(value, 0) - before.get(value, 0)) for value in {*now, *before}]
        n = sum(0 < difference < least for difference in differ)
        if n:
            few.append(f"of {name!r} for {n} value(s)")
    told = f" Counts differ by fewer than {least:,}: {', '.join(few)}." if few else ""
    number = earlier.entry.number
    return [
        Finding(
            "rows-changed",
            # that people are too few who are in one release only is certain; whom else it sets apart is in the groups
            "breach" if 0 < earlier.removed < least else "warning",
            f"{earlier.added:,} row(s) added and {earlier.removed:,} removed since release {number}: whoever compares "
            f"the counts of release {number} with the new ones learns about these people.{told}",
            earlier.added + earlier.removed,
        )
    ]
