# SPDX-License-Identifier: Apache-2.0
"""Data frames, arrays and lists into a table and back."""

from __future__ import annotations

import datetime as dt
import math
import pickle
import subprocess
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data import factorize
from shoal.data.encode import encode
from shoal.data.frames import to_table
from shoal.data.table import Column, Table, smallest_dtype
from shoal.errors import DataError

CANARY = "canary-73519"


def decode(column: Column) -> list[Any]:
    """The cells again, None where missing."""
    cells = [*column.values, None]
    return [cells[code] for code in column.codes.tolist()]


def check(column: Column) -> None:
    """What every column must be."""
    values = list(column.values)
    assert values == sorted(set(values))
    assert column.codes.dtype == smallest_dtype(column.n_codes)
    assert not column.codes.flags.writeable
    assert (column.counts() > 0).all()  # no entry without a row, no missing without a gap
    assert len(column.counts()) == column.n_codes


texts = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=4))
floats = st.one_of(st.none(), st.floats(allow_infinity=False, allow_nan=False))
integers = st.one_of(st.none(), st.integers(-(2**53), 2**53))


@given(st.lists(texts, min_size=1), st.integers(1, 4))
def test_strings_round_trip(cells: list[str | None], n_chunks: int) -> None:
    plain = pa.array(cells, pa.string())
    pieces = [pa.array(cells[i::n_chunks], pa.string()) for i in range(n_chunks)]
    dictionaries = pa.chunked_array([piece.dictionary_encode() for piece in pieces])  # a dictionary each
    for array in (
        plain,
        plain.cast(pa.large_string()),
        plain.cast(pa.string_view()),
        plain.dictionary_encode(),
    ):
        column = encode("c", array)
        check(column)
        assert decode(column) == cells
    column = encode("c", dictionaries)
    check(column)
    assert decode(column) == [cell for i in range(n_chunks) for cell in cells[i::n_chunks]]


@given(st.lists(floats, min_size=1), st.lists(integers, min_size=1))
def test_numbers_round_trip(cells: list[float | None], wholes: list[int | None]) -> None:
    for array, expected in ((pa.array(cells, pa.float64()), cells), (pa.array(wholes, pa.int64()), wholes)):
        column = encode("c", array)
        check(column)
        assert column.kind == "numeric"
        assert decode(column) == expected
    assert encode("c", pa.array(wholes, pa.int64())).integer == any(whole is not None for whole in wholes)


@given(st.sampled_from(["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]), st.data())
def test_every_integer_type(name: str, data: st.DataObject) -> None:
    info = np.iinfo(name)
    edges = st.sampled_from([info.min, info.min + 1, info.max - 1, info.max])
    cells = data.draw(st.lists(st.one_of(st.none(), edges, st.integers(info.min, info.max)), min_size=1))
    column = encode("c", pa.array(cells, pa.type_for_alias(name)))
    assert decode(column) == [None if cell is None else float(cell) for cell in cells]
    column = encode("c", pa.array(cells, pa.type_for_alias(name)), kind="categorical")
    check(column)
    assert column.labels == "integer"
    assert decode(column) == [None if cell is None else str(cell) for cell in cells]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(texts, floats, st.one_of(st.none(), st.booleans())), min_size=1))
def test_frames_round_trip(rows: list[tuple[str | None, float | None, bool | None]]) -> None:
    s, x, b = (list(column) for column in zip(*rows, strict=True))
    frames: list[Any] = [
        pl.DataFrame({"s": s, "x": x, "b": b}, schema={"s": pl.String, "x": pl.Float64, "b": pl.Boolean}),
        pl.LazyFrame({"s": s, "x": x, "b": b}, schema={"s": pl.Categorical, "x": pl.Float64, "b": pl.Boolean}),
        pa.table({"s": pa.array(s, pa.string()), "x": pa.array(x, pa.float64()), "b": pa.array(b, pa.bool_())}),
        pd.DataFrame(
            {"s": pd.array(s, "string"), "x": pd.array(x, "Float64"), "b": pd.array(b, "boolean")},
            index=[f"i{i}" for i in range(len(rows))],
        ),
        {"s": pa.array(s, pa.string()), "x": np.array(x, float), "b": pd.Series(b, dtype="boolean")},
    ]
    for frame in frames:
        table = to_table(frame)
        assert table.names == ["s", "x", "b"]
        assert decode(table["s"]) == s
        assert decode(table["x"]) == x
        assert decode(table["b"]) == [None if cell is None else str(cell) for cell in b]
        assert table["b"].labels == "boolean"
        for column in table.values():
            check(column)


def test_arrays_and_lists() -> None:
    table = to_table(np.array([[1, 2.5], [np.nan, 3]]))
    assert table.names == ["x0", "x1"]
    assert decode(table["x0"]) == [1, None]
    table = to_table([[1, "a", True], [2, None, False]], names=["n", "s", "b"])
    assert table.names == ["n", "s", "b"]
    assert (table["n"].kind, table["s"].kind, table["b"].labels) == ("numeric", "categorical", "boolean")
    assert to_table(table) is table
    structured = np.array([(1, "a"), (2, "b")], dtype=[("n", "i4"), ("s", "U1")])
    assert to_table(structured).names == ["n", "s"]
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[True, False], [False, False]])
    assert decode(to_table(masked)["x0"]) == [None, 3]
    objects = np.array([[1, "a"], [2.5, None]], dtype=object)
    assert decode(to_table(objects)["x0"]) == [1, 2.5]

    class NotAnArray:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
            return np.eye(2)

    assert to_table(NotAnArray()).n_rows == 2


