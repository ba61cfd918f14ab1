# SPDX-License-Identifier: Apache-2.0
"""One-Dimensional: the cheapest cut of a line against all cuts, every requirement, what is published of a group."""

from collections import Counter, defaultdict
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers.local_recoding import EXPECTED_FAILURES
from shoal import Confidence, KAnonymity, PromiseError, audit, load_sample
from shoal._kernels import onedim as kernels
from shoal._kernels import reference
from shoal.anonymize import OneDimensional
from shoal.anonymize.line import along_hilbert, line_of
from shoal.anonymize.one_dimensional import _shares
from shoal.anonymize.settle import make_task
from shoal.errors import DataError, RequirementError
from shoal.privacy import (
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
    RequirementBase,
    SimpleDiversity,
)

TREE = {"*": {"left": ["a", "b"], "right": {"r1": ["c"], "r2": ["d", "e"]}}}


@parametrize_with_checks(
    [OneDimensional(privacy=3, reproducible=True)], expected_failed_checks=lambda estimator: EXPECTED_FAILURES
)
@pytest.mark.filterwarnings("default")  # some checks warn on purpose
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# ---------------------------------------------------------------- the order


@pytest.mark.parametrize(("bits", "dimensions"), [(1, 2), (3, 2), (2, 3), (1, 5), (4, 1)])
def test_the_hilbert_curve_visits_every_cell_in_steps_of_one(bits, dimensions):
    side = 1 << bits
    cells = np.stack(np.meshgrid(*[np.arange(side)] * dimensions, indexing="ij"), axis=-1).reshape(-1, dimensions)
    order = along_hilbert(cells.astype(np.int32), np.full(dimensions, side))
    assert sorted(order.tolist()) == list(range(side**dimensions))
    assert (np.abs(np.diff(cells[order], axis=0)).sum(axis=1) == 1).all()


def test_keys_of_many_columns_take_several_words():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 1 << 16, (40, 9))
    wide, narrow = np.zeros((40, 3), dtype=np.uint64), np.zeros((40, 2), dtype=np.uint64)
    kernels.hilbert_keys(points, 16, wide)
    kernels.hilbert_keys(points[:, :8], 16, narrow)
    texts = ["".join(f"{int(word):064b}" for word in row) for row in wide]
    assert all(set(text[144:]) == {"0"} for text in texts)
    assert len(set(texts)) == 40


def test_references_are_the_nearest_ones():
    rng = np.random.default_rng(1)
    points, references = rng.random((50, 3)), rng.random((7, 3))
    which, distance = np.empty(50, dtype=np.int64), np.empty(50)
    kernels.nearest_reference(points, references, which, distance)
    far = np.abs(points[:, None] - references).sum(axis=2)
    assert (which == far.argmin(axis=1)).all()
    assert distance == pytest.approx(far.min(axis=1))


# ---------------------------------------------------------------- the cut


@st.composite
def tables(draw, most=9):
    n = draw(st.integers(2, most))
    columns = {
        "n": draw(st.lists(st.sampled_from([1.0, 2.0, 4.5, 9.0, None]), min_size=n, max_size=n)),
        "c": draw(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=n, max_size=n)),
        "h": draw(st.lists(st.sampled_from(list("abcde")), min_size=n, max_size=n)),
    }
    columns["n"][0], columns["c"][0] = 1.0, "x"  # a column of nothing has no type
    some = draw(st.lists(st.sampled_from(list(columns)), min_size=1, max_size=3, unique=True))
    target = draw(st.lists(st.sampled_from(["p", "q", "r"]), min_size=n, max_size=n))
    return pd.DataFrame({name: columns[name] for name in some} | {"t": target})


def task_of(frame, privacy):
    hierarchies = {"h": TREE} if "h" in frame else None
    options = {"public": None, "sensitive": (), "domain": None, "person": None, "hierarchies": hierarchies}
    return make_task(frame, "t", privacy=privacy, **options)[0]


NODES = [{"a", "b"}, {"c"}, {"d", "e"}, {"c", "d", "e"}]


