# SPDX-License-Identifier: Apache-2.0
"""Which published tuples stand for which original rows, and whether the two tell of the same people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column, Table
from shoal.errors import DataError, closest
from shoal.release import TableRelease
from shoal.release.generalised import atoms_of, covers
from shoal.release.table import fit_column

Ids = NDArray[np.int64]
Fits = NDArray[np.bool_]  # generalised values × codes: which go together


def matches(tuples: Sequence[Ids], cells: Sequence[Ids], fits: Sequence[Fits]) -> Iterator[tuple[int, Ids]]:
    """For each tuple the cells that fit it in every column.

    Tuples that begin alike are looked at together, column by column, so a cell is compared only with tuples whose
    beginning it fits.

    >>> ages, young_or_any = np.array([0, 1, 1]), np.array([[True, False], [True, True]])
    >>> [(which, cells.tolist()) for which, cells in matches([np.array([0, 1])], [ages], [young_or_any])]
    [(1, [0, 1, 2]), (0, [0])]
    """
    if not fits:
        return
    stack = [(0, np.arange(len(tuples[0])), np.arange(len(cells[0])))]
    while stack:
        depth, which, left = stack.pop()
        if depth == len(fits):
            for number in which:
                yield int(number), left
            continue
        order = which[np.argsort(tuples[depth][which], kind="stable")]
        values, starts = np.unique(tuples[depth][order], return_index=True)
        for value, part in zip(values, np.split(order, starts[1:]), strict=True):
            kept = left[fits[depth][value][cells[depth][left]]]
            if len(kept):
                stack.append((depth + 1, part, kept))


def overlap(release: TableRelease, names: Sequence[str], example: Ids) -> bool:
    """Whether some people fit two of the published tuples, as far as the columns `names` tell them apart."""
    tuples = [release.rows[name].codes[example].astype(np.int64) for name in names]
    fits = []
    for name in names:
        atoms = atoms_of(release.attribute(name), release.generalised[name])
        masks = (covers(atoms, release.generalised[name]) & atoms.possible).astype(np.int64)
        fits.append(masks @ masks.T > 0)
    return any(len(others) > 1 for _, others in matches(tuples, tuples, fits))


@dataclass(frozen=True)
class Coverage:
    """How the published tuples stand to the original rows.

    Attributes
    ----------
    uncovered
        How many rows no tuple stands for.
    wrong
        The groups that cannot be those of the rows: more people, or other private values, than the rows it stands for.
    """

    uncovered: int
    wrong: Ids


def compare(release: TableRelease, table: Table, of_row: Ids, example: Ids) -> Coverage:
    """Hold the published groups against the original rows.

    `of_row` is the group of each published row, `example` one row of each group. A row that only one tuple stands for
    must be in that group, so a group of such rows has exactly their people and their private values; of any other group
    it is checked that there are enough rows for it.
    """
    names = [name for name in release.public if not release.is_hidden(name)]
    group, cell, cell_of_row = covering(release, table, names, example)
    n_cells = int(cell_of_row.max()) + 1
    tuples_of_cell = np.bincount(cell, minlength=n_cells)
    rows_of_cell = np.bincount(cell_of_row, minlength=n_cells)
    clear = np.ones(len(example), dtype=bool)
    clear[group[tuples_of_cell[cell] > 1]] = False
    people = np.bincount(of_row, minlength=len(example))
    covered = np.bincount(group, rows_of_cell[cell], minlength=len(example)).astype(np.int64)
    wrong = np.where(clear, covered != people, covered < people)
    wrong[_too_few(release, table, of_row, group, cell, cell_of_row)] = True
    return Coverage(int(rows_of_cell[tuples_of_cell == 0].sum()), np.flatnonzero(wrong))


def fits_none(release: TableRelease, table: Table, example: Ids) -> NDArray[np.bool_]:
    """The original rows that no published tuple stands for."""
    names = [name for name in release.public if not release.is_hidden(name)]
    _, cell, cell_of_row = covering(release, table, names, example)
    covered = np.zeros(int(cell_of_row.max()) + 1, dtype=bool)
    covered[cell] = True
    return ~covered[cell_of_row]


def as_published(release: TableRelease, table: Table, example: Ids) -> tuple[Table, int]:
    """Original rows as the release publishes them, in the order they came; and how many fit several of its tuples.

    Such a row is given one of them, and a row that fits none is given any: what is counted of it is not to be trusted.
    """
    names = [name for name in release.public if not release.is_hidden(name)]
    group, cell, cell_of_row = covering(release, table, names, example)
    n_cells = int(cell_of_row.max()) + 1
    of_cell = np.zeros(n_cells, dtype=np.int64)
    of_cell[cell] = group
    row = example[of_cell[cell_of_row]]
    columns = []
    for name in release.columns:
        if name in release.generalised:
            columns.append(replace(release.rows[name], codes=release.rows[name].codes[row]))
        elif name in table:
            columns.append(_original(release, name, table))
    several = np.bincount(cell, minlength=n_cells) > 1
    return Table(columns), int(several[cell_of_row].sum())


def covering(release: TableRelease, table: Table, names: Sequence[str], example: Ids) -> tuple[Ids, Ids, Ids]:
    """Which published tuples stand for which original rows, as far as the columns `names` tell.

    Rows that are alike to every tuple are one cell. The answer is pairs of a tuple and a cell that it stands for, and
    the cell of each row.
    """
    cells = [atoms_of_rows(release, name, table) for name in names]
    distinct, cell_of_row = distinct_cells([codes for codes, _ in cells], table.n_rows)
    tuples = [release.rows[name].codes[example].astype(np.int64) for name in names]
    found = list(matches(tuples, distinct, [fits for _, fits in cells]))
    if not names:
        found = [(0, np.zeros(1, dtype=np.int64))]  # everything is hidden: one group, and it stands for everybody
    group = np.repeat([number for number, _ in found], [len(each) for _, each in found]).astype(np.int64)
    return group, np.concatenate([np.zeros(0, dtype=np.int64), *(each for _, each in found)]), cell_of_row


def atoms_of_rows(release: TableRelease, name: str, table: Table) -> tuple[Ids, Fits]:
    """The atom of each original row, and which atoms each generalised value stands for."""
    if name not in table:
        raise DataError("no-column", f"The release has a column {name!r}, these rows do not.{closest(name, table)}")
    found = release.generalised[name]
    atoms = atoms_of(release.attribute(name), found)
    # one more atom, for what is outside the stated domain: only an asterisk stands for that
    outside = np.array([[value.is_all] for value in found])
    codes = atoms.encode(table[name]).astype(np.int64)
    return np.where(codes < 0, atoms.n, codes), np.hstack([covers(atoms, found), outside])


def distinct_cells(columns: Sequence[Ids], n_rows: int) -> tuple[list[Ids], Ids]:
    """The distinct combinations of some columns of codes, and which of them each row has."""
    which = np.zeros(n_rows, dtype=np.int64)
    for codes in columns:
        _, which = np.unique(which * (int(codes.max()) + 1) + codes, return_inverse=True)
        which = which.reshape(-1)
    _, first = np.unique(which, return_index=True)
    return [codes[first] for codes in columns], which


def _too_few(release: TableRelease, table: Table, of_row: Ids, group: Ids, cell: Ids, cell_of_row: Ids) -> Ids:
    """The groups with more people of some private values than the rows that they stand for."""
    both = [(release.rows[name], _original(release, name, table)) for name in release.private if name in table]
    joint = np.zeros(release.n_rows + table.n_rows, dtype=np.int64)
    for published, original in both:
        codes = np.concatenate(_common(published, original))
        _, joint = np.unique(joint * (int(codes.max()) + 1) + codes, return_inverse=True)
        joint = joint.reshape(-1)
    size = int(joint.max()) + 1
    theirs, ours = joint[: release.n_rows], joint[release.n_rows :]
    # the rows of each covered cell, one after the other
    order = np.argsort(cell_of_row, kind="stable")
    ends = np.cumsum(np.bincount(cell_of_row))
    lengths = np.diff(ends, prepend=0)[cell]
    starts = np.repeat((ends - np.diff(ends, prepend=0))[cell] - (np.cumsum(lengths) - lengths), lengths)
    rows = order[starts + np.arange(int(lengths.sum()))]
    have, n_have = np.unique(np.repeat(group, lengths) * size + ours[rows], return_counts=True)
    want, n_want = np.unique(of_row * size + theirs, return_counts=True)
    if not len(have):
        return np.unique(want // size)
    place = np.minimum(np.searchsorted(have, want), len(have) - 1)
    there = np.where(have[place] == want, n_have[place], 0)
    return np.unique(want[n_want > there] // size)


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
