# SPDX-License-Identifier: Apache-2.0
"""A branch a value, or a branch a group of a hierarchy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.engines import Feature
from shoal.trees.forms.base import Counts, best_of_all
from shoal.trees.score import Order, Score
from shoal.trees.split import Split
from shoal.trees.veto import Veto


class Levels:
    """A value, or a group of a hierarchy, a branch (the papers' ID3)."""

    def __init__(self, feature: Feature, score: Score) -> None:
        assert feature.levels is not None
        self._levels = feature.levels
        self._score = score

    def order(self, counts: Counts) -> Order | None:
        """See `Form`."""
        return None

    def _grouped(self, counts: Counts, level: int) -> Counts:
        return self._score.groups(counts, self._levels.maps[level], len(self._levels.labels[level]))

    def gains(self, counts: Counts, order: Order | None) -> Counts:
        """See `Form`."""
        return np.stack([self._score.gains(self._grouped(counts, level)) for level in range(len(self._levels))], axis=1)

    def kept(self, counts: Counts, order: Order | None, veto: Veto, by: int | None) -> NDArray[np.bool_]:
        """See `Form`."""
        kept = np.empty((len(counts), len(self._levels)), dtype=bool)
        for level in range(len(self._levels)):
            kept[:, level] = veto.kept(self._grouped(counts, level), by).all(axis=1)
        return kept

    def best(self, counts: Counts, order: Order | None, veto: Veto) -> tuple[Counts, Counts]:
        """See `Form`; no level is looked at that a node has no need of."""
        if self._score.by_ratio:
            return best_of_all(self, counts, order, veto)
        gains, levels = np.zeros(len(counts), dtype=np.int64), np.zeros(len(counts), dtype=np.int64)
        undecided = np.arange(len(counts))
        for level in range(len(self._levels)):
            grouped = self._grouped(counts[undecided], level)
            kept = np.ones(len(undecided), dtype=bool)
            for by in veto.questions:
                kept &= veto.kept(veto.asked(grouped, by), by).all(axis=1)
            decided = undecided[kept]
            gains[decided], levels[decided] = self._score.gains(grouped[kept]), level
            undecided = undecided[~kept]
            if not len(undecided):
                break
        return gains, levels

    def choose(self, gains: Counts, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The finest level that is kept: a coarser one never gains more, unless a rule of C4.5 forbids the finer."""
        finest: NDArray[np.intp] = (kept & (gains > 0) if self._score.by_ratio else kept).argmax(axis=1)
        return finest

    def ranked(self, gains: Counts) -> NDArray[np.intp]:
        """See `Form`; the finest first."""
        return np.broadcast_to(np.arange(gains.shape[1]), gains.shape)

    def sizes(self, counts: Counts, positions: NDArray[np.intp], order: Order | None) -> Counts:
        """See `Form`."""
        sizes = np.zeros((len(counts), max(map(len, self._levels.labels))), dtype=np.int64)
        for level in np.unique(positions):
            here = np.flatnonzero(positions == level)
            grouped = self._grouped(counts[here], int(level)).sum(axis=2)
            sizes[here, : grouped.shape[1]] = grouped
        return sizes

    def split(self, f: int, position: int, order: Order | None) -> Split:
        """See `Form`."""
        return Split(f, level=position)

    def branches(self, positions: NDArray[np.intp], order: Order | None) -> NDArray[np.int32]:
        """See `Form`."""
        return np.stack([self._levels.maps[level] for level in positions])


class KnownLevels(Levels):
    """As `Levels`, by the people whose value is known; the others go with most of them.

    C4.5 sends a share of such a person down every branch. A group counts whole people, so here they go where the
    largest share would go. As in C4.5 they add nothing to the gain, and are a part of their own in the ratio.
    """

    def order(self, counts: Counts) -> Order | None:
        """The largest known group of every level (nodes × levels)."""
        known = [self._known(counts, level).sum(axis=2) for level in range(len(self._levels))]
        return np.stack([sizes.argmax(axis=1) for sizes in known], axis=1)

    def gains(self, counts: Counts, order: Order | None) -> Counts:
        """See `Form`."""
        return np.stack([self._score.gains(self._known(counts, level)) for level in range(len(self._levels))], axis=1)

    def kept(self, counts: Counts, order: Order | None, veto: Veto, by: int | None) -> NDArray[np.bool_]:
        """See `Form`."""
        assert order is not None
        kept = np.empty((len(counts), len(self._levels)), dtype=bool)
        for level in range(len(self._levels)):
            parts = self._known(counts, level)
            parts[np.arange(len(counts)), order[:, level]] += counts[:, -1]
            kept[:, level] = veto.kept(parts, by).all(axis=1)
        return kept

    def split(self, f: int, position: int, order: Order | None) -> Split:
        """See `Form`."""
        assert order is not None
        return Split(f, level=position, missing_to=int(order[position]))

    def branches(self, positions: NDArray[np.intp], order: Order | None) -> NDArray[np.int32]:
        """See `Form`."""
        assert order is not None
        branch = super().branches(positions, order)
        branch[:, -1] = order[np.arange(len(order)), positions]
        return branch

    def _known(self, counts: Counts, level: int) -> Counts:
        known = counts.copy()
        known[:, -1] = 0
        return self._grouped(known, level)
