# SPDX-License-Identifier: Apache-2.0
"""Files into a table."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data import sniff
from shoal.data.read import read_table
from shoal.data.table import Column, Table
from shoal.errors import DataError

CANARY = "canary-73519"
DATA = Path(os.environ.get("SHOAL_DATA", "no-data-here"))
SMALL = sorted(path for path in DATA.glob("*.csv*") if path.stat().st_size < 1_000_000)


def decode(column: Column) -> list[Any]:
    cells = [*column.values, None]
    return [cells[code] for code in column.codes.tolist()]


def read(tmp_path: Path, content: str | bytes, name: str = "rows.csv", **options: Any) -> Table:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, **options)


def refusal(tmp_path: Path, content: str | bytes, name: str = "rows.csv", **options: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        read(tmp_path, content, name, **options)
    error = caught.value
    assert CANARY not in str(error)
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None
    return error


ROWS = "age,name,weight\n30,Ann,70.5\n41,Bob,81\n"


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (ROWS.encode(), "rows.csv"),
        (codecs.BOM_UTF8 + ROWS.encode(), "rows.CSV"),
        (ROWS.encode("utf-16"), "rows.csv"),
        (codecs.BOM_UTF16_BE + ROWS.encode("utf-16-be"), "rows.txt"),
        (gzip.compress(ROWS.encode(), mtime=0), "rows.csv.gz"),
        (gzip.compress(ROWS.encode("utf-16"), mtime=0), "rows.txt.gz"),
        (ROWS.replace("\n", "\r\n").encode(), "rows.csv"),
        (ROWS.replace(",", "\t").encode(), "rows.tsv"),
        (ROWS.replace(",", "\t").encode(), "rows.csv"),
        (ROWS.replace(",", "|").encode(), "rows.csv"),
        (ROWS.replace(",", ";").encode(), "rows.csv"),
        (ROWS.replace(",", ";").replace(".", ",").encode(), "rows.csv"),
        (ROWS.replace(",", ", ").encode(), "rows.csv"),
        (ROWS.replace(",", " , ").encode(), "rows.csv"),
        (ROWS.replace("\n", "\n\n").encode(), "rows.csv"),
        (ROWS.removesuffix("\n").encode(), "rows.csv"),
    ],
)
def test_one_table_in_many_forms(tmp_path: Path, content: bytes, name: str) -> None:
    table = read(tmp_path, content, name)
    assert table.names == ["age", "name", "weight"]
    assert [decode(column) for column in table.values()] == [[30, 41], ["Ann", "Bob"], [70.5, 81]]
    assert table["age"].integer


def test_other_encodings(tmp_path: Path) -> None:
    text = "name,größe\nJürgen,1\n€,2\n"
    assert read(tmp_path, text.encode("cp1252"))["name"].names == ("Jürgen", "€")
    assert read(tmp_path, text.encode()).names == ["name", "größe"]
    table = read(tmp_path, "a,b\nд,1\n".encode("koi8-r"), encoding="koi8-r")
    assert table["a"].names == ("д",)
    # a character cut in two by the end of the head
    table = read(tmp_path, "a,b\n" + "é,1\n" * 100_000)
    assert table["a"].names == ("é",)


def test_missing(tmp_path: Path) -> None:
    table = read(tmp_path, "a,b,c,d\n1,x, ?,?\n?,?,2,\n   ?,  ?  ,3,?\n 4,,   ?, \n")
    assert decode(table["a"]) == [1, None, None, 4]
    assert decode(table["b"]) == ["x", None, None, None]
    assert decode(table["c"]) == [None, 2, 3, None]
    assert (decode(table["d"]), table["d"].n_codes) == ([None] * 4, 1)
    table = read(tmp_path, "a,b\nNA,NA\n1,None\n", missing=["NA"])
    assert (decode(table["a"]), decode(table["b"])) == ([None, 1], [None, "None"])
    table = read(tmp_path, "a;b\n  -;1\n 1,5;2\n", missing="-", decimal=",")
    assert decode(table["a"]) == [None, 1.5]
    assert decode(read(tmp_path, "a,b\nNA,?\nnull,nan\n")["a"]) == ["NA", "null"]


def test_names_that_look_like_numbers(tmp_path: Path) -> None:
    text = "zip,n,mixed,clock,hex,flag,day\n01234,1,007,12:30,0x10,true,2021-03-04\n91234,02,12,08:00,0x1F,false,?\n"
    table = read(tmp_path, text)
    assert decode(table["zip"]) == ["01234", "91234"]
    assert decode(table["n"]) == [1, 2]
    assert decode(table["mixed"]) == [7, 12]
    assert decode(table["clock"]) == ["12:30", "08:00"]
    assert decode(table["hex"]) == ["0x10", "0x1F"]
    assert decode(table["flag"]) == ["true", "false"]
    assert decode(table["day"]) == ["2021-03-04", None]
    table = read(tmp_path, text, kinds={"zip": "numeric", "n": "categorical", "mixed": "categorical"})
    assert decode(table["zip"]) == [1234, 91234]
    assert (decode(table["n"]), table["n"].labels) == (["1", "02"], "string")
    assert decode(table["mixed"]) == ["007", "12"]
    column = read(tmp_path, "a,b\n10,0\n-2,?\n", kinds={"a": "categorical", "b": "categorical"})
    assert (decode(column["a"]), column["a"].labels) == (["10", "-2"], "integer")
    assert (decode(column["b"]), column["b"].labels) == (["0", None], "integer")


def test_decimal_comma(tmp_path: Path) -> None:
    assert decode(read(tmp_path, "a\tb\n1,5\tx\n2,25\ty\n")["a"]) == [1.5, 2.25]
    assert decode(read(tmp_path, "a\tb\n1,500\tx\n2,250\ty\n")["a"]) == ["1,500", "2,250"]
    assert decode(read(tmp_path, "a;b\n1,500;x\n2,250;y\n")["a"]) == [1.5, 2.25]
    assert decode(read(tmp_path, "a;b\n1.5;x, y\n2.25;z\n")["a"]) == [1.5, 2.25]
    assert decode(read(tmp_path, "a;b\n1,5;x\n", decimal=".")["a"]) == ["1,5"]


def test_quotes(tmp_path: Path) -> None:
    table = read(tmp_path, 'a,"b, c"\n"x, ""y""\nz",1\n"q;r;s",2\n')
    assert table.names == ["a", "b, c"]
    assert decode(table["a"]) == ['x, "y"\nz', "q;r;s"]
    table = read(tmp_path, "a,b\n'x,y',1\n", quote="'")
    assert decode(table["a"]) == ["x,y"]
    table = read(tmp_path, 'a,b\n"x,1\n', quote=None)
    assert decode(table["a"]) == ['"x']
    # quoted line ends everywhere, also where the reader cuts the file in blocks
    text = "a,b\n" + "".join(f'"line\n{i % 7} of a value that is rather long",{i % 5}\n' for i in range(150_000))
    table = read(tmp_path, text)
    assert (table.n_rows, table["a"].n_codes, table["b"].n_codes) == (150_000, 7, 5)


def test_types_that_change_after_the_head(tmp_path: Path) -> None:
    text = "a,b,c\n" + "1,2,?\n" * 400_000 + "2.5,word,true\n"
    table = read(tmp_path, text)
    assert table["a"].numbers.tolist() == [1, 2.5]
    assert table["b"].names == ("2", "word")
    assert table["c"].names == ("true",)


def test_delimiter_is_seen_through_quotes(tmp_path: Path) -> None:
    table = read(tmp_path, '"a,a";b\n"1,2,3";x\n"4;5,6,7";y\n')
    assert table.names == ["a,a", "b"]
    assert read(tmp_path, "only\nx\ny\n").names == ["only"]
    assert read(tmp_path, "a b,c:d\n1 2,3:4\n", delimiter=":").names == ["a b,c", "d"]


def test_columns_and_pandas_index(tmp_path: Path) -> None:
    assert read(tmp_path, ROWS, columns=["weight", "age"]).names == ["weight", "age"]
    assert read(tmp_path, ROWS.replace(",", " ,"), columns=["weight", "age"]).names == ["weight", "age"]
    table = pa.table({"a": [1, 2], "__index_level_0__": ["x", "y"], "b.c": ["u", "v"]})
    pq.write_table(table, tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").names == ["a", "b.c"]
    assert read_table(os.fspath(tmp_path / "t.parquet"), columns=["b.c"]).names == ["b.c"]


cells = st.one_of(st.none(), st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=3))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(cells, st.one_of(st.none(), st.integers(-99, 99))), min_size=1),
    st.sampled_from(sniff.DELIMITERS),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_round_trip(rows: list[tuple[str | None, int | None]], delimiter: str, encoding: str) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(["text column", "number"])
    writer.writerows([["?" if cell is None else cell for cell in row] for row in rows])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        path.write_bytes(buffer.getvalue().encode(encoding))
        table = read_table(path, kinds={"text column": "categorical", "number": "numeric"})
    assert decode(table["text column"]) == [None if text == "?" else text for text, _ in rows]
    assert decode(table["number"]) == [number for _, number in rows]


def test_parquet_row_groups_with_their_own_dictionaries(tmp_path: Path) -> None:
    cells = ["b", "a", None, "z", "y", "z", "a", "?", "c"]
    table = pa.table(
        {
            "s": cells,
            "d": pa.array(cells).dictionary_encode(),
            "i": pa.array([1, 2, None] * 3, pa.int8()),
            "big": pa.array(cells, pa.large_string()),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=2)
    read = read_table(tmp_path / "t.parquet")
    expected = [None if cell == "?" else cell for cell in cells]
    for name in ("s", "d", "big"):
        assert decode(read[name]) == expected
        assert read[name].names == ("a", "b", "c", "y", "z")
    assert decode(read["i"]) == [1, 2, None] * 3
    assert decode(read_table(tmp_path / "t.parquet", kinds={"i": "categorical"})["i"]) == ["1", "2", None] * 3
    for suffix in (".arrow", ".ipc", ".feather"):
        path = tmp_path / f"t{suffix}"
        if suffix == ".feather":
            pyarrow.feather.write_feather(table, path, chunksize=2)
        else:
            sink = pa.ipc.new_file if suffix == ".arrow" else pa.ipc.new_stream
            with sink(path, table.schema) as writer:
                writer.write_table(table, max_chunksize=4)
        assert decode(read_table(path)["s"]) == expected


def test_parquet_folder(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    error = refusal_of(folder)
    assert (error.code, "no .parquet files" in str(error)) == ("no-file", True)
    pq.write_table(pa.table({"a": ["x", "y"], "n": pa.array([1, 2], pa.int32())}), folder / "p1.parquet")
    pq.write_table(pa.table({"a": ["z", "y"], "n": pa.array([3, 4], pa.int64())}), folder / "p2.parquet")
    (folder / "_SUCCESS").touch()
    table = read_table(folder)
    assert decode(table["a"]) == ["x", "y", "z", "y"]
    assert decode(table["n"]) == [1, 2, 3, 4]
    pq.write_table(pa.table({"a": ["z"], "n": [CANARY]}), folder / "p3.parquet")
    assert refusal_of(folder).code == "schema-differs"
    pq.write_table(pa.table({"a": ["z"], "m": [CANARY]}), folder / "p3.parquet")
    assert refusal_of(folder).code == "schema-differs"


def refusal_of(path: Path | str, **options: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        read_table(path, **options)
    assert CANARY not in str(caught.value)
    assert repr(str(path)) in str(caught.value)
    assert caught.value.__cause__ is None
    return caught.value


WIDE = "a,b\n" + f"{CANARY},1\n" * 60_000
assert len(WIDE) > 2 * sniff.HEAD_BYTES


@pytest.mark.parametrize(
    ("content", "name", "code", "words"),
    [
        ("", "rows.csv", "empty-file", "is empty"),
        ("\n \n", "rows.csv", "empty-file", "is empty"),
        ("a,b\n", "rows.csv", "no-rows", "no rows"),
        ("a,b", "rows.csv", "no-rows", "no rows"),
        (f"a,b\n1,2\n{CANARY}\n3,4\n5,6,{CANARY}\n", "rows.csv", "ragged-line", "2 row(s)"),
        (f"a,b\n1,2\n{CANARY}\n3,4\n", "rows.csv", "ragged-line", "first is row 3"),
        (WIDE + f"{CANARY}\n", "rows.csv", "ragged-line", "first is row 60002"),
        (f'a,b\n1,2\n"{CANARY},4\n', "rows.csv", "ragged-line", "2 values"),
        (f"a,b, a\n1,{CANARY},3\n", "rows.csv", "column-twice", "'a'"),
        (f"a,,c\n1,{CANARY},3\n", "rows.csv", "unnamed-column", "Column(s) 2"),
        (f"39,{CANARY},1.5\n40,{CANARY},2\n39,x,1\n", "rows.csv", "no-header", "first line"),
        ("5.1,3.5,7351\n4.9,3.0,0.2\n", "rows.csv", "no-header", "first line"),
        (b"a,b\n\x00\x01\x02,1\n", "rows.csv", "binary-file", "no text file"),
        (b"PAR1\x15\x04" + bytes(range(256)), "rows.csv", "binary-file", "no text file"),
        (b"a,b\n\x81\x8d,1\n", "rows.csv", "undecodable", "utf-8"),
        (WIDE.encode() + b"\xff,1\n", "rows.csv", "undecodable", "utf-8"),
        (WIDE.encode("cp1252") + b"\xfc,1\n", "rows.txt", "undecodable", "utf-8"),
        (b"a,b\n\xfc,1\n" + WIDE[4:].encode() + b"\x81,1\n", "rows.csv", "undecodable", "cp1252"),
        (b"a,b\n1,2\n", "rows.csv.gz", "damaged-file", "gzip"),
        (gzip.compress(WIDE.encode(), mtime=0)[:-20], "rows.csv.gz", "damaged-file", "rows.csv.gz"),
        (b"a,b\n1,2\n", "rows.xlsx", "unknown-format", "suffix"),
        (b"a,b\n1,2\n", "rows", "unknown-format", "suffix"),
        (b"a,b\n1,2\n", "rows.parquet.gz", "unknown-format", "suffix"),
        (CANARY, "rows.parquet", "damaged-file", "Parquet"),
        (CANARY, "rows.feather", "damaged-file", "Arrow"),
        (b"", "rows.arrow", "damaged-file", "Arrow"),
        (f"a,b\n1,{CANARY}\ninf,2\n", "rows.csv", "not-finite", "'a' has 1 infinite"),
    ],
)
def test_refusals(tmp_path: Path, content: str | bytes, name: str, code: str, words: str) -> None:
    error = refusal(tmp_path, content, name)
    assert error.code == code
    assert words in str(error)
    assert name in str(error) or code == "not-finite"


def test_refusals_of_options(tmp_path: Path) -> None:
    error = refusal(tmp_path, ROWS, kinds={"wieght": "numeric"})
    assert (error.code, "Closest: 'weight'" in str(error)) == ("no-column", True)
    error = refusal(tmp_path, ROWS, columns=["agee"])
    assert (error.code, "Closest: 'age'" in str(error)) == ("no-column", True)
    assert refusal(tmp_path, ROWS, columns=["age", "age"]).code == "column-twice"
    assert refusal(tmp_path, ROWS, delimiter="::").code == "csv-option"
    assert refusal(tmp_path, ROWS, encoding="no-such").code == "unknown-encoding"
    assert refusal(tmp_path, "a,b\né,1\n".encode("cp1252"), encoding="utf-8").code == "undecodable"
    error = refusal(tmp_path, f"a,b\n{CANARY},1\n2,2\n", kinds={"a": "numeric"})
    assert (error.code, "1 of its cells" in str(error)) == ("not-numeric", True)
    assert refusal(tmp_path, ROWS, kinds={"age": "nominal"}).code == "unknown-kind"


def test_the_file_is_named_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = refusal_of("nowhere.csv")
    assert error.code == "no-file"
    assert str(tmp_path) not in str(error)


def test_numbers_as_names(tmp_path: Path) -> None:
    assert read(tmp_path, "0,1,2\n5,6,7\n").names == ["0", "1", "2"]
    assert read(tmp_path, "2019,2020\n5,6\n").names == ["2019", "2020"]


@pytest.mark.skipif(not SMALL, reason="SHOAL_DATA is not set: the shared data sets are not here")
@pytest.mark.parametrize("file", SMALL, ids=lambda path: path.name)
def test_benchmark_data(file: Path) -> None:
    table = read_table(file)
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
        rows = list(csv.reader(lines))
    assert table.names == rows[0]
    assert table.n_rows == len(rows) - 1
    for name, column in zip(rows[0], zip(*rows[1:], strict=True), strict=True):
        gaps = np.array([cell.strip() in ("?", "") for cell in column])
        assert np.array_equal(table[name].codes == len(table[name].values), gaps)
        if table[name].kind == "categorical":
            assert decode(table[name]) == [
                None if gap else cell.strip() for gap, cell in zip(gaps, column, strict=True)
            ]
        else:
            assert decode(table[name]) == [None if gap else float(cell) for gap, cell in zip(gaps, column, strict=True)]
