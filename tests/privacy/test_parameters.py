# SPDX-License-Identifier: Apache-2.0
"""Every requirement checks itself once, and says what is wrong."""

from __future__ import annotations

import math

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
from shoal.privacy._parameters import plain, shown

NO_INTEGERS = [1.5, 2.0, True, False, "5", None, [5], math.nan, np.float64(3), np.bool_(True), 10**400, -1, 0]
NO_NUMBERS = [True, False, "0.5", None, [0.5], math.nan, math.inf, -math.inf, 10**400, -(10**400), 1j, -0.5]


def test_the_refusal_has_the_agreed_shape():
    with pytest.raises(RequirementError, match=r"^KAnonymity: k must be an integer of at least 1; got 1\.5\.$") as e:
        KAnonymity(1.5)
    assert e.value.code == "parameter"


@pytest.mark.parametrize("wrong", NO_INTEGERS)
@pytest.mark.parametrize("make", [KAnonymity, DistinctDiversity, lambda value: RecursiveDiversity(2.0, value)])
def test_no_integer(make, wrong):
    with pytest.raises(RequirementError, match="must be an integer of at least"):
        make(wrong)


@pytest.mark.parametrize("wrong", NO_NUMBERS)
@pytest.mark.parametrize(
    "make",
    [EntropyDiversity, SimpleDiversity, Confidence, Closeness, lambda value: RecursiveDiversity(value, 2)],
)
def test_no_number(make, wrong):
    with pytest.raises(RequirementError, match="must be a number"):
        make(wrong)


@pytest.mark.parametrize(
    ("make", "edge"),
    [
        (DistinctDiversity, 1),
        (EntropyDiversity, 1),
        (SimpleDiversity, 1.0),
        (Confidence, 0),
        (Confidence, 1),
        (Closeness, 1.0000001),
        (lambda c: RecursiveDiversity(c, 2), 0.0),
        (lambda value: RecursiveDiversity(1.0, value), 1),
    ],
)
def test_edges_that_are_out(make, edge):
    with pytest.raises(RequirementError):
        make(edge)


def test_edges_that_are_in():
    assert KAnonymity(1).k == 1
    assert DistinctDiversity(2).l == 2
    assert Closeness(0).t == 0
    assert Closeness(1).t == 1
    assert str(Closeness(-0.0).t) == "0.0"
    assert EntropyDiversity(1.0000001).l == 1.0000001


def test_numpy_numbers_become_python_numbers():
    for made in (
        KAnonymity(np.int32(5)).k,
        DistinctDiversity(np.uint8(5)).l,
        RecursiveDiversity(1, np.int64(5)).l,
    ):
        assert made == 5
        assert type(made) is int
    for given in (np.float32(0.9), np.float64(0.9), np.float16(0.9)):
        made = Confidence(given).c
        assert made == 0.9  # what was typed, at whatever precision it was kept
        assert type(made) is float
    assert type(EntropyDiversity(2).l) is float
    assert EntropyDiversity(2) == EntropyDiversity(2.0)


def test_the_largest_integer_is_said():
    with pytest.raises(RequirementError, match=r"at most 2\*\*53"):
        KAnonymity(2**53 + 1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.5, "1.5"),
        (np.float64(1.5), "1.5"),
        (True, "True"),
        (None, "None"),
        ("a", "'a'"),
        ([1], "a list"),
        (np.zeros(3), "a ndarray"),
        (Exception(), "a Exception"),
        pytest.param(10**5000, "a very long integer", id="long"),  # str() of it would raise
    ],
)
def test_shown(value, expected):
    assert shown(value) == expected


def test_shown_is_short():
    assert len(shown("x" * 10**6)) < 50


def test_a_percentage_is_never_rounded():
    assert plain(0.99999999, 100) == "99.999999"
    assert plain(100.0) == "100"
    assert plain(1e-7) == "0.0000001"


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (KAnonymity(1), "every group has at least 1 person"),
        (KAnonymity(50), "every group has at least 50 people"),
        (DistinctDiversity(3), "every group has at least 3 different values"),
        (EntropyDiversity(1.5), "the values of every group are as mixed as 1.5 equally frequent ones"),
        (SimpleDiversity(3), "no value has more than one person in 3 of any group"),
        (Confidence(0.9), "no value of a group is more certain than 90 %"),
        (
            RecursiveDiversity(3, 2),
            "in every group the most frequent value has fewer than 3 times the people of the values from rank 2 on",
        ),
        (Closeness(0.2), "every group's values are within 0.2 of the whole table's (equal distance)"),
    ],
)
def test_describe(requirement, expected):
    assert requirement.describe() == expected


@pytest.mark.parametrize(
    ("requirement", "people"),
    [
        (KAnonymity(50), 50),
        (DistinctDiversity(3), 3),
        (EntropyDiversity(1.5), 2),
        (EntropyDiversity(2), 2),
        (EntropyDiversity(2.0001), 3),
        (SimpleDiversity(2.5), 3),
        (Confidence(0.9), 2),
        (Confidence(0.5), 2),
        (Confidence(0.1), 10),  # a float 1/0.1 would do, 1/0.07 below would not
        (Confidence(0.07), 15),
        (RecursiveDiversity(1, 2), 3),
        (RecursiveDiversity(3, 2), 2),
        (RecursiveDiversity(0.5, 3), 5),
        (Closeness(0.1), 1),
    ],
)
def test_least_people(requirement, people):
    assert requirement.least_people == people
    assert requirement.needs_values is not isinstance(requirement, KAnonymity)
    assert requirement.monotone is True
