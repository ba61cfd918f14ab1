# SPDX-License-Identifier: Apache-2.0
"""How a public column can be cut: its values in an order, as places, and where regions of them may end."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.cells import Recoded, check_kind, unseen_value
from shoal.anonymize.ladder import Ladder
from shoal.data.discretize import interval_labels, roundest_each
from shoal.data.table import Column
from shoal.release.domain import MISSING, Interval
from shoal.release.generalised import ALL, Generalised

Ids = NDArray[np.int64]
Places = NDArray[np.int32]
Numbers = NDArray[np.float64]
TOP = float(np.finfo(np.float64).max)  # the cut between all numbers and missing, which is placed beyond them


class NumberScale:
    """A column of numbers: a region is an interval, and any number between two values can part it.

    Missing, where there is any, has a place of its own beyond all numbers, so it goes with the highest until a cut
    parts the two. Regions have numbers, `state`, in the order in which they are made; 0 is everything.

    Parameters
    ----------
    column
        The column.
    cuts
        The only cuts that there may be, ascending; None for any round number.
    """

    def __init__(self, column: Column, cuts: Numbers | None) -> None:
        assert column.bounds is not None
        self.column, self.cuts = column, cuts
        numbers = column.numbers
        place = np.arange(len(numbers)) if cuts is None else np.searchsorted(cuts, numbers, side="left")
        self.n_known = len(numbers) if cuts is None else len(cuts) + 1
        self.n_places = self.n_known + column.missing
        self.place_of_code: Places = np.append(place, [self.n_known] * column.missing).astype(np.int32)
        # the lowest number at each place; of a place that nobody has none is ever asked for
        self._numbers = np.zeros(max(self.n_known, 1))
        self._numbers[place[::-1]] = numbers[::-1]
        self._width = column.bounds[1] - column.bounds[0]
        self.above, self.at_most = np.array([-np.inf]), np.array([np.inf])

    def without_rows(self) -> NumberScale:
        """The same scale, without anybody's value."""
        other = copy.copy(self)
        other.column = replace(self.column, codes=self.column.codes[:0].copy())
        return other

    def widths(self, low: Places, known: Places) -> Numbers:
        """The share of the bounds between the lowest and the highest number; missing has no width."""
        there = known >= low
        span = np.where(there, self._numbers[known] - self._numbers[np.minimum(low, self.n_known - 1)], 0.0)
        return span / self._width if self._width else np.zeros(len(low))

    def cut(self, low: Ids, high: Ids) -> Numbers:
        """A number that parts two neighbouring places each, the lower of which is no missing value."""
        gap = high >= self.n_known
        if self.cuts is None:
            found = roundest_each(self._numbers[low], self._numbers[np.where(gap, low, high)])
        else:
            found = np.append(self.cuts, TOP)[low]
        return np.where(gap, TOP, found)

    def add(self, above: Numbers, at_most: Numbers) -> Ids:
        """New regions; the answer is their numbers."""
        first = len(self.above)
        self.above, self.at_most = np.append(self.above, above), np.append(self.at_most, at_most)
        return np.arange(first, len(self.above))

    def recoded(self, state: Ids, region_of_row: Ids) -> Recoded:
        """What is published of rows, of which `region_of_row` says whose state each has."""
        ends, of_state = np.unique(np.stack([self.above[state], self.at_most[state]]), axis=1, return_inverse=True)
        found, names = [], {}
        for above, at_most in ends.T.tolist():
            cell, label = self._cell(above, at_most)
            found.append(cell)
            if label:
                names[cell] = {label}
        return Recoded(found, of_state.reshape(-1)[region_of_row], names)

    def _cell(self, above: float, at_most: float) -> tuple[Generalised, str]:
        missing = self.column.missing and at_most == np.inf
        if above == -np.inf and at_most == np.inf:
            return Generalised(ALL), ""
        if above == TOP:
            return Generalised("", missing=True), ""
        interval = Interval(None if above == -np.inf else above, None if at_most >= TOP else at_most)
        ends = [end for end in (interval.above, interval.at_most) if end is not None]
        label = ""
        if ends:
            label = interval_labels(np.array(ends), whole=self.column.integer)[0 if interval.above is None else 1]
            label += f" or {MISSING}" if missing else ""
        return Generalised("", intervals=(interval,), missing=missing), label

    def values(self, column: Column) -> Numbers:
        """The numbers of other rows, as `cut` parts them."""
        check_kind(column, "numeric")
        gaps = int((column.codes == len(column.numbers)).sum())
        if gaps and not self.column.missing:
            raise unseen_value(column, gaps)
        return np.append(column.numbers, np.inf)[column.codes]


