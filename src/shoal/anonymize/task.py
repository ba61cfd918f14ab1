# SPDX-License-Identifier: Apache-2.0
"""What a table anonymiser is given: rows with their domain settled, roles, hierarchies, and what groups must keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.ladder import ClassShares, Ladder, ladder_of
from shoal.data.domain import without_rows
from shoal.data.hierarchy import Hierarchy
from shoal.data.person import Ids, people_by_code
from shoal.data.table import Column, Table, count_codes
from shoal.errors import DataError, PromiseError
from shoal.privacy import Requirement, least_people, needs_values, people_behind
from shoal.trees.people import by_value

Groups = NDArray[np.int64]  # the number of each row's group


@dataclass(frozen=True, eq=False)
class Task:
    """A table to be anonymised.

    Attributes
    ----------
    rows
        What will be published of the rows, each column with its domain settled, in the order of columns that they came
        in. A target that was given beside them is last.
    public, private
        The columns to generalise, and those that are published exactly (the target is one of them).
    target
        The column that a model would predict, or None.
    sensitive
        Private columns that a requirement about values is about, the target among them.
    requirement
        What every published group must keep.
    hierarchies
        Those that the user gave. `ladder` makes one where there is none.
    whose
        Whose row each is, where people have several; otherwise None.
    budget
        How many rows may be left out.
    declared
        Columns whose domain the user stated.
    """

    rows: Table
    public: tuple[str, ...]
    private: tuple[str, ...]
    target: str | None
    sensitive: tuple[str, ...]
    requirement: Requirement
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    whose: Ids | None = None
    budget: int = 0
    declared: frozenset[str] = frozenset()

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.rows.n_rows

    @property
    def weights(self) -> Ids | None:
        """How many people each row stands for, where rows that say the same are held once; None: one each."""
        return self.rows.weights

    @cached_property
    def n_people(self) -> int:
        """How many people there are."""
        return self.rows.n_people if self.whose is None else int(self.whose.max()) + 1

    @property
    def least(self) -> int:
        """People that any group has that keeps the requirement."""
        return least_people(self.requirement)

    @property
    def sizes_decide(self) -> bool:
        """Whether a group keeps the requirement exactly when it has `least` rows: nothing but rows need be counted."""
        return not needs_values(self.requirement) and self.whose is None

    @property
    def classes(self) -> Column:
        """The target's column; methods that learn need one."""
        if self.target is None:
            raise DataError(
                "no-target",
                "This method generalises for learning a target, but the target y is None. "
                "Give its values, or the name of its column in X.",
            )
        return self.rows[self.target]

    @cached_property
    def ladders(self) -> dict[str, Ladder]:
        """How each public column generalises, level by level; made where the user gave no hierarchy."""
        return {name: self.ladder(name) for name in self.public}

    def ladder(self, name: str) -> Ladder:
        """How one public column generalises."""
        return ladder_of(self.rows[name], self.hierarchies.get(name), self.class_shares(name))

    def class_shares(self, name: str) -> ClassShares | None:
        """How often the target's first class goes with each value of a column; None where there is no target."""
        if self.target is None:
            return None
        return ClassShares.of(self.rows[name], self.classes, people_behind(self.requirement), self.whose)

    def keeps(self, group: Groups, n_groups: int) -> NDArray[np.bool_]:
        """Whether each group of rows keeps the requirement; an empty one does.

        `group` holds the number of each row's group, from 0; rows with a negative number are in none.
        """
        inside = None if len(group) == 0 or group.min() >= 0 else group >= 0
        own = group if inside is None else group[inside]
        whose = self.whose if inside is None or self.whose is None else self.whose[inside]
        weights = self.weights if inside is None or self.weights is None else self.weights[inside]
        if not needs_values(self.requirement):
            people = people_by_code(own, n_groups, whose, weights)
            return self.requirement.holds(people[:, None])
        kept = np.ones(n_groups, dtype=bool)
        for name in self.sensitive:
            column = self.rows[name]
            codes = column.codes if inside is None else column.codes[inside]
            # rows that are left out are no part of the table that a group is held against
            total = self.totals[name] if inside is None else _total(codes, column.n_codes, whose, weights)
            counts = count_values(own, n_groups, codes, column.n_codes, whose, weights)
            kept &= self.requirement.holds(counts, total)
        return kept

    @cached_property
    def totals(self) -> dict[str, NDArray[np.int64]]:
        """Of each sensitive column how many people have each value in the whole table."""
        columns = [self.rows[name] for name in self.sensitive]
        return {each.name: _total(each.codes, each.n_codes, self.whose, each.weights) for each in columns}

    def published(self, name: str, left_out: NDArray[np.bool_] | None) -> Column:
        """A private column as it is published: a domain that nobody stated tells nothing of rows that are left out."""
        if left_out is None or name in self.declared:
            return self.rows[name]
        return without_rows(self.rows[name], left_out, people_behind(self.requirement), self.whose)

    def check_possible(self) -> None:
        """Refuse a requirement that not even one group of everybody keeps."""
        people = self.n_people
        if people < self.least:
            raise PromiseError(
                "table-too-small",
                f"The requirement needs groups of at least {self.least:,} people but the table has {people:,} "
                f"(n_samples={self.rows.n_people}). Use more people or a smaller k.",
            )
        if not self.keeps(np.zeros(self.n_rows, dtype=np.int64), 1)[0]:
            raise PromiseError(
                "impossible",
                f"Not even a table in which everybody is one group keeps the requirement on these {people:,} people "
                f"({self.requirement.describe()}). Ask for less.",
            )


def count_values(
    group: Groups, n_groups: int, codes: NDArray[Any], n_codes: int, whose: Ids | None, weights: Ids | None
) -> Groups:
    """People of each group by value (groups × values); with several rows each, a person counts once in a group.

    `weights` says how many people each row stands for, where that is not one.
    """
    if whose is not None:
        return by_value(group, n_groups, whose, codes, n_codes)
    key = group.astype(np.int64) * n_codes + codes
    return count_codes(key, n_groups * n_codes, weights).reshape(n_groups, n_codes)


def _total(codes: NDArray[Any], n_codes: int, whose: Ids | None, weights: Ids | None) -> NDArray[np.int64]:
    return count_values(np.zeros(len(codes), dtype=np.int64), 1, codes, n_codes, whose, weights).reshape(n_codes)
