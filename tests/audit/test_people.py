# SPDX-License-Identifier: Apache-2.0
"""Releases and audits of tables in which people have several rows."""

import json
import random

import numpy as np
import pytest

from shoal import (
    AnonymousModel,
    AnonymousTreeClassifier,
    Confidence,
    DataError,
    KAnonymity,
    PromiseError,
    ReleaseError,
    RoleError,
    audit,
    load,
)
from shoal.anonymize import TreeAnonymizer, anonymize_by_tree, tree_from_table
from shoal.audit.uniqueness import uniqueness
from shoal.data import to_table
from shoal.report.words import limits

CANARY = "XQZ-"  # how every name of a person begins


@pytest.fixture(scope="module")
def visits():
    """600 visits of 160 people; who came once and who came often differ in age."""
    rng = random.Random(7)
    rows = []
    for _ in range(600):
        who = rng.randrange(160)
        old = who % 60
        rows.append(
            {
                "patient": f"{CANARY}{who:03}",
                "age": 20 + old + rng.randrange(3),
                "sex": "fm"[who % 2],
                "stay": rng.choice("abc"),
                "ill": "yes" if (old > 30) != (rng.random() < 0.15) else "no",
            }
        )
    return {name: [row[name] for row in rows] for name in rows[0]}


def distinct(table, mask):
    return len({who for who, here in zip(table["patient"], mask, strict=True) if here})


def test_a_tree_counts_people_and_says_so(visits, tmp_path):
    release = AnonymousTreeClassifier(20, person="patient").fit(visits, "ill").release_
    assert release.several_rows
    assert release.n_people == len(set(visits["patient"]))
    leaf = release.apply(visits)
    for number in release.leaves:
        for value, n in zip(release.classes, release.nodes[number].counts, strict=True):
            assert n == distinct(visits, (leaf == number) & (np.array(visits["ill"]) == value))
        assert distinct(visits, leaf == number) >= 20
    release.save(tmp_path / "tree.json")
    text = (tmp_path / "tree.json").read_text()
    assert CANARY not in text
    assert "patient" not in text
    assert json.loads(text)["people"] == release.n_people
    again = load(tmp_path / "tree.json")
    assert again.several_rows
    assert again.sha256 == release.sha256
    assert audit(again, visits, person="patient").holds
    assert "different people" in str(again)


@pytest.mark.parametrize("statement", ["shares", "majority"])
def test_a_release_that_says_less_states_no_number(visits, tmp_path, statement):
    release = AnonymousTreeClassifier(20, person="patient", statement=statement).fit(visits, "ill").release_
    release.save(tmp_path / "tree.json")
    assert json.loads((tmp_path / "tree.json").read_text())["people"] is None
    again = load(tmp_path / "tree.json")
    assert again.several_rows
    assert audit(again, visits, person="patient").holds
    with pytest.raises(ReleaseError, match="no numbers of people"):
        again.n_people  # noqa: B018


def test_k_rows_are_not_k_people(visits):
    by_rows = AnonymousTreeClassifier(12, variant="id3").fit(
        {name: cells for name, cells in visits.items() if name != "patient"}, "ill"
    )
    assert audit(by_rows, visits).holds
    found = audit(by_rows, visits, person="patient")
    assert not found.holds
    assert found.smallest_group < 12
    assert "people-not-rows" in [finding.code for finding in found.findings]
    assert "counts-differ" not in [finding.code for finding in found.findings]


def test_the_audit_says_what_it_counted(visits):
    release = AnonymousTreeClassifier(20, person="patient").fit(visits, "ill").release_
    found = audit(release, visits, person="patient")
    assert f"600 rows of {found.n_people} people" in str(found)
    assert found.to_json()["unit"] == "people"
    assert found.to_json()["rows"] == 600
    assert "Rows are taken for people." not in [head for head, _ in limits(found)]
    rows = AnonymousTreeClassifier(20).fit(visits, "ill")
    found = audit(rows, visits)
    assert "every row is taken for a person" in str(found)
    assert found.to_json()["unit"] == "rows"
    assert "Rows are taken for people." in [head for head, _ in limits(found)]


