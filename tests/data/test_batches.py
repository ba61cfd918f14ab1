# SPDX-License-Identifier: Apache-2.0
"""Rows read in batches make the same table as rows read at once, from every kind of source."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from shoal import AnonymousTreeClassifier, DataError, read_table, to_table
from shoal.cli import run
from shoal.data.coded import CodedRows, read_rows
from shoal.data.disk import Spill
from shoal.data.query import Query
from shoal.data.sources import open_source
from shoal.data.table import Table
from shoal.engines.stream import StreamRows

CANARY = "canary-4711"
N = 2500


def _people() -> pa.Table:
    rng = np.random.default_rng(11)
    some = rng.random(N) < 0.1
    return pa.table(
        {
            "age": pa.array(rng.integers(-5, 90, N), pa.int16(), mask=some),
            "pay": pa.array(np.round(rng.normal(0, 100, N), 1)),
            "exact": pa.array(rng.normal(0, 1, N), mask=some),
            "job": pa.array(rng.choice(["cook", "nurse", "?", "smith"], N).tolist()),
            "born": pa.array([date(1980, 1, 1 + i % 28) for i in range(N)]),
            "seen": pa.array([datetime(2020, 1, 1, 0, 0, i % 60 if i > 2000 else 0) for i in range(N)]),
            "smokes": pa.array(rng.random(N) < 0.5),
            "nothing": pa.nulls(N),
            "sick": pa.array(rng.choice(["no", "yes"], N).tolist()),
        }
    )


def _same(batched: Table, whole: Table) -> None:
    assert batched.names == whole.names
    for name, column in whole.items():
        other = batched[name]
        assert (other.kind, other.missing, other.integer, other.labels) == (
            column.kind,
            column.missing,
            column.integer,
            column.labels,
        ), name
        assert list(other.values) == list(column.values), name
        assert other.codes.tolist() == column.codes.tolist(), name


def _in_batches(source: Any, **how: Any) -> Table:
    opened = open_source(source, **how)
    with CodedRows(opened, opened.names, batch=400) as rows:
        for column in rows.columns.values():
            assert column.weights is not None
            assert column.weights.sum() == N
        pieces = list(rows.tables(rows.columns))
        assert len(pieces) > 3
        return Table(
            _replaced(column, np.concatenate([piece[name].codes for piece in pieces]))
            for name, column in pieces[0].items()
        )


def _replaced(column: Any, codes: Any) -> Any:
    from dataclasses import replace

    return replace(column, codes=codes)


def test_parquet_arrow_and_datasets(tmp_path: Path) -> None:
    people = _people()
    pq.write_table(people, tmp_path / "people.parquet", row_group_size=700)
    feather.write_feather(people, tmp_path / "people.feather", chunksize=600)
    folder = tmp_path / "parts"
    folder.mkdir()
    for first in range(0, N, 900):
        pq.write_table(people.slice(first, 900), folder / f"{first:05d}.parquet")
    for path in (tmp_path / "people.parquet", tmp_path / "people.feather", folder):
        _same(_in_batches(path), read_table(path))
    _same(_in_batches(pads.dataset(folder)), to_table(people))
    _same(to_table(pads.dataset(folder)), to_table(people))
    _same(_in_batches(to_table(people)), to_table(people))
    kinds = {"age": "categorical", "pay": "categorical", "job": "categorical"}
    _same(_in_batches(folder, kinds=kinds), read_table(folder, kinds=kinds))


@pytest.mark.parametrize("late", ["", "x7", "2.5", " 9 ", '"two\nlines"'])
def test_a_text_file_whose_last_cells_are_of_another_type(tmp_path: Path, late: str) -> None:
    """Types are those that fit the whole file, and it does not matter that batches are read before it ends."""
    days = [f"2020-01-{1 + i % 28:02d}" for i in range(N)]
    lines = [f"{i % 50},{i % 7 / 2},0{i % 10}1,{'?' if i % 9 else 3},{days[i]},s{i % 3}" for i in range(N)]
    lines[-1] = f"{late or 1},{late or 1},{late or '001'},{late or 3},{late or '2020-01-01'},{late or 's1'}"
    path = tmp_path / "people.csv"
    path.write_text("age,pay,zip,gaps,day,job\n" + "\n".join(lines) + "\n")
    opened = open_source(path)
    opened._file.layout = _small_blocks(opened._file.layout)  # so that there is more than one
    _same(_in_batches(opened), read_table(path))


def _small_blocks(layout: Any) -> Any:
    def small(**how: Any) -> Any:
        reading, parsing = layout(**how)
        reading.block_size = 6000
        return reading, parsing

    return small


def test_a_column_that_changes_its_type_between_files(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 2], "b": [1, 2]}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"a": [1, 2], "b": [CANARY, "y"]}), tmp_path / "1.parquet")
    with pytest.raises(DataError, match="Column 'b' has different types in the files") as refusal:
        open_source(tmp_path)
    assert CANARY not in str(refusal.value)
    pq.write_table(pa.table({"a": pa.array([1.5, 2]), "b": pa.nulls(2)}), tmp_path / "1.parquet")
    opened = open_source(tmp_path)
    with CodedRows(opened, opened.names) as rows:  # as when read at once: numbers are numbers, and nothing is missing
        assert rows.columns["a"].numbers.tolist() == [1, 1.5, 2]
        assert rows.columns["b"].missing
    pq.write_table(pa.table({"a": pa.array(["x"]).dictionary_encode(), "b": pa.array(["u"])}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"a": pa.array(["y"]), "b": pa.array(["v"], pa.large_string())}), tmp_path / "1.parquet")
    opened = open_source(tmp_path)
    with CodedRows(opened, opened.names) as rows:
        assert [column.names for column in rows.columns.values()] == [("x", "y"), ("u", "v")]


def test_only_what_is_asked_for_is_read(tmp_path: Path) -> None:
    people = _people().append_column("name", pa.array([[CANARY]] * N))  # lists cannot be read
    pq.write_table(people, tmp_path / "people.parquet")
    tree = AnonymousTreeClassifier(20, public=["age", "pay"], engine="stream")
    with pytest.raises(DataError, match="'name' holds"):
        tree.fit(tmp_path / "people.parquet", "sick")
    opened = open_source(tmp_path / "people.parquet")
    opened.drop(["name", "nothing", "exact"])
    assert tree.set_params(public=None).fit(opened, "sick").release_.verdict is not None


# ---------------------------------------------------------------- faults


def _no_room(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    write, written = os.pwrite, [0]

    def full(fd: int, data: Any, place: int) -> int:
        written[0] += len(data)
        if written[0] > after:
            raise OSError(28, "No space left on device")
        return write(fd, data, place)

    monkeypatch.setattr(os, "pwrite", full)


@pytest.mark.parametrize("after", [0, 5_000, 40_000, 80_000])
def test_a_full_disk_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "work"))
    (tmp_path / "work").mkdir()
    pq.write_table(_people().drop(["nothing"]), tmp_path / "people.parquet")
    opened = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    _no_room(monkeypatch, after)
    # more rows than a chunk, so that the tree is grown on disk too
    monkeypatch.setattr("shoal.trees.classifier.open_rows", lambda _, source: StreamRows(source, chunk=100))
    with pytest.raises(DataError, match="no room left for temporary files") as refusal:
        AnonymousTreeClassifier(20, engine="stream").fit(tmp_path / "people.parquet", "sick")
    assert refusal.value.code == "disk-full"
    assert list((tmp_path / "work").iterdir()) == []
    if opened:
        assert len(os.listdir("/proc/self/fd")) == opened


def test_a_disk_that_is_full_in_earnest(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    script = """
        import resource, numpy as np
        from shoal.data.disk import Spill
        from shoal.errors import DataError
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        with Spill() as spill:
            try:
                spill.append(np.zeros(2000, dtype=np.uint8))
            except DataError as error:
                print(error.code)
    """
    assert resource
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert done.stdout == "disk-full\n", done.stderr


def test_stopped_in_the_middle_nothing_is_left(tmp_path: Path) -> None:
    """Ctrl-C, and the same where not even Python may clean up."""
    work = tmp_path / "work"
    work.mkdir()
    script = """
        import sys, time
        import pyarrow as pa
        import pyarrow.dataset as pads
        from shoal import AnonymousTreeClassifier
        from shoal.data import sources

        read = sources._Dataset.batches
        def slowly(self, names, rows):
            for number, batch in enumerate(read(self, names, 10)):
                yield batch
                if number == 5:
                    print("reading", flush=True)
                    time.sleep(60)
        sources._Dataset.batches = slowly
        table = pa.table({"a": list(range(100)), "t": ["x", "y"] * 50})
        AnonymousTreeClassifier(5, engine="stream").fit(pads.dataset(table), "t")
    """
    children = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(work)},
        )
        for _ in range(2)
    ]
    for child, stop in zip(children, (signal.SIGINT, signal.SIGKILL), strict=True):
        assert child.stdout is not None
        assert child.stdout.readline() == "reading\n"
        child.send_signal(stop)
        child.communicate(timeout=30)
        assert child.returncode != 0
    assert list(work.iterdir()) == []


def test_what_was_written_is_read_again() -> None:
    with Spill() as spill:
        first = spill.append(np.arange(1000, dtype=np.int32))
        second = spill.append(np.empty(0, dtype=np.float64))
        assert spill.read(first, 1000, np.int32).tolist() == list(range(1000))
        assert spill.read(second, 0, np.float64).tolist() == []
        with pytest.raises(DataError, match="ends too early"):
            spill.read(second, 1, np.float64)


def test_a_file_that_changes_after_it_was_opened(tmp_path: Path) -> None:
    table = pa.table({"day": pa.array(np.array(["2020-01-01"] * N, dtype="datetime64[D]")), "t": ["a"] * N})
    pq.write_table(table, tmp_path / "people.parquet")
    source = open_source(tmp_path / "people.parquet")
    pq.write_table(table.set_column(0, "day", pa.array([CANARY] * N)), tmp_path / "people.parquet")
    with pytest.raises(DataError, match="was changed while it was read") as refusal:
        read_rows(source)
    assert CANARY not in str(refusal.value)


def test_a_dictionary_of_numbers_is_of_categories_in_batches_too() -> None:
    table = pa.table({"g": pa.array(np.arange(N) % 7).dictionary_encode(), "n": np.arange(N) % 3})
    _same(_in_batches(table), to_table(table))


# ---------------------------------------------------------------- databases


def test_duckdb(tmp_path: Path) -> None:
    people = _people().drop(["nothing"])
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.register("given", people)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    query = Query(f"duckdb:{tmp_path / 'clinic.duckdb'}", "SELECT * FROM people;")
    _same(_in_batches(query), to_table(people))
    assert str(tmp_path) not in repr(query)
    with pytest.raises(DataError, match="did not answer the query to its end") as refusal:
        to_table(Query(f"duckdb:{tmp_path / 'clinic.duckdb'}", f"SELECT '{CANARY}'::INT AS a"))
    assert CANARY not in str(refusal.value)
    late = f"SELECT CAST(CASE WHEN i = 299999 THEN '{CANARY}' ELSE i::VARCHAR END AS INT) AS a FROM range(300000) t(i)"
    with pytest.raises(DataError, match="did not answer the query to its end") as refusal:
        _in_batches(Query("duckdb:", late))
    assert CANARY not in str(refusal.value)
    with pytest.raises(DataError, match="cannot be opened"):
        to_table(Query(f"duckdb:{tmp_path / 'nowhere' / 'x.duckdb'}", "SELECT 1 AS a"))
    pq.write_table(people, tmp_path / "people.parquet")
    _same(to_table(Query("duckdb:", f"SELECT * FROM '{tmp_path / 'people.parquet'}'")), to_table(people))


@pytest.mark.parametrize(
    ("source", "sql", "code"),
    [
        ("mysql://x", "SELECT 1", "database"),
        ("postgresql://h/d", "  ", "no-query"),
        (f"postgresql://me:{CANARY}@h/d", "SELECT 1", "password-in-source"),
        (f"postgresql://h/d?user=me&password={CANARY}", "SELECT 1", "password-in-source"),
        (f"postgresql://me:{CANARY}@[h/d", "SELECT 1", "password-in-source"),
        (f"postgresql://h/d?sslpassword={CANARY}", "SELECT 1", "password-in-source"),
        (f"postgresql://h/d?pass%77ord={CANARY}", "SELECT 1", "password-in-source"),
        (f"duckdb:md:d?motherduck_token={CANARY}", "SELECT 1", "password-in-source"),
    ],
)
def test_queries_that_are_refused(source: str, sql: str, code: str) -> None:
    with pytest.raises(DataError) as refusal:
        Query(source, sql)
    assert refusal.value.code == code
    assert CANARY not in str(refusal.value)


PROJECT = """
[data]
source = "{source}"
query = "SELECT * FROM people"
[roles]
identifier = ["name"]
target = "sick"
[privacy]
k = 50
"""


@pytest.mark.parametrize("toml", ["query = 'SELECT 1'", "source = 'postgresql://h/d'"])
def test_a_database_and_a_query_belong_together(tmp_path: Path, toml: str, capsys: Any) -> None:
    (tmp_path / "shoal.toml").write_text(f"[data]\n{toml}\n")
    assert run(["describe", "--config", str(tmp_path / "shoal.toml")]) == 1
    assert "needs" in capsys.readouterr().err


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A server of our own: the environment that leads to it."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = str(programs[-1]) if programs else shutil.which("initdb")
    if initdb is None:
        pytest.skip("PostgreSQL's server programs are not installed")
    user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
    if user and shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL refuses to run as root, and there is no setpriv")
    home = Path(subprocess.check_output(["mktemp", "-d"], text=True).strip())
    home.chmod(0o777)
    (home / "password").write_text("open-sesame-1")
    (home / "password").chmod(0o644)

    def start(*command: str) -> None:
        done = subprocess.run([*user, *command], capture_output=True, text=True, cwd=home)
        if done.returncode:
            pytest.skip(f"PostgreSQL does not start here: {done.stderr.strip()[-200:]}")

    ctl = str(Path(initdb).with_name("pg_ctl"))
    try:
        start(initdb, "-D", str(home / "data"), "-U", "keeper", "-A", "scram-sha-256", f"--pwfile={home / 'password'}")
        start(
            ctl,
            "-D",
            str(home / "data"),
            "-w",
            "-l",
            str(home / "log"),
            "-o",
            f"-k {home} -c listen_addresses=''",
            "start",
        )
        try:
            yield {"PGHOST": str(home), "PGUSER": "keeper", "PGPASSWORD": "open-sesame-1", "PGDATABASE": "postgres"}
        finally:
            start(ctl, "-D", str(home / "data"), "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home)


@pytest.fixture
def server(postgresql: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    for name, value in postgresql.items():
        monkeypatch.setenv(name, value)
    return postgresql


def test_postgresql(server: dict[str, str], tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    from adbc_driver_postgresql import dbapi

    people = _people().drop(["nothing", "seen"]).append_column("name", pa.array([f"{CANARY}-{i}" for i in range(N)]))
    with dbapi.connect("postgresql://") as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("people", people, mode="create")
        cursor.execute("CREATE VIEW exact AS SELECT pay::numeric(10, 2) AS pay, age FROM people")
        connection.commit()
    query = Query("postgresql://", "SELECT * FROM people")
    _same(_in_batches(query), to_table(people))
    assert read_rows(open_source(Query("postgresql://", "SELECT * FROM exact")))["pay"].kind == "numeric"
    late = f"SELECT (CASE WHEN i = 199999 THEN '{CANARY}' ELSE i::text END)::int AS a FROM generate_series(0, 199999) i"
    monkeypatch.setattr("shoal.data.query.BATCH_BYTES", 4096)  # so that many batches come before
    with pytest.raises(DataError, match="did not answer the query to its end") as refusal:
        read_rows(open_source(Query("postgresql://", late)))
    assert CANARY not in str(refusal.value)
    # on the command line: user and password come from the environment, from a service file, or are wrong
    monkeypatch.chdir(tmp_path)
    for name in ("PGHOST", "PGUSER", "PGPASSWORD", "PGDATABASE"):
        monkeypatch.delenv(name)
    service = "[clinic]\nhost={PGHOST}\nuser={PGUSER}\npassword={PGPASSWORD}\ndbname={PGDATABASE}\n"
    (tmp_path / "service.conf").write_text(service.format(**server))
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "service.conf"))
    (tmp_path / "shoal.toml").write_text(PROJECT.format(source="postgresql:///?service=clinic"))
    assert run(["tree", "-o", "memory.json"]) == 0
    assert run(["tree", "-o", "stream.json", "--engine", "stream"]) == 0
    assert run(["audit", "stream.json"]) == 0
    assert Path("memory.json").read_bytes() == Path("stream.json").read_bytes()
    (tmp_path / "service.conf").write_text(service.format(**{**server, "PGPASSWORD": "open-sesame-2"}))
    assert run(["tree", "-o", "none.json", "--engine", "stream"]) == 1
    (tmp_path / "service.conf").write_text(service.format(**server))
    (tmp_path / "shoal.toml").write_text(PROJECT.format(source="postgresql:///?service=clinic").replace("people", "no"))
    assert run(["tree", "-o", "none.json"]) == 1
    told = capfd.readouterr()
    assert "did not answer the query to its end (SQLSTATE 42P01)" in told.err
    assert "cannot be opened" in told.err
    for secret in ("open-sesame", "keeper", CANARY):
        assert secret not in told.out + told.err + Path("stream.json").read_text()
    assert not Path("none.json").exists()
