# SPDX-License-Identifier: Apache-2.0
"""Uniqueness against a count by hand."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.audit import uniqueness as module
from shoal.audit.uniqueness import uniqueness
from shoal.data import Table, to_table


def by_hand(table: Table, columns: tuple[str, ...], k: int) -> tuple[int, int, int]:
    people = Counter(zip(*(table[name].codes.tolist() for name in columns), strict=True))
    alone = sum(n == 1 for n in people.values())
    return len(people), alone, sum(n for n in people.values() if n < k)


@given(
    rows=st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", None])] * 4), min_size=1, max_size=40),
    k=st.integers(2, 6),
)
def test_counts_are_exact(rows: list[tuple[str | None, ...]], k: int) -> None:
    table = to_table({name: list(cells) for name, cells in zip("wxyz", zip(*rows, strict=True), strict=True)})
    found = uniqueness(table, ["w", "x", "y", "z"], k=k)
    assert [each.how for each in found].count("pair") == 6
    assert found[-1].columns == ("w", "x", "y", "z")
    for each in found:
        assert (each.combinations, each.alone, each.below) == by_hand(table, each.columns, k)


def test_sorting_and_counting_agree() -> None:
    """Keys too large to count by: the product of many wide columns would not fit in 64 bits."""
    rng = np.random.default_rng(1)
    columns = {f"c{j}": rng.integers(0, 20_000, 20_000) for j in range(14)}
    columns["few"] = rng.integers(0, 3, 20_000)
    table = to_table(columns)
    for each in uniqueness(table, table.names, k=5):
        if each.how in ("single", "growing", "all"):
            assert (each.combinations, each.alone, each.below) == by_hand(table, each.columns, 5)


def test_how_much_is_looked_at() -> None:
    rng = np.random.default_rng(1)
    table = to_table({f"c{j}": rng.integers(0, 4, 500) for j in range(30)})
    hows = Counter(each.how for each in uniqueness(table, table.names, k=5))
    assert hows["single"] == 30
    assert hows["pair"] == 66
    assert hows["growing"] <= module.GROWN
    assert hows["all"] == 1


def test_few_columns() -> None:
    table = to_table({"a": ["x", "y", "y"], "b": ["u", "u", "u"]})
    assert uniqueness(table, [], k=2) == []
    assert [each.how for each in uniqueness(table, ["a"], k=2)] == ["single"]
    found = uniqueness(table, ["a", "b"], k=2)
    assert [(each.columns, each.combinations, each.alone, each.below) for each in found] == [
        (("a",), 2, 1, 1),
        (("b",), 1, 0, 0),
        (("a", "b"), 2, 1, 1),
    ]
