# SPDX-License-Identifier: Apache-2.0
"""Which two kinds of rules could leave as the only two, all pairs at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shoal.privacy import needs_values
from shoal.rules.problem import Flags, Ids, Problem

MOST_KINDS = 4_000  # of which all pairs are looked at
CHUNK = 4_096  # rows at once

Table = NDArray[np.int64]  # of how many people have two parts each


def compatible(problem: Problem, kinds: Ids) -> Flags:
    """Which pairs of kinds keep the requirement as the only two; all of them, where that is too much to ask.

    The public part of an antecedent is within that of both sides. So a kind parts people into three: those with neither
    part, with the first, and with both. Two kinds part them into nine, and how many are in each of the nine follows
    from how many have two parts each.
    """
    n = len(kinds)
    fine = np.ones((n, n), dtype=bool)
    if problem.person is not None or n > MOST_KINDS:  # numbers of different people do not add up
        return fine
    everybody = len(problem.parts)
    asked = np.stack([np.full(n, everybody), problem.first[kinds], problem.second[kinds]])
    tells = np.stack([np.zeros(n, dtype=bool), problem.tells[kinds, 0], problem.tells[kinds].any(axis=1)])
    for counts in _both_parts(problem):
        total = np.array([each[everybody, everybody] for each in counts])
        for one in range(n):
            cells = np.stack([_cells(each, asked[:, one], asked) for each in counts], axis=-1)
            keeps = np.asarray(problem.requirement.holds(cells.reshape(-1, len(counts)), total)).reshape(3, 3, n)
            told = tells[:, one][:, None, None] | tells[None]
            fine[one] &= (keeps | ~told).all(axis=(0, 1))
    return fine


def _cells(have: Table, one: Ids, others: Ids) -> Table:
    """How many people are in each of the nine cells of a kind with each of the others."""
    at_least = np.zeros((4, 4, others.shape[1]), dtype=np.int64)
    at_least[:3, :3] = have[one[:, None, None], others[None]]
    return at_least[:3, :3] - at_least[1:, :3] - at_least[:3, 1:] + at_least[1:, 1:]


def _both_parts(problem: Problem) -> Iterator[list[Table]]:
    """How many people have two parts each, in all; or for each sensitive item, those without it and those with it."""
    if not needs_values(problem.requirement):
        rows, people = (problem.patterns, problem.people) if problem.compiled else (problem.rows, None)
        yield [_having(rows, people)]
        return
    for value in problem.values:
        yield [_having(problem.rows, (value == code).astype(np.int64)) for code in (0, 1)]


def _having(rows: NDArray[np.uint8], people: Table | None) -> Table:
    """Sums over rows in floats, which are whole numbers and exact far beyond any number of people; then integers."""
    have = np.zeros((len(rows) + 1, len(rows) + 1))
    for start in range(0, rows.shape[1], CHUNK):
        part = rows[:, start : start + CHUNK].astype(np.float64)
        part = np.vstack([part, np.ones(part.shape[1])])  # everybody
        have += (part if people is None else part * people[start : start + CHUNK]) @ part.T
    return have.astype(np.int64)
