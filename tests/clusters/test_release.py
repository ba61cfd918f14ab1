# SPDX-License-Identifier: Apache-2.0
"""The file of clusters: what is written is read, what is wrong is refused, and the audit notices changes."""

import copy
import json
from importlib import resources

import jsonschema
import numpy as np
import pandas as pd
import pytest
from referencing import Registry, Resource

from shoal import AnonymousClusters, Ledger, ReleaseError, audit, load


def schema(kind):
    return json.loads(resources.files("shoal").joinpath(f"release/schema/{kind}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    age = np.concatenate([random.integers(20, 40, 150), random.integers(60, 80, 150)])
    return pd.DataFrame(
        {"age": age, "sex": random.choice(["f", "m"], 300), "dose": age // 5 + random.integers(0, 3, 300)}
    )


@pytest.fixture(scope="module")
def model(people):
    return AnonymousClusters(20, public=["age"], domain={"dose": [0, 30]}, method="kmeans", random_state=0).fit(people)


@pytest.fixture(scope="module")
def body(model, tmp_path_factory):
    file = tmp_path_factory.mktemp("clusters") / "clusters.json"
    model.release_.save(file)
    return json.loads(file.read_text(encoding="utf-8"))


def test_what_is_written_is_read(model, people, body, tmp_path):
    assert len(model.release_) > 1
    file = tmp_path / "clusters.json"
    model.release_.save(file)
    again = load(file)
    assert again.sha256 == model.release_.sha256
    assert (again.predict(people) == model.labels_).all()
    assert audit(again, people).holds
    registry = Registry().with_resource("urn:shoal:release:1:tree", Resource.from_contents(schema("tree")))
    jsonschema.Draft202012Validator(schema("clusters"), registry=registry).validate(body)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda body: body["clusters"][0].pop("people"), "lacks 'people'"),
        (lambda body: body["clusters"][0]["centroid"].update(age=500), "within the stated bounds"),
        (lambda body: body["clusters"][0]["centroid"].update(sex={"f": 0.4}), "add up to 1"),
        (lambda body: body["clusters"][0]["centroid"].update(sex={"x": 1}), "does not know"),
        (lambda body: body["encoding"]["age"].update(scale=0), "scale above 0"),
        (lambda body: body["encoding"].pop("age"), "lacks 'age'"),
        (lambda body: body["clusters"].clear(), "not empty"),
        (lambda body: body.update(sensitive=["age"]), "private attributes"),
        (lambda body: body.update(people=1), "at least as many"),
        (lambda body: body["attributes"].append(body["attributes"][0]), "every attribute once"),
    ],
)
def test_what_is_wrong_is_refused(body, change, message, tmp_path):
    broken = copy.deepcopy(body)
    change(broken)
    file = tmp_path / "broken.json"
    file.write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(ReleaseError, match=message):
        load(file)


def test_other_rows_are_noticed(model, people):
    verdict = audit(model, people.iloc[:-1])
    assert not verdict.holds
    assert "counts-differ" in {each.code for each in verdict.findings}


def test_the_ledger_takes_clusters(model, people, tmp_path):
    verdict = Ledger.open(tmp_path).add(model.release_, people)
    assert verdict.holds


def test_shares_of_many_values_are_read_as_they_are_rounded(tmp_path):
    """Forty shares of 1/40 and the like, each rounded by itself, add up to nearly 1 only."""
    rows = {
        "age": [20 + i % 3 + 40 * (i % 2) for i in range(998)],
        "zip": [f"z{(i * 7) % 41}" for i in range(998)],
    }
    model = AnonymousClusters(privacy=20).fit(rows)
    assert len(model.release_.people) > 1
    model.release_.save(tmp_path / "clusters.json")
    assert load(tmp_path / "clusters.json").sha256 == model.release_.sha256
