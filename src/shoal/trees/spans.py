# SPDX-License-Identifier: Apache-2.0
"""The spans of a growing tree: which sets of people an outsider can tell apart, and which of them reach a node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.engines import Engine
from shoal.engines.base import Ids
from shoal.errors import PromiseError
from shoal.trees.forms import Form
from shoal.trees.people import PeopleVeto, all_kept
from shoal.trees.score import Order
from shoal.trees.veto import Veto


class SpanBook:
    """Keeps the spans of a tree while nodes are split (PKDD'06 Algorithm 1, with the flag of VLDB'08 Sect. 5.1).

    A node's *reach* is the list of spans that hold it. When a public test splits spans, other nodes still list the
    old ones; `current` follows them to what they have become, so that nothing is updated that nobody asks for.

    Parameters
    ----------
    engine
        Where people are counted.
    veto
        The requirement.
    target_is_public
        Then an outsider sees the class, and each class starts as a span of its own.
    strict
        Ask the requirement of single-bin spans too (PKDD'06), though they tell nothing private (VLDB'08 Claim 3).
    least_people
        People that any group has that keeps the requirement.
    """

    def __init__(
        self, engine: Engine, veto: Veto, *, target_is_public: bool, strict: bool, least_people: int = 1
    ) -> None:
        self._engine = engine
        self._veto = veto
        self._people = PeopleVeto.of(engine, veto, least_people)
        self._strict = strict
        self._n_spans = 1
        self._first_child = np.zeros(1, dtype=np.int64)
        self._n_children = np.zeros(1, dtype=np.int64)
        self._multiple = np.array([engine.n_classes > 1])
        self.root = np.zeros(1, dtype=np.int64)
        if target_is_public:
            self._multiple[0] = False
            self.root = self._register(self.root, engine.class_spans()[None])[0]
            self.root = self.root[self.root >= 0]
        failing = ~self._kept_whole(self.root)
        if failing.any():
            raise root_refusal(engine.n_different)

    def current(self, reach: Ids) -> Ids:
        """What the spans of a reach have become."""
        while (split := self._n_children[reach] > 0).any():
            n = np.where(split, self._n_children[reach], 1)
            first = np.where(split, self._first_child[reach], reach)
            offset = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
            reach = np.repeat(first, n) + offset
        return reach

    def kept(self, reach: Ids, f: int, form: Form, order: Order | None, n_positions: int) -> NDArray[np.bool_]:
        """Which positions of a public feature keep the requirement for every span that reaches the node."""
        possible = self.possible(reach, f, form, order, n_positions)
        if self._people is None:
            return possible
        kept = all_kept(form, possible[None], order, lambda _, branch_of: self.keep(reach, f, branch_of))
        return np.asarray(kept[0])

    def possible(self, reach: Ids, f: int, form: Form, order: Order | None, n_positions: int) -> NDArray[np.bool_]:
        """The same; where people have several rows, the positions that rows alone do not refuse."""
        veto = self._veto if self._people is None else self._people.by_rows
        kept = np.ones(n_positions, dtype=bool)
        asked = self._asked(reach)
        for by in veto.questions if len(asked) else []:
            counts = self._engine.span_counts(asked, f, by)
            # the values' order is the node's, for all spans alike
            shared = None if order is None else np.broadcast_to(order, (len(asked), order.shape[1]))
            kept &= form.kept(counts, shared, veto, by).all(axis=0)
        return kept

    def keep(self, reach: Ids, f: int, branch_of: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which possible splits of a public feature (positions × codes) keep it."""
        asked = self._asked(reach)
        if self._people is None or not len(asked):
            return np.ones(len(branch_of), dtype=bool)
        return self._people.spans_keep(asked, f, branch_of)

    def keeps_private(self, reach: Ids) -> bool:
        """Whether a private split keeps it: single-bin spans that reach the node lose their exemption."""
        if self._strict:
            return True
        newly = reach[~self._multiple[reach]]
        return not len(newly) or bool(self._kept(newly).all())

    def split_private(self, reach: Ids) -> None:
        """Record a private split: nobody is told apart, but every span that reaches the node now has several bins."""
        self._multiple[reach] = True

    def split_public(self, reach: Ids, feature: int, branch_of: NDArray[np.int32], n_branches: int) -> list[Ids]:
        """Record a public split; the reach of each branch."""
        return self.split_many([reach], feature, branch_of[None], n_branches)[0]

    def split_many(
        self, reaches: Sequence[Ids], feature: int, branch_of: NDArray[np.int32], n_branches: int
    ) -> list[list[Ids]]:
        """Record public splits of several nodes that share no span, by branch_of[node, code]; reaches by branch."""
        sizes = np.array([len(reach) for reach in reaches])
        spans = np.concatenate(reaches)
        new = self._engine.split_spans(spans, feature, np.repeat(branch_of, sizes, axis=0), n_branches)
        self._register(spans, new)
        return [[own[own >= 0] for own in rows.T] for rows in np.split(new, np.cumsum(sizes)[:-1])]

    @property
    def n_spans(self) -> int:
        """How many spans there have been, split ones included."""
        return self._n_spans

    def try_public(self, reach: Ids, feature: int, branch_of: NDArray[np.int32], n_branches: int) -> list[Ids]:
        """The reach that each branch of a public split would have, until the same spans are split again."""
        branches = np.repeat(branch_of[None], len(reach), axis=0)
        new = self._enter(reach, self._engine.split_spans(reach, feature, branches, n_branches))
        return [column[column >= 0] for column in new.T]

    def _asked(self, reach: Ids) -> Ids:
        """The spans that the requirement is asked of: all, or those of several bins."""
        return reach if self._strict else reach[self._multiple[reach]]

    def _kept_whole(self, reach: Ids) -> NDArray[np.bool_]:
        kept = np.ones(len(reach), dtype=bool)
        where = np.flatnonzero(self._strict | self._multiple[reach])
        if len(where):
            kept[where] = self._kept(reach[where])
        return kept

    def _kept(self, spans: Ids) -> NDArray[np.bool_]:
        if self._people is not None:
            return self._people.whole_kept(spans)
        kept = np.ones(len(spans), dtype=bool)
        for by in self._veto.questions:
            kept &= self._veto.kept(self._engine.span_counts(spans, None, by)[:, 0], by)
        return kept

    def _register(self, parents: Ids, children: Ids) -> Ids:
        """Enter new spans under the ones they came from."""
        self._enter(parents, children)
        self._n_children[parents] = (children >= 0).sum(axis=1)
        self._first_child[parents] = np.where(children >= 0, children, np.iinfo(np.int64).max).min(axis=1)
        return children

    def _enter(self, parents: Ids, children: Ids) -> Ids:
        """Enter new spans; an engine numbers them on, parent by parent."""
        used = children >= 0
        n_new = int(used.sum())
        first, self._n_spans = self._n_spans, self._n_spans + n_new
        if self._n_spans > len(self._multiple):  # doubles, so that many small splits cost no more than one large
            more = np.zeros(self._n_spans, dtype=np.int64)
            self._first_child = np.concatenate([self._first_child, more])
            self._n_children = np.concatenate([self._n_children, more])
            self._multiple = np.concatenate([self._multiple, more > 0])
        self._multiple[first : self._n_spans] = np.repeat(self._multiple[parents], used.sum(axis=1))
        return children


def root_refusal(n_people: int) -> PromiseError:
    """The refusal when even a tree that tells nobody apart would break the promise."""
    return PromiseError(
        "table-too-small",
        f"Not even a tree of one leaf keeps the requirement on these {n_people:,} people. "
        "Use more people, a smaller k, or a weaker requirement.",
    )
