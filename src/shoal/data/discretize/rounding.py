# SPDX-License-Identifier: Apache-2.0
"""Round numbers between two others, because an exact value in a release is somebody's value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]

_DIGITS = 17  # enough decimal digits to tell any two float64 apart
_EXACT = 22  # powers of ten up to this one are exact in float64
_POWERS = np.array([float(f"1e{p}") for p in range(309)])


def roundest(low: float, high: float) -> float:
    """The roundest number strictly between two others.

    The one that is a multiple of the largest power of ten; of several, the nearest to the middle, and of two
    equally near, the lower. When no float64 lies strictly between, `low` itself.

    Parameters
    ----------
    low, high
        Two finite numbers, `low` not above `high`.

    Returns
    -------
    float
        ``low < x < high``, or `low` when there is no such number.

    Examples
    --------
    >>> roundest(17, 23), roundest(27, 28), roundest(99, 101), roundest(-5, 3), roundest(0.12, 0.47)
    (20.0, 27.5, 100.0, 0.0, 0.3)
    """
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError("roundest needs two finite numbers, the lower one first.")
    return float(_roundest(np.array([low], dtype=np.float64), np.array([high], dtype=np.float64))[0])


def roundest_each(low: Numbers, high: Numbers) -> Numbers:
    """`roundest` of many pairs.

    >>> roundest_each(np.array([17.0, 27.0]), np.array([23.0, 28.0])).tolist()
    [20.0, 27.5]
    """
    return _roundest(low, high)


def round_cuts(values: ArrayLike) -> Numbers:
    """One round cut between every two neighbours.

    Parameters
    ----------
    values
        Distinct finite numbers, ascending.

    Returns
    -------
    numpy.ndarray
        One number fewer than `values`: `roundest` of each neighbouring pair.

    Examples
    --------
    >>> round_cuts([17, 23, 27, 28]).tolist()
    [20.0, 25.0, 27.5]
    """
    numbers = np.asarray(values, dtype=np.float64)
    return _roundest(numbers[:-1], numbers[1:])


def _roundest(low: Numbers, high: Numbers) -> Numbers:
    """`roundest` of many pairs: try powers of ten from the largest down, on the pairs that are still open."""
    found = np.array(low, dtype=np.float64)
    across = (low < 0) & (high > 0)
    found[across] = 0.0
    left = np.flatnonzero(~across & (np.nextafter(low, high) < high))
    a, b = low[left], high[left]
    middle = a + (b - a) / 2
    found[left] = middle  # stands only where 17 digits are too few
    largest = np.maximum(np.abs(a), np.abs(b))
    power = np.clip(np.floor(np.log10(largest)).astype(np.int64) + 1, -300, 308)
    for _ in range(_DIGITS + 2):
        if not len(left):
            break
        times = _multiple(middle, power)
        done = np.zeros(len(left), dtype=bool)
        # the multiple nearest the middle is inside if any is; its neighbours make up for rounding
        for shift in (0.0, -1.0, 1.0):
            x = _times(times + shift, power)
            good = ~done & (a < x) & (x < b)
            found[left[good]] = x[good]
            done |= good
        rest = ~done & (power > -300)
        left, a, b, middle, power = left[rest], a[rest], b[rest], middle[rest], power[rest] - 1
    return found + 0.0


def _multiple(middle: Numbers, power: NDArray[Any]) -> Numbers:
    """How many times ``10 ** power`` goes into `middle`, halves down, also those a rounding away."""
    scale = _POWERS[np.abs(power)]
    with np.errstate(over="ignore"):
        exact = np.where(power >= 0, middle / scale, middle * scale)
    nearest: Numbers = np.ceil(exact - 0.5 - np.minimum(np.abs(exact) * 2.0**-50, 1e-3))
    return nearest


def _times(times: Numbers, power: NDArray[Any]) -> Numbers:
    """``times * 10 ** power``, rounded once."""
    scale = _POWERS[np.abs(power)]
    with np.errstate(over="ignore"):
        x: Numbers = np.where(power >= 0, times * scale, times / scale)
    far: Sequence[int] = np.flatnonzero((np.abs(power) > _EXACT) & np.isfinite(times)).tolist()
    for i in far:  # beyond the exact powers of ten only the parser rounds correctly; such numbers are rare
        x[i] = float(f"{int(times[i])}e{int(power[i])}")
    return x
