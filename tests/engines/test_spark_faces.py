# SPDX-License-Identifier: Apache-2.0
"""Spark at the command line: what is read, what is left alone, and one sentence where something is not there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal import DataError, load, read_table
from shoal.cli import run
from shoal.data.spark_source import spark_source

# sockets that Spark leaves to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")

Said = tuple[int, str, str]
PROJECT = """
[data]
source = "{source}"
missing = ["?"]
categorical = ["zip"]
[roles]
identifier = ["name"]
private = ["pay"]
target = "sick"
[privacy]
k = 40
"""


TREE = ("--variant", "id3", "--max-depth", "1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with people in two Parquet files and a project file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people").mkdir()
    rng = np.random.default_rng(0)
    for number in range(2):
        zip_ = rng.integers(1, 5, 300)
        columns = {
            "name": [f"person {number} {n}" for n in range(300)],
            "age": rng.integers(18, 90, 300),
            "zip": zip_,
            "sex": rng.choice(["f", "m", "?"], 300),
            "pay": rng.integers(0, 9, 300),
            "sick": np.where(zip_ % 2 + rng.random(300) > 0.8, "yes", "no"),
        }
        pq.write_table(pa.table(columns), tmp_path / "people" / f"{number}.parquet")
    (tmp_path / "shoal.toml").write_text(PROJECT.format(source="people"))
    return tmp_path


@pytest.fixture
def shoal(folder: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run a command: its exit code, and what it says, Spark's own words included."""

    def command(*arguments: object) -> Said:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        return code, *capfd.readouterr()

    return command


def test_a_project_on_spark(spark: Any, folder: Path, shoal: Any) -> None:
    """Mined, audited, generalised and predicted as in memory; the identifier is not even looked at."""
    frame = spark.read.parquet(str(folder / "people"))
    frame.selectExpr("raise_error('looked at') AS name", "age", "zip", "sex", "pay", "sick").createOrReplaceTempView(
        "clinic"
    )
    for engine in ("memory", "spark"):
        code, _, err = shoal("tree", *TREE, "--engine", engine, "-o", f"{engine}.json")
        assert (code, err) == (0, "")
        (folder / "shoal.toml").write_text(PROJECT.format(source="clinic"))  # a name, not a file
    assert (folder / "spark.json").read_bytes() == (folder / "memory.json").read_bytes()
    kinds = load("spark.json").kinds
    assert kinds["zip"] == "categorical"
    assert "name" not in kinds

    engines = ("memory", "stream", "spark")
    found = [shoal("audit", "spark.json", "people", "--engine", each, "-k", 400, "--json") for each in engines]
    assert found[0] == found[1] == found[2]
    assert found[0][::2] == (3, "")

    assert shoal("anonymize", "--method", "mondrian", "--engine", "spark", "-o", "table.json")[::2] == (0, "")
    assert load("table.json").n_rows == 600

    said = shoal(
        "predict", "spark.json", "people", "--engine", "spark", "--unknown", "ancestor", "--proba", "-o", "out"
    )
    assert said == (0, "", "shoal: wrote out: 600 rows\n")
    written = pq.read_table(folder / "out")
    assert written.column_names == ["age", "zip", "sex", "pay", "sick", "sick=no", "sick=yes"]
    rows = read_table(folder / "out", kinds={"zip": "categorical"})
    assert written["sick"].to_pylist() == load("spark.json").predict(rows).tolist()
    opened = spark_source("people", missing=["?"])
    assert opened.frame.filter("sex IS NULL").count() == 0
    assert opened.with_nulls(["sex", "age"]).filter("sex IS NULL").count() == written["sex"].to_pylist().count("?") > 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["tree", "no_such_table"], 1, "There is no file and no Spark table 'no_such_table'."),
        (["tree", "no/such"], 1, "There is no file 'no/such'."),
        (["tree", "people.csv"], 1, "engine='spark' reads Parquet, Delta and Iceberg; 'people.csv' ends in .csv."),
        (["tree", "s3://nobody/people"], 1, "does not know the store of 's3://nobody/people'"),
        (["tree", "--identifier", "nam"], 1, "No column 'nam'. Closest: 'name'."),
        (["tree", "--person", "name"], 1, "Several rows a person need engine='memory'"),
        (["audit", "people/0.parquet"], 2, "a tree or a table that Shoal released"),
        (["audit", "people/0.parquet", "--columns"], 2, "--columns and --people look at every row by itself"),
    ],
)
def test_one_sentence(spark: Any, folder: Path, shoal: Any, arguments: list[str], code: int, words: str) -> None:
    (folder / "people.csv").write_text("age,sick\n1,yes\n")
    before = sorted(folder.iterdir())
    found = shoal(*arguments, "--engine", "spark", *([] if arguments[0] == "audit" else ["-o", "tree.json"]))
    assert found[:2] == (code, "")
    assert words in found[2]
    assert found[2].count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_only_spark_reads_an_address(folder: Path, shoal: Any) -> None:
    for engine in ("memory", "stream"):
        code, out, err = shoal("tree", "s3://bucket/people", "--engine", engine)
        assert (code, out) == (1, "")
        assert "'s3://bucket/people' is no file of this machine. Try --engine spark" in err


def test_predictions_need_words(spark: Any, folder: Path, shoal: Any) -> None:
    assert shoal("tree", *TREE, "-o", "tree.json")[0] == 0
    spark_predicts = ("predict", "tree.json", "people", "--engine", "spark")
    assert "-o FOLDER" in shoal(*spark_predicts)[2]
    assert shoal(*spark_predicts, "-o", "out")[::2] == (
        2,
        "shoal: --engine spark stops a row at a value that the release does not know: say --unknown ancestor.\n",
    )
    (folder / "out").mkdir()
    code, _, err = shoal(*spark_predicts, "-o", "out", "--unknown", "ancestor")
    assert (code, "it is a folder" in err) == (1, True)


def test_without_pyspark(folder: Path, shoal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    code, out, err = shoal("tree", "--engine", "spark")
    assert (code, out) == (1, "")
    assert "pip install 'shoal[spark]'" in err


def test_formats_that_the_session_does_not_know(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "delta" / "_delta_log").mkdir(parents=True)
    for folder in ("metadata", "data"):
        (tmp_path / "iceberg" / folder).mkdir(parents=True)
    for name, words in (("delta", "a table of Delta"), ("iceberg", "a table of Iceberg")):
        # by a path of this machine, and by an address, where only Spark can look
        for path in (tmp_path / name, f"file:{tmp_path / name}"):
            with pytest.raises(
                DataError, match=f"{words}, which the Spark session does not know: add the package"
            ) as no:
                spark_source(path)
            assert no.value.code == "spark-format"
            assert no.value.__cause__ is None
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="There are no Parquet files"):
        spark_source(tmp_path / "empty")
    (tmp_path / "empty" / "bad.parquet").write_bytes(b"secret")
    with pytest.raises(DataError, match="no complete Parquet file"):
        spark_source(tmp_path / "empty")
