# SPDX-License-Identifier: Apache-2.0
"""Releases that state less: the same groups, the same predictions, and nothing more than they say."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.strategies import Case, cases, trees
from shoal import AnonymousTreeClassifier, DataError, ReleaseError, attack, audit, load, load_sample
from shoal.anonymize import anonymize_by_tree
from shoal.release import Node, TreeRelease
from shoal.release.parse import parse_tree
from shoal.release.statement import PARTS, STATEMENTS, in_thousandths

LESS = ("shares", "majority")


@pytest.fixture(scope="module")
def people():
    return load_sample().table.select(["age", "sex", "bmi", "smoker", "diabetes"])


@pytest.fixture(scope="module")
def release(people) -> TreeRelease:
    tree = AnonymousTreeClassifier(privacy=150, public=["age", "sex"], domain={"bmi": [10, 60]}, max_leaves=8)
    made: TreeRelease = tree.fit(people, "diabetes").release_
    assert "bmi" in made.tested  # which is private
    return made


@st.composite
def trees_of_cases(draw: st.DrawFn) -> tuple[Case, TreeRelease]:
    """A random tree, perhaps with weights, and its rows."""
    case = draw(cases())
    release = draw(trees(case))
    n = len(release.classes)
    weights = draw(st.none() | st.lists(st.sampled_from([0.5, 1.0, 1.7, 12.0]), min_size=n, max_size=n))
    return case, replace(release, weights=weights and tuple(weights))


# -------------------------------------------------------------------- what is the same


@given(trees_of_cases())
@settings(max_examples=300)
def test_predictions_are_those_of_the_counts(drawn):
    case, release = drawn
    for statement in LESS:
        less = release.stating(statement)
        assert less.statement == statement
        assert (less.predict(case.table) == release.predict(case.table)).all()
        assert (less.answers == release.answers).all()  # of splits too, for values that no branch takes
    shares = release.stating("shares")
    leaves = list(release.leaves)
    plain, stated = replace(release, weights=None), replace(shares, weights=None)
    assert (np.abs(stated.shares[leaves] - plain.shares[leaves]) < 1 / PARTS).all()
    assert shares.predict_proba(case.table).sum(axis=1) == pytest.approx(1)
    if release.weights is not None:
        heavy = stated.predict_proba(case.table) * np.array(release.weights)
        expected = heavy / heavy.sum(axis=1, keepdims=True)
        assert shares.predict_proba(case.table) == pytest.approx(expected)


@given(trees_of_cases(), st.integers(1, 6))
@settings(max_examples=200)
def test_the_audit_says_the_same(drawn, k: int):
    case, release = drawn
    found = audit(release, case.table, privacy=k)
    for statement in LESS:
        less = audit(release.stating(statement), case.table, privacy=k)
        assert (less.holds, less.smallest_group, less.n_groups) == (found.holds, found.smallest_group, found.n_groups)
        assert np.array_equal(less.group_sizes, found.group_sizes)
        assert less.parts == found.parts
        assert (less.exposed, less.highest_confidence) == (found.exposed, found.highest_confidence)
        assert [finding.code for finding in less.findings] == [finding.code for finding in found.findings]
        assert not less.exact  # an attacker is told less than the numbers are computed for


@given(trees_of_cases(), st.sampled_from(STATEMENTS))
@settings(max_examples=200)
def test_it_survives_its_file(drawn, statement):
    case, release = drawn
    made = release.stating(statement)
    again = parse_tree(json.loads(json.dumps(made.to_json())))
    assert again.to_json() == made.to_json()
    assert (again.sha256, again.statement, again.weights) == (made.sha256, statement, release.weights)
    assert (again.predict(case.table) == release.predict(case.table)).all()
    assert again.stating("majority").sha256 == release.stating("majority").sha256


@given(st.lists(st.lists(st.integers(0, 5000), min_size=3, max_size=3), min_size=1))
def test_thousandths_add_up_and_are_near(rows):
    counts = np.array([[row[0] + 1, *row[1:]] for row in rows])
    parts = in_thousandths(counts)
    people = counts.sum(axis=1, keepdims=True)
    assert (parts.sum(axis=1) == PARTS).all()
    assert (np.abs(parts * people - PARTS * counts) < people).all()
    assert (parts[counts == 0] == 0).all()


# -------------------------------------------------------------------- what it says


def test_no_number_of_people_is_in_the_file(release, people, tmp_path):
    numbers = {int(number) for number in release.counts.ravel()} | {release.verdict.smallest_group}
    for statement in LESS:
        release.stating(statement).save(tmp_path / "tree.json")
        text = (tmp_path / "tree.json").read_text()
        body = json.loads(text)
        told = {int(number) for number in re.findall(r"(?<![\d.])\d+(?![\d.])", json.dumps(body["nodes"]))}
        assert told & numbers <= set(range(len(release.nodes)))  # only numbers of nodes
        assert set(body["audit"]) == {"holds", "sha256"}
        assert "counts" not in text
        assert load(tmp_path / "tree.json").verdict.smallest_group is None


def test_splits_have_no_shares(release):
    """With those of the leaves below, they would tell how the people of a split divide among its leaves."""
    for node in release.stating("shares").nodes:
        assert (node.shares is None) == (not node.is_leaf)


def test_what_needs_people_is_refused(release, people):
    for statement in LESS:
        less = release.stating(statement)
        for ask in (lambda r: r.counts, lambda r: r.n_people, lambda r: r.believed, lambda r: attack(r, people)):
            with pytest.raises(ReleaseError, match="no numbers of people") as refusal:
                ask(less)
            assert refusal.value.code == "states-less"
        assert "5000" not in repr(less)
        assert "5,000" not in str(less)


def test_a_majority_has_no_probabilities(release, people):
    less = release.stating("majority")
    for ask in (lambda: less.predict_proba(people), lambda: less.shares, lambda: less.to_sql(proba=True)):
        with pytest.raises(DataError, match="only predicted classes") as refusal:
            ask()
        assert refusal.value.code == "no-probabilities"
    model = less.to_sklearn()
    assert not hasattr(model, "predict_proba")
    assert hasattr(release.stating("shares").to_sklearn(), "predict_proba")
    assert (model.predict(people) == release.predict(people)).all()


def test_a_row_that_stops_at_a_split_has_a_class_and_no_probabilities():
    table = load_sample().table.select(["education", "diabetes"])
    release = AnonymousTreeClassifier(privacy=300, variant="id3").fit(table, "diabetes").release_
    strange = {"education": ["elsewhere", "elsewhere", release.attribute("education").values[0]]}
    shares = release.stating("shares")
    expected = release.predict(strange, unknown="ancestor")
    assert (shares.predict(strange, unknown="ancestor") == expected).all()
    with pytest.raises(DataError, match=r"2 row\(s\) stop at a split") as refusal:
        shares.predict_proba(strange, unknown="ancestor")
    assert refusal.value.code == "no-probabilities"


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_frame_has_what_is_stated(release, statement):
    frame = release.stating(statement).to_frame("pyarrow").to_pydict()
    stated = {"counts": ["people", "diabetes=no", "diabetes=yes"], "shares": ["diabetes=no", "diabetes=yes"]}
    assert list(frame) == ["leaf", "path", "predict", *stated.get(statement, [])]
    assert frame["predict"] == release.labels[release.answers[list(release.leaves)]].tolist()
    if statement == "counts":
        assert sum(frame["people"]) == 5000
    if statement == "shares":
        assert frame["diabetes=no"] == pytest.approx(release.shares[list(release.leaves), 0].tolist(), abs=1e-3)


def test_an_empty_leaf_states_what_it_answers_with(release):
    assert "nobody" not in str(release)
    nodes = [Node(counts=(0, 0)) if i == release.leaves[0] else node for i, node in enumerate(release.nodes)]
    holed = replace(release, nodes=tuple(nodes))
    shares = holed.stating("shares")
    assert shares.shares[release.leaves[0]] == pytest.approx(holed.shares[release.leaves[0]], abs=1e-3)
    assert "nobody" in str(holed)
    assert "nobody" not in str(shares)


def test_a_table_can_be_made_by_it(release, people):
    for statement in LESS:
        assert anonymize_by_tree(release.stating(statement), people).n_people == 5000


# -------------------------------------------------------------------- the verdict goes along, and is not borrowed


def test_a_verdict_goes_along_and_is_that_of_an_audit(release, people, tmp_path):
    for statement in LESS:
        less = release.stating(statement)
        assert less.with_audit(audit(less, people)).verdict == less.verdict
        less.save(tmp_path / "tree.json")
        assert load(tmp_path / "tree.json").verdict.sha256 == less.sha256 != release.sha256
    assert release.stating("shares").stating("majority").verdict == release.stating("majority").verdict
    assert release.stating("counts") is release


def test_a_verdict_on_something_else_does_not_go_along(release, tmp_path):
    changed = replace(release, claims=({"requirement": "k-anonymity", "k": 151},))
    weighted = replace(release, weights=(1.0, 9.0))
    less = release.stating("shares")
    nodes = tuple(replace(node, shares=None) for node in less.nodes)
    for borrowed in (changed, weighted):
        assert borrowed.stating("majority").verdict is None
        with pytest.raises(ReleaseError, match="not audited here"):
            borrowed.stating("majority").save(tmp_path / "tree.json")
    with pytest.raises(ReleaseError, match="changed after its audit"):
        replace(less, nodes=nodes).save(tmp_path / "tree.json")
    with pytest.raises(ReleaseError, match="changed after its audit"):
        replace(less, verdict=release.verdict).save(tmp_path / "tree.json")
    assert not list(tmp_path.iterdir())


def test_a_bad_or_merely_stated_verdict_stays_one(release, people, tmp_path):
    bold = replace(release, claims=({"requirement": "k-anonymity", "k": 4000},))
    failed = bold.with_audit(audit(bold, people)).stating("majority")
    with pytest.raises(ReleaseError, match="found a breach"):
        failed.save(tmp_path / "tree.json")
    release.save(tmp_path / "counts.json")
    loaded = load(tmp_path / "counts.json").stating("shares")
    assert loaded.verdict.stated
    with pytest.raises(ReleaseError, match="file's own word"):
        loaded.save(tmp_path / "tree.json")


def test_more_cannot_be_stated(release):
    for less, more in (("majority", "shares"), ("majority", "counts"), ("shares", "counts")):
        with pytest.raises(ReleaseError, match=f"No {more} can be made") as refusal:
            release.stating(less).stating(more)
        assert refusal.value.code == "states-less"
    with pytest.raises(DataError, match="'counts', 'shares' or 'majority'"):
        release.stating("everything")


# -------------------------------------------------------------------- statements that the rows deny


def test_a_share_that_the_rows_deny_is_found(release, people):
    less = release.stating("shares")
    leaf = less.leaves[-1]
    counts = release.counts[leaf]
    for no in range(PARTS + 1):
        lie = replace(less.nodes[leaf], shares=(no / PARTS, (PARTS - no) / PARTS))
        if no % 50 and abs(no - round(PARTS * less.nodes[leaf].shares[0])) > 3:
            continue  # some lies, and all small ones
        verdict = audit(replace(less, nodes=(*less.nodes[:leaf], lie, *less.nodes[leaf + 1 :])), people)
        is_rounding = abs(no * counts.sum() - PARTS * counts[0]) < counts.sum()
        assert verdict.holds == is_rounding
        if not is_rounding:
            assert (verdict.findings[0].code, verdict.findings[0].nodes) == ("shares-differ", (leaf,))
            assert verdict.findings[0].people == counts.sum()


@pytest.mark.parametrize("statement", LESS)
def test_a_prediction_that_the_rows_deny_is_found(release, people, statement):
    less = release.stating(statement)
    for number in (0, less.leaves[0]):  # a split and a leaf
        lie = replace(less.nodes[number], answer=1 - less.nodes[number].answer)
        verdict = audit(replace(less, nodes=(*less.nodes[:number], lie, *less.nodes[number + 1 :])), people)
        assert not verdict.holds
        assert [(each.code, each.nodes) for each in verdict.findings] == [("predictions-differ", (number,))]


def test_a_tie_may_be_predicted_either_way(release):
    rows = {"x": ["a"] * 4, "t": ["n", "y", "n", "y"]}
    attributes = parse_tree(tied({"predict": "n"})).attributes
    for predict in ("n", "y"):
        tree = parse_tree(tied({"predict": predict}))
        assert tree.attributes == attributes
        assert audit(tree, rows).holds


def tied(leaf: dict[str, Any]) -> dict[str, Any]:
    values = {"x": ["a", "b"], "t": ["n", "y"]}
    return {
        "format": "shoal-release/1",
        "kind": "tree",
        "target": "t",
        "attributes": [
            {"name": name, "role": "public" if name == "x" else "private", "type": "categorical", "values": of}
            for name, of in values.items()
        ],
        "claims": [{"requirement": "k-anonymity", "k": 1}],
        "nodes": [leaf],
    }


def test_other_rows_are_noticed_as_far_as_shares_tell(release, people):
    half = people.take(np.arange(2500))
    assert "counts-differ" in {each.code for each in audit(release, half).findings}
    assert "shares-differ" in {each.code for each in audit(release.stating("shares"), half).findings}
