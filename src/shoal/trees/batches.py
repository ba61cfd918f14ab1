# SPDX-License-Identifier: Apache-2.0
"""Growing with private columns besides the target, for k-anonymity alone: as the one queue, but many nodes at a time.

The target is private, so every span has several bins from the start and a private test sets nobody apart: it is never
refused. Only public tests compete for the people of a span.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal._threads import side_by_side
from shoal.engines import Engine
from shoal.engines.base import Counts, Ids
from shoal.privacy import KAnonymity
from shoal.release.parse import MAX_DEPTH
from shoal.trees.forms import Form, form_of
from shoal.trees.limits import Cells, SpanLimits
from shoal.trees.offers import Offer, offer_of
from shoal.trees.score import Order, Score
from shoal.trees.spans import SpanBook
from shoal.trees.split import GrownNode, Hopeless, Split
from shoal.trees.veto import Veto

SHARE = 2  # of the nodes that wait for a public split, one in so many is taken together; fewer make no better trees


@dataclass
class Cell:
    """The spans that reach some nodes: those that the same public tests lead to."""

    spans: Ids


@dataclass
class Waiting:
    """An open node: who is in it, its cell, and the best split when it was last looked at."""

    node: int
    id: int
    cell: Cell
    split: Split | None = None
    branch_of: NDArray[np.int32] | None = None
    value: int = 0


class Batches:
    """Split private tests at once, public ones best gain first, a batch at a time.

    A node's best split is that of the highest gain among private tests and the public tests that keep k for every span
    that reaches the node. A private one is made at once: nothing that happens elsewhere can stop or better it. The
    public ones wait in a queue; the best of them are taken together, as far as they share no span, and one that is no
    longer allowed is looked at again.
    """

    def __init__(
        self,
        engine: Engine,
        score: Score,
        book: SpanBook,
        *,
        least_people: int,
        grouping: str | None = None,
        max_depth: int = MAX_DEPTH,
        hopeless: Hopeless | None = None,
    ) -> None:
        self._engine = engine
        self._score = score
        self._book = book
        self._max_depth = max_depth
        self._hopeless = hopeless
        self._forms = [form_of(feature, score, grouping) for feature in engine.features]
        self._limits = SpanLimits(engine, self._forms, least_people)
        self._anything = Veto(KAnonymity(1), [])
        self._grown: list[GrownNode] = []
        self._heap: list[tuple[int, int]] = []  # −gain, node
        self._waiting: dict[int, Waiting] = {}

    def grow(self) -> list[GrownNode]:
        """Split until no open node has a split that gains and keeps k."""
        root = np.zeros(1, dtype=np.int64)
        self._grown.append(GrownNode(0, self._engine.node_classes(root)[0]))
        nodes = [Waiting(0, 0, Cell(self._book.root))]
        while nodes or self._heap:
            at_once = self._look(nodes)
            ready, refused = self._take(-(-len(self._heap) // SHARE))
            nodes = [*self._split([*at_once, *ready]), *refused]
        return self._grown

    def _take(self, n_nodes: int) -> tuple[list[Waiting], list[Waiting]]:
        """The best nodes that wait, as far as they share no span: those whose split is still allowed, and the others.

        Spans only ever get smaller, so a best split that is still allowed is still the best.
        """
        ready: list[Waiting] = []
        refused: list[Waiting] = []
        back: list[Waiting] = []
        self._limits.add(self._book.n_spans)
        touched = np.zeros(self._book.n_spans, dtype=bool)
        for _ in range(n_nodes):
            each = self._waiting.pop(heapq.heappop(self._heap)[1])
            each.cell.spans = spans = self._book.current(each.cell.spans)
            assert each.split is not None
            if touched[spans].any():
                back.append(each)
            elif self._limits.allows(each.split, spans):
                touched[spans] = True
                ready.append(each)
            else:
                refused.append(each)
        for each in back:
            self._wait(each)
        return ready, refused

    def _wait(self, each: Waiting) -> None:
        self._waiting[each.node] = each
        heapq.heappush(self._heap, (-each.value, each.node))

    def _look(self, nodes: list[Waiting]) -> list[Waiting]:
        """Find the best split of open nodes and queue those with a public one; the others."""
        if nodes:
            self._find(nodes)
        at_once = []
        for each in nodes:
            if each.split is None:
                continue
            if self._engine.features[each.split.feature].public:
                self._wait(each)
            else:
                at_once.append(each)
        return at_once

    def _find(self, nodes: list[Waiting]) -> None:
        ids = np.array([each.id for each in nodes], dtype=np.int64)
        self._engine.expect(ids, self._limits.new(self._book.n_spans))
        self._limits.add(self._book.n_spans)
        cells = self._cells(nodes)
        usable = [(f, form) for f, form in enumerate(self._forms) if form is not None]
        people = sum(int(self._grown[each.node].counts.sum()) for each in nodes)
        offers = side_by_side(lambda each: self._offer(ids, cells, *each), usable, rows=people)
        for each in nodes:
            each.split = None
        if not offers:
            return
        classes = np.stack([self._grown[each.node].counts for each in nodes])
        gains = self._score.evident(np.stack([offer.gains for offer in offers]), classes)
        picked = self._score.pick(gains, None, classes.sum(axis=1))
        for number, ((f, form), offer) in enumerate(zip(usable, offers, strict=True)):
            here = np.flatnonzero(picked == number)
            if not len(here):
                continue
            order = None if offer.order is None else offer.order[here]
            branches = form.branches(offer.positions[here], order)
            for i, at in enumerate(here.tolist()):
                own = None if order is None else order[i]
                nodes[at].split = form.split(f, int(offer.positions[at]), own)
                nodes[at].branch_of = branches[i]
                nodes[at].value = int(gains[number, at])

    def _cells(self, nodes: list[Waiting]) -> Cells:
        """The cells of nodes, each brought up to date once."""
        number: dict[int, int] = {}
        cells: list[Cell] = []
        for each in nodes:
            if id(each.cell) not in number:
                number[id(each.cell)] = len(cells)
                cells.append(each.cell)
                each.cell.spans = self._book.current(each.cell.spans)
        sizes = [len(cell.spans) for cell in cells]
        return Cells(
            np.array([number[id(each.cell)] for each in nodes], dtype=np.int64),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([cell.spans for cell in cells]),
        )

    def _offer(self, ids: Ids, cells: Cells, f: int, form: Form) -> Offer:
        def best(counts: Counts, order: Order | None, piece: slice) -> tuple[Counts, Counts]:
            if self._engine.features[f].public:
                return self._best_allowed(counts, order, cells.of(piece), f, form)
            return form.best(counts, order, self._anything)

        return offer_of(self._engine, self._score, ids, f, form, best)

    def _best_allowed(
        self, counts: Counts, order: Order | None, cells: Cells, f: int, form: Form
    ) -> tuple[Counts, Counts]:
        allowed = ~self._limits.blocked(f, cells, order)
        gains = form.gains(counts, order)
        top = form.choose(gains, allowed)
        rows = np.arange(len(gains))
        return np.where(allowed[rows, top], gains[rows, top], 0), top

    def _split(self, nodes: list[Waiting]) -> list[Waiting]:
        """Make the splits that were found for some nodes; the children worth looking at."""
        opened: list[Waiting] = []
        by_feature: dict[int, list[Waiting]] = {}
        for each in nodes:
            assert each.split is not None
            by_feature.setdefault(each.split.feature, []).append(each)
        for f, made in sorted(by_feature.items()):
            public = self._engine.features[f].public
            branch_of = np.stack([each.branch_of for each in made if each.branch_of is not None])
            n_branches = int(branch_of.max()) + 1
            children = self._engine.split_nodes(np.array([each.id for each in made]), f, branch_of, n_branches)
            if public:
                reaches = self._book.split_many([each.cell.spans for each in made], f, branch_of, n_branches)
            for i, each in enumerate(made):
                parent = self._grown[each.node]
                parent.split = each.split
                for branch, child in enumerate(children[i].tolist()):
                    if public and len(reaches[i][branch]):
                        cell = Cell(reaches[i][branch])  # even if nobody of this node goes there
                    elif not public and child >= 0:
                        cell = each.cell
                    else:
                        continue
                    number = parent.children[branch] = len(self._grown)
                    self._grown.append(GrownNode(parent.depth + 1, np.zeros_like(parent.counts)))
                    if child >= 0:
                        opened.append(Waiting(number, child, cell))
        return self._worth(opened)

    def _worth(self, nodes: list[Waiting]) -> list[Waiting]:
        """Count new nodes by class; those that may have a split."""
        counts = self._engine.node_classes(np.array([each.id for each in nodes], dtype=np.int64))
        for each, own in zip(nodes, counts, strict=True):
            self._grown[each.node].counts = own
        worth = (counts > 0).sum(axis=1) > 1
        if self._hopeless is not None:
            worth &= ~self._hopeless(counts)
        return [
            each
            for each, good in zip(nodes, worth, strict=True)
            if good and self._grown[each.node].depth < self._max_depth
        ]
