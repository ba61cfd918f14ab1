# SPDX-License-Identifier: Apache-2.0
"""What the workers of a cluster do for the Spark engine: send coded rows down a tree, and count them.

Nothing here knows Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal._kernels import routes
from shoal.data.blocks import Block
from shoal.data.table import Codes
from shoal.engines.base import Counts, Ids, Price, Way
from shoal.engines.outlook import Outlook

FOUND = "part int, keys binary, people binary"
PEOPLE = "node int, codes binary"
COSTS = "node int, costs binary"


@dataclass(frozen=True)
class Routes:
    """A tree of splits, as far as some sets are concerned: how rows get there.

    Attributes
    ----------
    column, start, child
        As the kernel `ends` has them.
    row_of
        For each set its place among those asked for; −1 for others.
    """

    column: NDArray[np.int32]
    start: Ids
    child: NDArray[np.int32]
    row_of: NDArray[np.int32]

    def ends(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """The set where each row ends."""
        where = np.empty(codes.shape[1], dtype=np.int32)
        routes.ends(codes, self.column, self.start, self.child, where)
        return where


@dataclass(frozen=True)
class Ask:
    """Counts of some sets by the codes of some columns and the values of one more.

    Attributes
    ----------
    n_sets, width
        The counts are n_sets × width: for each set one column after another, for each of its codes all values.
    columns, first
        The columns to count by, and where each begins.
    by, n_values
        The column whose values are counted, and how many it has; −1: people are counted, whatever their values.
    """

    routes: Routes
    n_sets: int
    width: int
    columns: NDArray[np.int32]
    first: Ids
    by: int
    n_values: int

    def count(self, codes: NDArray[np.int32], people: Counts, out: Counts) -> None:
        """Add the people of some rows."""
        values = codes[self.by] if self.by >= 0 else np.zeros(codes.shape[1], dtype=np.int32)
        where = self.routes.ends(codes)
        routes.count_ends(
            codes, self.routes.row_of, where, self.columns, self.first, self.n_values, values, people, out
        )

    @property
    def size(self) -> int:
        """How many counts there are."""
        return self.n_sets * self.width


Recode = Sequence[tuple[int, Codes]]  # of each column: where it is in a block, and its code for every entry


def codes_of(block: Block, recode: Recode) -> NDArray[np.int32]:
    """The codes of a block (columns × rows)."""
    codes = np.empty((len(recode), len(block[0])), dtype=np.int32)
    for number, (place, code_of) in enumerate(recode):
        codes[number] = code_of[block[place]]
    return codes


@dataclass(frozen=True)
class Count:
    """All counts of a round, in one pass over the blocks; `n_parts` says how many workers are to add them up."""

    recode: Recode
    asks: Sequence[Ask]
    n_parts: int

    def run(self, blocks: Iterator[Block]) -> Iterator[pa.RecordBatch]:
        """See `Task`."""
        found = [np.zeros((ask.n_sets, ask.width), dtype=np.int64) for ask in self.asks]
        for block in blocks:
            codes = codes_of(block, self.recode)
            people = np.ones(codes.shape[1], dtype=np.int64)
            for ask, out in zip(self.asks, found, strict=True):
                ask.count(codes, people, out)
        yield packed(np.concatenate([out.reshape(-1) for out in found]), self.n_parts)


def packed(counts: Counts, n_parts: int = 1) -> pa.RecordBatch:
    """Counts without those that are nought, in one row a part of all places."""
    places = np.flatnonzero(counts)
    ends = np.searchsorted(places, np.arange(1, n_parts) * len(counts) // n_parts)
    return _parts(list(enumerate(np.split(places, ends))), counts)


def _parts(places: list[tuple[int, Ids]], counts: Counts) -> pa.RecordBatch:
    keys = [own.astype(np.int32).tobytes() for _, own in places]
    people = [counts[own].tobytes() for _, own in places]
    columns = [pa.array([part for part, _ in places], pa.int32()), pa.array(keys, pa.binary())]
    return pa.record_batch([*columns, pa.array(people, pa.binary())], names=["part", "keys", "people"])


def unpacked(size: int, found: pa.Table) -> Counts:
    """The sum of what was packed."""
    counts = np.zeros(size, dtype=np.int64)
    for keys, people in zip(found.column("keys"), found.column("people"), strict=True):
        counts[np.frombuffer(keys.as_buffer(), dtype=np.int32)] += np.frombuffer(people.as_buffer(), dtype=np.int64)
    return counts


def add_up(size: int, parts: pa.Table) -> pa.Table:
    """What several tasks found of one part, as one row."""
    counts = unpacked(size, parts)
    part = parts.column("part")[0].as_py()
    return pa.Table.from_batches([_parts([(part, np.flatnonzero(counts))], counts)])


@dataclass(frozen=True)
class PeopleOf:
    """The coded people of some nodes, for workers that look at a node each."""

    recode: Recode
    routes: Routes
    n_nodes: int

    def run(self, blocks: Iterator[Block]) -> Iterator[pa.RecordBatch]:
        """See `Task`."""
        for block in blocks:
            codes = codes_of(block, self.recode)
            where = self.routes.ends(codes)
            row = np.where(where >= 0, self.routes.row_of[where], -1)
            nodes = [node for node in range(self.n_nodes) if (row == node).any()]
            data = [np.ascontiguousarray(codes[:, row == node]).tobytes() for node in nodes]
            yield pa.record_batch([pa.array(nodes, pa.int32()), pa.array(data, pa.binary())], names=["node", "codes"])


@dataclass(frozen=True)
class Foresee:
    """What the trees below each way to split a node would cost; see `Engine.outlooks`."""

    outlook: Outlook
    ways: Sequence[Sequence[Way]]
    price: Price
    n_columns: int  # the features and, last, the target

    def costs(self, parts: pa.Table) -> pa.Table:
        """From all people of one node, as `PeopleOf` hands them on."""
        blocks = [
            np.frombuffer(data.as_buffer(), dtype=np.int32).reshape(self.n_columns, -1)
            for data in parts.column("codes")
        ]
        codes = np.concatenate(blocks, axis=1)
        node = parts.column("node")[0].as_py()
        costs = self.outlook.costs(list(codes[:-1]), codes[-1], self.ways[node], self.price)
        return pa.table({"node": pa.array([node], pa.int32()), "costs": pa.array([costs.tobytes()], pa.binary())})
