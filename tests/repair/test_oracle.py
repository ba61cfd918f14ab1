# SPDX-License-Identifier: Apache-2.0
"""Repaired trees keep the requirement by enumeration of the definition, and safe ones are left as they are."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers import oracle
from helpers.strategies import cases, trees
from shoal import Confidence, KAnonymity, PromiseError, audit
from shoal.release import EnsembleRelease, Node
from shoal.release.node import renumber
from shoal.repair import repair


@st.composite
def forests(draw):
    case = draw(cases())
    return case, [draw(trees(case, max_nodes=12)) for _ in range(draw(st.integers(1, 3)))]


def joint_spans(bodies, rows, public):
    """For every row the tuples of leaves and the class that its public values allow."""
    attributes = {each["name"]: each for body in bodies for each in body["attributes"]}
    asked = {node["attribute"] for body in bodies for node in body["nodes"] if "attribute" in node} | {"t"}
    hidden = [attribute for name, attribute in attributes.items() if name in asked and name not in public]
    names = [attribute["name"] for attribute in hidden]
    domains = [
        sorted({value for body in bodies for value in oracle.domain(body, attribute)}, key=repr) for attribute in hidden
    ]
    answer = []
    for row in rows:
        guesses = ({**row, **dict(zip(names, values, strict=True))} for values in itertools.product(*domains))
        answer.append(frozenset(tuple(oracle.model(body, guess) for body in bodies) for guess in guesses))
    return answer


def unsafe(case, members):
    return members[0] if len(members) == 1 else EnsembleRelease(tuple(members))


@given(forests(), st.integers(2, 5))
@settings(max_examples=200)
def test_every_group_of_all_trees_together_has_k_people(pair, k):
    case, members = pair
    model = unsafe(case, members)
    try:
        done = repair(model, case.table, privacy=k)
    except PromiseError:
        assert len(case.rows) < k
        assert case.roles.target_role == "private"
        return
    release = done.release
    bodies = [tree.to_json() for tree in (release.trees if isinstance(release, EnsembleRelease) else [release])]
    spans = joint_spans(bodies, case.rows, case.public)
    assert all(n >= k or len(span) == 1 for span, n in Counter(spans).items())
    assert done.audit.holds


@given(forests(), st.sampled_from([0.5, 0.7, 0.9]))
@settings(max_examples=100)
def test_no_group_is_more_certain_than_asked(pair, c):
    case, members = pair
    assume(case.roles.target_role == "private")
    try:
        done = repair(unsafe(case, members), case.table, privacy=KAnonymity(2) & Confidence(c))
    except PromiseError:
        top = max(Counter(row["t"] for row in case.rows).values())
        assert top > c * len(case.rows)
        return
    assert done.audit.holds
    assert done.audit.highest_confidence <= c


@given(forests(), st.integers(2, 4))
@settings(max_examples=150)
def test_what_keeps_the_requirement_is_left_as_it_is(pair, k):
    case, members = pair
    model = unsafe(case, members)
    assume(audit(model, case.table, privacy=k).holds)
    try:
        release = repair(model, case.table, privacy=k).release
    except PromiseError:
        assert len(case.rows) < k
        assert case.roles.target_role == "private"
        return
    # the same people end together, in as many leaves as somebody was in
    after = leaves_of(release.trees if isinstance(release, EnsembleRelease) else [release], case.table)
    before = leaves_of(members, case.table)
    assert len(set(zip(before, after, strict=True))) == len(set(before)) == len(set(after))


def leaves_of(trees, table):
    return list(zip(*(tree.apply(table).tolist() for tree in trees), strict=True))


def put_back(original, repaired, table):
    """The repaired tree with a split of the original put back where it became a leaf, for every such place.

    Both are walked from the root, down to where one of them is a leaf or a split was merged or passed over.
    """
    ends = repaired.apply(table)
    waiting = [(0, 0)]
    for theirs, ours in waiting:
        node, here = original.nodes[theirs], repaired.nodes[ours]
        if here.is_leaf and not node.is_leaf and (ends == ours).any():
            first = len(repaired.nodes)
            branches = tuple(replace(branch, node=first + i) for i, branch in enumerate(node.branches))
            nodes = list(repaired.nodes) + [Node(counts=(0,) * len(repaired.classes)) for _ in branches]
            nodes[ours] = Node(node.attribute, branches)
            more = replace(repaired, nodes=renumber(tuple(nodes)), attributes=original.attributes, unused={})
            if len(set(more.apply(table))) > len(set(ends)):  # otherwise it is no split of these people
                yield more
        elif node.attribute == here.attribute and not here.is_leaf:
            waiting += [
                (branch.node, other.node)
                for branch in node.branches
                for other in here.branches
                if set(branch.values) == set(other.values) and branch.values and branch.missing == other.missing
            ]


@given(forests(), st.integers(2, 5))
@settings(max_examples=200)
def test_no_split_that_was_left_out_could_be_put_back(pair, k):
    case, members = pair
    try:
        release = repair(unsafe(case, members), case.table, privacy=k, prune=False).release
    except PromiseError:
        return
    kept = list(release.trees if isinstance(release, EnsembleRelease) else [release])
    assume(len(kept) == len(members))  # so that it is known which is which
    for t, tree in enumerate(kept):
        for more in put_back(members[t], tree, case.table):
            bodies = [each.to_json() for each in (*kept[:t], more, *kept[t + 1 :])]
            spans = Counter(joint_spans(bodies, case.rows, case.public))
            assert not all(n >= k or len(span) == 1 for span, n in spans.items())


@given(forests(), st.integers(2, 4))
@settings(max_examples=100)
def test_a_repaired_tree_needs_no_repair(pair, k):
    case, members = pair
    try:
        once = repair(members[0], case.table, privacy=k)
    except PromiseError:
        return
    again = repair(once.release, case.table)
    assert again.before.holds
    assert np.array_equal(once.release.predict_proba(case.table), again.release.predict_proba(case.table))


def test_people_of_a_merged_branch_take_the_tests_of_another():
    from shoal.release import Attribute, Branch, Interval, Node, TreeRelease

    # one person has a, and the tests behind b tell the others well apart: they are kept, for everybody
    rows = {"x": ["a"] + ["b"] * 20, "n": [0.0, *range(1, 21)], "t": ["no"] * 11 + ["yes"] * 10}
    tree = TreeRelease(
        "t",
        (
            Attribute("x", "public", "categorical", values=("a", "b")),
            Attribute("n", "public", "numeric", bounds=(0, 20)),
            Attribute("t", "private", "categorical", values=("no", "yes")),
        ),
        ({"requirement": "k-anonymity", "k": 2},),
        (
            Node("x", (Branch(1, values=("a",)), Branch(2, values=("b",)))),
            Node(counts=(1, 0)),
            Node("n", (Branch(3, intervals=(Interval(None, 10),)), Branch(4, intervals=(Interval(10, None),)))),
            Node(counts=(10, 0)),
            Node(counts=(0, 10)),
        ),
    )
    done = repair(tree, rows, privacy=5)
    assert done.release.tested == ("n",)
    assert done.release.counts[list(done.release.leaves)].tolist() == [[11, 0], [0, 10]]
    assert done.leaves == (3, 2)
    assert done.accuracy == (1.0, 1.0)


def test_a_requirement_that_nobody_can_keep():
    rows = {"x": ["a", "b", "a"], "t": ["no", "yes", "no"]}
    from shoal import AnonymousTreeClassifier

    tree = AnonymousTreeClassifier(privacy=1).fit(rows, "t").release_
    with pytest.raises(PromiseError, match="one leaf"):
        repair(tree, rows, privacy=4)
