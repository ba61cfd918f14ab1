# SPDX-License-Identifier: Apache-2.0
"""``shoal partition``: projections or nothing, a frontier, one sentence for whatever is wrong."""

import json

import pandas as pd
import pytest

from shoal import audit, load, read_table
from shoal.cli import run
from shoal.data import write_sample

QUICK = ("--population", 8, "--generations", 3, "--folds", 2)


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHOAL_DEBUG", raising=False)
    write_sample(tmp_path)
    return tmp_path


@pytest.fixture
def shoal(clinic, capsys):
    def command(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return (code, *capsys.readouterr())

    return command


def test_projections_are_searched_for_audited_and_written(clinic, shoal):
    code, out, err = shoal("partition", "-k", 25, "-o", "parts.json", *QUICK)
    assert (code, err) == (0, "")
    assert "holds: PartAL" in out
    assert "not people: it is not k-anonymity" in out
    release = load("parts.json")
    assert release.kind == "projections"
    assert release.k == 25
    written = sorted(path.name for path in clinic.glob("parts*"))
    assert written == [f"parts.{i + 1}.csv" for i in range(len(release))] + ["parts.json"]
    assert all(f"wrote {name}" in out for name in written)
    assert audit(release, read_table("clinic.csv")).holds
    code, out, _ = shoal("audit", "parts.json", "clinic.csv")
    assert code == 0
    assert "PartAL" in out


def test_the_frontier_is_told_and_drawn(clinic, shoal):
    code, out, err = shoal("partition", "-k", 25, "--pareto", "--runs", 2, "--plot", "front.png", *QUICK)
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split() == ["level", "accuracy", "projections"]
    assert out.endswith("wrote front.png\n")
    assert (clinic / "front.png").read_bytes().startswith(b"\x89PNG")
    code, out, _ = shoal("partition", "-k", 25, "--pareto", "--json", "-o", "parts.json", *QUICK)
    body = json.loads(out)
    assert code == 0
    assert all(point["level"] >= 1 for point in body["frontier"])
    chosen = max(point["accuracy"] for point in body["frontier"] if point["level"] >= 25)
    assert body["accuracy"] == pytest.approx(chosen)
    assert body["level"] >= 25
    assert load("parts.json").k == 25
    assert body["projections"] in [point["projections"] for point in body["frontier"]]


def test_projections_never_take_the_place_of_the_data(clinic, shoal):
    (clinic / "clinic.csv").rename(clinic / "parts.1.csv")
    before = (clinic / "parts.1.csv").read_bytes()
    code, out, err = shoal("partition", "parts.1.csv", "-k", 25, "-o", "parts.json", *QUICK)
    assert (code, out) == (1, "")
    assert "'parts.1.csv': it is read by this command" in err
    assert (clinic / "parts.1.csv").read_bytes() == before


def test_trees_in_place_of_rows(clinic, shoal):
    code, out, err = shoal("partition", "-k", 25, "--trees", "-o", "trees.json", *QUICK)
    assert (code, err) == (0, "")
    assert out.endswith("wrote trees.json\n")
    assert load("trees.json").kind == "ensemble"
    code, out, _ = shoal("audit", "trees.json", "clinic.csv")
    assert (code, "PartAL" in out) == (0, True)


@pytest.mark.parametrize("demand", ["open", "k-anonymity"])
def test_more_can_be_demanded(shoal, demand):
    code, out, _ = shoal("partition", "-k", 10, "--demand", demand, "--json", *QUICK)
    body = json.loads(out)
    assert code == 0
    assert body["audit"]["holds"]
    if demand == "k-anonymity":
        assert body["audit"]["smallest_group"] >= 10


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--plot", "a.png"], 2, "say --pareto too"),
        (["--runs", 3], 2, "option of --pareto"),
        (["-k", 100_000], 1, "The table has 5,000 row(s)"),
        (["--public", "age,diabetes"], 1, "more than one role"),
        (["--public", "age,age,sex"], 1, "'age' is named more than once as public"),
        (["--suppress", 2], 1, "share of the rows"),
        (["--seed", -4], 1, "random_state must be a whole number"),
        (["--folds", 1], 2, "--folds must be a whole number of at least 2; got 1"),
        (["--generations", 0], 2, "--generations must be a whole number of at least 1; got 0"),
        (["--population", 1], 2, "--population must be a whole number of at least 2; got 1"),
        (["--pareto", "--runs", 0], 2, "--runs must be a whole number of at least 1; got 0"),
        (["--max-seconds", 0], 2, "--max-seconds must be a positive number"),
        (["--certainty", 0.9], 2, "say --chance too"),
        (["--chance", "bmi"], 2, "such as bmi=0.2; got 'bmi'"),
        (["--chance", "bmi=2"], 2, "got 'bmi=2'"),
        (["--chance", "bmi=0.1", "--chance", "bmi=0.2"], 2, "each once"),
        (["--chance", "age=0.1"], 1, "'age' is public"),
        (["--chance", "bim=0.1"], 1, "no column 'bim' to project on. Closest: 'bmi'"),
        (["--chance", "bmi=0.1", "--certainty", 0], 1, "certainty must be a probability"),
        (["--pareto", "--plot", "a.docx"], 2, "--plot draws"),
        (["-o", "clinic.csv"], 1, "clinic.csv"),
    ],
)
def test_one_sentence_for_whatever_is_wrong(clinic, shoal, arguments, code, message):
    before = sorted(path.name for path in clinic.iterdir())
    got, out, err = shoal("partition", *arguments)
    assert (got, out) == (code, ""), err
    assert message in err
    assert err.startswith("shoal: ")
    assert err.count("\n") == 1
    assert sorted(path.name for path in clinic.iterdir()) == before


