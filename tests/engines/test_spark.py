# SPDX-License-Identifier: Apache-2.0
"""The Spark engine on a real Spark of two cores: the same releases, as many jobs as rounds, and faults."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal import AnonymousTreeClassifier, DataError, EntropyDiversity, KAnonymity, audit, load, read_table
from shoal.anonymize import Mondrian, TopDownSpecialization, TreeAnonymizer
from shoal.data import spark_dictionaries
from shoal.data.blocks import Block
from shoal.data.spark_codes import Entries, coded, with_places
from shoal.data.spark_session import guarded
from shoal.engines import spark as spark_engine
from shoal.engines.spark import SparkEngine, SparkRows
from shoal.engines.spark_tasks import Count

# sockets that Spark leaves to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")


def people(n: int, seed: int = 0) -> pa.Table:
    """Some people: texts, numbers, missing values, dates and a class that depends on them."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 90, n), rng.choice(["f", "m"], n)
    pay = rng.normal(0, 1, n)
    sick = np.where(age / 20 + (sex == "f") + pay + rng.normal(0, 1, n) > 4, "yes", "no")
    return pa.table(
        {
            "age": age,
            "sex": sex,
            "edu": rng.choice(["a", "b", "c's", None], n),
            "pay": np.where(rng.random(n) < 0.1, np.nan, pay),
            "member": rng.random(n) < 0.3,
            "since": (np.datetime64("2020-01-01") + rng.integers(0, 5, n)).astype("datetime64[D]"),
            "sick": sick,
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some people in two Parquet files."""
    path = tmp_path_factory.mktemp("people")
    for number in range(2):
        pq.write_table(people(4000, number), path / f"{number}.parquet")
    return path


def mined(rows: Any, engine: str, target: str = "sick", **manner: Any) -> Any:
    return AnonymousTreeClassifier(engine=engine, **manner).fit(rows, target).release_


MANNERS: dict[str, dict[str, Any]] = {
    "id3": {"privacy": 40, "variant": "id3", "max_depth": 3},
    "c45": {"privacy": 40, "variant": "c45", "max_depth": 3},
    "best": {"privacy": 40, "max_depth": 3},
    "diverse": {"privacy": KAnonymity(40) & EntropyDiversity(1.3), "variant": "id3", "max_depth": 3},
    "private": {"privacy": 40, "public": ["age", "sex", "since"], "max_depth": 3},
}


@pytest.mark.parametrize("manner", MANNERS.values(), ids=list(MANNERS))
def test_adult(manner: dict[str, Any], spark: Any, shoal_data: Path, tmp_path: Path) -> None:
    names = ["age", "education", "marital-status", "sex", "race", "hours-per-week", "income"]
    table = read_table(shoal_data / "adult_train.csv.gz").select(names).complete()
    columns = {name: np.asarray(column.values)[column.codes] for name, column in table.items()}
    pq.write_table(pa.table(columns), tmp_path / "adult.parquet")
    manner = {**manner, "max_depth": 4}
    if "public" in manner:
        manner["public"] = [name for name in names[:-1] if name not in ("sex", "hours-per-week")]
    wanted = mined(tmp_path / "adult.parquet", "memory", "income", **manner)
    frame = spark.read.parquet(str(tmp_path / "adult.parquet")).repartition(3)
    ours = mined(frame, "spark", "income", **manner)
    assert ours.to_json() == wanted.to_json()
    assert ours.verdict == wanted.verdict
    assert len(ours.leaves) > 3


def test_memory_stream_and_spark_agree(spark: Any, folder: Path) -> None:
    wanted = mined(folder, "memory", **MANNERS["id3"]).to_json()
    assert mined(folder, "stream", **MANNERS["id3"]).to_json() == wanted
    assert mined(folder, "spark", **MANNERS["id3"]).to_json() == wanted
    spark.read.parquet(str(folder)).createOrReplaceTempView("people_of_shoal")
    assert mined("people_of_shoal", "spark", **MANNERS["id3"]).to_json() == wanted


values = st.sampled_from(["a", "b", "c", None])


@given(
    st.lists(st.tuples(values, st.integers(-3, 3), values, st.sampled_from("ny")), min_size=20, max_size=60),
    st.integers(1, 4),
    st.integers(0, 9),
    st.sampled_from(list(MANNERS)),
)
@settings(max_examples=2, suppress_health_check=list(HealthCheck))
def test_random_tables(spark: Any, tmp_path: Path, rows: list[Any], partitions: int, seed: int, manner: str) -> None:
    rows = [*rows, ("a", 0, "a", "n"), ("b", 0, "b", "y")]
    table = pa.table([pa.array(column) for column in zip(*rows, strict=True)], names=["a", "b", "c", "t"])
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path)
    how = {**MANNERS[manner], "privacy": 2}
    if "public" in how:
        how["public"] = ["a", "b"]
    frame = spark.read.parquet(str(path)).orderBy("c" if seed % 2 else "b").repartition(partitions)
    assert mined(frame, "spark", "t", **how).to_json() == mined(table, "memory", "t", **how).to_json()


def test_many_numbers_are_cut_where_they_would_be_in_memory(spark: Any, folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(spark_dictionaries, "FEW", 1000)  # there are about 7,200 different ones
    monkeypatch.setattr("shoal.data.spark_numbers.BUCKETS", 300)
    for public in (None, ["age", "sex"]):  # as a private column, its bounds are those that people stand behind
        how = {"privacy": 40, "max_codes": 100, "variant": "id3", "max_depth": 2, "public": public}
        assert mined(folder, "spark", **how).to_json() == mined(folder, "memory", **how).to_json()


def test_places_among_numbers(spark: Any) -> None:
    """As NumPy finds them, at the ends of all numbers and between neighbours too."""
    least, most = np.nextafter(0, 1), np.finfo(float).max
    values = np.array([-np.inf, -most, -least, 0.0, least, 1.0, np.nextafter(1, 2), most])
    asked = np.concatenate([values, [-0.0, 0.5, 2.0, -3.0, np.inf, np.nextafter(most, 0)]])
    for known in (values, values[2:4]):
        frame = spark.createDataFrame(pa.table({"d": pa.array([*asked, None])})).coalesce(1)
        found = with_places(frame, "d", known, "at").toArrow().column("at").to_pylist()
        below = np.searchsorted(known, asked)
        below[asked > most] = min(len(known) - 1, int(below[asked > most][0])) if known[-1] == most else len(known)
        assert found == [*below.tolist(), None]


def test_an_entry_that_was_not_counted_has_no_code(spark: Any) -> None:
    frame = spark.createDataFrame(pa.table({"c0": ["a", "b", None], "c1": [1.0, 2.5, 3.0]})).coalesce(1)
    texts, cut = Entries(pa.array(["b", "a"]), null=True), Entries(pa.array([2.0, 3.0]), null=False, exact=False)
    assert coded(frame, [texts, cut]).toArrow().to_pydict() == {"c0": [1, 0, 2], "c1": [0, 1, 1]}
    for others in (
        [Entries(pa.array(["b"]), null=True), cut],
        [Entries(pa.array(["b", "a"]), null=False), cut],
        [texts, Entries(pa.array([2.0]), null=False, exact=False)],
        [texts, Entries(pa.array([1.0, 2.0, 3.0]), null=False)],
    ):
        with pytest.raises(DataError, match="did not finish") as refusal, guarded():
            coded(frame, others).toArrow()
        assert refusal.value.code == "spark-failed"


def jobs(spark: Any) -> int:
    """How many jobs Spark has run, by its own tracker."""
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup(None))


@pytest.mark.parametrize("variant", ["id3", "c45", None])
def test_there_are_as_many_jobs_as_rounds_and_some_more(
    spark: Any, folder: Path, variant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = spark.read.parquet(str(folder)).drop("edu", "pay")  # of a missing value, the audit asks once more
    asked: list[int] = []
    outlooks = SparkEngine.outlooks
    monkeypatch.setattr(SparkEngine, "outlooks", lambda *args: asked.append(1) or outlooks(*args))
    others = []
    for depth in (1, 3):
        before = jobs(spark)
        asked.clear()
        release = mined(frame, "spark", privacy=40, variant=variant, max_depth=depth, pruning="none")
        assert max(len(release.path(leaf)) for leaf in release.leaves) == depth
        others.append(jobs(spark) - before - depth - 2 * len(asked))  # a search has a shuffle, which is a job by itself
    assert others[0] == others[1] < 20


def test_no_row_reaches_the_driver_and_no_value_a_python_worker(
    spark: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = spark.read.parquet(str(folder))
    taken, seen = [], set()
    kind = type(frame)
    to_python = kind.mapInArrow
    monkeypatch.setattr(
        kind, "mapInArrow", lambda self, *args: seen.update(of for _, of in self.dtypes) or to_python(self, *args)
    )
    for name in ("collect", "toArrow", "toPandas", "toLocalIterator", "take"):
        fetch = getattr(kind, name)
        monkeypatch.setattr(
            kind, name, lambda *args, fetch=fetch, **more: taken.append(len(found := fetch(*args, **more))) or found
        )
    release = mined(frame.drop("pay"), "spark", privacy=40, max_depth=2)
    audit(release, frame, engine="spark")
    assert len(taken) > 5
    assert max(taken) < 200  # the table has 8,000
    assert seen == {"int", "binary"}  # codes, and blocks of them


def test_columns_that_are_not_asked_for_are_never_looked_at(spark: Any, folder: Path) -> None:
    frame = spark.read.parquet(str(folder))
    release = mined(frame, "spark", **MANNERS["c45"])
    verdict = audit(release, frame.selectExpr("*", "raise_error('looked at') AS name"), engine="spark")
    wanted = audit(release, folder)
    assert str(verdict) == str(wanted)
    assert verdict.holds
    assert not audit(release, frame, engine="spark", privacy=2000).holds


def test_predictions_as_a_column(spark: Any, folder: Path) -> None:
    release = mined(folder, "memory", privacy=20)
    frame = spark.read.parquet(str(folder))
    found = frame.coalesce(1).select("age", release.to_spark().alias("answer"), release.to_spark(proba=True)["yes"])
    table = found.toArrow()
    rows = frame.coalesce(1).toArrow()
    assert table.column("answer").to_pylist() == release.predict(rows).tolist()
    with pytest.raises(DataError, match="stays on its cluster"):
        release.predict(frame)
    with pytest.raises(DataError, match="stays on its cluster"):
        audit(release, frame)
    assert np.allclose(table.column(2).to_numpy(), release.predict_proba(rows)[:, 1])


def test_a_prediction_is_the_same_for_every_type_of_cell(spark: Any) -> None:
    """Also where Spark would compare otherwise: in another time zone, with floats, and texts that are no numbers."""
    z = np.arange(600) % 4
    moments = np.array([f"2020-01-0{1 + i}" for i in range(4)], dtype="datetime64[us]")[z]
    rows = pa.table(
        {
            "day": pa.array(moments, pa.timestamp("us", "UTC")),
            "share": pa.array((z / 10).astype(np.float32)).dictionary_encode(),
            "grade": pa.array([None if i == 3 else i for i in z.tolist()]).dictionary_encode(),
            "price": pa.array([Decimal(i) / 100 for i in (15 * z).tolist()], pa.decimal128(20, 18)),
            "text": [["${env:HOME}", "it's", "\\", "x"][i] for i in z.tolist()],
            "sick": np.where(z % 2 == 1, "${env:HOME}", "n"),
        }
    )
    plain = rows.cast(pa.schema([(f.name, getattr(f.type, "value_type", f.type)) for f in rows.schema]))
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    try:
        frame = spark.createDataFrame(plain)
        for name in ("day", "share", "grade", "price", "text"):
            release = mined(rows.select([name, "sick"]), "memory", privacy=20)
            assert len(release.leaves) > 1
            found = frame.select(release.to_spark().alias("answer")).toArrow().column("answer").to_pylist()
            assert found == release.predict(rows).tolist()
        grades = spark.createDataFrame([("0",), ("secret",), (None,)], "grade string")
        release = mined(rows.select(["grade", "sick"]), "memory", privacy=20)
        assert [row.answer for row in grades.select(release.to_spark().alias("answer")).collect()] == release.predict(
            {"grade": ["0", "secret", None]}, unknown="ancestor"
        ).tolist()
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


def test_what_spark_takes_otherwise(spark: Any, tmp_path: Path) -> None:
    """Row labels of pandas, ${...} in a name, patterns in a path, files of other names, and zones of time."""
    odd = tmp_path / "x[12]"
    odd.mkdir()
    table = people(400).select(["age", "since", "sick"])
    table = table.append_column("${env:HOME}", pa.array(np.arange(400) % 3))
    table = table.append_column("__index_level_0__", pa.array([f"name {i}" for i in range(400)]))
    table = table.append_column("when", pa.array(np.arange(400) % 2 * 10**9, pa.timestamp("us", "Europe/Berlin")))
    pq.write_table(table, odd / "0.parquet")
    pq.write_table(table.slice(0, 50), odd / "1.parq")
    (tmp_path / "x1").mkdir()
    pq.write_table(table.slice(0, 50), tmp_path / "x1" / "0.parquet")
    how = {"privacy": 20, "variant": "id3", "max_depth": 2}
    assert mined(odd, "spark", **how).to_json() == mined(odd, "memory", **how).to_json()


def test_an_audit_that_cannot_be_is_told_as_elsewhere(spark: Any, folder: Path) -> None:
    from pyspark.sql import functions as F

    release = mined(folder, "memory", privacy=40)
    frame = spark.read.parquet(str(folder))
    strange = frame.withColumn("sex", F.when(F.col("age") == 20, F.lit("secret")).otherwise(F.col("sex")))
    for rows, code in ((strange, "unseen-value"), (frame.selectExpr("sex AS name"), "no-column")):
        with pytest.raises(DataError) as refusal:
            audit(release, rows, engine="spark")
        assert refusal.value.code == code
        assert "secret" not in str(refusal.value)
    with pytest.raises(DataError) as refusal:
        mined(frame.selectExpr("*", "age AS AGE"), "spark")
    assert refusal.value.code == "column-twice"


@pytest.mark.parametrize(
    ("kind", "privacy"),
    [(TreeAnonymizer, 40), (TopDownSpecialization, KAnonymity(40) & EntropyDiversity(1.3)), (Mondrian, 40)],
)
def test_tables(spark: Any, folder: Path, tmp_path: Path, kind: Any, privacy: Any) -> None:
    """The same table, audited on the cluster; only its different rows, and the original ones, reach the driver."""
    columns = ["age", "sex", "edu", "member", "sick"]
    frame = spark.read.parquet(str(folder)).select(*columns).repartition(3)
    rows = read_table(folder).select(columns)
    options = {"privacy": privacy, "public": columns[:-1]}
    found = kind(engine="spark", **options).fit(frame, "sick").release_
    wanted = kind(reproducible=True, **options).fit(rows, "sick").release_
    assert found.to_json() == wanted.to_json()
    assert found.verdict == wanted.verdict
    assert audit(wanted, frame, engine="spark").to_json() == audit(wanted, rows).to_json()
    found.save(tmp_path / "table.json")
    assert load(tmp_path / "table.json").to_csv() == wanted.to_csv()


def test_different_rows_and_how_many_there_are(spark: Any, folder: Path) -> None:
    with SparkRows(folder) as rows:
        columns = rows.count(["sex", "edu", "sick"], coarse=[], people=1, max_codes=10)
        asked = columns.like([columns["sex"], columns["edu"]])
        found = rows.grouped(asked, 100)
        with pytest.raises(DataError, match="more than 3 different rows"):
            rows.grouped(asked, 3)
    table = read_table(folder)
    pairs, wanted = np.unique(np.stack([table["sex"].codes, table["edu"].codes]), axis=1, return_counts=True)
    ours = np.stack([found["sex"].codes, found["edu"].codes])
    assert {tuple(pair): int(m) for pair, m in zip(ours.T.tolist(), found.times, strict=True)} == {
        tuple(pair): int(m) for pair, m in zip(pairs.T.tolist(), wanted, strict=True)
    }


# ---------------------------------------------------------------------- faults


def test_a_killed_worker_changes_nothing(
    spark: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = str(tmp_path / "killed")

    class Dies(Count):
        def run(self, blocks: Any) -> Any:
            for number, batch in enumerate(Count.run(self, blocks)):
                if not os.path.exists(marker):  # the first of all tasks, in the middle of its work
                    open(marker, "w").close()
                    os.kill(os.getpid(), signal.SIGKILL)
                assert number == 0
                yield batch

    monkeypatch.setattr(spark_engine, "Count", Dies)
    ours = mined(folder, "spark", **MANNERS["id3"])
    assert os.path.exists(marker)
    assert ours.to_json() == mined(folder, "memory", **MANNERS["id3"]).to_json()


def test_a_cancelled_fit_is_one_clear_error(spark: Any, folder: Path) -> None:
    done = threading.Event()

    def cancel() -> None:
        while not done.wait(0.02):
            spark.sparkContext.cancelAllJobs()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    tree = AnonymousTreeClassifier(40, engine="spark")
    try:
        with pytest.raises(DataError, match="Spark did not finish a job") as refusal:
            tree.fit(folder, "sick")
    finally:
        done.set()
        canceller.join()
    assert refusal.value.code == "spark-failed"
    assert refusal.value.__cause__ is None
    assert not hasattr(tree, "release_")
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == 0
    assert spark.range(3).count() == 3


def test_a_type_that_changes_between_files(spark: Any, tmp_path: Path) -> None:
    table = people(50)
    pq.write_table(table, tmp_path / "0.parquet")
    other = table.set_column(0, "age", pa.array([f"secret {n}" for n in range(50)]))
    pq.write_table(other, tmp_path / "1.parquet")
    with pytest.raises(DataError, match="different types") as refusal:
        mined(tmp_path, "spark")
    assert refusal.value.code == "schema-differs"
    assert "secret" not in str(refusal.value)


def test_an_error_of_a_row_shows_no_cell(spark: Any, folder: Path) -> None:
    frame = spark.read.parquet(str(folder)).selectExpr(
        "*", "CAST(raise_error(concat('secret ', edu)) AS STRING) AS bad"
    )
    with pytest.raises(DataError) as refusal:
        mined(frame, "spark")
    assert refusal.value.code == "spark-failed"
    assert "secret" not in str(refusal.value)


def test_rows_that_are_others_every_time(spark: Any, folder: Path) -> None:
    def draws(batches: Any) -> Any:
        for batch in batches:
            new = np.random.default_rng().random(batch.num_rows)
            yield pa.record_batch([batch.column("sick"), pa.array(new)], names=["sick", "new"])

    frame = spark.read.parquet(str(folder)).coalesce(1).mapInArrow(draws, "sick string, new double")
    with pytest.raises(DataError) as refusal:
        mined(frame, "spark")
    assert refusal.value.code == "spark-failed"


def test_refusals(spark: Any, folder: Path, tmp_path: Path) -> None:
    for rows, code in (
        (people(50), "spark-source"),
        ("no_such_table", "no-file"),
        (tmp_path / "no", "no-file"),
        (spark.read.parquet(str(folder)).selectExpr("sick", "array(age) AS ages"), "unsupported-column"),
        (spark.read.parquet(str(folder)).selectExpr("sick", "1 / CAST(age - age AS DOUBLE) AS high"), "spark-failed"),
        (spark.read.parquet(str(folder)).filter("age < 0"), "no-rows"),
        (spark.read.parquet(str(folder)).selectExpr("sick", "DOUBLE('inf') AS high"), "not-finite"),
    ):
        with pytest.raises(DataError) as refusal:
            mined(rows, "spark")
        assert refusal.value.code == code


def test_blocks_are_small(spark: Any, folder: Path) -> None:
    """What the cluster keeps: a byte or two a cell."""
    with SparkRows(folder) as rows:
        rows.count(["age", "sex", "sick"], coarse=[], people=1, max_codes=10)
        found = rows._coded.found(Sizes(), "n int, bytes int")
    assert sum(found.column("n").to_pylist()) == 8000
    assert sum(found.column("bytes").to_pylist()) == 3 * 8000


class Sizes:
    """How many rows and bytes there are; it is handed to workers with all it needs."""

    def run(self, blocks: Any) -> Any:
        found: list[Block] = list(blocks)
        rows, size = sum(len(block[0]) for block in found), sum(sum(c.nbytes for c in block) for block in found)
        yield pa.record_batch([pa.array([rows], pa.int32()), pa.array([size], pa.int32())], names=["n", "bytes"])


STOPPED = """
import threading, sys
from shoal import AnonymousTreeClassifier, DataError
from shoal.data import spark_session
spark_session.MASTER = "local[1]"
session = spark_session.spark_session()
frame = session.read.parquet(sys.argv[1])
threading.Timer(0.5, session.stop).start()
try:
    while True:  # until it is stopped in the middle of one
        AnonymousTreeClassifier(40, engine="spark").fit(frame, "sick")
except DataError as error:
    print(error.code, error)
"""


def test_a_session_that_is_stopped_is_one_clear_error(folder: Path, tmp_path: Path) -> None:
    """In a process of its own: there is no session after it."""
    command = [sys.executable, "-W", "ignore", "-c", STOPPED, str(folder)]
    quick = {**os.environ, "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=quick, cwd=tmp_path)
    assert done.stdout.startswith("spark-failed Spark did not finish a job")
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []  # no folder for tables
