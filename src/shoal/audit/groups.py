# SPDX-License-Identifier: Apache-2.0
"""Spans and groups: who cannot be told from whom, and how many people that is.

Whatever is audited gives every row a span. Rows with the same span are a group, and a group counts people: its rows,
or the different people behind them where a column says whose row each is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.person import check_person
from shoal.data.table import Codes, Column, count_codes

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Spans:
    """The span of every row.

    Attributes
    ----------
    of_row
        The number of each row's span; equal numbers, equal spans. Numbers have no gaps.
    n_bins
        For each span how many bins it holds, the target left aside. Where the number is not worked out: 1 where a
        single bin is proven, 2 for more.
    example
        For each span, one row that has it.
    disjoint
        Whether no bin is in two spans that somebody has.
    finer
        For each span whether it could not be worked out to the end, so that fewer people may have it here than in
        truth; None where that is so of none.
    """

    of_row: Ids
    n_bins: Ids
    example: Ids
    disjoint: bool
    finer: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.n_bins)

    def people_finer(self, person: Ids | None) -> int:
        """How many people have a span that could not be worked out to the end; `person` as in `Groups`."""
        if self.finer is None:
            return 0
        rows = self.finer[self.of_row]
        return int(rows.sum()) if person is None else len(np.unique(person[rows]))

    @classmethod
    def numbered(cls, keys: Ids, single: NDArray[np.bool_], *, disjoint: bool) -> Spans:
        """Spans from any numbers, equal for equal spans, and whether each row's span is a single bin."""
        _, example, of_row = np.unique(keys, return_index=True, return_inverse=True)
        return cls(of_row.reshape(-1), np.where(single[example], 1, 2), example, disjoint)


