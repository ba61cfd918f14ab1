# SPDX-License-Identifier: Apache-2.0
"""Counts that a driver has fetched already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines.base import Counts, Ids

MOST_CELLS = 1 << 24  # counts of one job


class Known:
    """Counts that are here already, of sets of one kind by the values of one column, up to so many."""

    def __init__(self, columns: Sequence[int], n_codes: Sequence[int], by: int, n_values: int) -> None:
        sizes = np.array(n_codes, dtype=np.int64) * n_values
        self.columns = np.array(columns, dtype=np.int32)
        self.first = np.cumsum(sizes) - sizes
        self.width = int(sizes.sum())
        self.by, self.n_values = by, n_values
        self._n_codes = n_codes
        self._counts: dict[int, NDArray[Any]] = {}

    def lacks(self, ids: Ids) -> Ids:
        """Which of some sets are not counted; others that were asked for long ago make room for them."""
        asked = dict.fromkeys(ids.tolist())
        lacks = [one for one in asked if one not in self._counts]
        too_many = len(self._counts) + len(lacks) - 2 * MOST_CELLS // max(self.width, 1)
        if lacks and too_many > 0:
            for one in [one for one in self._counts if one not in asked][:too_many]:
                del self._counts[one]
        return np.array(lacks, dtype=np.int64)

    def enter(self, ids: Ids, counts: Counts) -> None:
        """Keep what was counted, in no more bytes than it needs."""
        small = counts.astype(np.int32) if counts.max(initial=0) < 1 << 31 else counts
        self._counts.update(zip(ids.tolist(), small, strict=True))

    def get(self, ids: Ids, place: int) -> Counts:
        """Sets × codes of a column × values."""
        start, n_codes = int(self.first[place]), self._n_codes[place]
        found = np.empty((len(ids), n_codes, self.n_values), dtype=np.int64)
        for i, one in enumerate(ids.tolist()):
            found[i] = self._counts[one][start : start + n_codes * self.n_values].reshape(n_codes, self.n_values)
        return found
