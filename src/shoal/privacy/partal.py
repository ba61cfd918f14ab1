# SPDX-License-Identifier: Apache-2.0
"""PartAL: what projections of one table keep when their rows are joined again. No statement about groups of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from shoal.privacy._parameters import whole
from shoal.privacy.base import Requirement
from shoal.privacy.conjunction import And
from shoal.privacy.likely_partal import LikelyPartAL
from shoal.privacy.of_projections import OfProjections
from shoal.privacy.parts import parts_of

NOT_K_ANONYMITY = (
    "PartAL counts rows of the projections joined again, not people: it is not k-anonymity, and who is in the same "
    "rows of every projection may be alone."
)


@dataclass(frozen=True)
class PartAL(OfProjections):
    """Each projection is k-anonymous by itself, and every row of two of them joined again is there `k` times.

    It is a statement about rejoined rows, and never one about people: it can be asked of projections only, and asking
    it of groups is refused.

    Parameters
    ----------
    k
        The least number of rows, an integer of at least 1.

    Notes
    -----
    The *partial* level (PAL) is the smallest group of any projection; the *set* level (SAL) the smallest number of
    equal rows, on public columns and target, in the natural join of two projections; PartAL is the smaller of both.
    A joined row stands for nobody: two projections of few people each join to a product of rows.

    References
    ----------
    N. Matatov, L. Rokach and O. Maimon, "Privacy-preserving data mining: A feature set partitioning approach",
    Information Sciences 180(14), 2010, Definition 8, doi:10.1016/j.ins.2010.03.011. The paper calls it k-anonymity.

    Examples
    --------
    >>> PartAL(5).to_claim()
    {'requirement': 'partal', 'k': 5}
    >>> PartAL(5).holds([[9, 9]])
    Traceback (most recent call last):
    ...
    shoal.errors.RequirementError: PartAL is about rows of projections joined again and not about groups of people: it
    can be asked of projections only. Ask for KAnonymity(5) here.
    """

    k: int
    name: ClassVar[str] = "partal"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole("PartAL", "k", self.k, least=1))

    def describe(self) -> str:
        """The requirement as a fragment of a plain English sentence."""
        times = "once" if self.k == 1 else f"{self.k} times"
        return (
            f"every projection alone is {self.k}-anonymous, and every row of two of them joined again is there at "
            f"least {times} (PartAL, which is not k-anonymity)"
        )

    def to_claim(self) -> dict[str, Any]:
        """The requirement as a release states it."""
        return {"requirement": self.name, "k": self.k}


def partal_asked(requirement: Requirement) -> int | None:
    """The largest k of PartAL that a requirement asks for; None where it asks for none.

    >>> from shoal.privacy import KAnonymity
    >>> partal_asked(PartAL(3) & PartAL(5)), partal_asked(KAnonymity(5))
    (5, None)
    """
    return max((part.k for part in parts_of(requirement) if isinstance(part, PartAL)), default=None)


def asked_of_groups(requirement: Requirement) -> Requirement | None:
    """What a requirement asks of groups of people, PartAL left aside; None where that is nothing.

    >>> from shoal.privacy import KAnonymity
    >>> asked_of_groups(PartAL(3) & KAnonymity(5)), asked_of_groups(PartAL(3))
    (KAnonymity(k=5), None)
    """
    parts = tuple(part for part in parts_of(requirement) if not isinstance(part, PartAL | LikelyPartAL))
    return None if not parts else parts[0] if len(parts) == 1 else And(parts)