def loss_by_hand(frame, rows):
    """What the cells of a group leave open, from the values alone."""
    total = 0.0
    for name, column in list(frame.items())[:-1]:
        here, everywhere = {column[row] for row in rows} - {None}, set(column) - {None}
        gap, gaps = any(column[row] is None for row in rows), None in column
        if name == "c":
            total += (len(here) + gap - 1) / max(len(everywhere) + gaps - 1, 1)
            continue
        if not here:
            continue
        n_codes = 5 if name == "h" else len(everywhere) + gaps
        if name == "n":
            width = max(everywhere) - min(everywhere)
            total += (max(here) - min(here)) / width if width else 0
        elif len(here) > 1:
            total += min([(len(node) - 1) / 4 for node in NODES if here <= node], default=1)
        total += gap / max(n_codes - 1, 1)
    return total


@settings(max_examples=100, deadline=None)
@given(tables(8), st.integers(1, 4), st.sampled_from(["hilbert", "idistance"]))
def test_the_cut_is_the_cheapest_of_all_cuts(frame, k, order):
    if len(frame) < k:
        return
    line = line_of(task_of(frame, k), order)
    group, n_groups, cost = line.cut(np.arange(k, 2 * k))
    n = len(frame)
    values = {name: [None if pd.isna(cell) else cell for cell in column] for name, column in frame.items()}
    loss = {(a, b): (b - a) * loss_by_hand(values, line.order[a:b]) for a, b in combinations(range(n + 1), 2)}
    best = np.inf
    for inner in range(n):
        for places in combinations(range(1, n), inner):
            pieces = list(pairwise([0, *places, n]))
            if all(b - a >= k for a, b in pieces):
                best = min(best, sum(loss[piece] for piece in pieces))
    assert cost == pytest.approx(best)
    own = [np.flatnonzero(group == g) for g in range(n_groups)]
    assert all(k <= len(rows) < 2 * k for rows in own)
    assert cost == pytest.approx(sum(len(rows) * loss_by_hand(values, rows) for rows in own))


@settings(max_examples=100, deadline=None)
@given(tables(14), st.data())
def test_the_kernel_and_its_twin_cut_alike(frame, data):
    line = line_of(task_of(frame, 1), "hilbert")
    n = len(frame)
    allowed = [sorted(data.draw(st.sets(st.integers(1, n), max_size=3))) for _ in range(n)]
    tail = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    tail[0] = True
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in allowed])]).astype(np.int64)
    lengths = np.array([length for each in allowed for length in each], dtype=np.int64)
    shared = np.array(sorted(data.draw(st.sets(st.integers(1, n), min_size=1))), dtype=np.int64)
    for own_offsets, own_lengths in ((offsets, lengths), (np.empty(0, dtype=np.int64), shared)):
        costs = []
        for module in (kernels, reference):
            cost, before = np.empty(n + 1), np.empty(n + 1, dtype=np.int64)
            module.cheapest_cuts(line.ranks, *line.losses, own_offsets, own_lengths, tail, cost, before)
            costs.append(cost)
        assert costs[0] == pytest.approx(costs[1])


# ---------------------------------------------------------------- mixed groups


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(1, 8), st.data())
def test_mixed_groups_are_mixed_and_take_everybody(codes, size, data):
    most = data.draw(st.integers(1, size))
    codes = np.array(codes, dtype=np.int64)
    if len(codes) < size or size * np.bincount(codes).max() > most * len(codes):
        return  # not eligible
    group = np.full(len(codes), -1)
    n_groups = kernels.mixed_groups(codes, 5, size, most, group)
    assert set(group.tolist()) == set(range(n_groups))
    for g in range(n_groups):
        inside = codes[group == g]
        assert len(inside) >= size
        assert np.bincount(inside).max() * size <= most * len(inside)


def test_groups_of_different_values_in_the_order_of_the_line():
    """By hand, two of each: a a | b c ..., the next of each value; the last three are of three values."""
    codes = np.array([0, 0, 1, 2, 0, 1, 2])
    group = np.full(7, -1)
    assert kernels.mixed_groups(codes, 3, 2, 1, group) == 3
    assert group.tolist() == [0, 1, 0, 1, 2, 2, 2]


