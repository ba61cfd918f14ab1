# SPDX-License-Identifier: Apache-2.0
"""What the numbers of rules tell an outsider, as an answer that can be looked at and asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.privacy import Requirement, as_requirement, needs_values

SHOWN = 20  # populations that are printed

Bounds = tuple[int, int]


@dataclass(frozen=True)
class Population:
    """People that an outsider can point at, because he knows which public items they have.

    Attributes
    ----------
    who
        What they have, as it stands after "people who".
    low, high
        The fewest and the most people this can be; equal where the rules' numbers leave no choice.
    exempt
        Whether the rules tell nothing private of them.
    shares
        For private items that a rule tells of, how many of these people have all of them: the fewest and the most.
    """

    who: str
    low: int
    high: int
    exempt: bool
    shares: Mapping[str, Bounds]

    @property
    def people(self) -> int | None:
        """How many people it is, where that is certain."""
        return self.low if self.low == self.high else None

    def __str__(self) -> str:
        shares = [f"{between(*bounds)} of them {items}" for items, bounds in self.shares.items()]
        told = ", ".join(shares) or ("nothing private is told of them" if self.exempt else "")
        return f"{between(self.low, self.high)} {self.who}{f': {told}' if told else ''}"


@dataclass(frozen=True)
class RulesVerdict:
    """Whether rules keep a promise as far as their numbers alone tell, and why."""

    answer: Literal["holds", "fails", "cannot tell"]
    reason: str

    def __str__(self) -> str:
        return f"{self.answer}: {self.reason}"


@dataclass(frozen=True)
class Populations:
    """What the numbers of a set of rules tell, smallest population first.

    Attributes
    ----------
    n
        How many people there are.
    groups
        The populations. Where `complete`, these are all the groups that the rules make; otherwise those people that
        single rules and pairs of rules tell of, who may be several groups.
    complete
        Whether all groups could be worked out.
    """

    n: int
    groups: tuple[Population, ...]
    complete: bool

    def verdict(self, privacy: Requirement | int) -> RulesVerdict:
        """Whether the rules keep a requirement, as far as that can be told without the transactions."""
        requirement = as_requirement(privacy)
        if needs_values(requirement):
            return RulesVerdict("cannot tell", "a requirement about private values needs the transactions.")
        told = [group for group in self.groups if not group.exempt]
        if not requirement.monotone and any(group.people is None for group in told):
            return RulesVerdict("cannot tell", "what holds for some number of people need not hold for more of them.")
        for group in told:
            if group.low and not _keeps(requirement, group.high):
                return RulesVerdict("fails", f"{between(group.low, group.high)} people {group.who}.")
        open_groups = [group for group in told if group.high and not _keeps(requirement, group.low)]
        if self.complete and not open_groups:
            sizes = [group.low for group in told if group.high]
            return RulesVerdict(
                "holds",
                f"every group of whom something private is told has at least {min(sizes):,} people."
                if sizes
                else "nothing private is told of anybody.",
            )
        if open_groups:
            group = open_groups[0]
            size = f"{between(group.low, group.high)} people {group.who}"
            return RulesVerdict("cannot tell", f"{size}; that needs the transactions.")
        return RulesVerdict("cannot tell", "there are too many rules to work out every group; audit the transactions.")

    def __str__(self) -> str:
        lines = [f"of {self.n:,} people, as far as supports and confidences tell:"]
        lines += [f"  {group}" for group in self.groups[:SHOWN]]
        if len(self.groups) > SHOWN:
            lines.append(f"  and {len(self.groups) - SHOWN:,} more")
        return "\n".join(lines)


def between(low: int, high: int) -> str:
    """A count, or the two it lies between."""
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _keeps(requirement: Requirement, people: int) -> bool:
    return bool(requirement.holds(np.array([[people]]), np.array([people]))[0])
