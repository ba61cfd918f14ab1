# SPDX-License-Identifier: Apache-2.0
"""Recursive (c, l)-diversity: no value too frequent, even to one who can rule some others out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.privacy._counts import Integers, check_counts, largest, ratio, safe_type, sizes, top
from shoal.privacy._parameters import fraction, plain, real, whole
from shoal.privacy.base import RequirementBase


@dataclass(frozen=True)
class RecursiveDiversity(RequirementBase):
    """In every group r1 < c (r_l + … + r_m), where r1 ≥ r2 ≥ … are the counts of its values.

    Parameters
    ----------
    c
        A number above 0.
    l
        An integer of at least 2.

    Notes
    -----
    The inequality is strict, as Machanavajjhala et al. state it, and compared in integers with c as the
    decimal number that was typed. Monotone: the tail r_l + … + r_m is the smallest number of people left when
    l - 1 values are taken away, so the tail of a merged group is at least the sum of the two tails, while its
    largest count is at most the sum of the two largest.

    References
    ----------
    A. Machanavajjhala, D. Kifer, J. Gehrke and M. Venkitasubramaniam, "l-diversity: privacy beyond
    k-anonymity", ACM Transactions on Knowledge Discovery from Data 1(1), 2007,
    doi:10.1145/1217299.1217302.

    Examples
    --------
    >>> RecursiveDiversity(2, 2).holds([[5, 2, 1], [6, 2, 1], [4, 0, 0]])
    array([ True, False, False])
    >>> RecursiveDiversity(2, 2).measure([[6, 2, 1], [4, 0, 0]])
    array([ 2., inf])
    """

    c: float
    l: int  # noqa: E741 - the literature's name, and the claim's key
    name: ClassVar[str] = "recursive-l-diversity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", real("RecursiveDiversity", "c", self.c, "a number above 0", above=0))
        object.__setattr__(self, "l", whole("RecursiveDiversity", "l", self.l, least=2))

    @property
    def least_people(self) -> int:
        """The least n with 1 < c (n - l + 1): everybody with a value of their own."""
        return math.floor(self.l - 1 + 1 / fraction(self.c)) + 1

    def holds(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Whether the most frequent value of each group has fewer than c times the people of its tail."""
        counts = check_counts(counts)
        most, tail = largest(counts), self._tail(counts)
        p, q = fraction(self.c).as_integer_ratio()
        exact = safe_type(max(p * top(tail), q * top(most)))
        fewer = np.asarray(most.astype(exact) * q < tail.astype(exact) * p, dtype=np.bool_)
        nobody: NDArray[np.bool_] = most == 0
        return fewer | nobody

    def measure(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.float64]:
        """The bound each group sets on c: it holds for every c above, and none if it is ``inf``."""
        counts = check_counts(counts)
        return ratio(largest(counts), self._tail(counts))

    def describe(self) -> str:
        """The requirement as a fragment of a plain English sentence."""
        return (
            f"in every group the most frequent value has fewer than {plain(self.c)} times "
            f"the people of the values from rank {self.l} on"
        )

    def to_claim(self) -> dict[str, Any]:
        """The requirement as a release states it."""
        return {"requirement": self.name, "c": self.c, "l": self.l}

    def _tail(self, counts: Integers) -> Integers:
        """People of each group with its l-th most frequent value or a rarer one."""
        if self.l == 2:
            return sizes(counts) - largest(counts)  # no sorting needed
        ascending = np.sort(counts, axis=1)
        return sizes(ascending[:, : max(counts.shape[1] - self.l + 1, 0)])