def counts_of(size, most, values):
    """All ways to have `size` people of some values, none more than `most`, the most frequent first."""
    if values == 0:
        return [()] if size == 0 else []
    return [
        (n, *rest) for n in range(min(size, most), -1, -1) for rest in counts_of(size - n, min(n, most), values - 1)
    ]


@pytest.mark.parametrize(
    "requirement",
    [
        DistinctDiversity(3),
        EntropyDiversity(1.7),
        EntropyDiversity(2.5),
        SimpleDiversity(1.5),
        Confidence(0.6),
        RecursiveDiversity(2, 2),
        RecursiveDiversity(0.7, 2),
        KAnonymity(5) & SimpleDiversity(2) & DistinctDiversity(3),
    ],
    ids=lambda each: each.describe(),
)
def test_no_group_with_such_a_share_breaks_the_requirement(requirement):
    frame = pd.DataFrame({"a": range(48), "t": list("pqrs") * 12})
    found = [(size, most) for size, most in _shares(task_of(frame, requirement)) if size <= 9]
    assert found
    for size, most in found:
        allowed = counts_of(size, most, 4)
        assert requirement.holds(np.array(allowed)).all()
        more = [counts for counts in counts_of(size, most + 1, 4) if counts not in allowed]
        assert not more or not requirement.holds(np.array(more)).all()  # and no larger share would do


def test_only_shares_that_the_table_can_be_grouped_by():
    frame = pd.DataFrame({"a": range(40), "t": ["p"] * 30 + ["q"] * 10})
    assert next(_shares(task_of(frame, KAnonymity(10) & Confidence(0.9)))) == (10, 9)
    # three in four are p: groups of two or three would have to be of fewer
    assert next(_shares(task_of(frame, Confidence(0.8)))) == (4, 3)
    assert list(_shares(task_of(frame, Closeness(0.2)))) == []


# ---------------------------------------------------------------- requirements

SERVED = [
    KAnonymity(3),
    DistinctDiversity(2),
    EntropyDiversity(1.5),
    SimpleDiversity(2),
    SimpleDiversity(1.25),
    Confidence(0.7),
    RecursiveDiversity(2, 2),
    Closeness(0.3),
    KAnonymity(4) & SimpleDiversity(2),
    KAnonymity(3) & EntropyDiversity(1.3) & Closeness(0.4),
]


def groups_of(frame):
    groups = defaultdict(list)
    for *public, value in frame.itertuples(index=False):
        groups[tuple(public)].append(value)
    return groups


@pytest.mark.parametrize("requirement", SERVED, ids=lambda each: each.describe())
@settings(max_examples=25, deadline=None)
@given(frame=tables(20))
def test_every_requirement_is_kept_or_impossible(requirement, frame):
    method = OneDimensional(requirement, hierarchies={"h": TREE} if "h" in frame else None, reproducible=True)
    try:
        out = method.fit_transform(frame, "t")
    except PromiseError as problem:
        assert problem.code in ("impossible", "table-too-small")
        return
    values = sorted(set(frame["t"]))
    total = np.array([(frame["t"] == value).sum() for value in values])
    for told in groups_of(out).values():
        count = Counter(told)
        assert requirement.holds(np.array([[count[value] for value in values]]), total)[0]
    assert audit(method.release_, frame, privacy=requirement).holds
    assert [*out["t"]] == [*frame["t"]]


def test_two_sensitive_columns_are_both_kept():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.integers(0, 30, 200), "s": rng.choice(list("uvw"), 200)})
    frame["t"] = rng.choice(list("pq"), 200)
    method = OneDimensional(SimpleDiversity(1.4), public=["a"], sensitive=["s"]).fit(frame, "t")
    assert audit(method.release_, frame).holds
    out = OneDimensional(SimpleDiversity(1.4), public=["a"], sensitive=["s"]).fit_transform(frame, "t")
    for name in ("s", "t"):
        shares = out.groupby("a")[name].value_counts(normalize=True)
        assert shares.max() <= 1 / 1.4


