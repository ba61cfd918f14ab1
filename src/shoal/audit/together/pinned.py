# SPDX-License-Identifier: Apache-2.0
"""What the published counts of several releases pin down together.

A release tells, for blocks of people, how many have each value of a private column. Who is in which block follows from
public values. So an attacker knows the size of every cell (people who are in the same block of each release) and sums
over cells of how many of its people have a value. Everything else he must bound: here by Fréchet's bounds, applied to
every sum in turn until nothing changes (the "shuttle"). They are never narrower than what the counts really allow, so
whoever is pinned here is pinned.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shoal.audit.groups import Ids, numbered
from shoal.data.table import Column, Table

NOBODY = -1  # the block of people that a release does not tell of


@dataclass(frozen=True, eq=False)
class Told:
    """A private column whose values a release tells, block by block.

    Attributes
    ----------
    column
        Its name.
    coding
        Which of its values the release tells apart; empty where it is all of them.
    blocks
        The block of every row; `NOBODY` for rows that the release does not tell of.
    codes
        The value of every row. Only how many of a block have it is told.
    """

    column: str
    coding: bytes
    blocks: Ids
    codes: Ids

    @classmethod
    def of(cls, column: Column, codes: NDArray[Any], blocks: Ids) -> Told:
        """A column of the table and the codes that a release gives its values."""
        told = np.full(column.n_codes, -1, dtype=np.int64)
        told[column.codes] = codes
        present = told[told >= 0]
        if len(np.unique(present)) == len(present):
            return cls(column.name, b"", blocks, column.codes.astype(np.int64))
        return cls(column.name, told.tobytes(), blocks, codes.astype(np.int64))

    def spread(self, rows: NDArray[np.bool_]) -> Told:
        """The same of a larger table, of which these are some rows."""
        blocks = np.full(len(rows), NOBODY, dtype=np.int64)
        codes = np.zeros(len(rows), dtype=np.int64)
        blocks[rows], codes[rows] = self.blocks, self.codes
        return Told(self.column, self.coding, blocks, codes)


@runtime_checkable
class TellsCounts(Protocol):
    """A subject that publishes how many people of its bins have each value of a private column."""

    @property
    def n_people(self) -> int | None:
        """How many people it tells of; None where it does not say."""

    def told(self, table: Table, public: Collection[str]) -> list[Told]:
        """The private columns whose values the published counts tell."""


@dataclass(frozen=True, eq=False)
class Pinned:
    """What the counts of some releases tell for certain of one private column.

    Attributes
    ----------
    column
        The private column.
    releases
        The places of the releases that tell of it.
    rows
        The rows whose value is certain from all of them together and from none of them alone.
    alone
        How many people's value is certain from a single release already.
    """

    column: str
    releases: tuple[int, ...]
    rows: Ids
    alone: int

    @property
    def people(self) -> int:
        """How many people are pinned down by the releases together."""
        return len(self.rows)

    def to_json(self) -> dict[str, Any]:
        """Counts only."""
        return {"column": self.column, "releases": list(self.releases), "people": self.people, "alone": self.alone}


def pinned(tellings: Iterable[tuple[int, Told]]) -> tuple[Pinned, ...]:
    """What several releases, each with its number, pin down together, column by column."""
    by_column: dict[tuple[str, bytes], list[tuple[int, Told]]] = defaultdict(list)
    for number, told in tellings:
        by_column[told.column, told.coding].append((number, told))
    answer = []
    for (column, _), each in by_column.items():
        releases = tuple(dict.fromkeys(number for number, _ in each))  # the trees of one tell several times
        if len(releases) > 1:
            rows, alone = _pinned_rows([told for _, told in each])
            answer.append(Pinned(column, releases, rows, alone))
    return tuple(answer)


def _pinned_rows(told: Sequence[Told]) -> tuple[Ids, int]:
    """The rows that only all releases together pin down, and how many are pinned down by one alone."""
    codes = np.max([np.where(each.blocks >= 0, each.codes, 0) for each in told], axis=0)
    cells = Cells([each.blocks for each in told], codes)
    lower, _ = cells.bounds()
    sure = np.zeros(len(cells.people), dtype=bool)
    sure[cells.cell[lower == cells.people[cells.cell]]] = True
    alone = np.zeros(len(codes), dtype=bool)
    for each in told:
        alone |= _of_one_value(each.blocks, codes)
    seen = cells.of_row >= 0
    together = np.zeros(len(codes), dtype=bool)
    together[seen] = sure[cells.of_row[seen]]
    return np.flatnonzero(together & ~alone), int(alone.sum())


def _of_one_value(blocks: Ids, codes: Ids) -> NDArray[np.bool_]:
    """Rows whose block is all of one value."""
    n = int(blocks.max(initial=-1)) + 2
    low, high = np.full(n, np.iinfo(np.int64).max), np.full(n, -1)
    np.minimum.at(low, blocks, codes)  # the last entry takes the rows of no block
    np.maximum.at(high, blocks, codes)
    return np.asarray((low == high)[blocks] & (blocks >= 0))


class Cells:
    """People who are in the same block of every release, and how many of them may have each value.

    Parameters
    ----------
    blocks
        For each release the block of every row; `NOBODY` where it tells nothing of it.
    codes
        The value of every row.

    Attributes
    ----------
    of_row
        The cell of every row; −1 for rows that no release tells of.
    people
        How many people each cell has.
    cell, value
        The pairs of a cell and a value that no release alone rules out.

    Examples
    --------
    Of five people in one block of the first release two are ill, and so are two of the three people that are also in
    a block of the second. So the other two are well.

    >>> first, second = np.array([0, 0, 0, 0, 0]), np.array([0, 0, 0, 1, 1])
    >>> cells = Cells([first, second], np.array([1, 1, 0, 0, 0]))
    >>> lower, upper = cells.bounds()
    >>> list(zip(cells.cell.tolist(), cells.value.tolist(), lower.tolist(), upper.tolist()))
    [(0, 0, 1, 1), (0, 1, 2, 2), (1, 0, 2, 2)]
    """

    def __init__(self, blocks: Sequence[Ids], codes: Ids) -> None:
        seen = np.any([each >= 0 for each in blocks], axis=0)
        rows = np.flatnonzero(seen)
        self.of_row = np.full(len(codes), -1, dtype=np.int64)
        self.of_row[rows] = numbered([each[rows] + 1 for each in blocks], len(rows))
        self.people = np.bincount(self.of_row[rows])
        _, example = np.unique(self.of_row[rows], return_index=True)
        block_of_cell = [each[rows[example]] for each in blocks]
        self._n_codes = int(codes[rows].max(initial=0)) + 1
        # what each release tells: pairs of a block and a value, and their people
        told = [self._told(each[rows], codes[rows]) for each in blocks]
        self.cell, self.value = self._candidates(block_of_cell, [pairs for pairs, _ in told])
        self._sums: list[tuple[Ids, Ids]] = []  # of pairs: which sum each is in (−1: none), and what the sums are
        for block, (pairs, counts) in zip(block_of_cell, told, strict=True):
            self._sums.append((self._place(block[self.cell], self.value, pairs), counts))
        possible = np.all(
            [
                (block[self.cell] < 0) | (place >= 0)
                for block, (place, _) in zip(block_of_cell, self._sums, strict=True)
            ],
            axis=0,
        )
        self.cell, self.value = self.cell[possible], self.value[possible]
        self._sums = [(place[possible], counts) for place, counts in self._sums]
        self._sums.append((self.cell, self.people))

    def _told(self, blocks: Ids, codes: Ids) -> tuple[Ids, Ids]:
        inside = blocks >= 0
        pairs, counts = np.unique(blocks[inside] * self._n_codes + codes[inside], return_counts=True)
        return pairs, counts

    def _candidates(self, block_of_cell: Sequence[Ids], pairs: Sequence[Ids]) -> tuple[Ids, Ids]:
        """The values of each cell's block in the release that leaves it fewest."""
        n_values = np.full((len(block_of_cell), len(self.people)), np.iinfo(np.int64).max)
        for i, (block, told) in enumerate(zip(block_of_cell, pairs, strict=True)):
            n = np.bincount(told // self._n_codes, minlength=int(block.max(initial=0)) + 1)
            n_values[i, block >= 0] = n[block[block >= 0]]
        best = n_values.argmin(axis=0)
        cells, values = [], []
        for i, (block, told) in enumerate(zip(block_of_cell, pairs, strict=True)):
            mine = np.flatnonzero(best == i)
            first = np.searchsorted(told, block[mine] * self._n_codes)
            lengths = n_values[i, mine]
            steps = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            cells.append(np.repeat(mine, lengths))
            values.append(told[np.repeat(first, lengths) + steps] % self._n_codes)
        order = np.argsort(np.concatenate(cells), kind="stable")
        return np.concatenate(cells)[order], np.concatenate(values)[order]

    def _place(self, block: Ids, value: Ids, pairs: Ids) -> Ids:
        if not len(pairs):
            return np.full(len(block), -1, dtype=np.int64)
        key = block * self._n_codes + value
        place = np.minimum(np.searchsorted(pairs, key), len(pairs) - 1)
        return np.where((block >= 0) & (pairs[place] == key), place, -1)

    def bounds(self) -> tuple[Ids, Ids]:
        """The fewest and the most people of each pair's cell that can have its value.

        What is left of a sum once all its other parts are as large, or as small, as they can be bounds each part.
        """
        lower, upper = np.zeros(len(self.cell), dtype=np.int64), self.people[self.cell].copy()
        while True:
            before = int(lower.sum()), int(upper.sum())
            for place, counts in self._sums:
                inside = place >= 0
                own, low, high = place[inside], lower[inside], upper[inside]
                least = np.bincount(own, low, minlength=len(counts)).astype(np.int64)
                most = np.bincount(own, high, minlength=len(counts)).astype(np.int64)
                upper[inside] = np.minimum(high, counts[own] - (least[own] - low))
                lower[inside] = np.maximum(low, counts[own] - (most[own] - high))
            if (int(lower.sum()), int(upper.sum())) == before:
                return lower, upper
