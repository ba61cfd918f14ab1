# SPDX-License-Identifier: Apache-2.0
"""Trees to be repaired, whoever made them: a split sends every code of a column one way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column, Table
from shoal.release import TreeRelease

if TYPE_CHECKING:
    from shoal.audit.foreign.features import Feature
    from shoal.audit.foreign.grove import Grove

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Split:
    """A test of one column.

    Attributes
    ----------
    column
        The column it asks for.
    way_of_code
        For each code of that column, missing included, the position of the child it leads to.
    children
        The nodes it leads to.
    """

    column: str
    way_of_code: Ids
    children: tuple[int, ...]


class Source(Protocol):
    """Where trees to be repaired come from."""

    @property
    def roots(self) -> Sequence[int]:
        """The root of each tree."""

    @property
    def n_leaves(self) -> int:
        """The leaves of all trees."""

    def split(self, tree: int, node: int) -> Split | None:
        """What a node asks, or None for a leaf."""


class ReleasedTrees:
    """Trees that are releases already."""

    def __init__(self, trees: Sequence[TreeRelease], table: Table) -> None:
        self._trees = trees
        self.roots: Sequence[int] = [0] * len(trees)
        self.n_leaves: int = sum(len(tree.leaves) for tree in trees)
        self._atoms = cache(lambda tree, test: self._atom_of_code(tree, test, table))

    def _atom_of_code(self, tree: int, test: int, table: Table) -> NDArray[np.int32]:
        atoms = self._trees[tree].routing.atoms[test]
        return atoms.encode(_every_code(table[self._trees[tree].routing.names[test]]))

    def split(self, tree: int, node: int) -> Split | None:
        """What a node asks, or None for a leaf."""
        routing = self._trees[tree].routing
        test = int(routing.tests[node])
        if test < 0:
            return None
        child_of_code = routing.children(node)[self._atoms(tree, test)]
        children, n_codes = np.unique(child_of_code[child_of_code >= 0], return_counts=True)
        # a value that cannot come here has no branch; once tests above are left out it may, and takes the widest
        taken = np.where(child_of_code >= 0, child_of_code, children[n_codes.argmax()])
        return Split(routing.names[test], np.searchsorted(children, taken), tuple(children.tolist()))


class GroveTrees:
    """Trees of a model that somebody else trained."""

    def __init__(self, grove: Grove, features: Sequence[Feature | None], table: Table) -> None:
        self._grove = grove
        self._features = features
        self._table = table
        self.roots: Sequence[int] = grove.roots.tolist()
        self.n_leaves: int = int((grove.feature < 0).sum())
        self._numbers = cache(self._number_of_code)

    def _number_of_code(self, f: int) -> NDArray[np.float64]:
        feature = self._features[f]
        assert feature is not None, "every test asks one column"
        column = self._table[feature.column]
        return feature.numbers(column)[: column.n_codes]

    def split(self, tree: int, node: int) -> Split | None:
        """What a node asks, or None for a leaf."""
        grove = self._grove
        f = int(grove.feature[node])
        if f < 0:
            return None
        ways = np.where(grove.goes_left(node, self._numbers(f)), 0, 1)
        feature = self._features[f]
        assert feature is not None
        return Split(feature.column, ways, (int(grove.left[node]), int(grove.right[node])))


def _every_code(column: Column) -> Column:
    """The column with one row for each of its codes."""
    return replace(column, codes=np.arange(column.n_codes))
