# SPDX-License-Identifier: Apache-2.0
"""Frequent sets of items and the rules between them, as far as they name something private.

A set is extended item by item, and only the rows that have it are looked at (Eclat). Private items come first in the
order of items, so the sets that name one are exactly those that begin with one: the others, which are most, are never
made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.audit.rules import Transactions
from shoal.data.person import people_by_code
from shoal.errors import DataError
from shoal.release.rules import listed

Ids = NDArray[np.int64]
Items = frozenset[str]

MOST_SETS = 200_000
MOST_RULES = 1_000_000


@dataclass(frozen=True)
class Candidate:
    """A rule that was mined, with how many people have its sides."""

    antecedent: Items
    consequent: Items
    people: int
    antecedent_people: int
    consequent_people: int

    @property
    def both(self) -> Items:
        """The items of both sides."""
        return self.antecedent | self.consequent

    @property
    def confidence(self) -> float:
        """The share of those with the antecedent who have the consequent."""
        return self.people / self.antecedent_people

    def __str__(self) -> str:
        return f"{listed(sorted(self.antecedent))} ⇒ {listed(sorted(self.consequent))}"


class Counter:
    """How many people have all of some items, each set counted once."""

    def __init__(self, transactions: Transactions, person: Ids | None) -> None:
        self.transactions, self.person = transactions, person
        self.n_rows = transactions.n_rows
        self.n_people = self.n_rows if person is None else int(person.max()) + 1
        self._has: dict[str, NDArray[np.bool_]] = {}
        self.people: dict[Items, int] = {}

    def rows(self, items: Items) -> NDArray[np.bool_]:
        """Which rows have all of some items."""
        has = np.ones(self.n_rows, dtype=bool)
        for item in items:
            if item not in self._has:
                self._has[item] = np.zeros(self.n_rows, dtype=bool)
                self._has[item][self.transactions.rows_of(item)] = True
            has &= self._has[item]
        return has

    def __call__(self, items: Items) -> int:
        """How many people have all of some items."""
        if items not in self.people:
            rows = self.rows(items)
            n = rows.sum() if self.person is None else np.count_nonzero(np.bincount(self.person[rows]))
            self.people[items] = int(n)
        return self.people[items]


def mine(
    counter: Counter,
    public: Collection[str],
    least: int,
    min_confidence: float,
    *,
    public_rules: bool = False,
    without: Collection[str] = (),
) -> list[Candidate]:
    """All rules of at least so many people and so much confidence that name an item that is not public.

    With `public_rules` also those that do not; `without` are items that no rule may name.
    """
    found: list[Candidate] = []
    for items in list(_frequent(counter, frozenset(public), least, public_rules, frozenset(without))):
        found += rules_between(counter, items, min_confidence)
        if len(found) > MOST_RULES:
            raise _too_many(f"{MOST_RULES:,} rules")
    return found


def rules_between(counter: Counter, items: Items, min_confidence: float) -> Iterator[Candidate]:
    """The rules that have exactly these items on their two sides."""
    people = counter(items)
    for size in range(1, len(items)):
        for chosen in combinations(sorted(items), size):
            before = frozenset(chosen)
            if people >= min_confidence * counter(before):
                yield Candidate(before, items - before, people, counter(before), counter(items - before))


def _frequent(counter: Counter, public: Items, least: int, public_rules: bool, without: Items) -> Iterator[Items]:
    """The sets of two items and more that at least so many people have and that name a private item, or any."""
    names = sorted(frozenset(counter.transactions.item_names) - without, key=lambda name: (name in public, name))
    n_private = sum(name not in public for name in names)
    baskets = _Baskets.of(counter.transactions, names)
    n_sets = 0
    # private items first: a set that begins with a public one names nothing private
    stack: list[tuple[tuple[int, ...], Ids]] = [
        ((i,), counter.transactions.rows_of(names[i])) for i in range(len(names) if public_rules else n_private)
    ]
    while stack:
        numbers, rows = stack.pop()
        items = frozenset(names[i] for i in numbers)
        if len(numbers) == 1 and counter(items) < least:
            continue
        for item, people, having in baskets.extensions(rows, numbers[-1], least, counter.person):
            more = items | {names[item]}
            counter.people[more] = people
            n_sets += 1
            if n_sets > MOST_SETS:
                raise _too_many(f"{MOST_SETS:,} sets of items")
            stack.append(((*numbers, item), having))
            yield more


@dataclass(frozen=True)
class _Baskets:
    """The items of every row, one row after the other."""

    items: Ids
    starts: Ids
    n_items: int

    @classmethod
    def of(cls, transactions: Transactions, names: list[str]) -> _Baskets:
        rows = [transactions.rows_of(name) for name in names]
        row = np.concatenate([*rows, np.empty(0, np.int64)])
        items = np.repeat(np.arange(len(names)), list(map(len, rows)))
        order = np.argsort(row, kind="stable")
        starts = np.searchsorted(row[order], np.arange(transactions.n_rows + 1))
        return cls(items[order], starts, len(names))

    def extensions(self, rows: Ids, after: int, least: int, person: Ids | None) -> Iterator[tuple[int, int, Ids]]:
        """The later items that at least so many people of some rows have, how many, and their rows."""
        sizes = self.starts[rows + 1] - self.starts[rows]
        ends = np.cumsum(sizes)
        at = np.arange(ends[-1] if len(ends) else 0) + np.repeat(self.starts[rows] - ends + sizes, sizes)
        items, row = self.items[at], np.repeat(rows, sizes)
        people = people_by_code(items, self.n_items, None if person is None else person[row])
        frequent = np.flatnonzero(people >= least)
        for item in frequent[frequent > after].tolist():
            yield item, int(people[item]), row[items == item]


def _too_many(what: str) -> DataError:
    return DataError(
        "too-many-rules", f"More than {what} name something private. Raise min_support, or min_confidence."
    )