def test_a_table_that_is_not_eligible_is_refused_in_one_sentence():
    frame = pd.DataFrame({"a": range(10), "t": ["p"] * 6 + ["q"] * 4})
    assert OneDimensional(SimpleDiversity(1.6)).fit(frame, "t").release_.verdict.holds
    with pytest.raises(PromiseError, match="no value has more than one person in 2 of any group"):
        OneDimensional(SimpleDiversity(2)).fit(frame, "t")


class ExactlyThree(RequirementBase):
    name = "three"
    monotone = False
    needs_values = False

    def holds(self, counts, total=None):
        return np.isin(np.asarray(counts).sum(axis=1), [0, 6, 3])

    measure = holds

    def describe(self):
        return "every group has three people"

    def to_claim(self):
        return {"requirement": "three"}


def test_what_it_cannot_serve_is_said():
    frame = pd.DataFrame({"a": range(6), "who": [1, 1, 2, 3, 4, 5], "t": list("ppqqpq")})
    with pytest.raises(RequirementError, match="Use one that is monotone"):
        OneDimensional(ExactlyThree()).fit(frame, "t")
    with pytest.raises(RequirementError, match="groups that overlap"):
        OneDimensional(2, person="who").fit(frame, "t")
    assert OneDimensional(2, person="who").fit(frame.assign(who=range(6)), "t").release_.n_rows == 6
    with pytest.raises(RequirementError, match="order must be"):
        OneDimensional(2, order="peano").fit(frame, "t")


# ---------------------------------------------------------------- what is published


def test_intervals_end_between_the_column_s_values():
    frame = pd.DataFrame({"age": [20, 21, 30, 37, 38, 52], "t": list("pqpqpq")})
    method = OneDimensional(2)
    out = method.fit_transform(frame, "t")
    assert out["age"].tolist() == ["<=25", "<=25", "26-37", "26-37", ">=38", ">=38"]
    ends = {end for cell in method.release_.generalised["age"] for part in cell.intervals for end in (part.above,)}
    assert ends == {None, 25.0, 37.5}


def test_sets_without_a_hierarchy_and_nodes_with_one():
    frame = pd.DataFrame({"h": list("abcdee"), "t": list("pqpqpq")})
    out = OneDimensional(2).fit_transform(frame, "t")  # in the order of values: only e has two people to be told of
    assert out["h"].tolist() == ["{a, b}", "{a, b}", "{c, d}", "{c, d}", "e", "e"]
    out = OneDimensional(2, hierarchies={"h": TREE}).fit_transform(frame, "t")
    assert out["h"].tolist() == ["left", "left", "right", "right", "e", "e"]
    numbers = pd.DataFrame({"age": [20, 21, 30, 37, 38, 52], "t": list("pqpqpq")})
    out = OneDimensional(2, hierarchies={"age": {"intervals": [10, 20]}}).fit_transform(numbers, "t")
    assert out["age"].tolist() == ["<=29", "<=29", "30-39", "30-39", "*", "*"]


def test_missing_is_told_beside_the_other_values():
    frame = pd.DataFrame({"age": [20, 20, None, None, 30, None], "c": ["x", "x", "x", "x", None, "y"]})
    frame["t"] = list("pqpqpq")
    method = OneDimensional(2)
    out = method.fit_transform(frame, "t")
    assert out["age"].fillna("").tolist() == ["<=25", "<=25", "", "", ">25 or (missing)", ">25 or (missing)"]
    assert out["c"].tolist() == ["x"] * 4 + ["{y, (missing)}"] * 2
    assert audit(method.release_, frame, "t").holds


def test_new_rows_are_refused_and_the_nearest_class_is_named():
    people = load_sample().table.select(["age", "sex", "diabetes"])
    method = OneDimensional(50).fit(people, "diabetes")
    with pytest.raises(DataError, match="nearest_class"):
        method.transform(people)


def test_nothing_public_and_one_group():
    frame = pd.DataFrame({"a": [1, 1, 1], "t": list("ppq")})
    assert OneDimensional(3).fit_transform(frame, "t")["a"].tolist() == ["*"] * 3
    release = OneDimensional(3, public=[], domain={"a": [0, 5]}).fit(frame, "t").release_
    assert release.public == ()
