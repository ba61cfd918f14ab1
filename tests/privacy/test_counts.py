# SPDX-License-Identifier: Apache-2.0
"""What may be asked of a requirement: integer counts, one row a group, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.errors import RequirementError
from shoal.privacy import (
    Closeness,
    Confidence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    SimpleDiversity,
)

ALL = [
    KAnonymity(2),
    DistinctDiversity(2),
    EntropyDiversity(1.5),
    SimpleDiversity(1.5),
    Confidence(0.9),
    RecursiveDiversity(3, 2),
    RecursiveDiversity(3, 3),
    Closeness(0.2),
    Closeness(0.2, "ordered"),
    Closeness(0.2, "hierarchical", ((0, 0, 1),)),
    KAnonymity(2) & Confidence(0.9),
]
each = pytest.mark.parametrize("requirement", ALL, ids=repr)


@each
@pytest.mark.parametrize(
    "wrong",
    [
        np.array([[1.0, 2.0, 3.0]]),
        np.array([[True, False, True]]),
        np.array([["1", "2", "3"]]),
        np.array([[1, 2, 3]], dtype=object),
        [[1, 2, 2**70]],
        [1, 2, 3],
        5,
        [[[1, 2, 3]]],
        [[1, 2, 3], [1, 2]],
        [],
        None,
        [[1, -1, 3]],
        np.array([[0, 0, -128]], dtype=np.int8),
        np.array([[2**63, 0, 0]], dtype=np.uint64),
        [[2**62, 2**62, 2**62]],  # each fits, their sum does not
    ],
    ids=str,
)
def test_wrong_counts_are_refused(requirement, wrong):
    with pytest.raises(RequirementError) as refusal:
        requirement.holds(wrong)
    assert refusal.value.code == "counts"
    if not hasattr(requirement, "parts"):
        with pytest.raises(RequirementError):
            requirement.measure(wrong)


def test_the_refusal_shows_no_count():
    with pytest.raises(RequirementError) as refusal:
        KAnonymity(2).holds([[7731, -7732]])
    assert "773" not in str(refusal.value)


@each
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64, ">i4", ">i8"])
def test_any_integer_type_gives_the_same(requirement, dtype):
    counts = np.array([[3, 2, 1], [9, 1, 0], [0, 0, 0], [100, 1, 1]])
    expected = requirement.holds(counts)
    assert expected.dtype == np.bool_
    np.testing.assert_array_equal(requirement.holds(counts.astype(dtype)), expected)
    np.testing.assert_array_equal(requirement.holds(np.asfortranarray(counts)), expected)
    np.testing.assert_array_equal(requirement.holds(np.repeat(counts, 2, axis=0)[::2]), expected)
    np.testing.assert_array_equal(requirement.holds(counts.tolist()), expected)


@each
def test_an_empty_group_holds(requirement):
    assert requirement.holds(np.zeros((4, 3), dtype=int)).all()
    assert requirement.holds([[0, 0, 0], [5, 5, 5]]).all()


@each
def test_no_groups(requirement):
    answer = requirement.holds(np.zeros((0, 3), dtype=int))
    assert answer.shape == (0,)
    assert answer.dtype == np.bool_


@pytest.mark.parametrize("requirement", [one for one in ALL if "hierarchical" not in repr(one)], ids=repr)
def test_no_values_is_nobody(requirement):
    np.testing.assert_array_equal(requirement.holds(np.zeros((2, 0), dtype=int)), [True, True])


@each
def test_counts_are_left_alone(requirement):
    counts = np.array([[3, 2, 1], [9, 1, 0], [2, 2, 2]])
    before = counts.copy()
    counts.setflags(write=False)
    requirement.holds(counts)
    np.testing.assert_array_equal(counts, before)


@pytest.mark.parametrize("requirement", ALL[:-1], ids=repr)
def test_what_nobody_reaches(requirement):
    reached = requirement.measure([[0, 0, 0]])[0]
    if isinstance(requirement, (KAnonymity, DistinctDiversity)):
        assert reached == 0
    else:
        assert np.isnan(reached)


@pytest.mark.parametrize("n", [1, 7, 10**9])
@pytest.mark.parametrize("m", [2, 9, 40])  # narrow and wide rows take different paths
def test_narrow_and_wide(m, n):
    counts = np.zeros((3, m), dtype=np.int64)
    counts[0] = n
    counts[1, -1] = n
    assert KAnonymity(n).measure(counts).tolist() == [n * m, n, 0]
    assert DistinctDiversity(2).measure(counts).tolist() == [m, 1, 0]
    np.testing.assert_allclose(Confidence(0.9).measure(counts), [1 / m, 1, np.nan])
    np.testing.assert_allclose(SimpleDiversity(2).measure(counts), [m, 1, np.nan])
    np.testing.assert_allclose(EntropyDiversity(2).measure(counts), [m, 1, np.nan])
