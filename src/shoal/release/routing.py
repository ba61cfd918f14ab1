# SPDX-License-Identifier: Apache-2.0
"""A released tree as lookup tables: which branch each atom of an attribute takes at each node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Table
from shoal.errors import DataError, closest
from shoal.release.domain import Atoms

if TYPE_CHECKING:
    from shoal.release.tree import TreeRelease


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
        self.tests = np.array(
            [-1 if node.attribute is None else position[node.attribute] for node in release.nodes], dtype=np.int64
        )
        sizes = np.array([0 if test < 0 else self.atoms[test].n for test in self.tests], dtype=np.int64)
        self._start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self._child = np.full(int(sizes.sum()), -1, dtype=np.int64)
        for number, node in enumerate(release.nodes):
            if node.is_leaf:
                continue
            atoms = self.atoms[self.tests[number]]
            row = self.children(number)
            for branch in node.branches:
                if branch.values:
                    row[atoms.of_values(branch.values)] = branch.node
                for interval in branch.intervals:
                    row[atoms.of_interval(interval)] = branch.node
                if branch.missing:
                    row[-1] = branch.node

    def children(self, number: int) -> NDArray[np.int64]:
        """The child that each atom of a node's attribute leads to; −1 where there is no branch."""
        start = self._start[number]
        return self._child[start : start + self.atoms[self.tests[number]].n]

    def encode(self, table: Table, names: tuple[str, ...]) -> NDArray[np.int32]:
        """The atoms of every row (attributes × rows); −1 where a value is outside the domain."""
        absent = [name for name in names if name not in table]
        if absent:
            hints = "".join(closest(name, table) for name in absent[:1])
            raise DataError("no-column", f"The release asks for column(s) {', '.join(map(repr, absent))}.{hints}")
        encoded = np.empty((len(names), table.n_rows), dtype=np.int32)
        for i, name in enumerate(names):
            encoded[i] = self.atoms[self.names.index(name)].encode(table[name])
        return encoded

    def check_known(self, encoded: NDArray[np.int32], names: tuple[str, ...]) -> None:
        """Refuse rows with values outside the domain; columns and counts are named, values are not."""
        unknown = (encoded < 0).sum(axis=1)
        if unknown.any():
            where = ", ".join(
                f"{name!r} in {count} row(s)" for name, count in zip(names, unknown, strict=True) if count
            )
            raise DataError(
                "unseen-value",
                f"Values outside the release's declared domain: {where}. Try unknown='ancestor', or map them first.",
            )

    def apply(self, table: Table, *, stop_at_unknown: bool = False) -> NDArray[np.int64]:
        """The node where each row ends."""
        at = np.zeros(table.n_rows, dtype=np.int64)
        if not self.names:
            return at
        encoded = self.encode(table, self.names)
        if not stop_at_unknown:
            self.check_known(encoded, self.names)
        moving = np.flatnonzero(self.tests[at] >= 0)
        while len(moving):
            nodes = at[moving]
            atom = encoded[self.tests[nodes], moving]
            child = np.where(atom >= 0, self._child[self._start[nodes] + np.maximum(atom, 0)], -1)
            moving, child = moving[child >= 0], child[child >= 0]
            at[moving] = child
            moving = moving[self.tests[child] >= 0]
        return at
