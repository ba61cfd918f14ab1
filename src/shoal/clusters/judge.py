# SPDX-License-Identifier: Apache-2.0
"""Whether a clustering may be released: the spans of its nearest-centroid rule, worked out anew where they changed.

Only people who could be in the cluster that was split, or can be in one of the two new ones, can have other spans than
before: for everybody else some third centroid is nearer than all of these, whatever the private values are.

Nothing here comes from the audit, which recounts what is released in its own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.clusters.counting import Counter, numbered
from shoal.clusters.territory import NO, UNDECIDED, YES, Ids, States, Territory, settle
from shoal.data.table import Column, Table
from shoal.privacy import Requirement
from shoal.release.encoding import Encoding, Floats

DIGITS = 5  # of a published mean below the scale of its column


@dataclass(frozen=True, eq=False)
class Model:
    """Clusters as they would be released.

    Attributes
    ----------
    part
        For every distinct row the cluster whose centroid it has a part in: the centroid is the mean of these rows,
        perhaps moved a little.
    means, centroids
        The centroids as they are stated, and as points.
    people
        How many people are nearest to each.
    state
        Which clusters people with each combination of public values can be in (combinations × clusters).
    failing
        How many rows are in groups that do not keep the requirement: 0 where the clusters may be released.
    """

    part: Ids
    means: Floats
    centroids: Floats
    people: Ids
    state: States
    failing: int

    def __len__(self) -> int:
        return len(self.means)


class Judge:
    """The rows, and what is asked of every group.

    Parameters
    ----------
    table
        The rows, every column with its domain settled.
    encoding
        How columns become points.
    public
        The columns an attacker knows.
    requirement, sensitive
        What every group must keep, and the columns whose values it is about.
    person
        Whose row each is, where people have several.
    least
        How many people must stand behind a centroid, and be nearest to it.
    """

    def __init__(
        self,
        table: Table,
        encoding: Encoding,
        public: Sequence[str],
        requirement: Requirement,
        sensitive: Sequence[Column],
        person: Ids | None,
        least: int,
    ) -> None:
        self._encoding, self.least = encoding, least
        self._counter = Counter(requirement, sensitive, person)
        self.distinct_of = numbered([column.codes for column in table.values()], table.n_rows)
        _, example, self.weights = np.unique(self.distinct_of, return_index=True, return_counts=True)
        self.points = encoding.points(table.take(example))
        self.spread = self._spread(encoding)
        known = [name for name in table if name in public]
        self._kind = numbered([table[name].codes for name in known], table.n_rows)
        _, kinds = np.unique(self._kind, return_index=True)
        self._n_kinds = len(kinds)
        self._territory = None if len(known) == len(table) else Territory(encoding, known, table.take(kinds))
        self._pools = [] if self._territory is None else self._pooled(table, known)

    def _pooled(self, table: Table, known: Sequence[str]) -> list[tuple[Ids, Floats]]:
        """Of each public category that few people have: the shares stated as one with others, and how many rows each.

        An outsider knows who these few are. Their share in a centroid would tell which cluster they are in.
        """
        pools = []
        for number, attribute in enumerate(self._encoding.attributes):
            if attribute.type == "numeric" or attribute.name not in known:
                continue
            own, codes = self._encoding.stated(number), table[attribute.name].codes.astype(np.int64)
            people = self._counter.people(codes, own.stop - own.start)
            order = np.argsort(people, kind="stable")
            order = order[people[order] > 0]
            pool = order[: np.count_nonzero(people[order] < self.least)]
            while 0 < len(pool) < len(order) and self._counter.people(np.isin(codes, pool) * 1, 2)[1] < self.least:
                pool = order[: len(pool) + 1]
            if len(pool):
                pools.append((own.start + pool, np.bincount(codes, minlength=len(people))[pool].astype(np.float64)))
        return pools

    def _spread(self, encoding: Encoding) -> Floats:
        """The standard deviation of each number that a centroid states; 0 for a share."""
        mean = np.average(self.points, axis=0, weights=self.weights)
        spread = np.sqrt(np.average((self.points - mean) ** 2, axis=0, weights=self.weights))
        stated = np.zeros(encoding.n_stated)
        for number, attribute in enumerate(encoding.attributes):
            if attribute.type == "numeric":
                stated[encoding.stated(number)] = spread[encoding.own(number)] * encoding.scales[attribute.name].scale
        return stated

    def judge(self, part: Ids, before: Model | None = None, split: tuple[int, int] | None = None) -> Model | None:
        """The clusters that are the means of some parts of the distinct rows; None where they may not be released.

        Where only one cluster of `before` was split, `split` says which, and the number of its second half.
        """
        found = self.look(part, None, before, split)
        return None if found is None or found.failing else found

    def look(
        self,
        part: Ids,
        moved: Floats | None = None,
        before: Model | None = None,
        split: tuple[int, int] | None = None,
    ) -> Model | None:
        """The clusters of some parts, and how many people's groups fail; None where that cannot be mended.

        `moved` says by how much each number that a centroid states is moved from the mean of its part.
        """
        n = int(part.max()) + 1
        if self._people(part, n).min() < self.least:
            return None
        means = self._means(part, n, moved)
        centroids = self._encoding.scaled(means)
        if len(np.unique(centroids, axis=0)) < n:
            return None
        nearest = self._nearest(centroids)
        people = self._people(nearest, n)
        if people.min() < self.least or not self._no_row_is_told(centroids, nearest):
            return None
        state = self._state(centroids, nearest, before, split)
        return Model(part, means, centroids, people, state, self._failing(state))

    def _people(self, of_distinct: Ids, n: int) -> Ids:
        return self._counter.people(of_distinct[self.distinct_of], n)

    def _means(self, part: Ids, n: int, moved: Floats | None) -> Floats:
        """Rounded means of parts, pooled and moved, in the units of their columns and within their bounds."""
        weight = np.bincount(part, weights=self.weights, minlength=n)
        sums = [np.bincount(part, weights=feature * self.weights, minlength=n) for feature in self.points.T]
        means = self._encoding.means(np.column_stack(sums) / weight[:, None])
        for pool, rows in self._pools:
            means[:, pool] = means[:, pool].sum(axis=1)[:, None] * (rows / rows.sum())
        if moved is not None:
            means += moved
        for number, attribute in enumerate(self._encoding.attributes):
            own = self._encoding.stated(number)
            digits = DIGITS - int(np.floor(np.log10(self._encoding.scales[attribute.name].scale)))
            low, high = (0.0, 1.0) if attribute.bounds is None else attribute.bounds
            means[:, own] = np.clip(np.round(means[:, own], digits), low, high) + 0.0  # no negative zero
        return means

    def _nearest(self, centroids: Floats) -> Ids:
        """The nearest centroid of every distinct row, by the rule of the release."""
        slopes, offsets = -2 * centroids.T, (centroids**2).sum(axis=1)
        return np.asarray(np.argmin(self.points @ slopes + offsets, axis=1))

    def _state(self, centroids: Floats, nearest: Ids, before: Model | None, split: tuple[int, int] | None) -> States:
        if self._territory is None:
            state = np.zeros((self._n_kinds, len(centroids)), dtype=np.int8)
            state[self._kind, nearest[self.distinct_of]] = YES
            return state
        if before is None or split is None or not _only_split(before.centroids, centroids, split[0]):
            state = self._territory.states(centroids)
        else:
            halves = np.array(split)
            state = np.column_stack([before.state, np.zeros(len(before.state), dtype=np.int8)])
            state[:, halves] = self._territory.states(centroids, halves)
            touched = (before.state[:, split[0]] > NO) | (state[:, halves] > NO).any(axis=1)
            others = np.setdiff1d(np.arange(len(centroids)), halves)
            if len(others) and touched.any():
                state[np.ix_(touched, others)] = self._territory.states(centroids, others, touched)
        settle(state)
        return state

    def _failing(self, state: States) -> int:
        """How many rows' groups fail; people whose span is in doubt are told apart by public values."""
        group = numbered(list(state.T), len(state))
        in_doubt = (state == UNDECIDED).any(axis=1)
        group = np.where(in_doubt, len(state) + np.arange(len(state)), group)
        exempt = ~in_doubt & ((state > NO).sum(axis=1) == 1)
        return self._counter.failing(group[self._kind], exempt[self._kind])

    def _no_row_is_told(self, centroids: Floats, nearest: Ids) -> bool:
        """Whether no centroid happens to be the row of few people: an audit could not tell it from a stolen one.

        The mean of the people who are nearest may be anybody's row.
        """
        if self.least < 2:
            return True
        sizes = np.abs(self.points).max(axis=0)
        for number, centroid in enumerate(centroids):
            near = 1e-12 * np.maximum(np.abs(centroid), sizes)
            same = np.flatnonzero((np.abs(self.points - centroid) <= near).all(axis=1))
            if not len(same):
                continue
            is_same: NDArray[np.int64] = np.isin(np.arange(len(self.points)), same).astype(np.int64)
            if self._people(is_same, 2)[1] >= self.least:
                continue
            own = nearest == number
            mean = np.average(self.points[own], axis=0, weights=self.weights[own])
            if (np.abs(mean - centroid) > 1e-7 * np.ptp(self.points[own], axis=0)).any():
                return False
        return True


def _only_split(before: Floats, now: Floats, split: int) -> bool:
    """Whether all centroids but the one that was split are where they were: one that was moved may be back."""
    kept = np.arange(len(before)) != split
    return np.array_equal(now[: len(before)][kept], before[kept])
