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


def test_what_all_experiments_lack_is_said_once(shoal, monkeypatch):
    monkeypatch.setattr("shoal.papers.data._packaged", lambda name: None)  # a package may have Adult
    ran = shoal("papers", "run", "--all", "--quick", "--jobs", 1)
    assert ran.code == 1
    assert ran.err.count("The table 'adult' is missing") == 1
    assert ran.err.count("The table 'nursery' is missing") == 1
    assert "left out for want of data: vldb08-fig6, " in ran.err
    # examples that the papers work through by hand need no data
    assert {line.split(",")[0] for line in ran.out.splitlines() if ", quick run: " in line} == {
        each.id for each in all_experiments().values() if not each.data
    }


def test_an_interrupted_run_says_that_it_goes_on(shoal, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shoal.papers.runner.find_data", pretend_data)
    monkeypatch.setattr(type(get_recipe("partitioning-time")), "measure", interrupt)
    monkeypatch.setattr("shoal.papers.store.code_sha256", lambda name: "pretended")
    ran = shoal("papers", "run", "dmpd-table2", "--quick", "--jobs", 1)
    assert ran.code == 130
    assert "the same command goes on" in ran.err


def test_a_run_is_told_and_reported(shoal, folder, monkeypatch):
    """All units of one experiment, measured by a recipe that only pretends to."""
    experiment = all_experiments()["dmpd-table2"]
    recipe = type(get_recipe(experiment.recipe))
    monkeypatch.setattr(recipe, "measure", lambda self, options, data: {"rows": 1000 * options["factor"], "seconds": 6})
    monkeypatch.setattr("shoal.papers.store.code_sha256", lambda name: "pretended")
    with monkeypatch.context() as pretended:  # the report below does without
        pretended.setattr("shoal.papers.runner.find_data", pretend_data)
        ran = shoal("papers", "run", experiment.id, "--quick", "--jobs", 1)
        told = shoal("papers", "run", experiment.id, "--quick", "--jobs", 1, "--json").json
    assert ran.code == 0, ran.err
    assert "dmpd-table2, quick run: " in ran.out
    assert "100% measured: " in ran.err
    assert "quick run: 4 numbers\n" in ran.out  # minutes of another machine are not compared
    assert "holds: Time grows no faster" in ran.out
    assert told[0]["claims"][0]["verdict"] == "holds"
    assert {each["ours"] for each in told[0]["published"]} == {0.1, None}
    ran = shoal("papers", "report", "-o", "out.html")
    assert ran.code == 0, ran.err
    assert "wrote out.html" in ran.out
    assert (folder / "out.html").exists()
    assert (folder / "out.md").exists()
    assert (folder / "out-pictures" / "dmpd-table2.svg").exists()
    (folder / "other-pictures").write_text("")
    ran = shoal("papers", "report", "-o", "other.html")
    assert (ran.code, "Cannot make the folder 'other-pictures'" in ran.err) == (1, True)
    (folder / "page.md").mkdir()
    assert "'page.md': it is a folder" in shoal("papers", "report", "-o", "page.html").err
    assert not (folder / "page-pictures").exists()


def pretend_data(tables, folder, made):
    from shoal.papers.data import expected_data

    return expected_data(tables)
