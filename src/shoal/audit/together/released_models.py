# SPDX-License-Identifier: Apache-2.0
"""Released trees, alone or together, clusterings, and models over groups as subjects."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from shoal.audit.ensembles import joint_spans, what_ensemble
from shoal.audit.groups import Ids, Spans, numbered
from shoal.audit.marginals import tells_private
from shoal.audit.models import as_stated, has_choice
from shoal.audit.recount import fit_target
from shoal.audit.spans import TreeSpans
from shoal.audit.together.blocks import tree_blocks
from shoal.audit.together.pinned import Told
from shoal.audit.together.released import Released
from shoal.audit.together.rows_read import in_kind
from shoal.audit.trees import what_tree
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical
from shoal.release import (
    ClustersRelease,
    EnsembleRelease,
    ModelRelease,
    TreeRelease,
)
from shoal.release.model_inputs import classed


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
