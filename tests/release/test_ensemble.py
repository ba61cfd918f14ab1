# SPDX-License-Identifier: Apache-2.0
"""Trees that are released together: their file, their answers and their audit."""

from __future__ import annotations

import copy
import json
from importlib import resources

import jsonschema
import numpy as np
import pytest
from referencing import Registry, Resource

from shoal import AnonymousTreeClassifier, KAnonymity, ReleaseError, audit, load, load_sample
from shoal.release import EnsembleRelease
from shoal.repair import repair


def schema(kind: str):
    return json.loads(resources.files("shoal").joinpath(f"release/schema/{kind}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def people():
    return load_sample().table.select(["age", "sex", "education", "bmi", "diabetes"])


@pytest.fixture(scope="module")
def release(people) -> EnsembleRelease:
    forest = EnsembleRelease(
        tuple(
            AnonymousTreeClassifier(privacy=5, max_depth=depth, domain={"bmi": [10, 60]}, variant=variant)
            .fit(people, "diabetes")
            .release_
            for depth, variant in ((3, None), (4, "c45"))
        )
    )
    return repair(forest, people, privacy=60, prune=False).release


def test_its_answers_are_the_average_of_its_trees(release, people):
    assert len(release.trees) == 2
    expected = np.mean([tree.predict_proba(people) for tree in release.trees], axis=0)
    assert np.allclose(release.predict_proba(people), expected)
    assert release.predict(people).tolist() == np.array(release.classes)[expected.argmax(axis=1)].tolist()


def test_it_survives_its_file(release, people, tmp_path):
    release.save(tmp_path / "forest.json")
    again = load(tmp_path / "forest.json")
    assert again.to_json() == release.to_json()
    assert again.sha256 == release.sha256
    assert np.array_equal(again.predict_proba(people), release.predict_proba(people))
    assert audit(again, people).holds


def test_its_file_is_as_the_schema_says(release, tmp_path):
    release.save(tmp_path / "forest.json")
    body = json.loads((tmp_path / "forest.json").read_text(encoding="utf-8"))
    registry = Registry().with_resource(schema("tree")["$id"], Resource.from_contents(schema("tree")))
    validator = jsonschema.Draft202012Validator(schema("ensemble"), registry=registry)
    validator.check_schema(schema("ensemble"))
    validator.validate(body)
    for change in ({"trees": []}, {"trees": [{}]}, {"kind": "tree"}, {"nodes": []}):
        assert not validator.is_valid({**body, **change})


def test_it_is_not_written_on_its_own_word(release, people, tmp_path):
    release.save(tmp_path / "forest.json")
    with pytest.raises(ReleaseError, match="not audited here"):
        load(tmp_path / "forest.json").save(tmp_path / "again.json")
    failed = audit(release, people, privacy=KAnonymity(60))
    assert release.with_audit(failed).verdict.holds
    with pytest.raises(ReleaseError, match="another"):
        release.with_audit(audit(release, people, privacy=61))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda body: body.pop("trees"), "'trees'"),
        (lambda body: body.update(nodes=[]), "no 'nodes'"),
        (lambda body: body.update(trees=[]), "not empty"),
        (lambda body: body["trees"].append({"nodes": []}), "tree 2"),
        (lambda body: body["trees"].append("x"), "must be an object"),
        (lambda body: body["trees"][0].update(more=1), "keys"),
        (lambda body: body["trees"][1]["nodes"][0].update(attribute="no such"), "tree 1"),
        (lambda body: body["trees"].append({"nodes": [{"counts": {"no": 1, "yes": 1}}]}), "the same people"),
        (lambda body: body["trees"].append({"nodes": [{"predict": "no"}]}), "counts"),
    ],
)
def test_a_broken_file_is_refused_by_its_place(release, tmp_path, change, words):
    body = copy.deepcopy(release.to_json())
    change(body)
    file = tmp_path / "broken.json"
    file.write_text(json.dumps(body), encoding="utf-8")
    with pytest.raises(ReleaseError, match=words):
        load(file)


def test_each_tree_alone_holds_more_than_all_together(release, people):
    together = audit(release, people)
    alone = [audit(tree, people) for tree in release.trees]
    assert together.n_groups > max(each.n_groups for each in alone)
    assert together.smallest_group <= min(each.smallest_group for each in alone)
    assert "worst-case-counts" in {finding.code for finding in together.findings}
    assert together.what == "2 decision trees that answer together"


def test_counts_of_other_rows_are_noticed(release, people):
    found = audit(release, people.take(np.arange(4000)))
    assert not found.holds
    assert any(finding.code == "counts-differ" and "Tree 2" in finding.message for finding in found.findings)
