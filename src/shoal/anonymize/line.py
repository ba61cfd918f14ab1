# SPDX-License-Identifier: Apache-2.0
"""Rows on a line: in which order they stand, what a piece of the line would lose, and which pieces may be groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import onedim as kernels
from shoal.anonymize.ranges import leaf_ranks
from shoal.anonymize.task import Task
from shoal.data.table import Column
from shoal.evaluate.losses import cell_losses
from shoal.release import Attribute

Ids = NDArray[np.int64]
MOST_BITS = 16  # of a column on the Hilbert curve; values that are nearer than that stand in the order of their ranks
FINER = 8  # each length that is tried for a group is longer by one part in this than the one before


class Losses(NamedTuple):
    """What a group of neighbours loses, as `_kernels.onedim.cheapest_cuts` takes it."""

    kinds: Ids
    known: Ids
    unit: NDArray[np.float64]
    node: NDArray[np.int32]
    value: NDArray[np.float64]
    at: Ids
    seen_at: Ids


@dataclass(frozen=True, eq=False)
class Line:
    """The rows of a task in an order in which neighbours have like public values.

    Attributes
    ----------
    order
        The rows, in their order.
    ranks
        The rank of each value (rows in their order × public columns); missing has the last.
    losses
        What a group of neighbours loses.
    """

    order: Ids
    ranks: NDArray[np.int32]
    losses: Losses

    def cut(
        self, lengths: Ids, offsets: Ids | None = None, tail: NDArray[np.bool_] | None = None
    ) -> tuple[Ids, int, float]:
        """The cheapest groups of neighbours with lengths that are allowed: each row's, how many, and their cost."""
        n = len(self.order)
        cost, before = np.empty(n + 1), np.empty(n + 1, dtype=np.int64)
        no_offsets, no_tail = np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)
        kernels.cheapest_cuts(
            self.ranks,
            *self.losses,
            no_offsets if offsets is None else offsets,
            lengths,
            no_tail if tail is None else tail,
            cost,
            before,
        )
        begins = np.zeros(n + 1, dtype=bool)
        at = n
        while at > 0:
            at = int(before[at])
            begins[at] = True
        group = np.empty(n, dtype=np.int64)
        group[self.order] = np.cumsum(begins[:n]) - 1
        return group, int(begins.sum()), float(cost[n])

    def again(self, order: Ids) -> Line:
        """The same rows in another order."""
        return Line(self.order[order], np.ascontiguousarray(self.ranks[order]), self.losses)


def line_of(task: Task, order: Literal["hilbert", "idistance"]) -> Line:
    """Put the rows of a task on a line."""
    of_code = {name: leaf_ranks(task.ladders[name]) for name in task.public}
    n_codes = np.array([len(ranks) for ranks in of_code.values()], dtype=np.int64)
    ranks = np.column_stack([of_code[name][task.rows[name].codes] for name in task.public]).astype(np.int32)
    places = along_hilbert(ranks, n_codes)
    if order == "idistance":
        places = _by_reference(ranks, n_codes, places)
    return Line(places, np.ascontiguousarray(ranks[places]), _losses(task, of_code))


