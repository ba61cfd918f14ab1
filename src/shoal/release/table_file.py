# SPDX-License-Identifier: Apache-2.0
"""The file of rows beside a released table: CSV whose cells are labels and exact private values."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from shoal.data.grouped import windows
from shoal.data.table import Column, Table
from shoal.errors import ReleaseError
from shoal.release.domain import plain

MAX_DATA_BYTES = 2 * 1024**3
MAX_NAME = 200
AT_ONCE = 2**17  # rows that are written at a time
BLOCK = 2**24  # bytes that are read at a time
MANY = 2**20  # rows from which on neighbours that say the same are held once


@dataclass(frozen=True, eq=False)
class Cells:
    """A column as entries and a position among them a row; −1 is an empty cell."""

    entries: list[Any]
    index: NDArray[np.int32]

    def decode(self, *, dictionary: bool = True) -> pa.Array:
        """The column as Arrow."""
        entries = pa.array(self.entries, None if self.entries else pa.string())
        array = pa.DictionaryArray.from_arrays(pa.array(self.index, mask=self.index < 0), entries)
        return array if dictionary else array.dictionary_decode()


def cells_of(rows: Table, public: Collection[str], *, typed: bool = False) -> dict[str, Cells]:
    """The cells of every published column, as texts or (`typed`) in the type that private values had.

    `public` names the columns of labels, among which an empty one means missing.
    """
    return {name: _labels(column) if name in public else _values(column, typed) for name, column in rows.items()}


def _labels(column: Column) -> Cells:
    index = column.codes.astype(np.int32)
    if "" in column.names:
        index = np.where(index == column.names.index(""), np.int32(-1), index)
    return Cells(list(column.names), index)


def _values(column: Column, typed: bool) -> Cells:
    entries: list[Any]
    if column.kind == "numeric":
        entries = column.numbers.tolist()
        if not typed:
            entries = [str(plain(number)) for number in entries]
        elif column.integer and all(abs(number) < 2**53 for number in entries):
            entries = [int(number) for number in entries]
    elif typed and column.labels != "string":
        make: Any = {"integer": int, "number": float, "boolean": "True".__eq__}[column.labels]
        entries = [make(value) for value in column.names]
    else:
        entries = list(column.names)
    index = column.codes.astype(np.int32)
    if column.missing:
        index = np.where(index == len(column.values), np.int32(-1), index)
    return Cells(entries, index)


def csv_parts(cells: Mapping[str, Cells], times: NDArray[np.int64] | None = None) -> Iterator[bytes]:
    """The file of rows, piece by piece: quoted only where needed, nothing for missing, two quotes for an empty text.

    `times` says how often each row is written, where that is not once.
    """
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(cells)
    yield header.getvalue().encode()
    # entries are quoted once each, never a cell at a time
    entries = [pa.array([_quoted(text) for text in each.entries], pa.large_string()) for each in cells.values()]
    n_rows = max(len(each.index) for each in cells.values())
    for some in _pieces(n_rows, times):
        parts = []
        for quoted, each in zip(entries, cells.values(), strict=True):
            index = each.index[some]
            parts.append(quoted.take(pa.array(index, mask=index < 0)))
        lines = pc.binary_join_element_wise(*parts, pa.scalar(",", pa.large_string()), null_handling="replace")
        ends = pa.array([0, len(lines)], pa.int64())
        body = pc.binary_join(pa.LargeListArray.from_arrays(ends, lines), pa.scalar("\n", pa.large_string()))[0]
        yield body.as_buffer().to_pybytes() + b"\n"


def _pieces(n_rows: int, times: NDArray[np.int64] | None) -> Iterator[Any]:
    """The rows that are written at a time, in the order of the file."""
    if times is not None:
        return windows(times, AT_ONCE)
    return (slice(start, start + AT_ONCE) for start in range(0, n_rows, AT_ONCE))


def _quoted(text: str) -> str:
    if text and not any(mark in text for mark in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def check_name(name: str) -> str:
    """The name of a file beside the release: a plain name, never a way to some other folder."""
    strange = any(mark in name for mark in '/\\:\0"<>|?*') or name in ("", ".", "..") or name.startswith(".")
    if strange or len(name) > MAX_NAME or not name.isprintable():
        raise ReleaseError(
            "data-file", "The file of rows must have a plain name, without a folder: it stands beside the release."
        )
    return name


def read_cells(
    path: Path, columns: Sequence[str], sha256: str, n_rows: int
) -> tuple[dict[str, Cells], NDArray[np.int64] | None]:
    """Read the file of rows that a release names; one that is missing or changed is refused.

    The file is read a piece at a time. Of more than a million rows, neighbours that say the same are held once: then
    the answer has such rows, and how many there are of each.
    """
    shown = repr(path.name)
    try:
        if not path.is_file():
            raise ReleaseError(
                "data-file", f"Its rows are not there: no file {shown} beside the release. Keep the two together."
            )
        size = path.stat().st_size
        if size > MAX_DATA_BYTES:
            raise ReleaseError("too-large", f"{shown} has {size:,} bytes; at most {MAX_DATA_BYTES:,} are read.")
        with open(path, "rb") as file:
            hashed = _Hashed(file)
            try:
                found = _read_pieces(hashed, columns, shown, runs=n_rows > MANY)
            except ReleaseError:
                _check_digest(hashed, sha256, shown)  # that it was changed says more than how
                raise
            _check_digest(hashed, sha256, shown)
    except OSError as error:
        raise ReleaseError("cannot-read", f"Cannot read {shown}: {error.strerror}.") from None
    if found.n_rows != n_rows:
        raise ReleaseError("data-file", f"{shown} has {found.n_rows:,} rows; the release states {n_rows:,}.")
    return found.cells()


class _Hashed(io.RawIOBase):
    """A file that is hashed as it is read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._digest = file, hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._file.read(len(buffer))
        self._digest.update(part)
        buffer[: len(part)] = part
        return len(part)

    def sha256(self) -> str:
        """The SHA-256 of all of it, to its end."""
        while self.read(2**20):
            pass
        return self._digest.hexdigest()


