# SPDX-License-Identifier: Apache-2.0
"""Choosing a split by what it gains together with the best splits right below it.

A split that gains nothing by itself may open the way to one that does: where the class is whether two columns agree,
neither column tells anything alone. Candidates are tried: their nodes are split, the best split of every part is found
as it would be without looking ahead, and the trial is forgotten. What keeps the requirement is asked of trials as of
real splits; a real split is asked again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.engines import Engine
from shoal.engines.base import Ids
from shoal.trees.forms import Cuts, Form
from shoal.trees.people import PeopleVeto, all_kept
from shoal.trees.score import Order, Score
from shoal.trees.spans import SpanBook
from shoal.trees.veto import Veto

Counts = NDArray[np.int64]
MOST_TRIED = 12  # candidates of a node that are tried: those that gain most by themselves
NODES_AT_ONCE = 256


@dataclass
class Nodes:
    """Some nodes, their people by class, and the spans that reach each where these are not the nodes themselves."""

    ids: Ids
    classes: Counts
    reaches: list[Ids] | None = None

    def only(self, which: NDArray[np.intp]) -> Nodes:
        """Some of the nodes."""
        reaches = None if self.reaches is None else [self.reaches[i] for i in which]
        return Nodes(self.ids[which], self.classes[which], reaches)


@dataclass
class Look:
    """What one feature makes of some nodes."""

    counts: Counts
    order: Order | None
    gains: Counts

    @classmethod
    def at(cls, engine: Engine, nodes: Nodes, f: int, form: Form) -> Look:
        """Count the nodes by a feature and tell what its positions gain."""
        counts = engine.node_counts(nodes.ids, f)
        order = form.order(counts)
        return cls(counts, order, form.gains(counts, order))


class Ground(Protocol):
    """What a requirement is asked of: the nodes, or the spans that reach them."""

    least_to_split: int  # people that a node must have, or no split keeps the requirement

    def kept(self, nodes: Nodes, f: int, form: Form, look: Look) -> NDArray[np.bool_]:
        """Which positions of a feature keep the requirement (nodes × positions)."""
        ...

    def tried(self, nodes: Nodes, f: int, branch_of: NDArray[np.int32], n_branches: int) -> tuple[Nodes, Ids]:
        """The parts that a split would make, and which of the nodes each comes from."""
        ...


class NodeGround:
    """With the target alone private, people are told apart by their nodes and nothing else."""

    def __init__(self, engine: Engine, veto: Veto, least_people: int, people: PeopleVeto | None) -> None:
        self._engine = engine
        self._veto = veto
        self._people = people
        self.least_to_split = 2 * least_people

    def kept(self, nodes: Nodes, f: int, form: Form, look: Look) -> NDArray[np.bool_]:
        """See `Ground`."""
        people = self._people
        veto = self._veto if people is None else people.by_rows
        kept = np.ones(look.gains.shape, dtype=bool)
        for by in veto.questions:
            kept &= form.kept(veto.asked(look.counts, by), look.order, veto, by)
        if people is None:
            return kept
        return all_kept(form, kept, look.order, lambda which, branch: people.nodes_keep(nodes.ids[which], f, branch))

    def tried(self, nodes: Nodes, f: int, branch_of: NDArray[np.int32], n_branches: int) -> tuple[Nodes, Ids]:
        """See `Ground`."""
        parts = self._engine.split_nodes(nodes.ids, f, branch_of, n_branches)
        parent, branch = np.nonzero(parts >= 0)
        found = parts[parent, branch]
        return Nodes(found, self._engine.node_classes(found)), parent


class SpanGround:
    """With any roles: a public split is asked of all spans that reach a node. One node is tried at a time."""

    least_to_split = 2

    def __init__(self, engine: Engine, book: SpanBook) -> None:
        self._engine = engine
        self._book = book

    def kept(self, nodes: Nodes, f: int, form: Form, look: Look) -> NDArray[np.bool_]:
        """See `Ground`."""
        assert nodes.reaches is not None
        n_positions = look.gains.shape[1]
        kept = np.empty((len(nodes.ids), n_positions), dtype=bool)
        for i, reach in enumerate(nodes.reaches):
            if self._engine.features[f].public:
                order = None if look.order is None else look.order[i : i + 1]
                kept[i] = self._book.kept(reach, f, form, order, n_positions)
            else:
                kept[i] = self._book.keeps_private(reach)
        return kept

    def tried(self, nodes: Nodes, f: int, branch_of: NDArray[np.int32], n_branches: int) -> tuple[Nodes, Ids]:
        """See `Ground`."""
        assert nodes.reaches is not None
        assert len(nodes.reaches) == 1  # a span that two nodes share cannot be split for both
        reach = nodes.reaches[0]
        parts = self._engine.split_nodes(nodes.ids, f, branch_of, n_branches)[0]
        taken = np.flatnonzero(parts >= 0)
        reaches = [reach] * n_branches
        if self._engine.features[f].public:
            reaches = self._book.try_public(reach, f, branch_of[0], n_branches)
        found = Nodes(parts[taken], self._engine.node_classes(parts[taken]), [reaches[branch] for branch in taken])
        return found, np.zeros(len(taken), dtype=np.intp)


@dataclass(frozen=True)
class Chosen:
    """The splits that one feature makes of some of the nodes that were asked for."""

    feature: int
    nodes: NDArray[np.intp]
    positions: Counts
    order: Order | None


@dataclass
class Candidates:
    """Splits of some nodes by one feature, one a node: what they gain alone and in all, and what the choice is by."""

    feature: int
    positions: Counts
    order: Order | None
    possible: NDArray[np.bool_]
    own: Counts
    total: Counts
    information: Counts


class Lookahead:
    """Weighs splits of nodes by what they and the best splits below them gain.

    Parameters
    ----------
    forms
        How each feature splits; None where it cannot.
    ground
        What the requirement is asked of.
    """

    def __init__(self, engine: Engine, score: Score, forms: list[Form | None], ground: Ground) -> None:
        self._engine = engine
        self._score = score
        self._forms = forms
        self._ground = ground

    def best_splits(self, ids: Ids, classes: Counts) -> list[Chosen]:
        """The best split of each node that has one, with all that two levels of splits gain; nodes are spans."""
        best: list[Chosen] = []
        for first in range(0, len(ids), NODES_AT_ONCE):
            piece = slice(first, first + NODES_AT_ONCE)
            nodes = Nodes(ids[piece], classes[piece])
            best += self._picked(nodes, self.weighed(nodes), first)
        return best

    def _picked(self, nodes: Nodes, candidates: list[Candidates], first: int) -> list[Chosen]:
        if not candidates:
            return []
        values = self.values(nodes, candidates)
        # the highest; ties go to what gains more by itself, then to the earlier feature
        best = np.lexsort((-np.stack([each.own for each in candidates]), -values), axis=0)[0]
        best[values.max(axis=0) <= 0] = -1
        picked = []
        for number, each in enumerate(candidates):
            here = np.flatnonzero(best == number)
            if len(here):
                order = None if each.order is None else each.order[here]
                picked.append(Chosen(each.feature, here + first, each.positions[here], order))
        return picked

    def values(self, nodes: Nodes, candidates: list[Candidates]) -> NDArray[np.float64]:
        """What candidates are chosen by (candidates × nodes); 0 where one is not possible, or chance as a whole."""
        total = self._score.evident(np.stack([each.total for each in candidates]), nodes.classes)
        if not self._score.by_ratio:
            return total.astype(np.float64)
        information = np.stack([each.information for each in candidates])
        return self._score.ratios(total, information, nodes.classes.sum(axis=1))

    def weighed(self, nodes: Nodes, features: list[int] | None = None) -> list[Candidates]:
        """The candidates of some nodes, weighed: of each feature its best split and, of a cut in two, the most even."""
        found = []
        for f, form in enumerate(self._forms):
            if form is not None and (features is None or f in features):
                found += self._candidates(nodes, f, form)
        if not found:
            return []
        own = np.stack([np.where(each.possible, each.own, -1) for each in found])
        rank = np.argsort(np.argsort(-own, axis=0, kind="stable"), axis=0)
        for each, ranks in zip(found, rank, strict=True):
            each.possible &= ranks < MOST_TRIED
            self._try(nodes, each)
        return found

    def _candidates(self, nodes: Nodes, f: int, form: Form) -> list[Candidates]:
        look = Look.at(self._engine, nodes, f, form)
        kept = self._ground.kept(nodes, f, form, look)
        best = form.choose(look.gains, kept)
        found = [self._candidate(f, form, look, best, kept)]
        if isinstance(form, Cuts):
            even = form.most_even(look.counts, look.order, kept)
            found.append(self._candidate(f, form, look, even, kept & (even != best)[:, None]))
        return found

    def _candidate(self, f: int, form: Form, look: Look, positions: Counts, kept: NDArray[np.bool_]) -> Candidates:
        rows = np.arange(len(positions))
        possible = kept[rows, positions] & _several_parts(look.counts, form.branches(positions, look.order))
        own = np.where(possible, look.gains[rows, positions], 0)
        information = np.zeros_like(own)
        if self._score.by_ratio:
            information = self._score.split_information(form.sizes(look.counts, positions, look.order))
        return Candidates(f, positions, look.order, possible, own, np.zeros_like(own), information)

    def _try(self, nodes: Nodes, each: Candidates) -> None:
        """Add to what a feature's splits gain what the best splits of their parts would."""
        where = np.flatnonzero(each.possible)
        form = self._forms[each.feature]
        if not len(where) or form is None:
            return
        each.total[where] = each.own[where]
        branch_of = form.branches(each.positions[where], None if each.order is None else each.order[where])
        parts, parent = self._ground.tried(nodes.only(where), each.feature, branch_of, int(branch_of.max()) + 1)
        enough = parts.classes.sum(axis=1) >= self._ground.least_to_split
        open_ = np.flatnonzero(enough & ((parts.classes > 0).sum(axis=1) > 1))
        gains, information = self._best_below(parts.only(open_))
        np.add.at(each.total, where[parent[open_]], gains)
        np.add.at(each.information, where[parent[open_]], information)

    def _best_below(self, parts: Nodes) -> tuple[Counts, Counts]:
        """What the split that each node would take by itself gains, and that split's own information."""
        n = len(parts.ids)
        rows, nothing = np.arange(n), np.zeros((1, n), dtype=np.int64)
        self._engine.expect(parts.ids, parts.ids[:0])
        gains, information = [nothing], [nothing]
        for f, form in enumerate(self._forms):
            if form is None or not n:
                continue
            look = Look.at(self._engine, parts, f, form)
            kept = self._ground.kept(parts, f, form, look)
            top = form.choose(look.gains, kept)
            gains.append(np.where(kept[rows, top], look.gains[rows, top], 0)[None])
            if self._score.by_ratio:
                information.append(self._score.split_information(form.sizes(look.counts, top, look.order))[None])
        gain = self._score.evident(np.concatenate(gains), parts.classes)
        if not self._score.by_ratio:
            return gain.max(axis=0), nothing[0]
        info = np.concatenate(information)
        # the first row is no split at all
        picked = np.maximum(self._score.pick(gain, info, parts.classes.sum(axis=1)), 0)
        return gain[picked, rows], np.where(picked > 0, info[picked, rows], 0)


def _several_parts(counts: Counts, branch_of: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether the people of each node take more than one branch."""
    taken = np.zeros((len(counts), int(branch_of.max(initial=0)) + 1), dtype=bool)
    node, code = np.nonzero(counts.any(axis=2))
    taken[node, branch_of[node, code]] = True
    several: NDArray[np.bool_] = taken.sum(axis=1) > 1
    return several
