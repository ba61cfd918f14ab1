# SPDX-License-Identifier: Apache-2.0
"""Tables of rows that are elsewhere: the very release and audit that rows in memory give, whatever the batches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from shoal import Confidence, EntropyDiversity, KAnonymity, audit, load, load_sample, read_table
from shoal.anonymize import Mondrian, TopDownRefinement, TopDownSpecialization, TreeAnonymizer, by_tree, method
from shoal.cli import run
from shoal.data import to_table
from shoal.data.coded import CodedRows
from shoal.data.grouped import LIMIT, Repeated, distinct_rows
from shoal.data.table import Column, Table
from shoal.engines.stream import StreamRows
from shoal.errors import DataError, RequirementError, ShoalError
from shoal.release import rows_file, table_file
from shoal.release.rows_file import write_rows
from shoal.trees import classifier

METHODS = [TopDownSpecialization, TopDownRefinement, Mondrian, TreeAnonymizer]
HIERARCHIES = {
    "none": {},
    "intervals": {"age": {"intervals": [2, 4]}},
    "equal": {"age": {"equal_size": [4, 2]}, "city": {"tree": {"*": {"north": ["a", "b"], "south": ["c", "d"]}}}},
}


@st.composite
def people(draw: st.DrawFn) -> pa.Table:
    """Rows of which many say the same."""
    kinds = draw(st.integers(1, 12))
    row = st.tuples(
        st.integers(0, 9) | st.none(),
        st.sampled_from("abcd"),
        st.sampled_from(["f", "m", None]),
        st.sampled_from([0.5, 1.5, 7.25, 100.0]),
        st.sampled_from(["no", "yes"]),
    )
    rows = draw(st.lists(row, min_size=kinds, max_size=kinds))
    chosen = draw(st.lists(st.integers(0, kinds - 1), min_size=8, max_size=60))
    columns = list(zip(*(rows[i] for i in chosen), strict=True))
    types = [pa.int64(), pa.string(), pa.string(), pa.float64(), pa.string()]
    names = ["age", "city", "sex", "dose", "sick"]
    return pa.table({name: pa.array(each, of) for name, each, of in zip(names, columns, types, strict=True)})


def _in_batches(patch: pytest.MonkeyPatch, batch: int, chunk: int = 9) -> None:
    for module in (method, by_tree, classifier):
        patch.setattr(module, "open_rows", lambda _, source: StreamRows(source, batch=batch, chunk=chunk))


def _made(kind: Any, rows: Any, **options: Any) -> Any:
    try:
        release = kind(**options).fit(rows, "sick").release_
    except ShoalError as refusal:
        return str(refusal)
    return release.to_json(), release.verdict, release.to_csv()


@given(
    people(),
    st.sampled_from(METHODS),
    st.sampled_from([KAnonymity(2), KAnonymity(4), KAnonymity(2) & EntropyDiversity(1.5), Confidence(0.8)]),
    st.sampled_from(sorted(HIERARCHIES)),
    st.sampled_from([(), ("dose",)]),
    st.sampled_from([1, 7, 100]),
)
@settings(max_examples=80)
def test_the_same_release(
    rows: pa.Table, kind: Any, privacy: Any, which: str, sensitive: tuple[str, ...], batch: int
) -> None:
    options = {
        "privacy": privacy,
        "public": ["age", "city", "sex"],
        "sensitive": sensitive,
        "hierarchies": HIERARCHIES[which],
        "domain": {"city": list("abcd"), "sick": ["no", "yes"]},
    }
    if kind is TopDownSpecialization:
        options |= {"public": ["age", "sex"], "domain": {"city": list("abcd")}, "hierarchies": {}}
    with pytest.MonkeyPatch.context() as patch:
        _in_batches(patch, batch)
        found = _made(kind, pads.dataset(rows), engine="stream", **options)
    assert found == _made(kind, rows, reproducible=True, **options)


@given(people(), st.sampled_from(METHODS), st.sampled_from([1, 5, 100]), st.data())
@settings(max_examples=40)
def test_the_same_audit(rows: pa.Table, kind: Any, batch: int, data: st.DataObject) -> None:
    """Also of other rows than those it was made from, and of an attacker who knows other columns."""
    try:
        release = kind(2, public=["age", "city", "sex"]).fit(rows, "sick").release_
    except ShoalError:
        reject()
    asked = {
        "public": data.draw(st.none() | st.lists(st.sampled_from(["age", "city", "sex", "sick"]), unique=True)),
        "privacy": data.draw(st.sampled_from([None, 3, KAnonymity(2) & EntropyDiversity(1.3)])),
    }
    others = rows.take(data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=70)))

    def told(original: Any, **how: Any) -> Any:
        try:
            verdict = audit(release, original, **asked, **how)
        except ShoalError as refusal:
            return str(refusal)
        return verdict.to_json(), verdict.missing

    for original in (rows, others):
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(CodedRows.__init__.__kwdefaults__, "batch", batch)
            found = told(pads.dataset(original), engine="stream")
        assert found == told(original)


def test_a_release_of_different_rows_is_audited_like_any(tmp_path: Path) -> None:
    rows = load_sample().table.select(["age", "sex", "education", "diabetes"])
    made = Mondrian(100, engine="stream").fit(rows, "diabetes").release_
    made.save(tmp_path / "table.json")
    loaded = load(tmp_path / "table.json")
    assert isinstance(made.rows, Repeated)
    assert made.stored.n_rows < rows.n_rows == made.rows.n_rows == made.n_rows
    for name in made.columns:
        assert made.rows[name].codes.tolist() == loaded.rows[name].codes.tolist()
    assert made.groups.tolist() == loaded.groups.tolist()
    assert str(made) == str(loaded)
    assert made.to_frame().equals(loaded.to_frame())
    assert (
        audit(made, rows).to_json() == audit(loaded, rows).to_json() == audit(loaded, rows, engine="stream").to_json()
    )


@pytest.mark.parametrize("reproducible", [True, False], ids=["sorted", "shuffled"])
def test_a_file_of_many_rows_is_held_as_its_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reproducible: bool
) -> None:
    """In the order of the file, whatever that is, and read a piece at a time."""
    rows = load_sample().table.select(["age", "sex", "diabetes"])
    made = TopDownSpecialization(50, reproducible=reproducible).fit(rows, "diabetes").release_
    made.save(tmp_path / "table.json")
    monkeypatch.setattr(table_file, "MANY", 100)
    monkeypatch.setattr(table_file, "BLOCK", 1000)
    found = load(tmp_path / "table.json")
    assert isinstance(found.rows, Repeated)
    assert (found.stored.n_rows < 1000) == reproducible
    assert found.to_csv() == made.to_csv()
    assert found.to_json() == made.to_json()
    assert audit(found, rows, engine="stream").to_json() == audit(made, rows).to_json()
    text = (tmp_path / "table.csv").read_text()
    (tmp_path / "table.csv").write_text(text.replace("yes", "maybe", 1))
    with pytest.raises(ShoalError, match="its SHA-256 differs"):
        load(tmp_path / "table.json")


ADULT = ["age", "workclass", "education", "race", "sex", "hours-per-week", "native-country"]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (TreeAnonymizer, {"privacy": 50, "max_depth": 6}),
        (TreeAnonymizer, {"privacy": KAnonymity(50) & EntropyDiversity(1.3), "max_leaves": 20}),
        (TopDownSpecialization, {"privacy": 50, "hierarchies": {"age": {"equal_size": [8, 4]}}}),
        (Mondrian, {"privacy": KAnonymity(50) & Confidence(0.9)}),
        (Mondrian, {"privacy": 50, "criterion": "gain", "hierarchies": {"age": {"intervals": [5, 10, 20]}}}),
    ],
    ids=["tree", "diverse tree", "tds", "mondrian", "gain"],
)
def test_adult(kind: Any, options: dict[str, Any], shoal_data: Path, tmp_path: Path) -> None:
    """A folder of Parquet files, and the same rows in memory."""
    table = read_table(shoal_data / "adult_train.csv.gz").select([*ADULT, "relationship", "capital-gain", "income"])
    frame = _arrow(table)
    for number in range(3):
        pq.write_table(frame.slice(number * 12_000, 12_000), tmp_path / f"{number}.parquet")
    options |= {"public": ADULT, "sensitive": ["relationship"] if options["privacy"] != 50 else []}
    with pytest.MonkeyPatch.context() as patch:
        _in_batches(patch, 5000, 20_000)
        found = kind(engine="stream", **options).fit(tmp_path, "income").release_
    wanted = kind(reproducible=True, **options).fit(table, "income").release_
    assert found.to_json() == wanted.to_json()
    assert found.verdict == wanted.verdict
    assert audit(found, tmp_path, engine="stream").to_json() == audit(wanted, table).to_json()


def _arrow(table: Table) -> pa.Table:
    """A table with its values; missing ones are null."""
    columns = {}
    for name, column in table.items():
        values = column.numbers.tolist() if column.kind == "numeric" else list(column.names)
        columns[name] = pa.array([*values, None]).take(pa.array(column.codes))
    return pa.table(columns)


# ---------------------------------------------------------------- different rows


@given(st.lists(st.integers(0, 3), min_size=1, max_size=50), st.integers(1, 9), st.sampled_from([1, 3, 9]))
def test_different_rows(numbers: list[int], batch: int, n_columns: int) -> None:
    """Sorted, each once, with its number; also where codes need several words."""
    rng = np.random.default_rng(len(numbers))
    kinds = rng.integers(0, 2000, (4, n_columns))
    rows = kinds[numbers]
    values = np.arange(2000.0)
    tables = [
        Table(Column(str(i), "numeric", rows[first : first + batch, i], values) for i in range(n_columns))
        for first in range(0, len(rows), batch)
    ]
    found = distinct_rows(tables, most=4)
    assert found.weights is not None
    held = zip(*(found[str(i)].codes.tolist() for i in range(n_columns)), strict=True)
    wanted = Counter(map(tuple, rows.tolist()))
    assert list(zip(held, found.weights.tolist(), strict=True)) == sorted(wanted.items())
    if len(wanted) > 1:
        with pytest.raises(DataError, match="more than"):
            distinct_rows(tables, most=len(wanted) - 1)


# ---------------------------------------------------------------- files


def test_rows_are_written_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = load_sample().table.select(["age", "sex", "diabetes"])
    release = TopDownSpecialization(50, engine="stream").fit(rows, "diabetes").release_
    monkeypatch.setattr(rows_file, "AT_ONCE", 700)
    wanted = release.to_frame("pyarrow", numbers="ends")
    write_rows(release, tmp_path / "rows.parquet", numbers="ends")
    write_rows(release, tmp_path / "rows.csv", numbers="ends")
    assert pq.read_table(tmp_path / "rows.parquet").equals(wanted)
    assert pacsv.read_csv(tmp_path / "rows.csv").to_pylist() == wanted.to_pylist()


def test_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = load_sample().table.select(["age", "sex", "diabetes"])
    release = TopDownSpecialization(50, engine="stream").fit(rows, "diabetes").release_
    monkeypatch.setattr(rows_file, "AT_ONCE", 700)
    full = OSError(28, "No space left on device")
    whole, calls = rows_file.csv_bytes, []

    def fills(table: pa.Table, *, header: bool) -> bytes:
        calls.append(header)
        if len(calls) == 3:
            raise full
        return whole(table, header=header)

    monkeypatch.setattr(rows_file, "csv_bytes", fills)
    (tmp_path / "rows.csv").write_text("before")
    with pytest.raises(ShoalError, match="No space left"):
        write_rows(release, tmp_path / "rows.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
    assert (tmp_path / "rows.csv").read_text() == "before"


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = load_sample().table.select(["age", "sex", "education", "diabetes"])
    pq.write_table(_arrow(rows), tmp_path / "people.parquet")
    given = ["anonymize", str(tmp_path / "people.parquet"), "-k", "50", "--target", "diabetes", "--method"]
    for name in ("tree", "tds", "mondrian"):
        out = [tmp_path / f"{engine}.csv" for engine in ("memory", "stream")]
        assert run([*given, name, "-o", str(out[0]), "--reproducible"]) == 0
        assert run([*given, name, "-o", str(out[1]), "--engine", "stream"]) == 0
        assert out[0].read_bytes() == out[1].read_bytes()
    assert run([*given, "incognito", "--engine", "stream"]) == 1
    assert "Method incognito needs the rows in memory" in capsys.readouterr().err


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("kind", METHODS)
def test_too_many_different_rows(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = to_table({"age": range(200), "dose": [x / 7 for x in range(200)], "sick": ["no", "yes"] * 100})
    monkeypatch.setenv(LIMIT, "50")
    with pytest.raises(DataError, match=r"more than 50 different rows.*'(age|dose)' alone has up to 2\d\d") as refused:
        kind(2, public=["age"], engine="stream").fit(rows, "sick")
    assert refused.value.code == "too-many-groups"
    if kind is not TreeAnonymizer:  # with a hierarchy there are few
        few = rows.drop(["dose"])
        made = kind(2, engine="stream", hierarchies={"age": {"intervals": [10, 20]}}).fit(few, "sick")
        assert made.release_.n_rows == 200
    monkeypatch.setenv(LIMIT, "many")
    with pytest.raises(DataError, match="whole number"):
        kind(2, engine="stream").fit(rows, "sick")


@pytest.mark.parametrize(
    ("kind", "options", "y", "sentence"),
    [
        (Mondrian, {"relaxed": True}, "diabetes", "relaxed cut puts people who say the same on both sides"),
        (Mondrian, {"person": "age"}, "diabetes", "Several rows a person need engine='memory'"),
        (TreeAnonymizer, {"person": "age"}, "diabetes", "Several rows a person need engine='memory'"),
        (TopDownSpecialization, {}, ["no"] * 5000, "name the target's column"),
        (TopDownSpecialization, {"engine": "disk"}, "diabetes", "engine must be one of"),
    ],
)
def test_what_an_engine_cannot_do(kind: Any, options: dict[str, Any], y: Any, sentence: str) -> None:
    rows = load_sample().table.select(["age", "sex", "diabetes"])
    with pytest.raises((DataError, RequirementError), match=sentence):
        kind(50, **{"engine": "stream", **options}).fit(rows, y)


def test_no_rows_are_handed_back() -> None:
    rows = load_sample().table.select(["age", "sex", "diabetes"])
    with pytest.raises(DataError, match="no rows are handed back"):
        Mondrian(50, engine="stream").fit_transform(rows, "diabetes")


def test_the_audit_needs_the_original_rows() -> None:
    rows = load_sample().table.select(["age", "sex", "diabetes"])
    release = Mondrian(50).fit(rows, "diabetes").release_
    with pytest.raises(DataError, match="with the original rows"):
        audit(release, engine="stream")
