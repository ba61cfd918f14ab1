# SPDX-License-Identifier: Apache-2.0
"""t-closeness against the paper, the recursion of the paper, and the transport problem itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from shoal.errors import RequirementError
from shoal.privacy import Closeness

SALARIES = np.ones(9, dtype=int)  # 3k, 4k, …, 11k, one person each
POOR = [1, 1, 1, 0, 0, 0, 0, 0, 0]  # 3k, 4k, 5k
MIXED = [0, 0, 0, 1, 0, 1, 0, 0, 1]  # 6k, 8k, 11k


def test_the_salaries_of_li_et_al():
    ordered = Closeness(0.375, "ordered")
    assert ordered.measure([POOR, MIXED], SALARIES) == pytest.approx([0.375, 1 / 6])
    assert ordered.holds([POOR, MIXED], SALARIES).tolist() == [True, True]  # exactly 0.375 holds
    assert Closeness(0.374999, "ordered").holds([POOR, MIXED], SALARIES).tolist() == [False, True]
    assert Closeness(0.16, "ordered").holds([MIXED], SALARIES).tolist() == [False]


def test_equal_distance_by_hand():
    # (0.5, 0.5) against (0.8, 0.2): 0.3 has to move.
    assert Closeness(0.3).measure([[5, 5]], [8, 2]) == pytest.approx([0.3])
    assert Closeness(0.3).holds([[5, 5], [4, 6]], [8, 2]).tolist() == [True, False]
    # 0.1 + 0.2 is above 0.3 in floats, and is not here: (0.5, 0.3, 0.2) against (0.8, 0.2, 0).
    assert Closeness(0.3).holds([[5, 3, 2]], [8, 2, 0]).tolist() == [True]


def test_hierarchical_distance_by_hand():
    # Two branches of two values each. Moving between siblings costs 1/2, between branches 1.
    near = Closeness(0.2, "hierarchical", ((0, 0, 1, 1),))
    table = [1, 1, 1, 1]
    # (½, 0, ½, 0): ¼ moves to the sibling in either branch, 2 · ¼ · ½. (½, ½, 0, 0): ½ moves across.
    assert near.measure([[1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]], table) == pytest.approx([0.25, 0.5, 0.625])


def test_the_whole_table_is_at_distance_zero():
    for requirement in (Closeness(0), Closeness(0, "ordered"), Closeness(0, "hierarchical", ((0, 0, 1),))):
        assert requirement.holds([[3, 5, 7]]).all()
        assert requirement.holds([[3, 5, 7], [6, 10, 14], [3, 5, 8]], [3, 5, 7]).tolist() == [
            True,
            True,
            False,
        ]


def test_without_a_total_the_groups_are_the_table():
    counts = np.array([[5, 1, 0], [1, 4, 2], [0, 1, 9]])
    for distance in ("equal", "ordered"):
        requirement = Closeness(0.3, distance)
        np.testing.assert_array_equal(requirement.measure(counts), requirement.measure(counts, counts.sum(axis=0)))


def test_one_value_is_no_distance():
    for distance in ("equal", "ordered"):
        assert Closeness(0, distance).holds([[5], [0], [7]]).all()


# The definitions, in fractions


def shares(group):
    return [Fraction(int(n), int(sum(group))) for n in group]


def equal(p, q):
    return sum((max(a - b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


def ordered(p, q):
    over = [sum(p[: i + 1], Fraction(0)) - sum(q[: i + 1], Fraction(0)) for i in range(len(p))]
    return sum(map(abs, over), Fraction(0)) / max(len(p) - 1, 1)


def hierarchical(p, q, levels):
    """Li et al., Sect. 5: the sum over inner nodes of height/H · min(surplus, deficit) among the children."""
    m, height = len(p), len(levels) + 1
    steps = [tuple(range(m)), *levels, (0,) * m]
    cost = Fraction(0)
    for h in range(1, height + 1):
        for node in set(steps[h]):
            children = {steps[h - 1][i] for i in range(m) if steps[h][i] == node}
            extra = [sum((p[i] - q[i] for i in range(m) if steps[h - 1][i] == c), Fraction(0)) for c in children]
            surplus = sum((e for e in extra if e > 0), Fraction(0))
            deficit = -sum((e for e in extra if e < 0), Fraction(0))
            cost += Fraction(h, height) * min(surplus, deficit)
    return cost


@st.composite
def cases(draw, most=30):
    m = draw(st.integers(1, 6))
    count = st.integers(0, most)
    group = draw(st.lists(count, min_size=m, max_size=m).filter(any))
    table = draw(st.lists(count, min_size=m, max_size=m).filter(any))
    levels, now = [], list(range(m))
    for _ in range(draw(st.integers(1, 3))):
        join = draw(st.lists(st.integers(0, 3), min_size=6, max_size=6))
        now = [join[group_] for group_ in now]  # a function of the level before, so it only joins
        levels.append(tuple(now))
    return group, table, tuple(levels)


def oracle(distance, group, table, levels):
    p, q = shares(group), shares(table)
    if distance == "hierarchical":
        return hierarchical(p, q, levels)
    return equal(p, q) if distance == "equal" else ordered(p, q)


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@given(case=cases(), hundredths=st.integers(0, 100))
def test_against_the_definition(distance, case, hundredths):
    group, table, levels = case
    requirement = Closeness(hundredths / 100, distance, levels if distance == "hierarchical" else None)
    far = oracle(distance, group, table, levels)
    assert requirement.holds([group], table)[0] == (far <= Fraction(hundredths, 100))
    assert requirement.measure([group], table)[0] == pytest.approx(float(far))


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@given(case=cases(most=10**9), t=st.floats(0, 1))
def test_against_the_definition_where_int64_would_overflow(distance, case, t):
    group, table, levels = case
    requirement = Closeness(t, distance, levels if distance == "hierarchical" else None)
    far = oracle(distance, group, table, levels)
    assert requirement.holds([group], table)[0] == (far <= Fraction(str(t)))
    assert requirement.measure([group], table)[0] == pytest.approx(float(far))


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@pytest.mark.parametrize("seed", range(5))
def test_against_the_transport_problem(distance, seed):
    rng = np.random.default_rng(seed)
    m = 6
    group, table = rng.integers(0, 20, m) + 1, rng.integers(0, 20, m) + 1
    levels = ((0, 0, 1, 1, 2, 2), (5, 5, 5, 5, 9, 9))
    i, j = np.indices((m, m))
    if distance == "equal":
        cost = (i != j).astype(float)
    elif distance == "ordered":
        cost = abs(i - j) / (m - 1)
    else:
        apart = [np.asarray(level)[i] != np.asarray(level)[j] for level in (range(m), *levels)]
        cost = sum(a.astype(float) for a in apart) / 3  # the lowest common ancestor is one above the last level apart
    p, q = group / group.sum(), table / table.sum()
    leaving, arriving = np.kron(np.eye(m), np.ones(m)), np.kron(np.ones(m), np.eye(m))
    best = linprog(cost.ravel(), A_eq=np.vstack([leaving, arriving]), b_eq=np.concatenate([p, q]))
    requirement = Closeness(0.5, distance, levels if distance == "hierarchical" else None)
    assert requirement.measure([group], table)[0] == pytest.approx(best.fun, abs=1e-9)


# What is refused


@pytest.mark.parametrize("total", [[1, 2], [[1, 2, 3]], [1.0, 2.0, 3.0], [1, -2, 3], 6, [True, True, True]], ids=str)
def test_a_wrong_total_is_refused(total):
    with pytest.raises(RequirementError) as refusal:
        Closeness(0.2).holds([[1, 2, 3]], total)
    assert refusal.value.code == "counts"


def test_a_table_of_nobody_is_refused_unless_the_groups_are_empty_too():
    with pytest.raises(RequirementError, match="nobody"):
        Closeness(0.2).holds([[1, 2]], [0, 0])
    assert Closeness(0.2).holds([[0, 0]], [0, 0]).all()


def test_a_hierarchy_of_other_values_is_refused():
    with pytest.raises(RequirementError, match="the hierarchy has 3 values, the counts have 2"):
        Closeness(0.2, "hierarchical", ((0, 0, 1),)).holds([[1, 2]])


@pytest.mark.parametrize("distance", ["Equal", "order", "", None, 5, ["equal"], "x" * 10**6])
def test_an_unknown_distance_is_refused(distance):
    with pytest.raises(RequirementError, match="distance must be 'equal', 'ordered' or 'hierarchical'") as refusal:
        Closeness(0.2, distance)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    ("hierarchy", "why"),
    [
        (None, "one tuple of integers a level"),
        ((), "got nothing"),
        ("ab", "got 'ab'"),
        (((),), "level 1 is empty"),
        ((0, 0, 1), "level 1 is 0"),
        (((0, 0.5),), "no integer"),
        (((0, True),), "no integer"),
        (((0, -1),), "no integer"),
        (((0, 10**30),), "no integer"),
        (((0, 0, 1), (0, 0)), "level 2 has 2"),
        (((0, 0, 1), (0, 1, 1)), "level 2 divides"),
        (((0,),) * 33, "at most 32 levels"),
        (((0,) * 10_001,), "at most 10000 values"),
    ],
)
def test_what_is_no_hierarchy(hierarchy, why):
    with pytest.raises(RequirementError, match=why):
        Closeness(0.2, "hierarchical", hierarchy)


def test_a_hierarchy_nobody_asks_for_is_refused():
    with pytest.raises(RequirementError, match="no use for a hierarchy"):
        Closeness(0.2, "ordered", ((0, 0),))


def test_lists_become_tuples():
    assert Closeness(0.2, "hierarchical", [[0, np.int64(0), 1]]) == Closeness(0.2, "hierarchical", ((0, 0, 1),))
    hash(Closeness(0.2, "hierarchical", [[0, 0, 1]]))
