# SPDX-License-Identifier: Apache-2.0
"""k-anonymity: nobody stands in a group of fewer than k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.privacy._counts import check_counts, sizes
from shoal.privacy._parameters import whole
from shoal.privacy.base import RequirementBase


@dataclass(frozen=True)
class KAnonymity(RequirementBase):
    """Every group has at least `k` people.

    Parameters
    ----------
    k
        The least number of people, an integer of at least 1.

    Notes
    -----
    It looks at group sizes alone, so the values may be summed out beforehand: one column of sizes is enough.
    Monotone: a merged group is at least as large as either of its parts. Integers are compared with integers.

    References
    ----------
    L. Sweeney, "k-anonymity: a model for protecting privacy", International Journal of Uncertainty, Fuzziness
    and Knowledge-Based Systems 10(5), 2002, doi:10.1142/S0218488502001648.

    A. Friedman, R. Wolff and A. Schuster, "Providing k-anonymity in data mining", The VLDB Journal 17, 2008,
    doi:10.1007/s00778-006-0039-5.

    Examples
    --------
    >>> KAnonymity(5).holds([[3, 2], [4, 0], [0, 0]])
    array([ True, False,  True])
    >>> KAnonymity(5).describe()
    'every group has at least 5 people'
    """

    k: int
    name: ClassVar[str] = "k-anonymity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole("KAnonymity", "k", self.k, least=1))

    @property
    def needs_values(self) -> bool:
        """False: group sizes are enough."""
        return False

    @property
    def least_people(self) -> int:
        """k itself."""
        return self.k

    def holds(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Whether each group has at least k people, or none."""
        people = sizes(check_counts(counts))
        enough: NDArray[np.bool_] = (people >= self.k) | (people == 0)
        return enough

    def measure(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.int64]:
        """The size of each group."""
        return sizes(check_counts(counts))

    def describe(self) -> str:
        """The requirement as a fragment of a plain English sentence."""
        return f"every group has at least {self.k} {'person' if self.k == 1 else 'people'}"

    def to_claim(self) -> dict[str, Any]:
        """The requirement as a release states it."""
        return {"requirement": self.name, "k": self.k}
