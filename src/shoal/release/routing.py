# SPDX-License-Identifier: Apache-2.0
"""A released tree as lookup tables: which branch each atom of an attribute takes at each node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal._threads import side_by_side
from shoal.data.table import Table
from shoal.errors import DataError, ReleaseError, closest
from shoal.release.domain import Atoms
from shoal.release.node import Node

if TYPE_CHECKING:
    from shoal.release.tree import TreeRelease

MOST_CELLS = 1 << 26
MANY_ROWS = 100_000


class Routing:
    """Atoms of the tested attributes, and the child each atom leads to.

    Attributes
    ----------
    names
        The tested attributes.
    atoms
        Their atoms.
    tests
        For each node the position of its attribute in `names`; −1 for a leaf.
    """

    def __init__(self, release: TreeRelease) -> None:
        self.names = release.tested
        position = {name: i for i, name in enumerate(self.names)}
        thresholds: dict[str, set[float]] = {name: set() for name in self.names}
        for node in release.nodes:
            for branch in node.branches:
                assert node.attribute is not None
                for interval in branch.intervals:
                    thresholds[node.attribute].update(
                        end for end in (interval.above, interval.at_most) if end is not None
                    )
        self.atoms = [
            Atoms(release.attribute(name), np.array(sorted(thresholds[name]), dtype=np.float64)) for name in self.names
        ]
        self._n_known = np.array([atoms.n_known for atoms in self.atoms], dtype=np.int64)
        self.tests = np.array(
            [-1 if node.attribute is None else position[node.attribute] for node in release.nodes], dtype=np.int64
        )
        n_nodes = len(release.nodes)
        # a split in two at a threshold, the usual one of a numeric attribute, is one comparison; any other split is a
        # row of a table with a column an atom
        self._cut = np.full(n_nodes, -1, dtype=np.int64)  # atoms up to this one go low
        self._ways = np.full((n_nodes, 3), -1, dtype=np.int64)  # of such a node: low, high, missing
        self._start = np.zeros(n_nodes, dtype=np.int64)
        rows: list[NDArray[np.int64]] = []
        size = 0
        for number, node in enumerate(release.nodes):
            if node.is_leaf or self._as_cut(number, node):
                continue
            atoms = self.atoms[self.tests[number]]
            size += atoms.n
            if size > MOST_CELLS:
                raise ReleaseError("too-large", "The release's tree has too many nodes with too many values each.")
            row = np.full(atoms.n, -1, dtype=np.int64)
            for branch in node.branches:
                row[atoms.of_branch(branch)] = branch.node
            self._start[number] = size - atoms.n
            rows.append(row)
        self._child = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)

    def _as_cut(self, number: int, node: Node) -> bool:
        """Enter a node as a single comparison, if it is one."""
        low = [b for b in node.branches if len(b.intervals) == 1 and b.intervals[0].above is None]
        high = [b for b in node.branches if len(b.intervals) == 1 and b.intervals[0].at_most is None]
        if len(node.branches) != 2 or len(low) != 1 or len(high) != 1 or low == high:
            return False
        threshold = low[0].intervals[0].at_most
        if threshold is None or threshold != high[0].intervals[0].above:
            return False
        self._cut[number] = self.atoms[self.tests[number]].of_interval(low[0].intervals[0]).stop - 1
        missing = [branch.node for branch in node.branches if branch.missing]
        self._ways[number] = low[0].node, high[0].node, missing[0] if missing else -1
        return True

    def children(self, number: int) -> NDArray[np.int64]:
        """The child that each atom of a node's attribute leads to; −1 where there is no branch."""
        atoms = self.atoms[self.tests[number]]
        if self._cut[number] < 0:
            dense: NDArray[np.int64] = self._child[self._start[number] : self._start[number] + atoms.n]
            return dense
        low, high, missing = self._ways[number]
        row: NDArray[np.int64] = np.where(np.arange(atoms.n) <= self._cut[number], low, high)
        if atoms.attribute.missing:
            row[-1] = missing
        return row

    def _next(self, nodes: NDArray[np.int64], atom: NDArray[np.int32]) -> NDArray[np.int64]:
        """The child of each node for an atom; −1 where there is none."""
        by_cut = self._cut[nodes] >= 0
        child = np.full(len(nodes), -1, dtype=np.int64)
        known = ~by_cut & (atom >= 0)
        child[known] = self._child[self._start[nodes[known]] + atom[known]]
        known = by_cut & (atom >= 0)
        at, own = nodes[known], atom[known]
        way = (own > self._cut[at]).astype(np.int64)
        way[own >= self._n_known[self.tests[at]]] = 2
        child[known] = self._ways[at, way]
        return child

    def encode(self, table: Table, names: tuple[str, ...]) -> NDArray[np.int32]:
        """The atoms of every row (attributes × rows); −1 where a value is outside the domain."""
        absent = [name for name in names if name not in table]
        if absent:
            hints = "".join(closest(name, table) for name in absent[:1])
            raise DataError("no-column", f"The release asks for column(s) {', '.join(map(repr, absent))}.{hints}")
        encoded = np.empty((len(names), table.n_rows), dtype=np.int32)

        def encode_one(i: int) -> None:
            encoded[i] = self.atoms[self.names.index(names[i])].encode(table[names[i]])

        side_by_side(encode_one, range(len(names)), rows=table.n_rows)
        return encoded

    def check_known(self, encoded: NDArray[np.int32], names: tuple[str, ...]) -> None:
        """Refuse rows with values outside the domain; columns and counts are named, values are not."""
        self.refuse_unknown((encoded < 0).sum(axis=1).tolist(), names)

    def refuse_unknown(self, unknown: Sequence[int], names: tuple[str, ...]) -> None:
        """The same, given how many rows have such a value in each column."""
        if any(unknown):
            where = ", ".join(
                f"{name!r} in {count} row(s)" for name, count in zip(names, unknown, strict=True) if count
            )
            raise DataError(
                "unseen-value",
                f"Values outside the release's declared domain: {where}. Map them first, or predict with "
                "unknown='ancestor'.",
            )

    def apply(self, table: Table, *, stop_at_unknown: bool = False) -> NDArray[np.int64]:
        """The node where each row ends."""
        at = np.zeros(table.n_rows, dtype=np.int64)
        if not self.names:
            return at
        encoded = self.encode(table, self.names)
        if not stop_at_unknown:
            self.check_known(encoded, self.names)
        if table.n_rows >= MANY_ROWS:
            from shoal.release._walk import walk  # compiled: worth its loading for many rows only

            tree = self.tests, self._cut, self._ways, self._start, self._child, self._n_known
            pieces = [slice(first, first + MANY_ROWS) for first in range(0, table.n_rows, MANY_ROWS)]
            side_by_side(lambda rows: walk(encoded[:, rows], *tree, at[rows]), pieces, rows=table.n_rows)
            return at
        moving = np.flatnonzero(self.tests[at] >= 0)
        while len(moving):
            nodes = at[moving]
            atom = encoded[self.tests[nodes], moving]
            child = self._next(nodes, atom)
            moving, child = moving[child >= 0], child[child >= 0]
            at[moving] = child
            moving = moving[self.tests[child] >= 0]
        return at
