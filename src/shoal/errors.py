# SPDX-License-Identifier: Apache-2.0
"""Everything Shoal refuses, and why.

Each refusal is one sentence or two: what is wrong, where, what to try. It names columns and counts, never a cell.
Every error carries a stable ``code``; ``docs/reference/errors.md`` has a paragraph for each.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ShoalError(ValueError):
    """The base of all of Shoal's refusals.

    A `ValueError`, so that scikit-learn and its users meet what they expect.

    >>> raise DataError("empty-table", "The table has no rows.")
    Traceback (most recent call last):
    ...
    shoal.errors.DataError: The table has no rows.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type[ShoalError], tuple[str, str]]:
        return type(self), (self.code, str(self))


class DataError(ShoalError):
    """Rows or columns that cannot be used as they are."""


class RoleError(ShoalError):
    """Roles that do not fit the columns, all problems at once."""


class HierarchyError(ShoalError):
    """A hierarchy that is no hierarchy, or does not know the values of its column."""


class RequirementError(ShoalError):
    """A requirement that makes no sense, or cannot be asked of this table."""


class PromiseError(ShoalError):
    """A promise that cannot be kept: nothing is returned and nothing is written."""


class ReleaseError(ShoalError):
    """A release file that is broken, hostile or not of this format."""


def closest(name: str, names: Iterable[str]) -> str:
    """A hint such as `` Closest: 'zipcode'.``, or nothing when no name is near.

    >>> closest("zipcod", ["zipcode", "age"])
    " Closest: 'zipcode'."
    """
    near = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f" Closest: {near[0]!r}." if near else ""
