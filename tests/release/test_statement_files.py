# SPDX-License-Identifier: Apache-2.0
"""Files of releases that state less, or have weights: nothing in one is believed unchecked."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from shoal import AnonymousModel, AnonymousTreeClassifier, ReleaseError, audit, load, load_sample
from shoal.release import TreeRelease
from shoal.release.parse import parse_tree
from shoal.release.statement import STATEMENTS

SCHEMA = json.loads(resources.files("shoal").joinpath("release/schema/tree.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


OLD = Path(__file__).parents[1] / "golden" / "tree-0.1.json"  # written before releases could state less


@pytest.fixture(scope="module")
def people():
    return load_sample().table.select(["age", "sex", "diabetes"])


@pytest.fixture(scope="module")
def bodies(people, tmp_path_factory) -> dict[str, dict[str, Any]]:
    """A saved file of each statement, with weights."""
    release = replace(AnonymousTreeClassifier(privacy=300).fit(people, "diabetes").release_, weights=(1.0, 2.5))
    release = release.with_audit(audit(release, people))
    folder = tmp_path_factory.mktemp("releases")
    for statement in STATEMENTS:
        release.stating(statement).save(folder / f"{statement}.json")
    return {statement: json.loads((folder / f"{statement}.json").read_text()) for statement in STATEMENTS}


def test_an_old_file_still_loads():
    old = load(OLD)
    assert (old.statement, old.weights, len(old.leaves), old.n_people) == ("counts", None, 6, 5000)
    assert old.verdict.sha256 == old.sha256 == "84f947a4070041c23837462f1e88ad742d68391fc592bfa9afff9213c43e1f7d"
    assert old.verdict.smallest_group == 1029
    assert audit(old, load_sample().table).holds
    body = json.loads(OLD.read_text())
    body.pop("audit")
    assert old.to_json() == body


def leaf(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(node for node in body["nodes"] if "branches" not in node)
    return found


# statement, what is done to the file, what the refusal says, whether the schema sees it too
MISTAKES = {
    "shares and counts": ("shares", lambda b: leaf(b).update(counts={"no": 3}), "must have counts, or shares", True),
    "counts and predict": ("counts", lambda b: leaf(b).update(predict="no"), "must have counts, or shares", True),
    "shares without predict": ("shares", lambda b: leaf(b).pop("predict"), "must have counts, or shares", True),
    "a leaf with counts": (
        "shares",
        lambda b: b["nodes"].__setitem__(-1, {"counts": {"no": 200, "yes": 5}}),
        "states counts but a leaf before it shares",
        True,
    ),
    "a leaf with shares": (
        "counts",
        lambda b: b["nodes"].__setitem__(-1, {"shares": {"no": 1}, "predict": "no"}),
        "states shares but a leaf before it counts",
        True,
    ),
    "a leaf without shares": ("shares", lambda b: b["nodes"][-1].pop("shares"), "states majority but", True),
    "a leaf with shares among classes": (
        "majority",
        lambda b: b["nodes"][-1].update(shares={"no": 1}, predict="no"),
        "states shares but a leaf before it majority",
        True,
    ),
    "a split without predict": ("majority", lambda b: b["nodes"][0].pop("predict"), "lacks 'predict'", True),
    "a split with predict": ("counts", lambda b: b["nodes"][0].update(predict="no"), "must not have predict", True),
    "a split with shares": ("shares", lambda b: b["nodes"][0].update(shares={"no": 1}), "must have counts, or", True),
    "a class nobody knows": ("majority", lambda b: leaf(b).update(predict="maybe"), "must be a value of the", False),
    "a class that is a number": ("majority", lambda b: leaf(b).update(predict=0), "must be a text", True),
    "shares of a class nobody knows": ("shares", lambda b: leaf(b)["shares"].update(maybe=0), "to shares", False),
    "shares that are a list": ("shares", lambda b: leaf(b).update(shares=[0.5, 0.5]), "to shares", True),
    "a share that is text": ("shares", lambda b: leaf(b)["shares"].update(no="1"), "must be a finite number", True),
    "a share that is true": ("shares", lambda b: leaf(b)["shares"].update(no=True), "must be a finite number", True),
    "a negative share": (
        "shares",
        lambda b: leaf(b).update(shares={"no": 1.2, "yes": -0.2}),
        "must be thousandths from 0 to 1",
        True,
    ),
    "a share above one": ("shares", lambda b: leaf(b)["shares"].update(no=1.001), "thousandths from 0 to 1", True),
    "a share of too many digits": (
        "shares",
        lambda b: leaf(b).update(shares={"no": 0.9537, "yes": 0.0463}),
        "thousandths from 0 to 1",
        False,
    ),
    "shares below one": ("shares", lambda b: leaf(b).update(shares={"no": 0.999}), "must add up to 1", False),
    "shares above one": ("shares", lambda b: leaf(b).update(shares={"no": 1, "yes": 0.001}), "add up to 1", False),
    "no shares": ("shares", lambda b: leaf(b).update(shares={}), "must add up to 1", False),
    "a class that cannot be the largest": (
        "shares",
        lambda b: leaf(b).update(shares={"no": 0.9, "yes": 0.1}, predict="yes"),
        "must be the class with the largest share",
        False,
    ),
    "a verdict with a number of people": (
        "shares",
        lambda b: b["audit"].update(smallest_group=411),
        "audit has keys",
        True,
    ),
    "a verdict without a number of people": (
        "counts",
        lambda b: b["audit"].pop("smallest_group"),
        "lacks 'smallest_group'",
        True,
    ),
    "no weights": ("counts", lambda b: b.update(weights={}), "weights lacks", False),
    "a class without a weight": ("shares", lambda b: b["weights"].pop("no"), "weights lacks 'no'", False),
    "a weight of nobody": ("shares", lambda b: b["weights"].update(maybe=1), "weights has keys", False),
    "weights in a list": ("counts", lambda b: b.update(weights=[1, 2]), "weights must be an object", True),
    "a weight of nothing": ("counts", lambda b: b["weights"].update(no=0), "must be numbers from 1e-09 to 1e", True),
    "a negative weight": ("counts", lambda b: b["weights"].update(no=-1), "must be numbers from", True),
    "a weight beyond all": ("majority", lambda b: b["weights"].update(no=1e12), "must be numbers from", True),
    "a weight that is text": ("counts", lambda b: b["weights"].update(no="1"), "must be a finite number", True),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_statement_is_refused_by_its_place(bodies, tmp_path, mistake):
    statement, change, message, in_schema = MISTAKES[mistake]
    body = copy.deepcopy(bodies[statement])
    change(body)
    (tmp_path / "x.json").write_text(json.dumps(body))
    with pytest.raises(ReleaseError, match=rf"x\.json.*The release is not valid: .*{message}") as refusal:
        load(tmp_path / "x.json")
    assert refusal.value.code == "bad-release"
    assert "\n" not in str(refusal.value)
    assert VALIDATOR.is_valid(body) != in_schema


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_a_share_is_a_number(bodies, tmp_path, word):
    share = str(leaf(bodies["shares"])["shares"]["no"])
    (tmp_path / "x.json").write_text(json.dumps(bodies["shares"]).replace(share, word, 1))
    with pytest.raises(ReleaseError, match="is not a number") as refusal:
        load(tmp_path / "x.json")
    assert refusal.value.code == "not-finite"
    body = copy.deepcopy(bodies["shares"])
    leaf(body)["shares"]["no"] = float(word.replace("Infinity", "inf"))
    with pytest.raises(ReleaseError, match="must be a finite number"):
        parse_tree(body)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_saved_file_is_valid(bodies, statement):
    VALIDATOR.validate(bodies[statement])
    VALIDATOR.validate({key: value for key, value in bodies[statement].items() if key != "audit"})
    VALIDATOR.validate({**bodies[statement], "audit": None})
    VALIDATOR.validate({**bodies[statement], "nodes": [leaf(bodies[statement])]})
    assert bodies[statement]["weights"] == {"no": 1, "yes": 2.5}
    assert parse_tree(bodies[statement]).weights == (1.0, 2.5)


def test_a_share_that_was_left_out_is_none(bodies):
    body = copy.deepcopy(bodies["shares"])
    leaf(body).update(shares={"no": 1}, predict="no")
    assert parse_tree(body).nodes[parse_tree(body).leaves[0]].shares == (1.0, 0.0)


def test_a_model_over_groups_needs_counts(people, tmp_path):
    release = AnonymousModel(LogisticRegression(), privacy=1500).fit(people, "diabetes").release_
    body = {**release.to_json(), "groups": release.groups.stating("shares").to_json()}
    (tmp_path / "x.json").write_text(json.dumps(body))
    with pytest.raises(ReleaseError, match="groups must state counts"):
        load(tmp_path / "x.json")


@pytest.mark.parametrize("statement", ["shares", "majority"])
def test_nodes_that_say_different_things_are_no_release(people, statement):
    """Also where somebody puts them together in memory."""
    release = AnonymousTreeClassifier(privacy=300).fit(people, "diabetes").release_
    less = release.stating(statement)
    leaf = less.leaves[-1]
    mixed = replace(less, nodes=(*less.nodes[:leaf], release.nodes[leaf], *less.nodes[leaf + 1 :]))
    with pytest.raises(ReleaseError, match=rf"nodes\[{leaf}\] states counts but a leaf before it {statement}"):
        str(mixed)
    with pytest.raises(ReleaseError, match=r"nodes\[0\] must not have predict"):
        str(replace(release, nodes=(less.nodes[0], *release.nodes[1:])))
    with pytest.raises(ReleaseError, match=r"nodes\[0\] lacks 'predict'"):
        str(replace(less, nodes=(release.nodes[0], *less.nodes[1:])))


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 2**70), st.floats(), st.text(max_size=5), st.just([]), st.just({})
)


@given(st.data(), st.sampled_from(STATEMENTS))
@settings(max_examples=300)
def test_any_mutation_loads_or_is_refused_in_one_sentence(bodies, data, statement):
    """Replace one random place of the file by junk."""
    body = copy.deepcopy(bodies[statement])
    place: Any = body
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        inner = place[key]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.integers(0, 3)) == 0:
            break
        place = inner
    place[key] = data.draw(JUNK)
    try:
        loaded = parse_tree(body)
    except ReleaseError as refusal:
        assert "\n" not in str(refusal)
        assert len(str(refusal)) < 600
    else:
        assert isinstance(loaded, TreeRelease)
        assert loaded.statement == statement
        str(loaded)
        assert len(loaded.predict({"age": [30], "sex": ["Female"]}, unknown="ancestor")) == 1
