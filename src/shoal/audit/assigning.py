# SPDX-License-Identifier: Apache-2.0
"""Whether original rows can be shared out among the published groups: a transportation problem.

Each row goes to a group that stands for its public values and has its private values; each group has a number of rows
of each private values. Where every row fits one group there is nothing to search. Otherwise rows that have only one
place left are put there first, and whether the rest can be placed is a maximum flow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from shoal.audit.boxes import Covering
from shoal.audit.groups import Ids, counted
from shoal.data.table import count_codes

MOST_WAYS = 2**21  # ways of kinds of rows to groups of which a flow is sought
MOST_CHOICES = 2**22  # groups that kinds of rows fit besides one each
MOST_ROUNDS = 50  # of placing rows that have one place left


@dataclass(frozen=True, eq=False)
class Assignment:
    """How the rows can be shared out among the groups.

    Attributes
    ----------
    wrong
        Groups that cannot have the people they say, or must have others.
    decided
        Whether it was decided: otherwise there are too many ways, and other groups may be wrong, too.
    """

    wrong: Ids
    decided: bool


@dataclass(eq=False)
class _Places:
    """Kinds of rows (a cell and private values), groups by private values, and the ways from the one to the other."""

    rows: Ids  # of each kind how many rows are not placed
    asked: Ids  # of each group and private values how many rows are not found
    kind: Ids  # of each way
    place: Ids

    def settle(self) -> NDArray[np.bool_]:
        """Put rows where they must go, as long as there are such; whether each place got too many."""
        too_many = np.zeros(len(self.asked), dtype=bool)
        for _ in range(MOST_ROUNDS):
            open_ = (self.rows[self.kind] > 0) & (self.asked[self.place] > 0)
            self.kind, self.place = self.kind[open_], self.place[open_]
            only = np.bincount(self.kind, minlength=len(self.rows))[self.kind] == 1
            if not only.any():
                break
            kind, place = self.kind[only], self.place[only]
            self.asked -= np.bincount(place, self.rows[kind], minlength=len(self.asked)).astype(np.int64)
            self.rows[kind] = 0
            too_many |= self.asked < 0
            self.asked = np.maximum(self.asked, 0)
        return too_many

    def flow(self) -> None:
        """Place as many of the other rows as can be."""
        if not len(self.kind):
            return
        kinds, kind = np.unique(self.kind, return_inverse=True)
        places, place = np.unique(self.place, return_inverse=True)
        n, m = len(kinds), len(places)
        source, sink = n + m, n + m + 1
        tail = np.concatenate([kind, np.full(n, source), n + np.arange(m)])
        head = np.concatenate([n + place, np.arange(n), np.full(m, sink)])
        room = np.concatenate(
            [np.minimum(self.rows[self.kind], self.asked[self.place]), self.rows[kinds], self.asked[places]]
        )
        graph = sparse.csr_array((room.astype(np.int32), (tail, head)), shape=(n + m + 2, n + m + 2))
        found = maximum_flow(graph, source, sink).flow
        self.rows[kinds] -= np.asarray(found[[source], :n].todense()).reshape(-1)
        self.asked[places] -= np.asarray(found[n : n + m, [sink]].todense()).reshape(-1)


def assign(
    covering: Covering,
    private: Ids,
    of_row: Ids,
    stated: Ids,
    *,
    rows: Ids | None = None,
    published: Ids | None = None,
) -> Assignment:
    """Share the rows that some group stands for out among the groups.

    Parameters
    ----------
    covering
        Which groups stand for which rows.
    private
        A number for the private values of each original row.
    of_row, stated
        The group of each published row, and the number of its private values.
    rows, published
        How many rows each original row stands for, and each published one; None: itself.
    """
    size = int(max(private.max(initial=0), stated.max(initial=0))) + 1
    kinds, n_rows = counted(covering.cell_of_row * size + private, rows)
    cell, values = kinds // size, kinds % size
    lengths = covering.n_groups[cell]
    if not covering.complete or int(lengths.sum()) > len(kinds) + MOST_CHOICES:
        few = count_codes(private, size, rows) < count_codes(stated, size, published)
        # groups with private values of which more rows are published than there are
        return Assignment(np.unique(of_row[few[stated]]), decided=False)
    asked, n_asked = counted(of_row * size + stated, published)
    # the groups of each kind of row, one after the other
    order = np.argsort(covering.cell, kind="stable")
    first = np.cumsum(covering.n_groups) - covering.n_groups
    step = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    group = covering.group[order][np.repeat(first[cell], lengths) + step]
    kind = np.repeat(np.arange(len(kinds)), lengths)
    wanted = group * size + values[kind]
    place = np.minimum(np.searchsorted(asked, wanted), len(asked) - 1)
    there = asked[place] == wanted
    wrong = np.zeros(int(of_row.max()) + 1, dtype=bool)
    nowhere = np.bincount(kind[there], minlength=len(kinds)) == 0
    wrong[group[nowhere[kind] & (lengths[kind] == 1)]] = True  # people that the only group they fit does not state
    places = _Places(n_rows, n_asked, kind[there], place[there])
    wrong[asked[places.settle()] // size] = True
    decided = len(places.kind) <= MOST_WAYS
    if decided:
        places.flow()
    else:
        stuck = (places.rows > 0) & (np.bincount(places.kind, minlength=len(kinds)) == 0)
        wrong[group[stuck[kind]]] = True
    # what is still to come, where nothing was sought, is at most all rows that could come
    hoped = np.zeros(len(asked)) if decided else np.bincount(places.place, places.rows[places.kind], len(asked))
    wrong[asked[places.asked > hoped] // size] = True
    return Assignment(np.flatnonzero(wrong), decided)
