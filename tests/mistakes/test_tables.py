# SPDX-License-Identifier: Apache-2.0
"""What an attacker and a careless steward tried on whole tables: each was a mistake once."""

import json

import numpy as np
import pandas as pd
import pytest

from shoal import DataError, KAnonymity, RequirementError, audit
from shoal.anonymize import ClusterAnonymizer, Incognito, KOptimize, Mondrian, OneDimensional, TopDownSpecialization
from shoal.anonymize.methods import make_method
from shoal.cli import run
from shoal.evaluate import learned_accuracy

BY_CLASS = [
    Mondrian(5, public=["city"]),
    Incognito(5, public=["city"]),
    TopDownSpecialization(5, public=["city"]),
    KOptimize(5, public=["city"], max_nodes=500, max_seconds=None),
    OneDimensional(5, public=["city"]),
]


@pytest.mark.parametrize("method", BY_CLASS, ids=lambda each: type(each).__name__)
def test_a_made_hierarchy_does_not_tell_the_class_of_one_person(method):
    """Alone in his city, he was joined with the city that has most, or least, of his class."""
    cities = {"A": (3, 17), "B": (6, 14), "C": (10, 10), "D": (13, 7), "E": (17, 3)}
    rows = [(city, state) for city, n in cities.items() for state in ["ill"] * n[0] + ["well"] * n[1]]
    said = []
    for secret in ("ill", "well"):
        people = pd.DataFrame([*rows, ("Monaco", secret)], columns=["city", "state"])
        said.append([cell.label for cell in method.fit(people, "state").release_.generalised["city"]])
    assert said[0] == said[1]


@pytest.fixture
def one_apart():
    """People of whom one is alone in what is public, and in what is private."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "age": rng.integers(20, 40, 60),
            "city": rng.choice(["A", "B"], 60),
            "income": rng.integers(10, 30, 60) * 1000,
            "ill": rng.choice(["yes", "no"], 60),
        }
    )
    people.loc[60] = {"age": 39, "city": "Z", "income": 20000, "ill": "zqx-canary"}
    return people


def test_the_value_of_somebody_who_is_left_out_is_not_in_the_domain(one_apart):
    method = Incognito(KAnonymity(5), public=["age", "city"], suppress=0.05).fit(one_apart, "ill")
    release = method.release_
    assert release.left_out == 1
    assert "zqx-canary" not in json.dumps(release.to_json()) + release.to_csv()
    assert release.attribute("ill").values == ("no", "yes")
    assert audit(release, one_apart).holds
    assert len(method.fit_transform(one_apart, "ill")) == 60


def test_a_declared_value_stays_in_the_domain(one_apart):
    """It tells nothing of the rows."""
    domain = {"ill": ["yes", "no", "zqx-canary"]}
    release = Incognito(5, public=["age", "city"], suppress=0.05, domain=domain).fit(one_apart, "ill").release_
    assert release.left_out == 1
    assert release.attribute("ill").values == ("yes", "no", "zqx-canary")


def test_the_bounds_of_private_numbers_are_those_of_the_rows_that_are_published(one_apart):
    """Five people who are left out had an income that nobody else has, and the bounds said so."""
    rich = one_apart.iloc[[60] * 5].assign(age=[20, 24, 28, 32, 36], ill="no", income=900_000)
    people = pd.concat([one_apart.iloc[:60], rich], ignore_index=True)
    people.loc[60:, "city"] = list("UVWXY")
    release = Incognito(5, public=["age", "city"], suppress=0.08).fit(people, "ill").release_
    assert release.left_out == 5
    assert release.attribute("income").bounds[1] <= 30_000
    assert audit(release, people).holds


def test_no_public_column_is_no_crash(one_apart):
    method, people = Mondrian(5, public=[]), one_apart[["age"]]
    assert len(method.fit_transform(people)) == 61
    assert len(method.transform(people)) == 61


def test_an_option_of_the_wrong_type_is_refused(one_apart):
    with pytest.raises(RequirementError, match="relaxed must be True or False"):
        Mondrian(5, relaxed="maybe").fit(one_apart, "ill")
    with pytest.raises(RequirementError, match="random_state must be a whole number"):
        ClusterAnonymizer(5, public=["age"], random_state="abc").fit(one_apart[["age", "ill"]], "ill")
    with pytest.raises(RequirementError, match="max_seconds must be a number"):
        KOptimize(5, max_seconds=float("nan")).fit(one_apart, "ill")


@pytest.mark.parametrize(("method", "option"), [("k-optimize", "progress"), ("tree", "target_role")])
def test_what_the_caller_says_by_other_means_is_no_option(method, option):
    with pytest.raises(RequirementError, match=f"has no option '{option}'"):
        make_method(method, {"privacy": 5}, {option: 5})


def test_test_rows_without_a_target_are_refused(one_apart):
    release = Mondrian(5).fit(one_apart[["age", "ill"]].iloc[:60], "ill").release_
    test = one_apart[["age", "ill"]].iloc[:60].copy()
    test.loc[3, "ill"] = None
    with pytest.raises(DataError, match="'ill' is missing in 1 row"):
        learned_accuracy(release, test)


@pytest.fixture
def project(tmp_path, monkeypatch, one_apart):
    """A folder with a project whose postcodes are categories, with a hierarchy."""
    monkeypatch.chdir(tmp_path)
    people = one_apart.iloc[:60].assign(zip=[1000, 2000, 3000] * 20)
    people.to_csv("people.csv", index=False)
    (tmp_path / "shoal.toml").write_text(
        '[data]\nsource = "people.csv"\ncategorical = ["zip"]\n[roles]\npublic = ["age", "zip"]\n'
        'private = ["city", "income"]\ntarget = "ill"\n[hierarchies]\nzip = { prefix = [3, 2, 1] }\n[privacy]\nk = 5\n'
    )
    return tmp_path


def test_a_hierarchy_of_a_private_column_does_not_stop_the_command(project, capsys):
    assert run(["anonymize", "--method", "mondrian", "--public", "age", "--private", "city,zip,income"]) == 0, (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("folder", [".", "/"])
def test_a_folder_is_no_output(project, capsys, folder):
    assert run(["anonymize", "--method", "mondrian", "-o", folder]) == 1
    assert "it is a folder" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["tds", "tdr"])
def test_a_method_that_learns_asks_for_a_target_in_words_of_the_command(project, capsys, method):
    (project / "shoal.toml").unlink()
    assert run(["anonymize", "people.csv", "-k", "5", "--method", method, "--public", "age,zip,city,ill,income"]) == 2
    assert "name it with --target" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [["--methods", ""], ["--suppress", "nan"], ["--suppress", "2"]])
def test_a_comparison_of_nothing_is_refused(project, capsys, wrong):
    assert run(["compare", *wrong]) == 2
    assert capsys.readouterr().err.startswith("shoal: --")


def test_a_copy_that_cannot_be_made_leaves_nothing_behind(project, capsys):
    people = pd.read_csv("people.csv").rename(columns={"city": "age_low"})
    people.to_csv("low.csv", index=False)
    roles = ["--public", "age", "--private", "age_low,zip,income"]
    assert run(["anonymize", "low.csv", "--method", "mondrian", *roles, "--numbers", "ends", "-o", "out.csv"]) == 1
    assert "would be a second column 'age_low'" in capsys.readouterr().err
    assert sorted(path.name for path in project.iterdir()) == ["low.csv", "people.csv", "shoal.toml"]


def test_numbers_that_are_categories_can_be_learned_from(project, capsys):
    assert run(["compare", "--methods", "mondrian", "--test", "people.csv"]) == 0, capsys.readouterr().err
