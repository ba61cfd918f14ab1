# SPDX-License-Identifier: Apache-2.0
"""Cuts are round, strictly between neighbours, and never moved by a float's whim."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from shoal.data.discretize import (
    grid_cuts,
    interval_labels,
    quantile_cuts,
    round_cuts,
    roundest,
    safe_bounds,
)

relaxed = settings(deadline=None)  # a busy machine is no failure
finite = st.floats(allow_nan=False, allow_infinity=False)
plain = st.floats(min_value=-1e12, max_value=1e12, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-6)


def power_of_ten(x: float) -> float:
    """The largest p for which the shortest way to write x is a multiple of 10**p."""
    if x == 0:
        return math.inf
    mantissa, _, exponent = repr(x).partition("e")
    whole, _, part = mantissa.partition(".")
    digits, shift = whole + part, int(exponent or 0) - len(part)
    return shift + len(digits) - len(digits.rstrip("0"))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (17, 23, 20),
        (27, 28, 27.5),
        (0.12, 0.47, 0.3),
        (99, 101, 100),
        (-5, 3, 0),
        (-101, -99, -100),
        (-28, -27, -27.5),
        (0, 10, 5),
        (1, 4, 2),  # 2 and 3 are equally near the middle: the lower
        (-4, -1, -3),
        (0.1, 0.8, 0.4),  # a tie as written, though not in binary
        (0, 1e-3, 5e-4),
        (1e9, 1e9 + 7, 1e9 + 3),
        (999, 1001, 1000),
        (9.99, 10.01, 10),
        (1.7e308, 1.79e308, 1.74e308),
        (-1.7e308, 1.7e308, 0),
        (3e30, 5e30, 4e30),
        (3e-30, 5e-30, 4e-30),
    ],
)
def test_roundest_of_known_pairs(low: float, high: float, expected: float) -> None:
    assert roundest(low, high) == expected


def test_roundest_returns_low_when_nothing_is_between() -> None:
    assert roundest(1.0, math.nextafter(1.0, 2)) == 1.0
    assert roundest(7.0, 7.0) == 7.0
    assert roundest(0.0, 5e-324) == 0.0


@pytest.mark.parametrize(("low", "high"), [(2, 1), (math.nan, 1), (0, math.inf), (-math.inf, 0)])
def test_roundest_refuses_what_is_no_interval(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="two finite numbers"):
        roundest(low, high)


@relaxed
@given(finite, finite)
@example(0.0, 1e-322)
@example(-5e-324, -0.0)
def test_roundest_is_strictly_between_wherever_it_can(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    x = roundest(low, high)
    if math.nextafter(low, math.inf) < high:
        assert low < x < high
    else:
        assert x == low
    assert math.copysign(1, x) == 1 or x != 0  # no negative zero unless it was given


@relaxed
@given(plain, plain)
def test_no_rounder_number_exists(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    assume(low < high)
    x = roundest(low, high)
    assume(low < x < high and x != 0)
    step = Fraction(10) ** (int(power_of_ten(x)) + 1)
    rounder = math.floor(Fraction(low) / step) + 1
    for times in (rounder, rounder + 1):  # candidates of the next power of ten must not be inside
        assert not low < float(times * step) < high


@relaxed
@given(st.integers(-(10**6), 10**6), st.integers(1, 10**4), st.sampled_from([1, 10, 100, 1000]))
def test_roundest_agrees_with_a_slow_search(start: int, length: int, under: int) -> None:
    low, high = start / under, (start + length) / under
    assume(low < high)
    exact_low, exact_high = Fraction(start, under), Fraction(start + length, under)
    middle, expected = (exact_low + exact_high) / 2, None
    for p in range(8, -6, -1):
        step = Fraction(10) ** p
        inside = [k * step for k in range(math.floor(exact_low / step) + 1, math.ceil(exact_high / step))]
        if inside:
            expected = min(inside, key=lambda x: (abs(x), 0) if 0 in inside else (abs(x - middle), x))
            break
    assert expected is not None
    assert roundest(low, high) == float(expected)


@relaxed
@given(st.lists(plain, min_size=2, max_size=40, unique=True).map(sorted))
def test_round_cuts_is_roundest_of_each_pair(values: list[float]) -> None:
    cuts = round_cuts(values)
    assert cuts.tolist() == [roundest(a, b) for a, b in itertools.pairwise(values)]
    assert (np.searchsorted(cuts, values) == np.arange(len(values))).all()


def test_round_cuts_takes_long_and_short_lists() -> None:
    values = np.unique(np.random.default_rng(0).normal(size=65_536))
    cuts = round_cuts(values)
    assert ((cuts > values[:-1]) & (cuts < values[1:])).all()
    assert round_cuts([3]).tolist() == round_cuts([]).tolist() == []


histograms = st.lists(
    st.tuples(st.integers(-1000, 1000), st.integers(0, 50)), max_size=60, unique_by=lambda pair: pair[0]
).map(sorted)


@relaxed
@given(histograms, st.integers(1, 12), st.integers(1, 6))
def test_quantile_cuts_hold_their_word(histogram: list[tuple[int, int]], n: int, factor: int) -> None:
    values = [value for value, _ in histogram]
    counts = [count for _, count in histogram]
    cuts = quantile_cuts(values, counts, n)
    present = [value for value, count in histogram if count]
    assert len(cuts) + 1 <= max(1, min(n, len(present)))
    assert not set(cuts) & set(present)
    bins = np.bincount(np.searchsorted(cuts, np.repeat(values, counts)), minlength=len(cuts) + 1)
    assert not present or (bins > 0).all()
    # levels made so nest by themselves
    assert set(cuts) <= set(quantile_cuts(values, counts, n * factor))


def test_quantile_cuts_divide_evenly_without_ties() -> None:
    values = np.arange(1000)
    bins = np.bincount(np.searchsorted(quantile_cuts(values, np.ones(1000, int), 8), values))
    assert bins.tolist() == [125] * 8


def test_quantile_cuts_keep_ties_together_and_stay_whole() -> None:
    assert quantile_cuts([0, 5, 9], [10**12, 1, 1], 4).tolist() == [2.0]
    assert quantile_cuts([4], [10], 4).tolist() == quantile_cuts([], [], 4).tolist() == []
    with pytest.raises(ValueError, match="at least one bin"):
        quantile_cuts([1, 2], [1, 1], 0)


@relaxed
@given(histograms, st.integers(1, 30))
def test_safe_bounds_have_people_behind_them(histogram: list[tuple[int, int]], people: int) -> None:
    values = np.array([value for value, _ in histogram], dtype=float)
    counts = np.array([count for _, count in histogram], dtype=np.int64)
    low, high = safe_bounds(values, counts, people)
    assert low <= high
    if counts.sum() < people:
        assert (low, high) == (0, 0)
        return
    if low < high:
        assert counts[values <= low].sum() >= people
        assert counts[values >= high].sum() >= people
    for bound in (low, high):  # a bound is nobody's value unless enough people share it
        assert counts[values == bound].sum() == 0 or counts[values == bound].sum() >= people


def test_safe_bounds_of_known_columns() -> None:
    assert safe_bounds([17, 18, 19, 23, 60, 88, 90], [2, 2, 2, 9, 9, 3, 3], 5) == (20, 70)
    # many share the outermost value: it can be told as it is
    assert safe_bounds([0, 114, 99_999], [900, 3, 60], 50) == (0, 99_999)
    assert safe_bounds([0, 1], [50, 50], 50) == (0, 1)
    assert safe_bounds([7], [50], 50) == (7, 7)
    # enough people for one bound, not for two: one round number in the middle
    assert safe_bounds([31, 33, 47, 52], [2, 2, 2, 2], 5) == (40, 40)
    assert safe_bounds([31, 47, 52], [3, 4, 3], 5) == (40, 40)
    assert safe_bounds([31, 47], [3, 3], 5) == (40, 40)
    assert safe_bounds([31, 47], [2, 2], 5) == safe_bounds([], [], 1) == (0, 0)
    assert safe_bounds([31, 47, 52], [1, 1, 1], 1) == (31, 52)
    with pytest.raises(ValueError, match="at least one row"):
        safe_bounds([1], [1], 0)


def test_grid_cuts_are_exact_decimals_and_limited() -> None:
    cuts = grid_cuts(0.1, 0, 0, 1, whole=False, limit=100)
    assert cuts is not None
    assert cuts.tolist() == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    wide = grid_cuts(0.3, 0, 0, 1, whole=False, limit=100)
    assert wide is not None
    assert set(wide) <= set(cuts)
    assert grid_cuts(1e-9, 0, 0, 1, whole=False, limit=1000) is None
    # a fractional width on whole numbers: [0, 2.5) holds 0, 1, 2
    halves = grid_cuts(2.5, 0, 0, 9, whole=True, limit=100)
    assert halves is not None
    assert halves.tolist() == [2, 4, 7]


def test_labels_of_intervals() -> None:
    assert interval_labels(np.array([-11.0, -6.0, 4.0]), whole=True) == (
        "<=-11",
        "-10 to -6",
        "-5 to 4",
        ">=5",
    )
    assert interval_labels(np.array([27.5]), whole=True) == ("<=27", ">=28")
    assert interval_labels(np.array([0.25, 1e20]), whole=False) == ("<=0.25", "(0.25, 1e+20]", ">1e+20")
    assert interval_labels(np.array([]), whole=True) == ("*",)
