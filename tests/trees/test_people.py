# SPDX-License-Identifier: Apache-2.0
"""With several rows a person, every promise is about different people: by enumeration, and in every growing loop."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers import oracle
from helpers.strategies import Case, cases
from shoal import AnonymousTreeClassifier, Closeness, Confidence, DistinctDiversity, KAnonymity, PromiseError, audit
from shoal.audit.groups import Groups, count_people
from shoal.data import load_hierarchies, to_table
from shoal.data.person import people_by_code, whose_rows
from shoal.trees import mine as mining
from shoal.trees.mine import mine_tree
from shoal.trees.people import by_value
from shoal.trees.prune import _compact

MANNERS = [
    {},
    {"criterion": "gini", "grouping": "halves", "pruning": "cost", "search": True},
    {"criterion": "ratio", "pruning": 0.25},
    {"grouping": "merge"},
    {"lookahead": 1},
    {"lookahead": 1, "one_queue": True},
    {"one_queue": True},
    {"strict": True, "max_leaves": 4},
]


@st.composite
def visits(draw, **options):
    """A table and whose row each is: few people, so that most have several."""
    case = draw(cases(max_rows=24, **options))
    whose = draw(
        st.lists(st.sampled_from("ABCDEFGH"), min_size=len(case.rows), max_size=len(case.rows)).map(
            lambda letters: [f"person {letter}" for letter in letters]
        )
    )
    return case, whose


def mine(case: Case, whose, requirement, **options):
    hierarchies = load_hierarchies(case.hierarchies, case.roles.features)
    table = case.table
    if whose is not None:
        table = table.with_column(to_table({"who": whose}, kinds={"who": "categorical"})["who"])
        options["person"] = "who"
    return mine_tree(table, case.roles, requirement, domain=case.domain, hierarchies=hierarchies, **options)


def with_person(case: Case, whose):
    return case.table.with_column(to_table({"who": whose}, kinds={"who": "categorical"})["who"])


@given(visits(), st.integers(1, 5), st.sampled_from(MANNERS))
@settings(max_examples=250)
def test_every_group_has_k_different_people_by_enumeration(drawn, k, manner):
    case, whose = drawn
    try:
        release = mine(case, whose, KAnonymity(k), **manner)
    except PromiseError:
        assert len(set(whose)) < k or case.roles.target_role == "public"
        return
    body = release.to_json()
    spans = oracle.groups(body, case.rows, case.public)
    for span, n in oracle.people(spans, whose).items():
        assert n >= k or (len(span) == 1 and not manner.get("strict"))


@given(visits(), st.integers(1, 4))
@settings(max_examples=100)
def test_released_counts_are_of_different_people(drawn, k):
    case, whose = drawn
    try:
        release = mine(case, whose, KAnonymity(k))
    except PromiseError:
        return
    body = release.to_json()
    assert body.get("people") == (len(set(whose)) if len(set(whose)) < len(whose) else None)
    bins = Counter({(bin_, who) for bin_, who in zip((oracle.model(body, r) for r in case.rows), whose, strict=True)})
    expected = Counter(bin_ for bin_, _ in bins)
    for number, node in enumerate(body["nodes"]):
        for value, n in node.get("counts", {}).items():
            assert n == expected[number, value]


@given(visits(), st.integers(1, 4), st.sampled_from(MANNERS))
@settings(max_examples=100)
def test_the_audit_counts_different_people(drawn, k, manner):
    case, whose = drawn
    release = mine(case, None, KAnonymity(1), **manner)
    found = audit(release, with_person(case, whose), person="who", privacy=k)
    spans = oracle.groups(release.to_json(), case.rows, case.public)
    people = oracle.people(spans, whose)
    assert found.group_sizes.tolist() == sorted(people.values())
    assert found.n_people == len(set(whose))
    assert found.n_rows == len(whose)
    assert found.unit == "people"
    assert found.holds == all(n >= k or len(span) == 1 for span, n in people.items())
    sizes = found.size_of_row.tolist()
    assert sizes == [people[span] for span in spans]


@given(visits(), st.sampled_from([Confidence(0.6), Confidence(0.8), DistinctDiversity(2), Closeness(0.3)]), st.data())
@settings(max_examples=200)
def test_requirements_about_values_hold_of_different_people(drawn, requirement, data):
    case, whose = drawn
    assume(case.roles.target_role == "private")
    manner = data.draw(st.sampled_from(MANNERS))
    try:
        release = mine(case, whose, requirement, **manner)
    except PromiseError as refusal:
        assert refusal.code != "audit-failed"
        return
    spans = oracle.groups(release.to_json(), case.rows, case.public)
    values = [row["t"] for row in case.rows]
    order = list(release.classes)
    whole = oracle.by_value(values, whose, order)
    for span in set(spans):
        here = [i for i, own in enumerate(spans) if own == span]
        counts = oracle.by_value([values[i] for i in here], [whose[i] for i in here], order)
        n = sum(counts.values())
        if isinstance(requirement, Confidence):
            assert max(counts.values()) <= float(requirement.c) * n + 1e-9
        elif isinstance(requirement, DistinctDiversity):
            assert len(counts) >= 2
        else:
            distance = sum(abs(counts[v] / n - whole[v] / len(set(whose))) for v in order) / 2
            assert distance <= 0.3 + 1e-9


@given(visits(), st.integers(1, 4), st.sampled_from(MANNERS))
@settings(max_examples=60)
def test_one_row_a_person_is_as_without(drawn, k, manner):
    case, _ = drawn
    whose = [f"person {i}" for i in range(len(case.rows))]
    try:
        without = mine(case, None, KAnonymity(k), **manner)
    except PromiseError:
        with pytest.raises(PromiseError):
            mine(case, whose, KAnonymity(k), **manner)
        return
    assert mine(case, whose, KAnonymity(k), **manner).to_json() == without.to_json()


@given(visits(), st.integers(1, 4), st.sampled_from(MANNERS), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_order_of_rows_and_the_names_of_people_do_not_matter(drawn, k, manner, rng: random.Random):
    case, whose = drawn
    order = list(range(len(whose)))
    rng.shuffle(order)
    names = sorted(set(whose))
    other = dict(zip(names, rng.sample(names, len(names)), strict=True))
    shuffled = Case([case.rows[i] for i in order], case.roles, case.domain, case.hierarchies)
    try:
        release = mine(case, whose, KAnonymity(k), **manner)
    except PromiseError:
        with pytest.raises(PromiseError):
            mine(shuffled, [other[whose[i]] for i in order], KAnonymity(k), **manner)
        return
    assert mine(shuffled, [other[whose[i]] for i in order], KAnonymity(k), **manner).to_json() == release.to_json()


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 5), st.integers(1, 4))
def test_miner_and_audit_count_values_alike(seed, n_rows, n_sets, n_values):
    rng = np.random.default_rng(seed)
    sets, person, codes = (rng.integers(0, n, n_rows) for n in (n_sets, 6, n_values))
    sets, person = np.unique(sets, return_inverse=True)[1], np.unique(person, return_inverse=True)[1]
    column = to_table({"v": [str(code) for code in codes]}, kinds={"v": "categorical"})["v"]
    n = int(sets.max()) + 1
    groups = Groups(sets, count_people(sets, n, person), np.full(n, 2), np.zeros(n, dtype=np.int64), person)
    own = by_value(sets, n, person, column.codes.astype(np.int64), column.n_codes)
    assert np.array_equal(own, groups.by_value(column))
    assert np.array_equal(own.sum(axis=1), groups.people)
    assert np.array_equal(people_by_code(sets, n, person), groups.people)
    assert np.array_equal(
        by_value(np.zeros_like(sets), 1, person, column.codes, column.n_codes)[0], groups.totals(column)
    )


def test_whose_rows():
    people = to_table({"p": ["x", "y", "x"], "q": ["x", "y", "z"]})
    assert whose_rows(people["p"]).tolist() == [0, 1, 0]
    assert whose_rows(people["q"]) is None


def test_a_merge_that_breaks_the_promise_is_undone(monkeypatch):
    """Two groups of the same people keep it; together, everybody has one value in common."""
    rng = random.Random(133)
    n = rng.choice([10, 20, 30])
    rows = [row for p in range(n) for row in ((f"s{p}", "0", "0", "0", "x"), (f"s{p}", "1", "0", "0", "z"))]
    rows += [row for p in range(n) for row in ((f"u{p}", "0", "0", "0", "y"), (f"u{p}", "1", "0", "0", "x"))]
    for i in range(rng.choice([40, 80, 160])):
        side = rng.choice("01")
        shares = [1, rng.choice([1, 2, 3]), rng.choice([1, 2, 3])]
        rows.append((f"v{i}", side, "1", "0", rng.choices("xyz", shares)[0]))
    for i in range(rng.choice([10, 20, 40, 60])):
        other = rng.choice("01")
        side = rng.choice("01")
        rows.append((f"w{i}", side, other, "1", ("y" if other == "0" else "z") if rng.random() < 0.9 else "x"))
    table = {name: [row[i] for row in rows] for i, name in ((1, "a"), (2, "b"), (3, "h"), (4, "t"), (0, "who"))}
    tried = []

    def without_a(grown, pruning, weights=None):
        tried.append(pruning)
        for node in grown if pruning is not None else []:
            if node.split is not None and node.split.feature == 0:
                node.split, node.children = None, {}
        return grown if pruning is None else _compact(grown, 1)

    monkeypatch.setattr(mining, "prune", without_a)
    model = AnonymousTreeClassifier(
        Confidence(0.6),
        public=["a", "b"],
        domain={"h": ["0", "1"]},
        person="who",
        criterion="gain",
        pruning=0.25,
        search=False,
    )
    release = model.fit(table, "t").release_
    assert tried == [0.25, None]
    assert audit(release, table, person="who").holds


def test_a_split_may_leave_the_same_people_on_both_sides():
    rows = {"who": list("abcabc"), "x": ["l"] * 3 + ["r"] * 3, "t": ["n"] * 3 + ["y"] * 3}
    release = AnonymousTreeClassifier(3, variant="id3", person="who").fit(rows, "t").release_
    assert [node.counts for node in release.nodes if node.is_leaf] == [(3, 0), (0, 3)]
    assert release.n_people == 3


def test_the_best_split_by_rows_gives_way_to_the_best_by_people():
    # x tells the class, but its left side is three rows of one person
    rows = {
        "who": ["a", "a", "a", "b", "c", "d", "e", "f"],
        "x": ["l", "l", "l", "r", "r", "r", "r", "r"],
        "z": ["u", "u", "u", "u", "v", "v", "v", "v"],
        "t": ["y", "y", "y", "n", "n", "n", "n", "n"],
    }
    without = {name: cells for name, cells in rows.items() if name != "who"}
    assert AnonymousTreeClassifier(2, variant="id3").fit(without, "t").release_.tested == ("x",)
    assert AnonymousTreeClassifier(2, variant="id3", person="who").fit(rows, "t").release_.tested == ("z",)
