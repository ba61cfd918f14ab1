# SPDX-License-Identifier: Apache-2.0
"""Two branches: numbers below and above a cut, or two sets of values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import gains as kernels
from shoal.engines import Feature
from shoal.trees.forms.base import RARE, Counts, best_of_all
from shoal.trees.score import Order, Score
from shoal.trees.split import Split
from shoal.trees.veto import Veto


class Cuts:
    """Two branches, of the numbers at most and above a cut; missing goes either way."""

    def __init__(self, feature: Feature, score: Score) -> None:
        self._feature = feature
        self._score = score
        self._sides = 1 + feature.missing

    def order(self, counts: Counts) -> Order | None:
        """See `Form`."""
        return None

    def gains(self, counts: Counts, order: Order | None) -> Counts:
        """See `Form`."""
        if not self._score.by_ratio:
            return self._score.threshold_gains(counts, self._feature.n_known).reshape(len(counts), -1)
        # as C4.5: missing adds nothing to the gain; it goes with most of the others (see `KnownLevels`)
        gains, most_below = self._score.cut_gains(np.ascontiguousarray(counts[:, : self._feature.n_known]))
        if self._sides == 1:
            return gains
        return np.stack([gains * ~most_below, gains * most_below], axis=2).reshape(len(counts), -1)

    def kept(self, counts: Counts, order: Order | None, veto: Veto, by: int | None) -> NDArray[np.bool_]:
        """See `Form`."""
        return veto.cuts_kept(counts, self._feature.n_known, by).reshape(len(counts), -1)

    def choose(self, gains: Counts, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The best that is kept; ties go to the lower cut."""
        best: NDArray[np.intp] = np.where(kept, gains, 0).argmax(axis=1)
        return best

    def ranked(self, gains: Counts) -> NDArray[np.intp]:
        """See `Form`."""
        return np.argsort(-gains, axis=1, kind="stable")

    def sizes(self, counts: Counts, positions: NDArray[np.intp], order: Order | None) -> Counts:
        """See `Form`."""
        people, n_known = counts.sum(axis=2), self._feature.n_known
        low = np.cumsum(people[:, :n_known], axis=1)[np.arange(len(counts)), positions // self._sides]
        # missing, too, is a part of its own in the ratio
        return np.stack([low, people[:, :n_known].sum(axis=1) - low, people[:, n_known:].sum(axis=1)], axis=1)

    def most_even(self, counts: Counts, order: Order | None, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The position, among those that are kept, whose smaller part is the largest; ties go to the lower cut."""
        low = self._low(counts, order)
        smaller = np.minimum(low, counts.sum(axis=(1, 2))[:, None] - low)
        even: NDArray[np.intp] = np.where(kept, smaller, -1).argmax(axis=1)
        return even

    def _low(self, counts: Counts, order: Order | None) -> Counts:
        """People in the lower part of every position (nodes × positions)."""
        people = counts.sum(axis=2)
        low = np.repeat(np.cumsum(people[:, : self._feature.n_known - 1], axis=1), self._sides, axis=1)
        if self._feature.missing:
            low[:, 1::2] += people[:, -1:]
        return low

    def best(self, counts: Counts, order: Order | None, veto: Veto) -> tuple[Counts, Counts]:
        """See `Form`."""
        # C4.5 weighs all cuts of a feature, and where classes have weights people are not what gains are counted in
        if veto.least is None or self._score.by_ratio or self._score.weighs:
            return best_of_all(self, counts, order, veto)
        return self._score.best_cuts(counts, self._feature.n_known, veto.least)

    def branches(self, positions: NDArray[np.intp], order: Order | None) -> NDArray[np.int32]:
        """See `Form`."""
        branch = (np.arange(self._feature.n_codes) > (positions // self._sides)[:, None]).astype(np.int32)
        if self._feature.missing:
            branch[:, -1] = positions % 2 == 0
        return branch

    def split(self, f: int, position: int, order: Order | None) -> Split:
        """See `Form`."""
        return Split(f, cut=position // self._sides, missing_low=bool(position % self._sides))


class Halves(Cuts):
    """Two branches of a categorical feature: its values in order of their share of the node's main class, cut once.

    For two classes one of these cuts is the best of all ways to put the values into two groups (Breiman et al. 1984,
    Sect. 4.2); for more classes it is a rule of thumb. Values that few people of the node have are taken together: one
    by one they could be sorted by their classes even where they mean nothing, down to names of people.
    """

    def order(self, counts: Counts) -> Order | None:
        """Values by their share of the node's main class; all rare ones by the share they have together."""
        order = np.empty(counts.shape[:2], dtype=np.intp)
        kernels.order_halves(counts, self._score.class_units(counts.shape[2]), RARE, order)
        return order

    def gains(self, counts: Counts, order: Order | None) -> Counts:
        """See `Form`; a cut through the rare values gains nothing."""
        ordered = self._sorted(counts, order)
        gains = self._score.threshold_gains(ordered, self._feature.n_codes)[:, :, 0]
        return np.where(self._through_rare(ordered), 0, gains)

    def sizes(self, counts: Counts, positions: NDArray[np.intp], order: Order | None) -> Counts:
        """See `Form`."""
        low = self._low(counts, order)[np.arange(len(counts)), positions]
        return np.stack([low, counts.sum(axis=(1, 2)) - low], axis=1)

    def most_even(self, counts: Counts, order: Order | None, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
        """See `Cuts`; not through the rare values."""
        return super().most_even(counts, order, kept & ~self._through_rare(self._sorted(counts, order)))

    def _low(self, counts: Counts, order: Order | None) -> Counts:
        return np.cumsum(self._sorted(counts, order).sum(axis=2), axis=1)[:, :-1]

    @staticmethod
    def _through_rare(ordered: Counts) -> NDArray[np.bool_]:
        """Which cuts part values that are rare on both sides."""
        rare: NDArray[np.bool_] = ordered.sum(axis=2) < RARE
        return rare[:, :-1] & rare[:, 1:]

    def kept(self, counts: Counts, order: Order | None, veto: Veto, by: int | None) -> NDArray[np.bool_]:
        """See `Form`."""
        return veto.cuts_kept(self._sorted(counts, order), self._feature.n_codes, by)[:, :, 0]

    def best(self, counts: Counts, order: Order | None, veto: Veto) -> tuple[Counts, Counts]:
        """See `Form`."""
        if veto.least is None or self._score.weighs:
            return best_of_all(self, counts, order, veto)
        assert order is not None
        return self._score.best_halves(counts, order, RARE, veto.least)

    def branches(self, positions: NDArray[np.intp], order: Order | None) -> NDArray[np.int32]:
        """See `Form`."""
        assert order is not None
        branch = np.empty(order.shape, dtype=np.int32)
        above = np.arange(order.shape[1]) > positions[:, None]
        np.put_along_axis(branch, order, above.astype(np.int32), axis=1)
        return branch

    def split(self, f: int, position: int, order: Order | None) -> Split:
        """See `Form`."""
        assert order is not None
        return Split(f, low=tuple(sorted(order[: position + 1].tolist())))

    @staticmethod
    def _sorted(counts: Counts, order: Order | None) -> Counts:
        assert order is not None
        return np.ascontiguousarray(np.take_along_axis(counts, order[:, :, None], axis=1))
