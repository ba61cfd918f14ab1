# SPDX-License-Identifier: Apache-2.0
"""The encoded, read-only table: small integer codes and one dictionary a column."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError, closest

Kind = Literal["numeric", "categorical"]
Kinds = Mapping[str, Kind]  # of some columns
Codes = NDArray[Any]  # uint8, uint16 or int32: the smallest that holds the dictionary


def smallest_dtype(n_codes: int) -> np.dtype[Any]:
    """The code type for a dictionary of `n_codes` entries."""
    if n_codes <= 2**8:
        return np.dtype(np.uint8)
    return np.dtype(np.uint16) if n_codes <= 2**16 else np.dtype(np.int32)


def count_codes(codes: Codes, n_codes: int, weights: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """How many rows have each code; `weights` as in `Column`."""
    if weights is None:
        return np.bincount(codes, minlength=n_codes).astype(np.int64, copy=False)
    counts = np.zeros(n_codes, dtype=np.int64)  # whole numbers throughout, which bincount's own weights are not
    held = weights > 0  # an entry that no row has need not have a code any more
    np.add.at(counts, codes[held], weights[held])
    return counts


@dataclass(frozen=True, eq=False)
class Column:
    """One column as codes into a sorted dictionary.

    Parameters
    ----------
    name
        The column's name.
    kind
        ``"numeric"`` (values are sorted distinct finite numbers) or ``"categorical"`` (sorted distinct strings).
    codes
        One code a row. Code ``len(values)`` means missing, and only where `missing` is true.
    values
        The dictionary: `float64` array, or tuple of strings. It may hold values no row has (a declared domain).
    missing
        Whether missing is one of the column's values.
    integer
        For a numeric column: whether every value is a whole number.
    bounds
        For a numeric column: the declared or safe domain, once it is known.
    labels
        What a categorical value was before it became a string: ``"string"``, ``"integer"``, ``"number"`` or
        ``"boolean"``. Lets a classifier answer in the type it was taught.
    weights
        How many rows each of `codes` stands for, where rows are elsewhere (see `Counted`) or rows that say the same are
        held once (see `distinct_rows`). None: one each.
    """

    name: str
    kind: Kind
    codes: Codes
    values: tuple[str, ...] | NDArray[np.float64]
    missing: bool = False
    integer: bool = False
    bounds: tuple[float, float] | None = None
    labels: Literal["string", "integer", "number", "boolean"] = "string"
    weights: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        self.codes.setflags(write=False)
        if isinstance(self.values, np.ndarray):
            self.values.setflags(write=False)

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        # values of a private column must not appear in a log by accident
        return f"<Column {self.name!r}: {self.kind}, {len(self)} rows, {self.n_codes} codes>"

    @property
    def n_codes(self) -> int:
        """How many codes there are, missing included."""
        return len(self.values) + self.missing

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The dictionary of a numeric column."""
        assert isinstance(self.values, np.ndarray)
        return self.values

    @property
    def names(self) -> tuple[str, ...]:
        """The dictionary of a categorical column."""
        assert isinstance(self.values, tuple)
        return self.values

    def counts(self) -> NDArray[np.int64]:
        """How many rows have each code."""
        return count_codes(self.codes, self.n_codes, self.weights)

    def rows(self, chosen: NDArray[np.bool_]) -> int:
        """How many rows some of `codes` are of."""
        return int(np.count_nonzero(chosen)) if self.weights is None else int(self.weights[chosen].sum())

    @property
    def n_missing(self) -> int:
        """How many rows are missing."""
        return self.rows(self.codes == len(self.values))

    def take(self, rows: NDArray[Any]) -> Column:
        """The same column for some rows (indices or a mask); the dictionary stays."""
        return replace(self, codes=self.codes[rows], weights=None if self.weights is None else self.weights[rows])

    def compact(self) -> Column:
        """The same column without dictionary entries that no row has."""
        present = self.counts() > 0
        if present.all():
            return self
        kept = np.flatnonzero(present[: len(self.values)])
        missing = bool(self.missing and present[-1])
        renumber = np.cumsum(present) - 1
        codes = renumber.astype(smallest_dtype(len(kept) + missing))[self.codes]
        values = self.numbers[kept] if self.kind == "numeric" else tuple(self.names[i] for i in kept)
        return replace(self, codes=codes, values=values, missing=missing)


