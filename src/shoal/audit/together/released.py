# SPDX-License-Identifier: Apache-2.0
"""Our own releases as subjects: trees, alone or together, clusterings, models over groups, tables, and rules.

So several can be audited as one.

Each kind answers three questions about the people of a table: which span each has, whether that is a single bin, and
of which blocks of people the published counts tell a histogram. A bin of any of them but a clustering is a set of
public values times a set of private ones, so all others are separable.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from shoal.audit.boxes import Boxes, Covering
from shoal.audit.ensembles import joint_spans, what_ensemble
from shoal.audit.groups import Ids, Spans, numbered
from shoal.audit.marginals import tells_private
from shoal.audit.models import as_stated, has_choice
from shoal.audit.recount import fit_target
from shoal.audit.spans import TreeSpans
from shoal.audit.subject import Subject
from shoal.audit.tables import group_rows
from shoal.audit.together.pinned import Told
from shoal.audit.together.rows_read import in_kind
from shoal.audit.trees import what_tree
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical
from shoal.errors import DataError
from shoal.privacy import Requirement
from shoal.release import (
    ClustersRelease,
    EnsembleRelease,
    ModelRelease,
    ProjectionsRelease,
    RulesRelease,
    TableRelease,
    TreeRelease,
)
from shoal.release.model_inputs import classed
from shoal.release.table import fit_column

Role = Literal["public", "private"]


class Released(Subject):
    """A release as a subject, with what it claims and the role it gives each column.

    Attributes
    ----------
    requirement
        What the release claims.
    roles
        The role of every column that the release names.
    sensitive
        Private columns besides the target that the claims cover too.
    columns
        The columns that decide what the release says of a person, its target included.
    """

    separable = True
    requirement: Requirement
    roles: dict[str, Role]
    sensitive: tuple[str, ...]

    def __init__(self, release: Any, what: str, looked_at: Sequence[str], target: str | None) -> None:
        self.release = release
        self.what = what
        self.target = target
        self.domain = {name: release.attribute(name) for name in looked_at if name != target}
        self.sha256 = release.sha256
        self.requirement = release.requirement
        self.sensitive = tuple(release.sensitive)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that decide what the release says of a person, and those that its claims are about."""
        target = () if self.target is None else (self.target,)
        return tuple(dict.fromkeys((*self.domain, *target, *self.sensitive)))

    @property
    def n_people(self) -> int | None:
        """How many people it tells of; None where it states no counts."""
        return int(self.release.n_people)

    def in_it(self, table: Table, public: Collection[str]) -> NDArray[np.bool_] | None:
        """The rows that the release may tell of; None for all. Whoever is not among them is known not to be in it."""
        return None

    @abstractmethod
    def told(self, table: Table, public: Collection[str]) -> list[Told]:
        """The private columns whose values the published counts tell, block by block."""

    @abstractmethod
    def totals(self) -> dict[str, dict[str, int]]:
        """How many people have each value of the private columns of which the release says so, by name and value."""

    def fitted(self, table: Table) -> Table:
        """The columns that the release looks at, read as it reads them."""
        return Table(in_kind(table[name], self.release.attribute(name).type) for name in self.domain)


