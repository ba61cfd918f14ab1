# SPDX-License-Identifier: Apache-2.0
"""The audit of released rules: their groups, and their counts of people held against the transactions."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import Any

import numpy as np

from shoal.audit.groups import Groups, Ids
from shoal.audit.result import SHOWN, Audit, Finding
from shoal.audit.rules.cells import read_items
from shoal.audit.rules.figures import Share
from shoal.audit.rules.findings import certain_rules
from shoal.audit.rules.parts import PublicParts, rows_with
from shoal.audit.rules.ruleset import Rule, Rules, counted
from shoal.audit.rules.spans import RuleSubject
from shoal.audit.rules.transactions import Transactions
from shoal.audit.subject import audit_subject
from shoal.data.table import Table
from shoal.errors import DataError, RoleError, closest
from shoal.privacy import Requirement
from shoal.release.rules import RulesRelease, listed


class ReleasedRuleSubject(RuleSubject):
    """Rules that Shoal released; what they count is compared with the transactions exactly, in people."""

    def __init__(self, release: RulesRelease) -> None:
        super().__init__(rules_of(release), {})
        self.release = release
        self.sha256 = release.sha256

    def findings(
        self, table: Table, public: Collection[str], groups: Groups, requirement: Requirement
    ) -> list[Finding]:
        """Counts that are not those of the people, and private items that are certain."""
        wrong = _wrong(self.release, table, groups.person)
        certain = certain_rules(self.rules, table, frozenset(public), groups)
        return wrong + certain + _public_rules(self.rules, frozenset(public))

    def parts(self, public: Collection[str]) -> PublicParts:
        """The public parts of the rules that name something private: what the others tell is known beforehand."""
        told = Rules(rule for rule in self.rules if not rule.both <= set(public))
        return PublicParts(told, public, self.declared)


def rules_of(release: RulesRelease) -> Rules:
    """The rules of a release with their numbers as shares, as any other rules."""
    return Rules(
        Rule(
            frozenset(rule.antecedent),
            frozenset(rule.consequent),
            _exactly(rule.people, release.n_people),
            _exactly(rule.people, rule.antecedent_people),
        )
        for rule in release.rules
    )


def transactions_of(release: RulesRelease, X: Any, person: str | None) -> Transactions:
    """The transactions as the release sees them, with its categories."""
    if X is None:
        raise DataError("rows-needed", "Auditing rules needs the transactions they were mined from.")
    also = () if person is None else (person,)
    return read_items(X, release.rows, also, release.cuts).with_categories(release.categories)


def audit_rules(
    release: RulesRelease,
    X: Any,
    y: Any = None,
    *,
    public: Collection[str] | None = None,
    privacy: Requirement | int | None = None,
    person: str | None = None,
) -> Audit:
    """Recount the groups of released rules from the transactions. The parameters are those of `audit`."""
    if y is not None:
        raise DataError("no-target", "Association rules have no target: leave out y.")
    if person is None and release.several_rows:
        raise DataError(
            "person-needed",
            "This release counts different people, who have several rows. Name the column that tells them apart "
            "(person=, or --person on the command line).",
        )
    transactions = transactions_of(release, X, person)
    if release.rows == "table":
        there = {*transactions.item_names, *transactions.column_of.values(), *release.kinds}
        for name in () if public is None or isinstance(public, str) else public:
            if name not in there:
                raise RoleError("roles", f"There is no column {name!r} to be public.{closest(name, there)}")
    return audit_subject(
        ReleasedRuleSubject(release),
        transactions,
        public=release.public if public is None else public_items(release, public),
        privacy=release.requirement if privacy is None else privacy,
        sensitive=release.sensitive,
        person=person,
        declared=tuple(item.name for item in release.items),
    )


def public_items(release: RulesRelease, public: Collection[str]) -> tuple[str, ...]:
    """The items that an attacker knows who knows some items, or columns of a table: of a category all members."""
    if isinstance(public, str):
        raise RoleError("roles", f"public must be a list of names; got one string. Try [{public!r}].")
    if release.rows == "table":
        return tuple(item.name for item in release.items if item.column in public or item.name in public)
    known = set(public)
    for item in release.items:
        if item.members and known.isdisjoint(item.members):
            known.discard(item.name)
        elif known.issuperset(item.members):
            known |= {item.name} if item.members else set()
        elif item.members:
            raise RoleError(
                "roles",
                f"Rules name {item.name!r}, of which some are public and some private here: such a category cannot be "
                "audited. Name all of its members, or none.",
            )
    return tuple(sorted(known))


def _public_rules(rules: Rules, public: frozenset[str]) -> list[Finding]:
    n = sum(rule.both <= public for rule in rules)
    if not n:
        return []
    return [
        Finding(
            "public-rules",
            "note",
            f"{counted(n, 'rule')} {'names' if n == 1 else 'name'} public items only: what anybody can count who knows "
            "these items, and nothing private. Groups are those of the others.",
        )
    ]


def _exactly(part: int, whole: int) -> Share:
    share = Fraction(part, whole)
    return Share(share, share)


def _wrong(release: RulesRelease, table: Table, person: Ids | None) -> list[Finding]:
    sides = [(frozenset(rule.antecedent), frozenset(rule.antecedent + rule.consequent)) for rule in release.rules]
    have = {}
    for items, packed in rows_with(table, {items for pair in sides for items in pair}):
        rows = np.flatnonzero(np.unpackbits(packed, count=table.n_rows))
        have[items] = len(rows) if person is None else len(np.unique(person[rows]))
    wrong = [
        f"{number} ({listed(rule.antecedent)} ⇒ {listed(rule.consequent)})"
        for number, (rule, (before, both)) in enumerate(zip(release.rules, sides, strict=True), start=1)
        if (have[before], have[both]) != (rule.antecedent_people, rule.people)
    ]
    n_people = table.n_rows if person is None else int(person.max()) + 1
    found = []
    if wrong:
        more = " …" if len(wrong) > SHOWN else ""
        found.append(
            f"The counts of {counted(len(wrong), 'rule')} are not those of the transactions: "
            f"rule {', '.join(wrong[:SHOWN])}{more}"
        )
    if n_people != release.n_people:
        found.append(f"The release is about {release.n_people:,} people; here are {n_people:,}")
    return [
        Finding("counts-differ", "breach", f"{text}. Check that these are the transactions it was mined from.")
        for text in found
    ]