class Columns(Mapping[str, Column]):
    """Columns by name, of so many rows: a `Table`, or `Counted` columns of rows that are elsewhere."""

    _columns: Mapping[str, Column]
    n_rows: int

    @abstractmethod
    def like(self, columns: Iterable[Column]) -> Self:
        """Other columns of the same rows."""

    def __getitem__(self, name: str) -> Column:
        try:
            return self._columns[name]
        except KeyError:
            raise DataError("no-column", f"No column {name!r}.{closest(name, self._columns)}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def get(self, name: str, default: Any = None) -> Any:
        """The column of a name, or `default` where there is none: what is missing here is no error."""
        return self._columns.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def names(self) -> list[str]:
        """The columns' names, in order."""
        return list(self._columns)

    def drop(self, names: Iterable[str]) -> Self:
        """The table without some columns (names it does not have are no error)."""
        gone = set(names)
        return self.like(column for name, column in self._columns.items() if name not in gone)


class Table(Columns):
    """An encoded table: columns by name, all of the same length, none of them writable.

    >>> import shoal
    >>> table = shoal.load_sample().table
    >>> table
    <Table: 5000 rows, 9 columns>
    >>> table["sex"]
    <Column 'sex': categorical, 5000 rows, 2 codes>
    """

    def __init__(self, columns: Iterable[Column]) -> None:
        columns = list(columns)
        if not columns:
            raise DataError("empty-table", "The table has no columns.")
        lengths = {len(column) for column in columns}
        if len(lengths) > 1:
            raise DataError("ragged-table", f"The columns have different lengths: {sorted(lengths)}.")
        names = [column.name for column in columns]
        twice = sorted(name for name, n in Counter(names).items() if n > 1)
        if twice:
            raise DataError(
                "column-twice", f"Column name(s) given more than once: {', '.join(map(repr, twice))}. Rename them."
            )
        self._columns = {column.name: column for column in columns}
        self.n_rows = lengths.pop()

    def __repr__(self) -> str:
        return f"<Table: {self.n_rows} rows, {len(self)} columns>"

    def like(self, columns: Iterable[Column]) -> Self:
        """Other columns of the same rows."""
        return type(self)(columns)

    @property
    def weights(self) -> NDArray[np.int64] | None:
        """How many people each row stands for, where rows that say the same are held once; None: one each."""
        return next(iter(self._columns.values())).weights

    @property
    def times(self) -> NDArray[np.int64]:
        """How many people each row stands for."""
        weights = self.weights
        return np.ones(self.n_rows, dtype=np.int64) if weights is None else weights

    @property
    def n_people(self) -> int:
        """How many people the rows stand for."""
        weights = self.weights
        return self.n_rows if weights is None else int(weights.sum())

    def select(self, names: Sequence[str]) -> Table:
        """Some of the columns, in the order asked for."""
        return Table(self[name] for name in names)

    def take(self, rows: NDArray[Any]) -> Table:
        """Some of the rows (indices or a mask); dictionaries stay."""
        return Table(column.take(rows) for column in self._columns.values())

    def with_column(self, column: Column) -> Table:
        """The table with one column replaced or, if new, added at the end."""
        columns = {**self._columns, column.name: column}
        return Table(columns.values())

    def complete(self) -> Table:
        """Only the rows in which nothing is missing, with dictionaries to match."""
        keep = np.ones(self.n_rows, dtype=bool)
        for column in self._columns.values():
            if column.missing:
                keep &= column.codes != len(column.values)
        return Table(column.take(keep).compact() for column in self._columns.values())
