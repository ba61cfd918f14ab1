# SPDX-License-Identifier: Apache-2.0
"""The rows of a released table as a file of another kind, written a piece at a time."""

from __future__ import annotations

import csv
import io
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from shoal.data.grouped import windows
from shoal.release.files import written_whole
from shoal.release.numbers import Numbers, number_columns
from shoal.release.table import TableRelease, frame_columns
from shoal.release.verdict import check_writable

AT_ONCE = 2**17  # rows that are written at a time


def write_rows(release: TableRelease, path: str | os.PathLike[str], *, numbers: Numbers = "intervals") -> None:
    """Write the published rows to a Parquet file or, by any other name, a CSV file, in the order of the release.

    Parameters
    ----------
    release
        A released table, whose audit holds: otherwise nothing is written.
    path
        The file. It is there when all rows are written, or as it was before.
    numbers
        How generalised numbers are written, as for `TableRelease.to_frame`.

    Examples
    --------
    >>> import tempfile
    >>> from shoal import load_sample, read_table
    >>> from shoal.anonymize import TreeAnonymizer
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> release = TreeAnonymizer(privacy=1500).fit(people, "diabetes").release_
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_rows(release, Path(folder, "rows.parquet"), numbers="ends")
    ...     read_table(Path(folder, "rows.parquet"))
    <Table: 5000 rows, 4 columns>
    """
    check_writable(release.verdict, release.sha256)
    target = Path(path)
    write = _parquet if target.suffix.lower() == ".parquet" else _csv
    with written_whole(target) as beside:
        write(beside, _pieces(release, numbers))


def check_numbers(release: TableRelease, numbers: Numbers) -> None:
    """Refuse a way of writing numbers that the columns do not allow, before anything is written."""
    next(_pieces(release, numbers))


def _pieces(release: TableRelease, numbers: Numbers) -> Iterator[pa.Table]:
    for some in windows(release.stored.times, AT_ONCE):
        rows = release.stored.take(some)
        columns = frame_columns(rows, release.public)
        yield pa.table(number_columns(numbers, columns, rows, release.attributes, release.generalised))


def _parquet(path: Path, pieces: Iterator[pa.Table]) -> None:
    first = next(pieces)
    with pq.ParquetWriter(path, first.schema) as writer:
        for piece in itertools.chain([first], pieces):
            writer.write_table(piece)


def _csv(path: Path, pieces: Iterator[pa.Table]) -> None:
    with open(path, "wb") as file:
        for number, piece in enumerate(pieces):
            file.write(csv_bytes(piece, header=number == 0))


def csv_bytes(table: pa.Table, *, header: bool) -> bytes:
    """An Arrow table as CSV, quoted only where it must be."""
    top = io.StringIO()
    if header:
        csv.writer(top, lineterminator="\n").writerow(table.column_names)
    for quoting in ("none", "needed"):
        body = pa.BufferOutputStream()
        try:
            pacsv.write_csv(table, body, pacsv.WriteOptions(include_header=False, quoting_style=quoting))
        except pa.ArrowInvalid:
            continue  # some value holds a comma or a quote
        return top.getvalue().encode() + bytes(body.getvalue())
    raise AssertionError("quoting where needed always works")
