# SPDX-License-Identifier: Apache-2.0
"""A C4.5 tree over codes, and what it becomes in a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.discretize import roundest
from shoal.data.table import Column
from shoal.partition.encoded import Encoded, Numbers, matrix
from shoal.release import Branch, Interval, Node

Ints = NDArray[np.int32]
About = tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64], Numbers, NDArray[np.int64]]


def about_features(data: Encoded) -> About:
    """What the kernel is told of the features: codes, order, known codes, numbers and where those of each begin."""
    numbers = [np.empty(0) if own is None else own for own in data.numbers]
    sizes = np.array([len(own) for own in numbers], dtype=np.int64)
    largest = data.codes.max(axis=1, initial=0).astype(np.int64) + 1
    return (
        np.maximum(data.n_known, largest),
        np.array([own is not None for own in data.numbers], dtype=np.bool_),
        data.n_known,
        np.concatenate([np.empty(0), *numbers]),
        np.cumsum(sizes) - sizes,
    )


def by_row(codes: Ints) -> Ints:
    """Codes as the kernel wants them: all features of a row together."""
    return np.ascontiguousarray(codes.T)


@dataclass(frozen=True, eq=False)
class C45Tree:
    """A C4.5 tree; node 0 is the root, children stand together behind their parent.

    Parameters
    ----------
    feature
        What each node asks for; −1 for a leaf.
    cut
        Of an ordered feature the last code that goes to the first of two children.
    first, width
        The children: two of an ordered feature, one for each value of others.
    gap
        The child to which a missing or unknown value goes.
    counts
        People of each class.
    about
        What the kernel is told of the features.
    """

    feature: Ints
    cut: Ints
    first: Ints
    width: Ints
    gap: Ints
    counts: Ints
    about: About

    def probabilities(self, codes: Sequence[Any]) -> NDArray[np.float64]:
        """Laplace-corrected shares of the classes for each row; where nobody was in a leaf, those of its parent."""
        from shoal._kernels import c45

        rows = by_row(matrix(codes))
        out = np.empty((len(rows), self.counts.shape[1]))
        start, end = np.zeros_like(self.first), self.counts.sum(axis=1, dtype=np.int32)
        tree = (self.feature, self.cut, self.first, self.width, self.gap, start, end, self.counts)
        c45.probabilities(rows, np.arange(len(rows), dtype=np.int32), self.about, tree, out)
        return out

    def children(self, node: int) -> range:
        """The children of a node; none of a leaf."""
        return range(self.first[node], self.first[node] + self.width[node]) if self.feature[node] >= 0 else range(0)

    def nodes(self, columns: Sequence[Column], cuts: Mapping[int, Numbers] | None = None) -> tuple[Node, ...]:
        """The tree as nodes of a release, with the people of each leaf.

        Parameters
        ----------
        columns
            The column of each feature. Thresholds of numeric ones are the roundest numbers that part the same rows.
        cuts
            Of a feature that is discretised the ends between its intervals.
        """
        nodes: list[Node] = [Node()]
        waiting = [(0, 0)]
        for number, at in waiting:  # grows as it goes: level by level, so that branches lead to higher numbers
            if self.feature[at] < 0:
                nodes[number] = Node(counts=tuple(self.counts[at].tolist()))
                continue
            feature = int(self.feature[at])
            here = [child for child in self.children(at) if self.counts[child].any()]
            branches = []
            for child in here:
                codes = [child - int(self.first[at])]
                gap = codes[0] == self.gap[at]
                branches.append(self._branch(len(nodes), at, codes, columns[feature], cuts, gap))
                waiting.append((len(nodes), child))
                nodes.append(Node())
            # values that nobody has here lead to one leaf without people
            codes = [child - int(self.first[at]) for child in self.children(at) if child not in here]
            if codes:
                branches.append(self._branch(len(nodes), at, codes, columns[feature], cuts, False))
                nodes.append(Node(counts=(0,) * self.counts.shape[1]))
            nodes[number] = Node(attribute=columns[feature].name, branches=tuple(branches))
        return tuple(nodes)

    def _branch(
        self, to: int, at: int, codes: list[int], column: Column, cuts: Mapping[int, Numbers] | None, gap: bool
    ) -> Branch:
        """A branch for some values of a node's feature; `gap` if missing values go there too."""
        feature = int(self.feature[at])
        ends = None if cuts is None else cuts.get(feature)
        n_values = len(column.values) if ends is None else len(ends) + 1
        tells_nothing = self.about[2][feature] == n_values  # else missing is the value after all others
        missing = column.missing and gap if tells_nothing else n_values in codes
        if self.about[1][feature]:
            cut = int(self.cut[at])
            threshold = roundest(float(column.numbers[cut]), float(column.numbers[cut + 1]))
            side = Interval(None, threshold) if codes == [0] else Interval(threshold, None)
            return Branch(to, intervals=(side,), missing=missing)
        known = [code for code in codes if code < n_values]
        if ends is None:
            return Branch(to, values=tuple(column.names[code] for code in known), missing=missing)
        outer = [None, *map(float, ends), None]
        return Branch(to, intervals=tuple(Interval(outer[i], outer[i + 1]) for i in known), missing=missing)


def fit_c45(data: Encoded, features: Sequence[int], rows: NDArray[Any] | None = None) -> C45Tree:
    """The C4.5 tree of some features, on all rows or some.

    >>> data = Encoded.of([[0, 0, 0, 1, 1, 1]], [2], [0, 0, 0, 1, 1, 1], 2)
    >>> fit_c45(data, [0]).counts.tolist()
    [[3, 3], [3, 0], [0, 3]]
    """
    from shoal._kernels import c45

    own = np.arange(data.n_rows, dtype=np.int32) if rows is None else np.array(rows, dtype=np.int32)
    about = about_features(data)
    logs = c45.log_table(len(own))
    tree = c45.fit(
        by_row(data.codes), data.target, own, np.asarray(features, dtype=np.int64), about, data.n_classes, logs
    )
    feature, cut, first, width, gap, _, _, counts = tree
    kept = [0]
    new_first = []
    for node in kept:  # grows as it goes
        new_first.append(len(kept))
        if feature[node] >= 0:
            kept.extend(range(first[node], first[node] + width[node]))
    return C45Tree(
        feature[kept], cut[kept], np.array(new_first, dtype=np.int32), width[kept], gap[kept], counts[kept], about
    )
