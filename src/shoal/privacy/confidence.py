# SPDX-License-Identifier: Apache-2.0
"""Confidence: a ceiling on how certain an attacker may be of a person's value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import RequirementError
from shoal.privacy._counts import check_counts, largest, ratio, safe_type, sizes, top
from shoal.privacy._parameters import fraction, plain, real, whole
from shoal.privacy.base import RequirementBase
from shoal.privacy.entropy_diversity import EntropyDiversity


@dataclass(frozen=True)
class Confidence(RequirementBase):
    """No sensitive value has a share above `c` in any group.

    Parameters
    ----------
    c
        The highest share allowed, above 0 and below 1.

    Notes
    -----
    A group holds when its most frequent value ≤ c · its size, compared in integers with c as the decimal
    number that was typed: 0.9 is 9/10. Monotone: the share of a value in a merged group lies between its
    shares in the two parts.

    **By entropy.** Friedman, Wolff and Schuster keep an attacker's confidence at or below c by entropy
    l-diversity with log2 l = h(c), where h is the binary entropy: at 85 % that is 0.61 bits, l = 1.526. With
    two classes the two requirements are the same. With more they are not: many rare values add entropy
    without making the frequent one less certain, and with 14 classes h(0.85) lets a share of 93 % through.
    Among the groups over m values whose most frequent value has share p ≥ 1/m, those with the other values
    equally frequent have the largest entropy, h(p) + (1 - p) log2(m - 1) (this is Fano's inequality), and it
    falls as p grows. So entropy of at least h(c) + (1 - c) log2(m - 1) does prove a share of at most c, and
    that is what `entropy_threshold` gives. It is sufficient, not necessary: ask for the share itself wherever
    you can, which is what `holds` does.

    References
    ----------
    A. Friedman, R. Wolff and A. Schuster, "Providing k-anonymity in data mining", The VLDB Journal 17, 2008,
    Sect. 6.3, doi:10.1007/s00778-006-0039-5.

    T. M. Cover and J. A. Thomas, "Elements of Information Theory", Wiley 2006, Sect. 2.10,
    doi:10.1002/047174882X.

    Examples
    --------
    >>> Confidence(0.9).holds([[9, 1], [10, 1]])
    array([ True, False])
    >>> Confidence(0.9).describe()
    'no value of a group is more certain than 90 %'
    >>> from shoal.privacy import EntropyDiversity
    >>> crowd = [[1209] + [7] * 13]  # 93 % have one of 14 values
    >>> Confidence(0.85).holds(crowd), EntropyDiversity(1.526).holds(crowd)
    (array([False]), array([ True]))
    >>> Confidence(0.85).as_entropy(14).holds(crowd)
    array([False])
    """

    c: float
    name: ClassVar[str] = "confidence"

    def __post_init__(self) -> None:
        needed = "a number above 0 and below 1"
        object.__setattr__(self, "c", real("Confidence", "c", self.c, needed, above=0, below=1))

    @property
    def least_people(self) -> int:
        """As many as 1/c, rounded up: each with a value of their own."""
        return math.ceil(1 / fraction(self.c))

    def holds(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Whether no value of each group has a share above c."""
        counts = check_counts(counts)
        people, most = sizes(counts), largest(counts)
        p, q = fraction(self.c).as_integer_ratio()
        exact = safe_type(q * top(people))  # c < 1, so q is the larger factor
        return np.asarray(most.astype(exact) * q <= people.astype(exact) * p, dtype=np.bool_)

    def measure(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.float64]:
        """The share of the most frequent value of each group."""
        counts = check_counts(counts)
        return ratio(largest(counts), sizes(counts))

    def entropy_threshold(self, m: int) -> float:
        """The entropy, in bits, that proves a share of at most c among `m` values.

        Parameters
        ----------
        m
            The number of sensitive values, an integer of at least 2 with 1/m ≤ c: below that no group can
            hold.

        Examples
        --------
        >>> round(Confidence(0.85).entropy_threshold(2), 2), round(Confidence(0.85).entropy_threshold(14), 2)
        (0.61, 1.16)
        """
        m = whole("Confidence", "m", m, least=2)
        if fraction(self.c) * m < 1:
            raise RequirementError(
                "parameter",
                f"Confidence: no group can hold; the most frequent of {m} values has at least 1/{m} of it, "
                f"more than {plain(self.c, 100)} %. Try c of at least 1/{m}.",
            )
        rest = 1 - self.c
        return -self.c * math.log2(self.c) - rest * math.log2(rest) + rest * math.log2(m - 1)

    def as_entropy(self, m: int) -> EntropyDiversity:
        """An `EntropyDiversity` that proves this requirement among `m` values.

        Notes
        -----
        l = 2 ** `entropy_threshold` is seldom a decimal number, so it is rounded up, by one part in 10^12:
        what holds by entropy then holds by share, whatever the rounding, and with two values only the group
        with a share of exactly c is refused though it need not be.

        Examples
        --------
        >>> Confidence(0.5).as_entropy(2)
        EntropyDiversity(l=2.0)
        >>> round(Confidence(0.85).as_entropy(2).l, 3)
        1.526
        """
        bits = self.entropy_threshold(m)
        # No group is worth more than m, and one worth m has equal shares: there l is exact.
        return EntropyDiversity(m if fraction(self.c) * m == 1 else min(2**bits * (1 + 1e-12), m))

    def describe(self) -> str:
        """The requirement as a fragment of a plain English sentence."""
        return f"no value of a group is more certain than {plain(self.c, 100)} %"

    def to_claim(self) -> dict[str, Any]:
        """The requirement as a release states it."""
        return {"requirement": self.name, "c": self.c}
