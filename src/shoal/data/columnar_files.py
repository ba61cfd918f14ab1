# SPDX-License-Identifier: Apache-2.0
"""Files that keep their columns and types: Parquet, also as folders, and Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.data.encode import encode
from shoal.data.frames import PANDAS_INDEX
from shoal.data.table import Column, Kinds
from shoal.errors import DataError


def parquet_parts(source: Path, shown: str) -> tuple[list[Path], list[pa.Schema]]:
    """The files of a folder, or the file itself, and what columns each has: the same names."""
    parts = [source]
    if source.is_dir():
        parts = sorted(part for part in source.glob("*.parquet") if part.name[0] not in "._")
        if not parts:
            raise DataError("no-file", f"The folder {shown!r} has no .parquet files.")
    try:
        schemas = [pq.read_schema(part) for part in parts]
    except (pa.ArrowException, OSError):
        raise DataError("damaged-file", f"{shown!r} is no complete Parquet file.") from None
    if any(schema.names != schemas[0].names for schema in schemas):
        raise DataError("schema-differs", f"The files of {shown!r} do not all have the same columns.")
    return parts, schemas


class ParquetFile:
    """A Parquet file, or a flat folder of them that have the same columns."""

    def __init__(self, source: Path, shown: str, missing: tuple[str, ...]) -> None:
        self.shown, self.missing = shown, missing
        self.parts, schemas = parquet_parts(source, shown)
        self.names = [name for name in schemas[0].names if not name.startswith(PANDAS_INDEX)]
        strings = (pa.string(), pa.large_string())
        self.strings = [field.name for field in schemas[0] if field.type in strings]

    def open(self, names: Sequence[str], kinds: Kinds) -> Callable[[str], Column]:
        return lambda name: encode(name, self._column(name), kind=kinds.get(name), missing=self.missing)

    def _column(self, name: str) -> pa.ChunkedArray:
        parts = []
        try:
            for part in self.parts:
                with pq.ParquetFile(part, read_dictionary=self.strings) as file:
                    parts.append(file.read(columns=[name], use_pandas_metadata=False))
        except (pa.ArrowException, OSError):
            raise DataError("damaged-file", f"{self.shown!r} is no complete Parquet file.") from None
        try:
            return pa.concat_tables(parts, promote_options="permissive").column(name)
        except pa.ArrowException:
            differs = f"Column {name!r} has different types in the files of {self.shown!r}."
            raise DataError("schema-differs", differs) from None


@contextmanager
def open_arrow(source: Path, shown: str) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
    """What columns an Arrow file or stream has, and its batches of rows."""
    try:
        with pa.OSFile(str(source)) as stream:
            try:
                file = pa.ipc.open_file(stream)
            except pa.ArrowInvalid:
                stream.seek(0)
                rows = pa.ipc.open_stream(stream)
                yield rows.schema, iter(rows)
            else:
                yield file.schema, (file.get_batch(number) for number in range(file.num_record_batches))
    except (pa.ArrowException, OSError):
        raise DataError("damaged-file", f"{shown!r} is no complete Arrow file.") from None


class ArrowFile:
    """An Arrow IPC file (Feather is another name for it) or stream."""

    def __init__(self, source: Path, shown: str, missing: tuple[str, ...]) -> None:
        self.missing = missing
        with open_arrow(source, shown) as (schema, batches):
            self.table = pa.Table.from_batches(batches, schema)
        self.names = [name for name in self.table.schema.names if not name.startswith(PANDAS_INDEX)]

    def open(self, names: Sequence[str], kinds: Kinds) -> Callable[[str], Column]:
        return lambda name: encode(name, self.table[name], kind=kinds.get(name), missing=self.missing)