@dataclass(frozen=True)
class Groups:
    """The people who share a span, for every span that somebody has.

    Attributes
    ----------
    of_row
        The number of each row's group.
    people
        How many people each group has.
    n_bins
        How many bins each group's span holds; a span of one bin tells nothing private.
    example
        One row of each group.
    person
        Whose row each is, where people may have several; None where every row is a person.
    weights
        How many people each row stands for, where rows that say the same are held once; then nobody has several.
    """

    of_row: Ids
    people: Ids
    n_bins: Ids
    example: Ids
    person: Ids | None = None
    weights: Ids | None = None

    def __len__(self) -> int:
        return len(self.people)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.of_row) if self.weights is None else int(self.weights.sum())

    @property
    def n_people(self) -> int:
        """How many people there are; with several rows a person, one may be in several groups."""
        return self.n_rows if self.person is None else int(self.person.max()) + 1

    def people_in(self, chosen: NDArray[np.bool_]) -> int:
        """How many different people are in some of the groups."""
        if self.person is None:
            return int(self.people[chosen].sum())
        return int(np.count_nonzero(np.bincount(self.person[chosen[self.of_row]])))

    def by_value(self, column: Column) -> Ids:
        """How many people of each group have each value of a column (groups × codes).

        A person with several values in a group is counted once, with the one of them that most people of the group
        have: so a row adds up to the people of its group, and its largest number is how many have that value.
        """
        n_codes = column.n_codes
        key = self.of_row * n_codes + column.codes
        if self.person is not None:
            key = self._one_value_each(key, n_codes)
        return count_codes(key, len(self) * n_codes, self.weights).reshape(len(self), n_codes)

    def most_frequent(self, column: Column) -> Ids:
        """How many people of each group have its most frequent value of a column, without a table of all counts."""
        key = self.of_row * column.n_codes + column.codes
        if self.person is not None:
            key = self._one_value_each(key, column.n_codes)
        key, people = counted(key, self.weights)
        most = np.zeros(len(self), dtype=np.int64)
        np.maximum.at(most, key // column.n_codes, people)
        return most

    def totals(self, column: Column) -> Ids:
        """How many people of the whole table have each value of a column, each counted once as if in one group."""
        if self.person is None:
            return count_codes(column.codes, column.n_codes, self.weights)
        everybody = replace(self, of_row=np.zeros_like(self.of_row), people=np.array([self.n_people]))
        return np.asarray(everybody.by_value(column)[0])

    def _one_value_each(self, key: Ids, n_codes: int) -> Ids:
        assert self.person is not None
        n_people = self.n_people
        pairs = _distinct(key * n_people + self.person)  # a person once in each group and value
        key, person = pairs // n_people, pairs % n_people
        frequent = np.bincount(key)[key]
        order = np.lexsort((key, -frequent, person, key // n_codes))
        group = (key // n_codes)[order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = (group[1:] != group[:-1]) | (person[order][1:] != person[order][:-1])
        return np.asarray(key[order][first])


def count_people(of_row: Ids, n: int, person: Ids | None, weights: Ids | None = None) -> Ids:
    """How many different people each of `n` sets of rows has; `person` and `weights` as in `Groups`."""
    if person is None:
        return count_codes(of_row, n, weights)
    n_people = int(person.max()) + 1
    return np.bincount(_distinct(of_row * n_people + person) // n_people, minlength=n)


def counted(numbers: Ids, weights: Ids | None) -> tuple[Ids, Ids]:
    """Different numbers, ascending, and how often each is there, or how much it weighs."""
    found, of_number = np.unique(numbers, return_inverse=True)
    return found, count_codes(of_number.reshape(-1), len(found), weights)


def _distinct(numbers: Ids) -> Ids:
    """Different numbers, ascending; for many numbers sorting is several times faster than np.unique, which hashes."""
    ordered = np.sort(numbers)
    return np.asarray(ordered[np.append(np.ones(min(1, len(ordered)), dtype=bool), ordered[1:] != ordered[:-1])])


def group_people(
    spans: Spans, classes: Codes | None, n_classes: int, *, target_is_public: bool, person: Ids | None = None
) -> Groups:
    """Turn spans into groups over bins, which have a value of the target each.

    Where the target is private it can be any of its values; where it is public, the attacker sees which, so rows of
    one span with different classes are in different groups. Without a target, `n_classes` is 1.
    """
    if not target_is_public:
        people = count_people(spans.of_row, len(spans), person)
        return Groups(spans.of_row, people, spans.n_bins * n_classes, spans.example, person)
    assert classes is not None, "a public target is known"
    key = spans.of_row * n_classes + classes
    present, example, of_row = np.unique(key, return_index=True, return_inverse=True)
    of_row = of_row.reshape(-1)
    people = count_people(of_row, len(present), person)
    return Groups(of_row, people, spans.n_bins[present // n_classes], example, person)


def split_groups(groups: Groups, column: Column) -> Groups:
    """The groups, told further apart by a column that the attacker knows."""
    key = groups.of_row * column.n_codes + column.codes
    present, example, of_row = np.unique(key, return_index=True, return_inverse=True)
    of_row = of_row.reshape(-1)
    people = count_people(of_row, len(present), groups.person)
    return replace(
        groups, of_row=of_row, people=people, n_bins=groups.n_bins[present // column.n_codes], example=example
    )


def person_codes(column: Column) -> Ids:
    """Whose row each is, numbered without gaps; a row of nobody is refused."""
    check_person(column)
    return np.asarray(column.compact().codes, dtype=np.int64)


def numbered(columns: list[NDArray[Any]], n_rows: int) -> Ids:
    """One number a row, from 0 without gaps: equal exactly where all columns are equal."""
    key, size = np.zeros(n_rows, dtype=np.int64), 1
    for column in columns:
        radix = int(column.max()) + 1 if n_rows else 1
        if size * radix > 2**62:  # renumber before the key overflows
            key, size = _without_gaps(key)
        key = key * radix + column
        size *= radix
    return _without_gaps(key)[0]


def _without_gaps(key: Ids) -> tuple[Ids, int]:
    present, key = np.unique(key, return_inverse=True)
    return key.reshape(-1).astype(np.int64, copy=False), len(present)