@dataclass(frozen=True, eq=False)
class TreeScale:
    """A column of categories: a region is a node of its hierarchy, and is parted into its children.

    Places are the finest groups in the order of the tree, so that every node is a run of them. Nodes are numbered from
    the root, 0, level by level: children of a node have neighbouring numbers.

    Attributes
    ----------
    first, last
        The places of each node, `last` excluded.
    child, n_children
        The first child of each node, and how many it has: none, or two and more.
    parent
        Of each node.
    labels
        What each node is called.
    """

    column: Column
    place_of_code: Places
    first: Places
    last: Places
    child: Ids
    n_children: Ids
    parent: Ids
    labels: tuple[str, ...]

    @classmethod
    def of(cls, ladder: Ladder) -> TreeScale:
        """The tree of a ladder; a node that is its parent's only child is the parent."""
        codes = np.lexsort(ladder.maps)  # the root's level decides first, the finest last
        finest = ladder.maps[0][codes]
        starts = np.flatnonzero(np.append(True, finest[1:] != finest[:-1]))
        place_of_code = np.empty(len(codes), dtype=np.int32)
        place_of_code[codes] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(codes))))
        levels = [each[codes[starts]] for each in ladder.maps]  # the group of each place, level by level
        edges = [np.flatnonzero(np.append(True, each[1:] != each[:-1])) for each in levels]
        nodes = [(0, len(starts), len(levels) - 1, -1)]
        child, n_children = [], []
        for number, (low, high, level, _) in enumerate(nodes):  # grows as it goes
            child.append(len(nodes))
            below = np.array([low])
            while level and len(below) < 2:
                level -= 1
                below = edges[level][slice(*np.searchsorted(edges[level], [low, high]))]
            parts = np.append(below, high).tolist() if len(below) > 1 else []
            nodes.extend((a, b, level, number) for a, b in pairwise(parts))
            n_children.append(max(len(parts) - 1, 0))
        first, last, _, parent = (np.array(each) for each in zip(*nodes, strict=True))
        labels = tuple(ladder.labels[level][levels[level][low]] for low, _, level, _ in nodes)
        return cls(
            ladder.column,
            place_of_code,
            first.astype(np.int32),
            last.astype(np.int32),
            np.array(child),
            np.array(n_children),
            parent,
            labels,
        )

    def without_rows(self) -> TreeScale:
        """The same scale, without anybody's value."""
        return replace(self, column=replace(self.column, codes=self.column.codes[:0].copy()))

    @property
    def n_places(self) -> int:
        """How many places there are."""
        return int(self.last[0])

    def widths(self, state: Ids) -> Numbers:
        """The share of the column's values that a node leaves open besides one."""
        return (self.last[state] - self.first[state] - 1) / max(self.n_places - 1, 1)

    def children(self, state: Ids) -> Ids:
        """The children of some nodes, one after the other."""
        return ragged(self.child[state], self.n_children[state])

    def parts(self, state: Ids) -> tuple[Places, Ids]:
        """Where the children of some nodes begin, one after the other, and which of these is each node's first."""
        first = np.append(0, np.cumsum(self.n_children[state]))
        return self.first[self.children(state)], first

    def child_of(self, state: Ids, place: Places) -> Ids:
        """Which child of a node each place is in, from 0."""
        size = self.n_places
        begins = self.parent[1:] * size + self.first[1:]
        return np.searchsorted(begins, state * size + place, side="right") - self.child[state]

    def recoded(self, state: Ids, region_of_row: Ids) -> Recoded:
        """What is published of rows, of which `region_of_row` says whose state each has."""
        used, of_state = np.unique(state, return_inverse=True)
        codes = np.argsort(self.place_of_code, kind="stable")
        starts = np.searchsorted(self.place_of_code[codes], np.arange(self.n_places + 1))
        found, names = [], {}
        for node in used.tolist():
            members = np.sort(codes[starts[self.first[node]] : starts[self.last[node]]])
            cell = self._cell(members.tolist())
            found.append(cell)
            if len(cell.values) > 1:
                names[cell] = {self.labels[node]}
        return Recoded(found, of_state.reshape(-1)[region_of_row], names)

    def _cell(self, codes: Sequence[int]) -> Generalised:
        if len(codes) == self.column.n_codes:
            return Generalised(ALL)
        known = self.column.names
        missing = codes[-1] == len(known)
        return Generalised(
            "", values=tuple(known[code] for code in (codes[:-1] if missing else codes)), missing=missing
        )

    def values(self, column: Column) -> Places:
        """The places of other rows."""
        check_kind(column, "categorical")
        place = dict(zip(self.column.names, self.place_of_code.tolist(), strict=False))
        of_missing = self.place_of_code[-1] if self.column.missing else -1
        found = np.array([*(place.get(name, -1) for name in column.names), of_missing], dtype=np.int32)[column.codes]
        unknown = int((found < 0).sum())
        if unknown:
            raise unseen_value(column, unknown)
        return found


Scale = NumberScale | TreeScale


def ragged(first: Ids, lengths: Ids) -> Ids:
    """The numbers from each of some on, so many each.

    >>> ragged(np.array([5, 20]), np.array([3, 2])).tolist()
    [5, 6, 7, 20, 21]
    """
    ends = np.cumsum(lengths)
    return np.asarray(np.arange(int(lengths.sum())) + np.repeat(first - (ends - lengths), lengths))
