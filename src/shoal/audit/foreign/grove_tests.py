# SPDX-License-Identifier: Apache-2.0
"""The tests of a grove over atoms of the table's own columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.audit.foreign.feature_atoms import FeatureAtoms
from shoal.audit.foreign.features import Feature, Numbers
from shoal.audit.foreign.grove import Grove
from shoal.audit.groups import Ids
from shoal.data.table import Table
from shoal.release import Attribute
from shoal.release.domain import Interval

MOST_CELLS = 1 << 26  # ranks kept for one column
GAP = 2**30  # the rank of missing, as in `_grove_walk`


class GroveTests:
    """Every test of a grove as a cut through ranks of the atoms of one column.

    Attributes
    ----------
    names
        The tested columns.
    atoms
        Their atoms.
    column
        For each node the position of its column in `names`; −1 for a leaf, −2 for a test that mixes columns.
    nodes
        The nodes as `_grove_walk` reads them; which columns are public is not yet in it.
    ranks
        Tables of ranks: an entry an atom for each feature that does not simply rise with its column, and for each set.
    """

    def __init__(self, grove: Grove, features: Sequence[Feature | None], domain: Mapping[str, Attribute]) -> None:
        tested = [int(number) for number in np.unique(grove.feature[grove.feature >= 0])]
        followed = {number: feature for number in tested if (feature := features[number]) is not None}
        asked = {feature.column for feature in followed.values()}
        self.names = tuple(name for name in domain if name in asked)
        self.column = np.where(grove.feature < 0, -1, -2).astype(np.int32)
        # kind, column, ranks, cut, missing left, left, right
        self.nodes = np.zeros((grove.n_nodes, 7), dtype=np.int32)
        self.nodes[:, 2] = -1
        self.nodes[:, 5], self.nodes[:, 6] = grove.left, grove.right
        self.atoms: list[FeatureAtoms] = []
        self._tables: list[NDArray[np.int32]] = []
        self._size = 0
        by_feature = _nodes_of(grove)
        made = {name: {i: f for i, f in enumerate(features) if f is not None and f.column == name} for name in asked}
        for position, name in enumerate(self.names):
            own = made[name]
            bounds = {number: _bounds(grove, by_feature[number]) for number in own if number in followed}
            atoms = FeatureAtoms(domain[name], own, bounds, grove.single)
            self.atoms.append(atoms)
            for number in bounds:
                nodes, numbers = by_feature[number], atoms.numbers[number]
                self.column[nodes] = position
                by_set = grove.left_set[nodes] >= 0
                self._by_set(grove, nodes[by_set], numbers)
                rises = domain[name].type == "numeric" and not len(own[number].breaks)
                self._by_threshold(grove, nodes[~by_set], numbers, atoms.n_known if rises else None)
        self.nodes[:, 1] = self.column
        self.ranks = np.concatenate([*self._tables, np.zeros(1, dtype=np.int32)])
        self.n_known = np.array([atoms.n_known for atoms in self.atoms] or [0], dtype=np.int64)
        self.n_atoms = np.array([atoms.n for atoms in self.atoms] or [0], dtype=np.int64)
        start = np.cumsum(self.n_atoms) - self.n_atoms
        possible = np.concatenate([*(atoms.possible for atoms in self.atoms), np.zeros(1, dtype=bool)])
        self.domain = (start, self.n_known, self.n_atoms, possible)

    def _by_threshold(self, grove: Grove, nodes: Ids, numbers: Numbers, n_known: int | None) -> None:
        """Enter tests of a feature against thresholds; `n_known` where it rises with its column."""
        if not len(nodes):
            return
        threshold = grove.threshold[nodes]
        self.nodes[nodes, 4] = grove.missing_left[nodes]
        if n_known is None:
            present = np.unique(numbers[~np.isnan(numbers)])
            ranks = np.where(np.isnan(numbers), GAP, np.searchsorted(present, numbers))
            self.nodes[nodes, 2] = self._enter(ranks)
            self.nodes[nodes, 3] = np.searchsorted(present, threshold, side="right")
            return
        self.nodes[nodes, 3] = np.searchsorted(numbers[:n_known], threshold, side="right")
        if len(numbers) > n_known and not np.isnan(numbers[-1]):  # a number stands for missing
            self.nodes[nodes, 4] = numbers[-1] <= threshold

    def _by_set(self, grove: Grove, nodes: Ids, numbers: Numbers) -> None:
        """Enter tests of a feature against sets."""
        for number in np.unique(grove.left_set[nodes]):
            chosen = nodes[grove.left_set[nodes] == number]
            ranks = np.where(np.isin(numbers, grove.sets[number]), 0, 1)
            self.nodes[chosen, 2] = self._enter(np.where(np.isnan(numbers), GAP, ranks))
            self.nodes[chosen, 3] = 1
            self.nodes[chosen, 4] = grove.missing_left[chosen]

    def _enter(self, ranks: NDArray[np.int64]) -> int:
        self._tables.append(ranks.astype(np.int32))
        self._size += len(ranks)
        return self._size - len(ranks)

    def encode(self, table: Table) -> NDArray[np.int32]:
        """The atoms of every row (rows × tested columns)."""
        encoded = np.empty((table.n_rows, len(self.names)), dtype=np.int32)
        for position, (name, atoms) in enumerate(zip(self.names, self.atoms, strict=True)):
            encoded[:, position] = atoms.encode(table[name])
        return encoded

    def left_atoms(self, node: int) -> NDArray[np.bool_]:
        """Which atoms of its column a node sends left."""
        atoms = self.atoms[self.column[node]]
        _, _, start, cut, missing_left, _, _ = self.nodes[node]
        if start >= 0:
            ranks = self.ranks[start : start + atoms.n]
        else:
            ranks = np.where(np.arange(atoms.n) < atoms.n_known, np.arange(atoms.n), GAP)
        return np.where(ranks == GAP, bool(missing_left), ranks < cut)

    def condition(self, position: int, chosen: NDArray[np.bool_]) -> tuple[tuple[str, ...], tuple[Interval, ...], bool]:
        """Some atoms of a column in its own terms: values, intervals, and whether missing is among them."""
        atoms = self.atoms[position]
        missing = bool(atoms.n > atoms.n_known and chosen[-1] and atoms.possible[-1])
        if atoms.attribute.type == "categorical":
            known = zip(atoms.attribute.values, chosen & atoms.possible, strict=False)
            return tuple(value for value, each in known if each), (), missing
        return (), tuple(_intervals(atoms, chosen[: atoms.n_known])), missing


def within_reach(
    features: Sequence[Feature | None], tested: Ids, domain: Mapping[str, Attribute]
) -> list[Feature | None]:
    """The features, but none of a column that so many are made of that tables over its atoms grow too large."""
    cells: dict[str, int] = {}
    for number in tested:
        feature = features[number]
        if feature is not None:
            n_atoms = max(len(domain[feature.column].values), len(feature.breaks))
            cells[feature.column] = cells.get(feature.column, 0) + n_atoms
    return [None if each is None or cells.get(each.column, 0) > MOST_CELLS else each for each in features]


def _nodes_of(grove: Grove) -> dict[int, Ids]:
    order = np.argsort(grove.feature, kind="stable")
    values, begin = np.unique(grove.feature[order], return_index=True)
    return {int(value): nodes for value, nodes in zip(values, np.split(order, begin[1:]), strict=True)}


def _bounds(grove: Grove, nodes: Ids) -> Numbers:
    """The numbers that the tests of a feature compare with; a set is told by the two sides of each member."""
    by_set = np.unique(grove.left_set[nodes])
    members = [grove.sets[number].astype(np.float64) for number in by_set[by_set >= 0]]
    edges = np.concatenate([np.empty(0), *members])
    thresholds = grove.threshold[nodes][grove.left_set[nodes] < 0]
    return np.unique(np.concatenate([thresholds, edges, np.nextafter(edges, -np.inf)]))


def _intervals(atoms: FeatureAtoms, chosen: NDArray[np.bool_]) -> list[Interval]:
    """Neighbouring atoms as intervals; atoms that nobody can be in join whichever side is next to them."""
    possible = np.flatnonzero(atoms.possible[: atoms.n_known])
    runs: list[Interval] = []
    above: float | None = None
    for place, atom in enumerate(possible):
        last = place == len(possible) - 1
        at_most = None if last else _end(atoms, int(atom), int(possible[place + 1]))
        if chosen[atom]:
            if runs and runs[-1].at_most == above and above is not None:
                runs[-1] = Interval(runs[-1].above, at_most)
            else:
                runs.append(Interval(above, at_most))
        above = at_most
    return runs


def _end(atoms: FeatureAtoms, atom: int, following: int) -> float:
    """A number that divides two atoms: halfway between whole numbers, else the very last of the first."""
    if not atoms.attribute.integer:
        return float(atoms.cuts[atom])
    return float(np.floor(atoms.cuts[atom])) + 0.5
