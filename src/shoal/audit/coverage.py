# SPDX-License-Identifier: Apache-2.0
"""Whether a published table and original rows tell of the same people."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.audit.assigning import assign
from shoal.audit.boxes import Covering
from shoal.audit.groups import Ids, numbered
from shoal.data.table import Column, Table
from shoal.release import TableRelease
from shoal.release.table import fit_column


@dataclass(frozen=True)
class Coverage:
    """How the published groups stand to the original rows.

    Attributes
    ----------
    uncovered
        How many rows no group stands for.
    wrong
        The groups that cannot be those of the rows: other people, or other private values, than the rows have.
    decided
        Whether no other group is wrong. Where groups overlap too much, that is not known.
    """

    uncovered: int
    wrong: Ids
    decided: bool


def compare(release: TableRelease, table: Table, covering: Covering, of_row: Ids) -> Coverage:
    """Hold the published groups against the original rows: can the rows be shared out among the groups?

    `covering` says which groups stand for which rows, `of_row` is the group of each published row that is held.
    """
    stored = release.stored
    both = [(stored[name], _original(release, name, table)) for name in release.private if name in table]
    codes = [np.concatenate(_common(published, original)) for published, original in both]
    values = numbered(codes, stored.n_rows + table.n_rows)
    found = assign(
        covering,
        values[stored.n_rows :],
        of_row,
        values[: stored.n_rows],
        rows=table.weights,
        published=stored.weights,
    )
    return Coverage(int(table.times[~covering.covered].sum()), found.wrong, found.decided)


def as_published(release: TableRelease, table: Table, covering: Covering, example: Ids) -> tuple[Table, int]:
    """Original rows as the release publishes them, in the order they came; and how many fit several of its groups.

    Such a row is given one of them, and a row that fits none is given any: what is counted of it is not to be trusted.
    `example` is one published row of each group.
    """
    of_cell = np.zeros(covering.n_cells, dtype=np.int64)
    of_cell[covering.cell] = covering.group
    row = example[of_cell[covering.cell_of_row]]
    columns = []
    for name in release.columns:
        if name in release.generalised:
            columns.append(replace(release.stored[name], codes=release.stored[name].codes[row]))
        elif name in table:
            columns.append(_original(release, name, table))
    return Table(columns), int((covering.n_groups > 1)[covering.cell_of_row].sum())


def _original(release: TableRelease, name: str, table: Table) -> Column:
    return fit_column(release.attribute(name), table[name])


def _common(published: Column, original: Column) -> tuple[Ids, Ids]:
    """Two columns of one domain in common codes."""
    if published.kind == "categorical":
        return published.codes.astype(np.int64), original.codes.astype(np.int64)
    numbers = np.unique(np.concatenate([published.numbers, original.numbers]))
    answer = []
    for column in (published, original):
        code_of = np.append(np.searchsorted(numbers, column.numbers), len(numbers))
        answer.append(code_of[column.codes])
    return answer[0], answer[1]
