# SPDX-License-Identifier: Apache-2.0
"""The spans of a tree: for every person the set of leaves an outsider must think possible.

A leaf is possible for a person when his public values pass every public test on its path, and the private tests on
its path do not contradict each other within the declared domain. The second half is a fact about the leaf alone,
because the domain is a product of columns; so people are told apart by the public tests they can be put to.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.groups import Ids, Spans
from shoal.data.table import Table
from shoal.errors import DataError
from shoal.release import TreeRelease

MOST_CELLS = 16  # that there may be for each person, to look whether people are alike
Allowed = dict[int, NDArray[np.bool_]]  # private test -> the atoms its path still allows


class TreeSpans:
    """Computes spans of one released tree for an attacker who knows the public attributes."""

    def __init__(self, release: TreeRelease, public: Collection[str]) -> None:
        self.routing = release.routing
        self.public = tuple(name for name in self.routing.names if name in public)
        self._known = {self.routing.names.index(name): i for i, name in enumerate(self.public)}
        self._ends: Ids | None = None  # leaves of people, where those are their spans
        self._cells = np.zeros((0, 0), dtype=np.int32)
        self._cell_of_row = np.zeros(0, dtype=np.int64)
        self._reached: set[int] = set()  # leaves that are in some span of the people looked at last

    @property
    def private(self) -> tuple[str, ...]:
        """The tested attributes that the attacker does not know."""
        return tuple(name for name in self.routing.names if name not in self.public)

    def spans(self, table: Table, ends: Ids | None = None) -> Spans:
        """The spans of the people in a table; only its public columns are looked at.

        `ends` are the leaves of the people, where the caller knows them already.
        """
        if not self.public:
            everybody = np.zeros(table.n_rows, dtype=np.int64)
            _, n_leaves = self._walk(0, everybody[:1], np.zeros((0, 1), dtype=np.int32), {})
            return Spans(everybody, n_leaves, everybody[:1], disjoint=True)
        if not self.private:
            return self._leaves_as_spans(self.routing.apply(table) if ends is None else ends)
        self._ends = None
        encoded = self.routing.encode(table, self.public)
        self.routing.check_known(encoded, self.public)
        n_cells = math.prod(int(row.max()) + 1 for row in encoded)
        if n_cells > MOST_CELLS * table.n_rows:  # hardly two people are alike: looking for them would cost, not save
            self._cells, self._cell_of_row = encoded, np.arange(table.n_rows)
        else:
            self._cells, self._cell_of_row = _distinct(encoded)
        self._reached.clear()
        ids, n_leaves = self._walk(0, np.arange(self._cells.shape[1]), self._cells, {})
        of_row = ids[self._cell_of_row]
        _, example = np.unique(of_row, return_index=True)
        return Spans(of_row, n_leaves, example, disjoint=int(n_leaves.sum()) == len(self._reached))

    def _leaves_as_spans(self, ends: Ids) -> Spans:
        """Where nothing private is asked, everybody can be in one leaf only."""
        self._check_branches(np.where(self.routing.tests[ends] < 0, ends, -1), 0)
        self._ends = ends
        present = np.bincount(ends, minlength=len(self.routing.tests)) > 0
        of_row = (np.cumsum(present) - 1)[ends]
        example = np.empty(int(present.sum()), dtype=np.int64)
        example[of_row[::-1]] = np.arange(len(ends))[::-1]  # the first person of each stays
        return Spans(of_row, np.ones(len(example), dtype=np.int64), example, disjoint=True)

    def leaves_of(self, person: int) -> list[int]:
        """The leaves in the span of one of the people looked at last."""
        if self._ends is not None:
            return [int(self._ends[person])]
        cell = self._cells[:, self._cell_of_row[person]] if self.public else np.zeros(0, dtype=np.int32)
        leaves: list[int] = []
        stack: list[tuple[int, Allowed]] = [(0, {})]
        while stack:
            number, allowed = stack.pop()
            test = int(self.routing.tests[number])
            if test < 0:
                leaves.append(number)
            elif test in self._known:
                stack.append((int(self.routing.children(number)[cell[self._known[test]]]), allowed))
            else:
                stack.extend(self._private_ways(number, test, allowed))
        return sorted(leaves)

    def _private_ways(self, number: int, test: int, allowed: Allowed) -> list[tuple[int, Allowed]]:
        """The children that some private value leads to, given what the path already says of that attribute."""
        children = self.routing.children(number)
        here = allowed.get(test)
        here = self.routing.atoms[test].possible if here is None else here
        self._check_branches(children[here], test)
        return [(int(child), {**allowed, test: here & (children == child)}) for child in np.unique(children[here])]

    def _check_branches(self, children: Ids, test: int) -> None:
        if (children < 0).any():
            raise DataError(
                "no-branch",
                f"The release has no branch for some values of {self.routing.names[test]!r}: it is not a function of "
                "its declared domain, so it has no spans.",
            )

    def _walk(self, number: int, cells: Ids, encoded: NDArray[np.int32], allowed: Allowed) -> tuple[Ids, Ids]:
        """Number the parts of the cells' spans that lie below a node: (a number a cell, leaves a number)."""
        test = int(self.routing.tests[number])
        if test < 0:
            self._reached.add(number)
            return np.zeros(len(cells), dtype=np.int64), np.ones(1, dtype=np.int64)
        if test not in self._known:
            ways = self._private_ways(number, test, allowed)
            parts = [self._walk(child, cells, encoded, rest) for child, rest in ways]
            ids, n_leaves = parts[0]
            for more in parts[1:]:
                ids, n_leaves = _both(ids, n_leaves, *more)
            return ids, n_leaves
        children, way_of_atom = np.unique(self.routing.children(number), return_inverse=True)
        way_of_atom = way_of_atom.astype(np.uint16 if len(children) < 2**16 else np.int64)  # short keys sort faster
        way = way_of_atom[encoded[self._known[test], cells]]
        ids = np.empty(len(cells), dtype=np.int64)
        found: list[Ids] = []
        offset = 0
        for child, where in zip(children, _places(way, len(children)), strict=True):
            if not len(where):
                continue
            self._check_branches(np.array([child]), test)
            sub_ids, sub_leaves = self._walk(int(child), cells[where], encoded, allowed)
            ids[where] = sub_ids + offset
            offset += len(sub_leaves)
            found.append(sub_leaves)
        return ids, np.concatenate(found)


