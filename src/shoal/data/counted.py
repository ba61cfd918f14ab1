# SPDX-License-Identifier: Apache-2.0
"""A table whose rows are elsewhere: on disk, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from shoal.data.table import Column, Columns


class Counted(Columns):
    """The columns of rows that are elsewhere: of each the dictionary, and how many rows have each entry.

    `codes` of a column has one code an entry instead of one a row, and `weights` says how many rows have that entry. An
    entry is what the rows are stored as; so what becomes of `codes`, while a domain is settled and features are made,
    tells how to recode the stored rows.

    >>> import numpy as np
    >>> sex = Column("sex", "categorical", np.array([0, 1]), ("f", "m"), weights=np.array([30, 12]))
    >>> people = Counted([sex], 42)
    >>> people["sex"].counts().tolist(), people.n_rows
    ([30, 12], 42)
    """

    def __init__(self, columns: Iterable[Column], n_rows: int) -> None:
        self._columns = {column.name: column for column in columns}
        self.n_rows = n_rows

    def __repr__(self) -> str:
        return f"<Counted: {self.n_rows} rows elsewhere, {len(self)} columns>"

    def like(self, columns: Iterable[Column]) -> Self:
        """Other columns of the same rows."""
        return type(self)(columns, self.n_rows)
