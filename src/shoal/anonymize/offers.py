# SPDX-License-Identifier: Apache-2.0
"""The best cut of many regions by one column, among those that leave every part with what it must keep.

The people of a region at each place of a column, added up from the lowest on, tell the two sides of every cut at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import regions as kernels
from shoal._threads import side_by_side
from shoal.anonymize.scale import NumberScale, Places, TreeScale, ragged
from shoal.anonymize.task import Task, count_values
from shoal.data.person import people_by_code
from shoal.privacy import KAnonymity, needs_values

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]
Gains = NDArray[np.float64]
AT_ONCE = 1 << 22  # counts that are held in one piece
MOST_TRIES = 64  # cuts of a region by a column that are looked at one by one, where they cannot be added up
DIGITS = 6  # gains that are equal up to these are equal


class Rows:
    """The rows, sorted so that those of a region are neighbours: a region is a segment from a start to an end.

    Attributes
    ----------
    order
        Which row of the table each is.
    places
        Their places in each public column.
    values
        Their codes in the columns whose values are counted.
    whose
        Whose they are, where people have several.
    weights
        How many people each stands for; nothing where that is one.
    """

    def __init__(self, task: Task, order: Ids, places: list[Places], classes: str | None) -> None:
        self.order, self.places = order, places
        counted = [*(task.sensitive if needs_values(task.requirement) else ()), *([] if classes is None else [classes])]
        self.values = {name: task.rows[name].codes.astype(np.int32)[order] for name in dict.fromkeys(counted)}
        self.whose = None if task.whose is None else task.whose[order]
        self.weights = np.empty(0, dtype=np.int64) if task.weights is None else task.weights[order]
        self.no_value = np.zeros(len(order), dtype=np.int32)

    def sort(self, starts: Ids, ends: Ids, branch: Ids, first: Ids, sizes: Counts) -> None:
        """Sort segments by part, `branch` being the part of each of their rows."""
        columns = [self.order, *self.places, *self.values.values(), *([] if self.whose is None else [self.whose])]
        columns += [self.weights] if len(self.weights) else []
        side_by_side(
            lambda column: kernels.sort_by_part(column, branch, starts, ends, first, sizes), columns, rows=len(branch)
        )

    def weights_of(self, rows: Ids) -> Ids | None:
        """How many people some rows stand for; None: one each."""
        return self.weights[rows] if len(self.weights) else None

    def people(self, starts: Ids, ends: Ids) -> Counts:
        """How many people, or rows of people who have several, are in each segment."""
        if not len(self.weights):
            return ends - starts
        return np.add.reduceat(np.append(self.weights, 0), np.stack([starts, ends], axis=1).reshape(-1))[::2]


@dataclass(frozen=True, eq=False)
class Offers:
    """The best cut of each of some regions by a column of numbers; people up to `place` go to the lower side.

    Attributes
    ----------
    place
        -1 where no cut leaves both sides with what they must keep.
    after
        The next place that somebody has; -1 for none.
    ties, before
        Of a relaxed cut: how many of the people at `place` go to the lower side, and the place before it that somebody
        has (-1: none). Otherwise -1.
    gain
        How much better the sides tell the classes apart.
    """

    place: Ids
    after: Ids
    ties: Ids
    before: Ids
    gain: Gains

    @classmethod
    def none(cls, n: int) -> Offers:
        """No cut of any region."""
        place, after, ties, before = (np.full(n, -1, dtype=np.int64) for _ in range(4))
        return cls(place, after, ties, before, np.full(n, -1.0))

    def put(self, some: Ids, other: Offers) -> None:
        """Write the offers for some of the regions."""
        for own, new in zip(self._arrays, other._arrays, strict=True):
            own[some] = new

    def of(self, some: Ids | Flags) -> Offers:
        """The offers for some of the regions."""
        return Offers(*(each[some] for each in self._arrays))

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return (self.place, self.after, self.ties, self.before, self.gain)


@dataclass(frozen=True, eq=False)
class _Cells:
    """The places of each region that somebody has, ascending: one cell each, region after region."""

    region: Ids
    place: Places
    counts: Counts  # cells × values
    first: Ids  # the first cell of each region, and one more

    def added_up(self, counts: Counts) -> Counts:
        """What the cells of a region up to each have together."""
        total = np.cumsum(counts, axis=0)
        before = np.concatenate([np.zeros_like(total[:1]), total])[self.first[:-1]]
        return np.asarray(total - before[self.region])


class Judge:
    """What every part of a cut must keep, and how good a cut is.

    Parameters
    ----------
    task
        The table and its requirement.
    rows
        Its rows, sorted by region.
    classes
        The column whose classes cuts should tell apart; None for cuts at the median.
    """

    def __init__(self, task: Task, rows: Rows, classes: str | None) -> None:
        self.task, self.rows, self.classes = task, rows, classes
        self.least = max(task.least, 1)
        self.asks_values = needs_values(task.requirement)
        self._enough_people = isinstance(task.requirement, KAnonymity) and task.whose is None  # that is all it asks
        self._terms = _x_log_x(np.arange(task.rows.n_people + 1)) if classes is not None else np.empty(0)
        self._widest = max((task.rows[name].n_codes for name in rows.values), default=1)

    # ---------------------------------------------------------------- a node of a hierarchy into its children

    def tree_offers(self, c: int, scale: TreeScale, state: Ids, starts: Ids, ends: Ids) -> tuple[Flags, Gains]:
        """Whether each region can be parted into the children of its node, and what is gained by it."""
        kept, gain = np.zeros(len(state), dtype=bool), np.zeros(len(state))
        for piece in pieces(scale.n_children[state] * self._widest):
            bounds, first = scale.parts(state[piece])
            branch = parts_of(self.rows.places[c], starts[piece], ends[piece], bounds, first)
            rows = ragged(starts[piece], ends[piece] - starts[piece])
            kept[piece] = np.logical_and.reduceat(self.parts_keep(branch, len(bounds), rows), first[:-1])
            if self.classes is not None:
                by_class = self._by_value(branch, len(bounds), rows, self.classes)
                gain[piece] = gains(np.add.reduceat(by_class, first[:-1]), mixed(by_class), first)
        return kept, gain

    def parts_keep(self, part: Ids, n_parts: int, rows: Ids) -> Flags:
        """Whether each part of some rows keeps the requirement; an empty one does."""
        requirement = self.task.requirement
        whose = None if self.rows.whose is None else self.rows.whose[rows]
        weights = self.rows.weights_of(rows)
        if not self.asks_values:
            return requirement.holds(people_by_code(part, n_parts, whose, weights)[:, None])
        kept = np.ones(n_parts, dtype=bool)
        for name in self.task.sensitive:
            codes, n_codes = self.rows.values[name][rows], self.task.rows[name].n_codes
            counts = count_values(part, n_parts, codes, n_codes, whose, weights)
            kept &= requirement.holds(counts, self.task.totals[name])
        return kept

    def _by_value(self, part: Ids, n_parts: int, rows: Ids, name: str) -> Counts:
        codes, n_codes = self.rows.values[name][rows], self.task.rows[name].n_codes
        return count_values(part, n_parts, codes, n_codes, None, self.rows.weights_of(rows))

    # ---------------------------------------------------------------- an interval at a number

    def number_offers(self, c: int, scale: NumberScale, starts: Ids, ends: Ids, *, relaxed: bool) -> Offers:
        """The best cut of each region: that with the largest gain, then that nearest to the median."""
        answer = Offers.none(len(starts))
        sizes = ends - starts
        large = np.flatnonzero(self.rows.people(starts, ends) >= 2 * self.least)
        for piece in pieces(np.minimum(sizes[large], scale.n_places) * self._widest):
            own = large[piece]
            cells = self._cells(c, scale.n_places, starts[own], ends[own], self.classes)
            if relaxed:
                halves = self._halves(c, cells, starts[own], ends[own])
                answer.put(own, halves)
                left = halves.place < 0
                own = own[left]
                cells = _some(cells, left)
            if len(own):
                answer.put(own, self._cuts(c, cells, starts[own], ends[own]))
        return answer

    def _cells(self, c: int, n_places: int, starts: Ids, ends: Ids, name: str | None) -> _Cells:
        values = self.rows.no_value if name is None else self.rows.values[name]
        n_values = 1 if name is None else self.task.rows[name].n_codes
        most = int(np.minimum(ends - starts, n_places).sum())
        place, counts = np.empty(most, dtype=np.int32), np.zeros((most, n_values), dtype=np.int64)
        stops = np.zeros(len(starts), dtype=np.int64)
        places, weights = self.rows.places[c], self.rows.weights
        kernels.count_cells(places, values, weights, starts, ends, n_places, place, counts, stops)
        n = int(stops[-1]) if len(stops) else 0
        first = np.concatenate([np.zeros(1, dtype=np.int64), stops])
        return _Cells(np.repeat(np.arange(len(starts)), np.diff(first)), place[:n], counts[:n], first)

    def _cuts(self, c: int, cells: _Cells, starts: Ids, ends: Ids) -> Offers:
        """The best cut between two places."""
        answer = Offers.none(len(starts))
        if self.classes is None:
            below, gain = cells.added_up(cells.counts[:, 0]), None
        else:
            below, gain = np.empty(len(cells.place), dtype=np.int64), np.empty(len(cells.place))
            kernels.cut_gains(cells.counts, cells.first, self._terms, below, gain)
            gain = gain.round(DIGITS)
        size = self.rows.people(starts, ends)[cells.region]
        left = np.flatnonzero((below >= self.least) & (size - below >= self.least))
        if not self._enough_people:
            left = self._kept_sides(c, cells, starts, ends, left)
        off = np.abs(2 * below - size)
        one_by_one = self.asks_values and self.rows.whose is not None
        for _ in range(MOST_TRIES if one_by_one else 1):
            if not len(left):
                break
            best = left if gain is None else _least(cells.region, -gain, left)
            best = _least(cells.region, off, best)
            best = best[np.append(True, np.diff(cells.region[best]) > 0)]
            if one_by_one:
                kept = self._kept(c, starts, ends, cells.region[best], cells.place[best])
                left = left[~np.isin(cells.region[left], cells.region[best[kept]])]
                left, best = np.setdiff1d(left, best), best[kept]
            own = cells.region[best]
            answer.place[own], answer.after[own] = cells.place[best], cells.place[best + 1]
            answer.gain[own] = 0.0 if gain is None else gain[best]
        return answer

    def _kept_sides(self, c: int, cells: _Cells, starts: Ids, ends: Ids, left: Ids) -> Ids:
        """Those of some cuts that leave both sides with what they must keep; or, where people have several rows and
        values are asked for, with enough people.
        """
        requirement = self.task.requirement
        n_places = int(cells.place.max(initial=0)) + 1
        if self.rows.whose is not None or not self.asks_values:
            lower, upper = self._people(c, cells, starts, ends)
            left = left[(lower[left] >= self.least) & (upper[left] >= self.least)]
            if self.asks_values:
                return left
            return left[requirement.holds(lower[left, None]) & requirement.holds(upper[left, None])]
        for name in self.task.sensitive:
            counts = self._cells(c, n_places, starts, ends, name).counts
            lower = cells.added_up(counts)[left]
            upper = np.add.reduceat(counts, cells.first[:-1])[cells.region[left]] - lower
            total = self.task.totals[name]
            left = left[requirement.holds(lower, total) & requirement.holds(upper, total)]
        return left

    def _people(self, c: int, cells: _Cells, starts: Ids, ends: Ids) -> tuple[Counts, Counts]:
        """Different people up to each cell and beyond it: whose lowest place is so low, whose highest is so high."""
        if self.rows.whose is None:
            below = cells.added_up(cells.counts.sum(axis=1))
            return below, self.rows.people(starts, ends)[cells.region] - below
        rows = ragged(starts, ends - starts)
        region = np.repeat(np.arange(len(starts)), ends - starts)
        place = self.rows.places[c][rows].astype(np.int64)
        order = np.lexsort((place, self.rows.whose[rows], region))
        region, person, place = region[order], self.rows.whose[rows][order], place[order]
        new = np.append(True, (np.diff(person) != 0) | (np.diff(region) != 0))
        n_places = int(place.max(initial=0)) + 1
        cell = cells.region * n_places + cells.place
        lowest = np.searchsorted(cell, (region * n_places + place)[new])
        highest = np.searchsorted(cell, (region * n_places + place)[np.append(new[1:], True)])
        low, high = (np.bincount(each, minlength=len(cell)) for each in (lowest, highest))
        people = np.add.reduceat(low, cells.first[:-1])
        return cells.added_up(low), people[cells.region] - cells.added_up(high)

    def _kept(self, c: int, starts: Ids, ends: Ids, region: Ids, place: Places) -> Flags:
        """Whether one cut of each of some regions leaves both sides with what they must keep."""
        starts, ends = starts[region], ends[region]
        bounds = np.stack([np.zeros_like(place), place + 1], axis=1).reshape(-1)
        branch = parts_of(self.rows.places[c], starts, ends, bounds, np.arange(len(region) + 1) * 2)
        kept = self.parts_keep(branch, len(bounds), ragged(starts, ends - starts))
        return np.asarray(kept.reshape(-1, 2).all(axis=1))

    def _halves(self, c: int, cells: _Cells, starts: Ids, ends: Ids) -> Offers:
        """Cuts at the median, people at it going to both sides so that these are equally large."""
        size = ends - starts
        below = cells.added_up(cells.counts.sum(axis=1))
        reached = below >= (size // 2)[cells.region]
        at = np.flatnonzero(reached & ~np.append(False, reached[:-1] & (np.diff(cells.region) == 0)))
        several = np.diff(cells.first) > 1
        there = cells.counts[at].sum(axis=1)
        ties = size // 2 - (below[at] - there)
        before = np.where(at > cells.first[:-1], cells.place[at - 1], -1)
        after = np.where(at + 1 < cells.first[1:], cells.place[np.minimum(at + 1, len(below) - 1)], -1)
        branch = np.empty(int(size.sum()), dtype=np.int64)
        kernels.halves(self.rows.places[c], starts, ends, cells.place[at], ties, branch)
        parts = self.parts_keep(branch, 2 * len(size), ragged(starts, size))
        kept = several & parts.reshape(-1, 2).all(axis=1)
        ties = np.where(ties < there, ties, -1)  # all of them: no more than a cut between two places
        return Offers(np.where(kept, cells.place[at], -1), after, ties, before, np.zeros(len(size)))


def parts_of(places: Places, starts: Ids, ends: Ids, bounds: Places, first: Ids) -> Ids:
    """The part of each row of some segments; part p begins at bounds[p], segment s has those from first[s] on."""
    branch = np.empty(int((ends - starts).sum()), dtype=np.int64)
    kernels.branches(places, starts, ends, bounds, first, branch)
    return branch


def pieces(costs: Counts) -> Iterator[slice]:
    """Neighbours whose costs together are not above what is held at once; at least one each."""
    reached, at = np.cumsum(costs), 0
    while at < len(costs):
        before = reached[at - 1] if at else 0
        end = max(int(np.searchsorted(reached, before + AT_ONCE, side="right")), at + 1)
        yield slice(at, end)
        at = end


def mixed(counts: Counts) -> Gains:
    """The entropy of each row of counts times its people, in bits."""
    return np.asarray(_x_log_x(counts.sum(axis=1)) - _x_log_x(counts).sum(axis=1))


def _x_log_x(counts: Counts) -> Gains:
    return np.asarray(counts * np.log2(np.maximum(counts, 1)))


def gains(whole: Counts, parts: Gains, first: Ids) -> Gains:
    """What is gained by parting each whole into its parts, of which the mixture is given."""
    return np.asarray((mixed(whole) - np.add.reduceat(parts, first[:-1])).round(DIGITS))


def _least(region: Ids, key: NDArray[np.generic], some: Ids) -> Ids:
    """Those of some cells, in their order, that have the least key of their region."""
    if not len(some):
        return some
    starts = np.flatnonzero(np.append(True, np.diff(region[some]) > 0))
    least = np.minimum.reduceat(key[some], starts)
    return np.asarray(some[key[some] == np.repeat(least, np.diff(np.append(starts, len(some))))])


def _some(cells: _Cells, regions: Flags) -> _Cells:
    """The cells of some of the regions."""
    own = regions[cells.region]
    first = np.append(0, np.cumsum(np.diff(cells.first)[regions]))
    region = np.repeat(np.arange(int(regions.sum())), np.diff(first))
    return _Cells(region, cells.place[own], cells.counts[own], first)
