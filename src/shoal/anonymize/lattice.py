# SPDX-License-Identifier: Apache-2.0
"""The lattice of full-domain generalisations, and its lowest nodes that pass, found as Incognito does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.frequency import FrequencySet, Judge, Map, frequencies
from shoal.anonymize.task import Task
from shoal.errors import DataError

Node = tuple[int, ...]  # the level of each of some columns
Mask = NDArray[np.bool_]

MOST_NODES = 1_000_000
# sets of one column more take several times as many looks as the last ones took; beyond that, look at what is left
DEARER = 8


class Lattice:
    """All choices of one level for each public column.

    Inside, columns are numbered from the one with the most values to that with the fewest: frequency sets shrink most
    when those are generalised first. A node of some of the columns stands for the node in which the others are ``*``,
    so all nodes are of one lattice.

    Attributes
    ----------
    names
        The columns, in the order of their numbers.
    levels
        For each column and level the group of each code of the column.
    shape
        How many levels each column has.
    lowest
        The lowest level that each column can have, as far as is known.
    looked_at
        How many nodes' groups were counted.
    """

    def __init__(self, task: Task) -> None:
        self.names = sorted(task.public, key=lambda name: -len(task.ladders[name].labels[0]))
        # groups of a level that no code has are passed over, so that a higher level never has more than a lower one
        self.levels = [[_without_gaps(each) for each in task.ladders[name].maps] for name in self.names]
        self.shape = tuple(len(maps) for maps in self.levels)
        if math.prod(self.shape) > MOST_NODES:
            raise DataError(
                "lattice-too-large",
                f"The levels of these columns make {math.prod(self.shape):,} generalisations, and Incognito looks at "
                f"up to {MOST_NODES:,}. Give fewer public columns or hierarchies with fewer levels, or use Mondrian.",
            )
        self._judge = Judge(task)
        self.lowest = [0] * len(self.shape)
        self._rows = frequencies(task, self.maps(self.lowest), self._judge.by_value)
        self.looked_at = 0

    def minimal(self) -> list[Node]:
        """The nodes that pass and have no other that passes below them.

        Columns are taken one by one, then two by two, and so on, and only those nodes of some columns are looked at
        that pass seen by fewer columns (a-priori); once few enough nodes of all columns are left, these.

        That is right for what is kept under generalisation (`Judge.monotone`): seen by fewer columns a node is a
        generalisation of itself. Otherwise group sizes alone decide about fewer columns: too small groups get no more
        under generalisation, and no node passes that they refuse.
        """
        everything = tuple(range(len(self.shape)))
        test = self._judge.passes if self._judge.monotone else self._judge.passes_by_size
        passing: dict[Node, Mask] = {}
        possible = np.ones(self.shape, dtype=bool)
        for size in range(1, len(self.shape)):
            before, fewer = self.looked_at, passing
            passing = {
                columns: self._search(columns, self._possible(columns, fewer), test)[1]
                for columns in combinations(everything, size)
            }
            if size == 1:
                self._start_from([int(np.argmax(passing[column,])) for column in everything])
            possible = self._possible(everything, passing)
            if possible.sum() <= DEARER * (self.looked_at - before):
                break
        return self._search(everything, possible, self._judge.passes)[0]

    def maps(self, node: Sequence[int]) -> dict[str, Map]:
        """Of each column the groups of codes at a node."""
        return {name: maps[level] for name, maps, level in zip(self.names, self.levels, node, strict=True)}

    def _possible(self, columns: Node, passing: Mapping[Node, Mask]) -> Mask:
        """The nodes of some columns that pass seen by fewer of them."""
        possible = np.ones([self.shape[column] for column in columns], dtype=bool)
        for fewer, mask in passing.items():
            if set(fewer) <= set(columns):
                possible &= mask.reshape([self.shape[column] if column in fewer else 1 for column in columns])
        return possible

    def _start_from(self, lowest: list[int]) -> None:
        """Forget what is below levels that no column can have."""
        self._rows = self._rows.roll_up({j: _step(maps, 0, lowest[j]) for j, maps in enumerate(self.levels)})
        self.lowest = lowest

    def _search(self, columns: Node, possible: Mask, test: Callable[[FrequencySet], bool]) -> tuple[list[Node], Mask]:
        """The lowest of the possible nodes that pass a test, and all that are at or above one of them.

        Nodes come in the order of their levels, first column first, so none before those below it.
        """
        minimal: list[Node] = []
        above = np.zeros_like(possible)
        walk = Walk(self, self._rows, columns)
        for levels in np.argwhere(possible).tolist():
            node = tuple(levels)
            if above[node]:
                continue
            found = walk.groups(node, self._judge.most_groups)
            self.looked_at += 1
            if found is not None and test(found):
                minimal.append(node)
                above[tuple(slice(level, None) for level in node)] = True
        return minimal, above


class Walk:
    """The groups of one node of some columns after the other.

    Each frequency set is rolled up by one column from that of the levels of the columns before it, which nodes share
    that come in the order of their levels.

    Parameters
    ----------
    rows
        The groups of all columns at the lattice's lowest levels.
    """

    def __init__(self, lattice: Lattice, rows: FrequencySet, columns: Node) -> None:
        self._levels, self._lowest, self._columns = lattice.levels, lattice.lowest, columns
        others = [column for column in range(len(lattice.shape)) if column not in columns]
        self._sets = [rows.roll_up({column: self._up(column, -1) for column in others})]
        self._at: list[int] = []  # the levels of the columns that were rolled up, one more in each set

    def groups(self, node: Node, most: int) -> FrequencySet | None:
        """The groups of a node; None if there are more than `most`."""
        shared = next((j for j, level in enumerate(self._at) if level != node[j]), len(self._at))
        del self._sets[shared + 1 :], self._at[shared:]
        for column, level in zip(self._columns[shared:-1], node[shared:-1], strict=True):
            below = self._sets[-1]
            same = level == self._lowest[column]
            self._sets.append(below if same else below.roll_up({column: self._up(column, level)}))
            self._at.append(level)
        last = {column: self._up(column, level) for column, level in zip(self._columns[-1:], node[-1:], strict=True)}
        return self._sets[-1].roll_up_to(last, most)

    def _up(self, column: int, level: int) -> Map:
        return _step(self._levels[column], self._lowest[column], level)


def _step(maps: Sequence[Map], low: int, high: int) -> Map:
    """For each group of a level of a column the group of a higher level that it is part of."""
    step = np.zeros(int(maps[low].max()) + 1, dtype=np.int64)
    step[maps[low]] = maps[high]
    return step


def _without_gaps(groups: Map) -> Map:
    return np.unique(groups, return_inverse=True)[1]
