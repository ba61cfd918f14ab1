# SPDX-License-Identifier: Apache-2.0
"""Rows that say the same, held once with their number: all that methods need which only count people."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Codes, Column, Table, smallest_dtype
from shoal.errors import DataError

Ids = NDArray[np.int64]
Words = list[Ids]  # the codes of rows, several columns in each number
MOST = 4_000_000  # different rows that are held in memory
AT_ONCE = 1 << 20  # different rows of batches that wait to be taken together
LIMIT = "SHOAL_MOST_GROUPS"


def most_groups() -> int:
    """How many different rows may be held in memory: 4 million, or what the environment says."""
    said = os.environ.get(LIMIT, str(MOST))
    if not said.isdecimal() or int(said) < 1:
        raise DataError("too-many-groups", f"{LIMIT} in the environment must be a whole number, such as {MOST}.")
    return int(said)


def distinct_rows(batches: Iterable[Table], most: int) -> Table:
    """The different rows of some batches, sorted, with `weights`: how many rows each stands for.

    All batches have the same dictionaries. More than `most` different rows are refused.

    >>> from shoal.data import to_table
    >>> rows = to_table({"sex": ["m", "f", "m"], "sick": ["no", "no", "no"]})
    >>> found = distinct_rows([rows], most=10)
    >>> found["sex"].codes.tolist(), found.weights.tolist(), found.n_people
    ([0, 1], [1, 2], 3)
    """
    found: _Distinct | None = None
    for table in batches:
        found = found or _Distinct(table, most)
        found.add(table)
    assert found is not None, "there are rows"
    return found.table()


class _Distinct:
    """Different rows so far: those taken together, and those of batches that wait."""

    def __init__(self, table: Table, most: int) -> None:
        self._columns = list(table.values())
        self._most = most
        self._words = _places([column.n_codes for column in self._columns])
        self._found: list[tuple[Words, Ids]] = []

    def add(self, table: Table) -> None:
        words = [self._packed(table, word) for word in self._words]
        self._found.append(_together(words, table.weights))
        waiting = sum(len(weights) for _, weights in self._found[1:])
        if waiting > max(AT_ONCE, len(self._found[0][1])):
            self._merge()

    def _packed(self, table: Table, word: Sequence[int]) -> Ids:
        key = np.zeros(table.n_rows, dtype=np.int64)
        for place in word:
            column = self._columns[place]
            key *= column.n_codes
            key += table[column.name].codes
        return key

    def _merge(self) -> None:
        if len(self._found) > 1:
            words = [np.concatenate(parts) for parts in zip(*(words for words, _ in self._found), strict=True)]
            self._found = [_together(words, np.concatenate([weights for _, weights in self._found]))]
        if len(self._found[0][1]) > self._most:
            raise too_many(self._columns, self._most)

    def table(self) -> Table:
        self._merge()
        words, weights = self._found[0]
        codes: dict[int, Codes] = {}
        for places, word in zip(self._words, words, strict=True):
            for place in reversed(places):
                column = self._columns[place]
                word, rest = np.divmod(word, column.n_codes)
                codes[place] = rest.astype(smallest_dtype(column.n_codes))
        return Table(replace(column, codes=codes[i], weights=weights) for i, column in enumerate(self._columns))


def too_many(columns: Iterable[Column], most: int) -> DataError:
    """The refusal of columns that have more different rows than can be held."""
    worst = max(columns, key=lambda column: column.n_codes)
    return DataError(
        "too-many-groups",
        f"These columns have more than {most:,} different rows, which is all that is held in memory; {worst.name!r} "
        f"alone has up to {worst.n_codes:,} different values. Leave out columns, give numbers a hierarchy of "
        f"intervals, or set {LIMIT} in the environment higher.",
    )


def _places(n_codes: Sequence[int]) -> list[list[int]]:
    """Which columns go into which word, in their order: as many as a number holds."""
    words: list[list[int]] = [[]]
    size = 1
    for place, n in enumerate(n_codes):
        if size * n >= 2**63:
            words.append([])
            size = 1
        words[-1].append(place)
        size *= n
    return words


def _together(words: Words, weights: Ids | None) -> tuple[Words, Ids]:
    """The different ones of some rows, sorted, and how many each stands for."""
    if len(words) == 1 and weights is None:
        words = [np.sort(words[0])]
    else:
        order = np.lexsort(words[::-1])
        words = [word[order] for word in words]
        weights = None if weights is None else weights[order]
    begins = np.zeros(len(words[0]), dtype=bool)
    begins[0] = True
    for word in words:
        begins[1:] |= word[1:] != word[:-1]
    first = np.flatnonzero(begins)
    if weights is None:
        counts = np.diff(np.append(first, len(begins)))
    else:
        counts = np.add.reduceat(weights, first)
    return [word[first] for word in words], counts


class Repeated(Table):
    """A table of many rows, of which those that say the same are stored once and stand together.

    A column that is asked for comes row by row, as that of any table. `stored` has the different rows, with `weights`.

    Parameters
    ----------
    stored
        The different rows, each with how often it is there.

    Examples
    --------
    >>> from shoal.data import to_table
    >>> rows = Repeated(distinct_rows([to_table({"sex": ["m", "f", "m"]})], most=10))
    >>> rows.n_rows, rows["sex"].codes.tolist(), rows.stored.n_rows
    (3, [0, 1, 1], 2)
    """

    def __init__(self, stored: Table) -> None:
        self.stored = stored
        self._columns = _RowByRow(stored)
        self.n_rows = stored.n_people

    @property
    def weights(self) -> None:
        """None: it has a row for every person."""

    def like(self, columns: Iterable[Column]) -> Table:  # type: ignore[override]  # they come row by row
        """Other columns of the same rows."""
        return Table(columns)


class _RowByRow(Mapping[str, Column]):
    """The columns of stored rows, each made when it is asked for."""

    def __init__(self, stored: Table) -> None:
        self._stored = stored

    def __getitem__(self, name: str) -> Column:
        if name not in self._stored:
            raise KeyError(name)
        column = self._stored[name]
        return replace(column, codes=np.repeat(column.codes, self._stored.times), weights=None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)


def stored_rows(table: Table) -> Table:
    """The rows of a table as they are stored: with `weights`, where one stands for several."""
    return table.stored if isinstance(table, Repeated) else table


def windows(times: Ids, rows: int) -> Iterator[Ids]:
    """Which stored row each row is, so many rows at a time.

    >>> [each.tolist() for each in windows(np.array([2, 1, 3]), 4)]
    [[0, 0, 1, 2], [2, 2]]
    """
    ends = np.cumsum(times)
    total = int(ends[-1]) if len(ends) else 0
    for start in range(0, total, rows):
        stop = min(start + rows, total)
        first, last = np.searchsorted(ends, [start, stop - 1], side="right").tolist()
        inside = np.minimum(ends[first : last + 1], stop) - np.maximum((ends - times)[first : last + 1], start)
        yield np.repeat(np.arange(first, last + 1), inside)


def coarser(column: Column, place_of_code: NDArray[Any]) -> Column:
    """A column in which all values at one place are the first of them that is listed.

    For methods and audits that tell no such values apart: there are fewer different rows then. `place_of_code` has a
    place for every code, missing included where there is any.
    """
    n = column.n_codes
    _, first, of_code = np.unique(place_of_code[:n], return_index=True, return_inverse=True)
    code_of = np.append(first[of_code.reshape(-1)], n)  # an entry that no row has may have a code beyond
    return replace(column, codes=code_of.astype(smallest_dtype(n + 1))[np.minimum(column.codes, n)])
