# SPDX-License-Identifier: Apache-2.0
"""A session of Spark Connect, in a process of its own: one that has another kind of session cannot start it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

NEEDED = ("grpc", "grpc_status", "google.rpc", "zstandard")
MINES = """
import numpy as np, pyarrow as pa, pyarrow.parquet as pq, sys
from shoal import AnonymousTreeClassifier, DataError, audit
from shoal.anonymize import Mondrian
from shoal.data.spark_session import spark_session
from shoal.data.spark_source import spark_source

rng = np.random.default_rng(0)
age = rng.integers(18, 90, 600)
sick = np.where(age + rng.normal(0, 15, 600) > 60, "yes", "no")
pq.write_table(pa.table({"age": age, "sex": rng.choice(["f", "m"], 600), "sick": sick}), "people.parquet")
session = spark_session()
assert "connect" in type(session).__module__
session.conf.set("spark.sql.shuffle.partitions", "2")
frame = session.read.parquet("people.parquet")
for public in (None, ["age"]):
    how = {"privacy": 50, "max_depth": 2, "variant": "id3", "public": public}
    wanted = AnonymousTreeClassifier(**how).fit("people.parquet", "sick").release_
    assert AnonymousTreeClassifier(engine="spark", **how).fit(frame, "sick").release_.to_json() == wanted.to_json()
assert audit(wanted, "people.parquet", engine="spark").to_json() == audit(wanted, "people.parquet").to_json()
found = Mondrian(50, engine="spark").fit(frame, "sick").release_
assert found.to_json() == Mondrian(50, reproducible=True).fit("people.parquet", "sick").release_.to_json()
answers = frame.select(wanted.to_spark().alias("answer")).filter("answer = 'yes'").count()
assert answers == (wanted.predict("people.parquet") == "yes").sum()
for path in ("/no/where", "s3://nobody/people"):
    try:
        spark_source(path)
    except DataError as refusal:
        print(refusal)
secret = frame.selectExpr("*", "CAST(raise_error(concat('secret ', sex)) AS STRING) AS bad")
try:
    AnonymousTreeClassifier(engine="spark").fit(secret, "sick")
except DataError as refusal:
    print(refusal.code)
session.stop()
"""


def _run(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"  # code without a file is taken for a doctest by Spark
    script.write_text(code, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-W", "ignore", str(script)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )


def _lacks(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is None
    except ModuleNotFoundError:
        return True


@pytest.mark.skipif(any(map(_lacks, NEEDED)), reason="the packages of Spark Connect are not installed")
def test_everything_works(tmp_path: Path) -> None:
    ran = _run(MINES, tmp_path, SPARK_REMOTE="local[2]")
    assert ran.returncode == 0, ran.stderr
    first, second, third = ran.stdout.splitlines()
    assert first == "There is no file '/no/where'."
    assert "does not know the store of 's3://nobody/people'" in second
    assert third == "spark-failed"
    assert "secret" not in ran.stdout + ran.stderr


def test_without_its_packages(tmp_path: Path) -> None:
    code = "import sys; sys.modules['grpc'] = None; from shoal.data.spark_source import spark_source; "
    ran = _run(code + "spark_source('/no/where')", tmp_path, SPARK_REMOTE="sc://127.0.0.1:1")
    assert ran.stderr.endswith("packages that are not installed. Try: pip install 'pyspark[connect]'.\n")
