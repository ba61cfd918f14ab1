# SPDX-License-Identifier: Apache-2.0
"""Partitionings: masks, the matrix of Fig. 4, canonical order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.partition.partitioning import Partitioning, features_of, mask_of


@st.composite
def disjoint(draw: st.DrawFn) -> Partitioning:
    """A disjoint partitioning of up to 8 features: place 0 is "left out"."""
    places = draw(st.lists(st.integers(0, 4), min_size=1, max_size=8))
    subsets = [[i for i, own in enumerate(places) if own == place] for place in range(1, 5)]
    return Partitioning.of(len(places), [subset for subset in subsets if subset])


def test_the_matrix_of_the_paper() -> None:
    # Fig. 4: {{a1}, {a2, a3}} of four features
    matrix = Partitioning.of(4, [[0], [1, 2]]).matrix()
    assert matrix.tolist() == [[1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, -1]]


@given(disjoint())
@settings(max_examples=100)
def test_the_matrix_says_what_the_paper_says_and_leads_back(found: Partitioning) -> None:
    subsets = [set(each) for each in found.features]
    expected = np.zeros((found.n, found.n))
    for i in range(found.n):
        for j in range(found.n):
            if any(i in each and j in each for each in subsets):
                expected[i, j] = 1
            elif not any(i in each or j in each for each in subsets):
                expected[i, j] = -1
    assert np.array_equal(found.matrix(), expected)
    assert Partitioning.from_matrix(expected) == found
    assert found.disjoint
    assert sorted([*found.left_out, *(i for each in subsets for i in each)]) == list(range(found.n))


@given(st.sets(st.integers(0, 20)))
def test_masks_and_features(features: set[int]) -> None:
    assert features_of(mask_of(features)) == tuple(sorted(features))


def test_any_order_is_the_same_partitioning() -> None:
    assert Partitioning.of(5, [[4], [1, 0]]) == Partitioning.of(5, [(0, 1), (4,)])
    assert Partitioning.of_masks(5, [6, 0, 1, 6]) == Partitioning(5, (1, 6))
    assert sorted([Partitioning(3, (4,)), Partitioning(3, (1, 2)), Partitioning(3)]) == [
        Partitioning(3),
        Partitioning(3, (1, 2)),
        Partitioning(3, (4,)),
    ]


def test_the_empty_one_and_overlapping_ones() -> None:
    empty = Partitioning(3)
    assert (empty.features, empty.left_out, empty.used, empty.disjoint) == ((), (0, 1, 2), 0, True)
    assert (empty.matrix() == -1).all()
    assert Partitioning(0).matrix().shape == (0, 0)
    overlapping = Partitioning.of(3, [[0, 1], [1, 2]])
    assert not overlapping.disjoint
    assert (overlapping.n_features, overlapping.used) == (4, 7)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Partitioning(3, (2, 1)),
        lambda: Partitioning(3, (0, 1)),
        lambda: Partitioning(3, (1, 1)),
        lambda: Partitioning(3, (8,)),
        lambda: Partitioning(3, (-1,)),
        lambda: Partitioning.of(3, [[3]]),
        lambda: Partitioning.of(3, [[-1]]),
        lambda: Partitioning.from_matrix([[1, 0]]),
        lambda: Partitioning.from_matrix([[1, 1, 0], [1, 1, 1], [0, 1, 1]]),
        lambda: Partitioning.from_matrix([[0]]),
    ],
)
def test_what_is_no_partitioning_is_refused(make) -> None:
    with pytest.raises(DataError) as refused:
        make()
    assert refused.value.code == "not-a-partitioning"
