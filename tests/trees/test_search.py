# SPDX-License-Identifier: Apache-2.0
"""Searching for better trees: every one of them keeps its promise by enumeration, whatever the estimates say."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers import oracle
from helpers.strategies import Case, cases
from shoal import AnonymousTreeClassifier, Confidence, EntropyDiversity, KAnonymity, PromiseError
from shoal.data import load_hierarchies
from shoal.engines import outlook
from shoal.trees.mine import grow, mine_tree, prepare
from shoal.trees.prune import expected_errors
from shoal.trees.public_first import PublicFirst
from shoal.trees.publish import publish
from shoal.trees.score import Score

# pruning at 0.5 leaves most of a tree of few people standing; by cost hardly anything is left to check
MANNERS = [
    {"grouping": "halves", "pruning": None},
    {"grouping": "halves", "criterion": "gini", "pruning": 0.5},
    {"grouping": "halves", "criterion": "gini", "pruning": "cost"},
    {"grouping": "halves", "criterion": "ratio", "pruning": 0.5},
    {"pruning": 0.5},
]


def mine(case: Case, requirement, **options):
    hierarchies = load_hierarchies(case.hierarchies, case.roles.features)
    return mine_tree(
        case.table, case.roles, requirement, domain=case.domain, hierarchies=hierarchies, search=True, **options
    )


@pytest.mark.parametrize("manner", MANNERS, ids=str)
@given(cases(max_rows=40), st.integers(1, 6))
@settings(max_examples=150)
def test_searched_trees_keep_k_by_enumeration(manner, case: Case, k: int):
    try:
        release = mine(case, KAnonymity(k), **manner)
    except PromiseError:
        assert len(case.rows) < k
        return
    assert oracle.holds(release.to_json(), case.rows, case.public, k)


@pytest.mark.parametrize("pruning", [None, 0.5])
@given(cases(max_rows=40), st.sampled_from([1.2, 1.5, 1.9]))
@settings(max_examples=100)
def test_searched_trees_are_diverse_by_enumeration(pruning, case: Case, ell: float):
    assume(case.roles.target_role == "private")
    try:
        release = mine(case, EntropyDiversity(ell) & Confidence(0.9), pruning=pruning, grouping="halves")
    except PromiseError:
        return
    spans = oracle.groups(release.to_json(), case.rows, case.public)
    for each in set(spans):
        group = Counter(row["t"] for row, own in zip(case.rows, spans, strict=True) if own == each)
        shares = [n / group.total() for n in group.values()]
        assert -sum(share * math.log2(share) for share in shares) >= math.log2(ell) - 1e-9
        assert max(shares) <= 0.9


@pytest.mark.parametrize("grouping", [None, "halves"])
@given(cases(max_rows=40), st.integers(1, 4))
@settings(max_examples=150)
def test_public_tests_first_keep_k_and_stand_above_private_ones(grouping, case: Case, k: int):
    assume(case.roles.private and case.roles.target_role == "private" and len(case.rows) >= k)
    hierarchies = load_hierarchies(case.hierarchies, case.roles.features)
    task = prepare(case.table, case.roles, KAnonymity(k), domain=case.domain, hierarchies=hierarchies)
    score = Score("gini", len(case.rows))
    grown = PublicFirst(task.engine, score, task.veto, least_people=k, pruning=0.5, grouping=grouping).grow()
    release = publish(grown, task.engine.features, task.table, case.roles, KAnonymity(k), declared=task.declared)
    assert oracle.holds(release.to_json(), case.rows, case.public, k)
    waiting = [(0, True)]
    while waiting:
        number, above_is_public = waiting.pop()
        node = release.nodes[number]
        if not node.is_leaf:
            public = node.attribute in case.roles.public
            assert above_is_public or not public
            waiting += [(branch.node, public) for branch in node.branches]


@given(cases(max_rows=40), st.integers(1, 4))
@settings(max_examples=100)
def test_with_private_columns_the_search_expects_no_more_errors(case: Case, k: int):
    assume(case.roles.private and case.roles.target_role == "private" and len(case.rows) >= k)
    hierarchies = load_hierarchies(case.hierarchies, case.roles.features)
    expected = []
    for search in (True, False):
        task = prepare(case.table, case.roles, KAnonymity(k), domain=case.domain, hierarchies=hierarchies)
        grown = grow(task, criterion="gini", grouping="halves", pruning=0.25, search=search)
        leaves = np.stack([node.counts for node in grown if node.split is None])
        people = leaves.sum(axis=1)
        expected.append(expected_errors(people, people - leaves.max(axis=1), 0.25).sum())
    assert expected[0] <= expected[1] + 1e-9


@pytest.mark.parametrize("pruning", [None, 0.5])
@given(cases(max_rows=30), st.integers(1, 3), st.randoms())
@settings(max_examples=100)
def test_row_order_changes_nothing(pruning, case: Case, k: int, random):
    rows = case.rows[:]
    random.shuffle(rows)
    assume(len(rows) >= k)
    shuffled = Case(rows, case.roles, case.domain, case.hierarchies)
    first, second = (mine(each, KAnonymity(k), pruning=pruning, grouping="halves") for each in (case, shuffled))
    assert first.to_json() == second.to_json()


@given(cases(max_rows=60), st.randoms(), st.sampled_from([3, 8, 20]))
@settings(max_examples=60)
def test_row_order_changes_nothing_where_few_stand_for_all(case: Case, random, most: int):
    rows = case.rows[:]
    random.shuffle(rows)
    shuffled = Case(rows, case.roles, case.domain, case.hierarchies)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outlook, "MOST_PEOPLE", most)
        first, second = (mine(each, KAnonymity(1), pruning=None, grouping="halves") for each in (case, shuffled))
    assert first.to_json() == second.to_json()


def test_row_order_changes_nothing_in_a_large_table():
    rng = np.random.default_rng(3)
    n = 2 * outlook.MOST_PEOPLE + 5
    columns = {name: rng.integers(0, values, n) for name, values in (("a", 40), ("b", 7), ("c", 300), ("d", 3))}
    rich = (columns["a"] // 10 % 2 == columns["b"] % 2) & (columns["c"] > 90) ^ (rng.random(n) < 0.2)
    target = np.where(rich, "rich", "poor")
    order = rng.permutation(n)
    shuffled = {name: column[order] for name, column in columns.items()}
    first = AnonymousTreeClassifier(privacy=50).fit(columns, target).release_
    second = AnonymousTreeClassifier(privacy=50).fit(shuffled, target[order]).release_
    assert len(first.leaves) > 10
    assert first.to_json() == second.to_json()


def test_a_spread_is_of_all_kinds_of_rows_as_many_as_there_are():
    kinds = np.repeat(np.arange(5), [1000, 3000, 200, 5000, 800])
    chosen = outlook.spread([kinds, kinds % 2], 100)
    assert np.abs(np.bincount(kinds[chosen]) - [10, 30, 2, 50, 8]).max() <= 1


def test_a_table_of_too_many_people_is_not_searched(monkeypatch):
    people, rich = gains_and_halves()
    monkeypatch.setattr("shoal.trees.mine.SEARCHED", len(rich) - 1)
    greedy = AnonymousTreeClassifier(privacy=10).fit(people, rich).release_
    assert greedy.nodes[0].attribute == "sex"


def gains_and_halves():
    """People of two sexes, a few of each with a gain and rich; sex tells more by itself.

    Eight people a side have a gain: too few for a group of ten below a split by sex, enough above it.
    """
    sex = np.repeat(["f", "m"], 100)
    gain = np.tile(np.arange(100) < 8, 2).astype(int)
    rich = gain | (np.arange(200) >= 100) & (np.arange(200) % 10 < 6)
    return {"gain": gain, "sex": sex}, np.where(rich, "rich", "poor")


def test_search_splits_first_what_cannot_be_split_later():
    people, rich = gains_and_halves()
    errors = {
        search: int((tree.predict(people) != rich).sum())
        for search in (False, True)
        for tree in [AnonymousTreeClassifier(privacy=10, search=search).fit(people, rich)]
    }
    greedy = AnonymousTreeClassifier(privacy=10, search=False).fit(people, rich).release_
    searched = AnonymousTreeClassifier(privacy=10).fit(people, rich).release_
    assert greedy.nodes[0].attribute == "sex"
    assert searched.nodes[0].attribute == "gain"
    assert errors[True] < errors[False]


def test_a_large_node_is_looked_at_through_some_of_its_people(monkeypatch):
    people, rich = gains_and_halves()
    looked_at = []
    spread = outlook.spread
    monkeypatch.setattr(outlook, "MOST_PEOPLE", 50)
    monkeypatch.setattr(outlook, "spread", lambda *args: looked_at.append(len(chosen := spread(*args))) or chosen)
    trees = [AnonymousTreeClassifier(privacy=10).fit(people, rich).release_ for _ in range(2)]
    assert trees[0].to_json() == trees[1].to_json()
    assert trees[0].verdict.smallest_group >= 10
    assert max(looked_at) == 50


@given(st.integers(0, 2**32 - 1), st.integers(1, 600), st.booleans(), st.booleans())
def test_coarse_groups_are_few_and_in_order(seed, n_codes, ordered, missing):
    counts = np.random.default_rng(seed).integers(0, 50, n_codes + (ordered and missing))
    group_of = outlook.coarse(counts, ordered=ordered, missing=ordered and missing)
    known = group_of[:n_codes]
    assert known.max() < outlook.MOST_CODES
    assert set(group_of.tolist()) == set(range(int(group_of.max()) + 1))  # no group is empty
    if ordered:
        assert (np.diff(known.astype(int)) >= 0).all()
        assert not missing or group_of[-1] == known.max() + 1
    elif n_codes > outlook.MOST_CODES:
        apart = [code for code in range(n_codes) if known[code] < outlook.MOST_CODES - 1]
        others = np.setdiff1d(np.arange(n_codes), apart)
        assert counts[apart].min() >= counts[others].max()
