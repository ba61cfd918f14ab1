# SPDX-License-Identifier: Apache-2.0
"""kADET: grow a tree and never make a split that breaks the promise.

Two loops, one result. Where the target is the only private column, spans are leaves: what happens in one node does not
concern another, so all open nodes are decided together, one pass over each column a level. With other private columns
a split can break the promise for people who are elsewhere, so candidates wait in one queue and are taken best first.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from shoal.engines import Engine, Feature
from shoal.engines.base import Ids
from shoal.release.parse import MAX_DEPTH
from shoal.trees.score import Score
from shoal.trees.spans import SpanBook, root_refusal
from shoal.trees.split import GrownNode, Split
from shoal.trees.veto import Veto

Counts = NDArray[np.int64]
MOST_CELLS = 1 << 23  # counts of one feature held at once


def grow_by_rounds(
    engine: Engine, score: Score, veto: Veto, *, least_people: int, max_depth: int = MAX_DEPTH
) -> list[GrownNode]:
    """Grow with leaves as spans: decide every open node of a level at once.

    The target must be the only private column, and `veto`'s sensitive column 0 is the target.
    A node is decided as the queue would: each feature stands at its finest level that keeps the requirement, and the
    highest gain wins. That is the same because a coarser level never gains more than a finer one.
    """
    root = engine.node_classes(np.zeros(1, dtype=np.int64))
    if not all(veto.kept(_as_asked(root, by), by).all() for by in veto.questions):
        raise root_refusal(engine.n_people)
    grown = [GrownNode(0, root[0])]
    open_ids, open_nodes = np.zeros(1, dtype=np.int64), [0]
    while len(open_ids) and grown[open_nodes[0]].depth < max_depth:
        splits: list[Split | None] = []
        step = max(1, MOST_CELLS // _widest(engine))
        for first in range(0, len(open_ids), step):
            splits += _best_splits(engine, score, veto, open_ids[first : first + step])
        open_ids, open_nodes = _apply_round(engine, grown, open_ids, open_nodes, splits, least_people)
    return grown


def _best_splits(engine: Engine, score: Score, veto: Veto, ids: Ids) -> list[Split | None]:
    """For each node the gainful split that keeps the requirement; ties go to the earlier feature."""
    best = np.zeros(len(ids), dtype=np.int64)
    chosen = np.full(len(ids), -1)
    position = np.zeros(len(ids), dtype=np.int64)  # of the chosen feature: a level, or a cut and where missing goes
    for f, feature in enumerate(engine.features):
        counts = engine.node_counts(ids, f)
        offers = _level_offers if feature.levels is not None else _cut_offers
        for where, gains, offered in offers(counts, feature, score, veto):
            better = gains > best[where]
            won = where[better]
            best[won], chosen[won], position[won] = gains[better], f, offered[better]
    picks = zip(chosen.tolist(), position.tolist(), strict=True)
    return [None if f < 0 else _split_at(engine.features[f], f, at) for f, at in picks]


Offer = tuple[NDArray[np.intp], Counts, NDArray[np.intp]]  # nodes, gains, positions


def _level_offers(counts: Counts, feature: Feature, score: Score, veto: Veto) -> Iterable[Offer]:
    """Each node's finest level that keeps the requirement."""
    assert feature.levels is not None
    undecided = np.arange(len(counts))
    for level, group_of in enumerate(feature.levels.maps):
        grouped = score.groups(counts[undecided], group_of, len(feature.levels.labels[level]))
        kept = np.ones(len(undecided), dtype=bool)
        for by in veto.questions:
            kept &= veto.kept(_as_asked(grouped, by), by).all(axis=1)
        if kept.any():
            decided = undecided[kept]
            yield decided, score.gains(grouped[kept]), np.full(len(decided), level)
        undecided = undecided[~kept]
        if not len(undecided):
            return


