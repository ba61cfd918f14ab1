# SPDX-License-Identifier: Apache-2.0
"""Trees and ensembles of trees, as subjects of an audit.

A bin is a tuple of leaves, one a tree. Where every test asks one column, two people have the same span exactly when
the set of leaves they can be in is the same in every tree:

A leaf's conditions are a product: some on public columns, some on private ones. The second half is a fact of the leaf,
since the domain is a product of columns. So a leaf is possible for a person exactly when his public values pass its
public conditions and its private ones do not contradict each other. A tuple of leaves is in his span exactly when each
of its leaves is possible for him and the private conditions of all its leaves together do not contradict each other;
again the second half is not about him. So the sets of possible leaves, tree by tree, say which tuples he can be in.
The other way round, the leaves of a tree that are possible are those that occur in the tuples.

A test that mixes columns is taken to go both ways, and people are told apart by their public values of the columns
it mixes: a finer grouping, because whatever it does, it does the same for people who agree in those.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal._threads import side_by_side
from shoal.audit.asking import worst_case
from shoal.audit.assumed import stated_domain
from shoal.audit.foreign.features import Feature
from shoal.audit.foreign.grove import Grove
from shoal.audit.foreign.grove_tests import GroveTests, within_reach
from shoal.audit.groups import Groups, Ids, Spans, numbered
from shoal.audit.result import SHOWN, Finding
from shoal.audit.subject import Subject
from shoal.data.table import Column, Table
from shoal.privacy import Requirement, people_behind
from shoal.release.domain import Interval
from shoal.release.node import Branch, all_but
from shoal.release.verdict import fingerprint

MOST_KEPT = 1 << 26  # numbers of spans, cells × trees, that are kept to say which trees set a group apart


@dataclass(frozen=True, eq=False)
class _Walk:
    """What the walks for one table and one attacker found."""

    table: Table
    public: frozenset[str]
    cells: NDArray[np.int32]
    cell_of_row: Ids
    ids: NDArray[np.int32] | None  # cells × trees
    alive: NDArray[np.bool_]  # nodes whose private tests do not contradict each other
    spans: Spans


class GroveSubject(Subject):
    """A grove over features of a table's columns.

    Parameters
    ----------
    what
        What it is, in words.
    grove
        The trees.
    features
        For each feature of the grove how it comes from one column; None where it mixes several.
    sources
        For each feature the columns it is made of.
    table, target, domain
        As for every reader of models.
    labels
        The classes that the outputs of the grove stand for, as text; empty where they stand for something else.
    """

    def __init__(
        self,
        what: str,
        grove: Grove,
        features: Sequence[Feature | None],
        sources: Sequence[frozenset[str]],
        table: Table,
        target: Column | None,
        domain: Mapping[str, Any] | None,
        labels: Sequence[str] = (),
    ) -> None:
        self.what = what
        self.grove = grove
        self.labels = tuple(labels)
        self.ends: Mapping[int, tuple[float, float]] = {}  # of features, where the file states them
        given = frozenset().union(*sources)
        self.domain = stated_domain(table, [name for name in table.names if name in given], domain)
        self.target = None if target is None else target.name
        self.numeric_target = target is not None and target.kind == "numeric"
        self.features = within_reach(features, np.unique(grove.feature[grove.feature >= 0]), self.domain)
        self.tests = GroveTests(grove, self.features, self.domain)
        tested = np.unique(grove.feature[self.tests.column == -2])
        self.mixed = frozenset().union(*(sources[number] for number in tested))
        self.exact = self.separable = not len(tested)
        self.counted = grove.n_trees == 1
        self.parents = _parents(grove)
        self.sha256 = _fingerprint(grove, list(self.domain))
        self._last: _Walk | None = None

    # ------------------------------------------------------------------------------------------ the interface

    def bins(self, table: Table) -> Ids:
        """A number for the leaves of every row; where tests mix columns, also for the values of these."""
        return self.spans(table, list(self.domain)).of_row

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """The span of every row for an attacker who knows `public`."""
        return self._walk(table, frozenset(public)).spans

    def group_words(self, table: Table, public: Collection[str], row: int) -> tuple[str, tuple[int, ...]]:
        """The public tests on the way to the leaves a person can be in; of a forest, the trees that tell most."""
        walk = self._walk(table, frozenset(public))
        if self.grove.n_trees > 1:
            return self._telling_trees(walk, row), ()
        nodes = self._public_tests(walk, row)
        passed: dict[int, NDArray[np.bool_]] = {}  # for each column what is left of it when all its tests are passed
        for node, left in nodes:
            position, atoms = int(self.tests.column[node]), self.tests.left_atoms(node)
            passed[position] = passed.get(position, True) & (atoms if left else ~atoms)
        words = [self._in_words(position, chosen) for position, chosen in passed.items()]
        shown = words[:SHOWN] + ([f"tests of {len(words) - SHOWN} more columns"] if len(words) > SHOWN else [])
        guilty = tuple(sorted({node for node, _ in nodes[-1:]}))
        return " and ".join(shown) or "everybody", guilty

    def findings(
        self, table: Table, public: Collection[str], groups: Groups, requirement: Requirement
    ) -> list[Finding]:
        """That counts are the worst case, whether these are the training rows, and ends of columns that are stated."""
        found = self._other_rows(table) + self._stated_ends(table, public, people_behind(requirement))
        if not self.counted:
            found.append(worst_case())
        return found

    # ------------------------------------------------------------------------------------------ walks

    def leaves(self, table: Table) -> NDArray[np.int32]:
        """The leaf of every row in every tree (rows × trees); every test must ask one column."""
        from shoal.audit.foreign import _grove_walk

        assert self.exact, "a test that mixes columns is not followed"
        encoded, roots = self.tests.encode(table), self.grove.roots
        nodes = self._nodes(frozenset(self.domain))
        answer = np.empty((len(roots), table.n_rows), dtype=np.int32)

        def walk(tree: int) -> None:
            _grove_walk.one_leaf(roots[tree], nodes, self.tests.ranks, self.tests.n_known, encoded, answer[tree])

        side_by_side(walk, range(len(roots)), rows=answer.size)
        return answer.T

    def leaf_counts(self, table: Table, target: Column) -> Ids:
        """How many rows of each class of a target each node of the only tree ends (nodes × classes)."""
        ends = self.leaves(table)[:, 0].astype(np.int64)
        size = self.grove.n_nodes * target.n_codes
        return np.bincount(ends * target.n_codes + target.codes, minlength=size).reshape(-1, target.n_codes)

    def _nodes(self, public: frozenset[str]) -> NDArray[np.int32]:
        """The nodes, each with its kind for an attacker who knows `public`."""
        from shoal.audit.foreign import _grove_walk

        column, nodes = self.tests.column, self.tests.nodes.copy()
        known = np.array([*(name in public for name in self.tests.names), False, False])
        nodes[:, _grove_walk.KIND] = np.where(known[column], _grove_walk.PUBLIC, _grove_walk.PRIVATE)
        nodes[column == -1, _grove_walk.KIND] = _grove_walk.LEAF
        nodes[column == -2, _grove_walk.KIND] = _grove_walk.MIXED
        return nodes

    def _walk(self, table: Table, public: frozenset[str]) -> _Walk:
        last = self._last
        if last is None or last.table is not table or last.public != public:
            self._last = last = self._look(table, public)
        return last

    def _look(self, table: Table, public: frozenset[str]) -> _Walk:
        from shoal.audit.foreign import _grove_walk

        roots, tests = self.grove.roots, self.tests
        encoded = tests.encode(table)
        known = np.array([name in public for name in tests.names], dtype=bool)
        cell_of_row, cells = _distinct(np.where(known, encoded, 0) if len(known) else encoded)
        nodes = self._nodes(public)
        kinds = nodes[:, _grove_walk.KIND]
        # a test that mixes public columns only goes one way, though we do not know which
        wide = (kinds == _grove_walk.PRIVATE) | ((kinds == _grove_walk.MIXED) & bool(self.mixed - public))
        alive = _grove_walk.alive_nodes(roots, self.parents, nodes, tests.ranks, tests.domain)
        reached = np.zeros(len(nodes), dtype=np.bool_)
        all_known = bool((kinds <= _grove_walk.PUBLIC).all())

        def walk(tree: int) -> tuple[NDArray[np.int32], NDArray[np.bool_], int]:
            ids = np.empty(len(cells), dtype=np.int32)
            is_wide = np.zeros(len(cells), dtype=np.bool_)
            if all_known:  # everybody can be in one leaf only
                _grove_walk.one_leaf(roots[tree], nodes, tests.ranks, tests.n_known, cells, ids)
                return ids - roots[tree].astype(np.int32), is_wide, 0
            total = _grove_walk.some_leaves(
                roots[tree], nodes, wide, alive, tests.ranks, tests.n_known, cells, ids, is_wide, reached
            )
            return ids, is_wide, int(total)

        answers = side_by_side(walk, range(len(roots)), rows=len(cells) * len(roots))
        concerned = [table[name].codes for name in self.domain if name in self.mixed and name in public]
        of_cell = numbered([ids for ids, _, _ in answers], len(cells))
        keys = numbered([of_cell[cell_of_row], *concerned], table.n_rows)
        single = ~np.any([is_wide for _, is_wide, _ in answers], axis=0)
        # where no leaf is in two sets of its tree, no tuple is in two spans
        disjoint = sum(total for _, _, total in answers) == int(reached.sum())
        spans = Spans.numbered(keys, single[cell_of_row], disjoint=disjoint)
        keep = len(roots) > 1 and len(cells) * len(roots) <= MOST_KEPT
        ids = np.column_stack([ids for ids, _, _ in answers]) if keep else None
        return _Walk(table, public, cells, cell_of_row, ids, alive, spans)

    # ------------------------------------------------------------------------------------------ words

    def sides(self, node: int) -> tuple[str, Branch, Branch]:
        """The column that a node asks, and what of it goes left and right, in the column's own terms."""
        position = int(self.tests.column[node])
        assert position >= 0, "a leaf, or a test that mixes columns"
        left = self.tests.left_atoms(node)
        ways = []
        for child, chosen in ((self.grove.left[node], left), (self.grove.right[node], ~left)):
            ways.append(self._branch(position, chosen, int(child)))
        return self.tests.names[position], ways[0], ways[1]

    def _branch(self, position: int, chosen: NDArray[np.bool_], child: int = 0) -> Branch:
        values, intervals, missing = self.tests.condition(position, chosen)
        return Branch(child, values, intervals, missing, all_but(values, self.tests.atoms[position].attribute.values))

    def shown(self, branch: Branch) -> Branch:
        """A branch for reading: a border between numbers of single precision has no more than seven digits."""
        if not self.grove.single:
            return branch
        ends = [(each.above, each.at_most) for each in branch.intervals]
        rounded = [Interval(*(None if end is None else float(f"{end:.7g}") for end in both)) for both in ends]
        return replace(branch, intervals=tuple(rounded))

    def _in_words(self, position: int, chosen: NDArray[np.bool_]) -> str:
        return f"{self.tests.names[position]} {self.shown(self._branch(position, chosen)).condition()}"

    def _public_tests(self, walk: _Walk, row: int) -> list[tuple[int, bool]]:
        """The public tests of the only tree that a person is put to, and the way each sends him."""
        tests, grove = self.tests, self.grove
        cell = walk.cells[walk.cell_of_row[row]]
        found, stack = [], [int(grove.roots[0])]
        while stack:
            node = stack.pop()
            position = int(tests.column[node])
            if position == -1:
                continue
            if position >= 0 and tests.names[position] in walk.public:
                left = bool(tests.left_atoms(node)[cell[position]])
                found.append((node, left))
                stack.append(int(grove.left[node] if left else grove.right[node]))
            else:
                children = (int(grove.right[node]), int(grove.left[node]))
                stack += [child for child in children if walk.alive[child]]
        return found

    def _telling_trees(self, walk: _Walk, row: int) -> str:
        if walk.ids is None:
            return "one combination of the leaves they can be in"
        of_cell = np.bincount(walk.cell_of_row, minlength=len(walk.cells))
        alike = walk.ids == walk.ids[walk.cell_of_row[row]]
        people = of_cell @ alike
        trees = np.argsort(people, kind="stable")[:3]
        told = ", ".join(f"tree {tree} leaves {people[tree]:,} row(s)" for tree in trees)
        return f"told apart by all trees together; alone, {told}"

    def _stated_ends(self, table: Table, public: Collection[str], k: int) -> list[Finding]:
        """Private columns whose smallest or largest value the file states, though fewer than k people have it."""
        told = set()
        for number, ends in self.ends.items():
            feature = self.features[number]
            if feature is not None and feature.column not in public:
                column = table[feature.column]
                numbers = feature.numbers(column)[: column.n_codes]
                # the file may round the last digits away
                people = [int(column.counts()[np.isclose(numbers, end, rtol=1e-9)].sum()) for end in ends]
                if any(0 < n < k for n in people):
                    told.add(feature.column)
        if not told:
            return []
        return [
            Finding(
                "states-ends",
                "breach",
                f"The model's file states the smallest and largest value of private column(s) "
                f"{', '.join(map(repr, sorted(told)))}, and fewer than {k} people have one of them: it is their value. "
                "Clip the column at round numbers before training.",
            )
        ]

    def _other_rows(self, table: Table) -> list[Finding]:
        """Compare the numbers of training rows in the model's file with those of the rows, where it has them."""
        if self.grove.people is None or not self.exact:
            return []
        leaves = self.leaves(table)
        counts = np.bincount(leaves.reshape(-1), minlength=self.grove.n_nodes)
        differ = np.flatnonzero((counts != self.grove.people) & self.grove.is_leaf)
        if not len(differ):
            return []
        return [
            Finding(
                "counts-differ",
                "breach",
                f"In {len(differ):,} lea{'f' if len(differ) == 1 else 'ves'} the model says another number of training "
                "rows than these rows give. Audit it with the very rows it was trained on.",
                nodes=tuple(int(node) for node in differ[:SHOWN]),
            )
        ]


def _parents(grove: Grove) -> Ids:
    parents = np.full(grove.n_nodes, -1, dtype=np.int64)
    inner = np.flatnonzero(~grove.is_leaf)
    parents[grove.left[inner]] = inner
    parents[grove.right[inner]] = inner
    return parents


def _distinct(encoded: NDArray[np.int32]) -> tuple[Ids, NDArray[np.int32]]:
    """Which of the different rows of a matrix each row is, and these."""
    of_row = numbered(list(encoded.T), len(encoded))
    first = np.zeros(int(of_row.max()) + 1 if len(of_row) else 0, dtype=np.int64)
    first[of_row[::-1]] = np.arange(len(of_row))[::-1]
    return of_row, np.ascontiguousarray(encoded[first])


def _fingerprint(grove: Grove, columns: list[str]) -> str:
    parts = [grove.roots, grove.feature, grove.threshold, grove.left, grove.right, grove.missing_left, grove.left_set]
    parts += [*grove.sets, grove.value, grove.base]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return fingerprint({"kind": "grove", "columns": columns, "trees": digest.hexdigest()})
