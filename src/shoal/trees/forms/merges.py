# SPDX-License-Identifier: Apache-2.0
"""A branch a value, with values too small to stand alone merged into others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import ladder as kernels
from shoal.engines import Feature
from shoal.trees.forms.base import RARE, Counts, best_of_all
from shoal.trees.score import Order, Score
from shoal.trees.split import Split
from shoal.trees.veto import Veto

MOST_APART = 128  # more values of a node than these are not looked at one by one: work grows with their square


class Merges:
    """A value a branch, but the smallest group of values is merged with its nearest until the requirement is kept.

    The positions are the stages of one ladder a node, from all values apart to two groups. Nearest is the group of the
    lowest common family of the hierarchy and, among these, the one that costs least gain to merge with. Values that few
    people of the node have are put together beforehand, whatever their classes (see `Halves`).
    """

    def __init__(self, feature: Feature, score: Score) -> None:
        assert feature.levels is not None
        self._maps = np.stack(feature.levels.maps)
        self._score = score

    def order(self, counts: Counts) -> Order | None:
        """Each node's ladder (nodes × groups)."""
        return self._score.ladders(counts, self._maps, RARE, MOST_APART)

    def gains(self, counts: Counts, order: Order | None) -> Counts:
        """See `Form`."""
        assert order is not None
        return self._score.ladder_gains(counts, order)

    def kept(self, counts: Counts, order: Order | None, veto: Veto, by: int | None) -> NDArray[np.bool_]:
        """See `Form`."""
        assert order is not None
        order = np.ascontiguousarray(order)
        sums = np.empty((len(counts), order.shape[1], counts.shape[2]), dtype=np.int64)
        kernels.ladder_sums(counts, order, sums)
        kept = np.empty((len(counts), counts.shape[1] - 1), dtype=bool)
        kernels.ladder_kept(veto.kept(sums, by), order, kept)
        return kept

    def choose(self, gains: Counts, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The finest stage that is kept: a coarser one never gains more."""
        finest: NDArray[np.intp] = kept.argmax(axis=1)
        return finest

    def ranked(self, gains: Counts) -> NDArray[np.intp]:
        """See `Form`; the finest first."""
        return np.broadcast_to(np.arange(gains.shape[1]), gains.shape)

    def sizes(self, counts: Counts, positions: NDArray[np.intp], order: Order | None) -> Counts:
        """See `Form`."""
        groups = self.branches(positions, order)
        sizes = np.zeros(groups.shape, dtype=np.int64)
        np.add.at(sizes, (np.arange(len(counts))[:, None], groups), counts.sum(axis=2))
        return sizes

    def best(self, counts: Counts, order: Order | None, veto: Veto) -> tuple[Counts, Counts]:
        """See `Form`."""
        return best_of_all(self, counts, order, veto)

    def branches(self, positions: NDArray[np.intp], order: Order | None) -> NDArray[np.int32]:
        """The group of each code."""
        assert order is not None
        groups = np.empty((len(order), (order.shape[1] + 1) // 2), dtype=np.int32)
        kernels.ladder_groups(np.ascontiguousarray(order), positions, groups)
        return groups

    def split(self, f: int, position: int, order: Order | None) -> Split:
        """See `Form`."""
        assert order is not None
        return Split(f, groups=tuple(self.branches(np.array([position]), order[None])[0].tolist()))
