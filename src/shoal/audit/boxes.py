# SPDX-License-Identifier: Apache-2.0
"""The published groups of a table as boxes: a set of atoms in each public column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.audit.groups import Ids, numbered
from shoal.audit.sets import distinct_sets, incidence
from shoal.data.table import Table
from shoal.errors import DataError, closest
from shoal.release import TableRelease
from shoal.release.domain import Atoms
from shoal.release.generalised import Runs, atoms_of, runs_of

MOST_PAIRS = 2**22  # pairs of a group and a cell that are kept besides one a cell
MOST_WORDS = 2**22  # of the bits of a block of groups
BLOCK = 1024  # words of bits of a block of groups, at most


@dataclass(frozen=True, eq=False)
class Covering:
    """Which groups stand for which rows. Rows that are alike to every group are one cell.

    Attributes
    ----------
    cell_of_row
        The cell of each row.
    n_groups
        For each cell how many groups stand for it.
    group, cell
        Pairs of a group and a cell that it stands for; only the first ones where `complete` is false.
    complete
        Whether all pairs are there.
    """

    cell_of_row: Ids
    n_groups: Ids
    group: Ids
    cell: Ids
    complete: bool

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return len(self.n_groups)

    @cached_property
    def set_of_cell(self) -> Ids:
        """A number for the set of groups that stand for each cell: equal numbers, equal sets.

        Where not all pairs are there, every cell has a number of its own.
        """
        if (self.n_groups > 1).any():
            if not self.complete:
                return np.arange(self.n_cells)
            return distinct_sets(incidence(self.cell, self.group, (self.n_cells, int(self.group.max()) + 1)))[0]
        which = np.full(self.n_cells, -1, dtype=np.int64)
        which[self.cell] = self.group
        return np.unique(which, return_inverse=True)[1].reshape(-1)

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Which rows some group stands for."""
        return np.asarray(self.n_groups[self.cell_of_row] > 0)

    def take(self, rows: NDArray[np.bool_]) -> Covering:
        """The same of some of the rows."""
        return replace(self, cell_of_row=self.cell_of_row[rows])


