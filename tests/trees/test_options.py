# SPDX-License-Identifier: Apache-2.0
"""Splits beyond the papers: merged values, a least gain, looking ahead."""

import itertools
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from helpers.strategies import Case, cases
from shoal import AnonymousModel, AnonymousTreeClassifier, KAnonymity, RequirementError, load_sample
from shoal.anonymize import TreeAnonymizer
from shoal.data import load_hierarchies
from shoal.engines import Feature, MemoryEngine
from shoal.trees.mine import mine_tree


def mine(case: Case, k: int, **options):
    hierarchies = load_hierarchies(case.hierarchies, case.roles.features)
    return mine_tree(case.table, case.roles, KAnonymity(k), domain=case.domain, hierarchies=hierarchies, **options)


def groups(release, node=0):
    """The branches of a node that somebody takes, as sets of values."""
    people = release.counts.sum(axis=1)
    return {frozenset(branch.values) for branch in release.nodes[node].branches if people[branch.node]}


def frame(people):
    """A table from (values, classes, how many) triples of one column."""
    rows = [(value, label) for value, label, n in people for _ in range(n)]
    return pd.DataFrame(rows, columns=["v", "t"])


# ---------------------------------------------------------------- merged values


def test_a_value_too_small_to_stand_alone_joins_the_one_of_most_like_classes():
    people = frame([("a", "y", 90), ("a", "n", 10), ("b", "n", 90), ("b", "y", 10), ("c", "y", 6), ("c", "n", 1)])
    release = AnonymousTreeClassifier(20, grouping="merge", pruning="none").fit(people, "t").release_
    assert groups(release) == {frozenset("ac"), frozenset("b")}
    by_level = AnonymousTreeClassifier(20, grouping="levels", pruning="none").fit(people, "t").release_
    assert len(by_level.nodes) == 1


def test_values_that_may_stand_alone_do():
    people = frame([("a", "y", 90), ("b", "n", 90), ("c", "y", 70), ("d", "n", 70)])
    release = AnonymousTreeClassifier(20, grouping="merge", pruning="none").fit(people, "t").release_
    assert groups(release) == {frozenset("a"), frozenset("b"), frozenset("c"), frozenset("d")}


def test_the_hierarchy_comes_before_the_classes():
    """c is like a, but a sibling of b."""
    people = frame([("a", "y", 90), ("b", "n", 90), ("c", "y", 7), ("d", "y", 60), ("d", "n", 30)])
    tree = AnonymousTreeClassifier(
        20, grouping="merge", pruning="none", hierarchies={"v": {"*": {"l": ["a", "d"], "r": ["b", "c"]}}}
    )
    assert groups(tree.fit(people, "t").release_) == {frozenset("a"), frozenset("bc"), frozenset("d")}


