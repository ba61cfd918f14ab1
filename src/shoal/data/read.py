# SPDX-License-Identifier: Apache-2.0
"""Files into a `Table`: CSV, Parquet and Arrow.

The readers' own messages quote rows, so none of them is ever passed on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from shoal.data.encode import encode
from shoal.data.frames import PANDAS_INDEX, check_kinds, refuse_twice
from shoal.data.sniff import Look, look, undecodable
from shoal.data.table import Column, Kind, Table
from shoal.errors import DataError, closest

TEXT = pa.dictionary(pa.int32(), pa.string())
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
Kinds = Mapping[str, Kind]


class _File(Protocol):
    """Has names; `open` gives what makes each of the columns asked for, once, in any thread."""

    names: list[str]

    def open(self, names: Sequence[str], kinds: Kinds) -> Callable[[str], Column]: ...


def read_table(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    quote: str | None = '"',
    missing: Collection[str] = ("", "?"),
    kinds: Mapping[str, Kind] | None = None,
    columns: Sequence[str] | None = None,
) -> Table:
    """Read a table from a file.

    Parameters
    ----------
    path
        A ``.csv``, ``.tsv`` or ``.txt`` file with a header line (also ``.gz``), a ``.parquet`` file or a
        folder of them, or a ``.feather``, ``.arrow`` or ``.ipc`` file.
    delimiter, encoding, decimal
        Of a text file; found out from its beginning unless given.
    quote
        What encloses values of a text file that hold a delimiter; None for nothing.
    missing
        Cells that mean missing.
    kinds
        ``"numeric"`` or ``"categorical"`` for some of the columns. By default numbers are numeric, except
        whole numbers of one width with leading zeros at the beginning of a text file, such as zip codes.
    columns
        The columns to read, in this order; all by default.

    Returns
    -------
    Table

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "people.csv")
    ...     _ = file.write_text("age;zip;weight\\n30;01234;70,5\\n?;04321;81\\n")
    ...     table = read_table(file)
    >>> [column.kind for column in table.values()]
    ['numeric', 'categorical', 'numeric']
    >>> table["weight"].numbers.tolist()
    [70.5, 81.0]
    """
    shown = str(path)
    file = _open(path, delimiter, encoding, decimal, quote, missing)
    kinds = check_kinds(kinds, file.names)
    wanted = file.names if columns is None else list(columns)
    for name in wanted:
        if name not in file.names:
            raise DataError("no-column", f"{shown!r} has no column {name!r}.{closest(name, file.names)}")
    refuse_twice(wanted)
    column = file.open(wanted, kinds)
    # few threads, because every column at work is in memory as Arrow
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        table = Table(pool.map(column, wanted))
    if table.n_rows == 0:
        raise DataError("no-rows", f"{shown!r} has column names, but no rows.")
    return table


def _open(
    path: str | os.PathLike[str],
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    quote: str | None = '"',
    missing: Collection[str] = ("", "?"),
) -> _File:
    """The file by its kind; the parameters are those of `read_table`."""
    tokens = tuple([missing] if isinstance(missing, str) else missing)
    source, shown = Path(path), str(path)
    suffix = source.suffix.lower()
    file: _File
    if not source.exists():
        raise DataError("no-file", f"There is no file {shown!r}.")
    if source.is_dir() or suffix == ".parquet":
        file = _ParquetFile(source, shown, tokens)
    elif suffix in (".feather", ".arrow", ".ipc"):
        file = _ArrowFile(source, shown, tokens)
    else:
        how = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal, "quote": quote}
        file = open_text(source, missing=tokens, **how)
    refuse_twice(file.names, f" in {shown!r}")
    return file


def open_text(
    source: Path,
    *,
    missing: Collection[str],
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    quote: str | None = '"',
) -> TextFile:
    """A text file after a look at its beginning."""
    shown, suffix = str(source), source.suffix.lower()
    inner = Path(source.stem).suffix.lower() if suffix == ".gz" else suffix
    if inner not in TEXT_SUFFIXES:
        raise DataError(
            "unknown-format",
            f"{shown!r} has no suffix that Shoal knows: .csv, .tsv, .txt (also .gz), .parquet, .feather, "
            ".arrow or .ipc.",
        )
    tokens = tuple([missing] if isinstance(missing, str) else missing)
    delimiter = delimiter or ("\t" if inner == ".tsv" else None)
    return TextFile(source, shown, tokens, look(source, shown, tokens, encoding, delimiter, quote, decimal))


def read_source(
    source: Any,
    *,
    kinds: Mapping[str, Kind] | None = None,
    missing: Collection[str] = (),
    only: Collection[str] | None = None,
) -> Table:
    """A table from a file, a dataset or a query, as `to_table` would have it from memory; `only` as there."""
    how: dict[str, Any] = {"missing": missing} if missing else {}
    if not isinstance(source, str | os.PathLike):
        from shoal.data.coded import read_rows
        from shoal.data.sources import open_source

        return read_rows(open_source(source, kinds=kinds, only=only, **how))
    if only is None:
        return read_table(source, kinds=kinds, **how)
    names = _open(source, **how).names
    wanted = [name for name in names if name in only] or names[:1]
    known = {name: kind for name, kind in (kinds or {}).items() if name in wanted}
    return read_table(source, kinds=known, columns=wanted, **how)


class TextFile:
    """A CSV file after a look at its beginning."""

    def __init__(self, source: Path, shown: str, missing: tuple[str, ...], found: Look) -> None:
        self.source, self.shown, self.missing, self.found = source, shown, missing, found
        self.names = found.names

    def open(self, names: Sequence[str], kinds: Kinds) -> Callable[[str], Column]:
        convert = self.convert(names, dict.fromkeys(self.texts(kinds), TEXT))
        found = dict(zip(names, self._read(convert).columns, strict=True))
        return lambda name: self.column(name, found.pop(name), kinds)

    def texts(self, kinds: Kinds) -> set[str]:
        """The columns that are texts, whatever they look like."""
        text = {self.names[i] for i in self.found.text if self.names[i] not in kinds}
        return text | {name for name, kind in kinds.items() if kind == "categorical"}

    def convert(self, names: Sequence[str], types: Mapping[str, pa.DataType]) -> pacsv.ConvertOptions:
        """How cells become values; the types of some columns are known."""
        header = dict(zip(self.names, self.found.header, strict=True))  # names as written, with their blanks
        # blanks are allowed around what stands for missing
        nulls = {blank + token + end for token in self.missing for blank in ("", " ") for end in ("", " ")}
        return pacsv.ConvertOptions(
            include_columns=[header[name] for name in names],
            column_types={header[name]: of for name, of in types.items()},
            null_values=sorted(nulls),
            strings_can_be_null=True,
            auto_dict_encode=True,
            auto_dict_max_cardinality=2**31 - 1,
            decimal_point=self.found.decimal,
            # what is written true, or as a time of day, stays the text it is
            true_values=[],
            false_values=[],
            timestamp_parsers=["%%"],
        )

    def column(
        self, name: str, chunks: pa.ChunkedArray, kinds: Kinds, weights: NDArray[np.int64] | None = None
    ) -> Column:
        """A column from what was read; `weights` as in `encode`."""
        kind = kinds.get(name)
        if pa.types.is_dictionary(chunks.type):
            if not pa.types.is_string(chunks.type.value_type):
                raise undecodable(self.shown, self.found.encoding)
            chunks, number = self._tidy(chunks, name not in self.texts(kinds))
            kind = kind or ("numeric" if number else "categorical")
        column = encode(name, chunks, kind=kind, missing=self.missing, weights=weights)
        if kinds.get(name) == "categorical" and all(map(_is_whole, column.names)):
            return replace(column, labels="integer")
        return column

    def _read(self, convert: pacsv.ConvertOptions) -> pa.Table:
        # quoted line ends and very long lines cost time: allow for them only when they turn up
        for careful in (False, True):
            try:
                return self._parse(convert, careful=careful)
            except UnicodeDecodeError:
                raise undecodable(self.shown, self.found.encoding) from None
            except pa.ArrowInvalid as error:
                if "UTF8" in str(error):
                    raise undecodable(self.shown, self.found.encoding) from None
            except OSError:
                raise DataError("damaged-file", f"{self.shown!r} cannot be read to its end.") from None
        raise self.ragged(convert)

    def _parse(
        self, convert: pacsv.ConvertOptions, *, careful: bool, bad_row: Any = None, threads: bool = True
    ) -> pa.Table:
        with self.stream() as stream:
            return pacsv.read_csv(stream, *self.layout(careful=careful, bad_row=bad_row, threads=threads), convert)

    def stream(self) -> pa.NativeFile:
        """The file's bytes, unpacked."""
        return pa.input_stream(str(self.source), compression="gzip" if self.source.suffix.lower() == ".gz" else None)

    def layout(
        self, *, careful: bool, bad_row: Any = None, threads: bool = True
    ) -> tuple[pacsv.ReadOptions, pacsv.ParseOptions]:
        """How the file is cut into cells."""
        size = 2**26 if careful else 2**21
        return pacsv.ReadOptions(
            encoding=self.found.encoding, use_threads=threads, block_size=size
        ), pacsv.ParseOptions(
            delimiter=self.found.delimiter,
            quote_char=self.found.quote or False,
            newlines_in_values=careful,
            invalid_row_handler=bad_row,
        )

    def ragged(self, convert: pacsv.ConvertOptions) -> DataError:
        """Count the rows that do not fit. Only one thread knows where it is."""
        wrong: list[int] = []

        def bad_row(row: pacsv.InvalidRow) -> str:
            wrong.append(row.number or 0)
            return "skip"

        try:
            self._parse(convert, careful=True, bad_row=bad_row, threads=False)
        except pa.ArrowInvalid:
            wrong.clear()
        if not wrong:
            return DataError("malformed-file", f"{self.shown!r} cannot be cut into rows. Is a quote left open?")
        return DataError(
            "ragged-line",
            f"{len(wrong)} row(s) of {self.shown!r} do not have {len(self.names)} values; the first is row "
            f"{wrong[0]}, the header being row 1.",
        )

    def _tidy(self, chunks: pa.ChunkedArray, numbers: bool) -> tuple[pa.ChunkedArray, bool]:
        """Blanks around strings go; if then all are numbers, they are. Looks at distinct strings only."""
        chunks = chunks.unify_dictionaries()
        if chunks.num_chunks == 0:
            return chunks, False
        entries = chunks.chunk(0).dictionary
        trimmed = pc.utf8_trim_whitespace(entries)
        if trimmed.equals(entries):
            return chunks, False
        if numbers:
            plain = pc.if_else(pc.is_in(trimmed, pa.array(self.missing, pa.string())), None, trimmed)
            try:
                trimmed = pc.replace_substring(plain, self.found.decimal, ".").cast(pa.float64())
            except pa.ArrowInvalid:
                numbers = False
        pieces = [pa.DictionaryArray.from_arrays(chunk.indices, trimmed) for chunk in chunks.chunks]
        return pa.chunked_array(pieces), numbers


def _is_whole(text: str) -> bool:
    return re.fullmatch("0|-?[1-9][0-9]*", text) is not None


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


class _ParquetFile:
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


class _ArrowFile:
    """An Arrow IPC file (Feather is another name for it) or stream."""

    def __init__(self, source: Path, shown: str, missing: tuple[str, ...]) -> None:
        self.missing = missing
        with open_arrow(source, shown) as (schema, batches):
            self.table = pa.Table.from_batches(batches, schema)
        self.names = [name for name in self.table.schema.names if not name.startswith(PANDAS_INDEX)]

    def open(self, names: Sequence[str], kinds: Kinds) -> Callable[[str], Column]:
        return lambda name: encode(name, self.table[name], kind=kinds.get(name), missing=self.missing)
