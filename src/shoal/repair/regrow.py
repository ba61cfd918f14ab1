# SPDX-License-Identifier: Apache-2.0
"""Which splits of some trees can stay, all trees together.

Every tree is first taken back to its root, where all people are one group, and its own splits are put back as long as
every group keeps the requirement. What cannot be put back is what has to be collapsed; nothing else is.

A split that asks a private column tells nobody apart: whoever could be in the node can then be in all of its children.
One that asks a public column splits every group whose people can be in the node, also people who are not. Groups are
only ever split further, so a split that was refused once stays refused, and each is looked at once.

Where some branches of a split leave a group too small, they are merged into the branch with most people. Where only one
is left the split is passed over, and the tests below one of its branches are tried for everybody.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column, Table
from shoal.repair.promise import Promise
from shoal.repair.source import Ids, Source, Split


@dataclass(eq=False)
class Kept:
    """A node of a repaired tree: the rows in it and, where its split stayed, what that is."""

    rows: Ids
    column: str | None = None
    way_of_code: Ids | None = None
    children: list[Kept] = field(default_factory=list)


@dataclass(order=True)
class _Open:
    """A split that waits to be put back, the one that tells most for each new group first."""

    price: float
    number: int
    tree: int = field(compare=False)
    split: Split = field(compare=False)
    node: Kept = field(compare=False)
    reach: Ids = field(compare=False)  # rows whose people could be here, as far as an outsider knows


class Regrowth:
    """Puts splits back, best first, while every group keeps the promise."""

    def __init__(
        self,
        source: Source,
        table: Table,
        target: Column,
        weight: NDArray[np.float64],
        public: Collection[str],
        promise: Promise,
        *,
        told: bool,
    ) -> None:
        self._source = source
        self._table = table
        self._codes = target.codes.astype(np.int64)
        self._n_classes = target.n_codes
        self._weight = weight  # of a person, by class
        self._public = frozenset(public)
        self._promise = promise
        self._least = promise.least_people
        self._told = told  # the target is public: then a span is a single bin until a private column is asked
        everybody = np.arange(table.n_rows)
        self._group = self._codes.copy() if told else np.zeros(table.n_rows, dtype=np.int64)
        self._n_groups = self._n_classes if told else 1
        self._counts_for = np.full(self._n_groups, not told)  # by group: whether its span has more than one bin
        self._heap: list[_Open] = []
        self._number = 0
        self.trees = [Kept(everybody) for _ in source.roots]
        for tree, (root, kept) in enumerate(zip(source.roots, self.trees, strict=True)):
            self._offer(tree, root, kept, everybody)

    def run(self) -> list[Kept]:
        """The repaired trees."""
        while self._heap:
            best = heapq.heappop(self._heap)
            price = self._price(best.split, best.node.rows, best.reach)
            if self._heap and price > self._heap[0].price:  # groups were split since: it costs more now
                best.price = price
                heapq.heappush(self._heap, best)
            else:
                self._put_back(best)
        return self.trees

    def _offer(self, tree: int, number: int, node: Kept, reach: Ids) -> None:
        split = self._source.split(tree, number)
        if split is None or not len(node.rows):
            return
        if not self._can_part(reach):
            while split is not None and self._new_groups(split, reach):
                split = self._source.split(tree, self._heir(tree, split, node.rows))
            if split is None:
                return
        self._number += 1
        price = self._price(split, node.rows, reach)
        heapq.heappush(self._heap, _Open(price, self._number, tree, split, node, reach))

    def _price(self, split: Split, rows: Ids, reach: Ids) -> float:
        """Less for a split that tells more of the target, and for one that makes fewer groups."""
        return -self._gain(split, rows) / (1 + self._new_groups(split, reach))

    def _gain(self, split: Split, rows: Ids) -> float:
        ways = split.way_of_code[self._table[split.column].codes[rows]]
        n = len(split.children)
        counts = np.bincount(ways * self._n_classes + self._codes[rows], minlength=n * self._n_classes)
        weighed = counts.reshape(n, -1) * self._weight
        return _impurity(weighed.sum(axis=0)[None, :]) - _impurity(weighed)

    def _new_groups(self, split: Split, reach: Ids) -> int:
        if split.column not in self._public:
            return 0
        ways = split.way_of_code[self._table[split.column].codes[reach]]
        cells = np.bincount(self._group[reach] * len(split.children) + ways)
        return int((cells > 0).sum()) - int((np.bincount(self._group[reach]) > 0).sum())

    def _put_back(self, best: _Open) -> None:
        split, node, reach = best.split, best.node, best.reach
        codes = self._table[split.column].codes
        if split.column in self._public:
            way_of_code = self._merged(split, node.rows, reach)
        elif self._told and not self._whole(reach):
            way_of_code = np.zeros_like(split.way_of_code)  # a private test makes spans of these groups count
        else:
            way_of_code = split.way_of_code
        kept = np.unique(way_of_code)
        if len(kept) == 1:
            self._offer(best.tree, self._heir(best.tree, split, node.rows), node, reach)
            return
        node.column, node.way_of_code = split.column, way_of_code
        if split.column in self._public:
            self._split_groups(way_of_code[codes[reach]], len(split.children), reach)
        elif self._told:
            self._counts_for[np.unique(self._group[reach])] = True
        for way in kept:
            rows = node.rows[way_of_code[codes[node.rows]] == way]
            among = reach[way_of_code[codes[reach]] == way] if split.column in self._public else reach
            child = Kept(rows)
            node.children.append(child)
            self._offer(best.tree, split.children[way], child, among)

    def _can_part(self, reach: Ids) -> bool:
        """Whether some group that can be in a node has people enough for two groups, or need not have any number."""
        people = np.bincount(self._group[reach])
        return bool(people.max() >= 2 * self._least or not self._counts_for[np.flatnonzero(people)].all())

    def _heir(self, tree: int, split: Split, rows: Ids) -> int:
        """The child that takes the place of a split passed over: the one whose own split tells most here."""
        asked = [self._source.split(tree, child) for child in split.children]
        gains = [-1.0 if each is None else self._gain(each, rows) for each in asked]
        return split.children[int(np.argmax(gains))]

    def _merged(self, split: Split, rows: Ids, reach: Ids) -> Ids:
        """The ways of a public split that may stay apart: those that leave a group too small join the largest."""
        codes = self._table[split.column].codes
        way_of_code = split.way_of_code.copy()
        n = len(split.children)
        while True:
            ways = way_of_code[codes[reach]]
            cells, cell = _numbered(self._group[reach] * n + ways)
            parted = np.bincount(cells // n)[cells // n] > 1
            counts = parted & self._counts_for[cells // n]
            bad = cells[counts & ~self._promise.holds(cell, len(cells), reach)]
            if not len(bad):
                return way_of_code
            sizes = np.bincount(ways, minlength=n)
            largest = int(np.bincount(way_of_code[codes[rows]], minlength=n).argmax())
            failing = np.unique(bad % n)
            others = failing[failing != largest]
            # where only the largest way fails somewhere, the smallest of the others has to join it
            joining = others if len(others) else [min(np.flatnonzero(sizes), key=lambda w: (w == largest, sizes[w]))]
            way_of_code[np.isin(way_of_code, joining)] = largest

    def _whole(self, reach: Ids) -> bool:
        """Whether all groups that can be in a node keep the promise as they are."""
        groups, cell = _numbered(self._group[reach])
        return bool(self._promise.holds(cell, len(groups), reach).all())

    def _split_groups(self, ways: Ids, n: int, reach: Ids) -> None:
        cells, cell = _numbered(self._group[reach] * n + ways)
        group = cells // n
        new = np.concatenate([[False], group[1:] == group[:-1]])  # the first part of a group keeps its number
        numbers = np.where(new, self._n_groups - 1 + np.cumsum(new), group)
        self._group[reach] = numbers[cell]
        self._counts_for = np.concatenate([self._counts_for, self._counts_for[group[new]]])
        self._n_groups += int(new.sum())


def _numbered(keys: Ids) -> tuple[Ids, Ids]:
    """The different keys, ascending, and which of them each is; keys are small, so counting beats sorting."""
    there = np.bincount(keys) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[keys]


def _impurity(counts: NDArray[np.float64]) -> float:
    """The Gini impurity of sets of people, weighted by their sizes."""
    people = counts.sum(axis=1)
    squares = (counts**2).sum(axis=1)
    return float((people - np.divide(squares, people, out=np.zeros(len(people)), where=people > 0)).sum())
