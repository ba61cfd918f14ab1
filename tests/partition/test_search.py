# SPDX-License-Identifier: Apache-2.0
"""The genetic search: it finds what enumeration finds, judges nothing in vain, and can be stopped."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

from helpers.partitionings import Rugged, every_partitioning
from shoal.errors import DataError, PromiseError, RequirementError
from shoal.partition.options import Generation, GeneticOptions
from shoal.partition.partitioning import Partitioning
from shoal.partition.search import search


def _best_by_enumeration(judge: Rugged, k: int, demand=lambda _: True) -> Partitioning:
    valid = [each for each in every_partitioning(judge.n) if judge.level(each) >= k and demand(each)]

    def better(one: Partitioning) -> tuple:
        sizes = [len(subset) for subset in one.features]
        return -judge.accuracy(one), len(sizes), sum(sizes), one.subsets

    return min(valid, key=better)


def test_the_oracle_enumerates_everything() -> None:
    # partitions of n features, some left out, are partitions of n + 1 things: 2, 5, 15, 52, 203
    assert [len(set(every_partitioning(n))) for n in range(1, 6)] == [2, 5, 15, 52, 203]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [1, 4, 5])
@pytest.mark.parametrize("grades", [1000, 4])  # with four accuracies there are many ties
def test_the_best_is_the_best_there_is(n: int, seed: int, grades: int) -> None:
    judge = Rugged(n, seed, grades)
    for k in (1, 60):
        found = search(judge, k, options=GeneticOptions(seed=seed))
        assert found.best.partitioning == _best_by_enumeration(judge, k)
        assert found.best.level == judge.level(found.best.partitioning) >= k
        assert found.stopped == "exhausted"


def test_more_can_be_demanded() -> None:
    judge = Rugged(5, 3)

    def together(partitioning: Partitioning) -> bool:
        return any(mask & 0b11 == 0b11 for mask in partitioning.subsets)

    found = search(judge, 2, demand=together)
    assert found.best.partitioning == _best_by_enumeration(judge, 2, together)
    assert all(map(together, judge.asked))
    with pytest.raises(PromiseError) as refused:
        search(judge, 2, demand=lambda _: False)
    assert refused.value.code == "no-partitioning"


def test_what_is_asked_last_is_asked_of_the_best_only() -> None:
    judge, asked = Rugged(5, 3), []

    def confirm(partitioning: Partitioning) -> bool:
        asked.append(partitioning)
        return not partitioning.subsets or partitioning.subsets[0] % 2 == 0

    found = search(judge, 2, confirm=confirm)
    assert found.best.partitioning == _best_by_enumeration(judge, 2, confirm)
    assert len(set(asked)) < found.judged


def test_the_level_counts_in_the_fitness() -> None:
    judge = Rugged(5, 1)
    found = search(judge, 100)
    assert found.best.partitioning == _best_by_enumeration(judge, 100)
    assert found.judged == found.looked_at  # everything is trained


def test_nothing_is_judged_twice_or_in_vain() -> None:
    judge = Rugged(9, 5)
    options = GeneticOptions(population=20, generations=12)
    found = search(judge, 60, options=options, level_in_fitness=False)
    assert len(judge.asked) == len(set(judge.asked)) == found.judged < found.looked_at == 20 * 12
    assert min(map(judge.partial, judge.asked)) >= 60
    assert judge.asked[0] == Partitioning(9)
    valid = [each for each in judge.asked if judge.level(each) >= 60]
    assert found.best.accuracy == max(map(judge.accuracy, valid))  # of the whole history
    assert len(valid) < len(judge.asked)  # and some of it is not valid
    assert list(found.curve) == sorted(found.curve)
    assert (len(found.curve), found.curve[-1], found.stopped) == (12, found.best.accuracy, "generations")


class Hidden:
    """The more features are together or apart as in one hidden partitioning, the better."""

    n = 12
    hidden = Partitioning.of(12, [[0, 5, 7], [1, 2], [3, 4, 9, 10]])

    def partial(self, partitioning: Partitioning) -> int:
        return max(1, 100 - 3 * sum(mask.bit_count() ** 2 for mask in partitioning.subsets))

    level = partial

    def accuracies(self, partitionings: list[Partitioning]) -> np.ndarray:
        return (np.array([each.matrix() for each in partitionings]) == self.hidden.matrix()).mean(axis=(1, 2))


def test_a_search_finds_one_in_twenty_seven_million() -> None:
    found = search(Hidden(), 10, options=GeneticOptions(generations=40))
    assert found.best.partitioning == Hidden.hidden
    assert found.curve[0] < 0.95


def test_the_same_seed_is_the_same_search() -> None:
    asked = []
    for seed in (4, 4, 5):
        judge = Rugged(8, 0)
        search(judge, 5, options=GeneticOptions(population=10, generations=5, seed=seed))
        asked.append(judge.asked)
    assert asked[0] == asked[1] != asked[2]


def test_a_feature_that_never_moves_and_partitionings_to_start_with() -> None:
    judge = Rugged(6, 0)
    own = Partitioning.of(6, [[0, 1, 2], [3, 4]])
    options = GeneticOptions(population=5, generations=3, start=[own], mutation=[0, 0, 0, 0, 0, 1])
    search(judge, 1, options=options)
    assert own in judge.asked[:5]


def test_overlapping_partitionings() -> None:
    judge = Rugged(6, 2)
    search(judge, 1, options=GeneticOptions(population=20, generations=5, overlapping=True))
    assert not all(each.disjoint for each in judge.asked)
    judge.asked.clear()
    search(judge, 1, options=GeneticOptions(population=20, generations=5))
    assert all(each.disjoint for each in judge.asked)


def test_progress_is_told_after_each_generation() -> None:
    told: list[Generation] = []
    found = search(Rugged(8, 1), 5, options=GeneticOptions(population=10, generations=4), progress=told.append)
    assert [(each.number, each.of) for each in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert told[-1].best == found.best
    assert told[0].seconds <= told[-1].seconds


@pytest.mark.parametrize("after", [0, 1, 60])
def test_ctrl_c_returns_the_best_so_far(after: int) -> None:
    class Interrupted(Rugged):
        def accuracies(self, partitionings):
            if len(self.asked) > after:
                raise KeyboardInterrupt
            return super().accuracies(partitionings)

    judge = Interrupted(9, 7)
    found = search(judge, 5)
    assert found.interrupted
    assert found.best.accuracy == max(judge.accuracy(each) for each in judge.asked if judge.level(each) >= 5)


def test_ctrl_c_before_anything_was_found_is_passed_on() -> None:
    class Interrupted(Rugged):
        def accuracies(self, partitionings):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(Interrupted(4, 0), 5)


def test_time_is_up_after_a_generation() -> None:
    found = search(Rugged(9, 0), 5, options=GeneticOptions(population=4, max_seconds=1e-9))
    assert (found.stopped, found.looked_at, found.interrupted) == ("time", 4, False)


def test_a_table_without_features_and_one_that_is_too_small() -> None:
    assert search(Rugged(0, 0), 300).best.partitioning == Partitioning(0)
    with pytest.raises(PromiseError) as refused:
        search(Rugged(3, 0), 301)
    assert refused.value.code == "table-too-small"


@pytest.mark.parametrize(
    "wrong",
    [
        {"population": 1},
        {"generations": 0},
        {"crossover": 1.5},
        {"mutation": -0.1},
        {"mutation": [0.5, float("nan"), 0.5]},
        {"mutation": [0.5]},
        {"max_seconds": 0},
    ],
)
def test_options_that_make_no_sense(wrong: dict) -> None:
    with pytest.raises(RequirementError) as refused:
        search(Rugged(3, 0), 5, options=GeneticOptions(**wrong))
    assert refused.value.code == "parameter"


def test_partitionings_to_start_with_are_of_these_features() -> None:
    for start in ([Partitioning(4)], [Partitioning.of(3, [[0, 1], [1]])]):
        with pytest.raises(DataError, match="to start with"):
            search(Rugged(3, 0), 5, options=GeneticOptions(start=start))
    with pytest.raises(RequirementError):
        search(Rugged(3, 0), 0)


def test_pymoo_is_not_needed_until_a_search_and_leaves_warnings_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys, shoal.partition.search, shoal.partition.pareto; assert 'pymoo' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    before = list(warnings.filters)
    search(Rugged(4, 0), 5, options=GeneticOptions(population=4, generations=2))
    assert warnings.filters == before
    monkeypatch.setitem(sys.modules, "pymoo", None)
    with pytest.raises(DataError) as refused:
        search(Rugged(4, 0), 5)
    assert refused.value.code == "no-pymoo"
