# SPDX-License-Identifier: Apache-2.0
"""The choice among rules for one attacker and requirement, and for which group each of the others is dropped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.privacy import Requirement
from shoal.release.rules import listed
from shoal.rules.best import best
from shoal.rules.choose import choose
from shoal.rules.mine import Candidate, Counter, Items
from shoal.rules.problem import Problem, signature
from shoal.rules.result import Dropped

STEPS = 2_000_000_000  # of compiled code that a search for the best choice takes at most, a few seconds
SLACK = 1e-6  # sums of floats that are numbers of rules


@dataclass(frozen=True)
class Chosen:
    """The rules that were chosen, and what others could be.

    Attributes
    ----------
    kept
        The rules.
    greedy, greedy_worth
        How many rules plain greedy keeps, and what they are worth.
    alone
        How many could leave as the only one.
    most, most_worth
        What no choice has more of, and what none is worth more than.
    worth
        What those kept are worth.
    """

    kept: list[Candidate]
    greedy: int
    alone: int
    most: int
    worth: float
    greedy_worth: float
    most_worth: float


class Choice:
    """The choice among rules.

    Parameters
    ----------
    counter
        Who has what.
    public
        The items that the attacker knows.
    requirement, sensitive
        What every group must keep that something private is told of, and the items it is about.
    """

    def __init__(self, counter: Counter, public: Items, requirement: Requirement, sensitive: tuple[str, ...]) -> None:
        self.counter, self.public, self.requirement, self.sensitive = counter, public, requirement, sensitive

    def _problem(self, rules: Sequence[Candidate]) -> tuple[Problem, NDArray[np.int64]]:
        """The kinds of some rules, and the kind of each."""
        signatures = [signature(rule, self.public) for rule in rules]
        number = {each: i for i, each in enumerate(dict.fromkeys(signatures))}
        problem = Problem(self.counter, list(number), self.requirement, self.sensitive)
        return problem, np.array([number[each] for each in signatures], dtype=np.int64)

    def of(self, rules: Sequence[Candidate], worth: NDArray[np.float64]) -> Chosen:
        """The rules to release. They must come the most valuable first."""
        if not rules:
            return Chosen([], 0, 0, 0, 0.0, 0.0, 0.0)
        problem, kind = self._problem(rules)
        nothing = np.empty(0, dtype=np.int64)
        value, number = (np.bincount(kind, weights=each).astype(np.float64) for each in (worth, np.ones(len(kind))))
        first_seen = np.array(list(dict.fromkeys(kind.tolist())), dtype=np.int64)
        taken, most_worth = best(problem, value, choose(problem, value, first_seen, nothing), nothing, STEPS)
        most = most_worth
        if (value != number).any():
            most = best(problem, number, taken, nothing, STEPS)[1]
        greedy = problem.taken(first_seen)
        return Chosen(
            kept=[rule for rule, keep in zip(rules, taken[kind], strict=True) if keep],
            greedy=int(greedy[kind].sum()),
            alone=int(problem.alone()[kind].sum()),
            most=math.floor(most + SLACK),
            worth=float(value[taken].sum()),
            greedy_worth=float(value[greedy].sum()),
            most_worth=most_worth,
        )

    def beside(
        self, kept: Sequence[Candidate], rules: Sequence[Candidate], worth: NDArray[np.float64]
    ) -> list[Candidate]:
        """Which of some rules to release beside others. They must come the most valuable first."""
        if not rules:
            return []
        problem, kind = self._problem([*kept, *rules])
        fixed, kind = np.unique(kind[: len(kept)]), kind[len(kept) :]
        value = np.bincount(kind, weights=worth, minlength=len(problem)).astype(np.float64)
        order = np.array(list(dict.fromkeys([*fixed.tolist(), *kind.tolist()])), dtype=np.int64)
        taken = choose(problem, value, order, fixed)
        return [rule for rule, keep in zip(rules, taken[kind], strict=True) if keep]

    def blame(self, kept: Sequence[Candidate], dropped: Sequence[Candidate]) -> list[Dropped]:
        """For each rule that was dropped, the smallest group that it would set apart."""
        if not dropped:
            return []
        problem, kind = self._problem([*kept, *dropped])
        smallest = problem.blame(np.unique(kind[: len(kept)]).tolist())
        worst = {each: smallest(each) for each in np.unique(kind[len(kept) :]).tolist()}
        found = []
        for rule, each in zip(dropped, kind[len(kept) :].tolist(), strict=True):
            people, rows = worst[each]
            found.append(Dropped(str(rule), people, self._who(rule, int(rows[0]))))
        return found

    def _who(self, rule: Candidate, row: int) -> str:
        """What of a rule's public items the people of a row have, as far as the rule asks."""
        parts = [rule.antecedent & self.public, rule.both & self.public]
        has = [part for part in parts if self.counter.rows(part)[row]]
        there = sorted(frozenset[str]().union(*has))
        lacks = sorted(frozenset[str]().union(*(part for part in parts if part not in has)) - set(there))
        words = [f"with {listed(there)}"] if there else []
        words += [f"without {'all of ' if len(lacks) > 1 else ''}{listed(lacks)}"] if lacks else []
        return " and ".join(words)
