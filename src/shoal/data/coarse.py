# SPDX-License-Identifier: Apache-2.0
"""The numbers of a column that is read in batches: a dictionary for each batch, and one for all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.data.disk import Spill

Values = NDArray[np.float64]
Ids = NDArray[np.int64]


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
        self._batches.append((len(numbers), self._spill.append(numbers), self._spill.append(counts)))

    def merged(self, keep: Keep | None) -> tuple[Values, Ids]:
        """All distinct numbers, ascending, and how many rows have each; the last count is of missing."""
        waiting: list[Values] = []
        for n, place, _ in self._batches:
            waiting.append(self._spill.read(place, n, np.float64))
            if sum(map(len, waiting)) > len(self._values):  # each number is merged again as often as they double
                self._values = _distinct([self._values, *waiting])
                waiting = []
        self._values = _distinct([self._values, *waiting])
        counts = np.zeros(len(self._values) + 1, dtype=np.int64)
        for batch, (n, _, place) in enumerate(self._batches):
            counts[self.entry_of(batch)] += self._spill.read(place, n + 1, np.int64)
        return self._values, counts

    def entry_of(self, batch: int) -> Ids:
        """For each code of a batch its number among all; the last is missing."""
        n, place, _ = self._batches[batch]
        found = np.searchsorted(self._values, self._spill.read(place, n, np.float64))
        return np.append(found, len(self._values))


def _distinct(parts: list[Values]) -> Values:
    return np.unique(np.concatenate(parts)) + 0.0
