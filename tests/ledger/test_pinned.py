# SPDX-License-Identifier: Apache-2.0
"""What counts pin down: never more than a linear program says, and what it says where that is easy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from shoal.audit.together.pinned import NOBODY, Cells, Told, pinned


@st.composite
def tellings(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    n = draw(st.integers(1, 10))
    blocks = [draw(st.lists(st.integers(NOBODY, 2), min_size=n, max_size=n)) for _ in range(draw(st.integers(2, 3)))]
    return blocks, draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))


def exact_bounds(blocks: list[list[int]], codes: list[int]) -> dict[tuple[tuple[int, ...], int], tuple[float, float]]:
    """The least and the most of each cell and value, by linear programs over everything the counts allow."""
    cells = sorted({cell for cell in zip(*blocks, strict=True) if any(block >= 0 for block in cell)})
    values = sorted(set(codes))
    place = {pair: i for i, pair in enumerate((cell, value) for cell in cells for value in values)}
    people = list(zip(zip(*blocks, strict=True), codes, strict=True))
    sums: list[list[float]] = []
    totals: list[float] = []
    for cell in cells:
        sums.append([float(pair[0] == cell) for pair in place])
        totals.append(sum(each == cell for each, _ in people))
    for release, of_release in enumerate(blocks):
        for block in set(of_release) - {NOBODY}:
            for value in values:
                sums.append([float(pair[0][release] == block and pair[1] == value) for pair in place])
                totals.append(sum(cell[release] == block and code == value for cell, code in people))
    answer = {}
    for pair, i in place.items():
        sign = np.zeros(len(place))
        sign[i] = 1.0
        low, high = (linprog(way * sign, A_eq=np.array(sums), b_eq=totals, method="highs") for way in (1, -1))
        assert low.success
        assert high.success
        answer[pair] = (float(low.fun), float(-high.fun))
    return answer


@given(tellings())
@settings(max_examples=60)
def test_bounds_contain_those_of_the_linear_program(case):
    blocks, codes = case
    exact = exact_bounds(blocks, codes)
    arrays = [np.array(each) for each in blocks]
    cells = Cells(arrays, np.array(codes))
    lower, upper = cells.bounds()
    cell_of = {int(number): tuple(each[i] for each in blocks) for i, number in enumerate(cells.of_row) if number >= 0}
    found = {
        (cell_of[cell], value): (low, high)
        for cell, value, low, high in zip(
            cells.cell.tolist(), cells.value.tolist(), lower.tolist(), upper.tolist(), strict=True
        )
    }
    for pair, (least, most) in exact.items():
        low, high = found.get(pair, (0, 0))  # ruled out by a single release
        assert low <= least + 1e-6
        assert most <= high + 1e-6
    # and whoever is said to be pinned is pinned
    told = [Told("ill", b"", each, np.array(codes)) for each in arrays]
    (answer,) = pinned(enumerate(told))
    for row in answer.rows:
        cell = tuple(each[row] for each in blocks)
        size = sum(tuple(each[i] for each in blocks) == cell for i in range(len(codes)))
        assert exact[cell, codes[row]][0] >= size - 1e-6
        for each in blocks:  # though not by one release alone
            together = [code for block, code in zip(each, codes, strict=True) if block == each[row]]
            assert each[row] == NOBODY or len(set(together)) > 1


def test_a_difference_pins_one_person():
    """Six people of whom two are ill, five of them in another block of whom two are ill: the sixth is well."""
    first = np.array([0] * 6 + [1] * 5)
    second = np.array([0] * 5 + [1] * 6)
    ill = np.array([1, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0])
    (answer,) = pinned([(1, Told("ill", b"", first, ill)), (2, Told("ill", b"", second, ill))])
    assert answer.rows.tolist() == [5]
    assert (answer.people, answer.alone, answer.releases) == (1, 0, (1, 2))


def test_bounds_go_round_until_nothing_changes():
    """Three releases: only what the first two leave of a sum bounds the third."""
    blocks = [np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 2, 2, 0]), np.array([0, 0, 0, 1, 1, 1])]
    codes = np.array([1, 0, 0, 0, 0, 0])
    lower, upper = Cells(blocks, codes).bounds()
    assert lower.tolist() == upper.tolist()


def test_one_release_pins_nothing_together():
    told = Told("ill", b"", np.array([0, 0, 1]), np.array([0, 0, 1]))
    assert pinned([(1, told)]) == ()
    (answer,) = pinned([(1, told), (2, told)])
    assert (answer.people, answer.alone) == (0, 3)


def test_values_that_releases_tell_apart_differently_are_not_mixed():
    exact = Told("bmi", b"", np.array([0, 0]), np.array([0, 1]))
    coarse = Told("bmi", b"coarse", np.array([0, 0]), np.array([0, 0]))
    assert pinned([(1, exact), (2, coarse)]) == ()
