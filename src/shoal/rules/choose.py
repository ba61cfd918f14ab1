# SPDX-License-Identifier: Apache-2.0
"""Choosing kinds of rules: a greedy choice depends on the order alone, so better orders are looked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.rules.problem import Flags, Ids, Problem

STEPS = 800_000_000  # of compiled code, a few seconds
ROUNDS_A_KIND = 10
MOST_ROUNDS = 1_000
SEED = 5  # any; the same rows always give the same rules


def choose(problem: Problem, value: NDArray[np.float64], start: Ids, fixed: Ids) -> Flags:
    """The kinds to release: never worth less than what a plain greedy choice in the order `start` keeps.

    Every round puts one or two kinds that were left out before all others, and fills up greedily. What is at least as
    good is where the next round starts from.

    Parameters
    ----------
    problem
        The kinds of rules.
    value
        What each kind is worth.
    start
        The kinds in the order of plain greedy, beginning with the fixed ones.
    fixed
        Kinds that are released in any case; together they keep the requirement.
    """
    by_value = np.argsort(-value, kind="stable")
    orders = [start, np.concatenate([fixed, by_value[~np.isin(by_value, fixed)]])]
    current = max(map(problem.taken, orders), key=lambda taken: float(value[taken].sum()))
    possible = problem.alone()
    draw = np.random.default_rng(SEED)
    for _ in range(min(MOST_ROUNDS, ROUNDS_A_KIND * len(problem), STEPS // problem.work)):
        left_out = draw.permutation(np.flatnonzero(possible & ~current))
        if not len(left_out):
            break
        front = int(draw.integers(1, 3))
        kept = draw.permutation(np.flatnonzero(current))
        order = np.concatenate([fixed, left_out[:front], kept[~np.isin(kept, fixed)], left_out[front:]])
        taken = problem.taken(order)
        if value[taken].sum() >= value[current].sum():
            current = taken
    return current
