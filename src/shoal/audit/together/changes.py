# SPDX-License-Identifier: Apache-2.0
"""What became of a table since an earlier release, and what whoever compares the two learns from it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from shoal.audit.result import Finding
from shoal.audit.together.released import Released
from shoal.audit.together.rows_before import Comparison, smallest_group_gone
from shoal.audit.together.rows_read import in_kind
from shoal.data.table import Table
from shoal.privacy import needs_values, people_behind
from shoal.release.ledger import Entry


@dataclass(frozen=True, eq=False)
class Earlier:
    """A release of the ledger, and what became of its rows."""

    entry: Entry
    subject: Released
    rows: Comparison

    @property
    def added(self) -> int:
        """Rows here that it was not made from."""
        return int((~self.rows.present).sum())

    @property
    def removed(self) -> int:
        """Rows that it was made from and that are not here."""
        return len(self.rows.gone.own)


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


def other_columns(entry: Entry) -> Finding:
    """A release that is left out because its table had other columns."""
    return Finding(
        "other-table",
        "note",
        f"Release {entry.number} is of a table with other columns: it is taken for one of other people and left out. "
        "If it is about the same people, give the table with all columns.",
        entry.people,
    )


def may_hide_few(earlier: Sequence[Earlier], subjects: Sequence[Released], public: Collection[str]) -> bool:
    """Whether releases may tell of people who are gone what they must not, all of them together.

    Nothing is known any more of these people but in which groups they were: what is claimed of values cannot be asked.
    """
    gone = [each for each in earlier if each.removed]
    if not gone:
        return False
    if any(needs_values(subject.requirement) for subject in subjects):
        return True
    for each in gone:
        known = {name for name in each.subject.columns if name in public}
        if known != {name for name in each.subject.columns if name in each.entry.public}:
            return True  # groups are those of another attacker
    fewest = smallest_group_gone([each.rows.gone for each in gone], [each.entry.columns for each in gone])
    return fewest is None or fewest < max(people_behind(subject.requirement) for subject in subjects)


def changes(earlier: Earlier, table: Table, new: Released, *, may_hide_few: bool) -> list[Finding]:
    """What whoever compares counts learns of people who were added or removed since an earlier release."""
    if not earlier.added and not earlier.removed:
        return []
    least = max(people_behind(earlier.subject.requirement), people_behind(new.requirement))
    unclear = earlier.rows.unclear
    few = []
    for name, before in earlier.subject.totals().items():
        column = in_kind(table[name], "categorical")
        now = dict(zip(column.names, column.counts().tolist(), strict=False))
        differ = [abs(now.get(value, 0) - before.get(value, 0)) for value in {*now, *before}]
        n = sum(0 < difference < least for difference in differ)
        if n:
            few.append(f"of {name!r} for {n} value(s)")
    told = f" Counts differ by fewer than {least:,}: {', '.join(few)}." if few else ""
    if unclear:
        told += f" Of {unclear:,} row(s) it cannot be told whether they were in it, because other values changed too."
    number = earlier.entry.number
    return [
        Finding(
            "rows-changed",
            # whom it sets apart of those who are here is in the groups
            "breach" if unclear or (earlier.removed and may_hide_few) else "warning",
            f"{earlier.added:,} row(s) added and {earlier.removed:,} removed since release {number}: whoever compares "
            f"the counts of release {number} with the new ones learns about these people.{told}",
            earlier.added + earlier.removed,
        )
    ]
