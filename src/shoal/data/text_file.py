# SPDX-License-Identifier: Apache-2.0
"""A text file of rows (CSV, TSV) after a look at its beginning: its columns, and how its cells are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from shoal.data.encode import encode
from shoal.data.sniff import Look, look, undecodable
from shoal.data.table import Column, Kinds
from shoal.errors import DataError

TEXT = pa.dictionary(pa.int32(), pa.string())
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")


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
