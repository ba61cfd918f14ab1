# SPDX-License-Identifier: Apache-2.0
"""Rows of any number as codes on disk: read once, in batches, with dictionaries that grow.

Numbers are coded batch by batch, each batch with a dictionary of its own on disk; the common dictionary is made at the
end. Of anything else all distinct entries are in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal._threads import side_by_side
from shoal.data.coarse import Keep, Numbers
from shoal.data.counted import Counted
from shoal.data.disk import Spill
from shoal.data.encode import encode, plain_array
from shoal.data.factorize import factorize
from shoal.data.grouped import distinct_rows
from shoal.data.sources import Batch, Source
from shoal.data.table import Codes, Column, Table, smallest_dtype
from shoal.data.text_source import OtherTypes
from shoal.errors import DataError

BATCH = 1 << 19  # rows at a time


class CodedRows:
    """Some columns of a source, as codes on disk.

    `columns` has one code an entry (see `Counted`); rows are stored as numbers of entries.

    Parameters
    ----------
    source
        Where the rows come from.
    names
        The columns to read; no other is looked at.
    keep
        For number columns of which some numbers may be taken together: what must stay apart.
    batch
        How many rows to hold in memory at a time.
    """

    def __init__(
        self, source: Source, names: Sequence[str], *, keep: Mapping[str, Keep] | None = None, batch: int = BATCH
    ) -> None:
        source.check(names)
        self._spill = Spill()
        try:
            while True:
                try:
                    self._read(source, names, batch)
                    break
                except OtherTypes:  # a text file whose later cells are of another type: once more from the start
                    self._spill.close()
                    self._spill = Spill()
            if not self._sizes:
                raise DataError("no-rows", "There are column names, but no rows.")
            self.columns = Counted(
                (coded.finish(source, (keep or {}).get(name)) for name, coded in self._coded.items()),
                sum(self._sizes),
            )
        except BaseException:
            self.close()
            raise

    def _read(self, source: Source, names: Sequence[str], batch: int) -> None:
        self._coded: dict[str, _Coded] = {}
        self._sizes: list[int] = []
        for arrays in _gathered(source.batches(names, batch), batch):
            if not self._coded:
                self._coded = {
                    name: _coded(name, array, source, self._spill) for name, array in zip(names, arrays, strict=True)
                }
            pairs = list(zip(self._coded.values(), arrays, strict=True))
            side_by_side(lambda pair: pair[0].add(pair[1]), pairs, rows=len(arrays[0]) * len(pairs))
            for coded, _ in pairs:
                coded.store()
            self._sizes.append(len(arrays[0]))

    def rename(self, old: str, new: str) -> None:
        """Call a column otherwise."""
        self._coded[new] = self._coded.pop(old)
        self.columns = self.columns.like(
            replace(column, name=new) if name == old else column for name, column in self.columns.items()
        )

    @property
    def n_batches(self) -> int:
        """How many batches the rows are in."""
        return len(self._sizes)

    def codes(self, column: Column, batch: int) -> Codes:
        """The codes of a batch of rows, for one of `columns` or what became of it."""
        return self._coded[column.name].recoded(column.codes, batch, self._sizes[batch])

    def tables(self, columns: Mapping[str, Column]) -> Iterator[Table]:
        """The rows a batch at a time, over dictionaries that came of those of `columns`."""
        for batch in range(self.n_batches):
            yield Table(replace(column, codes=self.codes(column, batch), weights=None) for column in columns.values())

    def mapped(self, function: Callable[[Iterator[Table]], Any], columns: Mapping[str, Column]) -> list[Any]:
        """What a function makes of `tables`, as the only part of the whole."""
        return [function(self.tables(columns))]

    def different(self, columns: Mapping[str, Column], most: int) -> Table:
        """The different rows of `tables`, with `weights`; more than `most` are refused."""
        return distinct_rows(self.tables(columns), most)

    def close(self) -> None:
        """Give the room back."""
        self._spill.close()

    def __enter__(self) -> CodedRows:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def read_rows(source: Source) -> Table:
    """All columns and rows of a source, in memory."""
    with CodedRows(source, source.names) as rows:
        pieces = list(rows.tables(rows.columns))
        return Table(
            replace(column, codes=np.concatenate([piece[name].codes for piece in pieces]))
            for name, column in pieces[0].items()
        )


def _gathered(batches: Iterator[Batch], rows: int) -> Iterator[Batch]:
    """Smaller batches together, as long as they have no more rows than that: a dictionary for few does not pay."""
    waiting: list[Batch] = []
    n_rows = 0
    for arrays in batches:
        if not len(arrays[0]):
            continue
        # types differ where one file has whole numbers, and the next has others
        if waiting and (n_rows + len(arrays[0]) > rows or _types(arrays) != _types(waiting[-1])):
            yield _joined(waiting)
            waiting, n_rows = [], 0
        waiting.append(arrays)
        n_rows += len(arrays[0])
    if waiting:
        yield _joined(waiting)


def _types(arrays: Batch) -> list[Any]:
    return [array.type if isinstance(array, pa.Array) else None for array in arrays]


def _joined(batches: list[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    return [pa.chunked_array(column) for column in zip(*batches, strict=True)]


class _Coded(ABC):
    """The codes of one column, batch by batch."""

    def __init__(self, name: str, spill: Spill) -> None:
        self.name = name
        self._spill = spill
        self._waiting: Codes = np.empty(0, dtype=np.uint8)
        self._places: list[tuple[int, np.dtype[Any]]] = []

    @abstractmethod
    def add(self, array: Any) -> None:
        """Code a batch; may run beside other columns."""

    def store(self) -> None:
        """Write the batch that was coded last."""
        self._places.append((self._spill.append(self._waiting), self._waiting.dtype))
        self._waiting = np.empty(0, dtype=np.uint8)

    @abstractmethod
    def finish(self, source: Source, keep: Keep | None) -> Column:
        """The column by its entries."""

    def recoded(self, code_of_entry: Codes, batch: int, n_rows: int) -> Codes:
        """The codes of a batch, given a code for each entry."""
        place, dtype = self._places[batch]
        return self._code_of(code_of_entry, batch)[self._spill.read(place, n_rows, dtype)]

    def _code_of(self, code_of_entry: Codes, batch: int) -> Codes:
        """The same for what a batch is stored as."""
        return code_of_entry


class _Given(_Coded):
    """A column that has codes already."""

    def add(self, array: Column) -> None:
        self._column = array
        self._waiting = array.codes
        self._counts = getattr(self, "_counts", 0) + array.counts()

    def finish(self, source: Source, keep: Keep | None) -> Column:
        codes = np.arange(self._column.n_codes, dtype=self._column.codes.dtype)
        return replace(self._column, codes=codes, weights=self._counts)


class _Entries(_Coded):
    """Distinct entries in the order they turn up; 0 is null."""

    _entries: pa.Array | None = None

    def __init__(self, name: str, spill: Spill) -> None:
        super().__init__(name, spill)
        self._counts = np.zeros(1, dtype=np.int64)
        self._categories = False  # a dictionary, as others keep categories

    def add(self, array: pa.Array) -> None:
        self._categories = pa.types.is_dictionary(array.type)
        indices, found, used = factorize(plain_array(self.name, array))
        kept = np.flatnonzero(used)
        found = found.take(pa.array(kept))
        if self._entries is None:
            self._entries = found.slice(0, 0)
        found = found.cast(self._entries.type)  # strings are stored in several ways
        place = pc.index_in(found, value_set=self._entries)
        new = found.filter(place.is_null())
        known = len(self._entries)
        self._entries = pa.concat_arrays([self._entries, new])
        number = place.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        number[number < 0] = np.arange(known, known + len(new))
        code_of = np.zeros(len(used) + 1, dtype=smallest_dtype(len(self._entries) + 1))
        code_of[kept] = number + 1
        self._waiting = np.concatenate([code_of[piece] for piece in indices])
        more = np.bincount(self._waiting, minlength=len(self._entries) + 1)
        more[: len(self._counts)] += self._counts
        self._counts = more

    def finish(self, source: Source, keep: Keep | None) -> Column:
        assert self._entries is not None
        null = pa.nulls(1, self._entries.type)
        entries = pa.chunked_array([pa.concat_arrays([null, self._entries])])
        if self._categories:
            entries = entries.dictionary_encode()
        if self._counts[0]:
            return source.column(self.name, entries, self._counts)
        column = source.column(self.name, entries.slice(1), self._counts[1:])
        codes = np.append(column.codes.dtype.type(0), column.codes)  # nothing is stored as null
        return replace(column, codes=codes, weights=self._counts)


class _Numbers(_Coded):
    """Numbers: each batch has a dictionary of its own, whose last code is missing."""

    def __init__(self, name: str, spill: Spill) -> None:
        super().__init__(name, spill)
        self._numbers = Numbers(spill)

    def add(self, array: pa.Array) -> None:
        self._batch = encode(self.name, array, kind="numeric")
        self._waiting = self._batch.codes

    def store(self) -> None:
        super().store()
        counts = np.bincount(self._batch.codes, minlength=len(self._batch.numbers) + 1)
        self._numbers.add(self._batch.numbers, counts)

    def finish(self, source: Source, keep: Keep | None) -> Column:
        values, counts = self._numbers.merged(keep)
        missing = bool(counts[-1])
        codes = np.arange(len(values) + 1, dtype=smallest_dtype(len(values) + 1))
        integer = len(values) > 0 and self._numbers.whole
        return Column(self.name, "numeric", codes, values, missing=missing, integer=integer, weights=counts)

    def _code_of(self, code_of_entry: Codes, batch: int) -> Codes:
        return code_of_entry[self._numbers.entry_of(batch)]


def _coded(name: str, array: Any, source: Source, spill: Spill) -> _Coded:
    """How to code a column, by its first batch."""
    if isinstance(array, Column):
        return _Given(name, spill)
    of = plain_array(name, array.slice(0, 0)).type
    number = pa.types.is_integer(of) or pa.types.is_floating(of)  # a dictionary of numbers has categories
    if number and source.kinds.get(name) != "categorical":
        return _Numbers(name, spill)
    return _Entries(name, spill)
