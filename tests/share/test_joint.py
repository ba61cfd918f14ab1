# SPDX-License-Identifier: Apache-2.0
"""Joint models: recipes that come back as they were, owners who differ, and every learner."""

import copy
import json
from dataclasses import replace
from importlib import resources

import jsonschema
import numpy as np
import pandas as pd
import pytest
from referencing import Registry, Resource

from shoal import load, load_sample
from shoal.errors import DataError, ReleaseError
from shoal.release import Node
from shoal.release.joint import LEARNERS
from shoal.release.statement import stating
from shoal.share import JointModel, agree, disagreements, pool, publish

DOMAIN = {"age": [0, 120], "sex": ["Female", "Male"]}


@pytest.fixture(scope="module")
def people():
    return load_sample().table.select(["age", "sex", "smoker", "diabetes"])


@pytest.fixture(scope="module")
def owners(people):
    parts = np.array_split(np.arange(people.n_rows), 3)
    names = ("north", "south", "west")
    return {
        name: publish(people.take(rows), "diabetes", 60, domain=DOMAIN) for name, rows in zip(names, parts, strict=True)
    }


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_joint_model_is_the_same_wherever_it_is_read(owners, people, learner, tmp_path):
    joint = pool(owners, learner)
    joint.recipe.save(tmp_path / "joint.json")
    again = JointModel(load(tmp_path / "joint.json"))
    assert again.recipe.sha256 == joint.recipe.sha256
    assert np.array_equal(again.predict_proba(people), joint.predict_proba(people))
    truth = np.array(people["diabetes"].names)[people["diabetes"].codes]
    usual = max(people["diabetes"].counts()) / people.n_rows
    assert (joint.predict(people) == truth).mean() >= usual - 0.01
    assert np.allclose(joint.predict_proba(people).sum(axis=1), 1)


def test_owners_count_by_their_people(owners):
    few = {"north": owners["north"], "tiny": publish_constant(owners["north"], 30)}
    shares = pool(few, "bag").predict_proba({"age": [80], "sex": ["Male"], "smoker": ["never"]}, unknown="ancestor")
    alone = owners["north"].predict_proba({"age": [80], "sex": ["Male"], "smoker": ["never"]}, unknown="ancestor")
    n = owners["north"].n_people
    assert np.allclose(shares, (n * alone + 30 * np.array([[0.0, 1.0]])) / (n + 30))


def publish_constant(release, n):
    """The same columns, a single leaf: so many people, all of the second class."""
    return replace(release, nodes=(Node(counts=(0, n)),), marginals={})


def test_rows_are_shared_among_owners_and_drawn_by_the_seed(owners):
    joint = pool(owners, n_rows=999, seed=3)
    rows = joint.pseudo_data()
    assert rows.table.n_rows == 999
    assert rows.table.names == ["age", "sex", "smoker", "diabetes"]
    same = pool(owners, n_rows=999, seed=3).pseudo_data()
    assert rows.to_frame().equals(same.to_frame())
    assert not rows.to_frame().equals(pool(owners, n_rows=999, seed=4).pseudo_data().to_frame())
    assert joint.pseudo_data(50, seed=1).table.n_rows == 50


def test_pseudo_data_has_the_classes_of_the_people(owners, people):
    rows = pool(owners).pseudo_data().to_frame()
    assert len(rows) == people.n_rows
    assert sorted(rows["diabetes"].value_counts()) == sorted(people["diabetes"].counts())


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_class_that_no_pseudo_row_has_is_never_answered(owners, learner):
    joint = pool(owners, learner, n_rows=3)  # all of the frequent class
    shares = joint.predict_proba({"age": [30], "sex": ["Male"], "smoker": [None]}, unknown="ancestor")
    assert shares.shape == (1, 2)
    if learner not in ("bag", "vote"):
        assert shares.tolist() == [[1.0, 0.0]]


def other(people, *, sex=("f", "m"), classes=("no", "yes", "perhaps"), bounds=(0, 150)):
    """An owner with another coding, a further class and other bounds."""
    frame = load_sample().to_arrow().to_pandas()[people.names].iloc[:900].copy()
    frame["sex"] = frame["sex"].map(dict(zip(["Female", "Male"], sex, strict=True)))
    frame.loc[frame.index[:200], "diabetes"] = classes[-1]
    domain = {"age": list(bounds), "sex": list(sex), "diabetes": list(classes)}
    return publish(frame, "diabetes", 40, domain=domain)


@pytest.mark.parametrize("learner", LEARNERS)
def test_owners_with_other_values_fit_once_somebody_says_so(owners, people, learner, tmp_path):
    both = {"north": owners["north"], "east": other(people)}
    with pytest.raises(DataError, match="do not fit together") as refused:
        pool(both, learner)
    for said in ("'age' goes from 0 to 120 at north", "'f' or 'm' at north", "'perhaps' at north"):
        assert said in str(refused.value)
    joint = pool(both, learner, widen=True)
    assert joint.classes == ("no", "yes", "perhaps")
    rows = pd.DataFrame({"age": [30, 140], "sex": ["Male", "f"], "smoker": [None, None]})
    assert joint.predict_proba(rows, unknown="ancestor").shape == (2, 3)
    joint.recipe.save(tmp_path / "joint.json")
    assert JointModel(load(tmp_path / "joint.json")).classes == joint.classes
    assert set(joint.pseudo_data().to_frame()["sex"]) == {"Female", "Male", "f", "m"}


