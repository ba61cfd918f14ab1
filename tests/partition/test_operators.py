# SPDX-License-Identifier: Apache-2.0
"""Breeding partitionings: the paper's illustration, and what holds of every offspring."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.partition.operators import ancestor_sets, crossover, first_generation, inherit, mutate
from shoal.partition.partitioning import Partitioning, mask_of

RELATIONSHIP, EDUCATION, HOURS, AGE = range(4)


@st.composite
def parents(draw: st.DrawFn, overlapping: bool = False) -> tuple[Partitioning, Partitioning]:
    n = draw(st.integers(1, 7))
    if overlapping:
        masks = st.sets(st.integers(1, 2**n - 1), max_size=n)
        return Partitioning.of_masks(n, draw(masks)), Partitioning.of_masks(n, draw(masks))
    places = st.lists(st.integers(0, n), min_size=n, max_size=n)
    return _placed(draw(places)), _placed(draw(places))


def _placed(places: list[int]) -> Partitioning:
    subsets = [[i for i, own in enumerate(places) if own == place] for place in range(1, len(places) + 1)]
    return Partitioning.of(len(places), [each for each in subsets if each])


seeds = st.integers(0, 2**32).map(Random)


def test_the_crossover_of_section_4_2() -> None:
    one = Partitioning.of(4, [[RELATIONSHIP], [EDUCATION]])
    two = Partitioning.of(4, [[HOURS, AGE]])
    first = Partitioning.of(4, [[RELATIONSHIP], [HOURS, AGE]])
    second = Partitioning.of(4, [[RELATIONSHIP], [EDUCATION], [HOURS, AGE]])
    assert inherit(mask_of([RELATIONSHIP]), one, two) == first
    assert inherit(mask_of([HOURS, AGE]), two, one) == second
    assert (first, second) in {crossover(one, two, Random(seed)) for seed in range(50)}


def test_the_mutation_of_section_4_2() -> None:
    before = Partitioning.of(4, [[RELATIONSHIP], [EDUCATION], [HOURS, AGE]])
    after = Partitioning.of(4, [[RELATIONSHIP, EDUCATION], [HOURS, AGE]])
    only = [0.0] * 4
    only[EDUCATION] = 1.0
    assert after in {mutate(before, only, Random(seed)) for seed in range(50)}


def test_an_ancestor_set_may_be_what_was_left_out() -> None:
    one = Partitioning.of(4, [[0, 1]])
    assert ancestor_sets(one) == (0b0011, 0b1100)
    assert inherit(0b1100, one, Partitioning.of(4, [[0], [1, 2], [3]])) == Partitioning.of(4, [[0], [1]])


@given(parents(), seeds)
@settings(max_examples=150)
def test_each_offspring_has_a_set_of_one_parent_and_the_rest_of_the_other(pair, random) -> None:
    for offspring, parent, other in zip(crossover(*pair, random), pair, pair[::-1], strict=True):
        assert offspring.disjoint
        together, own, rest = offspring.matrix(), parent.matrix(), other.matrix()
        explained = []
        for features in [*parent.features, parent.left_out]:
            inside = set(features)
            # Fig. 5: rows and columns of the ancestor set are the parent's, all other cells are the other parent's
            explained.append(
                bool(features)
                and all(
                    together[i, j] == own[i, j] if {i, j} <= inside else together[i, j] == rest[i, j]
                    for i in range(parent.n)
                    for j in range(parent.n)
                    if (i in inside) == (j in inside)
                )
                and not any(together[i, j] > 0 for i in inside for j in range(parent.n) if j not in inside)
            )
        assert any(explained)


@given(parents(overlapping=True), seeds)
@settings(max_examples=150)
def test_overlapping_offspring_are_partitionings_of_bounded_size(pair, random) -> None:
    for offspring in crossover(*pair, random, overlapping=True):
        assert len(offspring.subsets) <= max(offspring.n, *(len(each.subsets) for each in pair))
        assert mutate(offspring, [0.5] * offspring.n, random, overlapping=True).n == offspring.n


@given(parents(), seeds)
@settings(max_examples=150)
def test_a_mutation_moves_just_the_features_it_may(pair, random) -> None:
    before = pair[0]
    feature = random.randrange(before.n)
    rates = [float(i == feature) for i in range(before.n)]
    after = mutate(before, rates, random)
    assert after.disjoint
    assert after != before  # of one feature the place is always another
    others = ~(1 << feature)
    rest = [Partitioning.of_masks(before.n, [mask & others for mask in each.subsets]) for each in (before, after)]
    assert rest[0] == rest[1]
    assert mutate(before, [0.0] * before.n, random) == before


def test_every_place_is_as_likely() -> None:
    before = Partitioning.of(4, [[0, 1], [2], [3]])
    found = Counter(mutate(before, [1, 0, 0, 0], random).features for random in map(Random, range(4000)))
    assert set(found) == {((1,), (0, 2), (3,)), ((1,), (2,), (0, 3)), ((0,), (1,), (2,), (3,)), ((1,), (2,), (3,))}
    assert all(abs(times - 1000) < 5 * (1000 * 0.75) ** 0.5 for times in found.values())


def test_overlap_arises_only_where_it_may() -> None:
    one, two = Partitioning.of(4, [[0, 1], [2, 3]]), Partitioning.of(4, [[0, 2], [1, 3]])
    may = [crossover(one, two, Random(seed), overlapping=True)[0] for seed in range(30)]
    assert not all(each.disjoint for each in may)
    joined = {mutate(one, [1, 0, 0, 0], Random(seed), overlapping=True) for seed in range(30)}
    assert Partitioning.of(4, [[0, 1], [0, 2, 3]]) in joined


@given(st.integers(0, 9), st.integers(1, 60), st.booleans(), seeds)
@settings(max_examples=50)
def test_the_first_generation(n, size, overlapping, random) -> None:
    found = first_generation(n, size, random, overlapping=overlapping)
    assert found[0] == Partitioning(n)
    assert len(found) == len(set(found)) <= size
    assert overlapping or all(each.disjoint for each in found)


def test_a_first_generation_is_full_and_has_what_was_asked_for() -> None:
    own = Partitioning.of(9, [[0, 3], [8]])
    found = first_generation(9, 50, Random(1), start=[own])
    assert len(found) == 50
    assert {own, Partitioning.of(9, [range(9)]), Partitioning.of(9, [[i] for i in range(9)])} <= set(found)
    assert sum(len(each.subsets) == 1 for each in found) >= 5
    assert first_generation(9, 50, Random(1), start=[own]) == found != first_generation(9, 50, Random(2), start=[own])
