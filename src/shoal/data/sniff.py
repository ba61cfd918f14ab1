# SPDX-License-Identifier: Apache-2.0
"""A look at the beginning of a text file: how it is written, and what its columns are called."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

from shoal.errors import DataError

HEAD_BYTES = 256 * 1024
DELIMITERS = (",", ";", "\t", "|")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x19\x1b-\x1f]")
_WHOLE = re.compile(r"[0-9]+")
_NUMBER = re.compile(r"[-+]?[0-9]*[.,]?[0-9]+(?:[eE][-+]?[0-9]+)?")
_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+(?:[eE][-+]?[0-9]+)?")
_POINT = re.compile(r"[-+]?[0-9]*\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+")
# Arrow reads these as times and numbers and would give back another text
_LITERAL = re.compile(r"[0-9]{2}:[0-9]{2}(?::[0-9]{2})?|0[xX][0-9a-fA-F]+")


@dataclass(frozen=True)
class Look:
    """What was found out about a text file.

    `header` has the names as they are written, blanks included. `text` has the columns, by position, whose
    cells look like numbers but are names.
    """

    encoding: str
    delimiter: str
    quote: str | None
    decimal: str
    header: tuple[str, ...]
    text: frozenset[int]

    @property
    def names(self) -> list[str]:
        """The column names."""
        return [name.strip() for name in self.header]


def look(
    source: Path,
    shown: str,
    missing: Collection[str],
    encoding: str | None,
    delimiter: str | None,
    quote: str | None,
    decimal: str | None,
) -> Look:
    """Look at the first 256 KB of `source`, which messages call `shown`."""
    for what, character in (("delimiter", delimiter), ("quote", quote or None), ("decimal", decimal)):
        if character is not None and (len(character) != 1 or not character.isascii()):
            raise DataError("csv-option", f"The {what} of a text file must be one plain character.")
    head, complete = _head(source, shown)
    marked = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    binary = DataError("binary-file", f"{shown!r} is no text file, or in an encoding that has to be given.")
    if b"\0" in head and encoding is None and not marked:
        raise binary
    text, encoding = _decoded(head, complete, shown, encoding or ("utf-16" if marked else None))
    if _CONTROL.search(text):
        raise binary
    if not text.strip():
        raise DataError("empty-file", f"{shown!r} is empty.")
    if delimiter is None:
        delimiter = _delimiter(text, quote)
    rows = list(_records(text, delimiter, quote))
    if not complete and len(rows) > 1:
        rows.pop()  # it may be cut off
    header = tuple(rows[0])
    columns = _cells(rows, missing)
    _check_header(header, columns, shown)
    if complete and len(rows) == 1:
        raise DataError("no-rows", f"{shown!r} has column names, but no rows.")
    if decimal is None:
        decimal = _decimal(columns, delimiter)
    names = frozenset(i for i, cells in enumerate(columns) if _are_names(cells))
    return Look(encoding, delimiter, quote, decimal, header, names)


def _head(source: Path, shown: str) -> tuple[bytes, bool]:
    """The first bytes, and whether they are all there is."""
    try:
        with gzip.open(source) if source.suffix.lower() == ".gz" else source.open("rb") as file:
            head = file.read(HEAD_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise DataError("damaged-file", f"{shown!r} is no complete gzip file.") from None
    except OSError as error:
        raise DataError("unreadable-file", f"{shown!r} cannot be opened ({error.strerror}).") from None
    return head[:HEAD_BYTES], len(head) <= HEAD_BYTES


def _decoded(head: bytes, complete: bool, shown: str, given: str | None) -> tuple[str, str]:
    tried = [given] if given else ["utf-8", "cp1252"]
    for encoding in tried:
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(head, final=complete)
        except LookupError:
            raise DataError("unknown-encoding", f"There is no encoding {encoding!r}.") from None
        except UnicodeDecodeError:
            continue
        return text.removeprefix("\ufeff"), encoding
    raise undecodable(shown, tried[0])


def undecodable(shown: str, encoding: str) -> DataError:
    """The refusal of a file with bytes that are no text."""
    return DataError("undecodable", f"{shown!r} has bytes that are no {encoding} text. Try another encoding=.")


def _records(text: str, delimiter: str, quote: str | None) -> Iterator[list[str]]:
    lines = io.StringIO(text, newline="")
    try:
        if quote:
            reader = csv.reader(lines, delimiter=delimiter, quotechar=quote)
        else:
            reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        yield from (row for row in reader if row)
    except csv.Error:  # a quote that is never closed: the real reader will say so
        return


def _delimiter(text: str, quote: str | None) -> str:
    """The one that cuts most rows like the header; then the one that makes most columns."""
    best, best_score = ",", (0.0, 1)
    for delimiter in DELIMITERS:
        rows = list(islice(_records(text, delimiter, quote), 200))
        width = len(rows[0]) if rows else 0
        score = (sum(len(row) == width for row in rows) / max(len(rows), 1), width)
        if width > 1 and score > best_score:
            best, best_score = delimiter, score
    return best


def _cells(rows: list[list[str]], missing: Collection[str]) -> list[list[str]]:
    """The cells of each column below the header, without blanks around them and without missing ones."""
    width = len(rows[0])
    cut = zip(*(row for row in rows[1:] if len(row) == width), strict=True)
    columns = [[cell for cell in map(str.strip, column) if cell and cell not in missing] for column in cut]
    return columns or [[] for _ in range(width)]


def _check_header(header: tuple[str, ...], columns: list[list[str]], shown: str) -> None:
    """Refuse a first line that is a row: its cells must not become names, which messages may show."""
    names = [name.strip() for name in header]
    numbers = [float(name.replace(",", ".")) for name in names if _NUMBER.fullmatch(name)]
    # 0, 1, 2 or 2019, 2020 may be names; anything else that is all numbers is a row
    counting = all(map(_WHOLE.fullmatch, names)) and all(a < b for a, b in pairwise(numbers))
    repeated = sum(name in set(cells) for name, cells in zip(names, columns, strict=True) if name)
    if (len(numbers) == len(names) and not counting) or 2 * repeated >= len(names):
        raise DataError(
            "no-header",
            f"The first line of {shown!r} looks like a row. It must have the names of the columns.",
        )
    unnamed = [str(i + 1) for i, name in enumerate(names) if not name]
    if unnamed:
        raise DataError(
            "unnamed-column",
            f"Column(s) {', '.join(unnamed)} of {shown!r} have no name in the header line. Name or drop them "
            " (pandas: to_csv(..., index=False)).",
        )


def _decimal(columns: list[list[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    commas = [cell for cells in columns for cell in cells if _COMMA.fullmatch(cell)]
    points = sum(bool(_POINT.fullmatch(cell)) for cells in columns for cell in cells)
    # where ; parts the cells, the comma is the decimal sign; elsewhere 1,234 may be a thousand and more
    thousands = delimiter != ";" and all(map(_THOUSANDS.fullmatch, commas))
    return "," if len(commas) > points and not thousands else "."


def _are_names(cells: list[str]) -> bool:
    """Whole numbers of one width, some with leading zeros, such as zip codes; or times."""
    if not cells:
        return False
    width = len(cells[0])
    if width > 1 and all(len(cell) == width and cell.isascii() and cell.isdigit() for cell in cells):
        return any(cell[0] == "0" for cell in cells)
    return all(map(_LITERAL.fullmatch, cells))