def _cut_offers(counts: Counts, feature: Feature, score: Score, veto: Veto) -> Iterable[Offer]:
    """Each node's best cut among those that keep the requirement; ties go to the lower cut."""
    if feature.n_known < 2:
        return
    gains = score.threshold_gains(counts, feature.n_known)
    for by in veto.questions:
        gains = np.where(veto.cuts_kept(_as_asked(counts, by), feature.n_known, by), gains, 0)
    flat = gains.reshape(len(gains), -1)
    top = flat.argmax(axis=1)
    yield np.arange(len(counts)), flat[np.arange(len(flat)), top], top


def _split_at(feature: Feature, f: int, position: int) -> Split:
    """The split that a position of a feature stands for."""
    if feature.levels is not None:
        return Split(f, level=position)
    sides = 1 + feature.missing
    return Split(f, cut=position // sides, missing_low=bool(position % sides))


def _apply_round(
    engine: Engine,
    grown: list[GrownNode],
    ids: Ids,
    nodes: list[int],
    splits: list[Split | None],
    least_people: int,
) -> tuple[Ids, list[int]]:
    """Make the chosen splits, feature by feature, and return the children worth looking at."""
    new_ids: list[int] = []
    new_nodes: list[int] = []
    by_feature: dict[int, list[tuple[int, Split]]] = {}
    for i, split in enumerate(splits):
        if split is not None:
            by_feature.setdefault(split.feature, []).append((i, split))
    for f, made in sorted(by_feature.items()):
        feature = engine.features[f]
        n_branches = max(split.n_branches(feature) for _, split in made)
        branch_of = np.stack([split.branch_of(feature) for _, split in made])
        children = engine.split_nodes(ids[[i for i, _ in made]], f, branch_of, n_branches)
        for (i, split), row in zip(made, children.tolist(), strict=True):
            parent = grown[nodes[i]]
            parent.split = split
            for branch, child in enumerate(row):
                if child >= 0:
                    parent.children[branch] = len(grown)
                    new_ids.append(child)
                    new_nodes.append(len(grown))
                    grown.append(GrownNode(parent.depth + 1, parent.counts))
    found = np.array(new_ids, dtype=np.int64)
    counts = engine.node_classes(found)
    for node, own in zip(new_nodes, counts, strict=True):
        grown[node].counts = own
    people = counts.sum(axis=1)
    # a node of one class gains nothing; one of fewer than twice the least group has no two groups to split into
    worth = (counts.max(axis=1, initial=0) < people) & (people >= 2 * least_people)
    return found[worth], [new_nodes[i] for i in np.flatnonzero(worth)]


class Queue:
    """Grow with any roles: one queue of candidate splits for all leaves, best gain first (PKDD'06 Algorithm 1).

    The gain of a candidate is that of all people in its node together, so that a split of many comes before one of few.
    """

    def __init__(
        self,
        engine: Engine,
        score: Score,
        book: SpanBook,
        *,
        max_depth: int = MAX_DEPTH,
        max_leaves: int | None = None,
    ) -> None:
        self._engine = engine
        self._score = score
        self._book = book
        self._max_depth = max_depth
        self._max_leaves = engine.n_people if max_leaves is None else max_leaves
        self._n_leaves = 1  # those that somebody is in
        self._heap: list[tuple[int, int, int, int]] = []  # −gain, node, feature, level or cut position
        self._gains: dict[tuple[int, int], Counts] = {}  # of every level or cut of a feature in a node
        self._grown: list[GrownNode] = []
        self._ids: list[int] = []  # the engine's number of each grown node; −1 where nobody is
        self._reach: list[Ids] = []

    def grow(self) -> list[GrownNode]:
        """Take the best candidate until none is left that gains."""
        root = np.zeros(1, dtype=np.int64)
        self._grown.append(GrownNode(0, self._engine.node_classes(root)[0]))
        self._ids.append(0)
        self._reach.append(self._book.root)
        self._open([0])
        while self._heap and self._n_leaves < self._max_leaves:
            _, node, f, position = heapq.heappop(self._heap)
            if self._grown[node].split is None:
                self._reach[node] = self._book.current(self._reach[node])
                self._consider(node, f, position)
        return self._grown

    def _consider(self, node: int, f: int, position: int) -> None:
        """Split if the promise allows it; else offer the next best form of the same feature."""
        feature, reach = self._engine.features[f], self._reach[node]
        gains = self._gains[node, f]
        if not feature.public:
            if self._book.keeps_private(reach):
                self._split(node, _split_at(feature, f, position))
        elif feature.levels is not None:
            split = Split(f, level=position)
            if self._book.keeps_public(reach, f, split.branch_of(feature), split.n_branches(feature)):
                self._split(node, split)
            elif position + 1 < len(gains):
                self._offer(node, f, position + 1)
        else:
            kept = np.where(self._book.cuts_kept(reach, f), gains, 0).reshape(-1)
            best = int(kept.argmax())
            if kept[best] and best == position:
                self._split(node, _split_at(feature, f, position))
            elif kept[best]:
                self._offer(node, f, best)

    def _offer(self, node: int, f: int, position: int) -> None:
        """Put a candidate into the queue unless it gains nothing."""
        gain = int(self._gains[node, f].reshape(-1)[position])
        if gain > 0:
            heapq.heappush(self._heap, (-gain, node, f, position))

    def _split(self, node: int, split: Split) -> None:
        feature = self._engine.features[split.feature]
        branch_of, n_branches = split.branch_of(feature), split.n_branches(feature)
        parent, reach = self._grown[node], self._reach[node]
        counts = self._engine.node_counts(np.array([self._ids[node]]), split.feature)
        n_taken = len(np.unique(branch_of[counts[0].any(axis=1)]))
        if self._n_leaves + n_taken - 1 > self._max_leaves:
            return
        self._n_leaves += n_taken - 1
        parent.split = split
        ids = self._engine.split_nodes(np.array([self._ids[node]]), split.feature, branch_of[None], n_branches)[0]
        if feature.public:
            reaches = self._book.split_public(reach, split.feature, branch_of, n_branches)
            taken = [branch for branch in range(n_branches) if len(reaches[branch])]
        else:
            self._book.split_private(reach)
            reaches = [reach] * n_branches
            taken = [branch for branch in range(n_branches) if ids[branch] >= 0]
        opened = []
        nobody = np.zeros(self._engine.n_classes, dtype=np.int64)
        for branch in taken:
            parent.children[branch] = len(self._grown)
            if ids[branch] >= 0:
                opened.append(len(self._grown))
            self._grown.append(GrownNode(parent.depth + 1, nobody))
            self._ids.append(int(ids[branch]))
            self._reach.append(reaches[branch])
        for f in range(len(self._engine.features)):
            self._gains.pop((node, f), None)
        own_counts = self._engine.node_classes(np.array([self._ids[child] for child in opened], dtype=np.int64))
        for child, own in zip(opened, own_counts, strict=True):
            self._grown[child].counts = own
        self._open(opened)

    def _open(self, nodes: list[int]) -> None:
        """Score every split of new nodes and queue the best form of each feature."""
        nodes = [
            n for n in nodes if np.count_nonzero(self._grown[n].counts) > 1 and self._grown[n].depth < self._max_depth
        ]
        if not nodes:
            return
        ids = np.array([self._ids[node] for node in nodes], dtype=np.int64)
        for f, feature in enumerate(self._engine.features):
            counts = self._engine.node_counts(ids, f)
            if feature.levels is not None:
                levels = feature.levels
                gains = np.stack(
                    [
                        self._score.gains(self._score.groups(counts, group_of, len(labels)))
                        for group_of, labels in zip(levels.maps, levels.labels, strict=True)
                    ],
                    axis=1,
                )
            elif feature.n_known > 1:
                gains = self._score.threshold_gains(counts, feature.n_known)
            else:
                continue
            for node, own in zip(nodes, gains, strict=True):
                if own.max(initial=0) > 0:
                    self._gains[node, f] = own
                    self._offer(node, f, 0 if feature.levels is not None else int(own.reshape(-1).argmax()))


def _as_asked(counts: Counts, by: int | None) -> Counts:
    """Counts by class as a question wants them: sizes alone, or as they are."""
    return counts.sum(axis=-1, keepdims=True) if by is None else counts


def _widest(engine: Engine) -> int:
    return max((feature.n_codes for feature in engine.features), default=1) * engine.n_classes
