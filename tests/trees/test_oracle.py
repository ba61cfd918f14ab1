# SPDX-License-Identifier: Apache-2.0
"""Every tree kADET returns keeps its promise by enumeration, and stops only where it must."""

import copy
import itertools
import math
from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers import oracle
from helpers.strategies import LETTERS, Case, cases
from shoal import DataError, DistinctDiversity, EntropyDiversity, KAnonymity, PromiseError, audit
from shoal.data import load_hierarchies
from shoal.trees.batches import Batches
from shoal.trees.mine import grow, mine_tree, prepare
from shoal.trees.prune import prune
from shoal.trees.publish import publish
from shoal.trees.score import Score
from shoal.trees.spans import SpanBook


def mine(case: Case, requirement, **options):
    hierarchies = load_hierarchies(case.hierarchies, case.roles.features)
    return mine_tree(case.table, case.roles, requirement, domain=case.domain, hierarchies=hierarchies, **options)


@given(cases(), st.integers(1, 5), st.sampled_from(["gain", "gini"]))
@settings(max_examples=700)
def test_every_mined_tree_keeps_k_by_enumeration(case: Case, k: int, criterion: str):
    try:
        release = mine(case, KAnonymity(k), criterion=criterion)
    except PromiseError:
        assert len(case.rows) < k
        return
    assert oracle.holds(release.to_json(), case.rows, case.public, k)


@given(cases(), st.integers(2, 4))
@settings(max_examples=200)
def test_the_strict_rule_leaves_no_small_group_at_all(case: Case, k: int):
    try:
        release = mine(case, KAnonymity(k), strict=True)
    except PromiseError:
        return
    spans = oracle.groups(release.to_json(), case.rows, case.public)
    assert min(oracle.sizes(spans).values()) >= k


def _entropy(values) -> float:
    counts, n = Counter(values).values(), len(values)
    return -sum(c / n * math.log2(c / n) for c in counts)


@given(cases(), st.sampled_from([1.2, 1.5, 1.9]))
@settings(max_examples=200)
def test_entropy_diverse_trees_are_diverse_by_enumeration(case: Case, ell: float):
    assume(case.roles.target_role == "private")
    try:
        release = mine(case, EntropyDiversity(ell))
    except PromiseError:
        assert _entropy([row["t"] for row in case.rows]) < math.log2(ell) + 1e-9
        return
    spans = oracle.groups(release.to_json(), case.rows, case.public)
    for each in set(spans):
        group = [row["t"] for row, own in zip(case.rows, spans, strict=True) if own == each]
        assert _entropy(group) >= math.log2(ell) - 1e-9


@given(cases(private=True), st.data())
@settings(max_examples=150)
def test_a_sensitive_private_column_stays_diverse(case: Case, data):
    assume(case.roles.private)
    name = data.draw(st.sampled_from(case.roles.private))
    roles = type(case.roles)(**{**case.roles.__dict__, "sensitive": (name,)})
    case = Case(case.rows, roles, case.domain, case.hierarchies)
    if any(row[name] is None for row in case.rows):
        with pytest.raises(DataError, match="is missing in"):
            mine(case, DistinctDiversity(2))
        return
    try:
        release = mine(case, DistinctDiversity(2))
    except PromiseError:
        return
    assert release.sensitive == (name,)
    spans = oracle.groups(release.to_json(), case.rows, case.public)
    for each in set(spans):
        rows = [row for row, own in zip(case.rows, spans, strict=True) if own == each]
        if len(each) > 1:
            assert len({row[name] for row in rows}) >= 2
            assert roles.target_role == "public" or len({row["t"] for row in rows}) >= 2


@given(cases(private=False), st.integers(1, 4))
@settings(max_examples=250)
def test_both_loops_grow_the_same_tree(case: Case, k: int):
    try:
        by_rounds = mine(case, KAnonymity(k))
    except PromiseError:
        with pytest.raises(PromiseError):
            mine(case, KAnonymity(k), one_queue=True)
        return
    by_queue = mine(case, KAnonymity(k), one_queue=True)
    assert by_rounds.to_json() == by_queue.to_json()


@given(cases(), st.integers(1, 3), st.randoms())
@settings(max_examples=200)
def test_row_order_changes_nothing(case: Case, k: int, random):
    rows = case.rows[:]
    random.shuffle(rows)
    assume(len(rows) >= k)
    shuffled = Case(rows, case.roles, case.domain, case.hierarchies)
    assert mine(case, KAnonymity(k)).to_json() == mine(shuffled, KAnonymity(k)).to_json()


