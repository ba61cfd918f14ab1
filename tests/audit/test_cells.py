# SPDX-License-Identifier: Apache-2.0
"""Cells of centroids against the definition, in exact fractions and by trying every point of a grid."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.audit.clusters.cells import NO, UNDECIDED, YES, Box, Cells, reach

SETTINGS = settings(max_examples=60, deadline=None)
SLACK = 1e-9  # nearer than that is a tie, for thirds are none in floats


def squared(point, centroid) -> Fraction:
    return sum(
        ((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(point, centroid, strict=True)), Fraction(0)
    )


def nearest(point, centroids) -> set[int]:
    """Every centroid that is nearest, in exact arithmetic."""
    apart = [squared(point, centroid) for centroid in centroids]
    return {number for number, distance in enumerate(apart) if distance == min(apart)}


whole = st.integers(-6, 6).map(float)


@st.composite
def problems(draw, n_private: int, *, integer: bool):
    """Centroids, people's public numbers, and a box of private numbers whose bounds are whole."""
    n_public = draw(st.integers(0 if n_private else 1, 2))
    width = n_public + n_private
    centroids = np.array(draw(st.lists(st.tuples(*[whole] * width), min_size=1, max_size=6, unique=True)))
    centroids = centroids + draw(st.sampled_from([0.0, 0.25, 1 / 3]))
    drawn = draw(st.lists(st.tuples(*[whole] * n_public), min_size=1, max_size=4))
    people = np.array(drawn).reshape(len(drawn), n_public)
    public = np.concatenate([people, np.zeros((len(people), n_private))], axis=1)
    lows = [draw(st.integers(-6, 3)) for _ in range(n_private)]
    highs = [low + draw(st.integers(0, 5)) for low in lows]
    kinds = [integer or draw(st.booleans()) for _ in range(n_private)]
    return centroids, public, lows, highs, kinds


def box_of(centroids, lows, highs, kinds) -> Box:
    width, n_private = centroids.shape[1], len(lows)
    start = np.zeros((1, width))
    start[0, width - n_private :] = lows
    steps = np.zeros((n_private, width))
    steps[:, width - n_private :] = np.diag(np.subtract(highs, lows))
    return Box.of(start, steps, [high - low if kind else 0 for low, high, kind in zip(lows, highs, kinds, strict=True)])


def check(centroids, public, lows, highs, kinds) -> None:
    """Nobody is sent where he cannot be, nobody's cell is left out, and every YES has a point that proves it."""
    n_private = len(lows)
    points = np.full((len(public), len(centroids), centroids.shape[1]), np.nan)
    state = reach(Cells.nearest(centroids), public, [box_of(centroids, lows, highs, kinds)], points)
    n_public = centroids.shape[1] - n_private
    sides = [
        np.linspace(low, high, (high - low) * (1 if kind else 4) + 1)
        for low, high, kind in zip(lows, highs, kinds, strict=True)
    ]
    tuples = list(product(*sides))
    grid = np.array(tuples).reshape(len(tuples), n_private)
    for person in range(len(public)):
        tried = np.concatenate([np.tile(public[person][:n_public], (len(grid), 1)), grid], axis=1)
        apart = ((tried[:, None] - centroids) ** 2).sum(axis=2)
        tied = apart <= apart.min(axis=1, keepdims=True) + SLACK
        maybe = set(np.flatnonzero(tied.any(axis=0)))
        strictly = set(np.flatnonzero(tied[tied.sum(axis=1) == 1].any(axis=0)))
        yes = set(np.flatnonzero(state[person] == YES))
        no = set(np.flatnonzero(state[person] == NO))
        assert strictly <= yes
        assert not maybe & no
        if all(kinds):
            assert yes <= maybe
            assert state[person][sorted(strictly | (set(range(len(centroids))) - maybe))].tolist().count(UNDECIDED) == 0
        for cell in yes:
            point = points[person, cell]
            if np.isnan(point).any():  # nobody else's cell is possible, so it must be this one
                assert yes == {cell}
                assert len(no) == len(centroids) - 1
                continue
            private = point[n_public:]
            assert np.array_equal(point[:n_public], public[person][:n_public])
            assert nearest(point, centroids) == {cell}
            assert (np.array(lows) - 1e-12 <= private).all()
            assert (private <= np.array(highs) + 1e-12).all()
            assert all(abs(v - round(v)) < 1e-12 for v, kind in zip(private, kinds, strict=True) if kind)


@pytest.mark.parametrize("n_private", [0, 1, 2, 3, 4])
def test_whole_numbers_are_enumerated(n_private: int) -> None:
    @SETTINGS
    @given(problems(n_private, integer=True))
    def run(problem) -> None:
        check(*problem)

    run()


@pytest.mark.parametrize("n_private", [1, 2, 3])
def test_continuous_and_mixed(n_private: int) -> None:
    @SETTINGS
    @given(problems(n_private, integer=False))
    def run(problem) -> None:
        check(*problem)

    run()


