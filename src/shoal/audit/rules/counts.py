# SPDX-License-Identifier: Apache-2.0
"""How many people an outsider can point at, from the supports and confidences of rules alone.

Every published number is a statement about how many people have some items. The people with each joint state of all
these sets of items are unknown whole numbers; what is published are sums of them. The smallest and the largest number
of people in a group under these equations are integer programs, which are solved while there are few states. For large
sets of rules what single sets and pairs of them tell is worked out instead.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.rules.parts import PublicParts
from shoal.audit.rules.populations import Bounds, Population, Populations
from shoal.audit.rules.ruleset import Rule, Rules, joint_states
from shoal.errors import DataError

MOST_STATES = 1000  # unknowns of an integer program
MOST_GROUPS = 32
MOST_ROUNDS = 100
LONGEST_PART = 10  # items of a set whose subsets are looked for
TOLERANCE = 1e-6  # of the solver; counts are whole, so half of one would do
MOST_NODES = 1000  # that a program may search; stopped early it still gives a bound, only not the best

Counts = dict[frozenset[str], Bounds]


def work_out(rules: Rules, n: int, public: frozenset[str]) -> Populations:
    """The populations that the numbers of rules tell of `n` people."""
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
        raise DataError("n-people", "n must be a whole number of people, at least 1.")
    n = int(n)
    counts = published_counts(rules, n)
    parts = PublicParts(rules, public, {})
    program = _Program.of(rules, counts, parts, n)
    groups = _single_sets(rules, counts, parts) if program is None else program.groups()
    ordered = sorted((group for group in groups if group.high), key=lambda group: (group.high, group.low, group.who))
    return Populations(n, tuple(ordered), program is not None)


def published_counts(rules: Rules, n: int) -> Counts:
    """For each set of items that a number is about, the fewest and the most people who can have it."""
    counts: Counts = {frozenset(): (n, n)}
    for rule in rules:
        if rule.consequent_support is not None:
            _narrow(counts, rule.consequent, rule.consequent_support.counts(n))
        _narrow(counts, rule.antecedent, (1, n))  # of nobody there is no confidence
        _narrow(counts, rule.both, (0, n) if rule.support is None else rule.support.counts(n))
    for _ in range(MOST_ROUNDS):  # what one rule fixes may narrow another; bounds are right after every round
        before = dict(counts)
        for rule in rules:
            _narrow_by_confidence(counts, rule)
        if counts == before:
            break
    return counts


def _narrow_by_confidence(counts: Counts, rule: Rule) -> None:
    low, high = rule.confidence.wholes(counts[rule.both])
    _narrow(counts, rule.antecedent, (low, counts[rule.antecedent][1] if high is None else high))
    fewest, most = counts[rule.antecedent]
    _narrow(counts, rule.both, (math.ceil(rule.confidence.low * fewest), math.floor(rule.confidence.high * most)))


def _narrow(counts: Counts, items: frozenset[str], bounds: Bounds) -> None:
    low, high = counts.get(items, bounds)
    low, high = max(low, bounds[0]), min(high, bounds[1])
    if low > high:
        raise _contradiction()
    counts[items] = (low, high)


def _contradiction() -> DataError:
    return DataError(
        "figures-contradict",
        "No whole numbers of people fit these supports and confidences. Either there are other than n people, or the "
        "numbers were rounded: say to how many places with decimals=.",
    )


class _Program:
    """How many people are in each joint state of all sets of items, as unknowns under what is published."""

    def __init__(
        self, rules: Rules, counts: Counts, parts: PublicParts, n: int, sets: list[frozenset[str]], states: list[int]
    ) -> None:
        self.rules, self.counts, self.parts, self.n, self.sets, self.states = rules, counts, parts, n, sets, states
        self.bit = {items: bit for bit, items in enumerate(sets)}
        self.limits: list[tuple[NDArray[np.float64], float, float]] = []
        for items, (low, high) in counts.items():
            self.limits.append((self.have(items), low, high))
        for rule in rules:
            if counts[rule.antecedent][0] < counts[rule.antecedent][1]:
                # both sides must go together, not only each lie between its bounds
                part, whole, share = self.have(rule.both), self.have(rule.antecedent), rule.confidence
                self.limits.append((part - float(share.low) * whole, -TOLERANCE, np.inf))
                self.limits.append((part - float(share.high) * whole, -np.inf, TOLERANCE))

    @classmethod
    def of(cls, rules: Rules, counts: Counts, parts: PublicParts, n: int) -> _Program | None:
        """The program, or None where it would be too large."""
        sets = list(dict.fromkeys([*counts, *parts.parts]))
        states = joint_states(sets, rules.items, MOST_STATES)
        program = None if states is None else cls(rules, counts, parts, n, sets, sorted(states))
        return program if program is not None and len(program.answers()) <= MOST_GROUPS else None

    def have(self, items: frozenset[str]) -> NDArray[np.float64]:
        """1 for the states in which a set is complete."""
        bit = self.bit[items]
        return np.array([1.0 - (state >> bit & 1) for state in self.states])

    def answers(self) -> NDArray[np.bool_]:
        """The different combinations of public parts that somebody can have (groups × parts)."""
        return np.unique(self._of_state(), axis=0)

    def _of_state(self) -> NDArray[np.bool_]:
        columns = [self.have(part) == 1 for part in self.parts.parts]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.states), 0), dtype=bool)

    def groups(self) -> list[Population]:
        """All groups that somebody can be in, with their bounds."""
        of_state = self._of_state()
        return [self._group(answers, (of_state == answers).all(axis=1)) for answers in self.answers()]

    def _group(self, answers: NDArray[np.bool_], inside: NDArray[np.bool_]) -> Population:
        low, high = self.bounds(inside)
        known = self.parts.known(answers)
        shares = {}
        for rule, sides in zip(self.rules, self.parts.sides_of_rule, strict=True):
            if high and sides[-1].public in known and sides[-1].free:
                words = " and ".join(repr(item) for item in sorted(sides[-1].free))
                shares[words] = self.bounds(inside & (self.have(rule.both) == 1))
        exempt = not self.parts.telling & known
        return Population(self.parts.describe(answers), low, high, exempt, dict(sorted(shares.items())))

    def bounds(self, chosen: NDArray[np.bool_]) -> Bounds:
        """The fewest and the most people in some of the states."""
        weights = chosen.astype(np.float64)
        return math.ceil(self._least(weights) - TOLERANCE), math.floor(-self._least(-weights) + TOLERANCE)

    def _least(self, weights: NDArray[np.float64]) -> float:
        from scipy.optimize import Bounds as Box
        from scipy.optimize import LinearConstraint, milp

        rows, low, high = zip(*self.limits, strict=True)
        solution: Any = milp(
            weights,
            integrality=np.ones(len(weights)),
            bounds=Box(0, self.n),
            constraints=LinearConstraint(np.array(rows), low, high),
            options={"node_limit": MOST_NODES, "mip_rel_gap": 0.0},
        )
        if solution.status == 2:
            raise _contradiction()
        # a bound in any case, also where the search stopped before the optimum was proven
        proven = solution.mip_dual_bound
        return min(0.0, float(weights.min())) * self.n if proven is None else float(proven)


def _single_sets(rules: Rules, counts: Counts, parts: PublicParts) -> list[Population]:
    """What single public sets of items and pairs of them, one within the other, tell."""
    public = {part: counts[part] for part in parts.parts if part in counts}
    shares: dict[frozenset[str], dict[str, Bounds]] = {}
    for rule, sides in zip(rules, parts.sides_of_rule, strict=True):
        if rule.antecedent == sides[-1].public and sides[-1].free:
            shares.setdefault(rule.antecedent, {})[_quoted(rule.consequent)] = counts[rule.both]
    groups = []
    for items, (low, high) in public.items():
        told = shares.get(items, {})
        groups.append(Population(f"have {_quoted(items)}", low, high, not _tells(parts, items), told))
        for fewer in _within(items, public):
            bounds = max(0, public[fewer][0] - high), public[fewer][1] - low
            if bounds[1] < bounds[0]:
                raise _contradiction()
            lacks = f"{'' if len(items - fewer) == 1 else 'all of '}{_quoted(items - fewer)}"
            groups.append(Population(f"have {_quoted(fewer)}, not {lacks}", *bounds, not _tells(parts, fewer), {}))
    return groups


def _within(items: frozenset[str], known: Collection[frozenset[str]]) -> list[frozenset[str]]:
    """The known sets that are part of a set, itself left out."""
    if len(items) > LONGEST_PART:
        return []
    subsets = (frozenset(chosen) for size in range(1, len(items)) for chosen in combinations(sorted(items), size))
    return [subset for subset in subsets if subset in known]


def _tells(parts: PublicParts, items: frozenset[str]) -> bool:
    """Whether something private is told of everybody who has some items."""
    return any(part <= items for part in parts.telling)


def _quoted(items: frozenset[str]) -> str:
    return " and ".join(repr(item) for item in sorted(items))