def test_rare_values_are_put_together_whatever_their_classes():
    """Names of people would otherwise be sorted by their classes."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"v": [f"p{i}" for i in range(400)], "t": rng.choice(["n", "y"], 400)})
    assert len(AnonymousTreeClassifier(5, grouping="merge", pruning="none").fit(people, "t").release_.nodes) == 1


def test_more_values_than_are_looked_at_one_by_one():
    rng = np.random.default_rng(0)
    value = rng.integers(0, 300, 30_000)
    people = pd.DataFrame(
        {"v": [f"v{i}" for i in value], "t": np.where(value + rng.normal(0, 40, 30_000) > 150, "y", "n")}
    )
    tree = AnonymousTreeClassifier(110, grouping="merge", pruning="none").fit(people, "t")
    # about half of the values have too few people to stand alone, and those are not given up
    assert tree.release_.verdict.smallest_group >= 110
    assert len(groups(tree.release_)) > 20
    assert tree.score(people[["v"]], people["t"]) > 0.8


@given(st.integers(0, 2**32 - 1), st.sampled_from(["gain", "gini"]))
@settings(max_examples=60)
def test_neither_row_order_nor_names_change_merged_values(seed, criterion):
    """Ties apart: values of equally many people, class by class, are taken in their order."""
    rng = np.random.default_rng(seed)
    value = rng.choice(8, 500, p=rng.dirichlet(np.full(8, 0.8)))
    other = rng.integers(0, 3, 500)
    label = (rng.random(500) < (value * 0.11 + other * 0.05)).astype(int)
    per_value = Counter(zip(value.tolist(), label.tolist(), strict=True))
    sizes = [(per_value[v, 0], per_value[v, 1]) for v in range(8) if per_value[v, 0] + per_value[v, 1] >= 5]
    assume(len({sum(size) for size in sizes}) == len(sizes))
    names = np.array(list("abcdefgh"))
    order, new = rng.permutation(500), rng.permutation(8)
    options = {"privacy": 30, "grouping": "merge", "pruning": "none", "criterion": criterion, "max_depth": 1}
    first = pd.DataFrame({"v": names[value], "o": other.astype(str)})
    second = pd.DataFrame({"v": names[new[value]], "o": other.astype(str)})
    one = AnonymousTreeClassifier(**options).fit(first, label)
    two = AnonymousTreeClassifier(**options).fit(second.iloc[order], label[order])
    ends, others = one.release_.apply(first).tolist(), two.release_.apply(second).tolist()
    assert len(set(zip(ends, others, strict=True))) == len(set(ends)) == len(set(others))


# ---------------------------------------------------------------- a least gain


def impurity(counts, gini: bool) -> float:
    n = sum(counts)
    if gini:
        return n - sum(c * c for c in counts) / n if n else 0.0
    return -sum(c * math.log2(c / n) for c in counts if c)


def gain(release, node: int, gini: bool, weights=None) -> float:
    weights = np.ones(len(release.classes)) if weights is None else weights
    below = [branch.node for branch in release.nodes[node].branches]
    counts = release.counts * weights
    return impurity(counts[node], gini) - sum(impurity(counts[child], gini) for child in below)


@pytest.mark.parametrize("weights", [None, {"n": 1, "y": 4, "z": 2}], ids=str)
@given(cases(max_rows=40), st.integers(1, 4), st.floats(0, 0.5), st.sampled_from(["gain", "gini", "ratio"]))
@settings(max_examples=100)
def test_every_split_gains_at_least_so_much_over_all_people(weights, case, k, min_gain, criterion):
    assume(len(case.rows) >= k)
    own = None if weights is None else {label: weights[label] for label in case.domain["t"]}
    release = mine(case, k, min_gain=min_gain, criterion=criterion, class_weight=own)
    heavy = np.array([1 if own is None else own[label] for label in release.classes])
    everybody = (release.counts[0] * heavy).sum()
    for number, node in enumerate(release.nodes):
        if node.is_leaf or (criterion == "ratio" and release.attribute(node.attribute).missing):
            continue  # C4.5's gain is that of the people whose value is known
        assert gain(release, number, criterion == "gini", heavy) / everybody >= min_gain - 1e-4


def test_a_split_is_made_just_below_its_gain_and_not_just_above():
    people = load_sample().table.select(["age", "sex", "diabetes"])
    plain = AnonymousTreeClassifier(100, max_depth=1, criterion="gini", pruning="none").fit(people, "diabetes").release_
    own = gain(plain, 0, True) / plain.n_people
    assert own > 0.001
    for factor, made in ((0.999, True), (1.001, False)):
        tree = AnonymousTreeClassifier(100, max_depth=1, pruning="none", min_gain=own * factor).fit(people, "diabetes")
        assert (len(tree.release_.nodes) > 1) == made


@pytest.mark.parametrize("public", [["age", "sex", "occupation"], ["sex", "occupation"]], ids=str)
@pytest.mark.parametrize("manner", [{}, {"grouping": "merge"}, {"class_weight": {"no": 1, "yes": 3}}], ids=str)
def test_a_least_gain_with_private_columns_and_leaves_at_a_price(manner, public):
    people = load_sample().table.select(["age", "sex", "occupation", "bmi", "diabetes"])
    plain, fewer = (
        AnonymousTreeClassifier(20, public=public, min_gain=least, **manner).fit(people, "diabetes").release_
        for least in (0.0, 0.002)
    )
    heavy = np.array([1, 3]) if "class_weight" in manner else np.ones(2)
    gains = [
        [
            gain(tree, i, True, heavy) / (tree.counts[0] * heavy).sum()
            for i, node in enumerate(tree.nodes)
            if node.branches
        ]
        for tree in (plain, fewer)
    ]
    assert min(gains[0]) < 0.002 <= min(gains[1]) + 1e-6
    assert len(gains[1]) > 1


@pytest.mark.parametrize("gain", [-0.1, float("nan"), float("inf"), "much", True, None])
def test_a_least_gain_that_makes_no_sense_is_refused(gain):
    with pytest.raises(RequirementError, match="min_gain must be a number of at least 0"):
        AnonymousTreeClassifier(min_gain=gain).fit(load_sample().table.select(["age", "diabetes"]), "diabetes")


# ---------------------------------------------------------------- looking ahead


def agree(numeric):
    """The class is whether two columns agree; every combination is there equally often, so none tells a thing alone."""
    values = [[0, 1, 2, 3]] * 3 if numeric else [["f", "t"]] * 4
    X = pd.DataFrame(list(itertools.product(*values)) * 50, columns=[f"c{i}" for i in range(len(values))])
    high = X > 1 if numeric else X == "t"
    return X, np.where(high["c0"] == high["c1"], "same", "other")


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("private", [[], ["c0"], ["c0", "c1"]], ids=str)
@pytest.mark.parametrize("manner", [{}, {"grouping": "merge", "criterion": "gain"}, {"variant": "c45"}], ids=str)
def test_where_two_columns_agree(manner, private, numeric):
    X, y = agree(numeric)
    options = {"privacy": 50, "public": [name for name in X if name not in private], **manner}
    assert len(AnonymousTreeClassifier(**options).fit(X, y).release_.nodes) == 1
    seeing = AnonymousTreeClassifier(**options, lookahead=1).fit(X, y)
    assert seeing.score(X, y) == 1
    assert len(seeing.release_.leaves) == 4
    assert seeing.release_.verdict.holds


def test_there_is_nothing_to_see_below_the_last_level():
    people = load_sample().table.select(["age", "sex", "education", "diabetes"])
    options = {"privacy": 50, "max_depth": 1, "pruning": "none"}
    plain, far = (AnonymousTreeClassifier(**options, lookahead=i).fit(people, "diabetes") for i in (0, 1))
    assert plain.release_.to_json() == far.release_.to_json()
    assert len(plain.release_.nodes) > 1


@pytest.mark.parametrize("lookahead", [2, -1, None, "far"])
def test_further_than_one_split_nobody_looks(lookahead):
    with pytest.raises(RequirementError, match="lookahead must be 0 or 1"):
        AnonymousTreeClassifier(lookahead=lookahead).fit(load_sample().table.select(["age", "diabetes"]), "diabetes")


@given(cases(private=False, max_rows=40, numeric=False), st.integers(1, 6))
@settings(max_examples=150)
def test_the_root_is_the_best_of_two_levels(case, k):
    """By enumeration: what a column gains, and the best column of each of its parts."""
    assume(len(case.rows) >= k)
    plain = Case(case.rows, case.roles, case.domain, {})
    release = mine(plain, k, lookahead=1)

    def parts(rows, name):
        found: dict = {}
        for row in rows:
            found.setdefault(row[name], []).append(row)
        return list(found.values())

    def own(rows, name):
        split = parts(rows, name)
        if min(map(len, split)) < k:
            return None
        whole, *rest = [impurity(list(Counter(row["t"] for row in part).values()), False) for part in [rows, *split]]
        return whole - sum(rest)

    def best(rows):
        return max([own(rows, name) or 0.0 for name in case.roles.features], default=0.0)

    totals = {}
    for name in case.roles.features:
        if own(case.rows, name) is not None and len(parts(case.rows, name)) > 1:
            totals[name] = own(case.rows, name) + sum(map(best, parts(case.rows, name)))
    highest = max(totals.values(), default=0.0)
    if release.nodes[0].is_leaf:
        assert highest < 1e-3
    else:
        assert totals[release.nodes[0].attribute] > highest - 1e-3


def test_a_node_and_a_span_may_be_split_again():
    """What looking ahead asks of an engine."""
    codes = np.array([0, 0, 1, 1, 2, 2], dtype=np.uint8)
    other = np.array([0, 1, 0, 1, 0, 1], dtype=np.uint8)
    target = np.array([0, 1, 1, 0, 0, 1], dtype=np.uint8)
    engine = MemoryEngine([Feature("a", True, 3), Feature("b", True, 2)], [codes, other], target, 2)
    one = np.zeros(1, dtype=np.int64)
    for f, branch_of, n in [(0, [0, 1, 2], 3), (1, [0, 1], 2), (0, [0, 1, 1], 2)]:
        found = np.array([codes, other][f])
        parts = engine.split_nodes(one, f, np.array([branch_of], dtype=np.int32), n)[0]
        spans = engine.split_spans(one, f, np.array([branch_of], dtype=np.int32), n)[0]
        for branch, (node, span) in enumerate(itertools.zip_longest(parts, spans)):
            inside = np.array(branch_of)[found] == branch
            assert (
                engine.node_counts(np.array([node]), 1)[0].sum(axis=1).tolist()
                == np.bincount(other[inside], minlength=2).tolist()
            )
            assert (
                engine.span_counts(np.array([span]), 1, None)[0, :, 0].tolist()
                == np.bincount(other[inside], minlength=2).tolist()
            )


def test_tables_and_models_grow_so_too():
    manner = {"grouping": "merge", "min_gain": 0.0005, "lookahead": 1}
    people = load_sample().table.select(["age", "education", "zip", "diabetes"])
    plain, table = (TreeAnonymizer(100, **options) for options in ({}, manner))
    plain.fit_transform(people, "diabetes")
    table.fit_transform(people, "diabetes")
    assert table.release_.verdict.smallest_group >= 100
    assert table.tree_.to_json() != plain.tree_.to_json()
    model = AnonymousModel(GaussianNB(), 100, tree_options=manner).fit(people, "diabetes")
    assert model.release_.verdict.smallest_group >= 100
