# SPDX-License-Identifier: Apache-2.0
"""The frontier of accuracy and level: against enumeration, and its surfaces, knees and area by the definition."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.partitionings import Rugged, every_partitioning
from shoal.errors import DataError, PromiseError
from shoal.partition.options import Generation, GeneticOptions, Point
from shoal.partition.pareto import (
    Corner,
    attainment_surfaces,
    frontier,
    hypervolume,
    knees,
    non_dominated,
    point_for,
)
from shoal.partition.partitioning import Partitioning

places = st.tuples(st.integers(0, 6).map(lambda tenth: tenth / 10), st.integers(1, 6)).map(lambda pair: Corner(*pair))
clouds = st.lists(places, min_size=1, max_size=6)


def _dominates(one, two) -> bool:
    no_worse = one.accuracy >= two.accuracy and one.level >= two.level
    return no_worse and (one.accuracy > two.accuracy or one.level > two.level)


def test_the_dominance_example_of_section_4_4() -> None:
    points = [Point(Partitioning(2), *values) for values in [(0.805, 200), (0.90, 500), (0.88, 700)]]
    assert non_dominated(points) == (points[1], points[2])


@given(clouds)
@settings(max_examples=100)
def test_what_is_not_dominated(cloud: list[Corner]) -> None:
    points = [Point(Partitioning(3, (1 + number,)), *each) for number, each in enumerate(cloud)]
    kept = non_dominated(points)
    assert {(each.accuracy, each.level) for each in kept} == {
        tuple(each) for each in cloud if not any(_dominates(other, each) for other in cloud)
    }
    assert [each.level for each in kept] == sorted({each.level for each in kept})
    assert non_dominated(points[::-1]) == kept  # of equal ones the same stays


def _exact(judge: Rugged) -> dict[tuple[float, int], Partitioning]:
    """The frontier by enumeration, and of each point the simplest partitioning."""
    values = {each: Corner(judge.accuracy(each), judge.level(each)) for each in every_partitioning(judge.n)}
    front: dict[tuple[float, int], Partitioning] = {}
    order = sorted(values, key=lambda each: (len(each.features), sum(map(len, each.features)), each.subsets))
    for each in order:
        if not any(_dominates(other, values[each]) for other in values.values()):
            front.setdefault(tuple(values[each]), each)
    return front


@pytest.mark.parametrize("algorithm", ["spea2", "nsga2"])
@pytest.mark.parametrize(("n", "seed", "grades"), [(1, 0, 9), (4, 1, 1000), (5, 2, 1000), (5, 3, 1000), (5, 4, 6)])
def test_the_frontier_is_the_exact_one(algorithm, n: int, seed: int, grades: int) -> None:
    judge = Rugged(n, seed, grades)
    found = frontier(judge, algorithm=algorithm)
    assert {(each.accuracy, each.level): each.partitioning for each in found.points} == _exact(judge)
    assert [each.level for each in found.points] == sorted(each.level for each in found.points)
    assert found.stopped == "exhausted"
    assert found.looked_at == found.judged == len(every_partitioning(n))


def test_spea2_covers_as_much_as_nsga2() -> None:
    options = GeneticOptions(population=30, generations=25)
    areas = {}
    for algorithm in ("spea2", "nsga2"):
        found = frontier(Curved(), options=options, algorithm=algorithm)
        areas[algorithm] = hypervolume(found.points, Corner(0.0, 0))
    assert areas["spea2"] > 0.97 * areas["nsga2"]
    drawn = frontier(Curved(), options=GeneticOptions(population=30, generations=1))
    assert areas["spea2"] > 1.05 * hypervolume(drawn.points, Corner(0.0, 0))


class Curved:
    """Features together are accurate and give people away, each to its own extent."""

    n = 9
    worth = np.array([9, 1, 7, 2, 8, 3, 6, 4, 5])

    def level(self, partitioning: Partitioning) -> int:
        return min((900 // (1 + sum(self.worth[list(each)]) ** 2 // 9) for each in partitioning.features), default=900)

    partial = level

    def accuracies(self, partitionings: list[Partitioning]) -> np.ndarray:
        return np.array([0.3 + sum(self.worth[list(x)].sum() ** 1.2 for x in p.features) / 200 for p in partitionings])


def test_levels_of_no_interest_are_not_trained() -> None:
    judge = Rugged(5, 2)
    found = frontier(judge, least=40)
    assert found.judged < found.looked_at
    assert min(map(judge.level, judge.asked)) >= 40
    assert {(each.accuracy, each.level) for each in found.points} == {each for each in _exact(judge) if each[1] >= 40}
    with pytest.raises(PromiseError) as refused:
        frontier(judge, least=301)
    assert refused.value.code == "table-too-small"


def test_the_same_seed_progress_and_warnings() -> None:
    options = GeneticOptions(population=10, generations=4, seed=3)
    told: list[Generation] = []
    before = list(warnings.filters)
    one = frontier(Rugged(8, 1), options=options, progress=told.append)
    assert warnings.filters == before  # part of pymoo would silence them
    assert one == frontier(Rugged(8, 1), options=options)
    assert [each.number for each in told] == [1, 2, 3, 4]
    assert told[-1].found == one.points
    assert told[-1].best == one.points[0]


def test_ctrl_c_returns_the_frontier_so_far() -> None:
    class Interrupted(Rugged):
        def accuracies(self, partitionings):
            if len(self.asked) > 60:
                raise KeyboardInterrupt
            return super().accuracies(partitionings)

    judge = Interrupted(9, 7)
    found = frontier(judge)
    assert found.interrupted
    assert found.points == non_dominated(Point(x, judge.accuracy(x), judge.level(x)) for x in judge.asked)


def test_judges_to_whom_all_is_the_same() -> None:
    class Flat(Rugged):
        def accuracy(self, partitioning):
            return 1.0

        def level(self, partitioning):
            return 1

    assert [each.partitioning for each in frontier(Flat(3, 0)).points] == [Partitioning(3)]


@given(st.lists(clouds, min_size=1, max_size=5))
@settings(max_examples=150)
def test_attainment_surfaces_by_the_definition(runs: list[list[Corner]]) -> None:
    surfaces = attainment_surfaces(runs)
    for accuracy in [tenth / 10 for tenth in range(8)]:
        for level in range(8):
            reached = sum(any(p.accuracy >= accuracy and p.level >= level for p in run) for run in runs)
            for surface, least in zip(surfaces, (len(runs), len(runs) / 2, 1), strict=True):
                inside = any(p.accuracy >= accuracy and p.level >= level for p in surface)
                assert inside == (reached >= least)
    for surface in surfaces:
        assert not any(_dominates(one, two) for one in surface for two in surface)
        assert list(surface) == sorted(surface, key=lambda corner: corner.level)


@pytest.mark.parametrize("fronts", [[], [[Corner(0.5, 1)], []]])
def test_there_is_no_surface_of_nothing(fronts: list) -> None:
    with pytest.raises(DataError) as refused:
        attainment_surfaces(fronts)
    assert refused.value.code == "no-frontier"


@given(clouds)
@settings(max_examples=100)
def test_the_area_by_counting_cells(cloud: list[Corner]) -> None:
    # accuracies are tenths and levels whole, so the area is a number of cells of 0.1 × 1
    inside = [
        any(point.accuracy > (cell + 0.5) / 10 and point.level > row + 0.5 for point in cloud)
        for cell in range(1, 6)  # from the reference, 0.1 and 2
        for row in range(2, 6)
    ]
    assert hypervolume(cloud, Corner(0.1, 2)) == pytest.approx(sum(inside) / 10)


def test_no_points_no_area() -> None:
    assert hypervolume([], Corner(0.0, 0)) == 0


def test_knees_of_the_frontier_that_the_paper_describes() -> None:
    # Sect. 5.8: nearly 86 % up to k = 3, about the same until 655, then 5 points less at 1,000
    front = [(0.86, 3), (0.857, 35), (0.856, 120), (0.855, 655), (0.83, 800), (0.805, 1000)]
    assert knees([Corner(*each) for each in front]) == (3,)
    assert knees([Corner(*each) for each in front[::-1]]) == (2,)


def test_two_knees_and_none() -> None:
    steps = [(0.9, 1), (0.89, 10), (0.75, 11), (0.74, 100), (0.5, 110)]
    assert knees([Corner(*each) for each in steps]) == (1, 3)
    straight = [Corner(0.9 - 0.1 * math.log10(level), level) for level in (1, 10, 100, 1000)]
    assert knees(straight) == ()
    hollow = [Corner(0.9, 1), Corner(0.6, 2), Corner(0.5, 1000)]
    assert knees(hollow) == ()
    assert knees(steps[:0]) == knees([Corner(*each) for each in steps[:2]]) == ()


def test_the_point_for_a_level() -> None:
    front = [
        Point(Partitioning(2, (3,)), 0.9, 5),
        Point(Partitioning(2, (1,)), 0.8, 50),
        Point(Partitioning(2), 0.6, 99),
    ]
    assert [point_for(front, k) for k in (1, 5, 6, 50, 99)] == [front[0], front[0], front[1], front[1], front[2]]
    with pytest.raises(PromiseError, match="the highest is 99"):
        point_for(front, 100)
