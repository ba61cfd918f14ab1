# SPDX-License-Identifier: Apache-2.0
"""Choosing the splits of the largest nodes by the trees that would follow.

A split that gains little may be the right one: people with a capital gain are few, but at the root there are enough of
them for a group of their own; further down, where every branch has a handful, no split of theirs keeps the promise. So
at the top of a tree several features are tried: the tree below each is grown greedily and pruned, and that whose tree
costs least is taken. Greed's own choice is among them. In planning such a trial is called a rollout.
"""

from __future__ import annotations

import numpy as np

from shoal.engines import Engine
from shoal.engines.base import Counts, Price, Way
from shoal.trees.prune import price_of_leaf

LARGE = 4  # nodes of at least one in so many people of the table are searched; more did no better
MOST_TRIED = 8  # features of a node that are tried: those that gain most by themselves


class Search:
    """Looks for better splits of large nodes.

    Parameters
    ----------
    least_people
        People that any group has that keeps the requirement.
    gini
        Whether the trees that follow grow by Gini, or by information gain.
    """

    def __init__(self, engine: Engine, *, least_people: int, gini: bool) -> None:
        self._engine = engine
        self._price = Price(least_people, price_of_leaf(engine.n_people), gini)

    def large(self, people: Counts) -> list[int]:
        """Which of some nodes are large enough, by how many people they have."""
        return np.flatnonzero(people * LARGE >= self._engine.n_people).tolist()

    @staticmethod
    def tried(gains: Counts, first: int) -> list[int]:
        """Which features of a node are tried, by what they gain; ties go to the one that greed would take."""
        ranked = np.argsort(-gains, kind="stable").tolist()
        return [first, *(i for i in ranked if i != first and gains[i] > 0)][:MOST_TRIED]

    def best(self, nodes: list[int], ways: list[list[Way]]) -> list[int]:
        """For each node the way to split it whose trees cost least; ties go to the first."""
        if not nodes:
            return []
        return [int(costs.argmin()) for costs in self._engine.outlooks(nodes, ways, self._price)]
