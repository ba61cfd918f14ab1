# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of a released tree says what the loader says, as far as a schema can."""

from __future__ import annotations

import copy
import json
from importlib import resources

import jsonschema
import pytest

from shoal import (
    AnonymousTreeClassifier,
    Closeness,
    Confidence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    ReleaseError,
    SimpleDiversity,
    load,
    load_sample,
)
from shoal.privacy import claims
from shoal.privacy.stated import Stated

SCHEMA = json.loads(resources.files("shoal").joinpath("release/schema/tree.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.fixture(scope="module")
def body(tmp_path_factory):
    """A saved release with every kind of branch: values, labels, intervals, missing."""
    clinic = load_sample()
    rows = clinic.to_arrow().to_pydict()
    rows["sex"] = [None if i % 40 == 0 else sex for i, sex in enumerate(rows["sex"])]
    rows["age"] = [None if i % 50 == 0 else age for i, age in enumerate(rows["age"])]
    tree = AnonymousTreeClassifier(
        variant="id3",
        privacy=KAnonymity(40) & Confidence(0.99),
        public=["age", "sex", "zip", "education", "occupation"],
        sensitive=["smoker"],
        person="patient",
        hierarchies=clinic.hierarchies,
        max_leaves=200,
    )
    file = tmp_path_factory.mktemp("release") / "tree.json"
    tree.fit(rows, "diabetes").release_.save(file)
    return json.loads(file.read_text(encoding="utf-8"))


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_saved_release_is_valid(body):
    VALIDATOR.validate(body)
    branches = [branch for node in body["nodes"] for branch in node.get("branches", ())]
    used = {key for branch in branches for key in branch}
    assert {"values", "label", "above", "at_most", "missing", "node"} <= used


@pytest.mark.parametrize(
    "requirement",
    [
        KAnonymity(3),
        DistinctDiversity(2),
        EntropyDiversity(1.5),
        SimpleDiversity(1.5),
        RecursiveDiversity(2, 2),
        Confidence(0.9),
        Stated("every group has people of both sexes"),
        Closeness(0.2),
        Closeness(0.2, "ordered"),
        Closeness(0.2, "hierarchical", ((0, 0, 1),)),
    ],
    ids=lambda requirement: type(requirement).__name__,
)
def test_every_claim_is_valid(body, requirement):
    VALIDATOR.validate({**body, "claims": json.loads(json.dumps(claims(requirement)))})


def first(body, key):
    """The first branch of the body that has a key."""
    return next(b for node in body["nodes"] for b in node.get("branches", ()) if key in b)


def leaf(body):
    return next(node for node in body["nodes"] if "counts" in node)


MUTATIONS = {
    "other format": lambda body: body.update(format="shoal-release/2"),
    "other kind": lambda body: body.update(kind="forest"),
    "a key of the body too many": lambda body: body.update(comment="hello"),
    "no claims": lambda body: body.update(claims=[]),
    "no nodes": lambda body: body.update(nodes=[]),
    "no attributes": lambda body: body.pop("attributes"),
    "a claim nobody knows": lambda body: body["claims"].append({"requirement": "k-anonimity", "k": 3}),
    "k is a fraction": lambda body: body["claims"][0].update(k=2.5),
    "k is true": lambda body: body["claims"][0].update(k=True),
    "a claim with a key too many": lambda body: body["claims"][0].update(l=3),
    "confidence of 1": lambda body: body["claims"][1].update(c=1),
    "a role nobody knows": lambda body: body["attributes"][0].update(role="identifier"),
    "bounds of a categorical attribute": lambda body: body["attributes"][1].update(bounds=[0, 1]),
    "one bound": lambda body: body["attributes"][0].update(bounds=[18]),
    "a value twice": lambda body: body["attributes"][1]["values"].append(body["attributes"][1]["values"][0]),
    "values that are numbers": lambda body: body["attributes"][1].update(values=[1, 2]),
    "missing is a word": lambda body: body["attributes"][1].update(missing="yes"),
    "nothing sensitive": lambda body: body.update(sensitive=[]),
    "a negative count": lambda body: leaf(body)["counts"].update(yes=-1),
    "half a person": lambda body: leaf(body)["counts"].update(yes=0.5),
    "counts and branches": lambda body: leaf(body).update(attribute="age", branches=[]),
    "an empty node": lambda body: leaf(body).clear(),
    "a branch that leads nowhere": lambda body: first(body, "above").pop("above"),
    "a branch without a node": lambda body: first(body, "values").pop("node"),
    "values and a threshold": lambda body: first(body, "values").update(above=3),
    "a branch with a key too many": lambda body: first(body, "values").update(weight=1),
    "a threshold that is text": lambda body: first(body, "above").update(above="3"),
    "half a verdict": lambda body: body["audit"].pop("sha256"),
    "a verdict that is text": lambda body: body["audit"].update(holds="true"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_the_schema_refuses_the_loader_refuses_too(body, name, tmp_path):
    broken = copy.deepcopy(body)
    # a branch that has only "above": without it, it leads nowhere
    only = first(broken, "above")
    only.pop("at_most", None)
    only.pop("missing", None)
    MUTATIONS[name](broken)
    assert not VALIDATOR.is_valid(broken)
    file = tmp_path / "tree.json"
    file.write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(ReleaseError):
        load(file)


def test_a_verdict_may_be_left_out(body):
    VALIDATOR.validate({key: value for key, value in body.items() if key != "audit"})


def test_people_with_several_rows(body):
    """The number of different people stands beside counts, and is null beside anything less."""
    counts = [n for node in body["nodes"] for n in node.get("counts", {}).values()]
    VALIDATOR.validate({**body, "people": sum(counts) - 1})
    for people in (None, 0, -1, 1.5, "5", True):
        assert not VALIDATOR.is_valid({**body, "people": people})
    leaf = {"predict": "no"}
    less = {**body, "nodes": [leaf], "people": None, "audit": {"holds": True, "sha256": "0" * 64}}
    VALIDATOR.validate(less)
    assert not VALIDATOR.is_valid({**less, "people": 5})


@pytest.mark.parametrize("kind", ["table", "model"])
def test_people_in_tables_and_models(kind, tmp_path):
    from referencing import Registry, Resource
    from sklearn.tree import DecisionTreeClassifier

    from shoal import AnonymousModel
    from shoal.anonymize import TreeAnonymizer

    visits = {"who": [str(i % 50) for i in range(200)], "x": [i % 9 for i in range(200)], "t": list("nyyn") * 50}
    made = {
        "table": TreeAnonymizer(5, person="who"),
        "model": AnonymousModel(DecisionTreeClassifier(), 5, person="who"),
    }[kind]
    made.fit(visits, "t").release_.save(tmp_path / "release.json")
    saved = json.loads((tmp_path / "release.json").read_text(encoding="utf-8"))
    assert (saved if kind == "table" else saved["groups"])["people"] == 50
    schema = json.loads(resources.files("shoal").joinpath(f"release/schema/{kind}.json").read_text(encoding="utf-8"))
    registry = Registry().with_resource(SCHEMA["$id"], Resource.from_contents(SCHEMA))
    jsonschema.Draft202012Validator(schema, registry=registry).validate(saved)
    assert load(tmp_path / "release.json").n_people == 50
