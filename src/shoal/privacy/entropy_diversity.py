# SPDX-License-Identifier: Apache-2.0
"""Entropy l-diversity: every group as mixed as l equally frequent values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.privacy._counts import Integers, check_counts, largest, sizes
from shoal.privacy._parameters import fraction, plain, real
from shoal.privacy.base import RequirementBase

# Entropies in double precision are good to about 1e-13 bits; this near the threshold, integers decide.
_NEAR = 1e-9
# Beyond this many people the powers below get too long to be worth it.
_LONGEST = 20_000


@dataclass(frozen=True)
class EntropyDiversity(RequirementBase):
    """Every group's sensitive values have an entropy of at least log2(`l`) bits.

    Parameters
    ----------
    l
        A number above 1. With m values no group reaches more than m, so with two classes l lies between 1 and
        2.

    Notes
    -----
    A group of n people, n_i of them with value i, has entropy H = log2 n - (1/n) Σ n_i log2 n_i. Where H is
    within 1e-9 bits of log2 l, floats do not decide: with l = p/q as the decimal number that was typed, H ≥
    log2 l exactly when (n q)^n ≥ p^n Π n_i^n_i, and that is compared in integers after dividing the n_i by
    their common divisor. So 5 and 5 reach l = 2. A near tie of more than 20,000 people (after that division)
    is refused: that fails closed.

    Monotone: entropy is concave, so a mixture of two distributions has at least the smaller of their
    entropies. (But for the refused near ties, which are less than 1e-9 bits from the threshold.)

    References
    ----------
    A. Machanavajjhala, D. Kifer, J. Gehrke and M. Venkitasubramaniam, "l-diversity: privacy beyond
    k-anonymity", ACM Transactions on Knowledge Discovery from Data 1(1), 2007,
    doi:10.1145/1217299.1217302.

    A. Friedman, R. Wolff and A. Schuster, "Providing k-anonymity in data mining", The VLDB Journal 17, 2008,
    Sect. 6.3, doi:10.1007/s00778-006-0039-5. See `Confidence` on what it says of an attacker's certainty.

    Examples
    --------
    >>> EntropyDiversity(1.526).holds([[84, 16], [86, 14]])
    array([ True, False])
    >>> EntropyDiversity(2).holds([[5, 5], [5, 6]])
    array([ True, False])
    """

    l: float  # noqa: E741 - the literature's name, and the claim's key
    name: ClassVar[str] = "entropy-l-diversity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", real("EntropyDiversity", "l", self.l, "a number above 1", above=1))

    @property
    def least_people(self) -> int:
        """As many as l, rounded up: each with a value of their own."""
        return math.ceil(fraction(self.l))

    def holds(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Whether each group has an entropy of at least log2 l."""
        counts = check_counts(counts)
        people = sizes(counts)
        enough: NDArray[np.bool_] = people == 0
        if self.l > counts.shape[1]:
            return enough  # no distribution over so few values reaches l
        over = _bits(counts, people) - math.log2(self.l)
        enough |= over > 0
        near = (np.abs(over) < _NEAR * max(1.0, counts.shape[1] / 1e4)) & (people > 0)
        if near.any():
            enough[near] = _exactly(counts[near], fraction(self.l))
        return enough

    def measure(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.float64]:
        """2 to the entropy of each group: how many equally frequent values it is worth."""
        counts = check_counts(counts)
        people = sizes(counts)
        worth = np.exp2(_bits(counts, people))
        worth[people == 0] = np.nan
        return worth

    def describe(self) -> str:
        """The requirement as a fragment of a plain English sentence."""
        return f"the values of every group are as mixed as {plain(self.l)} equally frequent ones"

    def to_claim(self) -> dict[str, Any]:
        """The requirement as a release states it."""
        return {"requirement": self.name, "l": self.l}


def _bits(counts: Integers, people: Integers) -> NDArray[np.float64]:
    """The entropy of each group in bits; 0 for an empty one."""
    # log2 of a positive integer is never negative, so max(n, 1) makes the terms of absent values 0.
    terms = np.einsum("ij,ij->i", counts, np.log2(np.maximum(counts, 1)))
    some = np.maximum(people, 1)
    bits: NDArray[np.float64] = np.log2(some) - terms / some
    return np.maximum(bits, 0.0)


def _exactly(counts: Integers, least: Fraction) -> NDArray[np.bool_]:
    """Whether 2 to the entropy is at least `least`, for the few groups floats cannot tell, none empty."""
    different = np.einsum("ij->i", counts > 0, dtype=np.int64)
    # Equally frequent values are worth exactly their number; such ties may be many, and need no powers.
    even = largest(counts) * different == sizes(counts)
    answer: NDArray[np.bool_] = even & (different >= math.ceil(least))
    odd = np.sort(counts[~even], axis=1)
    if odd.size:
        odd //= np.gcd.reduce(odd, axis=1)[:, None]
        kinds, kind = np.unique(odd, axis=0, return_inverse=True)
        verdicts = np.array([_by_powers(row[row > 0].tolist(), least) for row in kinds], dtype=np.bool_)
        answer[~even] = verdicts[kind.reshape(-1)]
    return answer


def _by_powers(group: list[int], least: Fraction) -> bool:
    """Compare n^n q^n with p^n Π n_i^n_i in integers of any length."""
    n = sum(group)
    if n > _LONGEST:
        return False
    p, q = least.as_integer_ratio()
    return bool((n * q) ** n >= p**n * math.prod(count**count for count in group))
