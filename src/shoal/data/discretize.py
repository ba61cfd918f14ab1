# SPDX-License-Identifier: Apache-2.0
"""Cut points on numeric columns: round ones, because an exact value in a release is somebody's value.

Everywhere a cut ``c`` puts ``x <= c`` below and ``x > c`` above, so intervals are ``(above, at_most]``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
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


def quantile_cuts(values: ArrayLike, counts: ArrayLike, n: int) -> Numbers:
    """Round cuts that make at most `n` bins of about equally many people.

    Each of the ``n - 1`` ideal places goes to the nearest gap between two values, so people with the same
    value stay together and there are never more bins than values. The cuts for `n` are among the cuts for any
    multiple of `n`.

    Parameters
    ----------
    values
        Distinct finite numbers, ascending.
    counts
        How many people have each; values that nobody has are passed over.
    n
        The most bins there may be.

    Examples
    --------
    >>> quantile_cuts([1, 2, 3, 40, 50, 60], [1, 1, 1, 1, 1, 1], 3).tolist()
    [2.5, 45.0]
    >>> quantile_cuts([0, 10], [99, 1], 8).tolist()
    [5.0]
    """
    if n < 1:
        raise ValueError("quantile_cuts needs at least one bin.")
    numbers, people = _present(values, counts)
    if len(numbers) < 2:
        return np.empty(0, dtype=np.float64)
    reached = np.cumsum(people)
    gaps = reached[:-1] * n  # whole numbers throughout: people are never a fraction
    ideal = np.arange(1, n, dtype=np.int64) * reached[-1]
    above = np.clip(np.searchsorted(gaps, ideal), 0, len(gaps) - 1)
    below = np.maximum(above - 1, 0)
    gap = np.unique(np.where(np.abs(gaps[above] - ideal) < np.abs(gaps[below] - ideal), above, below))
    return np.unique(_roundest(numbers[gap], numbers[gap + 1]))


def safe_bounds(
    values: ArrayLike, counts: ArrayLike, people: int, *, ends: tuple[ArrayLike, ArrayLike] | None = None
) -> tuple[float, float]:
    """Bounds of a private column that give away nobody's value.

    At least `people` rows are at or below the lower bound and at least `people` at or above the upper one.
    Each bound is sought at the outermost value for which that is so: the value itself if `people` rows share
    it, since that many stand behind it, otherwise the roundest number strictly between it and the next one
    inwards. Where there are too few rows for two such bounds, both are one round number at the median (then
    nothing of the column is left to tell), and with fewer than `people` rows in all, both are 0.

    Parameters
    ----------
    values
        Distinct finite numbers, ascending.
    counts
        How many rows have each.
    people
        How many rows must stand behind a bound; at least 1.
    ends
        Where rows are those of people with several each, and `counts` are people: how many have each value as their
        lowest, and how many as their highest. Then a bound has that many people behind it.

    Examples
    --------
    >>> safe_bounds([17, 18, 19, 23, 60, 88, 90], [2, 2, 2, 9, 9, 3, 3], 5)
    (20.0, 70.0)
    >>> safe_bounds([0, 1], [50, 50], 5)
    (0.0, 1.0)
    >>> safe_bounds([31, 47, 52], [1, 1, 1], 5)
    (0.0, 0.0)
    """
    if people < 1:
        raise ValueError("safe_bounds needs at least one row behind a bound.")
    numbers, rows = _present(values, counts)
    there = np.asarray(counts) > 0
    lowest, highest = (rows, rows) if ends is None else (np.asarray(end)[there] for end in ends)
    if lowest.sum() < people:
        return 0.0, 0.0
    first = int(np.searchsorted(np.cumsum(lowest), people))
    last = len(rows) - 1 - int(np.searchsorted(np.cumsum(highest[::-1]), people))
    if first > last or (first == last and rows[first] < people):
        middle = float(quantile_cuts(numbers, rows, 2)[0])
        return middle, middle
    shared = rows >= people
    low = numbers[first] if shared[first] else roundest(numbers[first], numbers[first + 1])
    high = numbers[last] if shared[last] else roundest(numbers[last - 1], numbers[last])
    return float(low), float(high)


def grid_cuts(width: float, start: float, low: float, high: float, *, whole: bool, limit: int) -> Numbers | None:
    """The cuts of intervals of one width that meet ``[low, high]``, or None when they are more than `limit`.

    With `whole` numbers an interval holds its lower end, so width 5 from 0 means 0-4, 5-9 and so on.

    >>> grid_cuts(5, 0, 17, 30, whole=True, limit=100).tolist()
    [19.0, 24.0, 29.0]
    >>> grid_cuts(0.1, 0, 0.15, 0.35, whole=False, limit=100).tolist()
    [0.2, 0.3]
    """
    # exact decimal arithmetic: 3 * 0.1 must be the same cut at every level
    step, origin = Fraction(repr(float(width))), Fraction(repr(float(start)))
    first = math.floor((Fraction(low) - origin) / step)
    stop = math.ceil((Fraction(high) + whole - origin) / step) + 1
    if stop - first > limit + 4:
        return None
    under = math.lcm(step.denominator, origin.denominator)
    places = range(int(origin * under) + int(step * under) * first, int(origin * under) + int(step * under) * stop)
    tops = places[:: int(step * under)]
    cuts = np.array([-(-top // under) - 1 if whole else top / under for top in tops], dtype=np.float64)
    return within(np.unique(cuts), low, high)


def within(cuts: Numbers, low: float, high: float) -> Numbers:
    """The cuts that have part of ``[low, high]`` on both sides."""
    return cuts[(cuts >= low) & (cuts < high)] + 0.0  # no negative zero


def interval_labels(cuts: Numbers, *, whole: bool) -> tuple[str, ...]:
    """A label for each interval between cuts; the outer two are open.

    >>> interval_labels(np.array([19.0, 24.0, 25.0]), whole=True)
    ('<=19', '20-24', '25', '>=26')
    >>> interval_labels(np.array([0.5, 2.0]), whole=False)
    ('<=0.5', '(0.5, 2]', '>2')
    """
    if not len(cuts):
        return ("*",)
    if not whole:
        text = [_text(cut) for cut in cuts.tolist()]
        inner = [f"({low}, {high}]" for low, high in pairwise(text)]
        return (f"<={text[0]}", *inner, f">{text[-1]}")
    ends = [math.floor(cut) for cut in cuts.tolist()]
    inner = [_whole_text(low + 1, high) for low, high in pairwise(ends)]
    return (f"<={ends[0]}", *inner, f">={ends[-1] + 1}")


def _whole_text(low: int, high: int) -> str:
    if low >= high:
        return str(high)
    return f"{low}-{high}" if low >= 0 else f"{low} to {high}"  # "-9--5" would be hard to read


def _text(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _present(values: ArrayLike, counts: ArrayLike) -> tuple[Numbers, NDArray[np.int64]]:
    numbers, people = np.asarray(values, dtype=np.float64), np.asarray(counts, dtype=np.int64)
    held = people > 0
    return numbers[held], people[held]


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
