# SPDX-License-Identifier: Apache-2.0
"""Where rows come from a batch at a time: files and folders, Arrow datasets, database queries, tables in memory.

As in `read.py`, the readers' own messages quote rows, so none of them is ever passed on.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.data.columnar_files import open_arrow, parquet_parts
from shoal.data.encode import encode
from shoal.data.frames import PANDAS_INDEX, check_kinds, is_source, refuse_twice, to_table
from shoal.data.query import Query
from shoal.data.table import Column, Kinds, Table
from shoal.errors import DataError, closest

Batch = Sequence[Any]  # a column each: an Arrow array or, where it has codes already, a `Column`


class Source(ABC):
    """Rows that are read in batches, in the same order every time.

    Parameters
    ----------
    names
        All columns there are.
    kinds, missing
        As in `read_table`.
    """

    def __init__(self, names: Sequence[str], kinds: Kinds | None, missing: Collection[str], where: str = "") -> None:
        self.names = [name for name in names if not name.startswith(PANDAS_INDEX)]
        refuse_twice(self.names, where)
        self.kinds = check_kinds(kinds, self.names)
        self.missing = tuple([missing] if isinstance(missing, str) else missing)

    def drop(self, names: Collection[str]) -> None:
        """Leave some columns alone, from now on."""
        self.names = [name for name in self.names if name not in names]

    def check(self, names: Sequence[str]) -> None:
        """Refuse columns that are not there."""
        for name in names:
            if name not in self.names:
                raise DataError("no-column", f"No column {name!r}.{closest(name, self.names)}")

    @abstractmethod
    def batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        """Some of the columns, at most so many rows at a time."""

    def column(self, name: str, entries: pa.ChunkedArray, weights: NDArray[np.int64]) -> Column:
        """A column of distinct entries, each of so many rows."""
        return encode(name, entries, kind=self.kinds.get(name), missing=self.missing, weights=weights)


class _Parquet(Source):
    """A Parquet file, or a flat folder of them that have the same columns."""

    def __init__(self, path: Path, kinds: Kinds | None, missing: Collection[str]) -> None:
        self._shown = str(path)
        self._parts, schemas = parquet_parts(path, self._shown)
        self._schemas = schemas
        self._types = {
            name: self._common(name, [schema.field(name).type for schema in schemas], kinds or {})
            for name in schemas[0].names
        }
        self._strings = [field.name for field in schemas[0] if field.type in (pa.string(), pa.large_string())]
        super().__init__(schemas[0].names, kinds, missing, f" in {self._shown!r}")

    def _common(self, name: str, types: Sequence[pa.DataType], kinds: Kinds) -> pa.DataType | None:
        """What all files have; None where a column has numbers of different types, which does not matter."""
        plain = {_plain_type(of) for of in types} - {pa.null()}
        if len(plain) <= 1:
            return plain.pop() if plain else pa.null()
        numbers = all(pa.types.is_integer(of) or pa.types.is_floating(of) for of in plain)
        if numbers and kinds.get(name) != "categorical":
            return None
        raise DataError("schema-differs", f"Column {name!r} has different types in the files of {self._shown!r}.")

    def batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        try:
            for part, schema in zip(self._parts, self._schemas, strict=True):
                if pq.read_schema(part) != schema:
                    raise DataError("schema-differs", f"{self._shown!r} was changed while it was read.")
                with pq.ParquetFile(part, read_dictionary=self._strings) as file:
                    for batch in file.iter_batches(rows, columns=list(names), use_pandas_metadata=False):
                        yield [self._typed(name, batch.column(name)) for name in names]
        except (pa.ArrowException, OSError):
            raise DataError("damaged-file", f"{self._shown!r} is no complete Parquet file.") from None

    def _typed(self, name: str, array: pa.Array) -> pa.Array:
        """A column that is empty in one file, in the type it has in others."""
        of = self._types[name]
        return pa.nulls(len(array), of or pa.float64()) if pa.types.is_null(array.type) else array


def _plain_type(of: pa.DataType) -> pa.DataType:
    """A type without how it is stored: a dictionary is its values, and strings are strings."""
    of = of.value_type if pa.types.is_dictionary(of) else of
    return pa.string() if pa.types.is_large_string(of) or pa.types.is_string_view(of) else of


class _Arrow(Source):
    """An Arrow IPC file (Feather is another name for it) or stream, a record batch at a time."""

    def __init__(self, path: Path, kinds: Kinds | None, missing: Collection[str]) -> None:
        self._path, self._shown = path, str(path)
        with self._opened() as (schema, _):
            names = schema.names
        super().__init__(names, kinds, missing, f" in {self._shown!r}")

    def _opened(self) -> Any:
        return open_arrow(self._path, self._shown)

    def batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        with self._opened() as (schema, batches):
            places = [schema.get_field_index(name) for name in names]
            try:
                for batch in batches:
                    yield from _pieces([batch.column(place) for place in places], rows)
            except (pa.ArrowException, OSError):
                raise DataError("damaged-file", f"{self._shown!r} is no complete Arrow file.") from None


class _Dataset(Source):
    """A PyArrow dataset."""

    def __init__(self, dataset: pads.Dataset, kinds: Kinds | None, missing: Collection[str]) -> None:
        self._dataset = dataset
        super().__init__(dataset.schema.names, kinds, missing)

    def batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        try:
            # few batches ahead, since each of them is in memory
            scanner = self._dataset.scanner(
                columns=list(names), batch_size=rows, batch_readahead=1, fragment_readahead=1, cache_metadata=False
            )
            for batch in scanner.to_batches():
                yield [batch.column(name) for name in names]
        except (pa.ArrowException, OSError):
            raise DataError(
                "damaged-file", "The dataset cannot be read to its end. Does a column change its type between files?"
            ) from None


class _Rows(Source):
    """A query's rows, or any other that Arrow batches can be had of."""

    def __init__(self, query: Query, kinds: Kinds | None, missing: Collection[str]) -> None:
        self._query = query
        super().__init__(query.names(), kinds, missing, " by the query")

    def batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        for batch in self._query.batches(names, rows):
            yield from _pieces(batch.columns, rows)