def test_mixed_objects_become_strings() -> None:
    cells = [1, "a", 1.0, True, None, float("nan"), "1", 2.5, pd.NA, pd.NaT]
    expected = ["1", "a", "1", "True", None, None, "1", "2.5", None, None]
    for data in (
        pd.DataFrame({"c": pd.Series(cells, dtype=object)}),
        {"c": cells},
        {"c": np.array(cells, object)},
    ):
        column = to_table(data)["c"]
        check(column)
        assert column.labels == "string"
        assert decode(column) == expected


def test_pandas_categories() -> None:
    frame = pd.DataFrame(
        {
            "i": pd.Categorical([3, 10, None], categories=[10, 3, 99]),
            "s": pd.Categorical(["b", "a", "b"], categories=["unused", "b", "a"], ordered=True),
            "f": pd.Categorical([1.0, 2.5, 1.0]),
            "d": pd.to_datetime(["2021-03-04", None, "2020-01-01"]),
            "t": pd.to_datetime(["2021-03-04 01:02", "2021-03-04 00:00", None]),
            "cut": pd.cut([1, 5, 9], [0, 4, 10]),
        }
    )
    table = to_table(frame)
    assert decode(table["i"]) == ["3", "10", None]
    assert table["i"].labels == "integer"
    assert table["s"].names == ("a", "b")
    assert (decode(table["f"]), table["f"].labels) == (["1", "2.5", "1"], "number")
    assert decode(table["d"]) == ["2021-03-04", None, "2020-01-01"]
    assert decode(table["t"]) == ["2021-03-04T01:02:00", "2021-03-04T00:00:00", None]
    assert decode(table["cut"]) == ["(0, 4]", "(4, 10]", "(4, 10]"]
    for column in table.values():
        check(column)
    numeric = to_table(frame, kinds={"i": "numeric"})["i"]
    assert decode(numeric) == [3, 10, None]


def test_polars_categoricals_share_a_pool() -> None:
    frame = pl.DataFrame({"a": ["x", "y", "x"], "b": ["p", "q", None], "c": ["m", "m", "m"]}).cast(pl.Categorical)
    frame = frame.with_columns(e=pl.Series(["u", "v", "u"], dtype=pl.Enum(["w", "v", "u"])))
    table = to_table(frame)
    assert [table[name].names for name in table] == [("x", "y"), ("p", "q"), ("m",), ("u", "v")]
    assert decode(table["b"]) == ["p", "q", None]
    assert all(column.codes.dtype == np.uint8 for column in table.values())