def along_hilbert(ranks: NDArray[np.int32], n_codes: Ids) -> Ids:
    """Rows in the order of a Hilbert curve through their ranks, each column stretched to the same side."""
    bits = int(min(MOST_BITS, max(1, int(np.ceil(np.log2(max(2, int(n_codes.max()))))))))
    side = (1 << bits) - 1
    stretched = np.rint(ranks * (side / np.maximum(n_codes - 1, 1))).astype(np.int64)
    keys = np.zeros((len(ranks), -(-bits * ranks.shape[1] // 64)), dtype=np.uint64)
    kernels.hilbert_keys(stretched, bits, keys)
    return np.lexsort([*ranks.T[::-1], *keys.T[::-1]]).astype(np.int64)


def _by_reference(ranks: NDArray[np.int32], n_codes: Ids, places: Ids) -> Ids:
    """Rows by their nearest reference point, and from there outwards (iDistance).

    Reference points are rows at equal steps along the Hilbert curve, about the square root of their number: many where
    there are many people, and next to each other in their order.
    """
    points = ranks / np.maximum(n_codes - 1, 1)
    number = max(1, int(np.sqrt(len(ranks))))
    steps = ((np.arange(number) + 0.5) * len(ranks) / number).astype(np.int64)
    nearest, distance = np.empty(len(ranks), dtype=np.int64), np.empty(len(ranks))
    kernels.nearest_reference(points, np.unique(points[places[steps]], axis=0), nearest, distance)
    along = np.empty(len(ranks), dtype=np.int64)
    along[places] = np.arange(len(ranks))
    first = np.full(int(nearest.max()) + 1, len(ranks), dtype=np.int64)
    np.minimum.at(first, nearest, along)  # references in the order of the curve
    return np.lexsort([*ranks.T[::-1], np.round(distance, 12), first[nearest]]).astype(np.int64)


def _losses(task: Task, of_code: dict[str, Ids]) -> Losses:
    kinds, known, unit, at = [], [], [], []
    nodes: list[NDArray[np.int32]] = []
    values: list[NDArray[np.float64]] = []
    for name in task.public:
        column, n = task.rows[name], len(task.rows[name].values)
        at.append(sum(map(len, values)))
        known.append(n)
        unit.append(1 / max(column.n_codes - 1, 1))
        if name in task.hierarchies:
            kinds.append(kernels.TREE)
            for own, losses in _levels(task, name, of_code[name]):
                nodes.append(own)
                values.append(losses)
        elif column.kind == "categorical":
            kinds.append(kernels.SET)
        else:
            kinds.append(kernels.RANGE)
            nodes.append(np.zeros(n, dtype=np.int32))
            values.append(_stretched(column))
    none = [np.zeros(0)]
    return Losses(
        np.array(kinds, dtype=np.int64),
        np.array(known, dtype=np.int64),
        np.array(unit),
        np.concatenate([*none, *nodes]).astype(np.int32),
        np.concatenate([*none, *values]),
        np.array(at, dtype=np.int64),
        np.concatenate([[0], np.cumsum(known)]).astype(np.int64),
    )


def _stretched(column: Column) -> NDArray[np.float64]:
    """Where each number lies between the bounds, from 0 to 1."""
    assert column.bounds is not None
    low, high = column.bounds
    return np.asarray(np.clip((column.numbers - low) / (high - low), 0, 1) if high > low else 0 * column.numbers)


def _levels(task: Task, name: str, ranks: Ids) -> list[tuple[NDArray[np.int32], NDArray[np.float64]]]:
    """Of each level the node of every rank, and what a cell of that node loses."""
    ladder, column = task.ladders[name], task.rows[name]
    attribute, n = Attribute.of(column, "public"), len(column.values)
    found = []
    for level, own in enumerate(ladder.maps):
        losses = cell_losses(attribute, ladder.at(level).found)
        node, loss = np.empty(n, dtype=np.int32), np.empty(n)
        node[ranks[:n]], loss[ranks[:n]] = own[:n], losses[own[:n]]
        found.append((node, loss))
    return found


def windows(task: Task, line: Line) -> tuple[Ids, Ids, NDArray[np.bool_]]:
    """Which pieces of the line keep the requirement: lengths by where a piece begins, and whether the rest from there.

    From each row on longer and longer pieces are tried, up to twice the first that keeps it.
    """
    n = task.n_rows
    reached = [_reached(task.rows[name].take(line.order)) for name in task.sensitive]
    totals = [task.totals[name] for name in task.sensitive]

    def keeps(first: Ids, last: Ids) -> NDArray[np.bool_]:
        kept = np.ones(len(first), dtype=bool)
        for counts, total in zip(reached, totals, strict=True):
            kept &= task.requirement.holds(counts[last] - counts[first], total)
        return kept

    starts, lengths = [], []
    open_ = np.arange(n)
    until = np.full(n, n, dtype=np.int64)
    length = task.least
    while len(open_) and length <= n:
        open_ = open_[(open_ + length <= n) & (until[open_] >= length)]
        found = open_[keeps(open_, open_ + length)]
        until[found] = np.minimum(until[found], 2 * length - 1)
        starts.append(found)
        lengths.append(np.full(len(found), length, dtype=np.int64))
        length += max(1, length // FINER)
    start = np.concatenate([np.zeros(0, dtype=np.int64), *starts])
    by_start = np.argsort(start, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(start, minlength=n))]).astype(np.int64)
    every = np.arange(n)
    return np.concatenate([np.zeros(0, dtype=np.int64), *lengths])[by_start], offsets, keeps(every, np.full(n, n))


def _reached(column: Column) -> Ids:
    """How many of the rows before each one have each value (rows + 1 × values)."""
    counts = np.zeros((len(column) + 1, column.n_codes), dtype=np.int64)
    counts[np.arange(1, len(column) + 1), column.codes] = 1
    return np.cumsum(counts, axis=0)


def mixed_line(task: Task, line: Line) -> Line:
    """The same rows such that neighbours are mixed in their private values as the whole table is.

    Each row stands where it stands among those of its own private values: one in the middle of them in the middle.
    """
    key = np.zeros(task.n_rows, dtype=np.int64)
    for name in task.sensitive:
        column = task.rows[name]
        _, key = np.unique(key * column.n_codes + column.codes[line.order], return_inverse=True)
        key = key.reshape(-1)
    sizes = np.bincount(key)
    by_value = np.argsort(key, kind="stable")
    place = np.empty(task.n_rows, dtype=np.int64)
    place[by_value] = np.arange(task.n_rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return line.again(np.argsort((2 * place + 1) / (2 * sizes[key]), kind="stable"))


def mixed(task: Task, line: Line, size: int, most: int) -> tuple[Line, Ids, Ids]:
    """Groups of people of whom no value has more than `most` in `size`, as a line of their own and how to cut it."""
    codes = task.rows[task.sensitive[0]].take(line.order)
    group = np.empty(task.n_rows, dtype=np.int64)
    n_groups = kernels.mixed_groups(codes.codes.astype(np.int64), codes.n_codes, size, most, group)
    sizes = np.bincount(group, minlength=n_groups)
    has = np.zeros(task.n_rows, dtype=np.int64)
    has[np.cumsum(sizes) - sizes] = 1
    offsets = np.concatenate([[0], np.cumsum(has)]).astype(np.int64)
    return line.again(np.argsort(group, kind="stable")), sizes, offsets
