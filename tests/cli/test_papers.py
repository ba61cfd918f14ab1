# SPDX-License-Identifier: Apache-2.0
"""``shoal papers``: what it lists, refuses and writes."""

import pytest

from shoal.papers.experiment import all_experiments
from shoal.papers.registry import get_recipe


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    monkeypatch.delenv("SHOAL_PAPERS", raising=False)


def test_the_list_has_every_experiment_with_its_claim(shoal):
    ran = shoal("papers", "list")
    assert ran.code == 0
    for each in all_experiments().values():
        assert each.id in ran.out
        assert each.claim in ran.out
    told = shoal("papers", "list", "--json").json
    assert [each["id"] for each in told] == list(all_experiments())


def test_wrong_use(shoal):
    assert shoal("papers", "run").code == 2
    assert shoal("papers", "run", "dmpd-fig11", "--all").code == 2
    ran = shoal("papers", "run", "dmpd-fig1")
    assert ran.code == 1
    assert "Closest" in ran.err
    assert shoal("papers", "report").code == 1
    assert shoal("papers", "report", "-o", "papers.pdf").code == 2


def test_missing_data_are_named(shoal):
    ran = shoal("papers", "run", "dmpd-fig11", "--quick")
    assert ran.code == 1
    assert "UCI Machine Learning Repository" in ran.err
    assert "SHOAL_DATA" in ran.err
    assert shoal("papers", "run", "dmpd-fig11", "--data", "nowhere").code == 1


def test_a_run_is_told_and_reported(shoal, folder, monkeypatch):
    """All units of one experiment, measured by a recipe that only pretends to."""
    experiment = all_experiments()["dmpd-table2"]
    recipe = type(get_recipe(experiment.recipe))
    monkeypatch.setattr(recipe, "measure", lambda self, options, data: {"rows": 1000 * options["factor"], "seconds": 6})
    monkeypatch.setattr("shoal.papers.store.code_sha256", lambda name: "pretended")
    monkeypatch.setattr("shoal.papers.runner.find_data", pretend_data)
    ran = shoal("papers", "run", experiment.id, "--quick", "--jobs", 1)
    assert ran.code == 0, ran.err
    assert "3 of 3 published ones agree" in ran.out
    assert "holds: Time is almost linear" in ran.out
    told = shoal("papers", "run", experiment.id, "--quick", "--jobs", 1, "--json").json
    assert told[0]["claims"][0]["verdict"] == "holds"
    assert {each["ours"] for each in told[0]["published"]} == {0.1, None}
    ran = shoal("papers", "report", "-o", "out.html")
    assert ran.code == 0, ran.err
    assert "wrote out.html" in ran.out
    assert (folder / "out.html").exists()
    assert (folder / "out.md").exists()
    assert (folder / "out-pictures" / "dmpd-table2.svg").exists()


def pretend_data(tables, folder, made):
    from shoal.papers.data import Data

    return Data(made, dict.fromkeys(tables, "pretended"))
