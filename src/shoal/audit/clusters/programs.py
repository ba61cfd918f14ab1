# SPDX-License-Identifier: Apache-2.0
"""Cells while three or more private columns vary: linear programs, and a proof of each answer that needs no solver.

The largest margin by which a cell can win all its comparisons is a linear program. Its solution is a point, which is
checked by putting it in; its dual is a weighting of the comparisons, and where the weighted sum is above what rounding
explains on the whole box, no point wins them all. So the tolerance of the solver decides nothing: where neither proof
goes through, the cell is undecided.

The public part of a person moves the limits of a cell's comparisons and nothing else. So a point or a weighting that
settles one person's cell settles that of many others, and few programs have to be solved.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.audit.clusters.cells import NO, UNDECIDED, YES, Floats, Problem, States

TOGETHER = 64  # programs that are handed to the solver as one, which saves most of its overhead
TRIED = 64  # points of the box that are tried before any program


def decide_by_programs(
    rows: NDArray[np.int64], cells: NDArray[np.int64], problem: Problem
) -> tuple[States, NDArray[np.int64], Floats]:
    """The state of some pairs of person and cell, and for YES the start and the steps that lead there."""
    state = np.zeros(len(rows), dtype=np.int8)
    start_of = np.zeros(len(rows), dtype=np.int64)
    where = np.zeros((len(rows), len(problem.counts)))
    for cell in np.unique(cells):
        pairs = np.flatnonzero(cells == cell)
        question = _Question(rows[pairs], int(cell), problem)
        for start in range(len(problem.shifts)):
            open_ = np.flatnonzero((state[pairs] < YES) & ~question.lost)
            found, steps = question.decide(open_, start)
            chosen, reached = pairs[open_], found == YES
            state[chosen] = np.maximum(state[chosen], found)
            start_of[chosen[reached]] = start
            where[chosen[reached]] = steps[reached]
    return state, start_of, where


class _Question:
    """Who can be in one cell: the comparisons are the same for all people, `slopes @ v <= margin`, margins are not."""

    def __init__(self, rows: NDArray[np.int64], cell: int, problem: Problem) -> None:
        real = problem.mine[cell] != problem.other[cell]
        mine, other = problem.mine[cell][real], problem.other[cell][real]
        self.counts = problem.counts
        self.slopes = problem.gradients[mine] - problem.gradients[other]
        self.shifts = problem.shifts[:, other] - problem.shifts[:, mine]
        self.margin = problem.scores[np.ix_(rows, other)] - problem.scores[np.ix_(rows, mine)]
        self.error = problem.errors[np.ix_(rows, other)] + problem.errors[np.ix_(rows, mine)]
        self.lost = (problem.least[cell][real] > self.margin + self.error).any(axis=1)  # to one site alone

    def decide(self, people: NDArray[np.int64], start: int) -> tuple[States, Floats]:
        """The state of some people at one start, and for YES the steps."""
        margin, error = self.margin[people] + self.shifts[start], self.error[people]
        state = np.full(len(people), UNDECIDED, dtype=np.int8)
        steps = np.zeros((len(people), len(self.counts)))
        open_ = np.arange(len(people))
        points, weights = _some_points(self.counts), np.zeros((0, len(self.slopes)))
        while True:
            spare = margin[open_] - error[open_]
            for point in points:
                reached = (spare > self.slopes @ point).all(axis=1)
                if reached.any():
                    state[open_[reached]], steps[open_[reached]] = YES, point
                    open_, spare = open_[~reached], spare[~reached]
            refuted = self._refuted(margin[open_], error[open_], weights).any(axis=1)
            state[open_[refuted]] = NO
            open_ = open_[~refuted]
            if not len(open_):
                return state, steps
            # some of those left, from all over; what their own proof does not settle stays undecided
            asked = open_[np.unique(np.linspace(0, len(open_) - 1, TOGETHER).astype(np.int64))]
            points, weights = _solve(self.slopes, margin[asked])
            points = _rounded(points, self.counts)
            reached = (points @ self.slopes.T < margin[asked] - error[asked]).all(axis=1)
            state[asked[reached]], steps[asked[reached]] = YES, points[reached]
            own = np.diagonal(self._refuted(margin[asked], error[asked], weights))
            state[asked[own]] = NO
            points, weights = points[reached], weights[own]
            open_ = np.setdiff1d(open_, asked, assume_unique=True)

    def _refuted(self, margin: Floats, error: Floats, weights: Floats) -> NDArray[np.bool_]:
        """Whether weighted comparisons add up to more than they may on the whole box (people × weightings)."""
        least = np.minimum(weights @ self.slopes, 0).sum(axis=1)
        # adding up is itself wrong by some roundings
        sizes = np.abs(margin) @ weights.T + weights @ np.abs(self.slopes).sum(axis=1)
        slack = np.finfo(np.float64).eps * 4 * (len(self.slopes) + 16) * sizes
        return np.asarray(least > (margin + error) @ weights.T + slack)


def _some_points(counts: NDArray[np.int64]) -> Floats:
    """The middle, all or some corners, and points in between, the same every time."""
    n_steps = len(counts)
    corners = (np.arange(2 ** min(n_steps, 4))[:, None] >> np.arange(n_steps)) & 1
    inside = np.random.default_rng(0).random((TRIED - len(corners) - 1, n_steps))
    return _rounded(np.concatenate([np.full((1, n_steps), 0.5), corners, inside]), counts)


def _rounded(points: Floats, counts: NDArray[np.int64]) -> Floats:
    """Points with the steps of whole-number columns at whole numbers."""
    return np.where(counts > 0, np.round(points * counts) / np.maximum(counts, 1), points)


def _solve(slopes: Floats, margin: Floats) -> tuple[Floats, Floats]:
    """The point of the largest margin and the weights that prove it, for many people at once.

    Each program: the largest t with `slopes @ v + size * t <= margin` for v between 0 and 1. They share nothing, so
    one matrix with a block for each solves them all.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    n, (n_compared, n_steps) = len(margin), slopes.shape
    size = np.maximum(np.abs(slopes).sum(axis=1), np.abs(margin))
    size = np.where(size > 0, size, 1.0)
    block = np.concatenate([slopes / size[:, :, None], np.ones((n, n_compared, 1))], axis=2)
    row = np.broadcast_to(np.arange(n * n_compared).reshape(n, n_compared, 1), block.shape)
    column = np.broadcast_to(np.arange(n * (n_steps + 1)).reshape(n, 1, n_steps + 1), block.shape)
    matrix = coo_array((block.ravel(), (row.ravel(), column.ravel()))).tocsr()
    aim = np.tile([*np.zeros(n_steps), -1.0], n)
    limits = np.tile([*([(0.0, 1.0)] * n_steps), (-2.0, 2.0)], (n, 1))
    solved = linprog(aim, A_ub=matrix, b_ub=(margin / size).ravel(), bounds=limits, method="highs")
    if solved.x is None:  # nothing proven: the caller says undecided
        return np.full((n, n_steps), 0.5), np.zeros((n, n_compared))
    points = np.clip(solved.x.reshape(n, n_steps + 1)[:, :n_steps], 0.0, 1.0)
    return points, np.maximum(-solved.ineqlin.marginals, 0.0).reshape(n, n_compared) / size
