# SPDX-License-Identifier: Apache-2.0
"""What splits gain, for many nodes at once."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import counts as count_kernels
from shoal._kernels import gains as kernels
from shoal._kernels import ladder as ladder_kernels
from shoal.trees.weights import Weights

Criterion = Literal["gain", "gini", "ratio"]
Counts = NDArray[np.int64]


class Score:
    """Information gain or Gini gain in fixed-point integers (see `shoal._kernels.gains`).

    A gain is that of all people of a node together; divide by their number for the gain of the textbooks. With the
    criterion ``"ratio"`` gains are information gains, and `pick` weighs them as C4.5 does.

    Parameters
    ----------
    criterion, n_people
        What is gained, and how many people the table has.
    weights
        How much a person of each class counts in a gain; None: all the same.
    min_gain
        A split that gains less than this for each person of the table (or for their weight) counts as gaining nothing.
    """

    def __init__(
        self, criterion: Criterion, n_people: int, *, weights: Weights | None = None, min_gain: float = 0.0
    ) -> None:
        self._gini = criterion == "gini"
        self.by_ratio = criterion == "ratio"
        self._weights = weights
        total = n_people if weights is None else weights.total
        self._average = total / n_people  # what a person weighs
        self._scale = float(2 ** kernels.scale_for(total))
        self._table = kernels.log_table(min(total + 1, kernels.TABLE), self._scale)
        self._least = math.ceil(min_gain * total * self._scale)

    def weigh(self, counts: Counts) -> Counts:
        """People by class as weight by class."""
        return counts if self._weights is None else self._weights.weigh(counts)

    def groups(self, counts: Counts, group_of: NDArray[np.int32], n_groups: int) -> Counts:
        """Counts by code summed up to counts by group (nodes × groups × classes)."""
        grouped = np.zeros((len(counts), n_groups, counts.shape[2]), dtype=np.int64)
        count_kernels.regroup(counts, group_of, grouped)
        return grouped

    def gains(self, grouped: Counts) -> Counts:
        """The gain of splitting each node into its groups; 0 where it is none or only rounding."""
        out = np.empty(len(grouped), dtype=np.int64)
        kernels.gains(self.weigh(grouped), self._gini, self._table, self._scale, out)
        return self._real(out, grouped.shape[1], grouped.shape[2])

    def threshold_gains(self, counts: Counts, n_known: int) -> Counts:
        """The gain of every cut of each node (nodes × cuts × where missing goes)."""
        sides = 2 if counts.shape[1] > n_known else 1
        out = np.zeros((len(counts), max(n_known - 1, 0), sides), dtype=np.int64)
        kernels.threshold_gains(self.weigh(counts), n_known, self._gini, self._table, self._scale, out)
        return self._real(out, 2, counts.shape[2])

    def best_cuts(self, counts: Counts, n_known: int, least: int) -> tuple[Counts, Counts]:
        """Each node's best cut into two parts of at least `least` people: its gain (0: none) and position."""
        if self._weights is not None:  # the kernel would weigh the people it asks for too
            return self._best_weighed_cuts(counts, n_known, least)
        gain, position = np.empty(len(counts), dtype=np.int64), np.empty(len(counts), dtype=np.int64)
        kernels.best_cuts(counts, n_known, least, self._gini, self._table, self._scale, gain, position)
        return self._real(gain, 2, counts.shape[2]), position

    def _best_weighed_cuts(self, counts: Counts, n_known: int, least: int) -> tuple[Counts, Counts]:
        gains = self.threshold_gains(counts, n_known)
        people = counts.sum(axis=2)
        low = np.repeat(np.cumsum(people[:, : n_known - 1], axis=1)[:, :, None], gains.shape[2], axis=2)
        if gains.shape[2] > 1:
            low[:, :, 1] += people[:, n_known, None]
        enough = (low >= least) & (people.sum(axis=1)[:, None, None] - low >= least)
        gains = np.where(enough, gains, 0).reshape(len(counts), -1)
        position = gains.argmax(axis=1)
        return gains[np.arange(len(gains)), position], position

    def ladders(self, counts: Counts, maps: NDArray[np.int32], rare: int, most: int) -> NDArray[np.intp]:
        """How each node's values merge, one after the other (see `shoal._kernels.ladder`)."""
        into = np.empty((len(counts), 2 * counts.shape[1] - 1), dtype=np.intp)
        people = counts.sum(axis=2)
        ladder_kernels.ladders(people, self.weigh(counts), maps, rare, most, self._gini, self._table, self._scale, into)
        return into

    def ladder_gains(self, counts: Counts, into: NDArray[np.intp]) -> Counts:
        """The gain of each stage of each node's ladder (nodes × stages)."""
        out = np.zeros((len(counts), counts.shape[1] - 1), dtype=np.int64)
        ladder_kernels.ladder_gains(self.weigh(counts), into, self._gini, self._table, self._scale, out)
        return self._real(out, counts.shape[1], counts.shape[2])

    def without_choice(self, gains: Counts, n_cuts: NDArray[np.int64]) -> Counts:
        """Gains of numeric cuts less log₂ of how many there were to choose from (Quinlan 1996)."""
        bits = np.log2(np.maximum(n_cuts, 1)) * (self._scale * self._average)
        return np.where(gains > bits, gains - bits.astype(np.int64), 0)

    def split_information(self, sizes: Counts) -> Counts:
        """People times the entropy of the branches they go to (nodes × branches)."""
        out = np.empty(len(sizes), dtype=np.int64)
        # one person a class apiece: what the split tells about itself
        kernels.gains(_as_classes(sizes), False, self._table, self._scale, out)
        return out

    @staticmethod
    def pick(gains: Counts, information: Counts | None) -> NDArray[np.intp]:
        """The feature to split each node by (features × nodes), −1 where none gains; ties go to the earlier feature.

        By gain; or, where the splits' own information is given, by their ratio among features of at least average gain.
        """
        value = gains.astype(np.float64) if information is None else ratios(gains, information)
        return np.where((value > 0).any(axis=0), value.argmax(axis=0), -1)

    def _real(self, gains: Counts, n_groups: int, n_classes: int) -> Counts:
        # every term was rounded once, so a gain of at most one unit a term may be no gain at all
        return np.where(gains >= max(self._least, (n_groups + 1) * (n_classes + 1) + 1), gains, 0)


def ratios(gains: Counts, information: Counts) -> NDArray[np.float64]:
    """Gain ratios (features × nodes); 0 for a feature whose gain is below the average of those that gain (C4.5)."""
    gaining = gains > 0
    average = gains.sum(axis=0) / np.maximum(gaining.sum(axis=0), 1)
    ratio: NDArray[np.float64] = gains / np.maximum(information, 1)
    return np.where(gaining & (gains >= average * (1 - 1e-9)), ratio, 0.0)


def _as_classes(sizes: Counts) -> Counts:
    """Branch sizes as if each branch were a class of its own (nodes × branches × branches, on the diagonal)."""
    apart = np.zeros((*sizes.shape, sizes.shape[1]), dtype=np.int64)
    index = np.arange(sizes.shape[1])
    apart[:, index, index] = sizes
    return apart
