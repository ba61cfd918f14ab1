# SPDX-License-Identifier: Apache-2.0
"""Growing with leaves as spans: the target is the only private column, so all open nodes are decided together.

What happens in one node does not concern another. One pass over each column a level, features side by side on all
cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines import Engine
from shoal.engines.base import Ids
from shoal.release.parse import MAX_DEPTH
from shoal.trees.forms import Cuts, Form, Levels, form_of
from shoal.trees.score import Score
from shoal.trees.search import Search
from shoal.trees.spans import root_refusal
from shoal.trees.split import GrownNode, Split
from shoal.trees.veto import Veto

Counts = NDArray[np.int64]
MANY_PEOPLE = 200_000
CELLS_AT_ONCE = 1 << 17  # counts of one feature looked at in one piece: what a core's cache holds


class Rounds:
    """Grow level by level.

    A node is decided as the queue would decide it: each feature stands at its best position that keeps the requirement,
    and the highest gain wins; ties go to the earlier feature.

    Parameters
    ----------
    veto
        The requirement; its sensitive column 0 is the target.
    least_people
        People that any group has that keeps the requirement.
    features
        The features to split on; None: all.
    search
        Where to ask for better splits of large nodes; None: the highest gain wins everywhere.
    """

    def __init__(
        self,
        engine: Engine,
        score: Score,
        veto: Veto,
        *,
        least_people: int,
        grouping: str | None = None,
        max_depth: int = MAX_DEPTH,
        features: Collection[int] | None = None,
        search: Search | None = None,
    ) -> None:
        self._engine = engine
        self._score = score
        self._veto = veto
        self._least = least_people
        self._max_depth = max_depth
        self._forms = [
            form_of(feature, score, grouping) if features is None or f in features else None
            for f, feature in enumerate(engine.features)
        ]
        self._search = search
        self._grown: list[GrownNode] = []

    def grow(self) -> list[GrownNode]:
        """Split until no open node has a split that gains and keeps the requirement."""
        root = self._engine.node_classes(np.zeros(1, dtype=np.int64))
        if not all(self._veto.kept(as_asked(root, by), by).all() for by in self._veto.questions):
            raise root_refusal(self._engine.n_people)
        return self.grow_from([GrownNode(0, root[0], id=0)])

    def grow_from(self, starts: list[GrownNode]) -> list[GrownNode]:
        """The same below some nodes of one depth, which the engine knows; they come first in what is returned."""
        self._grown = list(starts)
        ids, nodes = np.array([start.id for start in starts], dtype=np.int64), list(range(len(starts)))
        depth = starts[0].depth if starts else 0
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            # kernels run side by side; for few people the Python around them is more than they are
            side_by_side = threads.map if self._engine.n_people >= MANY_PEOPLE else map
            while len(ids) and depth < self._max_depth:
                ids, nodes = self._apply(ids, nodes, self._best_splits(ids, nodes, side_by_side))
                depth += 1
        return self._grown

    def _best_splits(
        self, ids: Ids, nodes: list[int], side_by_side: Callable[..., Iterable[Any]]
    ) -> list[Split | None]:
        usable = [(f, form) for f, form in enumerate(self._forms) if form is not None]
        offers = list(side_by_side(lambda each: self._offers(ids, *each), usable))
        choice: list[Split | None] = [None] * len(ids)
        if not offers:
            return choice
        information = np.stack([offer[3] for offer in offers]) if self._score.by_ratio else None
        gains = np.stack([offer[0] for offer in offers])
        picked = self._score.pick(gains, information)

        def split_of(node: int, number: int) -> Split:
            (f, form), (_, positions, order, _) = usable[number], offers[number]
            return form.split(f, int(positions[node]), None if order is None else order[node])

        for node in np.flatnonzero(picked >= 0).tolist():
            choice[node] = split_of(node, picked[node])
        if self._search is None:
            return choice
        for node in self._search.large(np.array([self._grown[n].counts.sum() for n in nodes])):
            if picked[node] >= 0:
                tried = [split_of(node, number) for number in self._search.tried(gains[:, node], int(picked[node]))]
                ways = [(split.feature, split.branch_of(self._engine.features[split.feature])) for split in tried]
                choice[node] = tried[self._search.best(int(ids[node]), ways)]
        return choice

    def _offers(self, ids: Ids, f: int, form: Form) -> tuple[Counts, Counts, NDArray[np.intp] | None, Counts]:
        """The best of one feature for every node: gains, positions, the values' order (where a form makes one) and
        the splits' own information (where it is asked for)."""
        width = self._engine.features[f].n_codes * self._engine.n_classes
        step = max(1, CELLS_AT_ONCE // width)
        gains = np.zeros(len(ids), dtype=np.int64)
        positions = np.zeros(len(ids), dtype=np.int64)
        information = np.zeros(len(ids), dtype=np.int64)
        orders = []
        for first in range(0, len(ids), step):
            piece = slice(first, min(first + step, len(ids)))
            counts = self._engine.node_counts(ids[piece], f)
            order = form.order(counts)
            if order is not None:
                orders.append(order)
            gains[piece], positions[piece] = self._best(form, f, counts, order)
            if self._score.by_ratio:
                sizes = form.sizes(counts, positions[piece], order)
                information[piece] = self._score.split_information(sizes)
        return gains, positions, np.concatenate(orders) if orders else None, information

    def _best(self, form: Form, f: int, counts: Counts, order: NDArray[np.intp] | None) -> tuple[Counts, Counts]:
        if type(form) is Cuts and self._veto.only_sizes:
            gain, position = self._score.best_cuts(counts, self._engine.features[f].n_known, self._least)
            return form.less_choice(gain, counts), position
        if isinstance(form, Levels):
            return form.finest(counts, as_asked, self._veto)
        gains = form.gains(counts, order)
        kept = np.ones(gains.shape, dtype=bool)
        for by in self._veto.questions:
            kept &= form.kept(as_asked(counts, by), order, self._veto, by)
        top = form.choose(gains, kept)
        rows = np.arange(len(gains))
        return np.where(kept[rows, top], gains[rows, top], 0), top

    def _apply(self, ids: Ids, nodes: list[int], splits: list[Split | None]) -> tuple[Ids, list[int]]:
        """Make the chosen splits, feature by feature, and return the children worth looking at."""
        new_ids: list[int] = []
        new_nodes: list[int] = []
        grown = self._grown
        by_feature: dict[int, list[tuple[int, Split]]] = {}
        for i, split in enumerate(splits):
            if split is not None:
                by_feature.setdefault(split.feature, []).append((i, split))
        for f, made in sorted(by_feature.items()):
            feature = self._engine.features[f]
            n_branches = max(split.n_branches(feature) for _, split in made)
            branch_of = np.stack([split.branch_of(feature) for _, split in made])
            children = self._engine.split_nodes(ids[[i for i, _ in made]], f, branch_of, n_branches)
            for (i, split), row in zip(made, children.tolist(), strict=True):
                parent = grown[nodes[i]]
                parent.split = split
                for branch, child in enumerate(row):
                    if child >= 0:
                        parent.children[branch] = len(grown)
                        new_ids.append(child)
                        new_nodes.append(len(grown))
                        grown.append(GrownNode(parent.depth + 1, parent.counts, id=child))
        found = np.array(new_ids, dtype=np.int64)
        counts = self._engine.node_classes(found)
        for node, own in zip(new_nodes, counts, strict=True):
            grown[node].counts = own
        people = counts.sum(axis=1)
        # a node of one class gains nothing; one of fewer than twice the least group has no two groups to split into
        worth = (counts.max(axis=1, initial=0) < people) & (people >= 2 * self._least)
        return found[worth], [new_nodes[i] for i in np.flatnonzero(worth)]


def as_asked(counts: Counts, by: int | None) -> Counts:
    """Counts by class as a question wants them: sizes alone, or as they are."""
    return counts.sum(axis=-1, keepdims=True) if by is None else counts
