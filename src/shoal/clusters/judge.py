# SPDX-License-Identifier: Apache-2.0
"""Whether a clustering may be released: the spans of its nearest-centroid rule, worked out anew where they changed.

Only people who could be in the cluster that was split, or can be in one of the two new ones, can have other spans than
before: for everybody else some third centroid is nearer than all of these, whatever the private values are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.audit.asking import ask
from shoal.audit.clusters.cells import NO, UNDECIDED, Box, Cells, Floats, States, reach, reach_some, settle
from shoal.audit.clusters.released import encoded_features
from shoal.audit.foreign._centroid_findings import centroid_findings
from shoal.audit.foreign._centroid_models import CentroidModel
from shoal.audit.foreign._private_boxes import private_boxes
from shoal.audit.groups import Groups, Ids, count_people, numbered
from shoal.data.table import Column, Table
from shoal.privacy import Requirement
from shoal.release.encoding import Encoding

DIGITS = 5  # of a published mean below the scale of its column


@dataclass(frozen=True, eq=False)
class Model:
    """Clusters as they would be released.

    Attributes
    ----------
    part
        For every distinct row the cluster whose centroid it has a part in: the centroid is the mean of these rows.
    means, centroids
        The centroids as they are stated, and as points.
    people
        How many people are nearest to each.
    state
        Which clusters people with each combination of public values can be in (combinations × clusters).
    """

    part: Ids
    means: Floats
    centroids: Floats
    people: Ids
    state: States

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
        What every group must keep, and the columns whose values it is about ([None]: only sizes count).
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
        sensitive: list[Column | None],
        person: Ids | None,
        least: int,
    ) -> None:
        self._encoding = encoding
        self._requirement, self._sensitive, self._person, self._least = requirement, sensitive, person, least
        self.distinct_of = numbered([column.codes for column in table.values()], table.n_rows)
        _, example, self.weights = np.unique(self.distinct_of, return_index=True, return_counts=True)
        self.points = encoding.points(table.take(example))
        known = [name for name in table if name in public]
        self._kind = numbered([table[name].codes for name in known], table.n_rows)
        _, kinds = np.unique(self._kind, return_index=True)
        hidden = np.array([feature.column not in known for feature in encoded_features(encoding)])
        self._public = np.where(hidden, 0.0, self.points[self.distinct_of[kinds]])
        domain = {each.name: each for each in encoding.attributes}
        self._boxes: list[Box] | None = private_boxes(encoded_features(encoding), domain, known)
        self._all_public = len(known) == len(domain)

    def judge(self, part: Ids, before: Model | None = None, split: tuple[int, int] | None = None) -> Model | None:
        """The clusters that are the means of some parts of the distinct rows; None where they may not be released.

        Where only one cluster of `before` was split, `split` says which, and the number of its second half.
        """
        n = int(part.max()) + 1
        if count_people(part[self.distinct_of], n, self._person).min() < self._least:
            return None
        means = self._means(part, n)
        centroids = self._encoding.scaled(means)
        if len(np.unique(centroids, axis=0)) < n:
            return None
        cells = Cells.nearest(centroids)
        nearest = np.argmin(cells.scores(self.points), axis=1)
        people = count_people(nearest[self.distinct_of], n, self._person)
        if people.min() < self._least:
            return None
        state = self._state(cells, nearest, before, split)
        if not self._groups_hold(state) or not self._no_row_is_told(centroids, cells, nearest):
            return None
        return Model(part, means, centroids, people, state)

    def _means(self, part: Ids, n: int) -> Floats:
        """Rounded means of parts in the units of their columns, within their bounds."""
        weight = np.bincount(part, weights=self.weights, minlength=n)
        means = np.empty((n, self._encoding.n_features))
        scale = 1 / self._encoding.factors
        for place, feature in enumerate(self.points.T):
            mean = np.bincount(part, weights=feature * self.weights, minlength=n) / weight
            mean = mean * scale[place] + self._encoding.centres[place]
            means[:, place] = np.round(mean, DIGITS - int(np.floor(np.log10(scale[place]))))
        for number, attribute in enumerate(self._encoding.attributes):
            low, high = (0.0, 1.0) if attribute.bounds is None else attribute.bounds
            own = self._encoding.own(number)
            means[:, own] = np.clip(means[:, own], low, high) + 0.0  # no negative zero
        return means

    def _state(self, cells: Cells, nearest: Ids, before: Model | None, split: tuple[int, int] | None) -> States:
        if self._all_public:
            state = np.zeros((len(self._public), len(cells)), dtype=np.int8)
            state[self._kind, nearest[self.distinct_of]] = 2
            return state
        if self._boxes is None:
            return np.full((len(self._public), len(cells)), UNDECIDED, dtype=np.int8)
        if before is None or split is None:
            return reach(cells, self._public, self._boxes)
        old, new = split
        halves = np.array([old, new])
        both = replace(cells, mine=cells.mine[halves], other=cells.other[halves])
        state = np.column_stack([before.state, np.zeros(len(before.state), dtype=np.int8)])
        state[:, halves] = reach_some(both, self._public, self._boxes)
        touched = (before.state[:, old] > NO) | (state[:, halves] > NO).any(axis=1)
        others = np.setdiff1d(np.arange(len(cells)), halves)
        if len(others) and touched.any():
            rest = replace(cells, mine=cells.mine[others], other=cells.other[others])
            state[np.ix_(touched, others)] = reach_some(rest, self._public[touched], self._boxes)
        settle(state)
        return state

    def _groups_hold(self, state: States) -> bool:
        """Whether every group keeps the requirement; people whose span is in doubt are told apart by public values."""
        group = numbered(list(state.T), len(state))
        in_doubt = (state == UNDECIDED).any(axis=1)
        group = np.where(in_doubt, group.max() + 1 + np.arange(len(state)), group)
        several = np.where(in_doubt, 2, (state > NO).sum(axis=1))[self._kind]
        _, example, of_row = np.unique(group[self._kind], return_index=True, return_inverse=True)
        of_row = of_row.reshape(-1)
        people = count_people(of_row, len(example), self._person)
        groups = Groups(of_row, people, several[example], example, self._person)
        _, failing, _ = ask(self._requirement, self._sensitive, groups, groups.n_bins > 1)
        return not failing.any()

    def _no_row_is_told(self, centroids: Floats, cells: Cells, nearest: Ids) -> bool:
        """Whether no centroid happens to be the row of few people: an audit could not tell it from a stolen one."""
        if self._least < 2:
            return True
        of_row = nearest[self.distinct_of]
        same = np.arange(len(centroids))

        def answer(points: Floats) -> NDArray[np.int64]:
            return of_row

        model = CentroidModel("", centroids, cells, same, same, answer)
        return not centroid_findings(model, self.points[self.distinct_of], None, self._person, self._least)
