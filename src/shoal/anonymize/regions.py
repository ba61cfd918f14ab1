# SPDX-License-Identifier: Apache-2.0
"""Cut the space of public values into regions, all of a level together, as long as every part keeps the promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import regions as kernels
from shoal.anonymize.offers import Flags, Ids, Judge, Offers, Rows, parts_of
from shoal.anonymize.scale import NumberScale, Scale, TreeScale, ragged
from shoal.anonymize.task import Task
from shoal.data.person import people_by_code
from shoal.data.table import Table
from shoal.privacy import KAnonymity, people_behind


@dataclass(frozen=True, eq=False)
class Regions:
    """A tree of cuts, whose leaves are the regions.

    Attributes
    ----------
    names, scales
        The columns.
    column
        Which of them each node is cut by; -1 for a leaf.
    cut
        The number that parts a node that is cut by a column of numbers.
    child
        The first child of each node; its children have neighbouring numbers.
    states
        What each node leaves of each column (nodes × columns), in the numbers of its scale.
    of_row
        The leaf of each row.
    """

    names: tuple[str, ...]
    scales: tuple[Scale, ...]
    column: Ids
    cut: NDArray[np.float64]
    child: Ids
    states: NDArray[np.int32]
    of_row: Ids

    @property
    def leaves(self) -> Ids:
        """The regions, those included in which nobody is."""
        return np.flatnonzero(self.column < 0)

    def without_rows(self) -> Regions:
        """The same cuts, without anybody's values."""
        return replace(self, scales=tuple(scale.without_rows() for scale in self.scales), of_row=self.of_row[:0])

    def find(self, table: Table) -> Ids:
        """The leaf of each of other rows, found by the cuts; for regions that do not overlap."""
        node = np.zeros(table.n_rows, dtype=np.int64)
        used = np.unique(self.column[self.column >= 0]).tolist()
        values = {c: self.scales[c].values(table[self.names[c]]) for c in used}
        rows = np.arange(table.n_rows)
        while len(rows := rows[self.column[node[rows]] >= 0]):
            asked = self.column[node[rows]]
            for c in np.unique(asked).tolist():
                some, scale = rows[asked == c], self.scales[c]
                at = node[some]
                if isinstance(scale, NumberScale):
                    part = (values[c][some] > self.cut[at]).astype(np.int64)
                else:
                    part = scale.child_of(self.states[at, c], values[c][some])
                node[some] = self.child[at] + part
        return node


@dataclass(eq=False)
class _Level:
    """The regions that may still be cut: their nodes and segments, and which columns may cut them."""

    node: Ids
    starts: Ids
    ends: Ids
    alive: Flags  # nodes × columns


def cut_regions(
    task: Task, names: Sequence[str], scales: Sequence[Scale], *, relaxed: bool, classes: str | None
) -> Regions:
    """Cut the rows of a task until no region can be cut."""
    return _Grower(task, names, scales, relaxed=relaxed, classes=classes).grow()