def test_other_people_are_noticed(visits):
    release = AnonymousTreeClassifier(20, person="patient").fit(visits, "ill").release_
    other = {**visits, "patient": [f"{who}{i % 2}" for i, who in enumerate(visits["patient"])]}
    codes = [finding.code for finding in audit(release, other, person="patient").findings]
    assert "counts-differ" in codes


def test_whose_rows_must_be_said(visits):
    release = AnonymousTreeClassifier(20, person="patient").fit(visits, "ill").release_
    with pytest.raises(DataError, match="person="):
        audit(release, visits)
    with pytest.raises(DataError, match=r"no column 'patent'\. Closest: 'patient'"):
        audit(release, to_table(visits), person="patent")
    with pytest.raises(RoleError, match="no other role"):
        audit(release, visits, person="age")
    with pytest.raises(RoleError, match="no other role"):
        audit(release, visits, person="patient", public=["age", "patient"])


@pytest.mark.parametrize("estimator", [AnonymousTreeClassifier, TreeAnonymizer])
def test_bad_person_columns(visits, estimator):
    with pytest.raises(RoleError, match="patient"):
        estimator(20, person="patient", public=["age", "patient"]).fit(visits, "ill")
    with pytest.raises((RoleError, DataError), match="nobody"):
        estimator(20, person="nobody").fit(visits, "ill")
    holes = {**visits, "patient": [None, *visits["patient"][1:]]}
    with pytest.raises(DataError, match=r"missing in 1 row\(s\)") as refusal:
        estimator(20, person="patient").fit(holes, "ill")
    assert CANARY not in str(refusal.value)
    release = AnonymousTreeClassifier(20, person="patient").fit(visits, "ill").release_
    with pytest.raises(DataError, match=r"missing in 1 row\(s\)"):
        audit(release, holes, person="patient")


def test_too_few_people(visits):
    with pytest.raises(PromiseError, match=r"has 600 row\(s\) of 1[0-9]+ people") as refusal:
        AnonymousTreeClassifier(300, person="patient").fit(visits, "ill")
    assert CANARY not in str(refusal.value)


def test_private_values_need_people_behind_them(visits):
    # one person with thirty rows of his own
    own = {
        **visits,
        "stay": [
            "z" if who == visits["patient"][0] else stay
            for who, stay in zip(visits["patient"], visits["stay"], strict=True)
        ],
    }
    many = {name: cells + [cells[0]] * 30 for name, cells in own.items()}
    model = AnonymousTreeClassifier(20, public=["age", "sex"], person="patient")
    with pytest.raises(DataError, match="fewer than 20 people"):
        model.fit(many, "ill")
    without = {name: cells for name, cells in many.items() if name != "patient"}
    assert AnonymousTreeClassifier(20, public=["age", "sex"]).fit(without, "ill").release_ is not None


def test_bounds_have_people_behind_them():
    rows = {
        "patient": [f"{CANARY}{i}" for i in range(60)] + [f"{CANARY}0"] * 40,
        "age": list(range(60)) * 1 + [30] * 40,
        "dose": [float(i) for i in range(60)] + [900.0 + i for i in range(40)],
        "ill": (["no", "yes"] * 50),
    }
    release = AnonymousTreeClassifier(5, public=["age"], person="patient", domain={}).fit(rows, "ill").release_
    stated = [each for each in release.attributes if each.name == "dose"]
    assert all(each.bounds[1] < 100 for each in stated)
    table = anonymize_by_tree(
        AnonymousTreeClassifier(5, public=["age"], person="patient", strict=True).fit(rows, "ill").release_,
        rows,
        "ill",
        person="patient",
    )
    assert table.attribute("dose").bounds[1] < 100


