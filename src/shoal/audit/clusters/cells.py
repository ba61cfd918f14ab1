# SPDX-License-Identifier: Apache-2.0
"""Which cells of a nearest-centroid model a person can be in while private values vary: exact, or left undecided.

Plain arrays enter: centroids, the public part of every person, and a box in which the private part can be. A cell is
where one centroid is nearest. Squared distances, less the term that all share, are linear in the private values, so
a cell within the box is an interval, a polygon or a polytope, and the question is whether it is empty.

Every answer is proven in the arithmetic of the model: a point at which the centroid is nearest by more than rounding
can change, or a proof that there is none. What lies between counts as undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
States = NDArray[np.int8]

NO, UNDECIDED, YES = 0, 1, 2  # in this order: of several alternatives the largest counts
AT_ONCE = 2**22  # pairs of person and site that are worked on together, for the memory's sake
MOST_STARTS = 2**16  # combinations of enumerated private values; beyond, cells are undecided


@dataclass(frozen=True, eq=False)
class Cells:
    """A model that puts a point into the cell whose comparisons it wins.

    A site scores `slopes @ x + offsets`, which is the squared distance to it less what all sites share. A point is in
    a cell when, in each of the cell's comparisons, the score of `mine` is below that of `other`.

    Attributes
    ----------
    slopes, offsets
        Of every site (sites × features; sites).
    mine, other
        The comparisons of every cell, as numbers of sites (cells × comparisons); a site compared with itself is none.
    common
        What all sites share is the sum of `common * x**2`; it matters for rounding only.
    precision
        The spacing of the model's numbers at 1: that of float32 or float64.
    """

    slopes: Floats
    offsets: Floats
    mine: NDArray[np.int64]
    other: NDArray[np.int64]
    common: Floats
    precision: float = float(np.finfo(np.float64).eps)

    def __len__(self) -> int:
        return len(self.mine)

    @classmethod
    def nearest(cls, centroids: NDArray[np.floating], weights: Floats | None = None) -> Cells:
        """The cells of the nearest centroid.

        `weights` are those of the features in the squared distance; None for the plain one.

        >>> Cells.nearest(np.array([[0.0], [10.0], [4.0]])).winner(np.array([[1.0], [3.0], [8.0]]))
        array([0, 2, 1])
        """
        precision = float(np.finfo(centroids.dtype).eps)
        centers: Floats = centroids.astype(np.float64)
        common = np.ones(centers.shape[1]) if weights is None else weights
        n = len(centers)
        mine = np.repeat(np.arange(n), max(n - 1, 1)).reshape(n, -1)
        other = np.zeros((1, 1), dtype=np.int64) if n == 1 else _others(centers * np.sqrt(common))
        return cls(-2 * centers * common, (centers**2 * common).sum(axis=1), mine, other, common, precision)

    def scores(self, points: Floats) -> Floats:
        """The score of every site at every point."""
        return np.asarray(points @ self.slopes.T + self.offsets)

    def winner(self, points: Floats) -> NDArray[np.int64]:
        """The cell of every point in plain arithmetic; of cells that tie, the lowest number."""
        scores = self.scores(points)
        inside = np.column_stack(
            [(scores[:, m] <= scores[:, o]).all(1) for m, o in zip(self.mine, self.other, strict=True)]
        )
        return np.asarray(inside.argmax(axis=1))

    def rounding(self, sizes: Floats) -> Floats:
        """By how much a score may be wrong, the model's and ours, for points of features as large as `sizes`.

        A sum of n terms is wrong by at most n roundings of the sum of their sizes; clipping adds one for each cut.
        """
        size = sizes @ np.abs(self.slopes).T + np.abs(self.offsets) + (sizes**2 @ self.common)[:, None]
        own = float(np.finfo(np.float64).eps)
        steps = self.precision * (self.slopes.shape[1] + 8) + own * (4 * self.mine.shape[1] + 32)
        return np.asarray(steps * size)


def _others(centroids: Floats) -> NDArray[np.int64]:
    """For every centroid the others, nearest first: they cut most, so that empty cells are noticed soonest."""
    squares = (centroids**2).sum(axis=1)
    apart = squares[:, None] + squares - 2 * centroids @ centroids.T
    np.fill_diagonal(apart, -np.inf)
    return np.asarray(np.argsort(apart, axis=1, kind="stable")[:, 1:])


@dataclass(frozen=True, eq=False)
class Box:
    """Where the private part of a person can be, in the features of the model.

    The private part is one of `starts`, plus each of `steps` times a number from 0 to 1: of a step with a count n only
    the multiples of 1/n.

    Attributes
    ----------
    starts
        Every combination of the private values that are enumerated, at the lowest of the others (starts × features).
    steps
        By how much the features change from the lowest to the highest value of a private column (columns × features).
    counts
        Into how many equal parts each step is cut; 0 for a continuous column.
    sizes
        The largest number that is met in working out each feature, the public part itself left aside.
    """

    starts: Floats
    steps: Floats
    counts: NDArray[np.int64]
    sizes: Floats

    @classmethod
    def of(cls, starts: Floats, steps: Floats, counts: Sequence[int], sizes: Floats | None = None) -> Box:
        """A box; without `sizes` those of its points are taken, and steps that change nothing are dropped."""
        steps = np.asarray(steps, dtype=np.float64).reshape(-1, starts.shape[1])
        if sizes is None:
            sizes = np.abs(starts).max(axis=0) + np.abs(steps).sum(axis=0)
        moves = (steps != 0).any(axis=1)
        return cls(starts, steps[moves], np.asarray(counts, dtype=np.int64)[moves], sizes)

    def enumerated(self) -> Box:
        """The box with whole-number columns turned into starts, smallest first, until two steps are left."""
        box = self
        while len(box.steps) > 2 and (box.counts > 0).any():
            column = int(np.argmin(np.where(box.counts > 0, box.counts, np.iinfo(np.int64).max)))
            n = int(box.counts[column])
            if len(box.starts) * (n + 1) > MOST_STARTS // 16:
                break
            shifts = np.arange(n + 1)[:, None] / n * box.steps[column]
            starts = (box.starts[:, None] + shifts).reshape(-1, box.starts.shape[1])
            others = np.arange(len(box.steps)) != column
            box = replace(box, starts=starts, steps=box.steps[others], counts=box.counts[others])
        return box


class Problem(NamedTuple):
    """Whom to decide about, in scores: what is fixed, what the private values add to it, and how far to trust it."""

    scores: Floats  # people × sites, of the public part
    errors: Floats  # people × sites: by how much a score may be wrong
    shifts: Floats  # starts × sites: what a start adds
    gradients: Floats  # sites × steps: what a whole step adds
    counts: NDArray[np.int64]
    mine: NDArray[np.int64]
    other: NDArray[np.int64]
    least: Floats  # cells × comparisons: the least that the private part adds to the score of mine less that of other


def reach(cells: Cells, public: Floats, boxes: Sequence[Box], points: Floats | None = None) -> States:
    """For every person and cell: YES, NO or UNDECIDED, whether some private values lead to it.

    Parameters
    ----------
    cells
        The model.
    public
        The public part of every person's features, with 0 for private ones (people × features).
    boxes
        Alternatives for the private part, with 0 for public features.
    points
        If given (people × cells × features), filled with a point that proves each YES.
    """
    state = reach_some(cells, public, boxes, points)
    settle(state)
    return state


def settle(state: States) -> None:
    """Everybody is somewhere: a person's only possible cell is a sure one."""
    possible = state > NO
    state[(possible.sum(axis=1) == 1)[:, None] & possible] = YES