class ReleasedTree(Released):
    """A released tree: its bins are leaves and the values of the target."""

    def __init__(self, release: TreeRelease) -> None:
        looked_at = dict.fromkeys((*release.tested, *release.marginals))
        super().__init__(release, what_tree(release), tuple(looked_at), release.target)
        self.roles = {each.name: each.role for each in release.attributes} | dict(release.unused)

    def bins(self, table: Table) -> Ids:
        """The leaf of every row."""
        if not self.domain:
            return np.zeros(table.n_rows, dtype=np.int64)
        return np.asarray(self.release.routing.apply(self.fitted(table)))

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """The leaves that every row may be in; none is alone where private columns are told of besides."""
        spans = self._walk(table, public)[1]
        return replace(spans, n_bins=np.maximum(spans.n_bins, 2)) if tells_private(self.release, public) else spans

    def _walk(self, table: Table, public: Collection[str]) -> tuple[TreeSpans, Spans]:
        tree_spans = TreeSpans(self.release, public)
        fitted = self.fitted(table) if self.domain else table
        return tree_spans, tree_spans.spans(fitted)

    @property
    def n_people(self) -> int | None:
        """How many people it tells of; None where it states shares or answers only."""
        return int(self.release.n_people) if self.release.statement == "counts" else None

    def told(self, table: Table, public: Collection[str]) -> list[Told]:
        """The classes by leaf; nothing where people in several leaves count in each, so that counts do not add up."""
        if self.target is None or self.target in public or self.release.several_rows:
            return []
        target = fit_target(self.release, as_categorical(table[self.target]))
        return [Told.of(table[self.target], target.codes, tree_blocks(*self._walk(table, public)))]

    def totals(self) -> dict[str, dict[str, int]]:
        """The people of each class, where counts are stated."""
        if self.release.statement != "counts":
            return {}
        counts = self.release.counts[0].tolist()
        return {self.release.target: dict(zip(self.release.classes, counts, strict=True))}


class ReleasedEnsemble(Released):
    """Trees released together: a bin is a tuple of leaves and a value of the target."""

    def __init__(self, release: EnsembleRelease) -> None:
        asked = {name for tree in release.trees for name in tree.tested}
        looked_at = [each.name for each in release.attributes if each.name in asked]
        super().__init__(release, what_ensemble(release), looked_at, release.target)
        self.trees = [ReleasedTree(tree) for tree in release.trees]
        self.roles = self.trees[0].roles

    def bins(self, table: Table) -> Ids:
        """The leaves of every row."""
        return numbered([tree.bins(table) for tree in self.trees], table.n_rows)

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """The leaves of every tree that every row may be in."""
        return joint_spans([tree.spans(table, public) for tree in self.trees])

    def told(self, table: Table, public: Collection[str]) -> list[Told]:
        """The classes by leaf, tree by tree."""
        return [told for tree in self.trees for told in tree.told(table, public)]

    def totals(self) -> dict[str, dict[str, int]]:
        """The people of each class."""
        return self.trees[0].totals()


class ReleasedModel(Released):
    """A model over groups: at worst its bins are groups, inputs and the values of the target."""

    def __init__(self, release: ModelRelease) -> None:
        groups = release.groups
        super().__init__(release, "a model over groups of people", (*groups.tested, *release.inputs), release.target)
        self.tree = ReleasedTree(groups)
        self.roles = self.tree.roles
        self.numeric_target = release.cuts is not None

    def bins(self, table: Table) -> Ids:
        """The group and the inputs of every row."""
        inputs = [self._input(table, name).codes for name in self.release.inputs]
        return numbered([self.tree.bins(table), *inputs], table.n_rows)

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """The groups every row may be in, told further apart by inputs that the attacker knows."""
        spans = self.tree.spans(table, public)
        known = [self._input(table, name).codes for name in self.release.inputs if name in public]
        hidden = [name for name in self.release.inputs if name not in public]
        open_ended = any(has_choice(self.release.attribute(name)) for name in hidden)
        single = (spans.n_bins[spans.of_row] == 1) & (not open_ended)
        return Spans.numbered(numbered([spans.of_row, *known], table.n_rows), single, disjoint=spans.disjoint)

    def _input(self, table: Table, name: str) -> Column:
        fitted = Table([in_kind(table[name], self.release.attribute(name).type)])
        return as_stated(self.release, fitted, name)

    def told(self, table: Table, public: Collection[str]) -> list[Told]:
        """The classes by group; a number as target is told by the classes it was cut into."""
        if self.release.cuts is None:
            return self.tree.told(table, public)
        assert self.target is not None
        if self.target in public:
            return []
        number = table[self.target]
        in_classes = classed(in_kind(number, "numeric"), self.release.cuts)
        told = self.tree.told(table.with_column(in_classes), public)
        return [Told.of(number, each.codes, each.blocks) for each in told]

    def totals(self) -> dict[str, dict[str, int]]:
        """The people of each class; of a number as target, none that its values could be compared with."""
        return {} if self.numeric_target else self.tree.totals()


