# SPDX-License-Identifier: Apache-2.0
"""Cells of centroids against the definition, in exact fractions and by trying every point of a grid."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.audit.cells import NO, UNDECIDED, YES, Box, Cells, reach

SETTINGS = settings(max_examples=60, deadline=None)
SLACK = Fraction(1, 10**9)  # nearer than that is a tie, for thirds are none in floats


def squared(point, centroid) -> Fraction:
    return sum(
        ((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(point, centroid, strict=True)), Fraction(0)
    )


def nearest(point, centroids, slack=Fraction(0)) -> set[int]:
    """Every centroid that is nearest, or nearly so, in exact arithmetic."""
    apart = [squared(point, centroid) for centroid in centroids]
    return {number for number, distance in enumerate(apart) if distance <= min(apart) + slack}


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
    sides = [
        [Fraction(low) + Fraction(i, 1 if kind else 4) for i in range((high - low) * (1 if kind else 4) + 1)]
        for low, high, kind in zip(lows, highs, kinds, strict=True)
    ]
    for person in range(len(public)):
        strictly, maybe = set(), set()
        for private in product(*sides):
            tied = nearest([*public[person][: public.shape[1] - n_private], *map(float, private)], centroids, SLACK)
            maybe |= tied
            strictly |= tied if len(tied) == 1 else set()
        yes = set(np.flatnonzero(state[person] == YES))
        no = set(np.flatnonzero(state[person] == NO))
        assert strictly <= yes
        assert not maybe & no
        if all(kinds):
            assert yes <= maybe
            assert state[person][sorted(strictly | (set(range(len(centroids))) - maybe))].tolist().count(UNDECIDED) == 0
        for cell in yes:
            point = points[person, cell]
            if np.isnan(point).any():
                assert len(yes) == 1 and len(no) == len(centroids) - 1  # nowhere else to be
                continue
            private = point[public.shape[1] - n_private :]
            assert np.array_equal(point[: public.shape[1] - n_private], public[person][: public.shape[1] - n_private])
            assert nearest(point, centroids) == {cell}
            assert (np.array(lows) - 1e-12 <= private).all() and (private <= np.array(highs) + 1e-12).all()
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
