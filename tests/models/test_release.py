# SPDX-License-Identifier: Apache-2.0
"""The release of a model: two forms, their files, and what is refused."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import sys
import zipfile
from dataclasses import replace
from importlib import resources

import jsonschema
import numpy as np
import pytest
from referencing import Registry, Resource
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.tree import DecisionTreeClassifier

from shoal import AnonymousModel, DataError, PromiseError, ReleaseError, audit, load, load_sample
from shoal.release.model_file import dump_model, load_model

FOLDER = resources.files("shoal").joinpath("release/schema")
SCHEMAS = {name: json.loads(FOLDER.joinpath(f"{name}.json").read_text(encoding="utf-8")) for name in ("tree", "model")}
REGISTRY = Registry().with_resources((body["$id"], Resource.from_contents(body)) for body in SCHEMAS.values())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMAS["model"], registry=REGISTRY)
PUBLIC = ["age", "sex", "education"]


@pytest.fixture(scope="module")
def people():
    return load_sample().table.select([*PUBLIC, "smoker", "bmi", "diabetes"])


@pytest.fixture(scope="module")
def releases(people):
    """One of each form."""
    open_columns = people.select([*PUBLIC, "diabetes"])
    numbers = people.select([*PUBLIC, "bmi"])
    hist = HistGradientBoostingClassifier(max_iter=5, random_state=0)
    forest = RandomForestRegressor(3, max_depth=4, random_state=0)
    return {
        "table": (AnonymousModel(LogisticRegression(), privacy=100).fit(open_columns, "diabetes"), people),
        "numbers": (AnonymousModel(LinearRegression(), privacy=100).fit(numbers, "bmi"), people),
        "file": (AnonymousModel(hist, privacy=100, public=PUBLIC).fit(people, "diabetes"), people),
        "file of numbers": (AnonymousModel(forest, privacy=100, public=PUBLIC).fit(people, "bmi"), people),
    }


@pytest.fixture(params=["table", "numbers", "file", "file of numbers"])
def made(request, releases):
    return releases[request.param]


def test_it_comes_back_from_its_file(made, tmp_path):
    model, people = made
    model.release_.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.sha256 == model.release_.sha256
    assert again.verdict.stated
    assert str(again) == str(model.release_)
    np.testing.assert_array_equal(again.predict(people), model.predict(people))
    if again.cuts is None:
        np.testing.assert_array_equal(again.predict_proba(people), model.release_.predict_proba(people))
    assert audit(again, people).holds
    assert not audit(again, people, privacy=4000).holds
    again.with_audit(audit(again, people)).save(tmp_path / "again.json")


def test_the_schema_knows_it(made, tmp_path):
    model, _ = made
    model.release_.save(tmp_path / "model.json")
    VALIDATOR.validate(json.loads((tmp_path / "model.json").read_text(encoding="utf-8")))


def test_it_is_shown(made):
    model, _ = made
    release = model.release_
    assert type(model.estimator).__name__ in str(release)
    assert "every group has at least 100 people" in str(release)
    assert release.to_frame("pyarrow").num_rows == len(release.told.leaves)
    assert sum(release.to_frame("pyarrow")["people"].to_pylist()) == 5000


def test_a_release_without_its_own_audit_is_not_written(made, tmp_path):
    model, people = made
    with pytest.raises(ReleaseError) as refused:
        replace(model.release_, verdict=None).save(tmp_path / "model.json")
    assert refused.value.code == "not-audited"
    with pytest.raises(ReleaseError) as refused:
        replace(model.release_, model="Other").save(tmp_path / "model.json")
    assert refused.value.code == "changed-since-audit"
    with pytest.raises(ReleaseError) as refused:
        model.release_.with_audit(audit(model, people, public=["age"]))
    assert refused.value.code == "audit-of-other"
    assert list(tmp_path.iterdir()) == []


def test_without_private_columns_predictions_are_lookups(releases):
    model, people = releases["table"]
    body = model.release_.to_json()
    by_node = {entry["node"]: entry for entry in body["table"]}
    nodes = model.release_.groups.apply(people)
    assert model.predict(people).tolist() == [by_node[node]["predict"] for node in nodes.tolist()]
    told = np.array([[by_node[node]["shares"][c] for c in model.release_.classes] for node in nodes.tolist()])
    np.testing.assert_allclose(model.predict_proba(people), told, atol=1e-5)
    assert sum(entry["people"] for entry in body["table"]) == 5000


def test_the_same_fit_gives_the_same_bytes(releases, people):
    model, _ = releases["file"]
    again = AnonymousModel(model.estimator, privacy=100, public=PUBLIC).fit(people, "diabetes")
    assert again.release_.to_json() == model.release_.to_json()
    assert again.release_.file == model.release_.file


CHANGES = {
    "other kind of groups": lambda body: body["groups"].update(kind="table"),
    "an audit in the groups": lambda body: body["groups"].update(audit=None),
    "other target": lambda body: body.update(target="sex"),
    "no model": lambda body: body.pop("model"),
    "unknown input": lambda body: body["model"].update(inputs=["weight"]),
    "target as input": lambda body: body["model"].update(inputs=["diabetes"]),
    "table gone": lambda body: body.pop("table"),
    "both": lambda body: body.update(files=[{"name": "a.skops", "sha256": "0" * 64}]),
    "cuts of a classifier": lambda body: body.update(cuts=[1]),
    "regression without cuts": lambda body: body.update(task="regression"),
    "an entry less": lambda body: body["table"].pop(),
    "another node": lambda body: body["table"][0].update(node=0),
    "other people": lambda body: body["table"][0].update(people=7),
    "no class": lambda body: body["table"][0].update(predict="perhaps"),
    "shares of more than one": lambda body: body["table"][0].update(shares={"no": 1, "yes": 1}),
    "negative shares": lambda body: body["table"][0].update(shares={"no": 2, "yes": -1}),
    "a share less": lambda body: body["table"][0].update(shares={"no": 1}),
    "shares once": lambda body: body["table"][0].pop("shares"),
    "a key too many": lambda body: body.update(note="hello"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_table_is_refused(change, releases, tmp_path):
    releases["table"][0].release_.save(tmp_path / "model.json")
    body = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    CHANGES[change](body)
    (tmp_path / "model.json").write_text(json.dumps(body), encoding="utf-8")
    with pytest.raises(ReleaseError, match=r"model\.json"):
        load(tmp_path / "model.json")


@pytest.mark.parametrize("cuts", [[], [30, 20], [20], ["20"], [1e999]])
def test_changed_cuts_are_refused(cuts, releases, tmp_path):
    releases["numbers"][0].release_.save(tmp_path / "model.json")
    body = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    body["cuts"] = cuts
    (tmp_path / "model.json").write_text(json.dumps(body), encoding="utf-8")
    with pytest.raises(ReleaseError):
        load(tmp_path / "model.json")


def test_a_missing_or_changed_model_file_is_refused(releases, tmp_path):
    release = releases["file"][0].release_
    release.save(tmp_path / "model.json")
    file = tmp_path / "model.skops"
    file.write_bytes(file.read_bytes() + b"x")
    with pytest.raises(ReleaseError, match="SHA-256 differs") as refused:
        load(tmp_path / "model.json")
    assert refused.value.code == "model-file"
    file.unlink()
    with pytest.raises(ReleaseError, match="Keep the two together"):
        load(tmp_path / "model.json")


@pytest.mark.parametrize("name", ["../model.skops", "/etc/passwd", ".hidden", "", "a" * 300, "nul\0"])
def test_a_model_file_stands_beside_the_release(name, releases, tmp_path):
    release = releases["file"][0].release_
    with pytest.raises(ReleaseError):
        release.save(tmp_path / "model.json", model_file=name)
    release.save(tmp_path / "model.json")
    body = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    body["files"][0]["name"] = name
    (tmp_path / "model.json").write_text(json.dumps(body), encoding="utf-8")
    with pytest.raises(ReleaseError):
        load(tmp_path / "model.json")


def test_saving_is_all_or_nothing(releases, tmp_path):
    release = releases["file"][0].release_
    (tmp_path / "model.json").mkdir()
    with pytest.raises(ReleaseError):
        release.save(tmp_path / "model.json")
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]
    with pytest.raises(ReleaseError, match="another name"):
        release.save(tmp_path / "model.skops")


def _with_file(release, raw):
    return replace(release, file=raw)


def _edited(raw, edit):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, edit(old.read(name)) if name == "schema.json" else old.read(name))
    return out.getvalue()


def test_a_hostile_model_file_is_not_built(releases, people):
    release = releases["file"][0].release_
    raw = release.file

    def other(body):
        return body.replace(b"HistGradientBoostingClassifier", b"HistGradientBoostingClassified")

    for bad, code in [
        (b"", "model-file"),
        (b"PK not a zip", "model-file"),
        (raw[: len(raw) // 2], "model-file"),
        (_edited(raw, other), "unknown-types"),
        (dump_model(LogisticRegression().fit([[0], [1]], [0, 1])), "model-file"),
    ]:
        with pytest.raises(ReleaseError) as refused:
            _with_file(release, bad).predict(people)
        assert refused.value.code == code


def test_a_function_in_a_model_file_is_not_built(tmp_path):
    import skops.io
    from sklearn.preprocessing import FunctionTransformer

    raw = skops.io.dumps(FunctionTransformer(np.save))
    with pytest.raises(ReleaseError) as refused:
        load_model(raw)
    assert refused.value.code == "unknown-types"


def test_a_tree_that_leads_nowhere_is_refused():
    tree = DecisionTreeClassifier().fit([[0], [1], [2]], [0, 1, 0])
    state = tree.tree_.__getstate__()
    for field in ("left_child", "feature"):
        broken = copy.deepcopy(tree)
        changed = copy.deepcopy(state)
        changed["nodes"][field][0] = 10**6
        broken.tree_.__setstate__(changed)
        with pytest.raises(ReleaseError, match="no tree"):
            load_model(dump_model(broken))


def test_without_skops_the_message_says_what_to_install(releases, people, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ReleaseError, match=r"pip install shoal\[models\]") as refused:
        _with_file(releases["file"][0].release_, releases["file"][0].release_.file).predict(people)
    assert refused.value.code == "no-skops"
    with pytest.raises(ReleaseError, match=r"pip install shoal\[models\]"):
        AnonymousModel(LogisticRegression(), privacy=100, public=PUBLIC).fit(people, "diabetes")
    # all public: no file, no skops
    AnonymousModel(LogisticRegression(), privacy=100).fit(people.select(["age", "diabetes"]), "diabetes")


def test_a_model_without_probabilities_says_so(people):
    model = AnonymousModel(RidgeClassifier(), privacy=500).fit(people.select([*PUBLIC, "diabetes"]), "diabetes")
    assert not hasattr(model, "predict_proba")
    with pytest.raises(DataError) as refused:
        model.release_.predict_proba(people)
    assert refused.value.code == "no-probabilities"


def test_unknown_values_are_refused_or_answered(releases, people):
    release = releases["file"][0].release_
    rows = {"age": [40], "sex": ["x"], "education": ["?"], "smoker": ["pipe"], "bmi": [None]}
    with pytest.raises(DataError) as refused:
        release.predict({**rows, "sex": ["Female"], "education": [people["education"].names[0]]})
    assert refused.value.code == "unseen-value"
    assert "pipe" not in str(refused.value)
    assert release.predict(rows, unknown="ancestor").shape == (1,)
    with pytest.raises(DataError, match="bmi"):
        release.predict({name: values for name, values in rows.items() if name != "bmi"}, unknown="ancestor")


class Own(LogisticRegression):
    """A model of the user's own."""


def test_a_model_of_ones_own_is_refused_with_private_columns(people):
    with pytest.raises(PromiseError) as refused:
        AnonymousModel(Own(), privacy=100, public=PUBLIC).fit(people, "diabetes")
    assert refused.value.code == "unknown-model"
    AnonymousModel(Own(), privacy=100).fit(people.select(["age", "diabetes"]), "diabetes")


def test_the_named_file_is_the_one_that_is_hashed(releases, tmp_path):
    releases["file"][0].release_.save(tmp_path / "model.json", model_file="other.skops")
    body = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    found = hashlib.sha256((tmp_path / "other.skops").read_bytes()).hexdigest()
    assert body["files"] == [{"name": "other.skops", "sha256": found}]