class _Grower:
    def __init__(
        self, task: Task, names: Sequence[str], scales: Sequence[Scale], *, relaxed: bool, classes: str | None
    ) -> None:
        self.names, self.scales, self.relaxed, self.classes = tuple(names), tuple(scales), relaxed, classes
        order = np.arange(task.n_rows)
        if relaxed:  # who is at the median goes to either side, whatever the order of the rows tells of him
            order = np.random.default_rng(0).permutation(task.n_rows)
        places = [scale.place_of_code[scale.column.codes][order] for scale in scales]
        self.rows = Rows(task, order, places, classes)
        self.judge = Judge(task, self.rows, classes)
        # where a number that parts a region leaves too few people on a side, it does so in any part of the region;
        # of values a part may have enough where the whole has not, and a child of a node may have nobody
        sizes = isinstance(task.requirement, KAnonymity)
        self.anew = np.array([not sizes or isinstance(scale, TreeScale) for scale in scales], dtype=bool)
        self.behind = people_behind(task.requirement)
        self.column, self.child, self.cut = np.array([-1]), np.array([-1]), np.array([np.nan])
        self.states = np.zeros((1, len(scales)), dtype=np.int32)
        self.new_states: list[NDArray[np.int32]] = []
        self.n_nodes = 1
        self.of_row = np.zeros(task.n_rows, dtype=np.int64)

    def grow(self) -> Regions:
        every = np.ones((1, len(self.scales)), dtype=bool)
        level = _Level(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.array([len(self.of_row)]), every)
        finished: list[tuple[Ids, Ids, Ids]] = []
        while len(level.node):
            chosen, offers = self._choose_by_gain(level) if self.classes is not None else self._choose_by_width(level)
            done = np.flatnonzero(chosen < 0)
            finished.append((level.node[done], level.starts[done], level.ends[done]))
            level.alive[:, self.anew] = True
            cut = [self._cut(level, np.flatnonzero(chosen == c), c, offers) for c in range(len(self.scales))]
            level = self._joined(cut)
        node, starts, ends = (np.concatenate(each) for each in zip(*finished, strict=True))
        for c, scale in enumerate(self.scales):
            if isinstance(scale, NumberScale):
                node = self._narrowed(scale, c, node, starts, ends)
        self.of_row[self.rows.order[ragged(starts, ends - starts)]] = np.repeat(node, ends - starts)
        return Regions(self.names, self.scales, self.column, self.cut, self.child, self.states, self.of_row)

    def _choose_by_width(self, level: _Level) -> tuple[Ids, Offers]:
        """For each region the widest column that can be cut."""
        widths = self._widths(level)
        ranked = np.argsort(-widths, axis=1, kind="stable")
        chosen, offers = np.full(len(level.node), -1), Offers.none(len(level.node))
        left = np.arange(len(level.node))
        for column in ranked.T:
            left = left[(chosen[left] < 0) & (widths[left, column[left]] >= 0)]
            for c in np.unique(column[left]).tolist():
                some = left[column[left] == c]
                kept, found = self._offers(level, some, c)
                chosen[some[kept]] = c
                offers.put(some[kept], found.of(kept))
        return chosen, offers

    def _choose_by_gain(self, level: _Level) -> tuple[Ids, Offers]:
        """For each region the cut that tells most of the classes; of several the one in the widest column."""
        widths = self._widths(level)
        chosen, offers, width = (
            np.full(len(level.node), -1),
            Offers.none(len(level.node)),
            np.full(len(level.node), -1.0),
        )
        for c in range(len(self.scales)):
            some = np.flatnonzero(widths[:, c] >= 0)
            if not len(some):
                continue
            kept, found = self._offers(level, some, c)
            best, own = offers.gain[some], widths[some, c]
            better = kept & ((found.gain > best) | ((found.gain == best) & (own > width[some])))
            chosen[some[better]], width[some[better]] = c, own[better]
            offers.put(some[better], found.of(better))
        return chosen, offers

    def _widths(self, level: _Level) -> NDArray[np.float64]:
        """How wide each region is in each column, between 0 and 1; -1 where it cannot be cut."""
        widths = np.full(level.alive.shape, -1.0)
        for c, scale in enumerate(self.scales):
            some = np.flatnonzero(level.alive[:, c])
            if isinstance(scale, TreeScale):
                state = self.states[level.node[some], c].astype(np.int64)
                widths[some, c] = np.where(scale.n_children[state] > 0, scale.widths(state), -1.0)
                continue
            low, high, known = (np.empty(len(some), dtype=np.int32) for _ in range(3))
            places, starts, ends = self.rows.places[c], level.starts[some], level.ends[some]
            kernels.ranges(places, starts, ends, scale.n_known, low, high, known)
            widths[some, c] = np.where(low < high, scale.widths(low, known), -1.0)
        level.alive &= widths >= 0
        return widths

    def _offers(self, level: _Level, some: Ids, c: int) -> tuple[Flags, Offers]:
        """Which of some regions can be cut by a column, and how; those that cannot are noted."""
        scale, starts, ends = self.scales[c], level.starts[some], level.ends[some]
        if isinstance(scale, TreeScale):
            found = Offers.none(len(some))
            kept, found.gain[:] = self.judge.tree_offers(c, scale, self.states[level.node[some], c], starts, ends)
        else:
            found = self.judge.number_offers(c, scale, starts, ends, relaxed=self.relaxed)
            kept = found.place >= 0
        level.alive[some[~kept], c] = False
        return kept, found

    def _cut(self, level: _Level, some: Ids, c: int, offers: Offers) -> _Level:
        """Cut some regions by a column; the answer is their parts that have people."""
        scale, node, starts, ends = self.scales[c], level.node[some], level.starts[some], level.ends[some]
        state = self.states[node, c].astype(np.int64)
        if isinstance(scale, TreeScale):
            bounds, first = scale.parts(state)
            branch = parts_of(self.rows.places[c], starts, ends, bounds, first)
            states = scale.children(state)
        else:
            at, first = offers.of(some), np.arange(len(some) + 1) * 2
            branch = np.empty(int((ends - starts).sum()), dtype=np.int64)
            ties = np.where(at.ties < 0, ends - starts, at.ties)  # all who are at the place, unless it is shared
            kernels.halves(self.rows.places[c], starts, ends, at.place, ties, branch)
            lower, upper = _ends(scale, state, at)
            self.cut[node] = lower
            pairs = [scale.add(scale.above[state], lower), scale.add(upper, scale.at_most[state])]
            states = np.stack(pairs, axis=1).reshape(-1)
        sizes = np.bincount(branch, minlength=int(first[-1]))
        self.rows.sort(starts, ends, branch, first, sizes)
        parent = np.repeat(np.arange(len(some)), np.diff(first))
        self.column[node], self.child[node] = c, self.n_nodes + first[:-1]
        own = self.states[node[parent]]
        own[:, c] = states
        self.new_states.append(own)
        there = np.flatnonzero(sizes)
        made = self.n_nodes + there
        self.n_nodes += len(sizes)
        begin = np.cumsum(sizes) - sizes  # from here on within all segments, of which some are not neighbours
        begin += np.repeat(starts - (np.cumsum(ends - starts) - (ends - starts)), np.diff(first))
        return _Level(made, begin[there], (begin + sizes)[there], level.alive[some[parent[there]]])

    def _narrowed(self, scale: NumberScale, c: int, node: Ids, starts: Ids, ends: Ids) -> Ids:
        """Cut off what lies beyond a number that enough people of a region have as their highest, or lowest."""
        low, high, known = (np.empty(len(node), dtype=np.int32) for _ in range(3))
        kernels.ranges(self.rows.places[c], starts, ends, scale.n_known, low, high, known)
        for end, upper in ((high, True), (low, False)):
            state = self.states[node, c]
            beyond = end.astype(np.int64) + (1 if upper else -1)
            some = np.flatnonzero((beyond >= 0) & (beyond < scale.n_places) & self._enough(c, starts, ends, end))
            lower = np.minimum(end, beyond)[some]
            cut = scale.cut(lower, lower + 1)
            inside = cut < scale.at_most[state[some]] if upper else cut > scale.above[state[some]]
            some, cut = some[inside], cut[inside]
            pair = [scale.add(scale.above[state[some]], cut), scale.add(cut, scale.at_most[state[some]])]
            self.column[node[some]], self.cut[node[some]] = c, cut
            self.child[node[some]] = self.n_nodes + 2 * np.arange(len(some))
            own = self.states[np.repeat(node[some], 2)]
            own[:, c] = np.stack(pair, axis=1).reshape(-1)
            node = node.copy()
            node[some] = self.n_nodes + 2 * np.arange(len(some)) + (not upper)
            self.new_states.append(own)
            self.n_nodes += len(own)
            self._flush()
        return node

    def _enough(self, c: int, starts: Ids, ends: Ids, place: NDArray[np.int32]) -> Flags:
        """Whether so many people of each segment are at a place that it may be told."""
        region = np.repeat(np.arange(len(starts)), ends - starts)
        rows = ragged(starts, ends - starts)
        there = self.rows.places[c][rows] == place[region]
        whose = None if self.rows.whose is None else self.rows.whose[rows[there]]
        people = people_by_code(region[there], len(starts), whose, self.rows.weights_of(rows[there]))
        return np.asarray(people >= self.behind)

    def _flush(self) -> None:
        """Make room for what was put down of new nodes."""
        n = self.n_nodes - len(self.column)
        self.states = np.concatenate([self.states, *self.new_states])
        self.new_states = []
        self.column, self.child = (np.append(each, np.full(n, -1)) for each in (self.column, self.child))
        self.cut = np.append(self.cut, np.full(n, np.nan))

    def _joined(self, levels: Sequence[_Level]) -> _Level:
        """The parts of all cuts as the next level."""
        self._flush()
        order = np.argsort(np.concatenate([each.starts for each in levels]), kind="stable")  # as they lie in memory
        parts = zip(*((each.node, each.starts, each.ends, each.alive) for each in levels), strict=True)
        return _Level(*(np.concatenate(each)[order] for each in parts))


def _ends(scale: NumberScale, state: Ids, at: Offers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where the lower side of each cut ends and where the upper side begins: with people on both sides, before that."""
    lower, upper = scale.at_most[state], scale.above[state]
    more, fewer = at.after >= 0, (at.ties >= 0) & (at.before >= 0)
    lower[more] = scale.cut(at.place[more], at.after[more])
    upper[fewer] = scale.cut(at.before[fewer], at.place[fewer])
    return lower, np.where(at.ties < 0, lower, upper)