@given(cases(private=False), st.integers(1, 3), st.permutations(LETTERS))
@settings(max_examples=200)
def test_names_of_categories_change_nothing(case: Case, k: int, letters):
    """Rename every category so that the order of names changes too: the same people end together."""
    assume(len(case.rows) >= k)
    new = dict(zip(LETTERS, letters, strict=True))

    def renamed(value):
        return new.get(value, value) if isinstance(value, str) else value

    rows = [{name: value if name == "t" else renamed(value) for name, value in row.items()} for row in case.rows]
    domain = {name: v if name == "t" else sorted(map(renamed, v), key=str) for name, v in case.domain.items()}
    domain = {name: case.domain[name] if isinstance(case.domain[name][0], int) else v for name, v in domain.items()}
    hierarchies = {
        name: {"*": {side: [renamed(v) for v in values] for side, values in spec["*"].items()}} if "*" in spec else spec
        for name, spec in case.hierarchies.items()
    }
    other = Case(rows, case.roles, domain, hierarchies)
    first = mine(case, KAnonymity(k)).apply(case.table).tolist()
    second = mine(other, KAnonymity(k)).apply(other.table).tolist()
    assert len(set(zip(first, second, strict=True))) == len(set(first)) == len(set(second))


@given(cases(max_rows=12), st.integers(2, 4))
@settings(max_examples=250)
def test_it_stops_only_where_a_gainful_split_would_break_the_promise(case: Case, k: int):
    """No veto is idle: each split of a leaf that gains and was not made fails the enumeration."""
    try:
        release = mine(case, KAnonymity(k))
    except PromiseError:
        return
    body = release.to_json()
    ends = [oracle.model(body, row)[0] for row in case.rows]
    for leaf in release.leaves:
        rows = [row for row, end in zip(case.rows, ends, strict=True) if end == leaf]
        for name in case.roles.features:
            for branches in _splits(case, name):
                if _gain(rows, name, branches) > 1e-4:
                    assert not oracle.holds(_with_split(body, leaf, name, branches), case.rows, case.public, k)


def _splits(case: Case, name: str):
    """The coarsest splits a column can make: hierarchies' last level, exact values, or any one cut."""
    missing = any(row[name] is None for row in case.rows)
    if isinstance(case.domain[name][0], str):
        if name in case.hierarchies:
            groups = list(case.hierarchies[name]["*"].values())
        else:
            groups = [[value] for value in case.domain[name]]
        yield [{"values": group} for group in groups] + ([{"missing": True}] if missing else [])
    elif name not in case.hierarchies:
        seen = sorted({row[name] for row in case.rows if row[name] is not None})
        for low, high in itertools.pairwise(seen):
            cut = (low + high) / 2
            for side in range(1 + missing):
                branches = [{"at_most": cut}, {"above": cut}]
                if missing:
                    branches[side]["missing"] = True
                yield branches


def _gain(rows, name, branches) -> float:
    parts = [[row["t"] for row in rows if oracle._takes(branch, row[name])] for branch in branches]
    whole = [row["t"] for row in rows]
    if not whole:
        return 0.0
    return _entropy(whole) - sum(len(part) / len(whole) * _entropy(part) for part in parts if part)


def _with_split(body, leaf, name, branches):
    body = copy.deepcopy(body)
    first = len(body["nodes"])
    body["nodes"][leaf] = {
        "attribute": name,
        "branches": [{**branch, "node": first + i} for i, branch in enumerate(branches)],
    }
    body["nodes"] += [{"counts": {}} for _ in branches]
    return body


MANNERS = [
    {"criterion": "ratio", "pruning": 0.25},
    {"grouping": "halves"},
    {"grouping": "halves", "pruning": "cost"},
    {"pruning": 0.25},
    {"grouping": "merge"},
    {"grouping": "merge", "criterion": "ratio", "pruning": "cost"},
    {"grouping": "merge", "criterion": "gini", "class_weight": "balanced", "pruning": "cost"},
    {"grouping": "halves", "class_weight": {"n": 1, "y": 30, "z": 0.4}, "criterion": "ratio", "pruning": 0.25},
    {"min_gain": 0.1},
    {"lookahead": 1},
    {"lookahead": 1, "grouping": "merge", "max_leaves": 4},
    {"lookahead": 1, "grouping": "halves", "criterion": "ratio", "max_depth": 2},
]