class _Memory(Source):
    """A table in memory, for engines that take none otherwise: columns with the codes they have."""

    def __init__(self, table: Table) -> None:
        self._table = table
        super().__init__(table.names, None, ())

    def batches(self, names: Sequence[str], rows: int) -> Iterator[Batch]:
        for first in range(0, self._table.n_rows, rows):
            yield [self._table[name].take(np.arange(first, min(first + rows, self._table.n_rows))) for name in names]


def _pieces(columns: Sequence[pa.Array], rows: int) -> Iterator[Batch]:
    n_rows = len(columns[0]) if columns else 0
    for first in range(0, n_rows, rows):
        yield [column.slice(first, rows) for column in columns]


def open_source(
    data: Any,
    *,
    kinds: Kinds | None = None,
    missing: Collection[str] | None = None,
    only: Collection[str] | None = None,
    **text: Any,
) -> Source:
    """Anything that rows can be read from in batches: paths, PyArrow datasets, a `Query`; else a table in memory.

    `kinds`, `missing` and what is said of a text file are as in `read_table`, `only` is as in `to_table`.
    """
    source = _opened(data, kinds if only is None else None, missing, text)
    if only is not None:
        source.names = [name for name in source.names if name in only] or source.names[:1]
        own = {**(kinds or {}), **source.kinds}
        source.kinds = {name: kind for name, kind in own.items() if name in source.names}
    return source


def _opened(data: Any, kinds: Kinds | None, missing: Collection[str] | None, text: dict[str, Any]) -> Source:
    if isinstance(data, Source):
        return data
    if isinstance(data, pads.Dataset):
        return _Dataset(data, kinds, missing or ())
    if isinstance(data, Query):
        return _Rows(data, kinds, missing or ())
    if not is_source(data):
        return _Memory(to_table(data, kinds=kinds, missing=missing or ()))
    path = Path(os.fspath(data))
    missing = ("", "?") if missing is None else missing
    suffix = path.suffix.lower()
    if not path.exists():
        raise DataError("no-file", f"There is no file {str(path)!r}.")
    if path.is_dir() or suffix == ".parquet":
        return _Parquet(path, kinds, missing)
    if suffix in (".feather", ".arrow", ".ipc"):
        return _Arrow(path, kinds, missing)
    from shoal.data.text_source import TextSource

    return TextSource(path, kinds, missing, **text)