def _places(way: NDArray[Any], n_ways: int) -> list[NDArray[np.intp]]:
    """The places of each way."""
    if n_ways <= 4:
        return [np.flatnonzero(way == each) for each in range(n_ways)]
    return np.split(np.argsort(way, kind="stable"), np.cumsum(np.bincount(way, minlength=n_ways))[:-1])


def _both(ids: Ids, n_leaves: Ids, other: Ids, other_leaves: Ids) -> tuple[Ids, Ids]:
    """Two parts of the same spans, taken together."""
    if len(other_leaves) == 1:
        return ids, n_leaves + other_leaves[0]
    if len(n_leaves) == 1:
        return other, other_leaves + n_leaves[0]
    _, where, together = np.unique(ids * len(other_leaves) + other, return_index=True, return_inverse=True)
    return together.reshape(-1), n_leaves[ids[where]] + other_leaves[other[where]]


def _distinct(encoded: NDArray[np.int32]) -> tuple[NDArray[np.int32], Ids]:
    """The distinct columns of a matrix, and which of them each column is."""
    key = np.zeros(encoded.shape[1], dtype=np.int64)
    size = 1
    for row in encoded:
        radix = int(row.max()) + 1
        if size * radix > 2**62:  # renumber before the key overflows
            present, key = np.unique(key, return_inverse=True)
            key, size = key.reshape(-1), len(present)
        key = key * radix + row
        size *= radix
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return np.ascontiguousarray(encoded[:, first]), which.reshape(-1)
