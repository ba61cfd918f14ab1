# SPDX-License-Identifier: Apache-2.0
"""Published shares, and the whole numbers of people that can be behind them.

A support of 8.4 % of 1,000 people is 84 people. Written with fewer digits it is one of several numbers. So a share is
kept as the smallest and the largest that it can be, in exact fractions, and counts are integers from here on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from shoal.errors import DataError

COMPUTED = Fraction(1, 10**12)  # what floating point may have done to a share that nobody rounded
LONGEST = 40  # characters of a number; more is none that anybody published
LARGEST = 1e15


@dataclass(frozen=True)
class Share:
    """A share between 0 and 1, as far as what is published tells: from `low` to `high`.

    >>> Share.of(0.084).counts(1000), Share.of("8%").counts(1000), Share.of(0.084, decimals=2).counts(1000)
    ((84, 84), (75, 85), (79, 89))
    """

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, value: Any, decimals: int | None = None) -> Share:
        """A share from a number or its text, as it was computed; or rounded to `decimals` places.

        A percentage such as ``"8.4%"`` was written by hand and counts as rounded to the digits it has. Anything but
        a share raises `ValueError`.
        """
        low, high = interval(value, decimals)
        if low > 1:
            raise ValueError
        return cls(low, min(Fraction(1), high))

    def counts(self, n: int) -> tuple[int, int]:
        """The fewest and the most of `n` people that this share can be; fewest above most where none can."""
        return math.ceil(self.low * n), math.floor(self.high * n)

    def wholes(self, part: tuple[int, int]) -> tuple[int, int | None]:
        """The fewest and the most people that a part is this share of; None where there may be any number."""
        most = None if self.low == 0 else math.floor(part[1] / self.low)
        return (math.ceil(part[0] / self.high) if self.high else 0), most


def interval(value: Any, decimals: int | None) -> tuple[Fraction, Fraction]:
    """The smallest and the largest that a published number can be; `ValueError` where it is none from 0 on."""
    text = str(value).strip()
    if len(text) > LONGEST or "/" in text or "_" in text or abs(float(text.rstrip("% "))) > LARGEST:
        raise ValueError
    if text.endswith("%"):
        text = text[:-1].strip()
        exact = Fraction(text) / 100
        decimals = 2 + len(text.partition(".")[2]) if decimals is None else decimals
    else:
        exact = Fraction(text)
    if exact < 0:
        raise ValueError
    off = exact * COMPUTED if decimals is None else Fraction(1, 2 * 10**decimals)
    return max(Fraction(0), exact - off), exact + off


def check_decimals(decimals: Any) -> None:
    """Refuse what is no number of places."""
    if decimals is not None and (
        not isinstance(decimals, int) or isinstance(decimals, bool) or not 0 <= decimals <= 12
    ):
        raise DataError("decimals", "decimals must be a whole number from 0 to 12: the places shares were rounded to.")
