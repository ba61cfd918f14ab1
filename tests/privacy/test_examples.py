# SPDX-License-Identifier: Apache-2.0
"""Examples computed by hand, and ties that floats would get wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shoal.privacy import (
    Confidence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    SimpleDiversity,
)


def test_k_anonymity():
    counts = [[3, 2], [5, 0], [4, 0], [0, 0], [2, 2]]
    assert KAnonymity(5).holds(counts).tolist() == [True, True, False, True, False]
    assert KAnonymity(5).measure(counts).tolist() == [5, 5, 4, 0, 4]
    assert KAnonymity(5).holds([[4], [5]]).tolist() == [False, True]  # sizes alone are enough


def test_k_anonymity_beyond_what_a_float_can_count():
    k = 2**53
    assert KAnonymity(k).holds([[k - 1, 0], [k - 1, 1]]).tolist() == [False, True]


def test_distinct_diversity():
    counts = [[9, 1, 0], [1, 1, 1], [0, 5, 0]]
    assert DistinctDiversity(2).holds(counts).tolist() == [True, True, False]
    assert DistinctDiversity(3).holds(counts).tolist() == [False, True, False]
    assert DistinctDiversity(3).measure(counts).tolist() == [2, 3, 1]


def test_simple_diversity():
    assert SimpleDiversity(2).holds([[5, 3, 2], [6, 4, 0], [5, 5, 0]]).tolist() == [True, False, True]
    assert SimpleDiversity(2).measure([[5, 3, 2], [6, 4, 0]]).tolist() == pytest.approx([2, 10 / 6])


def test_simple_diversity_at_a_tie():
    assert 50 * 1.1 > 55  # the trap
    assert SimpleDiversity(1.1).holds([[50, 5], [51, 5]]).tolist() == [True, False]
    assert SimpleDiversity(1.1).holds([[10, 1], [11, 1]]).tolist() == [True, False]


def test_confidence():
    assert Confidence(0.9).holds([[9, 1], [10, 1], [89, 11], [1, 0]]).tolist() == [True, False, True, False]
    assert Confidence(0.9).measure([[9, 1], [1, 3]]).tolist() == [0.9, 0.75]


def test_confidence_at_ties():
    assert 0.58 * 50 < 29  # the trap
    assert Confidence(0.58).holds([[29, 21], [30, 21]]).tolist() == [True, False]
    # For each hundredth from a half up: exactly c holds and one person more does not, at every size of group.
    for percent in range(50, 100):
        tie = np.array([percent, 100 - percent])
        counts = [tie, tie * 10**7, tie * 10**7 + [1, -1], tie * 10 + [1, -1]]
        assert Confidence(percent / 100).holds(counts).tolist() == [True, True, False, False]


def test_confidence_where_int64_would_overflow():
    c = 0.9000000000000001  # a denominator of 10**16 times 10**9 people
    most = math.floor(10**9 * 0.9)
    assert Confidence(c).holds([[most, 10**9 - most], [most + 1, 10**9 - most - 1]]).tolist() == [True, False]
    assert Confidence(0.900001).holds([[900001000, 99999000], [900001001, 99998999]]).tolist() == [
        True,
        False,
    ]


def test_recursive_diversity():
    # r1 < 2 (r2 + r3): 5 < 6; 6 < 6 no; 4 < 0 no
    assert RecursiveDiversity(2, 2).holds([[5, 2, 1], [2, 6, 1], [4, 0, 0]]).tolist() == [True, False, False]
    # r1 < 2 r3
    assert RecursiveDiversity(2, 3).holds([[5, 3, 2], [5, 3, 3], [1, 1, 1]]).tolist() == [False, True, True]
    # no fourth value
    assert RecursiveDiversity(100, 4).holds([[1, 1, 1]]).tolist() == [False]
    assert RecursiveDiversity(2, 3).measure([[5, 3, 2], [5, 3, 0]]).tolist() == [2.5, math.inf]


def test_recursive_diversity_is_strict_at_a_tie():
    assert 55 < 1.1 * 50  # the trap
    assert RecursiveDiversity(1.1, 2).holds([[55, 50], [54, 50]]).tolist() == [False, True]
    assert RecursiveDiversity(1.1, 2).holds([[11, 10], [10, 10]]).tolist() == [False, True]
    assert RecursiveDiversity(1.1, 2).holds([[11 * 10**8, 10**9], [11 * 10**8 - 1, 10**9]]).tolist() == [
        False,
        True,
    ]
    wide = RecursiveDiversity(1.1000000000000001, 2)  # where int64 would overflow
    assert wide.holds([[11 * 10**8, 10**9], [11 * 10**8 - 1, 10**9]]).tolist() == [False, True]


def test_entropy_diversity_at_ties():
    two = EntropyDiversity(2)
    counts = [[5, 5], [50000, 50000], [10**9, 10**9], [5, 6], [10**9, 10**9 - 1]]
    assert two.holds(counts).tolist() == [True, True, True, False, False]
    assert EntropyDiversity(3).holds([[7, 7, 7, 0], [7, 7, 6, 0], [7, 7, 7, 1]]).tolist() == [
        True,
        False,
        True,
    ]


def test_entropy_diversity_at_a_tie_of_unequal_shares():
    # ½·1 + 4·⅛·3 = 2 bits exactly, in any order and at any size
    group = np.array([1, 4, 1, 1, 1])
    assert EntropyDiversity(4).holds([group, group * 10**8, np.roll(group, 2)]).all()
    assert not EntropyDiversity(4.0000000001).holds([group]).any()
    assert EntropyDiversity(3.9999999999).holds([group]).all()


def test_a_near_tie_too_large_to_decide_fails_closed():
    # One person more than the tie of 4 : 1 : 1 : 1 : 1 is above two bits, by about 1e-10.
    group = np.array([[4 * 10**9, 10**9, 10**9, 10**9, 10**9 + 1]])
    assert EntropyDiversity(4).measure(group)[0] == pytest.approx(4, abs=1e-9)
    assert not EntropyDiversity(4).holds(group).any()


def test_a_near_tie_small_enough_is_decided():
    # (10000, 9999): 1.8e-9 bits below one bit; l placed within 1e-9 bits on either side of it.
    worth = EntropyDiversity(1.5).measure([[9999, 10000]])[0]
    assert EntropyDiversity(worth - 1e-12).holds([[9999, 10000]]).all()
    assert not EntropyDiversity(worth + 1e-12).holds([[9999, 10000]]).any()


def test_no_group_reaches_more_than_its_number_of_values():
    assert EntropyDiversity(2.5).holds([[10, 10], [0, 0]]).tolist() == [False, True]


def test_the_papers_numbers():
    # Friedman, Wolff, Schuster, Sect. 6.3: 85 % certain of one of two classes is 0.61 bits, l = 1.526.
    limit = Confidence(0.85)
    assert limit.entropy_threshold(2) == pytest.approx(0.61, abs=0.0005)
    assert limit.as_entropy(2).l == pytest.approx(1.526, abs=0.0005)
    assert EntropyDiversity(1.526).holds([[84, 16], [86, 14]]).tolist() == [True, False]
