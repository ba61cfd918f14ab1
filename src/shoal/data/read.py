# SPDX-License-Identifier: Apache-2.0
"""Files into a `Table`: CSV, Parquet and Arrow.

The readers' own messages quote rows, so none of them is ever passed on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from shoal.data.columnar_files import ArrowFile, ParquetFile
from shoal.data.frames import check_kinds, refuse_twice
from shoal.data.table import Column, Kinds, Table
from shoal.data.text_file import open_text
from shoal.errors import DataError, closest


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
    kinds: Kinds | None = None,
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
        file = ParquetFile(source, shown, tokens)
    elif suffix in (".feather", ".arrow", ".ipc"):
        file = ArrowFile(source, shown, tokens)
    else:
        how = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal, "quote": quote}
        file = open_text(source, missing=tokens, **how)
    refuse_twice(file.names, f" in {shown!r}")
    return file


def read_source(
    source: Any,
    *,
    kinds: Kinds | None = None,
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
