# SPDX-License-Identifier: Apache-2.0
"""What became of the rules that were mined. For use in house: it tells of groups that are too small."""

from __future__ import annotations

from dataclasses import dataclass, fields

SHOWN = 10


@dataclass(frozen=True)
class Dropped:
    """A rule that is not in the release.

    Attributes
    ----------
    rule
        The rule in words.
    people
        How many people the smallest group has that it would have set apart; 0 where the rule never fails.
    who
        What of the rule's public items they have, or why else the rule was dropped.
    """

    rule: str
    people: int
    who: str

    def __str__(self) -> str:
        if not self.people:
            return f"{self.rule}: {self.who}"
        return f"{self.rule}: {self.people:,} {'person' if self.people == 1 else 'people'} {self.who}"


@dataclass(frozen=True)
class RuleReport:
    """How many rules were mined, could leave alone and do leave together.

    Attributes
    ----------
    mined
        Rules that name something private, with enough support and confidence.
    certain
        Those of them that never fail and so tell something private for certain; they are not released.
    safe_alone
        Those that could leave as the only one.
    most
        An upper bound: no release has more of the mined rules, however they are chosen. What is kept for a value other
        than ``"number"`` may be fewer even if it is the best.
    greedy
        How many stay if rules are taken by value, each if it fits with those before it.
    kept
        How many of the mined rules are in the release.
    generalised
        How many rules are in the release besides that name categories, or "this or that", in place of items.
    public
        How many rules about public items alone are in the release.
    worth, greedy_worth, most_worth
        What the mined rules are worth that are kept, that plain greedy keeps, and that any release can have.
    dropped
        The mined rules that are not released, the most valuable first, and for which group.
    """

    mined: int
    certain: int
    safe_alone: int
    most: int
    greedy: int
    kept: int
    generalised: int
    public: int
    worth: float
    greedy_worth: float
    most_worth: float
    dropped: tuple[Dropped, ...]

    def to_json(self) -> dict[str, object]:
        """The report as plain JSON."""
        numbers = [field.name for field in fields(self) if field.name != "dropped"]
        dropped = [{"rule": each.rule, "people": each.people, "who": each.who} for each in self.dropped]
        return {**{name: getattr(self, name) for name in numbers}, "dropped": dropped}

    def __str__(self) -> str:
        lines = [
            f"mined {self.mined:,} rules that name something private; {self.safe_alone:,} are safe alone",
            f"released {self.kept:,} (plain greedy: {self.greedy:,}; at most: {self.most:,}), worth {self.worth:,.1f} "
            f"(plain greedy: {self.greedy_worth:,.1f}; at most: {self.most_worth:,.1f}), and {self.generalised:,} "
            f"generalised{f', and {self.public:,} about public items alone' if self.public else ''}",
        ]
        if self.dropped:
            lines.append(f"dropped {len(self.dropped):,}, for the smallest group that each would set apart:")
            lines += [f"  {each}" for each in self.dropped[:SHOWN]]
            if len(self.dropped) > SHOWN:
                lines.append(f"  and {len(self.dropped) - SHOWN:,} more")
        return "\n".join(lines)
