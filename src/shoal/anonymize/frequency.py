# SPDX-License-Identifier: Apache-2.0
"""Frequency sets: the different rows of a table with their counts, and which groups of them keep the requirement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal._kernels.frequency import roll_up
from shoal.anonymize.task import Task
from shoal.privacy import DistinctDiversity, KAnonymity, needs_values
from shoal.privacy.parts import parts_of

Map = NDArray[np.integer]
Ids = NDArray[np.int64]
Keys = NDArray[np.uint64]
Mask = NDArray[np.bool_]
WORD = 64


class Layout:
    """Where the code of each column stands in packed keys, given how many codes each has."""

    def __init__(self, n_codes: Sequence[int]) -> None:
        self.words, self.shifts = np.zeros(len(n_codes), dtype=np.int64), np.zeros(len(n_codes), dtype=np.uint64)
        word, used = 0, 0
        bits = [max(n - 1, 1).bit_length() for n in n_codes]
        for column, own in enumerate(bits):
            if used + own > WORD:
                word, used = word + 1, 0
            self.words[column], self.shifts[column] = word, used
            used += own
        self.n_words = word + 1
        self.masks = np.array([(1 << own) - 1 for own in bits], dtype=np.uint64)

    def pack(self, codes: Iterable[Map], n_rows: int) -> Keys:
        """The keys of rows (rows × words) from the codes of each column."""
        keys = np.zeros((n_rows, self.n_words), dtype=np.uint64)
        for column, own in enumerate(codes):
            keys[:, self.words[column]] |= own.astype(np.uint64) << self.shifts[column]
        return keys

    def unpack(self, keys: Keys, column: int) -> Ids:
        """The code of a column in each key."""
        codes: Keys = (keys[:, self.words[column]] >> self.shifts[column]) & self.masks[column]
        return codes.astype(np.int64)

    def keeping(self, columns: Iterable[int]) -> Keys:
        """Of each word the bits of some columns."""
        keep = np.zeros(self.n_words, dtype=np.uint64)
        for column in columns:
            keep[self.words[column]] |= self.masks[column] << self.shifts[column]
        return keep


@dataclass(frozen=True, eq=False)
class FrequencySet:
    """Groups of rows that are alike in their public columns, seen at some level of generality.

    Attributes
    ----------
    layout
        How keys are packed.
    keys
        What the rows of each group say (groups × words).
    counts
        How many rows each group has, then how many by value of each column that is counted by value.
    of_row
        The group of each row of the table; None where nobody will ask for it.
    """

    layout: Layout
    keys: Keys
    counts: Ids
    of_row: Ids | None

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def rows(self) -> Ids:
        """How many rows each group has."""
        rows: Ids = self.counts[:, 0]
        return rows

    def codes(self, column: int) -> Ids:
        """What the rows of each group say in a column."""
        return self.layout.unpack(self.keys, column)

    def roll_up(self, maps: Mapping[int, Map]) -> FrequencySet:
        """The groups after a map of the codes of some columns."""
        found = self.roll_up_to(maps, len(self))
        assert found is not None
        return found

    def roll_up_to(self, maps: Mapping[int, Map], most: int) -> FrequencySet | None:
        """The groups after a map of the codes of some columns; None if there are more than `most`."""
        layout = self.layout
        changed = list(maps)
        padded = np.zeros((len(changed), max((len(each) for each in maps.values()), default=1)), dtype=np.uint64)
        for j, each in enumerate(maps.values()):
            padded[j, : len(each)] = each
        keep = layout.keeping(column for column in range(len(layout.words)) if column not in maps)
        most = min(most, len(self))
        keys = np.empty((most, layout.n_words), dtype=np.uint64)
        counts = np.empty((most, self.counts.shape[1]), dtype=np.int64)
        group_of = np.empty(0 if self.of_row is None else len(self), dtype=np.int64)
        at = (layout.words[changed], layout.shifts[changed], layout.masks[changed])
        found = roll_up(self.keys, self.counts, keep, *at, padded, most, keys, counts, group_of)
        if found < 0:
            return None
        of_row = None if self.of_row is None else group_of[self.of_row]
        return FrequencySet(layout, keys[:found].copy(), counts[:found].copy(), of_row)


def frequencies(
    task: Task, maps: Mapping[str, Map], by_value: Sequence[str] = (), *, remember: bool = False
) -> FrequencySet:
    """The different rows of some public columns of a task, in the order of `maps`, each column's codes mapped.

    `by_value` names columns whose values are counted in each group. With `remember` the group of each row is known;
    that is always so where people have several rows, because only rows tell whose they are.
    """
    layout = Layout([int(each.max()) + 1 for each in maps.values()])
    counts = np.zeros((task.n_rows, 1 + sum(task.rows[name].n_codes for name in by_value)), dtype=np.int64)
    counts[:, 0] = 1
    first = 1
    for name in by_value:
        counts[np.arange(task.n_rows), first + task.rows[name].codes] = 1
        first += task.rows[name].n_codes
    own = np.arange(task.n_rows) if remember or task.whose is not None else None
    keys = layout.pack((each[task.rows[name].codes] for name, each in maps.items()), task.n_rows)
    return FrequencySet(layout, keys, counts, own).roll_up({})


class Judge:
    """Which groups of a frequency set fail, and are left out, and whether that is within the budget.

    Leaving rows out changes the table that `Closeness` compares groups with. So groups that fail are left out, then
    those that fail against what is left, until no more do.

    Attributes
    ----------
    by_value
        The columns that frequency sets must count by value.
    absorbing
        Whether a group that holds still holds when any other is merged into it, so that of a group that fails every
        part fails. Group sizes are so, and so is the number of different values, if everybody has one row.
    monotone
        Whether generalising rows that pass makes rows that pass.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        counted = task.whose is None and needs_values(task.requirement)
        self.by_value: tuple[str, ...] = task.sensitive if counted else ()
        whole = (KAnonymity,) if task.whose is not None else (KAnonymity, DistinctDiversity)
        self.absorbing = all(type(part) in whole for part in parts_of(task.requirement))
        self.monotone = self.absorbing or (task.budget == 0 and task.whose is None and task.requirement.monotone)
        self.most_groups = task.n_rows // task.least + task.budget

    def passes_by_size(self, found: FrequencySet) -> bool:
        """Whether groups with too few rows to keep the requirement, whatever it is, are within the budget."""
        rows = found.rows
        return int(rows[rows < self.task.least].sum()) <= self.task.budget

    def passes(self, found: FrequencySet) -> bool:
        """Whether the rows of groups that fail are within the budget."""
        if not self.passes_by_size(found):
            return False
        return self.task.sizes_decide or int(found.rows[self.fails(found)].sum()) <= self.task.budget

    def fails(self, found: FrequencySet) -> Mask:
        """The groups that fail."""
        if self.task.sizes_decide:
            return found.rows < self.task.least
        out = np.zeros(len(found), dtype=bool)
        while not out.all():
            keep = self._keep_values(found, ~out) if self.task.whose is None else self._keep_people(found, ~out)
            if keep.all():
                break
            out[np.flatnonzero(~out)[~keep]] = True
        return out

    def _keep_values(self, found: FrequencySet, inside: Mask) -> Mask:
        """Which of some groups hold, against the table that they make up."""
        keep, first = np.ones(int(inside.sum()), dtype=bool), 1
        for name in self.by_value:
            n_codes = self.task.rows[name].n_codes
            counts = found.counts[inside, first : first + n_codes]
            keep &= self.task.requirement.holds(counts, counts.sum(axis=0))
            first += n_codes
        return keep

    def _keep_people(self, found: FrequencySet, inside: Mask) -> Mask:
        assert found.of_row is not None
        number = np.where(inside, np.cumsum(inside) - 1, -1)
        return self.task.keeps(number[found.of_row], int(inside.sum()))
