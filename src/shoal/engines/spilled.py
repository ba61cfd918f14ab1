# SPDX-License-Identifier: Apache-2.0
"""Columns of any length on disk, sorted by disjoint sets of people: the twin of `Sorted`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import counts as kernels
from shoal.data.disk import Spill
from shoal.engines.base import Counts, Ids

Keys = NDArray[Any]
Runs = list[tuple[int, int, int]]  # rows of a stretch: where they go, the first and the end of them
CHUNK = 1 << 20  # rows of a column in memory at a time
GAP = 1 << 16  # rows that are read for nothing sooner than with one more read


@dataclass(frozen=True)
class _Stretch:
    """A stretch of rows that is read at once, and the parts of sets that lie in it."""

    side: int
    start: int
    end: int
    which: Ids  # the set of each part, by its place in the request
    starts: Ids  # of each part, from the start of the stretch
    ends: Ids


@dataclass(frozen=True)
class _Split:
    """How a set is split: the column and the branch of each of its codes, and how many rows take each branch."""

    column: int
    per_code: int
    branch_of: NDArray[np.int32]
    sizes: Counts


class Spilled:
    """Columns of one table on disk, all sorted by the same sets. Rows are where `Sorted` would have them.

    There is room for each column twice. A set lies on one side; its parts are written to the other, at the place of the
    set, which nobody else has.

    Parameters
    ----------
    dtypes
        The type of each column.
    n_rows
        How long they are.
    chunk
        How many rows to read at a time.
    """

    def __init__(self, dtypes: Sequence[np.dtype[Any]], n_rows: int, chunk: int = CHUNK) -> None:
        self._dtypes = list(dtypes)
        self._n_rows = n_rows
        self._chunk = chunk
        self._spill = Spill()
        self._places = [self._spill.reserve(2 * n_rows * dtype.itemsize) for dtype in self._dtypes]
        self._starts, self._ends, self._sides = [0], [n_rows], [0]
        self._parts: dict[int, list[int]] = {}  # of each set that was split
        self._waiting: dict[int, _Split] = {}  # sets whose rows are still to be moved to their parts
        self._unsettled: set[int] = set()  # these parts
        self._changes = 0  # how often sets were split or moved
        self._last: tuple[tuple[int, bytes], list[_Stretch]] = (-1, b""), []  # what was asked for, and where it is
        self._settling = Lock()  # several columns may be counted at a time
        # threads of its own: work that is done side by side may come here, and must not wait for the same threads
        self._pool = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="shoal-spill")

    def fill(self, column: int, start: int, keys: Keys) -> None:
        """The keys of some rows, before any set is split."""
        self._write(column, 0, start, keys.astype(self._dtypes[column], copy=False))

    def filled(self) -> Spilled:
        """The columns, when all rows are there."""
        return self

    def close(self) -> None:
        """Give the room back."""
        self._pool.shutdown()
        self._spill.close()

    def sizes(self, ids: Ids) -> Counts:
        """People of each set."""
        return np.array([self._ends[one] - self._starts[one] for one in ids.tolist()], dtype=np.int64)

    def count(self, ids: Ids, column: int, n_keys: int) -> Counts:
        """People of each set by key of a column (sets × keys)."""
        self._settle(ids)
        counts = np.zeros((len(ids), n_keys), dtype=np.int64)
        for stretch in self._stretches(ids):
            keys = self._read(column, stretch)
            found = np.zeros((len(stretch.which), n_keys), dtype=np.int64)
            kernels.count_keys(keys, stretch.starts, stretch.ends, found)
            _add(counts, stretch.which, found)
        return counts

    def count_pairs(self, ids: Ids, column: int, n_keys: int, other: int, n_others: int) -> Counts:
        """People of each set by key of one column and key of another (sets × keys × keys)."""
        self._settle(ids)
        counts = np.zeros((len(ids), n_keys, n_others), dtype=np.int64)
        for stretch in self._stretches(ids):
            found = np.zeros((len(stretch.which), n_keys, n_others), dtype=np.int64)
            keys, others = self._read(column, stretch), self._read(other, stretch)
            kernels.count_pairs(keys, others, stretch.starts, stretch.ends, found)
            _add(counts, stretch.which, found)
        return counts

    def keys(self, one: int, column: int) -> Keys:
        """The keys of a set's people."""
        ids = np.array([one])
        self._settle(ids)
        found = np.empty(self._ends[one] - self._starts[one], dtype=self._dtypes[column])
        for stretch in self._stretches(ids):
            keys = self._read(column, stretch)
            for start, end in zip(stretch.starts.tolist(), stretch.ends.tolist(), strict=True):
                place = stretch.start + start - self._starts[one]
                found[place : place + end - start] = keys[start:end]
        return found

    def split(self, ids: Ids, column: int, per_code: int, branch_of: NDArray[np.int32], n_branches: int) -> Ids:
        """Split sets by branch_of[set, key // per_code]; numbers of the new sets, −1 for an empty one.

        Rows are moved later, when a part is asked for: then those of all sets that wait are moved in one pass.
        """
        self._settle(ids)
        self._gather(ids)
        sizes = np.zeros((len(ids), n_branches), dtype=np.int64)
        for stretch in self._stretches(ids):
            keys = self._read(column, stretch)
            branch = np.empty(len(keys), dtype=np.int32)
            found = np.zeros((len(stretch.which), n_branches), dtype=np.int64)
            kernels.branches(keys, per_code, branch_of[stretch.which], stretch.starts, stretch.ends, branch, found)
            _add(sizes, stretch.which, found)
        for i, one in enumerate(ids.tolist()):
            self._waiting[one] = _Split(column, per_code, branch_of[i], sizes[i])
        return self._number(ids, sizes)

    def _settle(self, ids: Ids) -> None:
        """Move the rows of all sets that wait for it, if any of some sets is a part of one of them."""
        with self._settling:
            if not self._unsettled.isdisjoint(ids.tolist()):
                waiting = list(self._waiting)
                self._move_all(np.array(waiting, dtype=np.int64), list(self._waiting.values()))
                self._waiting.clear()
                self._unsettled.clear()
                self._changes += 1

    def _move_all(self, ids: Ids, splits: list[_Split]) -> None:
        """Sort the rows of some sets by branch, and write them to the other side."""
        widest = max(len(split.sizes) for split in splits)
        place = np.zeros((len(ids), widest), dtype=np.int64)  # where the next people of each branch go
        for i, (one, split) in enumerate(zip(ids.tolist(), splits, strict=True)):
            place[i, : len(split.sizes)] = self._starts[one] + np.cumsum(split.sizes) - split.sizes
        for stretch in self._stretches(ids):
            branch = np.zeros(stretch.end - stretch.start, dtype=np.uint8 if widest <= 255 else np.int32)
            found = np.zeros((len(stretch.which), widest), dtype=np.int64)
            columns = np.array([splits[number].column for number in stretch.which.tolist()])
            for column in np.unique(columns).tolist():
                own = np.flatnonzero(columns == column)
                branch_of = np.stack([splits[number].branch_of for number in stretch.which[own].tolist()])
                counted = np.zeros((len(own), widest), dtype=np.int64)
                kernels.branches(
                    self._read(column, stretch),
                    splits[int(stretch.which[own[0]])].per_code,
                    branch_of,
                    stretch.starts[own],
                    stretch.ends[own],
                    branch,
                    counted,
                )
                found[own] = counted
            runs = self._runs(ids, stretch, found, place)
            _add(place, stretch.which, found)
            list(self._pool.map(partial(self._move, stretch, branch, found, runs), range(len(self._dtypes))))

    def _move(self, stretch: _Stretch, branch: Keys, found: Counts, runs: Runs, column: int) -> None:
        keys = self._read(column, stretch)
        kernels.sort_by_branch(keys, branch, stretch.starts, stretch.ends, found)
        for where, first, end in runs:
            self._write(column, 1 - stretch.side, where, keys[first:end])

    def _runs(self, ids: Ids, stretch: _Stretch, found: Counts, place: Ids) -> Runs:
        """Where the sorted rows of a stretch go."""
        runs: Runs = []
        for i, (number, start, end) in enumerate(
            zip(stretch.which.tolist(), stretch.starts.tolist(), stretch.ends.tolist(), strict=True)
        ):
            one = int(ids[number])
            if end - start == self._ends[one] - self._starts[one]:
                runs.append((stretch.start + start, start, end))  # a whole set: all its branches are side by side
                continue
            for where, n in zip(place[number].tolist(), found[i].tolist(), strict=True):
                if n:
                    runs.append((where, start, start + n))
                    start += n
        joined = runs[:1]
        for where, first, end in runs[1:]:
            last = joined[-1]
            if last[2] == first and last[0] + last[2] - last[1] == where:
                joined[-1] = (last[0], last[1], end)
            else:
                joined.append((where, first, end))
        return joined

    def _number(self, ids: Ids, sizes: Counts) -> Ids:
        new = np.full(sizes.shape, -1, dtype=np.int64)
        self._changes += 1
        for i, one in enumerate(ids.tolist()):
            self._parts[one] = []
            start = self._starts[one]
            for branch in np.flatnonzero(sizes[i]).tolist():
                number, size = len(self._starts), int(sizes[i, branch])
                new[i, branch] = number
                self._parts[one].append(number)
                self._unsettled.add(number)
                self._starts.append(start)
                self._ends.append(start + size)
                self._sides.append(1 - self._sides[one])
                start += size
        return new

    def _gather(self, ids: Ids) -> None:
        """Bring sets that were split before back to one side each; their former parts are void."""
        again = [one for one in ids.tolist() if one in self._parts]
        away = [
            (side, start, end, 0) for one in again for side, start, end in self._pieces(one) if side != self._sides[one]
        ]
        for stretch in self._grouped(away):
            here = np.zeros(stretch.end - stretch.start, dtype=bool)
            for start, end in zip(stretch.starts.tolist(), stretch.ends.tolist(), strict=True):
                here[start:end] = True
            list(self._pool.map(partial(self._fetch, stretch, here), range(len(self._dtypes))))
        for one in again:
            self._void(one)
        self._changes += 1

    def _fetch(self, stretch: _Stretch, here: NDArray[np.bool_], column: int) -> None:
        """Copy some rows of a stretch to the other side; all others there stay as they are."""
        keys = self._rows(column, 1 - stretch.side, stretch.start, stretch.end)
        np.copyto(keys, self._read(column, stretch), where=here)
        self._write(column, 1 - stretch.side, stretch.start, keys)

    def _void(self, one: int) -> None:
        self._waiting.pop(one, None)
        for part in self._parts.pop(one, []):
            self._unsettled.discard(part)
            self._void(part)

    def _pieces(self, one: int) -> Iterator[tuple[int, int, int]]:
        """Where the rows of a set are now: (side, start, end), in order."""
        if one not in self._parts or one in self._waiting:
            yield self._sides[one], self._starts[one], self._ends[one]
            return
        for part in self._parts[one]:
            yield from self._pieces(part)

    def _stretches(self, ids: Ids) -> list[_Stretch]:
        """The rows of some sets, as `_grouped`; mostly the same sets are asked for by one column after another."""
        asked = self._changes, ids.tobytes()
        last, stretches = self._last
        if last != asked:
            places = [(*piece, number) for number, one in enumerate(ids.tolist()) for piece in self._pieces(one)]
            stretches = list(self._grouped(places))
            self._last = asked, stretches
        return stretches

    def _grouped(self, places: list[tuple[int, int, int, int]]) -> Iterator[_Stretch]:
        """Rows at (side, start, end) of numbered sets, in as few reads as can be, none longer than a chunk."""
        pieces = sorted(
            (side, first, min(end, first + self._chunk), number)
            for side, start, end, number in places
            for first in range(start, end, self._chunk)
        )
        at = 0
        while at < len(pieces):
            side, start, end, _ = pieces[at]
            used, stop = end - start, at + 1
            while stop < len(pieces):
                other, first, last, _ = pieces[stop]
                # rows in between are read for nothing, as long as they are few
                if other != side or max(last, end) - start > self._chunk or first - end > used + GAP:
                    break
                used, end, stop = used + last - first, max(last, end), stop + 1
            own = pieces[at:stop]
            yield _Stretch(
                side,
                start,
                end,
                np.array([number for *_, number in own], dtype=np.int64),
                np.array([first - start for _, first, _, _ in own], dtype=np.int64),
                np.array([last - start for _, _, last, _ in own], dtype=np.int64),
            )
            at = stop

    def _read(self, column: int, stretch: _Stretch) -> Keys:
        return self._rows(column, stretch.side, stretch.start, stretch.end)

    def _rows(self, column: int, side: int, start: int, end: int) -> Keys:
        return self._spill.read(self._at(column, side, start), end - start, self._dtypes[column])

    def _write(self, column: int, side: int, start: int, keys: Keys) -> None:
        self._spill.write(self._at(column, side, start), keys)

    def _at(self, column: int, side: int, start: int) -> int:
        return self._places[column] + (side * self._n_rows + start) * self._dtypes[column].itemsize


def _add(counts: Counts, which: Ids, found: Counts) -> None:
    """Add what was found in the parts of some sets to what is known of them."""
    if len(np.unique(which)) == len(which):  # nearly always, and much faster
        counts[which] += found
    else:
        np.add.at(counts, which, found)
