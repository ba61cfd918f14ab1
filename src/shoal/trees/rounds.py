# SPDX-License-Identifier: Apache-2.0
"""Growing with leaves as spans: the target is the only private column, so all open nodes are decided together.

What happens in one node does not concern another. One pass over each column a level, features side by side on all
cores.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from shoal._threads import side_by_side
from shoal.engines import Engine
from shoal.engines.base import Ids
from shoal.release.parse import MAX_DEPTH
from shoal.trees.forms import Cuts, Form, form_of
from shoal.trees.lookahead import Chosen, Lookahead, NodeGround
from shoal.trees.offers import Offer, offer_of
from shoal.trees.people import PeopleVeto, best_kept
from shoal.trees.score import Order, Score
from shoal.trees.search import Search
from shoal.trees.spans import root_refusal
from shoal.trees.split import GrownNode, Hopeless
from shoal.trees.veto import Veto

Counts = NDArray[np.int64]


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
    hopeless
        Tells by their class counts which nodes need not be looked at, since pruning would make them leaves anyway.
    features
        The features to split on; None: all.
    search
        Where to ask for better splits of large nodes; None: the highest gain wins everywhere, as it does where some
        feature splits by a hierarchy.
    lookahead
        1: weigh a split together with the best splits of its parts.
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
        hopeless: Hopeless | None = None,
        features: Collection[int] | None = None,
        search: Search | None = None,
        lookahead: int = 0,
    ) -> None:
        self._engine = engine
        self._score = score
        self._veto = veto
        self._people = PeopleVeto.of(engine, veto, least_people)
        self._least = least_people
        self._max_depth = max_depth
        self._hopeless = hopeless
        self._forms = [
            form_of(feature, score, grouping) if features is None or f in features else None
            for f, feature in enumerate(engine.features)
        ]
        # what a search foresees are splits in two; beside those the branches of a hierarchy would look too dear
        in_two = all(form is None or isinstance(form, Cuts) for form in self._forms)
        self._search = search if in_two else None
        ground = NodeGround(engine, veto, least_people, self._people)
        self._lookahead = Lookahead(engine, score, self._forms, ground) if lookahead else None
        self._grown: list[GrownNode] = []

    def grow(self) -> list[GrownNode]:
        """Split until no open node has a split that gains and keeps the requirement."""
        root = self._engine.node_classes(np.zeros(1, dtype=np.int64))
        if self._people is not None:
            kept = bool(self._people.whole_kept(np.zeros(1, dtype=np.int64)).all())
        else:
            kept = all(self._veto.kept(self._veto.asked(root, by), by).all() for by in self._veto.questions)
        if not kept:
            raise root_refusal(self._engine.n_different)
        return self.grow_from([GrownNode(0, root[0], id=0)])

    def grow_from(self, starts: list[GrownNode]) -> list[GrownNode]:
        """The same below some nodes of one depth, which the engine knows; they come first in what is returned."""
        self._grown = list(starts)
        ids, nodes = np.array([start.id for start in starts], dtype=np.int64), list(range(len(starts)))
        depth = starts[0].depth if starts else 0
        while len(ids) and depth < self._max_depth:
            classes = np.stack([self._grown[node].counts for node in nodes])
            if self._lookahead is not None and depth + 1 < self._max_depth:
                chosen = self._lookahead.best_splits(ids, classes)
            else:
                chosen = self._best_splits(ids, classes)
            ids, nodes = self._split(ids, nodes, chosen)
            depth += 1
        return self._grown

    def _best_splits(self, ids: Ids, classes: Counts) -> list[Chosen]:
        """The best split of every node that has one."""
        usable = [(f, form) for f, form in enumerate(self._forms) if form is not None]
        self._engine.expect(ids, ids[:0])
        # kernels run side by side; for few people the Python around them is more than they are
        people = self._engine.n_people
        offers = side_by_side(lambda each: self._offers(ids, *each), usable, rows=people)
        if not offers:
            return []
        information = np.stack([offer.information for offer in offers]) if self._score.by_ratio else None
        gains = self._score.evident(np.stack([offer.gains for offer in offers]), classes)
        picked = self._score.pick(gains, information, classes.sum(axis=1))
        if self._search is not None:
            large = [node for node in self._search.large(classes.sum(axis=1)) if picked[node] >= 0]
            tried = {node: self._search.tried(gains[:, node], int(picked[node])) for node in large}
            tried = {node: own for node, own in tried.items() if len(own) > 1}
            ways = [
                [(usable[i][0], self._branch_of(usable[i][1], offers[i], node)) for i in own]
                for node, own in tried.items()
            ]
            best = self._search.best(ids[list(tried)].tolist(), ways)
            for (node, own), way in zip(tried.items(), best, strict=True):
                picked[node] = own[way]
        chosen = []
        for number, ((f, _), offer) in enumerate(zip(usable, offers, strict=True)):
            here = np.flatnonzero(picked == number)
            if len(here):
                order = None if offer.order is None else offer.order[here]
                chosen.append(Chosen(f, here, offer.positions[here], order))
        return chosen

    @staticmethod
    def _branch_of(form: Form, offer: Offer, node: int) -> NDArray[np.int32]:
        order = None if offer.order is None else offer.order[node : node + 1]
        branch_of: NDArray[np.int32] = form.branches(offer.positions[node : node + 1], order)[0]
        return branch_of

    def _split(self, ids: Ids, nodes: list[int], chosen: list[Chosen]) -> tuple[Ids, list[int]]:
        """Make the splits that were chosen, and return the children worth looking at."""
        new_ids: list[Ids] = [ids[:0]]
        new_nodes: list[int] = []
        for each in chosen:
            f, form, order = each.feature, self._forms[each.feature], each.order
            assert form is not None
            branch_of = form.branches(each.positions, order)
            children = self._engine.split_nodes(ids[each.nodes], f, branch_of, int(branch_of.max()) + 1)
            new_ids.append(children[children >= 0])
            for i, (at, own) in enumerate(zip(each.nodes.tolist(), children.tolist(), strict=True)):
                parent = self._grown[nodes[at]]
                parent.split = form.split(f, int(each.positions[i]), None if order is None else order[i])
                for branch, child in enumerate(own):
                    if child >= 0:
                        parent.children[branch] = len(self._grown)
                        new_nodes.append(len(self._grown))
                        self._grown.append(GrownNode(parent.depth + 1, parent.counts, id=child))
        return self._worth(np.concatenate(new_ids), new_nodes)

    def _offers(self, ids: Ids, f: int, form: Form) -> Offer:
        people = self._people

        def best(counts: Counts, order: Order | None, piece: slice) -> tuple[Counts, Counts]:
            if people is None or self._veto.least == 1:  # whoever is somewhere is one person
                return form.best(counts, order, self._veto)
            own = ids[piece]
            return best_kept(
                form, counts, order, people, lambda nodes, branch_of: people.nodes_keep(own[nodes], f, branch_of)
            )

        return offer_of(self._engine, self._score, ids, f, form, best)

    def _worth(self, ids: Ids, nodes: list[int]) -> tuple[Ids, list[int]]:
        """Count new nodes by class; those that may have a split."""
        counts = self._engine.node_classes(ids)
        for node, own in zip(nodes, counts, strict=True):
            self._grown[node].counts = own
        people = counts.sum(axis=1)
        # a node of one class gains nothing; one of fewer than twice the least group has no two groups to split into
        worth = (counts.max(axis=1, initial=0) < people) & (people >= 2 * self._least)
        if self._hopeless is not None:
            worth &= ~self._hopeless(counts)
        return ids[worth], [nodes[i] for i in np.flatnonzero(worth)]
