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
Order = NDArray[np.intp]  # a permutation of the codes, or the ladder by which they merge; one a node
# C4.5's constants
FEW = 2  # people that at least two parts of a split have
MANY = 25  # people that both parts of a numeric cut need at most: a tenth of the node's, shared among the classes
SLACK = 0.001  # bits a person that a gain may be below the average


class Score:
    """Information gain or Gini gain in fixed-point integers (see `shoal._kernels.gains`).

    A gain is that of all people of a node together; divide by their number for the gain of the textbooks. With the
    criterion ``"ratio"`` gains are information gains, less what C4.5 holds against a split, and `pick` weighs them as
    C4.5 does.

    Parameters
    ----------
    criterion, n_people
        What is gained, and how many people the table has.
    evidence
        The least χ² of a split that counts as one. χ² is about people, so it is not asked where they weigh differently.
    weights
        How much a person of each class counts in a gain; None: all the same.
    min_gain
        A split that gains less than this for each person of the table (or for their weight) counts as gaining nothing.
    """

    def __init__(
        self,
        criterion: Criterion,
        n_people: int,
        evidence: float = 0.0,
        *,
        weights: Weights | None = None,
        min_gain: float = 0.0,
    ) -> None:
        self._evidence = evidence if weights is None else 0.0
        self._gini = criterion == "gini"
        self.by_ratio = criterion == "ratio"
        self._weights = weights
        total = n_people if weights is None else weights.total
        self._scale = float(2 ** kernels.scale_for(total))
        self._bit = self._scale * (total / n_people)  # a bit of one person of average weight
        self._table = kernels.log_table(min(total + 1, kernels.TABLE), self._scale)
        self._least = math.ceil(min_gain * total * self._scale)

    @property
    def weighs(self) -> bool:
        """Whether people count by their class."""
        return self._weights is not None

    def class_units(self, n_classes: int) -> Counts:
        """How much a person of each class counts."""
        return np.array((1,) * n_classes if self._weights is None else self._weights.units, dtype=np.int64)

    def _weigh(self, counts: Counts) -> Counts:
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
        kernels.gains(self._weigh(grouped), self._gini, self._table, self._scale, out)
        out = self._real(out, grouped.shape[1], grouped.shape[2])
        if self.by_ratio:
            out[(grouped.sum(axis=2) >= FEW).sum(axis=1) < 2] = 0
        return out

    def threshold_gains(self, counts: Counts, n_known: int) -> Counts:
        """The gain of every cut of each node (nodes × cuts × where missing goes)."""
        sides = 2 if counts.shape[1] > n_known else 1
        out = np.zeros((len(counts), max(n_known - 1, 0), sides), dtype=np.int64)
        kernels.threshold_gains(self._weigh(counts), n_known, self._gini, self._table, self._scale, out)
        return self._real(out, 2, counts.shape[2])

    def best_cuts(self, counts: Counts, n_known: int, least: int) -> tuple[Counts, Counts]:
        """Each node's best cut into two parts of at least `least` people: its gain (0: none) and position.

        Not for people of different weights: here they are what is counted and what gains.
        """
        assert self._weights is None
        gain, position = np.empty(len(counts), dtype=np.int64), np.empty(len(counts), dtype=np.int64)
        kernels.best_cuts(counts, n_known, least, self._gini, self._table, self._scale, gain, position)
        return self._real(gain, 2, counts.shape[2]), position

    def best_halves(self, counts: Counts, order: Order, rare: int, least: int) -> tuple[Counts, Counts]:
        """`best_cuts` of codes in each node's own order, none of them between two rare codes."""
        assert self._weights is None
        gain, position = np.empty(len(counts), dtype=np.int64), np.empty(len(counts), dtype=np.int64)
        kernels.best_halves(counts, order, rare, least, self._gini, self._table, self._scale, gain, position)
        return self._real(gain, 2, counts.shape[2]), position

    def ladders(self, counts: Counts, maps: NDArray[np.int32], rare: int, most: int) -> Order:
        """How each node's values merge, one after the other (see `shoal._kernels.ladder`)."""
        into = np.empty((len(counts), 2 * counts.shape[1] - 1), dtype=np.intp)
        people, weighed = counts.sum(axis=2), self._weigh(counts)
        ladder_kernels.ladders(people, weighed, maps, rare, most, self._gini, self._table, self._scale, into)
        return into

    def ladder_gains(self, counts: Counts, into: Order) -> Counts:
        """The gain of each stage of each node's ladder (nodes × stages)."""
        out = np.zeros((len(counts), counts.shape[1] - 1), dtype=np.int64)
        ladder_kernels.ladder_gains(self._weigh(counts), into, self._gini, self._table, self._scale, out)
        return self._real(out, counts.shape[1], counts.shape[2])

    def evident(self, gains: Counts, classes: Counts) -> Counts:
        """Gains (features × nodes) of nodes with these classes, 0 where chance alone could well have made them.

        For two classes a Gini gain over the node's own Gini index is the χ² of the split; an information gain in nats
        is nearly half of it.
        """
        if not self._evidence:
            return gains
        if self._gini:
            shares = classes / np.maximum(classes.sum(axis=1, keepdims=True), 1)
            least = self._evidence * (1 - (shares**2).sum(axis=1))
        else:
            least = np.full(len(classes), self._evidence / (2 * np.log(2)))
        return np.where(gains >= least * self._scale, gains, 0)

    def cut_gains(self, counts: Counts) -> tuple[Counts, NDArray[np.bool_]]:
        """The gain of every cut of each node as C4.5 counts it, from counts by known number; and whether most people
        are below the cut (nodes × cuts).

        A cut that leaves few people on a side gains nothing; of any other, log₂ of how many there were to choose from
        is taken off (Quinlan 1996).
        """
        gains = self.threshold_gains(counts, counts.shape[1])[:, :, 0]
        known = counts.sum(axis=2)
        low, people = np.cumsum(known, axis=1)[:, :-1], known.sum(axis=1, keepdims=True)
        least = np.clip(people / (10 * counts.shape[2]), FEW, MANY)
        worthy = (low >= least) & (people - low >= least)
        n_cuts = (worthy & (known[:, :-1] > 0)).sum(axis=1, keepdims=True)
        bits = (np.log2(np.maximum(n_cuts, 1)) * self._bit).astype(np.int64)
        return np.where(worthy & (gains > bits), gains - bits, 0), 2 * low > people

    def split_information(self, sizes: Counts) -> Counts:
        """People times the entropy of the branches they go to (nodes × branches)."""
        out = np.empty(len(sizes), dtype=np.int64)
        # one person a class apiece: what the split tells about itself
        kernels.gains(_as_classes(sizes), False, self._table, self._scale, out)
        return out

    def pick(self, gains: Counts, information: Counts | None, people: Counts) -> NDArray[np.intp]:
        """The feature to split each node by (features × nodes), −1 where none gains; ties go to the earlier feature.

        By gain; or, where the splits' own information is given, by their ratio.
        """
        value = gains.astype(np.float64) if information is None else self.ratios(gains, information, people)
        return np.where((value > 0).any(axis=0), value.argmax(axis=0), -1)

    def ratios(self, gains: Counts, information: Counts, people: Counts) -> NDArray[np.float64]:
        """Gain ratios (features × nodes); 0 for a feature that gains less than those that gain do on average."""
        gaining = gains > 0
        average = gains.sum(axis=0) / np.maximum(gaining.sum(axis=0), 1)
        ratio: NDArray[np.float64] = gains / np.maximum(information, 1)
        return np.where(gaining & (gains >= average - SLACK * people * self._bit), ratio, 0.0)

    def _real(self, gains: Counts, n_groups: int, n_classes: int) -> Counts:
        # every term was rounded once, so a gain of at most one unit a term may be no gain at all
        return np.where(gains >= max(self._least, (n_groups + 1) * (n_classes + 1) + 1), gains, 0)


def _as_classes(sizes: Counts) -> Counts:
    """Branch sizes as if each branch were a class of its own (nodes × branches × branches, on the diagonal)."""
    apart = np.zeros((*sizes.shape, sizes.shape[1]), dtype=np.int64)
    index = np.arange(sizes.shape[1])
    apart[:, index, index] = sizes
    return apart
