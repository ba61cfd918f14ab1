# SPDX-License-Identifier: Apache-2.0
"""Each kernel equals its slow, obvious twin on random input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal._kernels import counts, frequency, gains, ladder, outlook, people, reference

SEEDS = st.integers(0, 2**32 - 1)


def segments(rng, n_rows, n_segments):
    edges = np.sort(rng.integers(0, n_rows + 1, n_segments + 1))
    return edges[:-1].astype(np.int64), edges[1:].astype(np.int64)


def strided(values, dtype):
    """A column as it lies among others in words."""
    words = np.zeros((len(values), 3), dtype=dtype)
    words[:, 1] = values
    return words[:, 1]


@given(SEEDS, st.integers(0, 60), st.integers(1, 5), st.sampled_from([np.uint8, np.uint16, np.int32]))
def test_count_keys(seed, n_rows, n_segments, dtype):
    rng = np.random.default_rng(seed)
    keys = strided(rng.integers(0, 7, n_rows), dtype)
    starts, ends = segments(rng, n_rows, n_segments)
    fast, slow = (np.zeros((n_segments, 7), dtype=np.int64) for _ in range(2))
    counts.count_keys(keys, starts, ends, fast)
    reference.count_keys(keys, starts, ends, slow)
    assert np.array_equal(fast, slow)


@given(SEEDS, st.integers(0, 60), st.integers(1, 5))
def test_count_pairs(seed, n_rows, n_segments):
    rng = np.random.default_rng(seed)
    keys, others = strided(rng.integers(0, 7, n_rows), np.uint8), strided(rng.integers(0, 3, n_rows), np.int32)
    starts, ends = segments(rng, n_rows, n_segments)
    fast, slow = (np.zeros((n_segments, 7, 3), dtype=np.int64) for _ in range(2))
    counts.count_pairs(keys, others, starts, ends, fast)
    reference.count_pairs(keys, others, starts, ends, slow)
    assert np.array_equal(fast, slow)


@given(SEEDS, st.integers(0, 60), st.integers(1, 5), st.integers(1, 3), st.integers(2, 4))
def test_branches_and_sorting_by_them(seed, n_rows, n_segments, per_code, n_branches):
    rng = np.random.default_rng(seed)
    keys = strided(rng.integers(0, 5 * per_code, n_rows), np.uint8)
    branch_of = rng.integers(0, n_branches, (n_segments, 5)).astype(np.int32)
    starts, ends = segments(rng, n_rows, n_segments)
    columns = [rng.integers(0, 2**63, n_rows, dtype=np.uint64)] * 2
    found = []
    for module, column in zip((counts, reference), columns, strict=True):
        column, branch = column.copy(), np.zeros(n_rows, dtype=np.uint8)
        sizes = np.zeros((n_segments, n_branches), dtype=np.int64)
        module.branches(keys, per_code, branch_of, starts, ends, branch, sizes)
        module.sort_by_branch(column, branch, starts, ends, sizes)
        found.append((branch, sizes, column))
    for fast, slow in zip(*found, strict=True):
        assert np.array_equal(fast, slow)


@given(SEEDS, st.integers(1, 5))
def test_regroup(seed, n_nodes):
    rng = np.random.default_rng(seed)
    by_code = rng.integers(0, 50, (n_nodes, 7, 3))
    group_of = rng.integers(0, 4, 7).astype(np.int32)
    fast, slow = (np.zeros((n_nodes, 4, 3), dtype=np.int64) for _ in range(2))
    counts.regroup(by_code, group_of, fast)
    reference.regroup(by_code, group_of, slow)
    assert np.array_equal(fast, slow)


@pytest.mark.parametrize("gini", [False, True])
@given(SEEDS, st.integers(1, 4), st.integers(1, 5), st.integers(2, 4), st.sampled_from([3, 100, 10**6]))
def test_gains(gini, seed, n_nodes, n_groups, n_classes, most):
    grouped = np.random.default_rng(seed).integers(0, most, (n_nodes, n_groups, n_classes))
    scale = float(2 ** gains.scale_for(int(grouped.sum()) or 1))
    out = np.empty(n_nodes, dtype=np.int64)
    gains.gains(grouped, gini, gains.log_table(1000, scale), scale, out)
    # above the table, log2 may differ from NumPy's in its last bit: one unit a term
    assert np.abs(out - reference.gains(grouped, gini, scale)).max() <= (n_groups + 1) * (n_classes + 1)
    if most == 3:
        assert np.array_equal(out, reference.gains(grouped, gini, scale))


@pytest.mark.parametrize("gini", [False, True])
@given(SEEDS, st.integers(1, 3), st.integers(2, 6), st.booleans())
def test_threshold_gains(gini, seed, n_nodes, n_known, missing):
    by_code = np.random.default_rng(seed).integers(0, 4, (n_nodes, n_known + missing, 2))
    scale = float(2**20)
    out = np.zeros((n_nodes, n_known - 1, 1 + missing), dtype=np.int64)
    gains.threshold_gains(by_code, n_known, gini, gains.log_table(200, scale), scale, out)
    assert np.array_equal(out, reference.threshold_gains(by_code, n_known, 1 + missing, gini, scale))


@pytest.mark.parametrize("gini", [False, True])
@given(SEEDS, st.integers(1, 3), st.integers(2, 6), st.booleans(), st.integers(2, 3), st.integers(1, 9))
def test_best_cuts(gini, seed, n_nodes, n_known, missing, n_classes, least):
    by_code = np.random.default_rng(seed).integers(0, 4, (n_nodes, n_known + missing, n_classes))
    scale = float(2**20)
    gain, position = (np.empty(n_nodes, dtype=np.int64) for _ in range(2))
    gains.best_cuts(by_code, n_known, least, gini, gains.log_table(20, scale), scale, gain, position)
    slow = reference.best_cuts(by_code, n_known, 1 + missing, least, gini, scale)
    assert np.array_equal(gain, np.maximum(slow[0], 0))
    assert np.array_equal(position[gain > 0], slow[1][gain > 0])


@pytest.mark.parametrize("gini", [False, True])
@given(SEEDS, st.integers(1, 3), st.integers(2, 8), st.integers(2, 3), st.integers(1, 9))
def test_halves(gini, seed, n_nodes, n_codes, n_classes, least):
    by_code = np.random.default_rng(seed).integers(0, 4, (n_nodes, n_codes, n_classes))
    order = np.empty((n_nodes, n_codes), dtype=np.intp)
    for units in (np.random.default_rng(seed).integers(1, 30, n_classes), np.ones(n_classes, dtype=np.int64)):
        gains.order_halves(by_code, units, 5, order)
        assert np.array_equal(order, reference.order_halves(by_code, units, 5))
    scale = float(2**20)
    gain, position = (np.empty(n_nodes, dtype=np.int64) for _ in range(2))
    gains.best_halves(by_code, order, 5, least, gini, gains.log_table(200, scale), scale, gain, position)
    slow = reference.best_halves(by_code, order, 5, least, gini, scale)
    assert np.array_equal(gain, np.maximum(slow[0], 0))
    assert np.array_equal(position[gain > 0], slow[1][gain > 0])


@given(SEEDS, st.integers(2, 5), st.integers(2, 3))
def test_gain_is_the_textbooks(seed, n_groups, n_classes):
    """Against information gain in floats, straight from its definition."""
    grouped = np.random.default_rng(seed).integers(0, 30, (1, n_groups, n_classes))
    scale = float(2**24)
    out = np.empty(1, dtype=np.int64)
    gains.gains(grouped, False, gains.log_table(1000, scale), scale, out)

    def entropy(x):
        p = x[x > 0] / x.sum()
        return -(p * np.log2(p)).sum()

    parts = [group for group in grouped[0] if group.sum()]
    before = grouped.sum() * entropy(grouped[0].sum(axis=0)) if parts else 0
    expected = before - sum(part.sum() * entropy(part) for part in parts)
    assert out[0] / scale == pytest.approx(expected, abs=1e-5)


@given(SEEDS)
def test_gains_do_not_depend_on_the_order_of_groups_and_classes(seed):
    rng = np.random.default_rng(seed)
    grouped = rng.integers(0, 1000, (1, 6, 3))
    shuffled = np.ascontiguousarray(grouped[:, rng.permutation(6)][:, :, rng.permutation(3)])
    scale = float(2**24)
    table = gains.log_table(1000, scale)
    first, second = np.empty(1, dtype=np.int64), np.empty(1, dtype=np.int64)
    gains.gains(grouped, False, table, scale, first)
    gains.gains(shuffled, False, table, scale, second)
    assert first[0] == second[0]


@st.composite
def merging(draw):
    """Counts of some nodes, the levels of a random hierarchy over their codes, and how many values are few."""
    rng = np.random.default_rng(draw(SEEDS))
    n_codes, n_classes = draw(st.integers(2, 9)), draw(st.integers(2, 3))
    by_code = rng.integers(0, draw(st.sampled_from([2, 4, 30])), (2, n_codes, n_classes))
    maps = [np.arange(n_codes)]
    for _ in range(draw(st.integers(0, 2))):
        parent = rng.integers(0, maps[-1].max() + 1, maps[-1].max() + 1)
        maps.append(np.unique(parent, return_inverse=True)[1][maps[-1]])
    return by_code, np.stack(maps).astype(np.int32), draw(st.sampled_from([3, 100]))


def made_ladders(by_code, maps, most, gini, scale):
    into = np.empty((len(by_code), 2 * by_code.shape[1] - 1), dtype=np.intp)
    table = gains.log_table(1000, scale)
    ladder.ladders(by_code.sum(axis=2), by_code, maps, 5, most, gini, table, scale, into)
    return into


@pytest.mark.parametrize("gini", [False, True])
@given(merging())
def test_ladders(gini, drawn):
    by_code, maps, most = drawn
    scale = float(2**20)
    into = made_ladders(by_code, maps, most, gini, scale)
    for node, own in zip(by_code, into, strict=True):
        stages, by_size = reference.ladder(node.sum(axis=1), node, maps, 5, most, gini, scale)
        fast = reference.ladder_stages(own)
        # in what order rare values are put together is nobody's business: all of them are, or none
        assert own[-1] == by_size
        assert [fast[0], *fast[by_size:]] == [stages[0], *stages[by_size:]]


@pytest.mark.parametrize("gini", [False, True])
@given(merging(), st.integers(1, 12))
def test_what_is_asked_of_the_stages_of_a_ladder(gini, drawn, k):
    by_code, maps, most = drawn
    scale, n = float(2**20), by_code.shape[1]
    into = made_ladders(by_code, maps, most, gini, scale)
    sums = np.empty((len(into), 2 * n - 1, by_code.shape[2]), dtype=np.int64)
    ladder.ladder_sums(by_code, into, sums)
    assert np.array_equal(sums, reference.ladder_sums(by_code, into))
    found = np.empty((len(into), n - 1), dtype=np.int64)
    ladder.ladder_gains(by_code, into, gini, gains.log_table(1000, scale), scale, found)
    people = sums.sum(axis=2)
    kept = np.empty((len(into), n - 1), dtype=bool)
    ladder.ladder_kept((people >= k) | (people == 0), into, kept)
    for s in range(len(into)):
        stages = reference.ladder_stages(into[s])
        for i in range(n - 1):
            groups = np.empty((1, n), dtype=np.int64)
            ladder.ladder_groups(into[s : s + 1], np.array([i]), groups)
            assert {frozenset(np.flatnonzero(groups[0] == g).tolist()) for g in range(groups.max() + 1)} == stages[i]
            grouped = np.stack([by_code[s, sorted(group)].sum(axis=0) for group in stages[i]])
            assert found[s, i] == reference.gains(grouped[None], gini, scale)[0]
            sizes = grouped.sum(axis=1)
            between = 0 < i < into[s, -1]
            assert kept[s, i] == (((sizes >= k) | (sizes == 0)).all() and not between)


@pytest.mark.parametrize("gini", [False, True])
@given(SEEDS, st.integers(1, 80), st.integers(2, 3), st.integers(1, 4), st.sampled_from([0.5, 2.0, 8.0]))
def test_outlook(gini, seed, n_people, n_classes, n_branches, price):
    rng = np.random.default_rng(seed)
    n_codes = rng.integers(1, 9, 4)
    ordered = rng.random(4) < 0.5
    missing = np.where(ordered & (n_codes > 1), rng.integers(0, 2, 4), 0)
    codes = np.stack([rng.integers(0, n, n_people) for n in n_codes], axis=1).astype(np.uint8)
    classes = ((codes[:, 0] + codes[:, 1] + (rng.random(n_people) < 0.2)) % n_classes).astype(np.int32)
    branch = rng.integers(0, n_branches, n_people).astype(np.int32)
    scale = 2.0**20
    asked = int(rng.integers(1, 6)), int(rng.integers(1, 5)), int(rng.integers(0, 10)), round(price * scale)
    features = n_codes, ordered, missing
    table = gains.log_table(n_people + 1, scale)
    fast = outlook.outlook(codes, classes, n_classes, branch, n_branches, *features, *asked, gini, table, scale)
    slow = reference.outlook(codes, classes, n_classes, branch, *features, *asked, gini, scale)
    assert fast == slow


@given(SEEDS, st.integers(1, 60), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_people(seed, n_rows, n_branches, n_values, per_code):
    rng = np.random.default_rng(seed)
    ends = np.unique(rng.integers(0, n_rows + 1, 4))
    starts, ends = ends[:-1], ends[1:]
    person = np.repeat(np.arange(n_rows), rng.integers(1, 4, n_rows))[:n_rows].astype(np.int32)
    keys = rng.integers(0, 5 * per_code, n_rows).astype(np.uint8)
    values = rng.integers(0, n_values, n_rows).astype(np.int32)
    branch_of = rng.integers(0, n_branches, (len(starts), 5)).astype(np.int32)
    rows = person, keys, per_code, branch_of
    fast, slow = (np.zeros((len(starts), n_branches), dtype=np.int64) for _ in range(2))
    people.people_by_branch(*rows, starts, ends, fast)
    reference.people_by_branch(*rows, starts, ends, slow)
    assert np.array_equal(fast, slow)
    fast, slow = (np.zeros((len(starts), n_branches, n_values), dtype=np.int64) for _ in range(2))
    people.people_by_value(*rows, values, starts, ends, fast)
    reference.people_by_value(*rows, values, starts, ends, slow)
    assert np.array_equal(fast, slow)


@given(SEEDS, st.integers(1, 60), st.integers(1, 8), st.integers(1, 6))
def test_runs_of_people(seed, n_rows, n_codes, size):
    rng = np.random.default_rng(seed)
    codes, person = np.sort(rng.integers(0, n_codes, n_rows)), rng.integers(0, 9, n_rows)
    fast, slow = np.zeros(n_codes, dtype=np.int64), np.zeros(n_codes, dtype=np.int64)
    assert people.runs_of_people(codes, person, 9, size, fast) == reference.runs_of_people(codes, person, 9, size, slow)
    assert np.array_equal(fast, slow)


@given(SEEDS, st.integers(1, 40), st.integers(1, 2), st.integers(0, 40), st.booleans())
def test_roll_up(seed, n_rows, n_words, most, remember):
    rng = np.random.default_rng(seed)
    # fields of 4 bits, two in each word: the first is kept, the second mapped, what is above dropped
    keys = rng.choice(np.array([0x012, 0x013, 0x022, 0x112, 0x0F2, 0x0F3], dtype=np.uint64), (n_rows, n_words))
    people = rng.integers(0, 5, (n_rows, 3))
    keep = np.full(n_words, 0x0F, dtype=np.uint64)
    words = np.arange(n_words)
    shifts, masks = np.full(n_words, 4, dtype=np.uint64), np.full(n_words, 15, dtype=np.uint64)
    maps = rng.integers(0, 3, (n_words, 16)).astype(np.uint64)
    most = min(most, n_rows)
    found = []
    for module in (frequency, reference):
        out = (np.zeros((most, n_words), dtype=np.uint64), np.zeros((most, 3), dtype=np.int64))
        group_of = np.zeros(n_rows if remember else 0, dtype=np.int64)
        n = module.roll_up(keys, people, keep, words, shifts, masks, maps, most, *out, group_of)
        found.append((n, *(each[: max(n, 0)].tolist() for each in out), group_of.tolist() if n >= 0 else None))
    assert found[0] == found[1]
