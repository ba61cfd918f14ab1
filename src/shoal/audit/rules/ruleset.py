# SPDX-License-Identifier: Apache-2.0
"""Association rules, as others mined them: "who has these items has those, too", with support and confidence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.audit.rules.figures import Share, check_decimals
from shoal.audit.rules.reading import rows_of_csv, rows_of_frame
from shoal.errors import DataError, RoleError
from shoal.release.rules import listed
from shoal.release.verdict import fingerprint

if TYPE_CHECKING:
    from shoal.audit.rules.populations import Populations

MOST_BINS = 100_000  # that are counted; the number can be that of all sets of items
NAMED = 4  # items of one side of a rule that a message names


@dataclass(frozen=True)
class Rule:
    """Who has all of `antecedent` has all of `consequent`, too: in `confidence` of the cases.

    `support` is the share of people who have both, and `consequent_support` that of those who have the consequent;
    None where it is not published.
    """

    antecedent: frozenset[str]
    consequent: frozenset[str]
    support: Share | None
    confidence: Share
    consequent_support: Share | None = None

    @property
    def both(self) -> frozenset[str]:
        """The items of both sides."""
        return self.antecedent | self.consequent

    def __str__(self) -> str:
        return f"{_side(self.antecedent)} ⇒ {_side(self.consequent)}"


class Rules:
    """A set of association rules with support and confidence.

    Make one with `from_frame` or `read`, and hand it to `shoal.audit` with the transactions.

    Examples
    --------
    The rules of Sect. 4.3 of the paper that `shoal.audit` follows (VLDB Journal 2008):

    >>> rules = Rules.from_frame({
    ...     "antecedents": [{"Cherries"}, {"Cherries", "Birthday Candles"}],
    ...     "consequents": [{"Viagra"}, {"Tylenol"}],
    ...     "support": [0.084, 0.024],
    ...     "confidence": [0.75, 0.80],
    ... })
    >>> rules
    <Rules: 2 rules over 4 items>
    >>> rules.n_bins
    7
    >>> print(rules.populations(1000, public=["Cherries", "Birthday Candles"]))
    of 1,000 people, as far as supports and confidences tell:
      30 have 'Birthday Candles' and 'Cherries': 24 of them 'Tylenol', 2 to 30 of them 'Viagra'
      82 have 'Cherries', not 'Birthday Candles': 54 to 82 of them 'Viagra'
      888 do not have 'Cherries': nothing private is told of them
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)

    @classmethod
    def from_frame(cls, frame: Any, *, decimals: int | None = None) -> Rules:
        """Rules from a data frame.

        Parameters
        ----------
        frame
            What mlxtend's ``association_rules`` returns (``antecedents``, ``consequents``, ``support``,
            ``confidence``), Spark's ``FPGrowthModel.associationRules`` (``antecedent``, ``consequent``,
            ``confidence``, ``lift``, ``support``), or any frame or dict of such columns. A ``consequent support`` or
            ``lift`` is used as well; a support may be missing.
        decimals
            To how many places the numbers were rounded; None where they are as they were computed.
        """
        check_decimals(decimals)
        return cls(Rule(*row) for row in rows_of_frame(frame, decimals))

    @classmethod
    def read(cls, path: str | PathLike[str], *, separator: str = ",", decimals: int | None = None) -> Rules:
        """Rules from a CSV file with the columns that `from_frame` knows.

        Parameters
        ----------
        path
            The file, in UTF-8. A side of a rule is a list of items with a separator between them, a JSON list, or a
            set as pandas writes mlxtend's: ``frozenset({'milk', 'bread'})``. None of it is run as code.
        separator
            What stands between items that are given as plain text.
        decimals
            To how many places the numbers were rounded; None where they are as they were computed. A percentage such
            as ``8.4%`` counts as rounded to the digits it has.
        """
        check_decimals(decimals)
        return cls(Rule(*row) for row in rows_of_csv(Path(path), separator, decimals))

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __repr__(self) -> str:
        return f"<Rules: {counted(len(self), 'rule')} over {counted(len(self.items), 'item')}>"

    @cached_property
    def items(self) -> tuple[str, ...]:
        """The items that rules name, sorted."""
        return tuple(sorted(frozenset[str]().union(*(rule.both for rule in self))))

    @cached_property
    def n_bins(self) -> int | None:
        """How many joint states the rules have over all sets of items; None where there are over 100,000.

        A rule has three states: antecedent not met, met, or met with the consequent. Not every combination of them is
        possible.
        """
        sets = {items for rule in self for items in (rule.antecedent, rule.both)}
        states = joint_states(sets, self.items, MOST_BINS)
        return None if states is None else len(states)

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of the rules and their numbers."""
        body = [
            {
                "antecedent": sorted(rule.antecedent),
                "consequent": sorted(rule.consequent),
                "shares": [None if share is None else [str(share.low), str(share.high)] for share in _shares(rule)],
            }
            for rule in self
        ]
        return fingerprint({"kind": "rules", "rules": body})

    def with_private(self, public: Collection[str]) -> Rules:
        """The rules that name a private item; the others are about what everybody knows anyway."""
        check_public(public)
        kept = [rule for rule in self if not rule.both <= set(public)]
        if not kept:
            raise DataError("bad-rules", "Every rule is about public items alone: nothing private is told.")
        return Rules(kept)

    def populations(self, n: int, *, public: Collection[str]) -> Populations:
        """How many people an outsider can point at, and what he learns of them, from the rules' numbers alone.

        Parameters
        ----------
        n
            How many people there are.
        public
            The items whose presence anybody may know.

        Returns
        -------
        Populations
            With sizes, or bounds where the numbers leave some room.
        """
        from shoal.audit.rules.counts import work_out

        check_public(public)
        return work_out(self, n, frozenset(public))


def joint_states(
    sets: Collection[frozenset[str]], free: Iterable[str], most: int, fixed_bits: int = 0
) -> set[int] | None:
    """All combinations in which sets of items can be there or not while some items are free to come and go.

    A state is a number whose bit i says that the i-th set is *not* complete. An item that is not there spoils the
    sets that name it, so the states are the unions of what single items spoil.

    Parameters
    ----------
    sets
        The sets, in a fixed order.
    free
        The items that may be there or not; the others are there.
    most
        Give up and return None beyond this many.
    fixed_bits
        Sets that are spoilt in any case.
    """
    spoils = {sum(1 << bit for bit, items in enumerate(sets) if item in items) | fixed_bits for item in free}
    states = {fixed_bits}
    for spoilt in spoils:
        states |= {state | spoilt for state in states}
        if len(states) > most:
            return None
    return states


def check_public(public: Collection[str]) -> None:
    """Refuse one string for a list of items."""
    if isinstance(public, str):
        raise RoleError("roles", f"public must be a list of items; got one string. Try [{public!r}].")


def counted(n: int, word: str) -> str:
    """A number and its word: "1 rule", "2 rules"."""
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def _shares(rule: Rule) -> tuple[Share | None, ...]:
    return rule.support, rule.confidence, rule.consequent_support


def _side(items: frozenset[str]) -> str:
    names = sorted(items)
    return listed(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
