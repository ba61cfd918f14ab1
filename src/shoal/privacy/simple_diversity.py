# SPDX-License-Identifier: Apache-2.0
"""Simple l-diversity: the most frequent value has at most one part in l of its group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.privacy._counts import check_counts, largest, ratio, safe_type, sizes, top
from shoal.privacy._parameters import fraction, plain, real
from shoal.privacy.base import RequirementBase


@dataclass(frozen=True)
class SimpleDiversity(RequirementBase):
    """No sensitive value has more than one person in `l` of any group.

    Parameters
    ----------
    l
        A number above 1. Whole or not: 1.25 allows a share of 80 %.

    Notes
    -----
    The same statement as `Confidence` with c = 1/l, for those who think in l. A group holds when l · (its
    most frequent value) ≤ its size, compared in integers with l as the decimal number that was typed.
    Monotone: the most frequent value of a merged group has at most the sum of the two largest counts, hence
    at most 1/l of the sum of the sizes.

    References
    ----------
    A. Machanavajjhala, D. Kifer, J. Gehrke and M. Venkitasubramaniam, "l-diversity: privacy beyond
    k-anonymity", ACM Transactions on Knowledge Discovery from Data 1(1), 2007, doi:10.1145/1217299.1217302.

    X. Xiao and Y. Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006 (no DOI).

    Examples
    --------
    >>> SimpleDiversity(2).holds([[5, 3, 2], [6, 4, 0]])
    array([ True, False])
    >>> SimpleDiversity(2).measure([[5, 3, 2]])
    array([2.])
    """

    l: float  # noqa: E741 - the literature's name, and the claim's key
    name: ClassVar[str] = "simple-l-diversity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", real("SimpleDiversity", "l", self.l, "a number above 1", above=1))

    @property
    def least_people(self) -> int:
        """As many as l, rounded up: each with a value of their own."""
        return math.ceil(fraction(self.l))

    def holds(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Whether the most frequent value of each group has at most 1/l of it."""
        counts = check_counts(counts)
        people, most = sizes(counts), largest(counts)
        p, q = fraction(self.l).as_integer_ratio()
        exact = safe_type(p * top(people))  # l > 1, so p is the larger factor
        return np.asarray(most.astype(exact) * p <= people.astype(exact) * q, dtype=np.bool_)

    def measure(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.float64]:
        """One over the share of the most frequent value of each group: the largest l that would hold."""
        counts = check_counts(counts)
        return ratio(sizes(counts), largest(counts))

    def describe(self) -> str:
        """The requirement as a fragment of a plain English sentence."""
        return f"no value has more than one person in {plain(self.l)} of any group"

    def to_claim(self) -> dict[str, Any]:
        """The requirement as a release states it."""
        return {"requirement": self.name, "l": self.l}
