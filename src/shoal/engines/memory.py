# SPDX-License-Identifier: Apache-2.0
"""The engine for a table in memory: one permutation of the rows by node, one by span."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import counts as kernels
from shoal.data.table import Codes
from shoal.engines.base import Counts, Feature, Ids, Way
from shoal.engines.outlook import Outlook


class Segments:
    """Disjoint sets of rows, each a segment of one permutation; splitting a set reorders its segment."""

    def __init__(self, n_rows: int) -> None:
        self.order = np.arange(n_rows, dtype=np.int32 if n_rows < 2**31 else np.int64)
        # the ends of all sets so far, with room for more
        self._n = 1
        self._starts = np.zeros(64, dtype=np.int64)
        self._ends = np.zeros(64, dtype=np.int64)
        self._ends[0] = n_rows

    def ends_of(self, ids: Ids) -> tuple[Ids, Ids]:
        """Where the segments of some sets start and end."""
        return self._starts[ids], self._ends[ids]

    def split(self, ids: Ids, codes: Codes, branch_of: NDArray[np.int32], n_branches: int) -> Ids:
        """Split sets by branch_of[set, code]; numbers of the new sets, −1 for an empty one."""
        starts, ends = self.ends_of(ids)
        sizes = np.zeros((len(ids), n_branches), dtype=np.int64)
        kernels.split_segments(codes, branch_of, self.order, starts, ends, sizes)
        new_ends = starts[:, None] + np.cumsum(sizes, axis=1)
        used = sizes > 0
        new = np.full(sizes.shape, -1, dtype=np.int64)
        first, self._n = self._n, self._n + int(used.sum())
        new[used] = np.arange(first, self._n)
        if self._n > len(self._starts):
            more = np.zeros(self._n, dtype=np.int64)  # doubles, so that many small splits cost no more than one large
            self._starts, self._ends = (np.concatenate([ends, more]) for ends in (self._starts, self._ends))
        self._starts[first : self._n] = (new_ends - sizes)[used]
        self._ends[first : self._n] = new_ends[used]
        return new


class MemoryEngine:
    """Counts from encoded columns.

    Parameters
    ----------
    features, codes
        The columns a grower may split on, and their codes.
    target, n_classes
        The target's codes and how many there are.
    sensitive
        Codes and number of values of each column that a requirement is about.
    """

    def __init__(
        self,
        features: Sequence[Feature],
        codes: Sequence[Codes],
        target: Codes,
        n_classes: int,
        sensitive: Sequence[tuple[Codes, int]] = (),
    ) -> None:
        self.features = features
        self.n_people = len(target)
        self.n_classes = n_classes
        self._codes = codes
        # one type for what is counted by, so that a kernel is compiled once per type of code
        self._target = target.astype(np.int32)
        self._sensitive = [(column.astype(np.int32), n_values) for column, n_values in sensitive]
        self._everyone = np.zeros(self.n_people, dtype=np.int32)
        self._nodes = Segments(self.n_people)
        self._spans = Segments(self.n_people)

    def node_classes(self, nodes: Ids) -> Counts:
        """See `Engine`."""
        counts = np.zeros((len(nodes), 1, self.n_classes), dtype=np.int64)
        kernels.histogram(self._everyone, self._target, self._nodes.order, *self._nodes.ends_of(nodes), counts)
        return counts[:, 0]

    def node_counts(self, nodes: Ids, feature: int) -> Counts:
        """See `Engine`."""
        counts = np.zeros((len(nodes), self.features[feature].n_codes, self.n_classes), dtype=np.int64)
        kernels.histogram(self._codes[feature], self._target, self._nodes.order, *self._nodes.ends_of(nodes), counts)
        return counts

    def split_nodes(self, nodes: Ids, feature: int, branch_of: NDArray[np.int32], n_branches: int) -> Ids:
        """See `Engine`."""
        return self._nodes.split(nodes, self._codes[feature], branch_of, n_branches)

    def outlooks(self, node: int, ways: Sequence[Way], *, least_people: int, bits_a_leaf: float, gini: bool) -> Counts:
        """See `Engine`."""
        start, end = self._nodes.ends_of(np.array([node]))
        rows = self._nodes.order[int(start[0]) : int(end[0])]
        return self._outlook.costs(rows, ways, least_people=least_people, bits_a_leaf=bits_a_leaf, gini=gini)

    @cached_property
    def _outlook(self) -> Outlook:
        return Outlook(self.features, self._codes, self._target, self.n_classes)

    def class_spans(self) -> Ids:
        """See `Engine`."""
        branch_of = np.arange(self.n_classes, dtype=np.int32)[None]
        new: Ids = self._spans.split(np.zeros(1, dtype=np.int64), self._target, branch_of, self.n_classes)[0]
        return new

    def span_counts(self, spans: Ids, feature: int | None, by: int | None) -> Counts:
        """See `Engine`."""
        codes, n_codes = self._everyone, 1
        if feature is not None:
            codes, n_codes = self._codes[feature], self.features[feature].n_codes
        column, n_values = (self._everyone, 1) if by is None else self._sensitive[by]
        counts = np.zeros((len(spans), n_codes, n_values), dtype=np.int64)
        kernels.histogram(codes, column, self._spans.order, *self._spans.ends_of(spans), counts)
        return counts

    def split_spans(self, spans: Ids, feature: int, branch_of: NDArray[np.int32], n_branches: int) -> Ids:
        """See `Engine`."""
        same_for_all = np.broadcast_to(branch_of, (len(spans), len(branch_of)))
        return self._spans.split(spans, self._codes[feature], np.ascontiguousarray(same_for_all), n_branches)