def test_moments_and_decimals() -> None:
    zone = dt.timezone(dt.timedelta(hours=2))
    table = to_table(
        {
            "date": [dt.date(2021, 3, 4), None],
            "half": [dt.datetime(2021, 3, 4, 0, 0, 0, 500_000), dt.datetime(2021, 3, 5)],
            "zoned": [dt.datetime(2021, 3, 4, 1, 0, tzinfo=zone), None],
            "day": pa.array([dt.datetime(2021, 3, 4), None], pa.timestamp("ns", "Europe/Rome")),
            "clock": [dt.time(5, 6), None],
            "month": np.array(["2021-03", "NaT"], dtype="datetime64[M]"),
            "money": [Decimal("1.50"), None],
            "half_float": np.array([0.5, np.nan], dtype=np.float16),
        }
    )
    assert [decode(column)[0] for column in table.values()] == [
        "2021-03-04",
        "2021-03-04T00:00:00.500",
        "2021-03-03T23:00:00Z",
        "2021-03-04",
        "05:06:00",
        "2021-03-01",
        1.5,
        0.5,
    ]
    assert decode(table["half"])[1] == "2021-03-05T00:00:00.000"
    cents = pa.array([Decimal(n) / 100 for n in range(1000)], pa.decimal128(20, 18))
    assert to_table({"cents": cents})["cents"].numbers.tolist() == [n / 100 for n in range(1000)]
    midnight = pa.array([dt.datetime(2021, 3, 3, 23)], pa.timestamp("s", "Europe/Rome"))
    assert decode(encode("c", midnight)) == ["2021-03-03T23:00:00Z"]


def test_forced_kinds() -> None:
    table = to_table(
        {"f": np.array([1, 0.1, 0.1], np.float32), "s": [" 1", "2.5", "?"], "b": [True, False, None]},
        kinds={"f": "categorical", "s": "numeric", "b": "numeric"},
        missing=["?"],
    )
    assert (decode(table["f"]), table["f"].labels) == (["1", "0.1", "0.1"], "number")
    assert decode(table["s"]) == [1, 2.5, None]
    assert decode(table["b"]) == [1, 0, None]
    assert decode(to_table({"s": ["?", "a"]}, missing="?")["s"]) == [None, "a"]


def test_odd_arrow() -> None:
    assert encode("c", pa.nulls(3)).codes.tolist() == [0, 0, 0]
    assert encode("c", pa.nulls(3), kind="numeric").n_codes == 1
    assert encode("c", pa.chunked_array([], pa.string())).codes.tolist() == []
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], ["a", "b"])
    assert decode(encode("c", runs)) == ["a", "a", "b"]
    inner = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0], pa.int8()), pa.array(["a", None]))
    assert decode(encode("c", inner)) == ["a", None, None, "a"]
    zeros = encode("c", pa.array([0.0, -0.0]))
    assert zeros.numbers.tolist() == [0.0]
    assert math.copysign(1, zeros.numbers[0]) == 1
    for n in (255, 256, 257, 65536, 65537):
        for gap in ([], [None]):
            column = encode("c", pa.array([*range(n), *gap]))
            check(column)
            column = encode("c", pa.array([*map(str, range(n)), *gap]))
            check(column)


