# SPDX-License-Identifier: Apache-2.0
"""Coded rows in blocks of bytes: what the workers of a cluster hold, and all that they hand on.

A block is one cell of a Spark table and has the codes of many rows, column after column. Handing it to Python is a copy
of bytes; a cell for every code would be converted one by one.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from shoal.data.table import Codes, Column, Table

ROWS = 1 << 15  # of a block
BLOCKS = "n int, codes binary"
BYTES = "found binary"


def to_blocks(dtypes: Sequence[np.dtype[Any]], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Codes, a column each and none missing, as blocks."""
    waiting: list[list[Codes]] = []
    n_rows = 0
    for batch in batches:
        waiting.append(
            [
                codes.to_numpy(zero_copy_only=False).astype(dtype)
                for codes, dtype in zip(batch.columns, dtypes, strict=True)
            ]
        )
        n_rows += batch.num_rows
        if n_rows >= ROWS:
            yield _block(waiting, n_rows)
            waiting, n_rows = [], 0
    if n_rows:
        yield _block(waiting, n_rows)


def _block(waiting: list[list[Codes]], n_rows: int) -> pa.RecordBatch:
    data = b"".join(np.concatenate(pieces).tobytes() for pieces in zip(*waiting, strict=True))
    return pa.record_batch([pa.array([n_rows], pa.int32()), pa.array([data], pa.binary())], names=["n", "codes"])


Block = list[Codes]  # the codes of some rows, by column


def blocks_of(dtypes: Sequence[np.dtype[Any]], batches: Iterable[pa.RecordBatch]) -> Iterator[Block]:
    """Blocks as they were made."""
    for batch in batches:
        for n_rows, data in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            buffer, start, block = data.as_buffer(), 0, []
            for dtype in dtypes:
                block.append(np.frombuffer(buffer, dtype=dtype, count=n_rows, offset=start))
                start += n_rows * dtype.itemsize
            yield block


class Task(Protocol):
    """What a worker makes of the blocks of one partition."""

    def run(self, blocks: Iterator[Block]) -> Iterator[pa.RecordBatch]:
        """All that is handed on."""
        ...


def run_task(
    task: Task, dtypes: Sequence[np.dtype[Any]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """What a worker runs."""
    yield from task.run(blocks_of(dtypes, batches))


@dataclass(frozen=True)
class OverTables:
    """Hands a function the rows of a partition as tables, and its answer on."""

    columns: Sequence[tuple[int, Column]]  # where a column is in a block, and its code of every entry
    function: Callable[[Iterator[Table]], Any]

    def run(self, blocks: Iterator[Block]) -> Iterator[pa.RecordBatch]:
        """See `Task`."""
        answer = pickle.dumps(self.function(self._tables(blocks)))
        yield pa.record_batch([pa.array([answer], pa.binary())], names=["found"])

    def _tables(self, blocks: Iterator[Block]) -> Iterator[Table]:
        for block in blocks:
            yield Table(
                replace(column, codes=column.codes[block[place]], weights=None) for place, column in self.columns
            )


@dataclass(frozen=True)
class Different:
    """Tells the different rows of some columns apart and counts how many there are of each."""

    columns: Sequence[tuple[int, Codes]]  # where a column is in a block, and a code for every entry

    def run(self, blocks: Iterator[Block]) -> Iterator[pa.RecordBatch]:
        """See `Task`."""
        for block in blocks:
            rows = np.ascontiguousarray(
                np.stack([code_of[block[place]].astype(np.int32) for place, code_of in self.columns], axis=1)
            )
            keys = rows.view(np.dtype((np.void, rows.shape[1] * 4))).reshape(-1)
            found, people = np.unique(keys, return_counts=True)
            yield pa.record_batch(
                [pa.array(found.tolist(), pa.binary()), pa.array(people.astype(np.int64))], names=["key", "n"]
            )
