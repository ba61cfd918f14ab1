# SPDX-License-Identifier: Apache-2.0
"""From columns as a user gives them to a task: roles, hierarchies and domains are settled, and all is checked."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from shoal.anonymize.task import Task
from shoal.data.counted import Counted
from shoal.data.domain import Domain, check_sensitive, declare_column
from shoal.data.frames import to_table
from shoal.data.grouped import coarser
from shoal.data.hierarchy import Hierarchy, load_hierarchies
from shoal.data.person import Ids, whose_rows
from shoal.data.roles import Roles
from shoal.data.table import Column, Columns, Table
from shoal.data.target import as_categorical, name_of, with_target
from shoal.errors import DataError, RequirementError, RoleError, closest
from shoal.privacy import Requirement, as_requirement, needs_values, people_behind

Rows = TypeVar("Rows", bound=Columns)  # rows that are here, or `Counted` ones that are elsewhere


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