def test_every_disagreement_is_explained(owners, people):
    north = owners["north"]
    frame = load_sample().to_arrow().to_pandas()[people.names].iloc[:900].copy()
    units = publish(frame.assign(age=frame["age"] * 365), "diabetes", 40, domain={**DOMAIN, "age": [0, 45000]})
    texts = publish(frame.assign(age=(frame["age"] // 40).astype(str)), "diabetes", 40)
    fewer = publish(frame.drop(columns="sex"), "diabetes", 40, domain={"age": [0, 120]})
    target = publish(frame, "smoker", 40, domain=DOMAIN) if not frame["smoker"].isna().any() else None
    private = publish(frame, "diabetes", 40, public=["age", "sex"], domain=DOMAIN)
    told = {
        "units": (units, "Are these the same units"),
        "texts": (texts, "'age' is numeric at north, categorical at them"),
        "fewer": (fewer, "'sex' is stated by north, not by them"),
        "private": (private, "note: 'smoker' is public at north, private at them"),
        "shares": (stating(north, "shares"), "them states only shares of the classes"),
        "k": (
            private,
            "note: Promises differ: every group has at least 60 people at north, every",
        ),
    }
    if target is not None:
        told["target"] = (target, "The target is 'diabetes' at north, 'smoker' at them")
    for release, words in told.values():
        found = [str(each) for each in disagreements({"north": north, "them": release})]
        assert any(words in each for each in found), (words, found)
    agree({"north": north, "them": private})
    assert disagreements({"north": north}) == []
    with pytest.raises(DataError, match="No owner"):
        disagreements({})


def test_an_owner_of_nobody_is_refused(owners):
    empty = replace(owners["west"], nodes=(Node(counts=(0, 0)),), marginals={})
    with pytest.raises(DataError, match="west tells of no people at all"):
        pool({**owners, "west": empty}, "bag")


def test_unknown_categories_are_an_error_unless_said_otherwise(owners):
    joint = pool(owners)
    row = {"age": [30], "sex": ["Martian"], "smoker": [owners["north"].attribute("smoker").values[0]]}
    with pytest.raises(DataError, match=r"'sex' in 1 row\(s\)") as refused:
        joint.predict(row)
    assert "Martian" not in str(refused.value)
    assert joint.predict(row, unknown="ancestor").shape == (1,)
    with pytest.raises(DataError, match="lack column"):
        joint.predict({"age": [30]})


def test_only_audited_content_is_made_a_recipe_of(owners, tmp_path):
    unaudited = {**owners, "west": replace(owners["west"], verdict=None)}
    with pytest.raises(ReleaseError, match="'west' carries no audit"):
        pool(unaudited).recipe.save(tmp_path / "joint.json")
    changed = replace(owners["west"], marginals={})
    with pytest.raises(ReleaseError, match="not what its owner audited"):
        pool({**owners, "west": changed}).recipe.save(tmp_path / "joint.json")
    assert not (tmp_path / "joint.json").exists()


def test_wrong_options_are_refused(owners):
    for wrong in ({"learner": "forest"}, {"n_rows": 0}, {"n_rows": 1.5}, {"seed": -1}, {"seed": True}):
        with pytest.raises(DataError):
            pool(owners, **wrong)


# ---------------------------------------------------------------- the file


def read_schema(kind):
    return json.loads(resources.files("shoal").joinpath(f"release/schema/{kind}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def validator():
    tree = read_schema("tree")
    registry = Registry().with_resource(tree["$id"], Resource.from_contents(tree))
    return jsonschema.Draft202012Validator(read_schema("joint"), registry=registry)


@pytest.fixture(scope="module")
def body(owners, tmp_path_factory):
    file = tmp_path_factory.mktemp("joint") / "joint.json"
    pool(owners, "boosting", n_rows=1000, widen=True).recipe.save(file)
    return json.loads(file.read_text(encoding="utf-8"))


def test_a_saved_recipe_is_valid(body, validator):
    jsonschema.Draft202012Validator.check_schema(read_schema("joint"))
    validator.validate(body)
    validator.validate({key: value for key, value in body.items() if key not in ("rows", "widen")})


MUTATIONS = {
    "a learner nobody knows": lambda body: body.update(learner="forest"),
    "no learner": lambda body: body.pop("learner"),
    "no owners": lambda body: body.update(owners=[]),
    "owners that are an object": lambda body: body.update(owners={}),
    "a key too many": lambda body: body.update(comment="hello"),
    "no rows at all": lambda body: body.update(rows=0),
    "rows without end": lambda body: body.update(rows=10**12),
    "a fraction of a row": lambda body: body.update(rows=1.5),
    "a negative seed": lambda body: body.update(seed=-1),
    "widen is a word": lambda body: body.update(widen="yes"),
    "an owner without a name": lambda body: body["owners"][0].pop("owner"),
    "an owner whose name is a number": lambda body: body["owners"][0].update(owner=3),
    "an owner without a release": lambda body: body["owners"][0].pop("release"),
    "a release within a release": lambda body: body["owners"][0].update(release={**body, "owners": []}),
    "a release of another format": lambda body: body["owners"][0]["release"].update(format="shoal-release/2"),
    "a release without nodes": lambda body: body["owners"][0]["release"].pop("nodes"),
    "a negative count": lambda body: body["owners"][0]["release"]["nodes"][-1].update(counts={"no": -1, "yes": 3}),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_the_schema_refuses_the_loader_refuses_too(body, validator, name, tmp_path):
    broken = copy.deepcopy(body)
    MUTATIONS[name](broken)
    assert not validator.is_valid(broken)
    (tmp_path / "joint.json").write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(ReleaseError):
        load(tmp_path / "joint.json")


def test_a_name_twice_is_refused(body, tmp_path):
    broken = copy.deepcopy(body)
    broken["owners"][1]["owner"] = broken["owners"][0]["owner"]
    (tmp_path / "joint.json").write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(ReleaseError, match="another owner"):
        load(tmp_path / "joint.json")