@pytest.mark.parametrize("n_private", [1, 2, 3, 5])
def test_nothing_is_undecided_in_general(n_private: int) -> None:
    rng = np.random.default_rng(n_private)
    centroids = rng.normal(size=(12, n_private + 2))
    public = np.concatenate([rng.normal(size=(40, 2)), np.zeros((40, n_private))], axis=1)
    box = box_of(centroids, [-1] * n_private, [1] * n_private, [False] * n_private)
    points = np.full((40, 12, n_private + 2), np.nan)
    state = reach(Cells.nearest(centroids), public, [box], points)
    assert set(np.unique(state)) == {NO, YES}
    tried = public[:, None] + np.concatenate([np.zeros((4000, 2)), rng.uniform(-1, 1, (4000, n_private))], axis=1)
    apart = (centroids**2).sum(axis=1) - 2 * tried @ centroids.T
    for person in range(40):
        assert set(apart[person].argmin(axis=1)) <= set(np.flatnonzero(state[person] == YES))
    for person, cell in zip(*np.nonzero(state == YES), strict=True):
        point = points[person, cell]
        assert np.isnan(point).all() or nearest(point, centroids) == {cell}


def test_programs_agree_with_clipping_and_with_the_line() -> None:
    """A third and a fourth column that change nothing but go through another way."""
    rng = np.random.default_rng(0)
    centroids = np.concatenate([rng.normal(size=(10, 3)), np.zeros((10, 2))], axis=1)
    public = np.concatenate([rng.normal(size=(60, 1)), np.zeros((60, 4))], axis=1)
    for n_private in (1, 2):
        start, steps = np.zeros((1, 5)), np.zeros((4, 5))
        start[0, 1 : 1 + n_private] = -1.5
        steps[range(n_private), range(1, 1 + n_private)] = 3.0
        cells = Cells.nearest(centroids)
        plain = reach(cells, public, [Box.of(start, steps[:n_private], [0] * n_private)])
        steps[n_private:, 3:] = 1e-300  # too small to matter, too large to be dropped
        assert np.array_equal(plain, reach(cells, public, [Box.of(start, steps, [0] * 4)]))
        assert len(np.unique(plain)) == 2


def test_a_tie_is_undecided() -> None:
    """On the border between two centroids rounding decides, so nobody is said to be on either side."""
    cells = Cells.nearest(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 50.0]]))
    public = np.array([[1.0, 0.0], [1.001, 0.0]])
    box = Box.of(np.array([[0.0, -1.0]]), np.array([[0.0, 2.0]]), [0])
    assert reach(cells, public, [box]).tolist() == [[UNDECIDED, UNDECIDED, NO], [NO, YES, NO]]


def test_rounding_of_coarse_numbers_is_wider() -> None:
    centroids = np.array([[1000.0, 0.0], [1002.0, 0.0]])
    public = np.array([[1001.0001, 0.0]])
    box = Box.of(np.array([[0.0, -1.0]]), np.array([[0.0, 2.0]]), [0])
    assert reach(Cells.nearest(centroids), public, [box]).tolist() == [[NO, YES]]
    assert reach(Cells.nearest(centroids.astype(np.float32)), public, [box]).tolist() == [[UNDECIDED, UNDECIDED]]


def test_huge_ranges_of_whole_numbers() -> None:
    """One is exact on its interval; of two, a cell that is thinner than a whole number is searched line by line."""
    centroids = np.array([[0.0, 0.0], [10.0**7, 0.0], [10.0**7 + 0.4, 0.0]])
    box = Box.of(np.zeros((1, 2)), np.array([[10.0**8, 0.0]]), [10**8])
    assert reach(Cells.nearest(centroids), np.zeros((1, 2)), [box]).tolist() == [[YES, YES, YES]]
    narrow = np.array([[0.0, 0.0], [0.8, 0.0], [1.3, 0.0]])  # the middle one from 0.4 to 1.05 has the 1
    narrower = np.array([[0.0, 0.0], [0.4, 0.0], [1.3, 0.0]])  # from 0.2 to 0.85 it has none
    for counts in ([10**6, 10**6], [10**6, 0]):
        box = Box.of(np.zeros((1, 2)), np.diag([10.0**6, 10.0**6]), counts)
        assert reach(Cells.nearest(narrow), np.zeros((1, 2)), [box]).tolist() == [[YES, YES, YES]]
        assert reach(Cells.nearest(narrower), np.zeros((1, 2)), [box]).tolist() == [[YES, NO, YES]]


def test_too_many_combinations_are_undecided() -> None:
    cells = Cells.nearest(np.array([[0.0], [1.0]]))
    box = Box.of(np.zeros((2**16 + 1, 1)), np.zeros((0, 1)), [])
    assert reach(cells, np.zeros((1, 1)), [box]).tolist() == [[UNDECIDED, UNDECIDED]]
    assert reach(Cells.nearest(np.zeros((1, 1))), np.zeros((1, 1)), [box]).tolist() == [[YES]]  # nowhere else to be


def test_three_huge_ranges_are_relaxed_and_rounded() -> None:
    """Too many to enumerate: a point of the relaxed cell, rounded, or a proof against that cell, or undecided."""
    steps, public = np.diag([10.0**6] * 3), np.zeros((1, 3))
    box = Box.of(np.zeros((1, 3)), steps, [10**6] * 3)
    wide = np.array([[0.0, 0.0, 0.0], [5000.0, 7000.0, 100.0], [-50.0, 0.0, 0.0]])
    assert reach(Cells.nearest(wide), public, [box]).tolist() == [[YES, YES, NO]]
    narrow = np.array([[0.0, 0.0, 0.0], [0.4, 0.0, 0.0], [1.3, 0.0, 0.0]])  # from 0.2 to 0.85 there is no whole number
    assert reach(Cells.nearest(narrow), public, [box]).tolist() == [[YES, UNDECIDED, YES]]
