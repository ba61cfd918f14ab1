# SPDX-License-Identifier: Apache-2.0
"""Association rules as the subject of an audit (VLDB'08, Sect. 4.3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.audit.groups import Groups, Ids, Spans
from shoal.audit.result import SHOWN, Finding
from shoal.audit.rules.parts import PublicParts
from shoal.audit.rules.ruleset import Rule, Rules, counted
from shoal.audit.rules.transactions import NO_YES, Transactions, read_transactions
from shoal.audit.subject import Subject
from shoal.data.table import Table
from shoal.errors import DataError, closest
from shoal.privacy import Requirement
from shoal.release import Attribute

MOST_GROUPS = 64  # for which bins are counted; for more it is only said whether there is a single one
MOST_BINS = 4096


class RuleSubject(Subject):
    """A set of rules; a bin is the joint state of all of them: antecedent not met, met, or met with the consequent.

    Parameters
    ----------
    rules
        The rules.
    declared
        Of some items the only thing they can be: always there or never.
    """

    # what a rule says of a person's private items is fixed by his span in that rule, so spans of rules and of
    # models whose tests ask one column each combine
    separable = True

    def __init__(self, rules: Rules, declared: Mapping[str, bool]) -> None:
        bins = "" if rules.n_bins is None else f" ({counted(rules.n_bins, 'bin')})"
        self.rules = rules
        self.declared = dict(declared)
        self.what = f"{counted(len(rules), 'association rule')} over {counted(len(rules.items), 'item')}{bins}"
        self.domain = {
            item: Attribute(
                item,
                "private",
                "categorical",
                values=(str(declared[item]),) if item in declared else NO_YES,
                labels="boolean",
            )
            for item in rules.items
        }
        self.sha256 = rules.sha256

    def bins(self, table: Table) -> Ids:
        """The joint state of every row: what is told to somebody who knows all items."""
        return PublicParts(self.rules, self.rules.items, {}).of_rows(table)[0]

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """People have the same span exactly when they have the same of the rules' public parts."""
        parts = self.parts(public)
        keys, told = parts.of_rows(table)
        spans = Spans.numbered(keys, ~told, disjoint=parts.disjoint)
        if len(spans) > MOST_GROUPS:
            return spans
        counts = [parts.n_bins(complete, MOST_BINS) for complete in parts.of_some(table, spans.example)]
        return replace(spans, n_bins=np.array([2 if n is None else n for n in counts]))

    def group_words(self, table: Table, public: Collection[str], row: int) -> tuple[str, tuple[int, ...]]:
        """What the people of a group have for an outsider, and the rules that tell them from those most like them."""
        parts = self.parts(public)
        spans = Spans.numbered(parts.of_rows(table)[0], np.ones(table.n_rows, dtype=bool), disjoint=False)
        complete = parts.of_some(table, spans.example)
        own = complete[spans.of_row[row]]
        words = f"they {parts.describe(own)}"
        if len(spans) == 1:
            return words, ()
        differing = (complete != own) @ parts.n_rules
        differing[spans.of_row[row]] = differing.max() + 1
        between = parts.rules_between(own, complete[differing.argmin()])
        named = self._named([parts.rules.rules[number] for number in between])
        return f"{words}; {named} them apart from those most like them", ()

    def parts(self, public: Collection[str]) -> PublicParts:
        """What an outsider can look up."""
        return PublicParts(self.rules, public, self.declared)

    def _named(self, numbers: Sequence[Rule]) -> str:
        named = [f"{self.rules.rules.index(rule) + 1} ({rule})" for rule in numbers[:SHOWN]]
        if len(numbers) == 1:
            return f"rule {named[0]} alone sets"
        more = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
        return f"rules {', '.join(named)}{more} set"

    def findings(
        self, table: Table, public: Collection[str], groups: Groups, requirement: Requirement
    ) -> list[Finding]:
        """What the rules' supports and confidences tell, and whether they are those of the transactions."""
        from shoal.audit.rules.findings import findings_of_rules

        return findings_of_rules(self.rules, table, frozenset(public), groups)


def read_rules(
    rules: Rules, X: Any, y: Any, *, domain: Mapping[str, Sequence[Any]] | None, also: Sequence[str]
) -> tuple[RuleSubject, Transactions]:
    """Rules as a subject, and the transactions."""
    if X is None:
        raise DataError(
            "rows-needed",
            "Auditing rules needs the transactions. What their numbers alone tell: "
            "rules.populations(n, public=[...]).verdict(k).",
        )
    if y is not None:
        raise DataError("no-target", "Association rules have no target: leave out y.")
    transactions = read_transactions(X, also)
    for name in also:
        transactions[name]  # refuses with the nearest name
    return RuleSubject(rules, _declared(rules, transactions, domain)), transactions


def _declared(rules: Rules, transactions: Table, domain: Mapping[str, Sequence[Any]] | None) -> dict[str, bool]:
    declared = {}
    for item, values in ({} if domain is None else domain).items():
        if item not in transactions and item not in rules.items:
            raise DataError("no-column", f"domain: no item {item!r}.{closest(item, [*rules.items, *transactions])}")
        kept = set(values) if not isinstance(values, str) else {values}
        if not kept or not kept <= {True, False}:
            raise DataError("domain", f"domain: what item {item!r} can be is [True], [False] or [True, False].")
        if len(kept) == 1:
            declared[item] = bool(kept.pop())
            n = int((transactions[item].codes != int(declared[item])).sum()) if item in transactions else 0
            if n:
                raise DataError(
                    "outside-domain", f"domain: {counted(n, 'transaction')} have item {item!r} otherwise than declared."
                )
    return declared
