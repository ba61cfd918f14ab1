# SPDX-License-Identifier: Apache-2.0
"""Which rules may leave together: people are grouped by the public parts of all of them.

Rules that ask for the same public parts and tell of the same ones cost the same together as alone, so they are taken
or left together. See `docs/explanation/spans-of-rules.md` for why groups are what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.person import people_by_code
from shoal.privacy import KAnonymity, Requirement, least_people, needs_values
from shoal.rules.mine import Candidate, Counter, Items

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]
Signature = tuple[Items, Items, bool, bool]


def signature(rule: Candidate, public: Items) -> Signature:
    """The public parts of a rule's antecedent and of both sides, and whether something private is left open there."""
    before, both = rule.antecedent, rule.both
    return before & public, both & public, not before <= public, not both <= public


class Problem:
    """Kinds of rules to choose from, each a signature, for people who are to be told of in groups only.

    Parameters
    ----------
    counter
        Who has what.
    signatures
        The kinds of rules.
    requirement
        What every group must keep that something private is told of.
    sensitive
        The items that a requirement about values asks of.
    """

    def __init__(
        self, counter: Counter, signatures: Sequence[Signature], requirement: Requirement, sensitive: Sequence[str]
    ) -> None:
        self.signatures = list(signatures)
        parts = list(dict.fromkeys(part for one, two, _, _ in signatures for part in (one, two)))
        number = {part: i for i, part in enumerate(parts)}
        self.parts = parts
        self.first = np.array([number[one] for one, _, _, _ in signatures], dtype=np.int64)
        self.second = np.array([number[two] for _, two, _, _ in signatures], dtype=np.int64)
        self.tells = np.array([each[2:] for each in signatures], dtype=bool).reshape(-1, 2)
        self.rows = np.array([counter.rows(part) for part in parts], dtype=np.uint8).reshape(len(parts), counter.n_rows)
        self.person = counter.person
        self.requirement = requirement
        self.values = [counter.rows(frozenset([item])).astype(np.int64) for item in sensitive]
        self.compiled = isinstance(requirement, KAnonymity) and counter.person is None
        if self.compiled:
            packed = np.packbits(self.rows, axis=0).T.copy()
            _, example, of_row = np.unique(packed, axis=0, return_index=True, return_inverse=True)
            self.patterns = np.ascontiguousarray(self.rows[:, example])
            self.people = np.bincount(of_row.reshape(-1))

    def __len__(self) -> int:
        return len(self.signatures)

    @property
    def work(self) -> int:
        """About how many steps it takes to try every kind once."""
        rows = self.patterns.shape[1] if self.compiled else 20 * self.rows.shape[1]
        return max(1, len(self) * rows)

    @property
    def _arrays(self) -> tuple[Any, ...]:
        """What the compiled code takes: patterns of rows, and what each kind asks and tells."""
        return self.patterns, self.people, self.first, self.second, *np.ascontiguousarray(self.tells.T)

    def taken(self, order: Ids) -> Flags:
        """Which kinds are taken if they are tried in this order, each kept where it can be."""
        out = np.zeros(len(self), dtype=bool)
        if self.compiled:
            _compiled().add_in_order(*self._arrays, order, least_people(self.requirement), out)
            return out
        group = np.zeros(self.rows.shape[1], dtype=np.int64)
        told = np.zeros(len(group), dtype=bool)
        for kind in order.tolist():
            refined, also_told = self._with(group, told, kind)
            if not self.failing(refined, also_told).any():
                group, told = refined, also_told
                out[kind] = True
        return out

    def fitting(self, kinds: Ids, candidates: Ids) -> Flags:
        """Which of the candidates could leave beside some kinds, which together keep the requirement."""
        if not self.compiled:
            group, told = self.groups(kinds.tolist())
            refined = (self._with(group, told, kind) for kind in candidates.tolist())
            return np.array([not self.failing(*each).any() for each in refined], dtype=bool)
        out = np.zeros(len(candidates), dtype=bool)
        _compiled().fitting(*self._arrays, *self._groups(kinds), candidates, least_people(self.requirement), out)
        return out

    def fitting_pairs(self, kinds: Ids, candidates: Ids, may: Flags) -> Flags:
        """Which pairs of candidates could leave beside some kinds, beside which each of them could.

        Only pairs that may are looked at: `may` has a row and a column for each candidate, and is symmetric.
        """
        out = may.copy()
        if not self.compiled:
            for i, one in enumerate(candidates.tolist()):
                asked = i + 1 + np.flatnonzero(may[i, i + 1 :])
                out[i, asked] = out[asked, i] = self.fitting(np.append(kinds, one), candidates[asked])
            return out
        _compiled().fitting_pairs(*self._beside(kinds, candidates), candidates, least_people(self.requirement), out)
        return out

    def _groups(self, kinds: Ids) -> tuple[Any, ...]:
        """The groups of some kinds, as compiled code has them."""
        taken = np.zeros(len(self), dtype=bool)
        return _compiled().add_in_order(*self._arrays, kinds, least_people(self.requirement), taken)  # type: ignore[no-any-return]

    def _beside(self, kinds: Ids, candidates: Ids) -> tuple[Any, ...]:
        """What compiled code takes to ask for candidates: patterns in which these and some kinds are alike are one."""
        groups = self._groups(kinds)
        asked = np.unique([self.first[candidates], self.second[candidates]])
        packed = np.packbits(self.patterns[asked], axis=0)
        key = np.vstack([packed, groups[0].view(np.uint8).reshape(-1, 8).T]).T.copy()
        _, example, which = np.unique(key, axis=0, return_index=True, return_inverse=True)
        people = np.bincount(which.reshape(-1), weights=self.people).astype(np.int64)
        return (self.patterns[:, example], people, *self._arrays[2:], groups[0][example], *groups[1:])

    def alone(self) -> Flags:
        """Which kinds could leave alone. The others never can: more rules only make smaller groups."""
        return self.fitting(np.empty(0, dtype=np.int64), np.arange(len(self)))

    def groups(self, kinds: Sequence[int]) -> tuple[Ids, Flags]:
        """The group of every row if some kinds are released, and whether something private is told of it."""
        group, told = np.zeros(self.rows.shape[1], dtype=np.int64), np.zeros(self.rows.shape[1], dtype=bool)
        for kind in kinds:
            group, told = self._with(group, told, kind)
        return group, told

    def _with(self, group: Ids, told: Flags, kind: int) -> tuple[Ids, Flags]:
        one, two = self.rows[self.first[kind]], self.rows[self.second[kind]]
        _, refined = np.unique(4 * group + 2 * one + two, return_inverse=True)
        tells_one, tells_two = self.tells[kind]
        return refined.reshape(-1), told | (tells_one & (one == 1)) | (tells_two & (two == 1))

    def failing(self, group: Ids, told: Flags) -> Flags:
        """Which groups do not keep the requirement although something private is told of them."""
        n = int(group.max()) + 1
        counts_for = np.zeros(n, dtype=bool)
        counts_for[group] = told
        people = people_by_code(group, n, self.person)
        if not needs_values(self.requirement):
            return counts_for & ~np.asarray(self.requirement.holds(people[:, None]))
        fails = np.zeros(n, dtype=bool)
        for value in self.values:
            counts = np.bincount(2 * group + value, minlength=2 * n).reshape(n, 2)
            fails |= ~np.asarray(self.requirement.holds(counts, counts.sum(axis=0)))
        return counts_for & fails

    def blame(self, kinds: Sequence[int]) -> Callable[[int], tuple[int, Ids]]:
        """For a kind that is not taken: how many people the smallest group has that it would break, and their rows."""
        group, told = self.groups(kinds)

        def smallest(kind: int) -> tuple[int, Ids]:
            refined, also_told = self._with(group, told, kind)
            failing = np.flatnonzero(self.failing(refined, also_told))
            people = people_by_code(refined, int(refined.max()) + 1, self.person)
            worst = failing[people[failing].argmin()]
            return int(people[worst]), np.flatnonzero(refined == worst)

        return smallest


def _compiled() -> Any:
    """The compiled code; it takes a while to load."""
    from shoal._kernels import rules

    return rules
