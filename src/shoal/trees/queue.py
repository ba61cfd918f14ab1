# SPDX-License-Identifier: Apache-2.0
"""Growing with any roles: one queue of candidate splits for all leaves, best gain first (PKDD'06 Algorithm 1).

With private columns besides the target, a split can break the promise for people who are elsewhere in the tree, so
nodes cannot be decided one by one.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from shoal.engines import Engine
from shoal.engines.base import Ids
from shoal.release.parse import MAX_DEPTH
from shoal.trees.forms import form_of
from shoal.trees.lookahead import Lookahead, Nodes, SpanGround
from shoal.trees.people import first_kept
from shoal.trees.score import Score
from shoal.trees.spans import SpanBook
from shoal.trees.split import GrownNode, Hopeless, Split

Counts = NDArray[np.int64]


class Queue:
    """The one queue. A candidate's gain is that of all people in its node together: a split of many before one of few
    (by gain ratio: as it is).

    A candidate that would break the promise comes back as the best form of the same feature in the same node that would
    not: the next level of a hierarchy, the next best cut. When it is taken out again, it is looked at again, since
    other splits may have come in between. With `lookahead`, a candidate's gain includes what the best splits of its
    parts would gain, as things stand when its node is made.
    """

    def __init__(
        self,
        engine: Engine,
        score: Score,
        book: SpanBook,
        *,
        grouping: str | None = None,
        max_depth: int = MAX_DEPTH,
        max_leaves: int | None = None,
        hopeless: Hopeless | None = None,
        lookahead: int = 0,
    ) -> None:
        self._engine = engine
        self._score = score
        self._book = book
        self._max_depth = max_depth
        self._hopeless = hopeless
        self._max_leaves = engine.n_people if max_leaves is None else max_leaves
        self._n_leaves = 1  # those that somebody is in
        self._forms = [form_of(feature, score, grouping) for feature in engine.features]
        ground = SpanGround(engine, book)
        self._lookahead = Lookahead(engine, score, self._forms, ground) if lookahead else None
        # −value, −gain by itself (where they differ), node, feature, position
        self._heap: list[tuple[float, int, int, int, int]] = []
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
            _, _, node, f, position = heapq.heappop(self._heap)
            if self._grown[node].split is None:
                self._reach[node] = self._book.current(self._reach[node])
                self._consider(node, f, position)
        return self._grown

    def _consider(self, node: int, f: int, position: int) -> None:
        """Split if the promise allows it; else offer the best form of the same feature that it allows."""
        feature, reach, form = self._engine.features[f], self._reach[node], self._forms[f]
        assert form is not None
        if not feature.public:
            if self._book.keeps_private(reach):
                counts = self._engine.node_counts(np.array([self._ids[node]]), f)
                order = form.order(counts)
                self._split(node, form.split(f, position, None if order is None else order[0]), counts)
            return
        counts = self._engine.node_counts(np.array([self._ids[node]]), f)
        order = form.order(counts)
        gains = form.gains(counts, order)
        possible = self._book.possible(reach, f, form, order, gains.shape[1])
        if possible[position] and self._book.keep(reach, f, form.branches(np.array([position]), order))[0]:
            self._split(node, form.split(f, position, None if order is None else order[0]), counts)
            return
        if self._looks_ahead(node):
            self._open_far(node, [f])
            return
        found, top = first_kept(
            form, gains, possible[None], order, lambda _, branch_of: self._book.keep(reach, f, branch_of)
        )
        best = int(top[0])
        gains = self._score.evident(gains.T, self._grown[node].counts[None]).T
        if found[0] and gains[0, best]:
            value: float = int(gains[0, best])
            if self._score.by_ratio:
                sizes = form.sizes(counts, np.array([best]), order)
                value = value / max(int(self._score.split_information(sizes)[0]), 1)
            heapq.heappush(self._heap, (-value, 0, node, f, best))

    def _split(self, node: int, split: Split, counts: Counts) -> None:
        feature = self._engine.features[split.feature]
        branch_of, n_branches = split.branch_of(feature), split.n_branches(feature)
        parent, reach = self._grown[node], self._reach[node]
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
        own_counts = self._engine.node_classes(np.array([self._ids[child] for child in opened], dtype=np.int64))
        for child, own in zip(opened, own_counts, strict=True):
            self._grown[child].counts = own
        self._open(opened)

    def _open(self, nodes: list[int]) -> None:
        """Score every split of new nodes and queue the best of each feature."""
        nodes = [n for n in nodes if np.count_nonzero(self._grown[n].counts) > 1]
        nodes = [n for n in nodes if self._grown[n].depth < self._max_depth]
        if nodes and self._hopeless is not None:
            closed = self._hopeless(np.stack([self._grown[n].counts for n in nodes]))
            nodes = [n for n, no in zip(nodes, closed, strict=True) if not no]
        for node in [n for n in nodes if self._looks_ahead(n)]:
            self._open_far(node)
        nodes = [n for n in nodes if not self._looks_ahead(n)]
        if not nodes:
            return
        ids = np.array([self._ids[node] for node in nodes], dtype=np.int64)
        self._engine.expect(ids, ids[:0])
        usable = [(f, form) for f, form in enumerate(self._forms) if form is not None]
        gains = np.zeros((len(usable), len(nodes)), dtype=np.int64)
        positions = np.zeros((len(usable), len(nodes)), dtype=np.int64)
        information = np.zeros((len(usable), len(nodes)), dtype=np.int64)
        for i, (f, form) in enumerate(usable):
            counts = self._engine.node_counts(ids, f)
            order = form.order(counts)
            own = form.gains(counts, order)
            positions[i] = form.choose(own, np.ones(own.shape, dtype=bool))
            gains[i] = own[np.arange(len(nodes)), positions[i]]
            if self._score.by_ratio:
                information[i] = self._score.split_information(form.sizes(counts, positions[i], order))
        classes = np.stack([self._grown[node].counts for node in nodes])
        gains = self._score.evident(gains, classes)
        values = self._score.ratios(gains, information, classes.sum(axis=1)) if self._score.by_ratio else gains
        for i, j in zip(*np.nonzero(values > 0), strict=True):
            heapq.heappush(self._heap, (-values[i, j].item(), 0, nodes[j], usable[i][0], int(positions[i, j])))

    def _looks_ahead(self, node: int) -> bool:
        """Whether a node's splits are judged together with splits below: not where none may follow."""
        return self._lookahead is not None and self._grown[node].depth + 1 < self._max_depth

    def _open_far(self, node: int, features: list[int] | None = None) -> None:
        """Queue the splits of a node (of some features), judged together with the splits below them."""
        assert self._lookahead is not None
        nodes = Nodes(np.array([self._ids[node]]), self._grown[node].counts[None], [self._reach[node]])
        candidates = self._lookahead.weighed(nodes, features)
        if not candidates:
            return
        for each, value in zip(candidates, self._lookahead.values(nodes, candidates)[:, 0], strict=True):
            if value > 0:
                entry = (-float(value), -int(each.own[0]), node, each.feature, int(each.positions[0]))
                heapq.heappush(self._heap, entry)
