# SPDX-License-Identifier: Apache-2.0
"""Asking a requirement of different people, where people have several rows.

Gains and errors are about rows: each is something to predict. The promise is about people. The people of two parts do
not add up to those of the whole, since one person may be in both, so they are counted again for every split that is
looked at. A part has no more people than rows, so rows tell first which splits need not be looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import people as kernels
from shoal.engines import Engine
from shoal.engines.base import Counts, DifferentPeople, Ids
from shoal.privacy import KAnonymity
from shoal.trees.forms import Form
from shoal.trees.score import Order
from shoal.trees.veto import Veto

Kept = NDArray[np.bool_]
Branches = NDArray[np.int32]
# which of some nodes (by their place; one may come several times), and the branch of each code -> which are kept
Keep = Callable[[NDArray[np.intp], Branches], Kept]
CELLS_AT_ONCE = 1 << 22  # counts of people looked at in one piece


class PeopleVeto:
    """A requirement, asked of the different people of nodes or spans.

    Parameters
    ----------
    people
        Counts them.
    veto
        The requirement.
    least_people
        People that any group has that keeps it.
    """

    def __init__(self, people: DifferentPeople, veto: Veto, least_people: int) -> None:
        self._people = people
        self._veto = veto
        self.by_rows = Veto(KAnonymity(least_people), [])  # what rows alone can refuse
        self._widest = max((veto.n_values(by) for by in veto.questions if by is not None), default=1)

    @classmethod
    def of(cls, engine: Engine, veto: Veto, least_people: int) -> PeopleVeto | None:
        """The one of an engine; None where everybody has one row, so that rows are people."""
        return None if engine.different is None else cls(engine.different, veto, least_people)

    def nodes_keep(self, nodes: Ids, f: int, branch_of: Branches) -> Kept:
        """For nodes that are spans: whether every part that branch_of[node, code] makes is kept."""

        def count(piece: slice, n_branches: int, by: int | None) -> Counts:
            return self._people.node_people(nodes[piece], f, branch_of[piece], n_branches, by)

        return self._keep(len(nodes), int(branch_of.max(initial=0)) + 1, count)

    def spans_keep(self, spans: Ids, f: int, branch_of: Branches) -> Kept:
        """For every row of `branch_of`: whether every part that it makes of some spans is kept."""
        kept = np.ones(len(branch_of), dtype=bool)
        n_branches = int(branch_of.max(initial=0)) + 1
        step = max(1, CELLS_AT_ONCE // max(1, len(spans) * branch_of.shape[1]))
        for first in range(0, len(branch_of), step):
            some = branch_of[first : first + step]
            every, repeated = np.tile(spans, len(some)), np.repeat(some, len(spans), axis=0)
            own = self._keep(len(every), n_branches, partial(self._span_people, every, f, repeated))
            kept[first : first + step] = own.reshape(len(some), len(spans)).all(axis=1)
        return kept

    def _span_people(
        self, spans: Ids, f: int | None, branch_of: Branches | None, piece: slice, n_branches: int, by: int | None
    ) -> Counts:
        own = None if branch_of is None else branch_of[piece]
        return self._people.span_people(spans[piece], f, own, n_branches, by)

    def whole_kept(self, spans: Ids) -> Kept:
        """Whether each of some spans is kept as it is."""
        return self._keep(len(spans), 1, partial(self._span_people, spans, None, None))

    def _keep(self, n: int, n_branches: int, count: Callable[[slice, int, int | None], Counts]) -> Kept:
        kept = np.ones(n, dtype=bool)
        step = max(1, CELLS_AT_ONCE // (n_branches * self._widest))
        for first in range(0, n, step):
            piece = slice(first, min(first + step, n))
            for by in self._veto.questions:
                kept[piece] &= self._veto.kept(count(piece, n_branches, by), by).all(axis=1)
        return kept


def best_kept(form: Form, counts: Counts, order: Order | None, people: PeopleVeto, keep: Keep) -> tuple[Counts, Counts]:
    """`Form.best` for nodes that are spans, by counting people: of most nodes only the best position by rows."""
    gains, best = form.best(counts, order, people.by_rows)
    found = np.flatnonzero(gains > 0)
    if not len(found):
        return gains, best
    kept = keep(found, form.branches(best[found], None if order is None else order[found]))
    refused = found[~kept]
    if len(refused):
        own, own_order = counts[refused], None if order is None else order[refused]
        gains[refused], best[refused] = first_kept(
            form,
            form.gains(own, own_order),
            form.kept(people.by_rows.asked(own, None), own_order, people.by_rows, None),
            own_order,
            lambda nodes, branch_of: keep(refused[nodes], branch_of),
        )
    return gains, best


def first_kept(form: Form, gains: Counts, possible: Kept, order: Order | None, keep: Keep) -> tuple[Counts, Counts]:
    """`Form.best` by counting people: the position of each node that is preferred among those that are kept.

    Positions are looked at in order of preference, first one of every node, then twice as many each time.
    """
    ranked = form.ranked(gains)
    nodes = np.arange(len(gains))
    open_ = np.take_along_axis(possible & (gains > 0), ranked, axis=1)
    place = np.cumsum(open_, axis=1) - 1
    best, found = np.zeros(len(gains), dtype=np.int64), np.zeros(len(gains), dtype=bool)
    first, n = 0, 1
    while True:
        node, rank = np.nonzero(open_ & (place >= first) & (place < first + n) & ~found[:, None])
        if not len(node):
            break
        kept = keep(node, form.branches(ranked[node, rank], None if order is None else order[node]))
        # from the last to the first, so that the most preferred is what stays
        best[node[kept][::-1]] = ranked[node, rank][kept][::-1]
        found[node[kept]] = True
        first, n = first + n, 2 * n
    return np.where(found, gains[nodes, best], 0), best


def all_kept(form: Form, possible: Kept, order: Order | None, keep: Keep) -> Kept:
    """Which of the possible positions are kept (nodes × positions)."""
    kept = np.zeros_like(possible)
    node, position = np.nonzero(possible)
    if len(node):
        kept[node, position] = keep(node, form.branches(position, None if order is None else order[node]))
    return kept


def by_value(sets: Ids, n_sets: int, person: Ids, codes: Ids, n_codes: int) -> Counts:
    """People of each set of rows by value, counted as `DifferentPeople.node_people` counts them (sets × values)."""
    order = np.lexsort((person, sets))
    ends = np.cumsum(np.bincount(sets, minlength=n_sets))
    starts = np.concatenate([[0], ends[:-1]])
    all_in_one = np.zeros((n_sets, 1), dtype=np.int32)
    counts = np.zeros((n_sets, 1, n_codes), dtype=np.int64)
    no_code = np.zeros(len(sets), dtype=np.int32)
    kernels.people_by_value(
        person[order].astype(np.int32), no_code, 1, all_in_one, codes[order].astype(np.int32), starts, ends, counts
    )
    return counts[:, 0]
