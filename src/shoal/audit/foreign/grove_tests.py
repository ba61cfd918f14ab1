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

MOST_CELLS = 1 << 27  # entries of tables over the atoms of a column that many features are made of


class GroveTests:
    """Every test of a grove as a cut or a mask over the atoms of one column.

    Attributes
    ----------
    names
        The tested columns.
    atoms
        Their atoms.
    column
        For each node the position of its column in `names`; −1 for a leaf, −2 for a test that mixes columns.
    cut, row, missing_left
        A node with `row` ≥ 0 sends an atom left if ``masks[row + atom]``; any other sends known atoms below its `cut`
        left, and missing if `missing_left`.
    """

    def __init__(self, grove: Grove, features: Sequence[Feature | None], domain: Mapping[str, Attribute]) -> None:
        n = grove.n_nodes
        tested = [int(number) for number in np.unique(grove.feature[grove.feature >= 0])]
        followed = {number: feature for number in tested if (feature := features[number]) is not None}
        asked = {feature.column for feature in followed.values()}
        self.names = tuple(name for name in domain if name in asked)
        self.column = np.where(grove.feature < 0, -1, -2).astype(np.int32)
        self.cut = np.zeros(n, dtype=np.int32)
        self.row = np.full(n, -1, dtype=np.int64)
        self.missing_left = np.zeros(n, dtype=np.bool_)
        by_feature = _nodes_of(grove)
        self.atoms: list[FeatureAtoms] = []
        masks: list[NDArray[np.bool_]] = []
        size = 0
        for position, name in enumerate(self.names):
            own = {i: each for i, each in enumerate(features) if each is not None and each.column == name}
            bounds = {number: _bounds(grove, by_feature[number]) for number in own if number in followed}
            atoms = FeatureAtoms(domain[name], own, bounds, grove.single)
            self.atoms.append(atoms)
            for number in bounds:
                nodes, numbers = by_feature[number], atoms.numbers[number]
                self.column[nodes] = position
                if domain[name].type == "numeric" and not len(own[number].breaks) and (grove.left_set[nodes] < 0).all():
                    self._as_cuts(grove, nodes, numbers, atoms)
                    continue
                table, which = _masks(grove, nodes, numbers)
                self.row[nodes] = size + which * atoms.n
                masks.append(table.reshape(-1))
                size += table.size
        self.masks = np.concatenate([*masks, np.zeros(1, dtype=bool)])
        self.n_known = np.array([atoms.n_known for atoms in self.atoms] or [0], dtype=np.int64)
        self.n_atoms = np.array([atoms.n for atoms in self.atoms] or [0], dtype=np.int64)
        self.start = np.cumsum(self.n_atoms) - self.n_atoms
        self.possible = np.concatenate([*(atoms.possible for atoms in self.atoms), np.zeros(1, dtype=bool)])

    def _as_cuts(self, grove: Grove, nodes: Ids, numbers: Numbers, atoms: FeatureAtoms) -> None:
        known = numbers[: atoms.n_known]
        self.cut[nodes] = np.searchsorted(known, grove.threshold[nodes], side="right")
        if atoms.n > atoms.n_known:
            missing = numbers[-1]
            low = missing <= grove.threshold[nodes]
            self.missing_left[nodes] = grove.missing_left[nodes] if np.isnan(missing) else low

    @property
    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int32], Ids, NDArray[np.bool_], NDArray[np.bool_]]:
        """What a walk needs of the tests."""
        return self.column, self.cut, self.row, self.missing_left, self.masks

    @property
    def domain(self) -> tuple[Ids, Ids, Ids, NDArray[np.bool_]]:
        """What a walk needs of the columns."""
        return self.start, self.n_known, self.n_atoms, self.possible

    def encode(self, table: Table) -> NDArray[np.int32]:
        """The atoms of every row (rows × tested columns)."""
        encoded = np.empty((table.n_rows, len(self.names)), dtype=np.int32)
        for position, (name, atoms) in enumerate(zip(self.names, self.atoms, strict=True)):
            encoded[:, position] = atoms.encode(table[name])
        return encoded

    def left_atoms(self, node: int) -> NDArray[np.bool_]:
        """Which atoms of its column a node sends left."""
        atoms = self.atoms[self.column[node]]
        if self.row[node] >= 0:
            return np.array(self.masks[self.row[node] : self.row[node] + atoms.n])
        left: NDArray[np.bool_] = np.arange(atoms.n) < self.cut[node]
        if atoms.n > atoms.n_known:
            left[-1] = self.missing_left[node]
        return left

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
    """The features without those of a column that so many are made of that tables over its atoms grow too large."""
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


def _masks(grove: Grove, nodes: Ids, numbers: Numbers) -> tuple[NDArray[np.bool_], Ids]:
    """The different tests of a feature as rows over its atoms, and which of them each node is."""
    threshold = np.where(grove.left_set[nodes] < 0, grove.threshold[nodes], np.inf)
    kinds = np.column_stack([threshold, grove.left_set[nodes], grove.missing_left[nodes]])
    _, first, which = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    return np.array([grove.goes_left(int(node), numbers) for node in nodes[first]]), which.reshape(-1)


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
