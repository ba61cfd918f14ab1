# SPDX-License-Identifier: Apache-2.0
"""Several requirements at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import RequirementError
from shoal.privacy._counts import check_counts
from shoal.privacy._parameters import shown
from shoal.privacy.base import Requirement, RequirementBase, is_requirement, least_people, needs_values

# A claim list from a stranger's file is no longer than this, so neither is what may be claimed.
MOST_PARTS = 32


@dataclass(frozen=True)
class And(RequirementBase):
    """Every part holds. Written ``a & b``.

    Parameters
    ----------
    parts
        The requirements; an `And` among them is opened, and one that is there already is left out.

    Notes
    -----
    Monotone when every part is: each part of the merged group holds by itself.

    References
    ----------
    A. Machanavajjhala, D. Kifer, J. Gehrke and M. Venkitasubramaniam, "l-diversity: privacy beyond
    k-anonymity", ACM Transactions on Knowledge Discovery from Data 1(1), 2007, doi:10.1145/1217299.1217302,
    asks for both k and l.

    Examples
    --------
    >>> from shoal.privacy import Confidence, KAnonymity
    >>> both = KAnonymity(5) & Confidence(0.9)
    >>> both
    And(parts=(KAnonymity(k=5), Confidence(c=0.9)))
    >>> both.holds([[3, 2], [20, 1], [1, 1]])
    array([ True, False, False])
    >>> both.describe()
    'every group has at least 5 people, and no value of a group is more certain than 90 %'
    """

    parts: tuple[Requirement, ...]
    name: ClassVar[str] = "and"

    def __post_init__(self) -> None:
        if not isinstance(self.parts, (tuple, list)) or not self.parts:
            raise RequirementError("parameter", "And: parts must be a tuple of at least one requirement.")
        distinct: list[Requirement] = []
        for part in _opened(self.parts):
            # Users' own may not be hashable, and there are few: compare them one by one.
            if not any(part is other or (type(part) is type(other) and part == other) for other in distinct):
                distinct.append(part)
        if len(distinct) > MOST_PARTS:
            raise RequirementError("parameter", f"And: at most {MOST_PARTS} requirements; got {len(distinct)}.")
        object.__setattr__(self, "parts", tuple(distinct))

    @property
    def monotone(self) -> bool:
        """Whether every part is."""
        return all(part.monotone for part in self.parts)

    @property
    def needs_values(self) -> bool:
        """Whether any part does."""
        return any(needs_values(part) for part in self.parts)

    @property
    def least_people(self) -> int:
        """The most that any part needs."""
        return max(least_people(part) for part in self.parts)

    def holds(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Whether every part holds, for each group."""
        counts = check_counts(counts)
        table = None if total is None else np.asarray(total)
        every = np.ones(counts.shape[0], dtype=np.bool_)
        for part in self.parts:
            answer = np.asarray(part.holds(counts, table))
            # A user's own that answers once for all would spread over every group unnoticed.
            if answer.dtype != np.bool_ or answer.shape != every.shape:
                raise RequirementError(
                    "requirement",
                    f"{type(part).__name__}: holds must give one bool a group, {len(every)} in all; "
                    f"got {answer.dtype} of shape {answer.shape}.",
                )
            every &= answer
        return every

    def measure(self, counts: ArrayLike, total: ArrayLike | None = None) -> NoReturn:
        """Not defined: the parts have different units. Raises `RequirementError`."""
        raise RequirementError("measure", "And: several requirements have no one measure. Try each of .parts.")

    def describe(self) -> str:
        """The requirement as a fragment of a plain English sentence."""
        return ", and ".join(part.describe() for part in self.parts)

    def to_claim(self) -> NoReturn:
        """Not defined: a release states each part by itself. Raises `RequirementError`."""
        raise RequirementError("claim", "And: several requirements are several claims. Try to_claims().")

    def to_claims(self) -> list[dict[str, Any]]:
        """The claims of all parts, as a release states them."""
        from shoal.privacy.claims import claims  # which knows every requirement, this one included

        return claims(self)


def _opened(parts: Iterable[object]) -> Iterator[Requirement]:
    for part in parts:
        if isinstance(part, And):
            yield from part.parts
        elif is_requirement(part):
            yield part  # type: ignore[misc]
        else:
            raise RequirementError(
                "parameter", f"And: parts must be requirements; got {shown(part)}. Try KAnonymity(50)."
            )
