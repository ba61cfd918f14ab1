# SPDX-License-Identifier: Apache-2.0
"""What is kept of every span, so that splits can be tested against k without counting its people again.

A *cell* is the set of spans that reach a node. Nodes that the same public tests lead to have the same cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import limits as kernels
from shoal._threads import side_by_side
from shoal.engines import Engine, Feature
from shoal.engines.base import Counts, Ids
from shoal.trees.forms import Cuts, Form, Halves, Levels
from shoal.trees.score import Order
from shoal.trees.split import Split

Blocked = NDArray[np.bool_]
CELLS_AT_ONCE = 1 << 20  # counts of spans looked at in one piece


@dataclass(frozen=True)
class Cells:
    """Some nodes' cells: node i has the spans ``spans[first[cell_of[i]] : first[cell_of[i] + 1]]``."""

    cell_of: Ids
    first: Ids
    spans: Ids

    def of(self, nodes: slice) -> Cells:
        """The same for some of the nodes, with no other cells."""
        if nodes == slice(0, len(self.cell_of)):
            return self
        used, cell_of = np.unique(self.cell_of[nodes], return_inverse=True)
        pieces = [self.spans[self.first[cell] : self.first[cell + 1]] for cell in used]
        first = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])]).astype(np.int64)
        return Cells(cell_of.reshape(-1), first, np.concatenate(pieces))


class Limits(Protocol):
    """What one public feature keeps of every span, and the positions that this blocks."""

    def keep(self, counts: Counts) -> NDArray[Any]:
        """What to keep of spans with these counts (spans × codes)."""
        ...

    def blocked(self, kept: NDArray[Any], cells: Cells, order: Order | None) -> Blocked:
        """The positions that some span of a node's cell blocks (nodes × positions)."""
        ...

    def allows(self, kept: NDArray[Any], split: Split) -> bool:
        """Whether no span blocks one split, from what is kept of those that it would split."""
        ...


class CutLimits:
    """For cuts of numbers: the ranges of cuts that leave too few below, or too few above."""

    def __init__(self, feature: Feature, least: int) -> None:
        self._feature = feature
        self._least = least

    def keep(self, counts: Counts) -> NDArray[Any]:
        """See `Limits`."""
        kept = np.empty((len(counts), 1 + self._feature.missing, 4), dtype=np.int32)
        kernels.cut_limits(counts, self._feature.n_known, self._least, kept)
        return kept

    def blocked(self, kept: NDArray[Any], cells: Cells, order: Order | None) -> Blocked:
        """See `Limits`."""
        shape = len(cells.first) - 1, self._feature.n_known - 1, 1 + self._feature.missing
        found = np.empty(shape, dtype=bool)
        kernels.blocked_cuts(kept, cells.first, cells.spans, found)
        return found.reshape(len(found), -1)[cells.cell_of]

    def allows(self, kept: NDArray[Any], split: Split) -> bool:
        """See `Limits`."""
        first_low, end_low, first_high, end_high = kept[:, int(split.missing_low)].T
        too_few = (first_low <= split.cut) & (split.cut < end_low) | (first_high <= split.cut) & (split.cut < end_high)
        return not too_few.any()


class HalfLimits:
    """For halves of values, which every node orders in its own way: the counts themselves."""

    def __init__(self, least: int) -> None:
        self._least = least

    def keep(self, counts: Counts) -> NDArray[Any]:
        """See `Limits`."""
        return counts.astype(np.int32)

    def blocked(self, kept: NDArray[Any], cells: Cells, order: Order | None) -> Blocked:
        """See `Limits`."""
        assert order is not None
        found = np.empty((len(order), order.shape[1] - 1), dtype=bool)
        kernels.blocked_halves(kept, order, cells.cell_of, cells.first, cells.spans, self._least, found)
        return found

    def allows(self, kept: NDArray[Any], split: Split) -> bool:
        """See `Limits`."""
        assert split.low is not None
        low = kept[:, list(split.low)].sum(axis=1)
        sizes = np.stack([low, kept.sum(axis=1) - low])
        return not ((sizes > 0) & (sizes < self._least)).any()


class LevelLimits:
    """For the levels of a hierarchy: whether a level has a group that is too small."""

    def __init__(self, feature: Feature, least: int) -> None:
        assert feature.levels is not None
        self._levels = feature.levels
        self._least = least

    def keep(self, counts: Counts) -> NDArray[Any]:
        """See `Limits`."""
        small = np.empty((len(counts), len(self._levels)), dtype=bool)
        for level, (group_of, labels) in enumerate(zip(self._levels.maps, self._levels.labels, strict=True)):
            groups = np.zeros((len(labels), len(counts)), dtype=np.int64)
            np.add.at(groups, group_of, counts.T)
            small[:, level] = ((groups > 0) & (groups < self._least)).any(axis=0)
        return small

    def blocked(self, kept: NDArray[Any], cells: Cells, order: Order | None) -> Blocked:
        """See `Limits`."""
        found: Blocked = np.logical_or.reduceat(kept[cells.spans], cells.first[:-1], axis=0)
        return found[cells.cell_of]

    def allows(self, kept: NDArray[Any], split: Split) -> bool:
        """See `Limits`."""
        return not kept[:, split.level].any()


def limits_of(feature: Feature, form: Form, least: int) -> Limits:
    """What to keep of the spans for a feature of some form."""
    if isinstance(form, Halves):
        return HalfLimits(least)
    if isinstance(form, Cuts):
        return CutLimits(feature, least)
    assert isinstance(form, Levels)
    return LevelLimits(feature, least)


class SpanLimits:
    """What all public features keep of all spans."""

    def __init__(self, engine: Engine, forms: list[Form | None], least: int) -> None:
        self._engine = engine
        self._limits = {
            f: limits_of(feature, form, least)
            for f, (feature, form) in enumerate(zip(engine.features, forms, strict=True))
            if form is not None and feature.public
        }
        self._kept: dict[int, NDArray[Any]] = {}
        self._n = 0

    def new(self, n_spans: int) -> Ids:
        """The spans that are new since last time; there are `n_spans` now."""
        return np.arange(self._n, n_spans)

    def add(self, n_spans: int) -> None:
        """Look at them."""
        new = self.new(n_spans)
        people = int(self._engine.span_counts(new, None, None).sum())
        side_by_side(lambda f: self._add(f, new, n_spans), self._limits, rows=people)
        self._n = n_spans

    def _add(self, f: int, new: Ids, n_spans: int) -> None:
        step = max(1, CELLS_AT_ONCE // self._engine.features[f].n_codes)
        for first in range(0, len(new), step):
            piece = new[first : first + step]
            found = self._limits[f].keep(self._engine.span_counts(piece, f, None)[:, :, 0])
            kept = self._kept.get(f, found[:0])
            if len(kept) < n_spans:  # doubles, so that many small additions cost no more than one large
                more = np.zeros((n_spans, *found.shape[1:]), dtype=found.dtype)
                kept = self._kept[f] = np.concatenate([kept, more])
            kept[piece] = found

    def blocked(self, f: int, cells: Cells, order: Order | None) -> Blocked:
        """The positions of a public feature that some span blocks, for nodes in these cells."""
        return self._limits[f].blocked(self._kept[f], cells, order)

    def allows(self, split: Split, spans: Ids) -> bool:
        """Whether a public split keeps k for some spans."""
        return self._limits[split.feature].allows(self._kept[split.feature][spans], split)
