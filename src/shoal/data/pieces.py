# SPDX-License-Identifier: Apache-2.0
"""A table in pieces: rows that are looked at a batch at a time, all over the same dictionaries."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.data.coded import CodedRows
from shoal.data.counted import Counted
from shoal.data.grouped import distinct_rows
from shoal.data.table import Column, Table


class Pieces:
    """Coded rows over settled domains.

    Parameters
    ----------
    rows
        The rows.
    columns
        What became of `rows.columns`.
    """

    def __init__(self, rows: CodedRows, columns: Counted) -> None:
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
        return distinct_rows(self, most)

    def __iter__(self) -> Iterator[Table]:
        return self._rows.tables(self.columns)
