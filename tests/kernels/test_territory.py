# SPDX-License-Identifier: Apache-2.0
"""Who can be nearest to which centroid: against enumeration, and against corners of cells in fractions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal._kernels.territory import NO, UNDECIDED, YES, reach

small = st.integers(-4, 4)


def solve(rows, rights):
    """The one solution of as many equations as unknowns, in fractions; None where there is not one."""
    table = [[Fraction(each) for each in (*row, right)] for row, right in zip(rows, rights, strict=True)]
    n = len(table)
    for at in range(n):
        pivot = next((row for row in range(at, n) if table[row][at]), None)
        if pivot is None:
            return None
        table[at], table[pivot] = table[pivot], table[at]
        table[at] = [each / table[at][at] for each in table[at]]
        for row in range(n):
            if row != at:
                table[row] = [x - table[row][at] * y for x, y in zip(table[row], table[at], strict=True)]
    return [row[-1] for row in table]


def cell_by_corners(slopes, sums, me):
    """Whether a cell has an inside, only a border, or nothing: from all corners that its sides can have."""
    d = len(slopes[0])
    sides = []  # (direction, limit): direction @ u <= limit
    for k in range(len(sums)):
        if k != me:
            sides.append(([x - y for x, y in zip(slopes[me], slopes[k], strict=True)], sums[k] - sums[me]))
    for i in range(d):
        unit = [int(i == j) for j in range(d)]
        sides += [(unit, 1), ([-each for each in unit], 0)]
    corners = []
    for chosen in itertools.combinations(sides, d):
        at = solve([side[0] for side in chosen], [side[1] for side in chosen])
        if at is not None and all(sum(x * y for x, y in zip(way, at, strict=True)) <= limit for way, limit in sides):
            corners.append(at)
    if not corners:
        return NO
    middle = [sum(each) / len(corners) for each in zip(*corners, strict=True)]
    inside = all(sum(x * y for x, y in zip(way, middle, strict=True)) < limit for way, limit in sides[: len(sums) - 1])
    return YES if inside else UNDECIDED


def asked(slopes, sums, counts):
    """What the kernel says of one person."""
    n = len(sums)
    return reach(
        np.array([sums], dtype=np.float64),
        np.zeros((1, n)),
        np.array(slopes, dtype=np.float64).reshape(n, len(counts)),
        np.array(counts, dtype=np.int64),
        np.full(n, 1e-12),
        np.arange(n),
        0.0,
        True,
    )[0].tolist()


@given(st.integers(1, 3), st.integers(1, 5), st.data())
@settings(max_examples=150, deadline=None)
def test_continuous_cells_are_those_of_their_corners(d, n, data):
    slopes = data.draw(st.lists(st.lists(small, min_size=d, max_size=d), min_size=n, max_size=n))
    sums = data.draw(st.lists(st.integers(-6, 6), min_size=n, max_size=n))
    assert asked(slopes, sums, [0] * d) == [cell_by_corners(slopes, sums, me) for me in range(n)]


@given(st.integers(0, 3), st.integers(1, 6), st.data())
@settings(max_examples=150, deadline=None)
def test_cells_of_whole_numbers_are_those_of_every_value(d, n, data):
    slopes = data.draw(st.lists(st.lists(small, min_size=d, max_size=d), min_size=n, max_size=n))
    sums = data.draw(st.lists(st.integers(-6, 6), min_size=n, max_size=n))
    counts = data.draw(st.lists(st.integers(1, 7), min_size=d, max_size=d))
    expected = [NO] * n
    for values in itertools.product(*(range(count + 1) for count in counts)):
        share = [Fraction(value, count) for value, count in zip(values, counts, strict=True)]
        far = [sums[k] + sum(x * y for x, y in zip(slopes[k], share, strict=True)) for k in range(n)]
        for k in range(n):
            if far[k] == min(far):
                expected[k] = max(expected[k], YES if far.count(far[k]) == 1 else UNDECIDED)
    assert asked(slopes, sums, counts) == expected


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_many_people_one_after_the_other_are_as_each_alone(d):
    """The basis of one person is where the next begins; and every point of the box is in a cell that is not NO."""
    random = np.random.default_rng(d)
    n = 12
    slopes, fixed, offsets = random.normal(size=(n, d)), random.normal(size=(300, n)), random.normal(size=(3, n))
    counts, slack = np.zeros(d, dtype=np.int64), np.full(n, 1e-12)
    together = reach(fixed, offsets, slopes, counts, slack, np.arange(n), 0.0, True)
    alone = [reach(each[None], offsets, slopes, counts, slack, np.arange(n), 0.0, True)[0] for each in fixed]
    assert (together == np.array(alone)).all()
    assert 0.1 < (together == YES).mean() < 0.9
    assert (together != UNDECIDED).all()
    points = random.random((400, d))
    for start in offsets:
        nearest = np.argmin(fixed[:, None] + start + points @ slopes.T, axis=2)
        assert (np.take_along_axis(together, nearest, axis=1) == YES).all()


def test_what_must_be_spared_makes_a_narrow_win_undecided():
    sums = np.array([[0.0, 0.01]])
    cells, slack = np.arange(2), np.full(2, 1e-12)
    arguments = (sums, np.zeros((1, 2)), np.array([[1.0], [1.0]]), np.zeros(1, dtype=np.int64), slack, cells)
    assert reach(*arguments, 0.0, True)[0].tolist() == [YES, NO]
    assert reach(*arguments, 2.0, True)[0].tolist() == [UNDECIDED, NO]
