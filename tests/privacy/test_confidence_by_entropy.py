# SPDX-License-Identifier: Apache-2.0
"""What entropy says, and does not say, about an attacker's certainty."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import RequirementError
from shoal.privacy import Confidence, EntropyDiversity


def test_binary_entropy_alone_lets_93_percent_through():
    # One of 14 values has 93 %, the others share 7 % equally: 0.366 + 0.07 · log2 13 = 0.625 bits > 0.610.
    crowd = np.array([[1209] + [7] * 13])
    limit = Confidence(0.85)
    assert limit.measure(crowd)[0] == 0.93
    assert not limit.holds(crowd).any()
    by_binary_entropy = EntropyDiversity(2 ** limit.entropy_threshold(2))
    assert by_binary_entropy.holds(crowd).all()
    assert not limit.as_entropy(14).holds(crowd).any()
    # 94 % does not pass even so.
    assert not by_binary_entropy.holds([[1222] + [6] * 13]).any()


def test_the_threshold_is_reached_by_equal_rest_shares():
    # 85 % and 13 values of 15/13 % each: the group for which the threshold is exact.
    tie = [[85 * 13] + [15] * 13]
    bits = math.log2(EntropyDiversity(2).measure(tie)[0])
    assert bits == pytest.approx(Confidence(0.85).entropy_threshold(14), abs=1e-12)
    assert Confidence(0.85).as_entropy(14).holds([[84 * 13] + [16] * 13]).all()
    assert not Confidence(0.85).as_entropy(14).holds([[86 * 13] + [14] * 13]).any()


@given(
    group=st.lists(st.integers(0, 200), min_size=2, max_size=14),
    percent=st.integers(1, 99),
)
def test_enough_entropy_proves_the_share(group, percent):
    limit, m = Confidence(percent / 100), len(group)
    if percent * m < 100:
        with pytest.raises(RequirementError):
            limit.as_entropy(m)
    elif limit.as_entropy(m).holds([group])[0]:
        assert limit.holds([group])[0]


@given(a=st.integers(0, 10**6), b=st.integers(0, 10**6), percent=st.integers(50, 99))
def test_with_two_values_it_is_the_same(a, b, percent):
    limit = Confidence(percent / 100)
    if 100 * max(a, b) != percent * (a + b) or a == b:
        # But for a share of exactly c, refused by entropy because l is rounded up.
        assert limit.as_entropy(2).holds([[a, b]])[0] == limit.holds([[a, b]])[0]


@pytest.mark.parametrize("m", [2, 4, 5, 10])
def test_equal_shares_are_exact(m):
    limit = Confidence(1 / m)
    assert limit.as_entropy(m) == EntropyDiversity(m)
    assert limit.as_entropy(m).holds([[3] * m]).all()


@pytest.mark.parametrize("m", [1, 0, -3, 2.0, True, None, "2"])
def test_the_number_of_values_is_checked(m):
    with pytest.raises(RequirementError, match="Confidence: m must be an integer of at least 2"):
        Confidence(0.9).entropy_threshold(m)


def test_what_no_group_can_reach_is_refused():
    with pytest.raises(RequirementError, match=r"no group can hold.*Try c of at least 1/3"):
        Confidence(0.3).as_entropy(3)


def test_extremes():
    assert Confidence(1 - 1e-16).as_entropy(2).l > 1
    assert Confidence(0.5000001).as_entropy(2) == EntropyDiversity(2)  # rounded up, but never out of reach
    assert Confidence(0.51).as_entropy(2).l < 2
