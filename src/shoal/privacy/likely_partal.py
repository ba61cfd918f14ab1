# SPDX-License-Identifier: Apache-2.0
"""PartAL against an attacker who knows some private columns by chance."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

from shoal.errors import RequirementError
from shoal.privacy._parameters import fraction, plain, real, shown, whole
from shoal.privacy.base import Requirement
from shoal.privacy.of_projections import OfProjections
from shoal.privacy.parts import parts_of

MOST_COLUMNS = 8  # whoever asks looks at every set of them


@dataclass(frozen=True)
class LikelyPartAL(OfProjections):
    """`PartAL` is at least `k`, with some certainty, for whoever knows each of some private columns with some chance.

    An attacker knows all public columns. Of the columns named here he knows each with its chance, whatever he knows of
    the others. That makes every set of them likely or unlikely. The requirement holds if the sets for which PartAL is
    at least k have a probability of at least `certainty` together.

    It goes beside ``PartAL(k)`` and never in its place: where it holds, that holds too.

    Parameters
    ----------
    k
        The least number of rows, an integer of at least 1.
    chances
        For each column the probability that an attacker knows it, above 0 and at most 1; 8 columns at most.
    certainty
        How probable it must be that PartAL is kept, above 0 and at most 1. 1: whatever he knows of these columns.

    Notes
    -----
    Probabilities are the decimal numbers that were typed, and are added up exactly.

    References
    ----------
    N. Matatov, L. Rokach and O. Maimon, "Privacy-preserving data mining: A feature set partitioning approach",
    Information Sciences 180(14), 2010, Sect. 6, doi:10.1016/j.ins.2010.03.011, proposes a probability for each feature
    and a measure made of them; which measure, it leaves open.

    Examples
    --------
    >>> asked = LikelyPartAL(5, {"bmi": 0.2, "smoker": 0.5}, certainty=0.9)
    >>> asked.to_claim()
    {'requirement': 'likely-partal', 'k': 5, 'chances': {'bmi': 0.2, 'smoker': 0.5}, 'certainty': 0.9}
    >>> for names, weight in asked.draws(["bmi", "smoker"]):
    ...     print(names, weight / 10)
    () 0.4
    ('smoker',) 0.4
    ('bmi',) 0.1
    ('bmi', 'smoker') 0.1
    >>> asked.kept([(40, 4), (12, 4), (9, 1), (1, 1)])  # the level that is kept with a probability of 0.9
    9
    """

    k: int
    chances: tuple[tuple[str, float], ...]
    certainty: float
    name: ClassVar[str] = "likely-partal"

    def __init__(self, k: int, chances: Mapping[str, float], certainty: float = 1.0) -> None:
        object.__setattr__(self, "k", whole("LikelyPartAL", "k", k, least=1))
        object.__setattr__(self, "chances", _checked(chances))
        needed = "a probability above 0 and at most 1"
        object.__setattr__(self, "certainty", real("LikelyPartAL", "certainty", certainty, needed, above=0, most=1))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that an attacker may know."""
        return tuple(name for name, _ in self.chances)

    def of(self, columns: Collection[str]) -> LikelyPartAL | None:
        """The same of some columns only: what it says where the others are not published. None where none is left."""
        chances = {name: chance for name, chance in self.chances if name in columns}
        return LikelyPartAL(self.k, chances, self.certainty) if chances else None

    def draws(self, columns: Collection[str]) -> list[tuple[tuple[str, ...], int]]:
        """All that an attacker may know of some of the columns, with weights in proportion to the probabilities."""
        named = [(name, fraction(chance)) for name, chance in self.chances if name in columns]
        found = []
        for known in product((False, True), repeat=len(named)):
            weight = 1
            for (_, chance), yes in zip(named, known, strict=True):
                weight *= chance.numerator if yes else chance.denominator - chance.numerator
            if weight:
                found.append((tuple(name for (name, _), yes in zip(named, known, strict=True) if yes), weight))
        return found

    def kept(self, levels: Iterable[tuple[int, int]]) -> int:
        """The highest level that is kept with the certainty asked for, from the levels and weights of all draws."""
        ordered = sorted(levels, reverse=True)
        certainty, held = fraction(self.certainty), 0
        needed = certainty.numerator * sum(weight for _, weight in ordered)
        for level, weight in ordered:
            held += weight * certainty.denominator
            if held >= needed:
                return level
        raise AssertionError("all weights together are enough")

    def describe(self) -> str:
        """The requirement as a fragment of a plain English sentence."""
        known = ", ".join(f"{name!r} with a chance of {plain(chance, 100)} %" for name, chance in self.chances)
        return (
            f"PartAL is at least {self.k}, with a certainty of {plain(self.certainty, 100)} %, also for whoever knows "
            f"of private columns, each by itself, {known}"
        )

    def to_claim(self) -> dict[str, Any]:
        """The requirement as a release states it."""
        return {
            "requirement": self.name,
            "k": self.k,
            "chances": dict(self.chances),
            "certainty": self.certainty,
        }


def likely_asked(requirement: Requirement) -> tuple[LikelyPartAL, ...]:
    """What a requirement asks for of columns that an attacker knows by chance.

    >>> from shoal.privacy import PartAL
    >>> likely_asked(PartAL(3)), len(likely_asked(PartAL(3) & LikelyPartAL(3, {"bmi": 0.2}, 0.9)))
    ((), 1)
    """
    return tuple(part for part in parts_of(requirement) if isinstance(part, LikelyPartAL))


def _checked(chances: object) -> tuple[tuple[str, float], ...]:
    if not isinstance(chances, Mapping) or not 1 <= len(chances) <= MOST_COLUMNS:
        got = f"{len(chances)} columns" if isinstance(chances, Mapping) else shown(chances)
        raise RequirementError(
            "parameter",
            f"LikelyPartAL: chances must give probabilities of 1 to {MOST_COLUMNS} columns, by name; got {got}.",
        )
    found = []
    for name, chance in chances.items():
        if not isinstance(name, str):
            raise RequirementError("parameter", f"LikelyPartAL: a column of chances must be a name; got {shown(name)}.")
        needed = "a probability above 0 and at most 1"
        found.append((name, real("LikelyPartAL", f"the chance of {shown(name)}", chance, needed, above=0, most=1)))
    return tuple(sorted(found))
