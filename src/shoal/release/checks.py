# SPDX-License-Identifier: Apache-2.0
"""Small checks of untrusted JSON, and its limits: what is wrong is refused by its place."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, NoReturn

from shoal.errors import ReleaseError

MAX_NODES = 1_000_000
MAX_BRANCHES = 100_000  # of one node
MAX_ATTRIBUTES = 10_000
MAX_VALUES = 1_000_000
MAX_COUNT = 2**53


def refuse(at: str, what: str) -> NoReturn:
    """Say that something is not valid, and where."""
    raise ReleaseError("bad-release", f"The release is not valid: {at} {what}.")


def keys(entry: Any, at: str, needed: Collection[str], allowed: Collection[str]) -> None:
    """An object with all keys that are needed and no strange one."""
    if not isinstance(entry, dict):
        refuse(at, "must be an object")
    for key in needed:
        if key not in entry:
            refuse(at, f"lacks {key!r}")
    if not set(entry) <= {*needed, *allowed}:
        refuse(at, f"has keys that this format does not know; known are {sorted({*needed, *allowed})}")


def items(value: Any, at: str, most: int) -> list[Any]:
    """A list that is not empty and not too long."""
    if not isinstance(value, list) or not value:
        refuse(at, "must be a list that is not empty")
    if len(value) > most:
        refuse(at, f"is longer than {most:,}")
    return list(value)


def text(value: Any, at: str) -> str:
    """A text."""
    if not isinstance(value, str) or len(value) > 10_000 or any("\ud800" <= c <= "\udfff" for c in value):
        refuse(at, "must be a text")
    return str(value)


def texts(value: Any, at: str, most: int) -> tuple[str, ...]:
    """A list of texts."""
    return tuple(text(each, at) for each in items(value, at, most))


def flag(entry: dict[str, Any], key: str, at: str) -> bool:
    """A key that is true or false; false where it is left out."""
    value = entry.get(key, False)
    if not isinstance(value, bool):
        refuse(f"{at}.{key}", "must be true or false")
    return bool(value)


def count(value: Any, at: str) -> int:
    """A whole number, not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_COUNT:
        refuse(at, "must be a whole number, not negative")
    return int(value)


def number(value: Any, at: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > 1e300 or not math.isfinite(value):
        refuse(at, "must be a finite number")
    return float(value)