def _check_digest(hashed: _Hashed, sha256: str, shown: str) -> None:
    if hashed.sha256() != sha256:
        raise ReleaseError("data-file", f"{shown} is not the file this release was written with: its SHA-256 differs.")


def _read_pieces(hashed: _Hashed, columns: Sequence[str], shown: str, *, runs: bool) -> _Pieces:
    found = _Pieces(columns, runs)
    try:
        reader = pacsv.open_csv(
            pa.PythonFile(hashed, "r"),
            pacsv.ReadOptions(block_size=BLOCK, use_threads=False),
            pacsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            pacsv.ConvertOptions(
                column_types={name: pa.string() for name in columns},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        if reader.schema.names != list(columns):
            raise ReleaseError("data-file", f"{shown} does not have the columns that the release states.")
        for batch in reader:
            found.add(batch)
    except (pa.ArrowException, UnicodeDecodeError):
        raise ReleaseError("data-file", f"{shown} is no CSV file in UTF-8 with as many cells in each row.") from None
    return found


class _Pieces:
    """The cells of a file, a piece after the other; with `runs`, neighbours that say the same once."""

    def __init__(self, columns: Sequence[str], runs: bool) -> None:
        self._columns, self._runs = columns, runs
        self._entries: list[dict[str, int]] = [{} for _ in columns]
        self._index: list[list[NDArray[np.int32]]] = [[] for _ in columns]
        self._times: list[NDArray[np.int64]] = []
        self.n_rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        index = [self._place(entries, array) for entries, array in zip(self._entries, batch.columns, strict=True)]
        self.n_rows += batch.num_rows
        if self._runs and batch.num_rows:
            begins = np.zeros(batch.num_rows, dtype=bool)
            begins[0] = True
            for each in index:
                begins[1:] |= each[1:] != each[:-1]
            first = np.flatnonzero(begins)
            self._times.append(np.diff(np.append(first, batch.num_rows)))
            index = [each[first] for each in index]
        for pieces, each in zip(self._index, index, strict=True):
            pieces.append(each)

    def _place(self, entries: dict[str, int], array: pa.Array) -> NDArray[np.int32]:
        """Where each cell is among the entries of its column, which grow; -1 for an empty one."""
        encoded = array.dictionary_encode()
        known = [entries.setdefault(text, len(entries)) for text in encoded.dictionary.to_pylist()]
        index = encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
        return np.asarray(np.array([*known, -1], dtype=np.int32)[index])

    def cells(self) -> tuple[dict[str, Cells], NDArray[np.int64] | None]:
        """The columns, and how many rows each stands for where that is not one."""
        none = np.empty(0, dtype=np.int32)
        cells = {
            name: Cells(list(entries), np.concatenate([none, *pieces]))
            for name, entries, pieces in zip(self._columns, self._entries, self._index, strict=True)
        }
        return cells, np.concatenate(self._times) if self._runs else None
