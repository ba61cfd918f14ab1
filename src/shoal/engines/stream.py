# SPDX-License-Identifier: Apache-2.0
"""The engine for rows that do not fit into memory: codes on disk, read and sorted a piece at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal._threads import side_by_side
from shoal.data.coarse import Keep
from shoal.data.coded import BATCH, CodedRows
from shoal.data.counted import Counted
from shoal.data.pieces import Pieces
from shoal.data.sources import Source, open_source
from shoal.data.table import Codes, Column, Table, count_codes, smallest_dtype
from shoal.engines.base import Feature
from shoal.engines.memory import Sorted, SortedColumns, SortedEngine
from shoal.engines.outlook import Outlook
from shoal.engines.spilled import CHUNK, Spilled


class StreamRows:
    """Rows of a source that are read once, in batches, and counted from codes on disk.

    Parameters
    ----------
    source
        A path, a PyArrow dataset, a `Query`, an open `Source`, or a table in memory.
    batch, chunk
        How many rows to hold in memory at a time: of all columns while reading, of one while counting. Fewer rows than
        `chunk` are counted in memory.
    """

    def __init__(self, source: Any, *, batch: int = BATCH, chunk: int = CHUNK) -> None:
        self._source = source if isinstance(source, Source) else open_source(source)
        self._batch, self._chunk = batch, chunk
        self._coded: CodedRows | None = None
        self._engines: list[StreamEngine] = []
        self.names = self._source.names

    def count(self, names: Sequence[str], *, coarse: Sequence[str], people: int, max_codes: int) -> Counted:
        """See `RowsElsewhere`."""
        keep = dict.fromkeys(coarse, Keep(max_codes, people))
        self._coded = CodedRows(self._source, names, keep=keep, batch=self._batch)
        return self._coded.columns

    def engine(
        self, made: Sequence[tuple[Feature, Codes]], target: Column, sensitive: Sequence[Column]
    ) -> StreamEngine:
        """See `RowsElsewhere`."""
        assert self._coded is not None
        engine = StreamEngine(self._coded, made, target, sensitive, self._chunk)
        self._engines.append(engine)
        return engine

    def grouped(self, columns: Counted, most: int) -> Table:
        """See `RowsElsewhere`."""
        assert self._coded is not None
        return Pieces(self._coded, columns).grouped(most)

    def settled(self, columns: Counted) -> Pieces:
        """See `RowsElsewhere`."""
        assert self._coded is not None
        self._forget()  # the audit is the last to look, and may need the room
        return Pieces(self._coded, columns)

    def _forget(self) -> None:
        while self._engines:
            self._engines.pop().close()

    def __enter__(self) -> StreamRows:
        return self

    def __exit__(self, *exception: object) -> None:
        self._forget()
        if self._coded is not None:
            self._coded.close()


class StreamEngine(SortedEngine):
    """Counts from columns on disk, with the kernels of the memory engine.

    Parameters
    ----------
    rows
        The coded rows.
    made
        Each feature, and its code for every entry of the column of its name.
    target, sensitive
        Columns by their entries.
    chunk
        How many rows of a column to hold in memory at a time; of no more rows than that, all columns are held.
    """

    def __init__(
        self,
        rows: CodedRows,
        made: Sequence[tuple[Feature, Codes]],
        target: Column,
        sensitive: Sequence[Column],
        chunk: int = CHUNK,
    ) -> None:
        self.features = [feature for feature, _ in made]
        self.n_people = self.n_different = rows.columns.n_rows
        self.n_classes = target.n_codes
        self._rows = rows
        self._target = target
        self._sensitive = sensitive
        self._n_values = [column.n_codes for column in sensitive]
        self._columns = [
            Column(feature.name, "numeric", codes, np.empty(0), weights=rows.columns[feature.name].weights)
            for feature, codes in made
        ]
        self._chunk = chunk
        self._opened: list[Spilled] = []

    @property
    def different(self) -> None:
        """See `Engine`; everybody has one row here."""
        return None

    @cached_property
    def _nodes(self) -> SortedColumns:
        keys = [smallest_dtype(feature.n_codes * self.n_classes) for feature in self.features]
        nodes = self._room([*keys, smallest_dtype(self.n_classes)])
        start = 0
        for batch in range(self._rows.n_batches):
            classes = self._rows.codes(self._target, batch)

            def fill(f: int, batch: int = batch, start: int = start, classes: NDArray[Any] = classes) -> None:
                codes = self._rows.codes(self._columns[f], batch).astype(keys[f])
                nodes.fill(f, start, codes * keys[f].type(self.n_classes) + classes.astype(keys[f]))

            side_by_side(fill, range(len(self.features)), rows=len(classes) * len(self.features))
            nodes.fill(len(self.features), start, classes)
            start += len(classes)
        return nodes.filled()

    @cached_property
    def _spans(self) -> SortedColumns:
        public = [
            (feature, column) for feature, column in zip(self.features, self._columns, strict=True) if feature.public
        ]
        columns = [self._target, *self._sensitive, *(column for _, column in public)]
        spans = self._room(
            [
                smallest_dtype(self.n_classes),
                *(np.dtype(np.int32) for _ in self._sensitive),
                *(smallest_dtype(feature.n_codes) for feature, _ in public),
            ]
        )
        start = 0
        for batch in range(self._rows.n_batches):
            found = [self._rows.codes(column, batch) for column in columns]
            for number, codes in enumerate(found):
                spans.fill(number, start, codes)
            start += len(found[0])
        return spans.filled()

    @cached_property
    def _outlook(self) -> Outlook:
        counts = [
            count_codes(column.codes, feature.n_codes, column.weights)
            for feature, column in zip(self.features, self._columns, strict=True)
        ]
        return Outlook(self.features, counts, self.n_people, self.n_classes)

    def _room(self, dtypes: Sequence[np.dtype[Any]]) -> Spilled | _Held:
        if self.n_people <= self._chunk:
            return _Held(dtypes, self.n_people)
        self._opened.append(Spilled(dtypes, self.n_people, self._chunk))
        return self._opened[-1]

    def close(self) -> None:
        """Give the room back."""
        for spilled in self._opened:
            spilled.close()


class _Held:
    """Columns that are filled a batch at a time, of so few rows that reading them again and again would be a waste."""

    def __init__(self, dtypes: Sequence[np.dtype[Any]], n_rows: int) -> None:
        self._columns = [np.empty(n_rows, dtype=dtype) for dtype in dtypes]

    def fill(self, column: int, start: int, keys: NDArray[Any]) -> None:
        """As `Spilled.fill`."""
        self._columns[column][start : start + len(keys)] = keys

    def filled(self) -> Sorted:
        """The columns, as the memory engine has them."""
        return Sorted(self._columns)