def test_a_table_counts_people(visits, tmp_path):
    release = TreeAnonymizer(20, person="patient").fit(visits, "ill").release_
    assert release.n_rows == 600
    assert release.n_people == len(set(visits["patient"]))
    assert "patient" not in release.columns
    release.save(tmp_path / "table.json")
    written = (tmp_path / "table.json").read_text() + (tmp_path / "table.csv").read_text()
    assert CANARY not in written
    assert "patient" not in written
    again = load(tmp_path / "table.json")
    found = audit(again, visits, person="patient")
    assert found.holds
    assert found.smallest_group >= 20
    with pytest.raises(DataError, match="original rows"):
        audit(again)
    with pytest.raises(DataError, match="person="):
        audit(again, visits)
    with pytest.raises(ReleaseError, match="whose they are"):
        tree_from_table(again)


def test_a_table_by_rows_may_have_too_few_people(visits):
    rows = {name: cells for name, cells in visits.items() if name not in ("patient", "stay")}
    release = TreeAnonymizer(12).fit(rows, "ill").release_
    assert audit(release).holds
    found = audit(release, visits, person="patient")
    assert not found.holds
    # by hand: the people behind the rows of every group
    tree = AnonymousTreeClassifier(12, variant="id3", strict=True).fit(rows, "ill").release_
    leaf = tree.apply(visits)
    assert found.group_sizes.tolist() == sorted(distinct(visits, leaf == number) for number in np.unique(leaf))


@pytest.mark.parametrize("public", [None, ["age", "sex"]])
def test_any_model_counts_people(visits, tmp_path, public):
    from sklearn.tree import DecisionTreeClassifier

    model = AnonymousModel(
        DecisionTreeClassifier(max_depth=3), KAnonymity(20) & Confidence(0.97), public=public, person="patient"
    ).fit(visits, "ill")
    release = model.release_
    assert release.n_people == len(set(visits["patient"]))
    release.save(tmp_path / "model.json")
    for file in tmp_path.iterdir():
        assert CANARY.encode() not in file.read_bytes()
    found = audit(load(tmp_path / "model.json"), visits, person="patient")
    assert found.holds
    assert found.smallest_group >= 20
    with pytest.raises(DataError, match="person="):
        audit(release, visits)


def test_a_model_merges_groups_by_people(visits):
    from sklearn.tree import DecisionTreeClassifier

    young = ["a" if age < 32 else stay for age, stay in zip(visits["age"], visits["stay"], strict=True)]
    rows = {**visits, "stay": young}

    def groups(sensitive):
        model = AnonymousModel(
            DecisionTreeClassifier(max_depth=3),
            KAnonymity(5) & Confidence(0.9),
            public=["age", "sex"],
            sensitive=sensitive,
            person="patient",
        )
        release = model.fit(rows, "ill").release_
        assert audit(release, rows, person="patient").holds
        return len(release.told.leaves)

    assert 1 < groups(["stay"]) < groups([])


def test_a_regressor_counts_people(visits):
    from sklearn.linear_model import LinearRegression

    cost = [age * 10.0 + i % 7 for i, age in enumerate(visits["age"])]
    rows = {name: cells for name, cells in visits.items() if name != "ill"}
    model = AnonymousModel(LinearRegression(), 20, public=["age", "sex"], person="patient").fit(rows, cost)
    assert audit(model.release_, rows, cost, person="patient").smallest_group >= 20


def test_uniqueness_counts_people():
    table = to_table({"p": ["a", "a", "b", "c", "c"], "x": ["1", "2", "1", "3", "3"], "y": ["u"] * 5})
    alone = {each.columns: (each.alone, each.below) for each in uniqueness(table, ["x", "y"], k=3, person="p")}
    # 1: a and b; 2: a alone; 3: c alone, with two rows
    assert alone == {("x",): (2, 3), ("y",): (0, 0), ("x", "y"): (2, 3)}


@pytest.mark.parametrize("people", [0, -1, 10**6, 1.5, True, "5", None])
def test_a_wrong_number_of_people_in_a_file_is_refused(visits, tmp_path, people):
    release = AnonymousTreeClassifier(20, person="patient").fit(visits, "ill").release_
    release.save(tmp_path / "tree.json")
    body = json.loads((tmp_path / "tree.json").read_text())
    body["people"] = people
    (tmp_path / "tree.json").write_text(json.dumps(body))
    with pytest.raises(ReleaseError, match="people"):
        load(tmp_path / "tree.json")