def reach_some(cells: Cells, public: Floats, boxes: Sequence[Box], points: Floats | None = None) -> States:
    """As `reach`, where `cells` need not have a cell for every site."""
    boxes = [box.enumerated() for box in boxes]
    state = np.zeros((len(public), len(cells)), dtype=np.int8)
    together = max(1, AT_ONCE // len(cells.offsets))
    for first in range(0, len(public), together):
        part = slice(first, first + together)
        for box in boxes:
            rows, numbers = np.nonzero(state[part] < YES)
            found, start, where = _reach_box(cells, public[part], box, rows, numbers)
            rows += first
            state[rows, numbers] = np.maximum(state[rows, numbers], found)
            if points is not None:
                rows, numbers, start, where = (each[found == YES] for each in (rows, numbers, start, where))
                points[rows, numbers] = public[rows] + box.starts[start] + where @ box.steps
    return state


def _reach_box(
    cells: Cells, public: Floats, box: Box, rows: NDArray[np.int64], numbers: NDArray[np.int64]
) -> tuple[States, NDArray[np.int64], Floats]:
    """The state of some pairs of person and cell in one box, and for YES the start and the steps that lead there."""
    if len(box.starts) > MOST_STARTS:
        undecided = np.full(len(rows), UNDECIDED, dtype=np.int8)
        return undecided, np.zeros(len(rows), dtype=np.int64), np.zeros((len(rows), len(box.steps)))
    gradients = cells.slopes @ box.steps.T
    shifts = box.starts @ cells.slopes.T
    problem = Problem(
        cells.scores(public),
        cells.rounding(np.abs(public) + box.sizes),
        shifts,
        gradients,
        box.counts,
        cells.mine,
        cells.other,
        _least(cells, shifts, gradients),
    )
    if len(box.steps) <= 2:
        from shoal.audit.clusters.compiled import decide

        # compiled once, not once for every way in which a transposed array can lie in memory
        state, start, where = decide(*(np.ascontiguousarray(each) for each in (rows, numbers, *problem)))
        return state, start, where
    from shoal.audit.clusters.programs import decide_by_programs

    return decide_by_programs(rows, numbers, problem)


def _least(cells: Cells, shifts: Floats, gradients: Floats) -> Floats:
    """For every comparison the most that the private part can speak for `mine`: a bound that holds on the whole box."""
    least = np.empty(cells.mine.shape)
    for cell, (mine, other) in enumerate(zip(cells.mine, cells.other, strict=True)):
        slopes = gradients[mine] - gradients[other]
        least[cell] = (shifts[:, mine] - shifts[:, other]).min(axis=0) + np.minimum(slopes, 0).sum(axis=1)
    return least