class ReleasedTable(Released):
    """A released table: a person may be in every published group that stands for his public values.

    Its bins are groups and the exact values of the private columns.
    """

    def __init__(self, release: TableRelease) -> None:
        shown = [name for name in release.public if not release.is_hidden(name)]
        super().__init__(release, "a table", (*shown, *release.private), release.target)
        self.roles = {each.name: each.role for each in release.attributes}
        self.shown = shown

    def in_it(self, table: Table, public: Collection[str]) -> NDArray[np.bool_] | None:
        """The rows that some group stands for, where it says that rows are left out."""
        if not self.release.left_out:
            return None
        return self.covering(table, [name for name in self.shown if name in public]).covered

    def bins(self, table: Table) -> Ids:
        """The groups that stand for every row, and its private values."""
        private = [self._private(table, name).codes for name in self.release.private if name != self.target]
        found = self.covering(table, self.shown)
        return numbered([found.set_of_cell[found.cell_of_row], *private], table.n_rows)

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """The published groups that every row may be in."""
        found = self.covering(table, [name for name in self.shown if name in public])
        of_row, n_groups = found.set_of_cell[found.cell_of_row], found.n_groups[found.cell_of_row]
        private = [name for name in self.release.private if name in public and name != self.target]
        known = [self._private(table, name).codes for name in private]
        if self.release.left_out and not set(self.shown) <= set(public):
            of_row = found.cell_of_row  # whether he may be left out hangs on values that the attacker does not know
        single = (n_groups <= 1) & all(name in public for name in self.domain)
        return Spans.numbered(numbered([of_row, *known], table.n_rows), single, disjoint=False)

    def covering(self, table: Table, names: Sequence[str]) -> Covering:
        """Which groups, as far as some columns tell them apart, stand for which rows."""
        release = self.release
        example = group_rows([release.rows[name] for name in names], release.n_rows).example
        fitted = Table(in_kind(table[name], release.attribute(name).type) for name in names) if names else table
        return Boxes(release, names, example).covering(fitted)

    def _private(self, table: Table, name: str) -> Column:
        attribute = self.release.attribute(name)
        return fit_column(attribute, in_kind(table[name], attribute.type))

    def told(self, table: Table, public: Collection[str]) -> list[Told]:
        """Every private column, group by group."""
        found = self.covering(table, [name for name in self.shown if name in public])
        if not found.complete:
            return []
        blocks = components(found.cell, found.group, found.n_cells)[found.cell_of_row]
        hidden = [name for name in self.release.private if name not in public]
        return [Told.of(table[name], self._private(table, name).codes, blocks) for name in hidden]

    def totals(self) -> dict[str, dict[str, int]]:
        """The people of each value of every private column of categories; not where rows are left out."""
        if self.release.left_out:
            return {}
        columns = [self.release.rows[name] for name in self.release.private]
        known = [column for column in columns if column.kind == "categorical"]
        return {each.name: dict(zip(each.names, each.counts().tolist(), strict=False)) for each in known}