def test_the_k_of_a_project_is_a_level_of_projections(clinic, shoal):
    """People may be alone to whoever has all projections; who asks for k-anonymity himself is told so."""
    assert shoal("partition", "-k", 25, "-o", "parts.json", *QUICK)[0] == 0
    code, out, _ = shoal("audit", "parts.json", "clinic.csv")
    assert (code, "PartAL, which is not k-anonymity" in out) == (0, True)
    assert shoal("audit", "parts.json", "clinic.csv", "-k", 4_999)[0] == 3


def test_columns_that_an_attacker_knows_by_chance(shoal):
    options = ["-k", 25, "--chance", "bmi=0.2", "--certainty", 0.8, "-o", "parts.json", *QUICK]
    code, out, _ = shoal("partition", *options)
    assert code == 0
    assert "PartAL, with a certainty of 0.8) " in out
    assert [claim["requirement"] for claim in load("parts.json").claims] == ["partal", "likely-partal"]
    code, out, _ = shoal("audit", "parts.json", "clinic.csv", "--json")
    assert (code, json.loads(out)["likely_partal"][0] >= 25) == (0, True)
    # whoever knows a person's exact number knows the person: with more certainty it stays at home, and nothing is left
    code, _, err = shoal("partition", *options, "--certainty", 0.81)
    assert (code, "predicts better than always saying the most frequent class" in err) == (1, True)


@pytest.fixture
def alone(shoal, clinic):
    """A folder without a project."""
    for path in clinic.glob("*.toml"):
        path.unlink()
    return pd.read_csv("clinic.csv")[["age", "sex", "bmi", "diabetes"]]


def test_a_parquet_file(alone, shoal):
    alone.to_parquet("people.parquet")
    own = ["--target", "diabetes", "--public", "age,sex"]
    assert shoal("partition", "people.parquet", *own, "-k", 25, "-o", "parts.json", *QUICK)[0] == 0
    assert audit(load("parts.json"), alone).holds


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[["diabetes"]], "no column beside the target"),
        (lambda rows: rows.assign(diabetes=rows["diabetes"].where(rows.index > 9)), "missing in 10 row(s)"),
        (lambda rows: rows.assign(diabetes="no"), "predicts better than always saying the most frequent class"),
    ],
)
def test_tables_that_nothing_can_be_learned_from(alone, shoal, change, message):
    change(alone).to_csv("people.csv", index=False)
    code, out, err = shoal("partition", "people.csv", "--target", "diabetes", "-k", 25, *QUICK)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1
