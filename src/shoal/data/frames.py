# SPDX-License-Identifier: Apache-2.0
"""Anything that holds rows and columns, as a `Table`.

pandas and Polars are never imported here: narwhals speaks to whichever the caller has.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.exceptions import DuplicateError

from shoal._threads import side_by_side
from shoal.data.encode import encode, number_text
from shoal.data.query import Query
from shoal.data.spark_session import is_spark_frame
from shoal.data.table import Kind, Table
from shoal.errors import DataError, closest

Backend = Literal["pandas", "polars", "pyarrow"]

SUFFIXES = (".csv", ".tsv", ".txt", ".gz", ".parquet", ".feather", ".arrow", ".ipc")  # of files with rows

# what pandas calls its index when it has to be a column: never a value of a person
PANDAS_INDEX = "__index_level_"


def to_table(
    data: Any,
    *,
    kinds: Mapping[str, Kind] | None = None,
    missing: Collection[str] = (),
    names: Sequence[str] | None = None,
    only: Collection[str] | None = None,
) -> Table:
    """Encode rows and columns from memory.

    Parameters
    ----------
    data
        A `Table` (returned as it is), a pandas, Polars or PyArrow table or any that narwhals knows, a dict
        of columns, a two-dimensional NumPy array, a list of rows, the path of a file (see `read_table`),
        a PyArrow dataset, or a `Query`.
    kinds
        ``"numeric"`` or ``"categorical"`` for some of the columns; by default their type decides.
    missing
        Strings that mean missing, besides null and NaN. In a file, nothing and ``?`` by default.
    names
        Column names for data that has none, an array or a list of rows; ``x0``, ``x1``, ... by default.
    only
        Leave every other column alone, and do without those of these that are not there (nor their kinds).

    Returns
    -------
    Table

    Examples
    --------
    >>> table = to_table({"age": [30, 41, None], "sex": ["f", "m", "f"]})
    >>> table["age"].kind, table["age"].missing, table["sex"].names
    ('numeric', True, ('f', 'm'))
    >>> to_table([[1, "a"], [2, "b"]]).names
    ['x0', 'x1']
    """
    if isinstance(data, Table):
        return data
    if is_source(data):
        from shoal.data.read import read_source  # which needs this module

        return read_source(data, kinds=kinds, missing=missing, only=only)
    columns = _columns(data, names)
    if only is not None:
        # the first column stays if no other does, to know how many rows there are
        columns = [(name, values) for name, values in columns if name in only] or columns[:1]
        kinds = {name: kind for name, kind in (kinds or {}).items() if name in dict(columns)}
    found = [name for name, _ in columns]
    if not columns:
        raise DataError("empty-table", "The table has no columns.")
    refuse_twice(found)
    kinds = check_kinds(kinds, found)
    arrays = {name: _arrow(name, values) for name, values in columns}
    n_rows = max(map(len, arrays.values()))
    if n_rows == 0:
        raise DataError("empty-table", "The table has no rows: 0 sample(s) while a minimum of 1 is required.")
    return Table(
        side_by_side(lambda name: encode(name, arrays[name], kind=kinds.get(name), missing=missing), found, rows=n_rows)
    )


def is_source(data: Any) -> bool:
    """Whether rows have to be fetched from somewhere: a file or a folder, a database, an Arrow dataset."""
    if isinstance(data, str):  # a string that looks like no path may be a cell, and no message must tell it
        return data.lower().endswith(SUFFIXES) or os.path.exists(data)
    return isinstance(data, os.PathLike | Query) or type(data).__module__ == "pyarrow._dataset"


def check_kinds(kinds: Mapping[str, Kind] | None, names: Collection[str]) -> Mapping[str, Kind]:
    """The kinds a user gave, if they make sense for these columns."""
    for name, kind in (kinds or {}).items():
        if name not in names:
            raise DataError("no-column", f"No column {name!r} (named in kinds).{closest(name, names)}")
        if kind not in ("numeric", "categorical"):
            raise DataError(
                "unknown-kind",
                f"The kind of column {name!r} must be 'numeric' or 'categorical'; got {kind!r}.",
            )
    return kinds or {}


def refuse_twice(names: Sequence[str], where: str = "") -> None:
    """Refuse a column name that is there more than once."""
    twice = sorted(name for name, n in Counter(names).items() if n > 1)
    if twice:
        raise DataError(
            "column-twice",
            f"Column name(s) given more than once{where}: {', '.join(map(repr, twice))}. Rename them.",
        )


def _columns(data: Any, names: Sequence[str] | None) -> list[tuple[str, Any]]:
    """Names and columns, each still in the form it came in."""
    if isinstance(data, pa.Table | pa.RecordBatch):
        return _without_index(zip(data.schema.names, data.columns, strict=True))
    if isinstance(data, Mapping):
        return [(str(name), values) for name, values in data.items()]
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        raise DataError("sparse-matrix", "A sparse matrix cannot be used. Convert it with .toarray().")
    if isinstance(data, np.ndarray) and data.dtype.names:
        return [(name, data[name]) for name in data.dtype.names]
    if isinstance(data, list | tuple):
        return _named(_transposed(data), names, len(data))
    if is_spark_frame(data):
        raise DataError(
            "spark-source",
            "A Spark DataFrame stays on its cluster: use engine='spark', or release.to_spark() to predict. "
            "What fits into memory can be fetched with .toArrow().",
        )
    if not isinstance(data, np.ndarray):
        frame = _frame(data)
        if frame is not None:
            return frame
        if not hasattr(data, "__array__"):
            raise DataError(
                "unsupported-type",
                f"Cannot make a table of {type(data).__name__!r}. Give a data frame, a dict of columns, "
                "a two-dimensional array, a list of rows or the path of a file.",
            )
        data = np.asarray(data)
    array = data if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
    if array.ndim != 2:
        raise not_2d(array.ndim)
    return _named([array[:, j] for j in range(array.shape[1])], names, len(array))


def _frame(data: Any) -> list[tuple[str, Any]] | None:
    """The columns of a data frame, or None if it is none."""
    try:
        frame = nw.from_native(data)
    except DuplicateError:
        # to_table says so in its own words before it looks at a cell
        return [(str(name), None) for name in data.columns]
    except TypeError:
        if _is_series(data):
            raise not_2d(1) from None
        if hasattr(data, "__arrow_c_stream__"):
            table = pa.table(data)
            return _without_index(zip(table.schema.names, table.columns, strict=True))
        return None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    # a series at a time, so that no second copy of the whole table is ever needed
    return _without_index((str(name), frame.get_column(name)) for name in frame.columns)


def _without_index(columns: Any) -> list[tuple[str, Any]]:
    return [(name, values) for name, values in columns if not name.startswith(PANDAS_INDEX)]


def _is_series(data: Any) -> bool:
    try:
        nw.from_native(data, series_only=True)
    except TypeError:
        return False
    return True


def not_2d(ndim: int) -> DataError:
    """The refusal of anything that is not rows and columns."""
    return DataError(
        "not-2d",
        f"Expected 2D data, rows and columns; got {ndim}D. Reshape your data: "
        ".reshape(-1, 1) for one column, .reshape(1, -1) for one row.",
    )


def _transposed(rows: Sequence[Any]) -> list[Any]:
    if not rows:
        raise DataError("empty-table", "The table has no rows: 0 sample(s) while a minimum of 1 is required.")
    if any(issubclass(t, str | bytes | Mapping) or not hasattr(t, "__len__") for t in set(map(type, rows))):
        raise not_2d(1)
    if len(set(map(len, rows))) > 1:
        raise DataError("ragged-table", "The rows have different lengths.")
    return list(zip(*rows, strict=True))


def _named(columns: list[Any], names: Sequence[str] | None, n_rows: int) -> list[tuple[str, Any]]:
    if not columns:
        raise DataError(
            "empty-table",
            f"The table has no columns: 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required.",
        )
    given = [f"x{j}" for j in range(len(columns))] if names is None else [str(name) for name in names]
    if len(given) != len(columns):
        raise DataError("names", f"{len(given)} column name(s) were given for {len(columns)} column(s).")
    return list(zip(given, columns, strict=True))


def _arrow(name: str, values: Any) -> pa.Array | pa.ChunkedArray:
    """One column as Arrow. What Arrow finds no type for becomes strings."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, str | bytes) or not (hasattr(values, "__len__") or hasattr(values, "__array__")):
        raise DataError("unsupported-column", f"Column {name!r} is a single value, not a column of them.")
    if not isinstance(values, list | tuple | np.ndarray | nw.Series):
        try:
            values = nw.from_native(values, series_only=True)
        except TypeError:
            values = np.asarray(values)
    try:
        if isinstance(values, nw.Series):
            array = values.to_arrow()
            of = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
            if not pa.types.is_nested(of) and not isinstance(of, pa.BaseExtensionType):
                return array
        elif isinstance(values, np.ndarray):
            return _from_numpy(name, values)
        else:
            return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, OverflowError):
        pass  # Arrow's own message would quote a cell
    return _strings(name, np.asarray(values.to_native()) if isinstance(values, nw.Series) else values)


