# SPDX-License-Identifier: Apache-2.0
"""The search of K-Optimize: which cuts of ordered columns make the cheapest groups, and how cheap any could be."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal._kernels.cuts import weigh_cuts
from shoal.anonymize.frequency import FrequencySet, Judge, Map, frequencies
from shoal.anonymize.task import Task

Cuts = NDArray[np.bool_]  # of all cuts, column after column, which are chosen
Ids = NDArray[np.int64]
Node = tuple[int, Cuts, Cuts]  # a bound, cuts that are made, and others that may be

TELL_EVERY = 0.1  # seconds
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class SearchProgress:
    """Where a search stands.

    Attributes
    ----------
    seconds
        How long it has taken.
    nodes
        How many sets of cuts were looked into.
    cost
        The cost of the best so far.
    bound
        No set of cuts costs less than this.
    """

    seconds: float
    nodes: int
    cost: int
    bound: int


@dataclass(frozen=True, eq=False)
class _Weighed:
    """Groups made by some cuts, and what each further cut would do."""

    bound: int  # no set of these cuts and some of the further ones costs less
    cost: Ids  # by cut: of the groups with that one, if sizes decide
    bound_with: Ids  # by cut: the bound for sets with that one
    left_out: Ids  # by cut: rows that are left out for sure
    of_use: Cuts


class CutSearch:
    """The cheapest set of cuts.

    Parameters
    ----------
    task
        The table, and what groups must keep.
    cells
        Of each public column the cell of each code: 0 to the number of its cuts. A cut parts the cells up to it from
        those after it.
    by_class
        Whether the cost is the rows outside the majority class of their group (CM) or squared sizes (DM). A row that is
        left out costs 1 or as much as there are rows.
    """

    def __init__(self, task: Task, cells: Mapping[str, Map], *, by_class: bool) -> None:
        self.task, self.judge, self.by_class = task, Judge(task), by_class
        self.lost = 1 if by_class else task.n_rows
        counted = self.judge.by_value
        if by_class and task.classes.name not in counted:
            counted = (*counted, task.classes.name)
        self.rows = frequencies(task, cells, counted)
        self.sizes = slice(0, 1)
        if by_class:
            before = counted[: counted.index(task.classes.name)]
            first = 1 + sum(task.rows[name].n_codes for name in before)
            self.sizes = slice(first, first + task.classes.n_codes)
        n_cuts = [int(each.max()) for each in cells.values()]
        self.ends = np.concatenate([[0], np.cumsum(n_cuts)]).astype(np.int64)  # where the cuts of each column begin
        self.nothing = np.zeros(int(self.ends[-1]), dtype=bool)
        self.best = self.nothing
        self.cost = self.cost_of(self.nothing)
        self.bound = 0
        self.nodes = 0
        self.optimal = False

    def cost_of(self, cuts: Cuts) -> int:
        """What the groups of a set of cuts cost; -1 if more rows fail than may be left out."""
        found = self.rows.roll_up(self._maps(cuts))
        fails = self.judge.fails(found)
        left_out = int(found.rows[fails].sum())
        if left_out > self.task.budget:
            return -1
        return int(self._costs(found.counts[~fails, self.sizes]).sum()) + left_out * self.lost

    def _costs(self, counts: Ids) -> Ids:
        """What groups cost that are kept."""
        size: Ids = counts.sum(axis=1)
        most: Ids = counts.max(axis=1, initial=0)
        return size - most if self.by_class else size * size

    def _maps(self, cuts: Cuts) -> dict[int, Map]:
        """What a set of cuts makes of the cells of each column."""
        return {
            column: np.append(0, np.cumsum(cuts[first:end])) for column, (first, end) in enumerate(pairwise(self.ends))
        }

    def weigh(self, head: Cuts, tail: Cuts) -> _Weighed:
        """The groups of a set of cuts, and what each cut of a tail would do to them."""
        every = head | tail
        pieces = self.rows.roll_up(self._maps(every))
        pieces = FrequencySet(pieces.layout, pieces.keys, pieces.counts, np.arange(len(pieces)))
        n_columns = len(self.ends) - 1
        inside = [every[first:end] for first, end in pairwise(self.ends)]
        chosen = [head[first:end] for first, end in pairwise(self.ends)]
        merged = {j: np.append(0, np.cumsum(chosen[j][inside[j]])) for j in range(n_columns)}
        groups = pieces.roll_up(merged)
        assert groups.of_row is not None
        cells = np.stack([pieces.codes(j) for j in range(n_columns)], axis=1)
        low, high = np.empty((len(groups), n_columns), np.int64), np.empty((len(groups), n_columns), np.int64)
        for j in range(n_columns):
            own = groups.codes(j)
            low[:, j] = np.searchsorted(merged[j], own, side="left")
            high[:, j] = np.searchsorted(merged[j], own, side="right")
        first_cut = np.concatenate([[0], np.cumsum([each.sum() for each in inside])])[:-1].astype(np.int64)
        counts = pieces.counts[:, self.sizes]
        least = counts.sum(axis=1) - counts.max(axis=1) if self.by_class else self._least_by_size(pieces.rows)
        order = np.argsort(groups.of_row, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(groups.of_row, minlength=len(groups))))
        of_inside = np.zeros((int(every.sum()), 4), dtype=np.int64)
        k, whole = self.task.least, self.judge.absorbing
        weigh_cuts(
            order, starts, cells, low, high, first_cut, counts, least, self.by_class, k, self.lost, whole, of_inside
        )
        out = np.zeros((len(every), 4), dtype=np.int64)
        out[every] = of_inside
        gone = groups.rows < k
        left_out = int(groups.rows[gone].sum())
        bound = left_out * self.lost + int(least[~gone[groups.of_row]].sum())
        cost = left_out * self.lost + int(self._costs(groups.counts[~gone, self.sizes]).sum())
        return _Weighed(bound, cost + out[:, 0], bound + out[:, 1], left_out + out[:, 2], out[:, 3] > 0)

    def _least_by_size(self, rows: Ids) -> Ids:
        return rows * np.maximum(rows, self.task.least)

    # -- a good set to begin with

    def climb(self, until: Callable[[], bool]) -> None:
        """Add the cut that makes groups cheapest as long as one does, then move or take back single cuts."""
        self._add(until)
        better = bool(self.best.any())
        while better and not until():
            better = False
            for cut in np.flatnonzero(self.best).tolist():
                if until():
                    return
                fewer = self.best.copy()
                fewer[cut] = False
                before = self.cost
                self._try(fewer)
                self._try_one_more(fewer)
                if self.cost < before:
                    self._add(until)
                    better = True
                    break

    def _add(self, until: Callable[[], bool]) -> None:
        while not (self.best.all() or until()):
            before = self.cost
            self._try_one_more(self.best)
            if self.cost == before:
                break

    def _try_one_more(self, cuts: Cuts) -> None:
        """Take the best of the sets with one cut more, if it is better than the best so far."""
        weighed = self.weigh(cuts, ~cuts)
        cost = np.where(cuts | (weighed.left_out > self.task.budget), NEVER, weighed.cost)
        for cut in np.argsort(cost, kind="stable").tolist():
            if cost[cut] >= self.cost:
                break
            more = cuts.copy()
            more[cut] = True
            if self._try(more):
                break

    def _try(self, cuts: Cuts) -> bool:
        cost = self.cost_of(cuts)
        if not 0 <= cost < self.cost:
            return False
        self.best, self.cost = cuts, cost
        return True

    # -- the proof

    def run(
        self, max_seconds: float | None, max_nodes: int | None, progress: Callable[[SearchProgress], None] | None
    ) -> None:
        """Search until the best is proven, or a limit is reached."""
        started = time.perf_counter()
        told = started

        def over() -> bool:
            return max_seconds is not None and time.perf_counter() - started >= max_seconds

        self.climb(over)
        heap: list[tuple[int, int, Cuts, Cuts]] = []  # sets that are open, the lowest bound first
        node: Node | None = (0, self.nothing, ~self.nothing) if len(self.nothing) else None
        while True:
            if node is None:
                if not heap or heap[0][0] >= self.cost:
                    self.bound, self.optimal = self.cost, True
                    break
                bound, _, head, tail = heapq.heappop(heap)
                node = (bound, head, tail)
            self.bound = min([self.cost, node[0], *(each[0] for each in heap[:1])])
            now = time.perf_counter()
            if progress is not None and now - told >= TELL_EVERY:
                progress(SearchProgress(now - started, self.nodes, self.cost, self.bound))
                told = now
            if over() or (max_nodes is not None and self.nodes >= max_nodes):
                break
            self.nodes += 1
            before = self.cost
            found = self._expand(*node)
            if self.cost < before:
                self.climb(over)
            node = None
            if found is not None:
                node, without = found
                heapq.heappush(heap, (without[0], self.nodes, *without[1:]))
        if progress is not None:
            progress(SearchProgress(time.perf_counter() - started, self.nodes, self.cost, self.bound))

    def _expand(self, bound: int, head: Cuts, tail: Cuts) -> tuple[Node, Node] | None:
        """Sets with and without the most promising cut of a tail; None if no set beats the best so far."""
        if not self.task.sizes_decide:
            self._try(head)
        while True:
            weighed = self.weigh(head, tail)
            if weighed.bound >= self.cost:
                return None
            within = weighed.left_out <= self.task.budget
            if self.task.sizes_decide and (tail & within).any():
                costs = np.where(tail & within, weighed.cost, NEVER)
                cut = int(np.argmin(costs))
                if costs[cut] < self.cost:
                    self.best, self.cost = head.copy(), int(costs[cut])
                    self.best[cut] = True
            left = tail & within & weighed.of_use & (weighed.bound_with < self.cost)
            if not left.any():
                return None
            if (left == tail).all():
                break
            tail = left
        cut = int(np.argmin(np.where(tail, weighed.cost, NEVER)))
        with_it, rest = head.copy(), tail.copy()
        with_it[cut], rest[cut] = True, False
        return (int(weighed.bound_with[cut]), with_it, rest), (max(bound, weighed.bound), head, rest)
