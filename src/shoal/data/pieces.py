# SPDX-License-Identifier: Apache-2.0
"""A table in pieces: rows that are looked at where they are, all over the same dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from shoal.data.counted import Counted
from shoal.data.table import Column, Table

Found = TypeVar("Found")


class RowsInPieces(Protocol):
    """Coded rows on disk, or on a cluster."""

    def mapped(self, function: Callable[[Iterator[Table]], Any], columns: Mapping[str, Column]) -> list[Any]:
        """What a function makes of the rows of every part of the whole, a table after the other.

        The tables are over dictionaries that came of those of the rows. The function may run elsewhere.
        """
        ...

    def different(self, columns: Mapping[str, Column], most: int) -> Table:
        """The different rows over such dictionaries, with `weights`; more than `most` are refused."""
        ...


class Pieces:
    """Coded rows over settled domains.

    Parameters
    ----------
    rows
        The rows.
    columns
        What became of `rows.columns`.
    """

    def __init__(self, rows: RowsInPieces, columns: Counted) -> None:
        self._rows = rows
        self.columns = columns
        self.n_rows = columns.n_rows

    @property
    def names(self) -> list[str]:
        """The columns' names, in order."""
        return self.columns.names

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def like(self, columns: Counted) -> Pieces:
        """The same rows over other dictionaries."""
        return Pieces(self._rows, columns)

    def grouped(self, most: int) -> Table:
        """The different rows, each with how many there are of it; more than `most` are refused."""
        return self._rows.different(self.columns, most)

    def mapped(self, function: Callable[[Iterator[Table]], Found]) -> list[Found]:
        """What a function makes of the rows of every part of the whole; see `RowsInPieces`."""
        return self._rows.mapped(function, self.columns)
