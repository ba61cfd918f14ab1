# SPDX-License-Identifier: Apache-2.0
"""What of a set of rules an outsider can look up: the public parts of their sides.

Of a rule A ⇒ C the outsider can tell whether a person has the public items of A, and whether he has those of A and C.
These two answers fix what the person's private items can still do to the rule: nothing, decide whether A is met, or
decide both. So the answers for all rules are the person's span, in short: `docs/explanation/spans-of-rules.md` has the
proof. Where an answer cannot matter, because a private item of the side is declared never to be there, it is not asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.audit.groups import Ids, numbered
from shoal.audit.rules.ruleset import Rule, Rules, joint_states
from shoal.audit.rules.transactions import NO_YES
from shoal.data.table import Table

Flags = NDArray[np.bool_]
NAMED = 6  # items that a description of people names


@dataclass(frozen=True)
class Side:
    """A side of a rule that can be complete: the antecedent, or both sides together."""

    public: frozenset[str]
    free: frozenset[str]  # private items that may be there or not


class PublicParts:
    """The public parts of rules for one attacker.

    Parameters
    ----------
    rules
        The rules.
    public
        The items he knows of.
    declared
        Of some private items the only thing they can be: always there or never.
    """

    def __init__(self, rules: Rules, public: Collection[str], declared: Mapping[str, bool]) -> None:
        self.rules = rules
        sides = [_sides(rule, frozenset(public), declared) for rule in rules]
        self.sides_of_rule = sides
        self.telling = {side.public for of_rule in sides for side in of_rule if side.free}
        self.parts = sorted(
            {side.public for of_rule in sides for side in of_rule if side.public},
            key=lambda part: (len(part), sorted(part)),
        )

    @property
    def disjoint(self) -> bool:
        """Whether no joint state is in two different spans.

        It is so where of every rule A ⇒ C the antecedent is public, and the consequent is all public or all private:
        then a different answer means a different state. Otherwise False is said, though it may be so.
        """
        pairs = [(of_rule[0], of_rule[-1]) for of_rule in self.sides_of_rule if of_rule]
        return all(not first.free and (first.public == last.public or not last.free) for first, last in pairs)

    def of_rows(self, table: Table) -> tuple[Ids, Flags]:
        """A number for each row, equal exactly where spans are, and whether the span is more than a single bin."""
        n = table.n_rows
        told = np.packbits(np.full(n, frozenset() in self.telling))
        columns = [np.zeros(n, dtype=np.uint8) for _ in range(0, len(self.parts), 8)]
        for number, (part, complete) in enumerate(rows_with(table, self.parts)):
            columns[number // 8] |= np.unpackbits(complete, count=n) << np.uint8(number % 8)
            if part in self.telling:
                told |= complete
        return numbered(columns, n), np.unpackbits(told, count=n).astype(bool)

    def of_some(self, table: Table, rows: Ids) -> Flags:
        """For some rows, whether they have each of the parts (rows × parts)."""
        has = {item: _has(table, item)[rows] for item in frozenset[str]().union(*self.parts)}
        complete = [np.logical_and.reduce([has[item] for item in part]) for part in self.parts]
        return np.stack(complete, axis=1) if complete else np.zeros((len(rows), 0), dtype=bool)

    def known(self, complete: Flags) -> set[frozenset[str]]:
        """The parts that somebody has; the empty one is everybody's."""
        return {frozenset(), *(part for part, there in zip(self.parts, complete, strict=True) if there)}

    def n_bins(self, complete: Flags, most: int) -> int | None:
        """How many joint states the span of somebody with these parts has; None where there are more than `most`."""
        known = self.known(complete)
        open_sets = {side.free for of_rule in self.sides_of_rule for side in of_rule if side.public in known}
        states = joint_states(open_sets, frozenset[str]().union(*open_sets), most)
        return None if states is None else len(states)

    @property
    def n_rules(self) -> Ids:
        """For each part how many sides of rules it is the public part of."""
        sides = Counter(side.public for of_rule in self.sides_of_rule for side in of_rule)
        return np.array([sides[part] for part in self.parts], dtype=np.int64)

    def rules_between(self, one: Flags, other: Flags) -> list[int]:
        """The rules that tell people with some parts from people with others."""
        differ = {part for part, here, there in zip(self.parts, one, other, strict=True) if here != there}
        return [
            number
            for number, of_rule in enumerate(self.sides_of_rule)
            if any(side.public in differ for side in of_rule)
        ]

    def describe(self, complete: Flags) -> str:
        """In words who has exactly these of the parts: "have 'Cherries', not 'Birthday Candles'"."""
        there = frozenset[str]().union(*(part for part, known in zip(self.parts, complete, strict=True) if known))
        gaps = {part - there for part, known in zip(self.parts, complete, strict=True) if not known}
        gaps = {gap for gap in gaps if not any(other < gap for other in gaps)}  # the rest follows
        lacks = [_all_of(gap) for gap in sorted(gaps, key=lambda gap: (len(gap), sorted(gap)))]
        if len(lacks) > NAMED:
            lacks = [*lacks[:NAMED], f"{len(lacks) - NAMED} more"]
        has = _listed([repr(item) for item in sorted(there)])
        if not self.parts:
            return "are told apart by nothing: no rule names a public item"
        if not lacks:
            return f"have {has}"
        return f"have {has}, not {' or '.join(lacks)}" if there else f"do not have {' or '.join(lacks)}"


def rows_with(table: Table, sets: Collection[frozenset[str]]) -> Iterator[tuple[frozenset[str], NDArray[np.uint8]]]:
    """For each set of items the rows that have all of it, eight to a byte."""
    has = {item: np.packbits(_has(table, item)) for item in frozenset[str]().union(*sets)}
    everybody = np.packbits(np.ones(table.n_rows, dtype=bool))
    for items in sets:
        yield items, np.bitwise_and.reduce([everybody, *(has[item] for item in items)])


def _sides(rule: Rule, public: frozenset[str], declared: Mapping[str, bool]) -> tuple[Side, ...]:
    """The sides of a rule that somebody can have: the antecedent, and both together."""
    sides = []
    for items in (rule.antecedent, rule.both):
        private = items - public
        if all(declared.get(item, True) for item in private):
            sides.append(Side(items & public, frozenset(item for item in private if item not in declared)))
    return tuple(sides)


def _has(table: Table, item: str) -> Flags:
    """Who has an item; nobody has one that the table does not know."""
    if item not in table:
        return np.zeros(table.n_rows, dtype=bool)
    column = table[item]
    return np.array([name == NO_YES[1] for name in column.names])[column.codes]


def _all_of(items: frozenset[str]) -> str:
    return f"{'' if len(items) == 1 else 'all of '}{_listed([repr(item) for item in sorted(items)])}"


def _listed(words: Sequence[str]) -> str:
    if len(words) > NAMED:
        return f"{', '.join(words[:NAMED])} and {len(words) - NAMED} more"
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
