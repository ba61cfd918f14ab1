# SPDX-License-Identifier: Apache-2.0
"""The miner of association rules that may leave together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from shoal.audit import audit
from shoal.audit.rules import Transactions
from shoal.audit.rules.cells import Cuts, read_items
from shoal.data.frames import to_table
from shoal.data.hierarchy import Hierarchy
from shoal.data.person import whose_rows
from shoal.errors import DataError, PromiseError, RequirementError, RoleError, closest
from shoal.privacy import Requirement, as_requirement, claims, least_people, needs_values
from shoal.release.rules import CountedRule, Item, RulesRelease
from shoal.rules.choice import Choice
from shoal.rules.cuts import cuts_of
from shoal.rules.generalise import ItemHierarchy
from shoal.rules.mine import Candidate, Counter, Items, mine
from shoal.rules.result import Dropped, RuleReport

Value = Literal["lift", "confidence_support", "number"]
VALUES = ("lift", "confidence_support", "number")
NEVER_FAILS = "never fails, so it tells something private of people for certain"


class AnonymousRules(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Association rules of which as many valuable ones are released as may leave together.

    Rules that name a private item are mined; the others, which tell what everybody knows anyway, where it is asked for.

    Parameters
    ----------
    privacy
        The requirement that every group of people must keep; a whole number k means `KAnonymity(k)`.
    public_items
        The items that an attacker may know of everybody; all others are private. Of a table, its public columns.
    min_support
        People who must have both sides of a rule: a whole number, or a share of all people below 1.
    min_confidence
        The smallest share of those with the antecedent who have the consequent.
    value
        What a rule is worth: its ``"lift"``, ``"confidence_support"`` (confidence × support), or the same for all
        (``"number"``), which keeps as many as can be found.
    hierarchy
        Categories of items, as `Hierarchy.from_spec` takes them. A rule that does not fit is offered with categories in
        place of public items before it is dropped.
    merge
        Whether rules that do not fit and differ in one public item are offered as one, with "this or that" for it.
    public_rules
        Whether rules about public items alone are mined and released, too. They tell nothing private and cost nothing.
    sensitive
        Private items whose presence requirements about values are asked of.
    person
        The column that tells people apart, where they may have several transactions.
    rows
        ``"baskets"``, in any form that `shoal.audit.rules.read_transactions` reads, or ``"table"``: then each cell
        is an item, ``column=value``. Columns of numbers are cut into classes of enough people at round numbers; a
        private value that fewer people have is no item.

    Attributes
    ----------
    release_ : RulesRelease
        What may leave, audited.
    report_ : RuleReport
        How many rules were mined, are safe alone and are released, and which were dropped for which group.

    Notes
    -----
    People are in one group when they have the same of the public parts of all rules (`docs/explanation/
    spans-of-rules.md`). A greedy choice in a given order keeps each rule that fits with those before it. Many orders
    are tried, beginning with that by value, so the result is never worth less than plain greedy's. Then a search that
    branches and bounds improves on it, or proves that nothing does (`docs/how-to/mine-rules.md`).

    References
    ----------
    A. Friedman, R. Wolff and A. Schuster, "Providing k-anonymity in data mining", The VLDB Journal 17, 2008,
    Sect. 4.3, doi:10.1007/s00778-006-0039-5.

    Examples
    --------
    >>> baskets = [["bread", "pills"]] * 30 + [["bread"]] * 20 + [["eggs", "pills"]] * 8 + [["eggs"]] * 4
    >>> miner = AnonymousRules(privacy=10, public_items=["bread", "eggs"], min_support=5, min_confidence=0.5)
    >>> print(miner.fit([*baskets, [], []]).release_)
    2 rules about 64 people; claimed: every group has at least 10 people
    eggs ⇒ pills: 8 of 12 people
    bread ⇒ pills: 30 of 50 people
    >>> print(miner.report_)
    mined 3 rules that name something private; 3 are safe alone
    released 2 (plain greedy: 2; at most: 2), worth 2.1 (plain greedy: 2.1; at most: 2.1), and 0 generalised
    dropped 1, for the smallest group that each would set apart:
      pills ⇒ bread: 2 people without bread
    """

    release_: RulesRelease
    report_: RuleReport

    def __init__(
        self,
        privacy: Requirement | int = 10,
        public_items: Collection[str] = (),
        min_support: float = 0.01,
        min_confidence: float = 0.5,
        value: Value = "lift",
        hierarchy: Any = None,
        merge: bool = True,
        public_rules: bool = False,
        sensitive: Sequence[str] = (),
        person: str | None = None,
        rows: Literal["baskets", "table"] = "baskets",
    ) -> None:
        self.privacy = privacy
        self.public_items = public_items
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.value = value
        self.hierarchy = hierarchy
        self.merge = merge
        self.public_rules = public_rules
        self.sensitive = sensitive
        self.person = person
        self.rows = rows

    def fit(self, X: Any, y: None = None) -> AnonymousRules:
        """Mine the rules of transactions, choose, audit, and keep what may leave as `release_`.

        Parameters
        ----------
        X
            The transactions, or the rows of a table where `rows` says so.
        y
            There is no target; left out.
        """
        requirement = as_requirement(self.privacy)
        self._check(y, requirement)
        transactions, cuts = self._read(X, least_people(requirement))
        public = self._public(transactions, cuts)
        person = None if self.person is None else whose_rows(transactions[self.person])
        counter = Counter(transactions, person)
        least = self._least(counter.n_people)
        rare = _rare(counter, public, least_people(requirement))
        found = mine(counter, public, least, self.min_confidence, public_rules=self.public_rules, without=rare)
        known = [rule for rule in found if rule.both <= public]
        found = [rule for rule in found if not rule.both <= public]
        certain = [rule for rule in found if _is_certain(rule, public)]
        mined = self._by_value([rule for rule in found if not _is_certain(rule, public)], counter.n_people)
        choice = Choice(counter, public, requirement, tuple(self.sensitive))
        chosen = choice.of(mined, self._worth(mined, counter.n_people))
        kept = chosen.kept
        dropped = [rule for rule in mined if rule not in set(kept)]
        general, categories = self._generalised(choice, kept, dropped)
        if not kept and not general and not known:
            raise PromiseError("no-rules", self._why_none(len(found), counter.n_people, least_people(requirement)))
        roles = public | categories.keys()
        self.report_ = RuleReport(
            mined=len(found),
            certain=len(certain),
            safe_alone=chosen.alone,
            most=chosen.most,
            greedy=chosen.greedy,
            kept=len(kept),
            generalised=len(general),
            public=len(known),
            worth=chosen.worth,
            greedy_worth=chosen.greedy_worth,
            most_worth=chosen.most_worth,
            dropped=(
                *choice.blame(kept, dropped),
                *(Dropped(str(rule), 0, NEVER_FAILS) for rule in certain),
            ),
        )
        released = self._by_value([*kept, *general, *known], counter.n_people)
        release = self._release(released, roles, categories, cuts, counter, requirement)
        verdict = audit(release, transactions, privacy=requirement, person=None if person is None else self.person)
        if not verdict.holds:
            worst = next(finding for finding in verdict.findings if finding.severity == "breach")
            raise PromiseError("audit-failed", f"The rules failed their audit and are withheld. {worst.message}")
        self.release_ = release.with_audit(verdict)
        return self

    def _why_none(self, n_found: int, n_people: int, needed: int) -> str:
        if needed > n_people:
            return (
                f"Every group must have {needed:,} people, and there are {n_people:,}: no rule that names something "
                "private can leave. Lower the requirement."
            )
        if not n_found:
            return (
                "No rule that names something private has the support and confidence asked for. Lower min_support or "
                "min_confidence, and check which items are private."
            )
        return (
            f"Of {n_found:,} rule(s) that name something private none can leave: each alone sets a group apart that is "
            "too small, or never fails. Lower min_support or min_confidence, or the requirement."
        )

    def _check(self, y: None, requirement: Requirement) -> None:
        if y is not None:
            raise DataError("no-target", "Association rules have no target: leave out y.")
        if self.rows not in ("baskets", "table"):
            raise DataError("unknown-option", f"rows must be 'baskets' or 'table'; got {self.rows!r}.")
        if self.value not in VALUES:
            raise DataError("unknown-option", f"value must be one of {', '.join(VALUES)}; got {self.value!r}.")
        for name in ("public_items", "sensitive"):
            if isinstance(getattr(self, name), str):
                given = getattr(self, name)
                raise RoleError("roles", f"{name} must be a list of names; got one string. Try [{given!r}].")
            if not isinstance(getattr(self, name), Collection) or not all(
                isinstance(each, str) for each in getattr(self, name)
            ):
                raise RoleError("roles", f"{name} must be a list of names, which are text: '1' for a number 1.")
        for name in ("merge", "public_rules"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise DataError("unknown-option", f"{name} must be True or False.")
        confidence, support = self.min_confidence, self.min_support
        if not isinstance(confidence, int | float | np.number) or not 0 <= confidence <= 1:
            raise DataError("unknown-option", "min_confidence must be a share from 0 to 1.")
        whole = isinstance(support, int | np.integer) and not isinstance(support, bool) and support >= 1
        if not whole and not (isinstance(support, float | np.floating) and 0 < support < 1):
            raise DataError(
                "unknown-option", "min_support must be a whole number of people from 1 on, or a share between 0 and 1."
            )
        if needs_values(requirement):
            if not self.sensitive:
                raise RequirementError(
                    "nothing-sensitive", "A requirement about private values needs private items named as sensitive."
                )
            if self.person is not None:
                raise RequirementError(
                    "values-and-person",
                    "Rules of people with several transactions can only be asked for numbers of people, such as "
                    "KAnonymity(30), not for values.",
                )

    def _read(self, X: Any, least: int) -> tuple[Transactions, Cuts]:
        """The transactions, and where columns of numbers were cut."""
        also = () if self.person is None else (self.person,)
        if self.rows == "baskets" or isinstance(X, Transactions):
            return read_items(X, self.rows, also), {}
        table = to_table(X)
        person = None if self.person is None else whose_rows(table[self.person])
        found = {name: cuts_of(column, person, least) for name, column in table.items() if name not in also}
        cuts = {name: each for name, each in found.items() if each is not None}
        return read_items(table, self.rows, also, cuts), cuts

    def _public(self, transactions: Transactions, cuts: Cuts) -> Items:
        """The public items, once it is clear that all that is named is there."""
        columns = {name: transactions.column_of.get(name, name) for name in transactions.item_names}
        known = {*columns.values(), *cuts}
        for name in self.public_items:
            if name not in known:
                what = "column" if self.rows == "table" else "item"
                raise RoleError("roles", f"There is no {what} {name!r} to be public.{closest(name, known)}")
        public = frozenset(item for item, column in columns.items() if column in set(self.public_items))
        for name in self.sensitive:
            if name not in columns or name in public:
                # of a table no other item is proposed: its name is a private value
                like = closest(name, columns) if self.rows == "baskets" else " Name it as column=value."
                why = "is public" if name in public else f"does not exist.{like}"
                raise RoleError("roles", f"A sensitive item must be private: {name!r} {why}")
        return public

    def _least(self, n_people: int) -> int:
        support = self.min_support
        return int(support) if isinstance(support, int | np.integer) else max(1, int(np.ceil(support * n_people)))

    def _worth(self, rules: Sequence[Candidate], n_people: int) -> NDArray[np.float64]:
        if self.value == "number":
            return np.ones(len(rules))
        if self.value == "lift":
            return np.array([rule.confidence * n_people / rule.consequent_people for rule in rules])
        return np.array([rule.confidence * rule.people / n_people for rule in rules])

    def _by_value(self, rules: Sequence[Candidate], n_people: int) -> list[Candidate]:
        """The most valuable first; of equals the one that more people have, then by name, so that runs agree."""
        worth = self._worth(rules, n_people).tolist()
        keys = {rule: (-value, -rule.people, str(rule)) for rule, value in zip(rules, worth, strict=True)}
        return sorted(rules, key=keys.__getitem__)

    def _generalised(
        self, choice: Choice, kept: list[Candidate], dropped: list[Candidate]
    ) -> tuple[list[Candidate], dict[str, tuple[str, ...]]]:
        """Rules with categories that fit beside those kept, each in place of some that do not; and the categories."""
        counter = choice.counter
        rows = [] if self.hierarchy is None else Hierarchy.from_spec(self.hierarchy).rows
        hierarchy = ItemHierarchy(rows, choice.public, counter.transactions.item_names, counter.transactions.column_of)
        offers = dict.fromkeys(
            sides for rule in dropped for sides in hierarchy.of_rule(rule.antecedent, rule.consequent)
        )
        if self.merge:
            offers |= dict.fromkeys(hierarchy.merged(dropped))
        counter = Counter(counter.transactions.with_categories(hierarchy.members), counter.person)
        rules = [
            Candidate(before, after, counter(before | after), counter(before), counter(after))
            for before, after in offers
        ]
        public = choice.public | hierarchy.members.keys()
        rules = [rule for rule in rules if rule.confidence >= self.min_confidence and not _is_certain(rule, public)]
        rules = self._by_value(rules, counter.n_people)
        wider = Choice(counter, public, choice.requirement, choice.sensitive)
        general = wider.beside(kept, rules, self._worth(rules, counter.n_people))
        named = frozenset[str]().union(*(rule.both for rule in general))
        return general, {name: members for name, members in hierarchy.members.items() if name in named}

    def _release(
        self,
        rules: Sequence[Candidate],
        public: Items,
        categories: dict[str, tuple[str, ...]],
        cuts: Cuts,
        counter: Counter,
        requirement: Requirement,
    ) -> RulesRelease:
        named = frozenset[str]().union(*(rule.both for rule in rules), self.sensitive)
        column_of = {name: counter.transactions.column_of.get(categories.get(name, (name,))[0]) for name in named}
        return RulesRelease(
            items=tuple(
                Item(name, "public" if name in public else "private", categories.get(name, ()), column_of[name])
                for name in sorted(named)
            ),
            rules=tuple(
                CountedRule(
                    tuple(sorted(rule.antecedent)), tuple(sorted(rule.consequent)), rule.people, rule.antecedent_people
                )
                for rule in rules
            ),
            n_people=counter.n_people,
            claims=tuple(claims(requirement)),
            sensitive=tuple(self.sensitive),
            rows=self.rows,
            cuts={name: tuple(each) for name, each in cuts.items() if name in column_of.values()},
            several_rows=counter.person is not None,
        )


def _rare(counter: Counter, public: Items, needed: int) -> Items:
    """Private values of a table that too few people have: a rule that names one tells that somebody has it."""
    cells = counter.transactions.column_of
    return frozenset(item for item in cells if item not in public and counter(frozenset({item})) < needed)


def _is_certain(rule: Candidate, public: Items) -> bool:
    """Whether an outsider can point at people who all have the consequent, which is private."""
    return rule.antecedent <= public and rule.people == rule.antecedent_people
