# SPDX-License-Identifier: Apache-2.0
"""The ways in which one feature can split a node.

A form lists *positions*: the levels of a hierarchy, the cuts of an ordered feature, the cuts of a categorical one
whose values are put in order of the node's own classes, or the stages at which its values are merged. For counts of
many nodes at once it tells what each position gains, and for sets of people which positions keep a requirement; a
position of a node becomes a `Split`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import ladder as kernels
from shoal.engines import Feature
from shoal.trees.score import Score
from shoal.trees.split import Split
from shoal.trees.veto import Veto

Counts = NDArray[np.int64]
Order = NDArray[np.intp]  # a permutation of the codes, or the ladder by which they merge
RARE = 5  # a value that fewer people of a node have is not looked at by itself
MOST_APART = 128  # nor are more values of a node than these when they are merged: work grows with their square


class Form(Protocol):
    """How a feature may split (see the module)."""

    def order(self, counts: Counts) -> Order | None:
        """The order in which a node's values stand or merge, where a form makes one (a row a node)."""
        ...

    def gains(self, counts: Counts, order: Order | None) -> Counts:
        """The gain of every position (nodes × positions)."""
        ...

    def kept(self, counts: Counts, order: Order | None, veto: Veto, by: int | None) -> NDArray[np.bool_]:
        """Which positions keep the requirement (sets × positions); `order` may be one for all sets."""
        ...

    def choose(self, gains: Counts, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The position to take among those that are kept (one a node)."""
        ...

    def sizes(self, counts: Counts, positions: NDArray[np.intp], order: Order | None) -> Counts:
        """People in each branch of one position a node (nodes × branches)."""
        ...

    def split(self, f: int, position: int, order: Order | None) -> Split:
        """A position of one node as a split."""
        ...


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

    def finest(
        self, counts: Counts, asked: Callable[[Counts, int | None], Counts], veto: Veto
    ) -> tuple[Counts, Counts]:
        """Each node's gain and finest level that is kept, looking at no level that a node has no need of."""
        gains, levels = np.zeros(len(counts), dtype=np.int64), np.zeros(len(counts), dtype=np.int64)
        undecided = np.arange(len(counts))
        for level in range(len(self._levels)):
            grouped = self._grouped(counts[undecided], level)
            kept = np.ones(len(undecided), dtype=bool)
            for by in veto.questions:
                kept &= veto.kept(asked(grouped, by), by).all(axis=1)
            decided = undecided[kept]
            gains[decided], levels[decided] = self._score.gains(grouped[kept]), level
            undecided = undecided[~kept]
            if not len(undecided):
                break
        return gains, levels

    def choose(self, gains: Counts, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The finest level that is kept: a coarser one never gains more."""
        finest: NDArray[np.intp] = kept.argmax(axis=1)
        return finest

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
        gains = self._score.threshold_gains(counts, self._feature.n_known).reshape(len(counts), -1)
        return self.less_choice(gains, counts)

    def less_choice(self, gains: Counts, counts: Counts) -> Counts:
        """Gains as C4.5 counts them, where it does."""
        if not self._score.by_ratio:
            return gains
        n_cuts = (counts[:, : self._feature.n_known].any(axis=2)).sum(axis=1) - 1
        return self._score.without_choice(gains, n_cuts.reshape(-1, *[1] * (gains.ndim - 1)))

    def kept(self, counts: Counts, order: Order | None, veto: Veto, by: int | None) -> NDArray[np.bool_]:
        """See `Form`."""
        return veto.cuts_kept(counts, self._feature.n_known, by).reshape(len(counts), -1)

    def choose(self, gains: Counts, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The best that is kept; ties go to the lower cut."""
        best: NDArray[np.intp] = np.where(kept, gains, 0).argmax(axis=1)
        return best

    def sizes(self, counts: Counts, positions: NDArray[np.intp], order: Order | None) -> Counts:
        """See `Form`."""
        low = self._low(counts, order)[np.arange(len(counts)), positions]
        return np.stack([low, counts.sum(axis=(1, 2)) - low], axis=1)

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
        rare = counts.sum(axis=2) < RARE
        counts = self._score.weigh(counts)
        people = counts.sum(axis=2)
        main = np.take_along_axis(counts, counts.sum(axis=1).argmax(axis=1)[:, None, None], axis=2)[:, :, 0]
        of_rare = (main * rare).sum(axis=1) / np.maximum((people * rare).sum(axis=1), 1)
        share = np.where(rare, of_rare[:, None], main / np.maximum(people, 1))
        # rare values stand side by side even among others of the same share
        return np.lexsort((rare, share), axis=1)

    def gains(self, counts: Counts, order: Order | None) -> Counts:
        """See `Form`; a cut through the rare values gains nothing."""
        ordered = self._sorted(counts, order)
        gains = self._score.threshold_gains(ordered, self._feature.n_codes)[:, :, 0]
        return np.where(self._through_rare(ordered), 0, gains)

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

    def split(self, f: int, position: int, order: Order | None) -> Split:
        """See `Form`."""
        assert order is not None
        return Split(f, low=tuple(sorted(order[: position + 1].tolist())))

    @staticmethod
    def _sorted(counts: Counts, order: Order | None) -> Counts:
        assert order is not None
        return np.ascontiguousarray(np.take_along_axis(counts, order[:, :, None], axis=1))


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

    def sizes(self, counts: Counts, positions: NDArray[np.intp], order: Order | None) -> Counts:
        """See `Form`."""
        groups = self._groups(order, positions)
        sizes = np.zeros(groups.shape, dtype=np.int64)
        np.add.at(sizes, (np.arange(len(counts))[:, None], groups), counts.sum(axis=2))
        return sizes

    def split(self, f: int, position: int, order: Order | None) -> Split:
        """See `Form`."""
        assert order is not None
        return Split(f, groups=tuple(self._groups(order[None], np.array([position]))[0].tolist()))

    def _groups(self, order: Order | None, positions: NDArray[np.intp]) -> Counts:
        """The group of each code (nodes × codes)."""
        assert order is not None
        groups = np.empty((len(order), (order.shape[1] + 1) // 2), dtype=np.int64)
        kernels.ladder_groups(np.ascontiguousarray(order), positions, groups)
        return groups


def form_of(feature: Feature, score: Score, grouping: str | None) -> Form | None:
    """The form of a feature, or None where it cannot split at all."""
    if feature.n_known < 2 and not (feature.levels is not None and feature.n_codes > 1):
        return None
    if feature.levels is None:
        return Cuts(feature, score)
    if grouping == "merge" and feature.levels.cuts is None:
        return Merges(feature, score)
    # a hierarchy that the user gave is kept to; only values that nobody has grouped are grouped here
    if grouping == "halves" and feature.levels.cuts is None and len(feature.levels) == 1:
        return Halves(feature, score)
    return Levels(feature, score)