def _from_numpy(name: str, values: np.ndarray[Any, Any]) -> pa.Array:
    if values.ndim != 1:
        raise DataError("unsupported-column", f"Column {name!r} has {values.ndim} dimensions instead of one.")
    if values.dtype.kind == "c":
        raise _complex(name)
    if values.dtype.kind == "M" and np.datetime_data(values.dtype)[0] in ("Y", "M", "W", "h", "m"):
        values = values.astype("datetime64[s]")
    if isinstance(values, np.ma.MaskedArray):
        return pa.array(values.data, mask=np.ma.getmaskarray(values), from_pandas=True)
    return pa.array(values, from_pandas=True)


def _strings(name: str, cells: Any) -> pa.Array:
    """A column of mixed objects as strings, each distinct object looked at once."""
    if isinstance(cells, np.ndarray) and cells.dtype != object:
        return _from_numpy(name, cells)
    cells = list(cells)
    position: dict[Any, int] = {}
    texts: list[str | None] = []
    try:
        # the type is part of the key because 1 == True
        for key in dict.fromkeys(zip(map(type, cells), cells, strict=True)):
            position[key] = len(texts)
            texts.append(_text(name, key[1]))
        keys: Iterator[Any] = zip(map(type, cells), cells, strict=True)
        codes = np.fromiter(map(position.__getitem__, keys), np.int32, len(cells))
    except TypeError:
        raise DataError(
            "unsupported-column", f"Column {name!r} holds lists or other objects that are no single values."
        ) from None
    return pa.DictionaryArray.from_arrays(codes, pa.array(texts, pa.string()))


def _text(name: str, cell: Any) -> str | None:
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, complex | np.complexfloating):
        raise _complex(name)
    if isinstance(cell, bytes | tuple | frozenset):
        raise TypeError
    if isinstance(cell, float | np.floating):
        return None if np.isnan(cell) else number_text(cell)
    return str(cell)


def _complex(name: str) -> DataError:
    return DataError("complex-numbers", f"Complex data not supported: column {name!r} holds complex numbers.")


def from_columns(columns: Mapping[str, Any], backend: Backend) -> Any:
    """A data frame of a library of the user's choice."""
    try:
        return nw.from_dict(columns, backend=backend).to_native()
    except ModuleNotFoundError:
        raise DataError(
            "no-backend", f"to_frame: {backend!r} is not installed. Try backend='pyarrow', or install it."
        ) from None
