# SPDX-License-Identifier: Apache-2.0
"""What a user may write to describe a hierarchy by rule, checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from numbers import Real
from typing import Any

from shoal.data.hierarchy_sources import MAX_VALUES
from shoal.errors import HierarchyError

TABLE_KEYS = ("intervals", "cuts", "equal_size", "prefix", "dates", "tree", "file")


def is_table(spec: Mapping[Any, Any]) -> bool:
    """Whether a dict is a table of ``shoal.toml`` rather than a nested dict of groups."""
    # a list of numbers beside a misspelt key is meant as a table too
    return all(key in (*TABLE_KEYS, "start") for key in spec) or any(
        isinstance(value, (list, tuple)) and value and isinstance(value[0], (Real, list, tuple))
        for key, value in spec.items()
        if key in TABLE_KEYS
    )


def bad(kind: str, wanted: str) -> HierarchyError:
    """The refusal of a rule that was not given what it needs."""
    code = f"hierarchy-bad-{kind.replace('_', '-')}"
    return HierarchyError(code, f"A hierarchy by {kind!r} needs {wanted}.")


def numbers(kind: str, values: Any) -> tuple[float, ...]:
    """A list of finite numbers, as floats."""
    wanted = "a list of finite numbers"
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise bad(kind, wanted)
    given = list(values)
    if not given or any(isinstance(x, bool) or not isinstance(x, Real) for x in given):
        raise bad(kind, wanted)
    try:
        found = tuple(float(x) + 0.0 for x in given)  # no negative zero
    except OverflowError:
        raise bad(kind, wanted) from None
    if not all(map(math.isfinite, found)):
        raise bad(kind, wanted)
    return found


def whole(kind: str, values: Any) -> tuple[int, ...]:
    """A list of whole numbers above 0."""
    found = numbers(kind, values)
    if any(not x.is_integer() or not 1 <= x <= MAX_VALUES for x in found):
        raise bad(kind, f"whole numbers from 1 to {MAX_VALUES:,}")
    return tuple(int(x) for x in found)


def is_multiple(wide: float, narrow: float) -> bool:
    """Whether one number is a multiple of another as both are written: 0.3 is three times 0.1."""
    return (Fraction(repr(wide)) / Fraction(repr(narrow))).denominator == 1