@pytest.mark.parametrize("manner", MANNERS, ids=str)
@given(cases(max_rows=40), st.integers(2, 6), st.booleans())
@settings(max_examples=150)
def test_every_manner_keeps_the_promise_by_enumeration(manner, case: Case, k: int, one_queue: bool):
    try:
        release = mine(case, KAnonymity(k), one_queue=one_queue, **_fitting(manner, case))
    except PromiseError:
        assert len(case.rows) < k
        return
    assert oracle.holds(release.to_json(), case.rows, case.public, k)


def prepared(case: Case, k: int):
    hierarchies = load_hierarchies(case.hierarchies, case.roles.features)
    return prepare(case.table, case.roles, KAnonymity(k), domain=case.domain, hierarchies=hierarchies)


def published(task, grown):
    return publish(grown, task.engine.features, task.table, task.roles, task.requirement, declared=task.declared)


def _fitting(manner, case: Case):
    """The same manner with weights for the classes that the case has."""
    weights = manner.get("class_weight")
    if not isinstance(weights, dict):
        return manner
    return {**manner, "class_weight": {label: weights[label] for label in case.domain["t"]}}


@given(cases(max_rows=30), st.integers(1, 4), st.sampled_from(["cost", 0.25, 0.01]))
@settings(max_examples=150)
def test_pruning_never_shrinks_a_group(case: Case, k: int, pruning):
    assume(len(case.rows) >= k)
    task = prepared(case, k)
    grown = grow(task)
    before = oracle.groups(published(task, grown).to_json(), case.rows, case.public)
    after = oracle.groups(published(task, prune(grown, pruning)).to_json(), case.rows, case.public)
    # people with the same span before have the same span after
    assert len(set(zip(before, after, strict=True))) == len(set(before))


@pytest.mark.parametrize("grouping", [None, "halves"])
@given(cases(max_rows=40), st.integers(1, 6))
@settings(max_examples=250)
def test_many_nodes_at_a_time_keep_the_promise_by_enumeration(grouping, case: Case, k: int):
    """Without the price of leaves, which would hardly let anything grow on so few people."""
    assume(case.roles.target_role == "private" and len(case.rows) >= k)
    task = prepared(case, k)
    book = SpanBook(task.engine, task.veto, target_is_public=False, strict=False)
    grown = Batches(task.engine, Score("gini", len(case.rows)), book, least_people=k, grouping=grouping).grow()
    release = published(task, grown)
    assert oracle.holds(release.to_json(), case.rows, case.public, k)
    assert audit(release, case.table, privacy=k).holds


LOOPS = [
    {"grouping": "halves", "criterion": "gini"},
    {"grouping": "halves"},
    {"grouping": "merge"},
    {"grouping": "merge", "class_weight": "balanced", "criterion": "gini"},
    {"grouping": "halves", "class_weight": "balanced", "criterion": "gini", "pruning": "cost"},
    {"class_weight": "balanced", "pruning": "cost"},
    {"min_gain": 0.05, "grouping": "halves"},
    {"lookahead": 1},
    {"lookahead": 1, "grouping": "merge", "criterion": "gini"},
    {"lookahead": 1, "grouping": "halves", "min_gain": 0.05, "max_depth": 2},
]


@pytest.mark.parametrize("manner", LOOPS, ids=str)
@given(cases(private=False, max_rows=40), st.integers(1, 5))
@settings(max_examples=100)
def test_both_loops_grow_the_same_tree_in_every_manner(manner, case: Case, k: int):
    assume(len(case.rows) >= k)
    by_rounds, by_queue = (mine(case, KAnonymity(k), one_queue=queue, **manner).to_json() for queue in (False, True))
    assert by_rounds == by_queue


DIVERSE = [{"grouping": "merge"}, {"lookahead": 1}, {"grouping": "merge", "class_weight": "balanced"}]


@pytest.mark.parametrize("manner", DIVERSE, ids=str)
@given(cases(max_rows=30), st.sampled_from([1.2, 1.5, 1.9]))
@settings(max_examples=100)
def test_every_manner_stays_diverse_by_enumeration(manner, case: Case, ell: float):
    assume(case.roles.target_role == "private")
    try:
        release = mine(case, EntropyDiversity(ell), **manner)
    except PromiseError:
        return
    spans = oracle.groups(release.to_json(), case.rows, case.public)
    for each in set(spans):
        group = [row["t"] for row, own in zip(case.rows, spans, strict=True) if own == each]
        assert _entropy(group) >= math.log2(ell) - 1e-9