def refusal(*args: Any, **options: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        to_table(*args, **options)
    chain: BaseException | None = caught.value
    assert CANARY not in str(chain)
    assert chain is not None
    assert chain.__cause__ is None
    assert chain.__suppress_context__ or chain.__context__ is None
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (pd.DataFrame({"a": []}), "empty-table", "no rows"),
        (pl.DataFrame({"a": []}), "empty-table", "no rows"),
        ([], "empty-table", "no rows"),
        (np.empty((0, 3)), "empty-table", "no rows"),
        (np.empty((3, 0)), "empty-table", r"0 feature(s) (shape=(3, 0)) while a minimum of 1 is required."),
        ({}, "empty-table", "no columns"),
        (pd.DataFrame(), "empty-table", "no columns"),
        (5, "unsupported-type", "'int'"),
        (CANARY, "unsupported-type", "'str'"),
        (None, "unsupported-type", "'NoneType'"),
        (np.arange(3), "not-2d", "Reshape your data"),
        (np.ones((2, 2, 2)), "not-2d", "3D"),
        ([1, 2, 3], "not-2d", "1D"),
        ([CANARY], "not-2d", "1D"),
        (pd.Series([CANARY]), "not-2d", "1D"),
        (pl.Series([CANARY]), "not-2d", "1D"),
        (np.array([[1j]]), "complex-numbers", "Complex data not supported"),
        ([[1j, 2]], "complex-numbers", "'x0'"),
        (pd.DataFrame({"z": [1j]}), "complex-numbers", "'z'"),
        (scipy.sparse.eye(3).tocsr(), "sparse-matrix", ".toarray()"),
        (scipy.sparse.coo_array(np.eye(3)), "sparse-matrix", ".toarray()"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "column-twice", "'a'"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "column-twice", "'1'"),
        (pa.table([[1], [2]], names=["a", "a"]), "column-twice", "'a'"),
        ([[1, CANARY], [2]], "ragged-table", "different lengths"),
        ({"a": [1, 2], "b": [1]}, "ragged-table", "different lengths"),
        ({"a": CANARY}, "unsupported-column", "'a'"),
        ({"a": 5}, "unsupported-column", "'a'"),
        ({"a": np.ones((2, 2))}, "unsupported-column", "2 dimensions"),
        ({"a": [[CANARY], [1]]}, "unsupported-column", "'a'"),
        ({"a": [[CANARY], 1]}, "unsupported-column", "'a'"),
        ({"a": [{CANARY: 1}, 1]}, "unsupported-column", "'a'"),
        ({"a": [(CANARY,), 1]}, "unsupported-column", "'a'"),
        ({"a": [CANARY.encode(), b"x"]}, "unsupported-column", "binary"),
        (pl.DataFrame({"a": [[CANARY]]}), "unsupported-column", "'a'"),
        (pl.DataFrame({"a": [{"b": CANARY}]}), "unsupported-column", "'a'"),
        (pd.DataFrame({"a": [{"b": CANARY}]}), "unsupported-column", "'a'"),
        (pd.DataFrame({"a": pd.to_timedelta([5], unit="s")}), "unsupported-column", "duration"),
        ({"a": [1.0, np.inf, -np.inf]}, "not-finite", "'a' has 2 infinite"),
        ({"a": pa.array([1.0, np.inf]).dictionary_encode()}, "not-finite", "'a' has 1 infinite"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:20],
)
def test_refusals(data: Any, code: str, words: str) -> None:
    error = refusal(data)
    assert error.code == code
    assert words in str(error)


def test_refusals_of_options() -> None:
    error = refusal({"a": [CANARY, CANARY, "1"]}, kinds={"a": "numeric"})
    assert (error.code, "2 of its cells" in str(error)) == ("not-numeric", True)
    assert refusal({"a": ["1_000"]}, kinds={"a": "numeric"}).code == "not-numeric"
    assert refusal({"a": [dt.date(2020, 1, 1)]}, kinds={"a": "numeric"}).code == "not-numeric"
    error = refusal({"zipcode": [CANARY]}, kinds={"zipcod": "numeric"})
    assert (error.code, "Closest: 'zipcode'" in str(error)) == ("no-column", True)
    assert refusal({"a": [CANARY]}, kinds={"a": "nominal"}).code == "unknown-kind"
    assert refusal([[1, 2]], names=["a"]).code == "names"


def test_no_cell_in_a_repr() -> None:
    table = to_table({"a": [CANARY, "b"]})
    assert CANARY not in repr(table) + repr(table["a"])
    assert isinstance(table, Table)


WITHOUT = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Blocked())
from shoal.data.frames import to_table
assert to_table({"a": [1, "b", None]}).n_rows == 3
assert to_table([[1.5]]).n_rows == 1
"""


def test_pandas_and_polars_are_not_needed() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT], check=True)


@pytest.mark.parametrize("kind", ["numeric", "categorical"])
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_numbers_that_are_sorted_get_the_same_codes_as_numbers_that_are_hashed(kind, seed):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=6000).round(int(rng.integers(2, 7)))
    numbers[rng.random(6000) < 0.05] = np.nan
    numbers[rng.random(6000) < 0.01] = rng.choice([0.0, -0.0])
    array = pa.chunked_array([pa.array(numbers[:50]), pa.array(numbers[50:], mask=rng.random(5950) < 0.05)])
    found = []
    for sort in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(factorize, "_mostly_distinct", lambda chunks, sort=sort: sort)
            found.append(encode("x", array, kind=kind))
    fast, slow = found
    assert np.array_equal(fast.codes, slow.codes)
    assert list(fast.values) == list(slow.values)
    assert (fast.missing, fast.codes.dtype) == (slow.missing, slow.codes.dtype)


def test_get_has_a_default():
    table = to_table(pd.DataFrame({"a": [1, 2]}))
    assert table.get("a") is table["a"]
    assert table.get("b") is None
    assert table.get("b", 7) == 7
