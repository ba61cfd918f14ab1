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
from shoal.audit.rules.parts import rows_with
from shoal.audit.rules.ruleset import Rule, Rules, counted
from shoal.audit.rules.spans import RuleSubject
from shoal.audit.rules.transactions import Transactions
from shoal.audit.subject import audit_subject
from shoal.data.table import Table
from shoal.errors import DataError
from shoal.privacy import Requirement
from shoal.release.rules import RulesRelease


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
        return _wrong(self.release, table, groups.person) + certain_rules(self.rules, table, frozenset(public), groups)


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
    return read_items(X, release.rows, () if person is None else (person,)).with_categories(release.categories)


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
    return audit_subject(
        ReleasedRuleSubject(release),
        transactions,
        public=release.public if public is None else public,
        privacy=release.requirement if privacy is None else privacy,
        sensitive=release.sensitive,
        person=person,
        declared=tuple(item.name for item in release.items),
    )


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
        f"{number} ({', '.join(rule.antecedent)} ⇒ {', '.join(rule.consequent)})"
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
