# SPDX-License-Identifier: Apache-2.0
"""The README's commands do what it says."""

import re
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest

import shoal
from shoal.cli import run
from shoal.data import write_sample
from shoal.papers.experiment import all_experiments
from shoal.papers.runner import Runs
from shoal.papers.told import Told, in_short

README = Path(__file__).parents[1] / "README.md"


def commands(heading: str) -> list[list[str]]:
    """The commands that stand under a heading."""
    part = README.read_text().split(f"## {heading}\n", 1)[1].split("\n## ")[0]
    return [shlex.split(command, comments=True) for command in re.findall(r"^\$ shoal (.*)$", part, flags=re.M)]


@pytest.fixture
def patients(tmp_path, monkeypatch):
    """A folder with the sample as somebody's own table."""
    write_sample(tmp_path / "sample")
    shutil.copy(tmp_path / "sample" / "clinic.csv", tmp_path / "patients.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_for_a_new_table_work_as_printed(patients):
    given = commands("With your own table")
    assert len(given) == 3
    for command in given:
        assert run(command) == 0
    assert (patients / "audit.html").exists()
    assert shoal.load("tree.json").verdict.holds


def test_the_commands_for_a_foreign_model_work_as_printed(patients):
    import skops.io
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    rows = pd.read_csv(patients / "patients.csv")
    encode = make_column_transformer((OneHotEncoder(), ["sex", "education"]), ("passthrough", ["age", "bmi"]))
    model = make_pipeline(encode, DecisionTreeClassifier(random_state=0))
    model.fit(rows[["age", "sex", "education", "bmi"]], rows["diabetes"])
    skops.io.dump(model, patients / "model.skops")
    given = commands("With a model that somebody else trained")
    assert [command[0] for command in given] == ["audit", "repair", "ledger"]
    # the tree learned its rows by heart: a breach, which the repair mends
    assert [run(command) for command in given] == [3, 0, 0]
    assert (patients / "audit.html").exists()
    assert shoal.load("repaired.json").verdict.holds
    assert (patients / ".shoal" / "ledger.jsonl").exists()


def test_every_public_name_is_there():
    for name in shoal.__all__:
        assert getattr(shoal, name).__doc__
    assert set(shoal.__all__) <= set(dir(shoal))


def test_the_table_of_papers_has_every_experiment_and_adds_up(tmp_path):
    part = README.read_text().split("## The papers, reproduced\n", 1)[1]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines() if line.startswith("| ")][1:]
    told = [Told.of(Runs(tmp_path).result(each)) for each in all_experiments().values()]
    assert [row[:2] for row in rows] == [[cell.text for cell in row[:2]] for row in in_short(told).rows]
    hold, claims, near, numbers = (
        sum(int(row[column].split(" of ")[place]) for row in rows if row[column])
        for column in (2, 3)
        for place in (0, 1)
    )
    text = " ".join(part.split())
    assert f"Of {claims} claims {hold} hold" in text
    assert f"{near} of {numbers} published" in text
    assert claims == sum(len(each.experiment.claims) for each in told)
