# SPDX-License-Identifier: Apache-2.0
"""How a public column generalises, level by level, from its finest values to ``*``; made where nobody said how."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.cells import ColumnMap
from shoal.data.hierarchy import MISSING, Hierarchy, Levels
from shoal.data.person import Ids, people_with
from shoal.data.table import Column

Map = NDArray[np.int32]
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)  # widths of made intervals, in units of the finest
FEWEST = 2  # intervals of the coarsest level that is made


@dataclass(frozen=True, eq=False)
class Ladder:
    """The levels of a public column, finest first, the last of them ``*``.

    Attributes
    ----------
    column
        The column.
    maps
        For each level the group of each code of the column (missing is a code of its own, the last). Groups of a level
        are numbered from 0; each is part of one group of the next level. The last level has one group.
    labels
        What the groups of each level are called.
    cuts
        Of a column of numbers the cut points of each level (None at a level of exact numbers); otherwise None.
    said
        How the levels were made, where no hierarchy was given; None where one was.
    """

    column: Column
    maps: tuple[Map, ...]
    labels: tuple[tuple[str, ...], ...]
    cuts: tuple[NDArray[np.float64] | None, ...] | None
    said: str | None = None

    def __len__(self) -> int:
        return len(self.maps)

    def at(self, level: int) -> ColumnMap:
        """The recoding of the column to one of the levels."""
        if self.cuts is None or level == len(self) - 1:
            return ColumnMap.of_groups(self.column, self.maps[level], self.labels[level])
        cuts = self.cuts[level]
        return ColumnMap.exact(self.column) if cuts is None else ColumnMap.of_cuts(self.column, cuts)

    def parents(self, level: int) -> Map:
        """For each group of a level the group of the next level that it is part of."""
        parent = np.zeros(len(self.labels[level]), dtype=np.int32)
        parent[self.maps[level]] = self.maps[level + 1]
        return parent


@dataclass(frozen=True, eq=False)
class ClassShares:
    """Of the people with each code of a column the share who have the first class of a target."""

    target: str
    share: NDArray[np.float64]

    @classmethod
    def of(cls, column: Column, classes: Column, people: int, whose: Ids | None) -> ClassShares:
        """The shares in some rows; what fewer than `people` have is taken for average, whatever they have.

        The order of shares is published with the groups that follow it, and a share of one person is his class.
        """
        first = column.take(classes.codes == 0).counts()
        rows = column.counts()
        enough = people_with(column, column.n_codes, whose) >= max(people, 1)
        average = first[enough].sum() / max(rows[enough].sum(), 1)
        return cls(classes.name, np.where(enough, first / np.maximum(rows, 1), average))


def ladder_of(column: Column, hierarchy: Hierarchy | None, classes: ClassShares | None) -> Ladder:
    """The levels of a column from its hierarchy; without one, round intervals of numbers, or what is said to be alike.

    Categories without a hierarchy are put in the order of the share of the target's first class among people who have
    them, and neighbours are joined two by two; without a target there is only the value itself and ``*``.
    """
    if hierarchy is not None:
        return _with_root(column, hierarchy.bind(column), None)
    if column.kind == "numeric":
        return _intervals(column)
    if classes is None or len(column.names) < 4:
        flat = Levels((np.arange(column.n_codes, dtype=np.int32),), (_values(column),))
        return _with_root(column, flat, "each value, or *")
    return _by_class(column, classes)


def _values(column: Column) -> tuple[str, ...]:
    return (*column.names, *[MISSING] * column.missing)


def _with_root(column: Column, levels: Levels, said: str | None) -> Ladder:
    maps, labels = list(levels.maps), list(levels.labels)
    cuts: list[NDArray[np.float64] | None] | None = None if levels.cuts is None else list(levels.cuts)
    if len(labels[-1]) > 1:
        maps.append(np.zeros(column.n_codes, dtype=np.int32))
        labels.append(("*",))
        if cuts is not None:
            cuts.append(np.empty(0))
    return Ladder(column, tuple(maps), tuple(labels), None if cuts is None else tuple(cuts), said)


def _intervals(column: Column) -> Ladder:
    """Exact numbers, then intervals of round widths, each a multiple of the one before, as long as there are two."""
    assert column.bounds is not None
    found = _widths(*column.bounds, whole=column.integer)
    exact = np.arange(column.n_codes, dtype=np.int32), tuple(f"{number:g}" for number in column.numbers)
    root = Levels((np.zeros(column.n_codes, dtype=np.int32),), (("*",),), (np.empty(0),))
    coarser = _with_root(column, Hierarchy.intervals(found).bind(column) if found else root, None)
    assert coarser.cuts is not None
    said = "exact numbers" + "".join(f", intervals of {width:g}" for width in found) + ", or *"
    return Ladder(
        column,
        (exact[0], *coarser.maps),
        ((*exact[1], *[MISSING] * column.missing), *coarser.labels),
        (None, *coarser.cuts),
        said,
    )


def _widths(low: float, high: float, *, whole: bool) -> list[float]:
    """Round widths, doubling from about a twentieth of a range, of whole numbers at least 2."""
    if high <= low:
        return []
    first = 10.0 ** np.floor(np.log10((high - low) / 20))
    width = next(float(f"{first * step:.1e}") for step in STEPS if first * step >= (high - low) / 20)
    width = max(width, 2.0) if whole else width
    found = []
    while (high - low) / width >= FEWEST:
        found.append(width)
        width *= 2
    return found


def _by_class(column: Column, classes: ClassShares) -> Ladder:
    """Values joined two by two with their neighbours, in the order of how often the first class goes with them."""
    n = len(column.names)
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(classes.share[:n], kind="stable")] = np.arange(n)
    maps: list[Map] = [np.arange(column.n_codes, dtype=np.int32)]
    labels: list[tuple[str, ...]] = [_values(column)]
    while len(labels[-1]) - column.missing > 2:
        rank = rank // 2
        groups = int(rank.max()) + 1
        members = [[column.names[i] for i in np.flatnonzero(rank == g)] for g in range(groups)]
        names = tuple(each[0] if len(each) == 1 else "{" + ", ".join(each) + "}" for each in members)
        maps.append(np.append(rank, [groups] * column.missing).astype(np.int32))
        labels.append((*names, *[MISSING] * column.missing))
    maps.append(np.zeros(column.n_codes, dtype=np.int32))
    labels.append(("*",))
    return Ladder(column, tuple(maps), tuple(labels), None, f"values that are alike in {classes.target!r}, two by two")
