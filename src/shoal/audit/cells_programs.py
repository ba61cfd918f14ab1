# SPDX-License-Identifier: Apache-2.0
"""Cells while three or more private columns vary: linear programs, and a proof of each answer that needs no solver.

The largest margin by which a cell can win all its comparisons is a linear program. Its solution is a point, which is
checked by putting it in; its dual is a weighting of the comparisons, and where the weighted sum is above what rounding
explains on the whole box, no point wins them all. So the tolerance of the solver decides nothing: where neither proof
goes through, the cell is undecided.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.audit.cells import NO, UNDECIDED, YES, Floats, Problem, States

TOGETHER = 256  # programs that are handed to the solver as one, which saves most of its overhead
TRIED = 64  # points of the box that are tried before any program


def decide_by_programs(
    rows: NDArray[np.int64], cells: NDArray[np.int64], problem: Problem
) -> tuple[States, NDArray[np.int64], Floats]:
    """The state of some pairs of person and cell, and for YES the start and the steps that lead there."""
    state = np.zeros(len(rows), dtype=np.int8)
    start_of = np.zeros(len(rows), dtype=np.int64)
    where = np.zeros((len(rows), len(problem.counts)))
    tried = _some_points(len(problem.counts), problem.counts)
    left_open = np.flatnonzero(~_lost(rows, cells, problem))
    for start in range(len(problem.shifts)):
        pairs = left_open[state[left_open] < YES]
        for first in range(0, len(pairs), TOGETHER):
            batch = pairs[first : first + TOGETHER]
            found, steps = _decide_batch(rows[batch], cells[batch], problem, start, tried)
            state[batch] = np.maximum(state[batch], found)
            start_of[batch[found == YES]] = start
            where[batch[found == YES]] = steps[found == YES]
    return state, start_of, where


def _some_points(n_steps: int, counts: NDArray[np.int64]) -> Floats:
    """The middle, all or some corners, and points in between, the same every time."""
    rng = np.random.default_rng(0)
    corners = (np.arange(2 ** min(n_steps, 4))[:, None] >> np.arange(n_steps)) & 1
    inside = rng.random((max(TRIED - len(corners) - 1, 0), n_steps))
    return _rounded(np.concatenate([np.full((1, n_steps), 0.5), corners, inside]), counts)


def _rounded(points: Floats, counts: NDArray[np.int64]) -> Floats:
    """Points with the steps of whole-number columns at whole numbers."""
    return np.where(counts > 0, np.round(points * counts) / np.maximum(counts, 1), points)


def _lost(rows: NDArray[np.int64], cells: NDArray[np.int64], problem: Problem) -> NDArray[np.bool_]:
    """Whether a single other site is nearer in the whole box."""
    lost = np.empty(len(rows), dtype=bool)
    for first in range(0, len(rows), 2**16):  # in pieces, for the memory's sake
        part = slice(first, first + 2**16)
        margin, error = _fixed(rows[part], cells[part], problem)
        lost[part] = (problem.least[cells[part]] > margin + error).any(axis=1)
    return lost


def _fixed(rows: NDArray[np.int64], cells: NDArray[np.int64], problem: Problem) -> tuple[Floats, Floats]:
    """For every comparison of some pairs: by how much mine wins on the public part, and the error of that."""
    mine, other = problem.mine[cells], problem.other[cells]
    margin = np.take_along_axis(problem.scores[rows], other, axis=1) - np.take_along_axis(
        problem.scores[rows], mine, axis=1
    )
    error = np.take_along_axis(problem.errors[rows], other, axis=1) + np.take_along_axis(
        problem.errors[rows], mine, axis=1
    )
    return margin, np.where(mine == other, 0.0, error)


def _decide_batch(
    rows: NDArray[np.int64], cells: NDArray[np.int64], problem: Problem, start: int, tried: Floats
) -> tuple[States, Floats]:
    mine, other = problem.mine[cells], problem.other[cells]
    real = mine != other
    margin, error = _fixed(rows, cells, problem)
    margin = margin + problem.shifts[start][other] - problem.shifts[start][mine]
    slopes = problem.gradients[mine] - problem.gradients[other]  # pairs × comparisons × steps
    state = np.full(len(rows), UNDECIDED, dtype=np.int8)
    steps = np.zeros((len(rows), len(problem.counts)))
    spare = (margin - error)[:, :, None] - slopes @ tried.T
    wins = ((spare > 0) | ~real[:, :, None]).all(axis=1)
    easy = wins.any(axis=1)
    state[easy], steps[easy] = YES, tried[wins[easy].argmax(axis=1)]
    hard = np.flatnonzero(~easy)
    if len(hard):
        slopes, margin, error, real = slopes[hard], margin[hard], error[hard], real[hard]
        points, weights = _solve(slopes, margin, real)
        points = _rounded(points, problem.counts)
        spare = margin - error - (slopes @ points[:, :, None])[:, :, 0]
        reached = ((spare > 0) | ~real).all(axis=1)
        total = (weights[:, None, :] @ slopes)[:, 0]
        least = np.minimum(total, 0).sum(axis=1) - (weights * (margin + error)).sum(axis=1)
        state[hard[reached]], steps[hard[reached]] = YES, points[reached]
        # adding up the weighted comparisons is itself wrong by some roundings
        sizes = (weights * (np.abs(margin) + np.abs(slopes).sum(axis=2))).sum(axis=1)
        state[hard[least > np.finfo(np.float64).eps * 64 * sizes]] = NO
    return state, steps


def _solve(slopes: Floats, margin: Floats, real: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The point of the largest margin and the weights that prove it, for many programs at once.

    Each program: the largest t with `slopes @ v + size * t <= margin` for v between 0 and 1. They share nothing, so
    one matrix with a block for each solves them all.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    n, n_compared, n_steps = slopes.shape
    size = np.maximum(np.abs(slopes).sum(axis=2), np.abs(margin))
    size = np.where(real & (size > 0), size, 1.0)
    block = np.concatenate([slopes / size[:, :, None], np.ones((n, n_compared, 1))], axis=2)
    block[~real] = 0.0
    row = np.broadcast_to(np.arange(n * n_compared).reshape(n, n_compared, 1), block.shape)
    column = np.broadcast_to(np.arange(n * (n_steps + 1)).reshape(n, 1, n_steps + 1), block.shape)
    matrix = coo_array(
        (block.ravel(), (row.ravel(), column.ravel())), shape=(n * n_compared, n * (n_steps + 1))
    ).tocsr()
    aim = np.tile([*np.zeros(n_steps), -1.0], n)
    limits = np.tile([*([(0.0, 1.0)] * n_steps), (-2.0, 2.0)], (n, 1))
    limit = np.where(real, margin / size, 0.0).ravel()
    solved = linprog(aim, A_ub=matrix, b_ub=limit, bounds=limits, method="highs")
    if solved.x is None:  # nothing proven: the caller says undecided
        return np.full((n, n_steps), 0.5), np.zeros((n, n_compared))
    points = np.clip(solved.x.reshape(n, n_steps + 1)[:, :n_steps], 0.0, 1.0)
    weights = np.maximum(-solved.ineqlin.marginals, 0.0).reshape(n, n_compared) / size
    return points, np.where(real, weights, 0.0)
