# SPDX-License-Identifier: Apache-2.0
"""What cells stand for: every notation, against a reading by regular expressions and plain comparisons."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.audit.foreign.cells import Masks, read_numbers, read_range, read_set


def holds(interval, number: float) -> bool:
    return (interval.above is None or number > interval.above) and (
        interval.at_most is None or number <= interval.at_most
    )


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("34", [34], [33.9, 34.1]),
        ("-3.5", [-3.5], [-3.4, 3.5]),
        ("1e3", [1000], [999]),
        ("[20-30]", [20, 25, 30], [19.999, 30.001]),
        ("[20, 30)", [20, 29.999], [30, 19]),
        ("(20,30]", [20.001, 30], [20, 31]),
        ("(20, 30)", [21, 29], [20, 30]),
        ("[20, 30[", [20, 29], [30]),
        ("]20, 30]", [30, 21], [20]),
        ("]20; 30[", [21], [20, 30]),
        ("20-29", [20, 29], [19, 30]),
        ("20 – 29", [20, 29], [19, 30]),
        ("20..29", [20, 29], [19, 30]),
        ("20 to 29", [20, 29], [19, 30]),
        ("-5--1", [-5, -1], [-6, 0]),
        ("[-5, 5)", [-5, 4], [5, -6]),
        ("<=30", [30, -1e300], [30.001]),
        ("< 30", [29.9], [30]),
        ("≤30", [30], [31]),
        (">50", [50.001, 1e300], [50]),
        (">=50", [50], [49.999]),
        ("≥ 50", [50], [49]),
        ("30+", [30, 99], [29.9]),
        ("(-inf, 30]", [-1e300, 30], [31]),
        ("[50, inf)", [50, 1e300], [49]),
        ("[50, ∞)", [50, 1e300], [49]),
        ("0-4", [0, 4], [-0.001, 5]),
    ],
)
def test_ranges(text, inside, outside):
    interval = read_range(text)
    assert interval is not None
    assert all(holds(interval, number) for number in inside)
    assert not any(holds(interval, number) for number in outside)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "young",
        "130**",
        "30-20",
        "(5, 5)",
        "[5, 5[",
        "2024-05-17",
        "20-",
        "[20, 30",
        "{1, 2}",
        "inf",
        "<",
        "1-2-3",
    ],
)
def test_what_is_no_range(text):
    assert read_range(text) is None


@given(st.integers(-50, 50), st.integers(-50, 50), st.sampled_from("[(]"), st.sampled_from("])["), st.integers(-60, 60))
def test_brackets_say_which_ends_belong(low, high, opens, closes, number):
    interval = read_range(f"{opens}{low}, {high}{closes}")
    expected = (number >= low if opens == "[" else number > low) and (
        number <= high if closes == "]" else number < high
    )
    assert (interval is not None and holds(interval, number)) == expected


def test_sets():
    assert read_set("{a, b; c,a}") == ("a", "b", "c")
    assert read_set("a, b") is None
    assert [holds(part, 7) for part in read_numbers("{1, 5-9}")] == [False, True]
    assert read_numbers("{1, young}") is None


texts = st.text("01a*", max_size=4)


@given(st.lists(st.text("01a", max_size=4), min_size=1, max_size=8), texts)
def test_masks_as_regular_expressions(values, mask):
    any_ending = mask.endswith("*") and not mask.endswith("**")
    pattern = re.escape(mask[:-1] if any_ending else mask).replace(r"\*", ".") + (".*" if any_ending else "")
    expected = [i for i, value in enumerate(values) if re.fullmatch(pattern, value)]
    assert Masks(tuple(values)).matching(mask).tolist() == expected


def test_an_end_that_does_not_belong_is_the_next_number():
    interval = read_range("[20, 30)")
    assert interval.at_most == math.nextafter(30, 0)
    assert interval.above == math.nextafter(20, 0)
