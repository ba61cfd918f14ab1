# SPDX-License-Identifier: Apache-2.0
"""Counting the people of groups, and asking the requirement of them: the miner's own way, without the audit's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal._kernels.people import people_by_branch, people_by_value
from shoal.data.table import Column
from shoal.privacy import And, Requirement, needs_values, parts_of

Ids = NDArray[np.int64]


class Counter:
    """What every group must keep, and whose row each is.

    Parameters
    ----------
    requirement
        What every group must keep.
    sensitive
        The columns whose values the requirement is about.
    person
        Whose row each is, from 0 without gaps; None where every row is a person.
    """

    def __init__(self, requirement: Requirement, sensitive: Sequence[Column], person: Ids | None) -> None:
        self._parts = parts_of(requirement)
        self._sensitive = list(sensitive)
        self._person = person
        self._order = None if person is None else np.argsort(person, kind="stable")
        self._totals = [self._by_value(np.zeros(len(column), dtype=np.int64), 1, column)[0] for column in sensitive]

    def people(self, group: Ids, n: int) -> Ids:
        """How many different people each of n groups of rows has."""
        if self._order is None or self._person is None:
            return np.bincount(group, minlength=n)
        out: Ids = np.zeros((1, n), dtype=np.int64)
        starts, ends, all_groups = np.array([0]), np.array([len(group)]), np.arange(n)[None]
        people_by_branch(self._person[self._order], group[self._order], 1, all_groups, starts, ends, out)
        return np.asarray(out[0])

    def _by_value(self, group: Ids, n: int, column: Column) -> Ids:
        """The people of each of n groups by value; somebody with several counts with the one that most have."""
        if self._order is None or self._person is None:
            counts = np.bincount(group * column.n_codes + column.codes, minlength=n * column.n_codes)
            return counts.reshape(n, column.n_codes)
        out: Ids = np.zeros((1, n, column.n_codes), dtype=np.int64)
        starts, ends, all_groups = np.array([0]), np.array([len(group)]), np.arange(n)[None]
        codes = column.codes[self._order].astype(np.int64)
        people_by_value(self._person[self._order], group[self._order], 1, all_groups, codes, starts, ends, out)
        return np.asarray(out[0])

    def failing(self, group: Ids, exempt: NDArray[np.bool_]) -> int:
        """How many rows are in groups that do not keep the requirement, those of exempt rows aside."""
        _, example, group = np.unique(group, return_index=True, return_inverse=True)
        group, asked = group.reshape(-1), ~exempt[example]
        people = self.people(group, len(example))[:, None]
        keeps = np.ones(len(example), dtype=bool)
        for part in self._parts:
            if not needs_values(part):
                keeps &= And((part,)).holds(people)
                continue
            for column, totals in zip(self._sensitive, self._totals, strict=True):
                keeps &= And((part,)).holds(self._by_value(group, len(example), column), totals)
        return int((asked & ~keeps)[group].sum())


def numbered(columns: Sequence[NDArray[Any]], n_rows: int) -> Ids:
    """One number a row, from 0 without gaps: equal exactly where all columns are equal."""
    number, most = np.zeros(n_rows, dtype=np.int64), 1
    for column in columns:
        values = int(column.max()) + 1
        if most > 2**62 // values:  # it would not fit into 64 bits
            number = np.unique(number, return_inverse=True)[1].reshape(-1)
            most = n_rows
        number = number * values + column
        most *= values
    return np.unique(number, return_inverse=True)[1].reshape(-1)
