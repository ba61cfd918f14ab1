# SPDX-License-Identifier: Apache-2.0
"""The numbers of a column that is read in batches: a dictionary for each batch, on disk, and one for all.

A column of very many numbers is cut at quantiles only, and one dictionary for all of them could fill the memory. So the
common dictionary may leave out numbers that no such cut will tell from the next larger one that it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.data.disk import Spill

Values = NDArray[np.float64]
Ids = NDArray[np.int64]
MANY = 1 << 20  # numbers that are all kept
BUCKETS = 1 << 16  # parts of a column of more numbers; those with a cut in them are kept whole
SAMPLE = 1 << 18  # numbers to find these parts from


@dataclass(frozen=True)
class Keep:
    """What must stay apart where numbers are taken together: quantiles, and bounds with people behind them."""

    quantiles: int
    people: int


class Numbers:
    """Sorted distinct numbers of each batch, on disk, and how many rows have each; the last count is of missing."""

    def __init__(self, spill: Spill) -> None:
        self._spill = spill
        self._batches: list[tuple[int, int, int]] = []  # how many numbers, where they are, and their counts
        self._values: Values = np.empty(0)
        self.whole = True  # whether all are whole numbers

    def add(self, numbers: Values, counts: Ids) -> None:
        """One more batch."""
        self.whole = self.whole and bool(np.all(np.floor(numbers) == numbers))
        self._batches.append((len(numbers), self._spill.append(numbers), self._spill.append(counts.astype(np.uint32))))

    def merged(self, keep: Keep | None) -> tuple[Values, Ids]:
        """The numbers of the common dictionary, ascending, and how many rows have each; the last count is of missing.

        Without `keep`, those are all that occur.
        """
        most = None if keep is None else max(MANY, keep.quantiles)
        found = self._all(most)
        if found is None:
            assert keep is not None
            found = self._some(keep)
            if len(found) <= keep.quantiles:  # then they would not be cut at quantiles
                found = self._all(None)
                assert found is not None
        self._values = found
        counts = np.zeros(len(self._values) + 1, dtype=np.int64)
        for batch, (_, own) in enumerate(self._each()):
            np.add.at(counts, self.entry_of(batch), own)
        return self._values, counts

    def entry_of(self, batch: int) -> Ids:
        """For each code of a batch its number in the common dictionary; the last is missing."""
        n, place, _ = self._batches[batch]
        found = np.searchsorted(self._values, self._spill.read(place, n, np.float64))
        return np.append(found, len(self._values))

    def _each(self) -> Iterator[tuple[Values, Ids]]:
        for n, place, counts in self._batches:
            yield self._spill.read(place, n, np.float64), self._spill.read(counts, n + 1, np.uint32).astype(np.int64)

    def _all(self, most: int | None) -> Values | None:
        """All distinct numbers, or None where they are more than `most`."""
        values: Values = np.empty(0)
        waiting: list[Values] = []
        for n, place, _ in self._batches:
            waiting.append(self._spill.read(place, n, np.float64))
            if sum(map(len, waiting)) > len(values):  # each number is merged again as often as they double
                values, waiting = _distinct([values, *waiting]), []
            if most is not None and len(values) > most:
                return None
        values = _distinct([values, *waiting])
        return None if most is not None and len(values) > most else values

    def _some(self, keep: Keep) -> Values:
        """All numbers of the parts of the column where a cut may be, and the lowest and highest of each other part.

        A quantile is between the number at a rank and one of its neighbours. A neighbour in another part is that part's
        lowest or highest number, so it is there.
        """
        splitters = self._splitters()
        rows = np.zeros(len(splitters) + 1, dtype=np.int64)
        lowest, highest = np.full(len(rows), np.inf), np.full(len(rows), -np.inf)
        for numbers, counts in self._each():
            edges = _edges(numbers, splitters)
            reached = np.append(0, np.cumsum(counts[:-1]))
            rows += np.diff(reached[edges])
            held = np.flatnonzero(np.diff(edges))
            lowest[held] = np.minimum(lowest[held], numbers[edges[held]])
            highest[held] = np.maximum(highest[held], numbers[edges[held + 1] - 1])
        reached = np.cumsum(rows)
        whole = np.zeros(len(rows), dtype=bool)
        whole[np.searchsorted(reached, ranks(keep, int(reached[-1])))] = True
        parts = [lowest[rows > 0], highest[rows > 0]]
        for numbers, _ in self._each():
            parts.append(numbers[np.repeat(whole, np.diff(_edges(numbers, splitters)))])
        return _distinct(parts)

    def _splitters(self) -> Values:
        """Numbers that cut the column into parts of about equally many rows."""
        each = max(1, SAMPLE // len(self._batches))
        sample = []
        for numbers, counts in self._each():
            reached = np.cumsum(counts[:-1])
            if len(reached):
                ranks = 1 + np.arange(each) * int(reached[-1]) // each
                sample.append(numbers[np.searchsorted(reached, ranks)])
        ordered = np.sort(np.concatenate(sample))
        return np.unique(ordered[np.arange(1, BUCKETS) * len(ordered) // BUCKETS])


def _edges(numbers: Values, splitters: Values) -> Ids:
    """Where the parts of a column begin and end among some sorted numbers; a splitter is the last of its part."""
    inner = np.searchsorted(numbers, splitters, side="right")
    return np.concatenate([[0], inner, [len(numbers)]])


def ranks(keep: Keep, n_rows: int) -> Ids:
    """The ranks, from 1, of rows around which a cut or a bound may be."""
    quantiles = [-(-np.arange(1, n, dtype=np.int64) * n_rows // n) for n in (2, keep.quantiles)]
    ends = [1, keep.people, n_rows - keep.people + 1, n_rows]
    return np.asarray(np.clip(np.concatenate([*quantiles, ends]), 1, n_rows))


def _distinct(parts: list[Values]) -> Values:
    return np.unique(np.concatenate(parts)) + 0.0