class Boxes:
    """The groups of a released table, as far as some of its public columns tell them apart.

    Parameters
    ----------
    release
        The table.
    names
        The columns. One that says nothing of anybody makes no difference.
    example
        One published row of each group, of those that are held; no two may say the same in all these columns.
    """

    def __init__(self, release: TableRelease, names: Sequence[str], example: Ids) -> None:
        self.release, self.n = release, len(example)
        self.names = [name for name in names if not release.is_hidden(name)]
        self.atoms: list[Atoms] = [atoms_of(release.attribute(name), release.generalised[name]) for name in self.names]
        # columns with few atoms first: then many points begin alike
        order = sorted(range(len(self.names)), key=lambda i: self.atoms[i].n)
        self.names, self.atoms = [self.names[i] for i in order], [self.atoms[i] for i in order]
        codes = [release.stored[name].codes[example].astype(np.int64) for name in self.names]
        self._codes = np.column_stack(codes) if codes else np.zeros((self.n, 0), dtype=np.int64)

    def covering(self, table: Table) -> Covering:
        """Which groups stand for which rows of a table, whose columns are read as the release reads them."""
        if not self.names:  # everything is hidden: one group, and it stands for everybody
            zeros = np.zeros(1, dtype=np.int64)
            return Covering(np.zeros(table.n_rows, dtype=np.int64), np.ones(1, dtype=np.int64), zeros, zeros, True)
        columns = [
            _encoded(self.release, name, atoms, table) for name, atoms in zip(self.names, self.atoms, strict=True)
        ]
        cell_of_row = numbered(columns, table.n_rows)
        example = np.zeros(int(cell_of_row.max()) + 1, dtype=np.int64)
        example[cell_of_row] = np.arange(table.n_rows)
        points = np.column_stack([codes[example] for codes in columns])
        n_groups, group, cell = self._held(points, len(points) + MOST_PAIRS)
        return Covering(cell_of_row, n_groups, group, cell, len(group) == int(n_groups.sum()))

    def _held(self, points: NDArray[np.int32], most: int) -> tuple[Ids, Ids, Ids]:
        from shoal.audit._boxes import WORD, atom_bits, held

        found = [self.release.generalised[name] for name in self.names]
        runs, value = self._joined([runs_of(a, f, outside=True) for a, f in zip(self.atoms, found, strict=True)])
        offset = _offsets([atoms.n + 1 for atoms in self.atoms])
        counts = np.zeros(len(points), dtype=np.int64)
        bits = np.empty((int(offset[-1]), self._words(int(offset[-1]))), dtype=np.uint64)
        group, cell, room = [], [], most
        for begin in range(0, self.n, bits.shape[1] * WORD):
            stop = min(self.n, begin + bits.shape[1] * WORD)
            atom_bits(value, begin, stop, runs.start, runs.first, runs.end, offset, bits)
            boxes, inside = held(bits, offset, points, begin, room, False, counts)
            room -= len(boxes)
            group.append(boxes)
            cell.append(inside)
        return counts, np.concatenate(group), np.concatenate(cell)

    def overlap(self) -> bool:
        """Whether some people that there can be fit two of the groups."""
        from shoal.audit._boxes import WORD, atom_bits, held, value_bits

        if not self.names or self.n < 2:
            return False
        found = [self.release.generalised[name] for name in self.names]
        parts = [runs_of(a, f).within(a.possible) for a, f in zip(self.atoms, found, strict=True)]
        runs, value = self._joined(parts)
        values = _offsets([len(part) for part in parts])
        offset = _offsets([int(atoms.possible.sum()) for atoms in self.atoms])
        order = np.lexsort(value.T[::-1])
        n_words = self._words(int(max(offset[-1], values[-1])))
        of_atom, starts = (np.empty((int(offset[-1]), n_words), dtype=np.uint64) for _ in range(2))
        bits = np.empty((int(values[-1]), n_words), dtype=np.uint64)
        counts = np.zeros(self.n, dtype=np.int64)
        nowhere, points = np.zeros(len(self.names) + 1, dtype=np.int64), value[order].astype(np.int32)
        for begin in range(0, self.n, n_words * WORD):
            stop = min(self.n, begin + n_words * WORD)
            block = (value, begin, stop, runs.start, runs.first, runs.end, offset)
            atom_bits(*block, of_atom)
            value_bits(*block, values, of_atom, starts, bits)
            held(bits, nowhere, points, begin, 0, True, counts)
            if counts.max() > 1:
                return True
        return False

    def _words(self, n_rows: int) -> int:
        """How many words of bits a block of groups may have."""
        return max(1, min(BLOCK, MOST_WORDS // n_rows, -(-self.n // 64)))

    def _joined(self, parts: Sequence[Runs]) -> tuple[Runs, Ids]:
        """The runs of all columns, one after the other, and the row of these that each group has in each column."""
        start = [
            part.start[:-1] + before
            for part, before in zip(parts, _offsets([len(p.first) for p in parts]), strict=False)
        ]
        runs = Runs(
            np.append(np.concatenate(start), sum(len(part.first) for part in parts)),
            np.concatenate([part.first for part in parts]),
            np.concatenate([part.end for part in parts]),
        )
        return runs, self._codes + _offsets([len(part) for part in parts])[:-1]


def _offsets(lengths: Sequence[int]) -> Ids:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _encoded(release: TableRelease, name: str, atoms: Atoms, table: Table) -> NDArray[np.int32]:
    """The atom of each row; one more for what is outside the stated domain, which only an asterisk stands for."""
    if name not in table:
        raise DataError("no-column", f"The release has a column {name!r}, these rows do not.{closest(name, table)}")
    codes = atoms.encode(table[name])
    return np.where(codes < 0, np.int32(atoms.n), codes)
