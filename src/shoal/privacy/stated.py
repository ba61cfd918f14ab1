# SPDX-License-Identifier: Apache-2.0
"""A requirement that a file states in words only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from numpy.typing import ArrayLike

from shoal.errors import RequirementError
from shoal.privacy.base import RequirementBase

MOST_CHARACTERS = 1000


@dataclass(frozen=True)
class Stated(RequirementBase):
    """What is left of a user's own requirement once it is in a file: its sentence.

    It can be read and shown. It cannot be checked, so asking it of groups is refused: an audit of such a release needs
    the requirement itself, as ``privacy=``.

    Parameters
    ----------
    text
        The requirement's own description.

    Examples
    --------
    >>> Stated("every group has people of both sexes").describe()
    'every group has people of both sexes'
    >>> Stated("every group has people of both sexes").holds([[1, 2]])
    Traceback (most recent call last):
    ...
    shoal.errors.RequirementError: The claim 'every group has people of both sexes' is in words only and cannot be
    checked. Give the requirement itself: privacy=...
    """

    text: str
    name: ClassVar[str] = "stated"

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not 1 <= len(self.text) <= MOST_CHARACTERS:
            raise RequirementError("parameter", f"Stated: text must have 1 to {MOST_CHARACTERS} characters.")

    def holds(self, counts: ArrayLike, total: ArrayLike | None = None) -> NoReturn:
        """Refused: words cannot be asked."""
        raise RequirementError(
            "words-only",
            f"The claim {self.text!r} is in words only and cannot be checked. Give the requirement itself: privacy=...",
        )

    def measure(self, counts: ArrayLike, total: ArrayLike | None = None) -> NoReturn:
        """Refused: words cannot be measured."""
        self.holds(counts, total)

    def describe(self) -> str:
        """The sentence."""
        return self.text

    def to_claim(self) -> dict[str, Any]:
        """The claim as a release states it."""
        return {"requirement": self.name, "text": self.text}
