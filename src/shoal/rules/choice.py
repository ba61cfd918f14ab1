# SPDX-License-Identifier: Apache-2.0
"""The choice among rules for one attacker and requirement, and for which group each of the others is dropped."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.privacy import Requirement
from shoal.rules.choose import choose
from shoal.rules.mine import Candidate, Counter, Items
from shoal.rules.problem import Problem, signature
from shoal.rules.result import Dropped


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

    def of(
        self, rules: Sequence[Candidate], worth: NDArray[np.float64], beside: Sequence[Candidate] = ()
    ) -> tuple[list[Candidate], int, int]:
        """The rules to release beside others, how many plain greedy keeps, and how many are safe alone.

        Rules must come the most valuable first.
        """
        if not rules:
            return [], 0, 0
        problem, kind = self._problem([*beside, *rules])
        fixed = np.unique(kind[: len(beside)])
        kind = kind[len(beside) :]
        value = np.bincount(kind, weights=worth, minlength=len(problem)).astype(np.float64)
        first_seen = np.array(list(dict.fromkeys([*fixed.tolist(), *kind.tolist()])), dtype=np.int64)
        taken = choose(problem, value, first_seen, fixed)
        greedy = problem.taken(first_seen)
        kept = [rule for rule, keep in zip(rules, taken[kind], strict=True) if keep]
        return kept, int(greedy[kind].sum()), int(problem.alone()[kind].sum())

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
        words = [f"with {', '.join(there)}"] if there else []
        words += [f"without all of {', '.join(lacks)}" if len(lacks) > 1 else f"without {lacks[0]}"] if lacks else []
        return " and ".join(words)
