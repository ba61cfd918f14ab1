# SPDX-License-Identifier: Apache-2.0
"""The ways in which one feature can split a node.

A form lists *positions*: the levels of a hierarchy, the cuts of an ordered feature, or the cuts of a categorical one
whose values are put in order of the node's own classes. For counts of many nodes at once it tells what each position
gains, and for sets of people which positions keep a requirement; a position of a node becomes a `Split`.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import gains as kernels
from shoal.engines import Feature
from shoal.trees.score import Order, Score
from shoal.trees.split import Split
from shoal.trees.veto import Veto

Counts = NDArray[np.int64]
RARE = 5  # a value that fewer people of a node have is not looked at by itself


class Form(Protocol):
    """How a feature may split (see the module)."""

    def order(self, counts: Counts) -> Order | None:
        """What a form settles from a node's own counts, if anything: the order of its values (nodes × codes)."""
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
        """People in each part of one position a node, as the gain ratio asks for them (nodes × parts)."""
        ...

    def best(self, counts: Counts, order: Order | None, veto: Veto) -> tuple[Counts, Counts]:
        """For nodes that are spans: each one's best position that keeps the requirement, its gain (0: none) and which.

        The same as `gains`, `kept` and `choose` one after the other.
        """
        ...

    def split(self, f: int, position: int, order: Order | None) -> Split:
        """A position of one node as a split."""
        ...

    def branches(self, positions: NDArray[np.intp], order: Order | None) -> NDArray[np.int32]:
        """The branch of each code, for one position a node (nodes × codes)."""
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

    def best(self, counts: Counts, order: Order | None, veto: Veto) -> tuple[Counts, Counts]:
        """See `Form`; no level is looked at that a node has no need of."""
        if self._score.by_ratio:
            return _best_of_all(self, counts, order, veto)
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

    def sizes(self, counts: Counts, positions: NDArray[np.intp], order: Order | None) -> Counts:
        """See `Form`."""
        people, n_known = counts.sum(axis=2), self._feature.n_known
        low = np.cumsum(people[:, :n_known], axis=1)[np.arange(len(counts)), positions // self._sides]
        # missing, too, is a part of its own in the ratio
        return np.stack([low, people[:, :n_known].sum(axis=1) - low, people[:, n_known:].sum(axis=1)], axis=1)

    def best(self, counts: Counts, order: Order | None, veto: Veto) -> tuple[Counts, Counts]:
        """See `Form`."""
        if veto.least is None or self._score.by_ratio:  # C4.5 weighs all cuts of a feature: it has no short cut
            return _best_of_all(self, counts, order, veto)
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
        kernels.order_halves(counts, RARE, order)
        return order

    def gains(self, counts: Counts, order: Order | None) -> Counts:
        """See `Form`; a cut through the rare values gains nothing."""
        ordered = self._sorted(counts, order)
        gains = self._score.threshold_gains(ordered, self._feature.n_codes)[:, :, 0]
        rare = ordered.sum(axis=2) < RARE
        return np.where(rare[:, :-1] & rare[:, 1:], 0, gains)

    def sizes(self, counts: Counts, positions: NDArray[np.intp], order: Order | None) -> Counts:
        """See `Form`."""
        people = self._sorted(counts, order).sum(axis=2)
        low = np.cumsum(people, axis=1)[np.arange(len(counts)), positions]
        return np.stack([low, people.sum(axis=1) - low], axis=1)

    def kept(self, counts: Counts, order: Order | None, veto: Veto, by: int | None) -> NDArray[np.bool_]:
        """See `Form`."""
        return veto.cuts_kept(self._sorted(counts, order), self._feature.n_codes, by)[:, :, 0]

    def best(self, counts: Counts, order: Order | None, veto: Veto) -> tuple[Counts, Counts]:
        """See `Form`."""
        if veto.least is None:
            return _best_of_all(self, counts, order, veto)
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


def _best_of_all(form: Form, counts: Counts, order: Order | None, veto: Veto) -> tuple[Counts, Counts]:
    gains = form.gains(counts, order)
    kept = np.ones(gains.shape, dtype=bool)
    for by in veto.questions:
        kept &= form.kept(veto.asked(counts, by), order, veto, by)
    top = form.choose(gains, kept)
    nodes = np.arange(len(gains))
    return np.where(kept[nodes, top], gains[nodes, top], 0), top


def form_of(feature: Feature, score: Score, grouping: str | None) -> Form | None:
    """The form of a feature, or None where it cannot split at all."""
    if feature.n_known < 2 and not (feature.levels is not None and feature.n_codes > 1):
        return None
    if feature.levels is None:
        return Cuts(feature, score)
    # a hierarchy that the user gave is kept to; only values that nobody has grouped are grouped here
    if grouping == "halves" and feature.levels.cuts is None and len(feature.levels) == 1:
        return Halves(feature, score)
    return KnownLevels(feature, score) if score.by_ratio and feature.missing else Levels(feature, score)
