# SPDX-License-Identifier: Apache-2.0
"""Sets of people that exist only as the splits that lead to them: the rows are elsewhere and stay as they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.engines.base import Counts, Ids
from shoal.engines.spark_tasks import Routes


class Splits:
    """Disjoint sets of people by the splits that lead to them, numbered as `Engine` numbers nodes and spans.

    `totals` has for each set what is known of its people without counting: how many there are by value.
    """

    def __init__(self, total: Counts) -> None:
        self.totals: list[Counts] = [total]
        self._parent = [-1]
        self._column = [-1]
        self._child: list[NDArray[np.int32] | None] = [None]

    def split(self, ids: Ids, column: int, branch_of: NDArray[np.int32], counts: Counts, n_branches: int) -> Ids:
        """Split sets by branch_of[set, code], given their people by code and value; numbers of the parts, −1 for none.

        A set that is split again forgets its former parts.
        """
        new = np.full((len(ids), n_branches), -1, dtype=np.int64)
        for i, one in enumerate(ids.tolist()):
            totals = np.zeros((n_branches, counts.shape[2]), dtype=np.int64)
            np.add.at(totals, branch_of[i], counts[i])
            for branch in np.flatnonzero(totals.any(axis=1)).tolist():
                new[i, branch] = len(self.totals)
                self.totals.append(totals[branch])
                self._parent.append(one)
                self._column.append(-1)
                self._child.append(None)
            self._column[one] = column
            self._child[one] = new[i, branch_of[i]].astype(np.int32)
        return new

    def apart(self, ids: Ids) -> list[Ids]:
        """Some sets in lists of which none has a part of another."""
        asked = set(ids.tolist())
        lists: list[list[int]] = []
        for one in ids.tolist():
            at, above = self._parent[one], 0
            while at >= 0:
                above += at in asked
                at = self._parent[at]
            lists += [[] for _ in range(above + 1 - len(lists))]
            lists[above].append(one)
        return [np.array(own, dtype=np.int64) for own in lists]

    def routes(self, asked: Ids) -> Routes:
        """How rows get to some sets, whatever is split below them."""
        above: dict[int, None] = {}
        for one in asked.tolist():
            at = self._parent[one]
            while at >= 0 and at not in above:
                above[at] = None
                at = self._parent[at]
        # few of all sets that ever were: those asked for, and what is above them
        sets = sorted({0, *above, *asked.tolist()})
        number = np.full(len(self.totals), -1, dtype=np.int32)
        number[sets] = np.arange(len(sets))
        column = np.full(len(sets), -1, dtype=np.int32)
        start = np.zeros(len(sets), dtype=np.int64)
        children: list[NDArray[np.int32]] = []
        size = 0
        for place, one in enumerate(sets):
            child = self._child[one]
            if one in above and child is not None:
                column[place], start[place] = self._column[one], size
                children.append(np.where(child >= 0, number[child], -1).astype(np.int32))
                size += len(child)
        row_of = np.full(len(sets), -1, dtype=np.int32)
        row_of[number[asked]] = np.arange(len(asked))
        return Routes(column, start, np.concatenate(children) if children else np.zeros(0, dtype=np.int32), row_of)
