# SPDX-License-Identifier: Apache-2.0
"""Cuts by minimum description length: the formula worked row by row, intervals of enough people, odd columns."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.discretize import mdl_cuts

NEAR = 1e-9


def entropy(classes):
    return -sum(n / len(classes) * math.log2(n / len(classes)) for n in Counter(classes).values())


def cut_by_formula(rows, at_least):
    """Fayyad and Irani's recursion as published, on sorted (number, class) rows, a cut at a time."""
    best = None
    for i in range(1, len(rows)):
        if rows[i - 1][0] == rows[i][0] or min(i, len(rows) - i) < at_least:
            continue
        sides = [y for _, y in rows[:i]], [y for _, y in rows[i:]]
        left = sum(len(side) / len(rows) * entropy(side) for side in sides)
        if best is None or left < best[0] - NEAR:
            best = left, i, sides
    if best is None:
        return []
    left, i, sides = best
    whole = [y for _, y in rows]
    gain = entropy(whole) - left
    k, k1, k2 = (len(set(part)) for part in (whole, *sides))
    delta = math.log2(3**k - 2) - (k * entropy(whole) - k1 * entropy(sides[0]) - k2 * entropy(sides[1]))
    if gain <= NEAR or gain <= (math.log2(len(rows) - 1) + delta) / len(rows) + NEAR:
        return []
    middle = (rows[i - 1][0] + rows[i][0]) / 2
    return [*cut_by_formula(rows[:i], at_least), middle, *cut_by_formula(rows[i:], at_least)]


# numbers and classes go together in blocks, so that there is something to cut
blocks = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2), st.integers(1, 12)), max_size=8)


@given(blocks, st.integers(1, 6))
def test_cuts_equal_the_formula(blocks, at_least):
    rows = sorted((float(x), y) for x, y, times in blocks for _ in range(times))
    values, target = [x for x, _ in rows], np.array([y for _, y in rows])
    assert mdl_cuts(values, target, at_least=at_least).tolist() == cut_by_formula(rows, at_least)


@given(blocks, st.integers(1, 10), st.randoms())
def test_every_interval_has_enough_rows_in_any_order(blocks, at_least, random):
    rows = [(float(x), y) for x, y, times in blocks for _ in range(times)]
    rows += [(math.nan, 0)] * 3
    random.shuffle(rows)
    values, target = np.array([x for x, _ in rows]), np.array(["abc"[y] for _, y in rows])
    cuts = mdl_cuts(values, target, at_least=at_least, rounded=True)
    assert np.array_equal(cuts, np.sort(cuts))
    interval = np.searchsorted(cuts, values[~np.isnan(values)])
    if len(cuts):
        assert np.bincount(interval, minlength=len(cuts) + 1).min() >= at_least


def test_a_step_is_cut_once_and_noise_never():
    step = np.repeat([0, 1], 50)
    assert mdl_cuts(np.arange(100), step).tolist() == [49.5]
    assert mdl_cuts(np.arange(100), step, rounded=True).tolist() == [49.5]
    assert mdl_cuts(np.arange(100) * 7, step, rounded=True).tolist() == [346.0]
    assert mdl_cuts(np.arange(100), np.tile([0, 1], 50)).tolist() == []


def test_the_best_allowed_cut_is_taken_where_the_best_is_not():
    values = np.arange(60)
    target = (values < 5).astype(int)
    assert mdl_cuts(values, target).tolist() == [4.5]
    assert mdl_cuts(values, target, at_least=10).tolist() == [9.5]
    assert mdl_cuts(values, target, at_least=31).tolist() == []


@pytest.mark.parametrize("values", [[], [math.nan] * 3, [5.0] * 20, [1.0]])
def test_nothing_to_cut(values):
    assert mdl_cuts(values, np.arange(len(values)) % 2).tolist() == []


def test_numbers_with_none_between_them_and_very_large_ones():
    near = np.repeat([1.0, np.nextafter(1.0, 2.0)], 20)
    assert mdl_cuts(near, near > 1).tolist() == [1.0]
    large = np.repeat([1.5e308, 1.7e308], 20)
    cut = mdl_cuts(large, large > 1.6e308)[0]
    assert 1.5e308 <= cut < 1.7e308


def test_more_classes_than_a_power_of_three_can_count_in_a_float():
    target = np.arange(2000) // 2
    assert mdl_cuts(np.arange(2000), target).tolist() == np.arange(1.5, 1998, 2).tolist()


def test_at_least_must_be_positive():
    with pytest.raises(ValueError, match="at least one row"):
        mdl_cuts([1.0], np.array([0]), at_least=0)