class ReleasedProjections(Released):
    """Released projections: a bin is a tuple of rows, one of each, so at worst it is known which belong together."""

    def __init__(self, release: ProjectionsRelease) -> None:
        self.tables = [ReleasedTable(table) for table in release.tables]
        looked_at = dict.fromkeys(name for table in self.tables for name in table.domain)
        what = "a projection" if len(release) == 1 else f"{len(release):,} projections"
        super().__init__(release, what, tuple(looked_at), release.target)
        self.roles = {each.name: each.role for each in release.attributes}

    def in_it(self, table: Table, public: Collection[str]) -> NDArray[np.bool_] | None:
        """The rows that every projection has a group for, where it says that rows are left out."""
        if not self.release.left_out:
            return None
        found = [each.covering(table, [name for name in each.shown if name in public]).covered for each in self.tables]
        return np.asarray(np.all(found, axis=0))

    def bins(self, table: Table) -> Ids:
        """The groups of every row, and its private values."""
        return numbered([each.bins(table) for each in self.tables], table.n_rows)

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """The groups of every projection that every row may be in."""
        return joint_spans([each.spans(table, public) for each in self.tables])

    def told(self, table: Table, public: Collection[str]) -> list[Told]:
        """Every private column, group by group, projection by projection."""
        return [told for each in self.tables for told in each.told(table, public)]

    def totals(self) -> dict[str, dict[str, int]]:
        """The people of each value of every private column of categories; not where rows are left out."""
        if self.release.left_out:
            return {}
        return {name: counts for each in self.tables for name, counts in each.totals().items()}


class ReleasedClusters(Released):
    """A released clustering: its bins are clusters. Which private values lead to one hangs on the others."""

    separable = False

    def __init__(self, release: ClustersRelease) -> None:
        from shoal.audit.clusters.released import ClustersSubject

        self.clusters = ClustersSubject(release)
        super().__init__(release, self.clusters.what, [each.name for each in release.attributes], None)
        self.roles = {each.name: each.role for each in release.attributes}

    def bins(self, table: Table) -> Ids:
        """The cluster of every row."""
        return self.clusters.bins(self.fitted(table))

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """The clusters that every row may be in."""
        return self.clusters.spans(self.fitted(table), public)

    def told(self, table: Table, public: Collection[str]) -> list[Told]:
        """Nothing: means are stated, and no counts of private values."""
        return []

    def totals(self) -> dict[str, dict[str, int]]:
        """None are stated."""
        return {}


def as_subject(release: Any) -> Released:
    """A release of ours as a subject.

    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> subject = as_subject(AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes").release_)
    >>> subject.what, subject.columns
    ('a decision tree of 2 leaves', ('age', 'diabetes'))
    """
    if isinstance(release, TreeRelease):
        return ReleasedTree(release)
    if isinstance(release, EnsembleRelease):
        return ReleasedEnsemble(release)
    if isinstance(release, ClustersRelease):
        return ReleasedClusters(release)
    if isinstance(release, ModelRelease):
        return ReleasedModel(release)
    if isinstance(release, TableRelease):
        return ReleasedTable(release)
    if isinstance(release, ProjectionsRelease):
        return ReleasedProjections(release)
    if isinstance(release, RulesRelease):
        from shoal.audit.together.rules import ReleasedRules

        return ReleasedRules(release)
    raise DataError("not-a-release", f"This needs a release or a model that carries one; got {type(release).__name__}.")


def tree_blocks(tree_spans: TreeSpans, spans: Spans) -> Ids:
    """Blocks of people: those whose spans share a leaf, directly or through others.

    The leaves of a block are in no other block's spans, so their published counts are the block's histogram.
    """
    if spans.disjoint:
        return spans.of_row
    leaves = [np.array(tree_spans.leaves_of(int(row)), dtype=np.int64) for row in spans.example]
    group = np.repeat(np.arange(len(leaves)), [len(each) for each in leaves])
    return components(group, np.concatenate(leaves), len(leaves))[spans.of_row]


def components(left: Ids, right: Ids, n: int) -> Ids:
    """For each of `n` things on the left, which part of the graph of pairs it is in."""
    m = int(right.max(initial=-1)) + 1
    pairs = sparse.csr_array((np.ones(len(left), dtype=np.int8), (left, n + right)), shape=(n + m, n + m))
    _, part = connected_components(pairs, directed=False)
    return np.asarray(part[:n], dtype=np.int64)
