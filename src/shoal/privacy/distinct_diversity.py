# SPDX-License-Identifier: Apache-2.0
"""Distinct l-diversity: several different values in every group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.privacy._counts import Integers, check_counts
from shoal.privacy._parameters import whole
from shoal.privacy.base import RequirementBase


@dataclass(frozen=True)
class DistinctDiversity(RequirementBase):
    """Every group has at least `l` different sensitive values.

    Parameters
    ----------
    l
        The least number of different values, an integer of at least 2 (one value says nothing).

    Notes
    -----
    The weakest of the diversities: one person with another value is enough, so an attacker may still be
    almost certain. Monotone: a merged group has every value that either of its parts has.

    References
    ----------
    A. Machanavajjhala, D. Kifer, J. Gehrke and M. Venkitasubramaniam, "l-diversity: privacy beyond
    k-anonymity", ACM Transactions on Knowledge Discovery from Data 1(1), 2007, doi:10.1145/1217299.1217302
    (first ICDE 2006, doi:10.1109/ICDE.2006.1).

    Examples
    --------
    >>> DistinctDiversity(2).holds([[9, 1, 0], [0, 0, 7], [0, 0, 0]])
    array([ True, False,  True])
    """

    l: int  # noqa: E741 - the literature's name, and the claim's key
    name: ClassVar[str] = "distinct-l-diversity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", whole("DistinctDiversity", "l", self.l, least=2))

    @property
    def least_people(self) -> int:
        """One person a value."""
        return self.l

    def holds(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Whether each group has at least l different values, or nobody."""
        values = self.measure(counts)
        enough: NDArray[np.bool_] = (values >= self.l) | (values == 0)
        return enough

    def measure(self, counts: ArrayLike, total: ArrayLike | None = None) -> Integers:
        """The number of different values of each group."""
        values: Integers = np.einsum("ij->i", check_counts(counts) > 0, dtype=np.int64)
        return values

    def describe(self) -> str:
        """The requirement as a fragment of a plain English sentence."""
        return f"every group has at least {self.l} different values"

    def to_claim(self) -> dict[str, Any]:
        """The requirement as a release states it."""
        return {"requirement": self.name, "l": self.l}
