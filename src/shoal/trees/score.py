# SPDX-License-Identifier: Apache-2.0
"""What splits gain, for many nodes at once."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import counts as count_kernels
from shoal._kernels import gains as kernels

Criterion = Literal["gain", "gini"]
Counts = NDArray[np.int64]


class Score:
    """Information gain or Gini gain in fixed-point integers (see `shoal._kernels.gains`).

    A gain is that of all people of a node together; divide by their number for the gain of the textbooks.
    """

    def __init__(self, criterion: Criterion, n_people: int) -> None:
        self._gini = criterion == "gini"
        self._scale = float(2 ** kernels.scale_for(n_people))
        self._table = kernels.log_table(min(n_people + 1, kernels.TABLE), self._scale)

    def groups(self, counts: Counts, group_of: NDArray[np.int32], n_groups: int) -> Counts:
        """Counts by code summed up to counts by group (nodes × groups × classes)."""
        grouped = np.zeros((len(counts), n_groups, counts.shape[2]), dtype=np.int64)
        count_kernels.regroup(counts, group_of, grouped)
        return grouped

    def gains(self, grouped: Counts) -> Counts:
        """The gain of splitting each node into its groups; 0 where it is none or only rounding."""
        out = np.empty(len(grouped), dtype=np.int64)
        kernels.gains(grouped, self._gini, self._table, self._scale, out)
        return self._real(out, grouped.shape[1], grouped.shape[2])

    def threshold_gains(self, counts: Counts, n_known: int) -> Counts:
        """The gain of every cut of each node (nodes × cuts × where missing goes)."""
        sides = 2 if counts.shape[1] > n_known else 1
        out = np.zeros((len(counts), max(n_known - 1, 0), sides), dtype=np.int64)
        kernels.threshold_gains(counts, n_known, self._gini, self._table, self._scale, out)
        return self._real(out, 2, counts.shape[2])

    def best_cuts(self, counts: Counts, n_known: int, least: int) -> tuple[Counts, Counts]:
        """Each node's best cut into two parts of at least `least` people: its gain (0: none) and position."""
        gain, position = np.empty(len(counts), dtype=np.int64), np.empty(len(counts), dtype=np.int64)
        kernels.best_cuts(counts, n_known, least, self._gini, self._table, self._scale, gain, position)
        return self._real(gain, 2, counts.shape[2]), position

    @staticmethod
    def _real(gains: Counts, n_groups: int, n_classes: int) -> Counts:
        # every term was rounded once, so a gain of at most one unit a term may be no gain at all
        return np.where(gains > (n_groups + 1) * (n_classes + 1), gains, 0)
