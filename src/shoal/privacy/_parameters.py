# SPDX-License-Identifier: Apache-2.0
"""Checks of what a requirement is made with: each parameter is looked at once, and means what was typed."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np

from shoal.errors import RequirementError

# The largest integer every JSON reader keeps exactly: a claim must mean the same on both sides.
LARGEST = 2**53


def shown(value: object) -> str:
    """A value as a message may show it: short, and never failing, whatever a hostile file holds.

    >>> shown(1.5), shown("k" * 100)[:12], shown([1]), shown(10**9999)
    ('1.5', "'kkkkkkkkkkk", 'a list', 'a very long integer')
    """
    if isinstance(value, (np.integer, np.floating)):
        value = value.item()
    if isinstance(value, int) and abs(value) >= 10**40:
        return "a very long integer"
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:40] + "…")
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def whole(owner: str, name: str, value: object, *, least: int) -> int:
    """`value` as a Python int of at least `least`, or a refusal."""
    # A bool is an int to Python, but nobody means k = True.
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and least <= value <= LARGEST:
        return int(value)
    limit = " and at most 2**53" if isinstance(value, (int, np.integer)) and value > LARGEST else ""
    raise RequirementError(
        "parameter", f"{owner}: {name} must be an integer of at least {least}{limit}; got {shown(value)}."
    )


def real(
    owner: str,
    name: str,
    value: object,
    needed: str,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
) -> float:
    """`value` as a finite float within the bounds given, or a refusal that says `needed`."""
    number = float("nan")
    if isinstance(value, np.floating):
        number = float(str(value))  # float32(0.9) means 0.9, not 0.8999999761581421
    elif isinstance(value, float) or (isinstance(value, (int, np.integer)) and not isinstance(value, bool)):
        number = float(value) if -LARGEST <= value <= LARGEST else float("nan")
    # A NaN compares false to every bound and so would pass each "refuse if" below: ask for its opposite.
    fits = (
        -LARGEST <= number <= LARGEST
        and (above is None or number > above)
        and (least is None or number >= least)
        and (below is None or number < below)
        and (most is None or number <= most)
    )
    if not fits:
        raise RequirementError("parameter", f"{owner}: {name} must be {needed}; got {shown(value)}.")
    return number + 0.0  # no negative zero


@lru_cache(maxsize=256)
def fraction(value: float) -> Fraction:
    """The number a person typed: 0.9 is 9/10, not the nearest binary fraction.

    >>> fraction(0.9)
    Fraction(9, 10)
    """
    return Fraction(str(value))


def plain(value: float, times: int = 1) -> str:
    """A number in full: rounding 99.99999 % to 100 % would change what is promised.

    >>> plain(0.9, 100), plain(2.0), plain(0.9999999, 100)
    ('90', '2', '99.99999')
    """
    text = f"{Decimal(str(value)) * times:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
