# SPDX-License-Identifier: Apache-2.0
"""Cut points on numeric columns that look at no class: equal numbers of people, equal widths, safe bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.data.discretize.rounding import Numbers, roundest, roundest_each


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
    return np.unique(roundest_each(numbers[gap], numbers[gap + 1]))


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
