# SPDX-License-Identifier: Apache-2.0
"""What a table anonymiser is given: rows with their domain settled, roles, hierarchies, and what groups must keep."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.ladder import ClassShares, Ladder, ladder_of
from shoal.data.counted import Counted
from shoal.data.domain import Domain, check_sensitive, declare_column, without_rows
from shoal.data.frames import to_table
from shoal.data.grouped import coarser
from shoal.data.hierarchy import Hierarchy, load_hierarchies
from shoal.data.person import Ids, people_by_code, whose_rows
from shoal.data.roles import Roles
from shoal.data.table import Column, Columns, Table, count_codes
from shoal.data.target import as_categorical, name_of, with_target
from shoal.errors import DataError, PromiseError, RequirementError, RoleError, closest
from shoal.privacy import Requirement, as_requirement, least_people, needs_values, people_behind
from shoal.trees.people import by_value

Groups = NDArray[np.int64]  # the number of each row's group
Rows = TypeVar("Rows", bound=Columns)  # rows that are here, or `Counted` ones that are elsewhere


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


def make_task(
    X: Any,
    y: Any,
    *,
    privacy: Requirement | int,
    public: Sequence[str] | None,
    sensitive: Sequence[str],
    domain: Domain | None,
    person: str | None,
    hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None,
    suppress: float = 0.0,
) -> tuple[Task, Table]:
    """The task of some rows as a user gives them, and the rows as they were read (with the target and the person)."""
    requirement = as_requirement(privacy)
    table = to_table(X)
    target = None if y is None else y if isinstance(y, str) else name_of(y)
    if target is not None and not isinstance(y, str) and target in table:
        raise DataError(
            "target-twice", f"X has a column {target!r} too. Drop it from X, or give y={target!r} to use that one."
        )
    given = with_target(table, y, target) if target is not None else table
    order = [*table.names, *([target] if target is not None and target not in table else [])]
    if person is not None and person not in table:
        raise DataError("no-column", f"person: no column {person!r}.{closest(person, table)}")
    given = given.select(order)
    settled = settle(
        given,
        target,
        privacy=requirement,
        public=public,
        sensitive=sensitive,
        domain=domain,
        person=person,
        hierarchies=hierarchies,
    )
    budget = _budget(suppress, given)
    task = settled.task(settled.rows, settled.hierarchies, budget)
    return task, settled.given


@dataclass(frozen=True, eq=False)
class Settled(Generic[Rows]):
    """The columns of a task, with their domains settled; their rows may be elsewhere.

    Attributes
    ----------
    given
        The columns as they were read, but for numbers that a hierarchy lists.
    rows
        The columns to be published, with their domains.
    """

    given: Rows
    rows: Rows
    split: _Split
    target: str | None
    requirement: Requirement
    hierarchies: Mapping[str, Hierarchy]
    whose: Ids | None
    stated: frozenset[str]

    def task(self, rows: Table, hierarchies: Mapping[str, Hierarchy], budget: int = 0) -> Task:
        """The task over some rows, if it can be done."""
        task = Task(
            rows,
            self.split.public,
            self.split.private,
            self.target,
            self.split.sensitive,
            self.requirement,
            hierarchies,
            self.whose,
            budget,
            self.stated,
        )
        task.check_possible()
        return task


def settle(
    given: Rows,
    target: str | None,
    *,
    privacy: Requirement | int,
    public: Sequence[str] | None,
    sensitive: Sequence[str],
    domain: Domain | None,
    person: str | None,
    hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None,
) -> Settled[Rows]:
    """The roles and domains of some columns, the target among them."""
    requirement = as_requirement(privacy)
    names = [name for name in given if name != person]
    roles = _roles(names, target, public, sensitive)
    found = load_hierarchies(hierarchies, names)
    whose = None if person is None else whose_rows(given[person])
    given = given.like(_as_listed(column, found.get(column.name)) for column in given.values())
    declared = {} if domain is None else dict(domain)
    for name in declared:
        if name not in given:
            raise DataError("no-column", f"domain: no column {name!r}.{closest(name, given)}")
    behind = people_behind(requirement)
    columns = []
    stated = frozenset(name for name in names if name in declared or (name in found and found[name].values))
    for name in names:
        listed = found[name].values if name in found else None
        # a table names its target's values anyway, and public values are known to the attacker
        people = behind if name in roles.private and name != target else 0
        columns.append(declare_column(given[name], declared.get(name, listed), people, whose))
    rows = given.like(columns)
    if target is not None:
        _check_target(rows[target])
    asked = tuple(dict.fromkeys([*([target] if target is not None else []), *roles.sensitive]))
    if needs_values(requirement):
        if not asked:
            raise RequirementError(
                "nothing-sensitive",
                "A requirement about private values needs a private target or a private column named as sensitive.",
            )
        for name in asked:
            check_sensitive(rows[name])
    return Settled(given, rows, replace(roles, sensitive=asked), target, requirement, found, whose, stated)


def task_elsewhere(settled: Settled[Counted], grouped: Callable[[Counted], Table]) -> Task:
    """The task of rows that are elsewhere, over their different rows, which `grouped` knows for any coding of them.

    Of numbers with a hierarchy only the intervals of its finest level are told apart, as no method looks further.
    """
    columns, hierarchies = dict(settled.rows), dict(settled.hierarchies)
    for name in settled.split.public:
        if name in hierarchies and hierarchies[name].numeric:
            levels = hierarchies[name].bind(columns[name])
            assert levels.cuts is not None
            if len(levels.cuts[0]):
                hierarchies[name] = Hierarchy.cuts([cuts.tolist() for cuts in levels.cuts])
                columns[name] = coarser(columns[name], levels.maps[0])
    return settled.task(grouped(settled.rows.like(columns.values())), hierarchies)


@dataclass(frozen=True)
class _Split:
    public: tuple[str, ...]
    private: tuple[str, ...]
    sensitive: tuple[str, ...]


def _roles(names: Sequence[str], target: str | None, public: Sequence[str] | None, sensitive: Iterable[str]) -> _Split:
    """Which columns are generalised and which are published exactly; the target is always of the latter."""
    if target is not None:
        found = Roles.resolve(names, target=target, public=public, sensitive=sensitive)
        private = tuple(name for name in names if name in found.private or name == target)
        return _Split(found.public, private, found.sensitive)
    if isinstance(public, str):
        raise RoleError("roles", f"Roles: public must be a list of column names; got one string. Try [{public!r}].")
    known = tuple(names) if public is None else tuple(public)
    twice = len(set(known)) < len(known)
    for name in (*known, *sensitive):
        if name not in names:
            raise RoleError("roles", f"Roles: no column {name!r}.{closest(name, names)}")
        if twice and known.count(name) > 1:
            raise RoleError("roles", f"Roles: column {name!r} is named twice as public.")
    for name in sensitive:
        if name in known:
            raise RoleError("roles", f"Roles: column {name!r} is named as sensitive but is not private.")
    private = tuple(name for name in names if name not in known)
    return _Split(tuple(name for name in names if name in known), private, tuple(sensitive))


def _as_listed(column: Column, hierarchy: Hierarchy | None) -> Column:
    """A column of numbers whose hierarchy lists its values is read as the values that are listed."""
    return as_categorical(column) if hierarchy is not None and not hierarchy.numeric else column


def _check_target(target: Column) -> None:
    if target.missing:
        n = target.n_missing
        raise DataError("target-missing", f"The target {target.name!r} is missing in {n} row(s). Remove them first.")


def _budget(suppress: float, rows: Table) -> int:
    """How many rows a share of them is."""
    if isinstance(suppress, bool) or not isinstance(suppress, (int, float)) or not 0 <= suppress < 1:
        raise RequirementError(
            "suppress", f"suppress must be a share of the rows, from 0 to below 1, such as 0.05; got {suppress!r}."
        )
    return math.floor(suppress * rows.n_rows + 1e-9)
