# SPDX-License-Identifier: Apache-2.0
"""What the numbers of rules tell, held against the transactions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from shoal.audit.groups import Groups
from shoal.audit.result import SHOWN, Finding
from shoal.audit.rules.counts import work_out
from shoal.audit.rules.figures import Share
from shoal.audit.rules.parts import rows_with
from shoal.audit.rules.ruleset import Rule, Rules, counted
from shoal.data.table import Table

People = dict[frozenset[str], int]


def findings_of_rules(rules: Rules, table: Table, public: frozenset[str], groups: Groups) -> list[Finding]:
    """Numbers that are not those of the transactions, private items that are certain, and what the numbers tell."""
    have = _have(rules, table)
    differing = _differing(rules, have, table.n_rows)
    findings = _unknown_items(rules, table) + differing + certain_rules(rules, table, public, groups)
    return findings + _public_rules(rules, public) + ([] if differing else _populations(rules, table, public, groups))


def certain_rules(rules: Rules, table: Table, public: frozenset[str], groups: Groups) -> list[Finding]:
    """That some rules never fail, so that private items are certain."""
    have = _have(rules, table)
    sure = [rule for rule in rules if _is_certain(rule, have, public)]
    if not sure:
        return []
    certain = np.zeros(table.n_rows, dtype=bool)
    for _, rows in rows_with(table, {rule.antecedent for rule in sure}):
        certain |= np.unpackbits(rows, count=table.n_rows).astype(bool)
    people = int(certain.sum()) if groups.person is None else len(np.unique(groups.person[certain]))
    return [_certain(rules, sure, people)]


def _have(rules: Rules, table: Table) -> People:
    sets = {items for rule in rules for items in (rule.antecedent, rule.both, rule.consequent)}
    return {items: int(np.unpackbits(rows, count=table.n_rows).sum()) for items, rows in rows_with(table, sets)}


def _unknown_items(rules: Rules, table: Table) -> list[Finding]:
    unknown = [item for item in rules.items if item not in table]
    if not unknown:
        return []
    names = ", ".join(map(repr, unknown[:SHOWN])) + (" …" if len(unknown) > SHOWN else "")
    return [
        Finding(
            "items-unknown",
            "warning",
            f"{counted(len(unknown), 'item')} of the rules {'is' if len(unknown) == 1 else 'are'} in no transaction: "
            f"{names}. Check that these are the transactions the rules were mined from, and how items are written.",
        )
    ]


def _differing(rules: Rules, have: People, n: int) -> list[Finding]:
    wrong = [number for number, rule in enumerate(rules, start=1) if not _is_so(rule, have, n)]
    if not wrong:
        return []
    names = ", ".join(f"{number} ({rules.rules[number - 1]})" for number in wrong[:SHOWN])
    more = " …" if len(wrong) > SHOWN else ""
    return [
        Finding(
            "counts-differ",
            "breach",
            f"The numbers of {counted(len(wrong), 'rule')} are not those of the transactions: rule {names}{more}. "
            "Either these are other transactions, or the numbers were rounded: say to how many places with decimals=.",
        )
    ]


def _is_so(rule: Rule, have: People, n: int) -> bool:
    both, antecedent = have[rule.both], have[rule.antecedent]
    return (
        _within(rule.support, both, n)
        and _within(rule.consequent_support, have[rule.consequent], n)
        and antecedent > 0
        and _within(rule.confidence, both, antecedent)
    )


def _within(share: Share | None, part: int, whole: int) -> bool:
    return share is None or share.low <= Fraction(part, whole) <= share.high


def _is_certain(rule: Rule, have: People, public: frozenset[str]) -> bool:
    """Whether an outsider can point at people who all have the consequent, which is private."""
    return rule.antecedent <= public and not rule.consequent <= public and have[rule.antecedent] == have[rule.both] > 0


def _certain(rules: Rules, sure: list[Rule], people: int) -> Finding:
    first = sure[0]
    more = f" and {len(sure) - 1} more" if len(sure) > 1 else ""
    return Finding(
        "rule-certain",
        "warning",
        f"{people:,} {'person has' if people == 1 else 'people have'} private items for certain, and group sizes do "
        f"not stop that: rule {rules.rules.index(first) + 1} ({first}){more} never fails. Leave it out.",
        people,
    )


def _public_rules(rules: Rules, public: frozenset[str]) -> list[Finding]:
    n = sum(rule.both <= public for rule in rules)
    if not n:
        return []
    return [
        Finding(
            "public-rules",
            "note",
            f"{counted(n, 'rule')} {'names' if n == 1 else 'name'} public items only: nothing private, but "
            "by the definition that tells groups apart. rules.with_private(public) gives the other rules.",
        )
    ]


def _populations(rules: Rules, table: Table, public: frozenset[str], groups: Groups) -> list[Finding]:
    told = [group for group in work_out(rules, table.n_rows, public).groups if not group.exempt]
    if not told:
        return []
    whom = "people" if groups.person is None else "transactions"
    shown = "; ".join(map(str, told[:SHOWN])) + (f"; and {len(told) - SHOWN:,} more" if len(told) > SHOWN else "")
    return [
        Finding(
            "rules-tell",
            "note",
            f"Supports and confidences alone tell an outsider that of {table.n_rows:,} {whom} {shown}.",
        )
    ]
