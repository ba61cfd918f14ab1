# SPDX-License-Identifier: Apache-2.0
"""What requirements about the rows of projections have in common: no group of people can be asked for them."""

from __future__ import annotations

from typing import NoReturn

from numpy.typing import ArrayLike

from shoal.errors import RequirementError
from shoal.privacy.base import RequirementBase


class OfProjections(RequirementBase):
    """The base of `PartAL` and `LikelyPartAL`."""

    k: int

    @property
    def needs_values(self) -> bool:
        """False: it asks for numbers of rows."""
        return False

    @property
    def least_people(self) -> int:
        """The people of each projection's smallest group. Of all projections together a group may have one."""
        return self.k

    def holds(self, counts: ArrayLike, total: ArrayLike | None = None) -> NoReturn:
        """Refused: a group of people is not what it is about."""
        raise RequirementError(
            "not-of-groups",
            f"{type(self).__name__} is about rows of projections joined again and not about groups of people: it can "
            f"be asked of projections only. Ask for KAnonymity({self.k}) here.",
        )

    def measure(self, counts: ArrayLike, total: ArrayLike | None = None) -> NoReturn:
        """Refused, as `holds` is."""
        self.holds(counts, total)
