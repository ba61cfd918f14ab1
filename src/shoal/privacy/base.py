# SPDX-License-Identifier: Apache-2.0
"""What a requirement is: the little a user's own must have, and the rest that Shoal's have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from shoal.privacy.conjunction import And


@runtime_checkable
class Requirement(Protocol):
    """A statement about groups of people. Any object with these three is one.

    Notes
    -----
    `monotone` says that two groups that hold, merged, hold. Miners prune by it, so a wrong ``True`` costs the
    promise nothing (every release is audited) but may cost a better release; a wrong ``False`` only costs
    time.

    Inherit from `RequirementBase` to get ``&``, defaults for everything else, and claims.

    Examples
    --------
    >>> import numpy as np
    >>> class AtLeastOneOfEach:
    ...     monotone = True
    ...     def holds(self, counts, total=None):
    ...         return (counts > 0).all(axis=1) | (counts.sum(axis=1) == 0)
    ...     def describe(self):
    ...         return "every group has every value"
    >>> isinstance(AtLeastOneOfEach(), Requirement)
    True
    """

    @property
    def monotone(self) -> bool:
        """Whether merging two groups that hold gives one that holds."""

    def holds(
        self, counts: NDArray[np.integer[Any]], total: NDArray[np.integer[Any]] | None = None
    ) -> NDArray[np.bool_]:
        """One answer a group; `counts` is groups × values, `total` the counts of the whole table."""

    def describe(self) -> str:
        """The requirement as a fragment of a plain English sentence."""


class RequirementBase(ABC):
    """The base of Shoal's own requirements: pure functions of counts, equal when equal, safe to write down.

    Notes
    -----
    An empty group holds. Its `measure` is 0 where the unit is a number of people or values, and ``nan`` where
    the unit is a share, a distance or the like, which nobody has.
    """

    name: ClassVar[str]
    """What the requirement is called in a claim."""

    @property
    def monotone(self) -> bool:
        """Whether merging two groups that hold gives one that holds."""
        return True

    @property
    def needs_values(self) -> bool:
        """Whether the sensitive values matter, or only how many people there are."""
        return True

    @property
    def least_people(self) -> int:
        """The smallest number of people a group that holds can have."""
        return 1

    @abstractmethod
    def holds(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Whether each group holds.

        Parameters
        ----------
        counts
            Integer array, groups × sensitive values: how many people of the group have the value.
        total
            How many people of the whole table have each value; ``None`` means that `counts` is the whole
            table. Only `Closeness` looks at it.

        Returns
        -------
        bool array, one answer a group. An empty group holds.
        """

    @abstractmethod
    def measure(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[Any]:
        """What each group reaches, in the requirement's own unit. For telling; `holds` decides."""

    @abstractmethod
    def describe(self) -> str:
        """The requirement as a fragment of a plain English sentence."""

    @abstractmethod
    def to_claim(self) -> dict[str, Any]:
        """The requirement as a release states it, ready for JSON."""

    def __and__(self, other: object) -> Requirement:
        return _both(self, other)

    def __rand__(self, other: object) -> Requirement:
        return _both(other, self)


def is_requirement(candidate: object) -> bool:
    """Whether an object (not a class) has what a requirement must have."""
    return not isinstance(candidate, type) and isinstance(candidate, Requirement)


def least_people(requirement: Requirement) -> int:
    """The smallest number of people a group that holds can have; 1 for a user's own that does not say.

    >>> from shoal.privacy import Confidence, KAnonymity
    >>> least_people(KAnonymity(5) & Confidence(0.1))
    10
    """
    return int(getattr(requirement, "least_people", 1))


def needs_values(requirement: Requirement) -> bool:
    """Whether sensitive values matter; true for a user's own that does not say.

    >>> from shoal.privacy import Confidence, KAnonymity
    >>> needs_values(KAnonymity(5)), needs_values(KAnonymity(5) & Confidence(0.9))
    (False, True)
    """
    return bool(getattr(requirement, "needs_values", True))


def _both(first: object, second: object) -> Requirement:
    if not (is_requirement(first) and is_requirement(second)):
        return NotImplemented  # type: ignore[no-any-return]
    from shoal.privacy.conjunction import And  # a conjunction is a requirement too, hence the late import

    both: And = And((first, second))  # type: ignore[arg-type]
    return both if len(both.parts) > 1 else both.parts[0]
