# SPDX-License-Identifier: Apache-2.0
"""The lattice of full-domain generalisations, and its lowest nodes that pass, found as Incognito does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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
        self._lowest = [0] * len(self.shape)  # the level of each column in `_rows`
        self._rows = frequencies(task, self.maps((0,) * len(self.shape)), self._judge.by_value)
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

    def maps(self, node: Node) -> dict[str, Map]:
        """Of each column the groups of codes at a node."""
        return {name: maps[level] for name, maps, level in zip(self.names, self.levels, node, strict=True)}

    def steps(self, node: Node) -> dict[int, Map]:
        """Of each column, by number, the groups at a node that the groups of its finest level become."""
        return {column: self._step(column, 0, level) for column, level in enumerate(node)}

    def _possible(self, columns: Node, passing: Mapping[Node, Mask]) -> Mask:
        """The nodes of some columns that pass seen by fewer of them."""
        possible = np.ones([self.shape[column] for column in columns], dtype=bool)
        for fewer, mask in passing.items():
            if set(fewer) <= set(columns):
                possible &= mask.reshape([self.shape[column] if column in fewer else 1 for column in columns])
        return possible

    def _start_from(self, lowest: list[int]) -> None:
        """Forget what is below levels that no column can have."""
        self._rows = self._rows.roll_up(self.steps(tuple(lowest)))
        self._lowest = lowest

    def _search(self, columns: Node, possible: Mask, test: Callable[[FrequencySet], bool]) -> tuple[list[Node], Mask]:
        """The lowest of the possible nodes that pass a test, and all that are at or above one of them.

        Nodes come in the order of their levels, first column first, so none before those below it. Each frequency set
        is rolled up by one column from that of the levels of the columns before, which many nodes share.
        """
        minimal: list[Node] = []
        above = np.zeros_like(possible)
        sets: list[FrequencySet] = []  # sets[j] has columns before the j-th at the levels of `at`
        at: list[int] = []
        for levels in np.argwhere(possible).tolist():
            node = tuple(levels)
            if above[node]:
                continue
            if not sets:
                sets.append(self._of_columns(columns))
            shared = next((j for j, level in enumerate(at) if level != node[j]), len(at))
            del sets[shared + 1 :], at[shared:]
            for column, level in zip(columns[shared:-1], node[shared:-1], strict=True):
                lower = sets[-1]
                sets.append(lower if level == self._lowest[column] else lower.roll_up(self._up(column, level)))
                at.append(level)
            last = self._up(columns[-1], node[-1]) if columns else {}
            found = sets[-1].roll_up_to(last, self._judge.most_groups)
            self.looked_at += 1
            if found is not None and test(found):
                minimal.append(node)
                above[tuple(slice(level, None) for level in node)] = True
        return minimal, above

    def _of_columns(self, columns: Node) -> FrequencySet:
        """The lowest groups of some columns."""
        others = [column for column in range(len(self.shape)) if column not in columns]
        return self._rows.roll_up({column: self._up(column, self.shape[column] - 1)[column] for column in others})

    def _up(self, column: int, level: int) -> dict[int, Map]:
        return {column: self._step(column, self._lowest[column], level)}

    def _step(self, column: int, low: int, high: int) -> Map:
        """For each group of a level of a column the group of a higher level that it is part of."""
        maps = self.levels[column]
        step = np.zeros(int(maps[low].max()) + 1, dtype=np.int64)
        step[maps[low]] = maps[high]
        return step


def _without_gaps(groups: Map) -> Map:
    return np.unique(groups, return_inverse=True)[1]
