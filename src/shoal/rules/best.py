# SPDX-License-Identifier: Apache-2.0
"""The best choice of kinds of rules, or how far from it a choice can be: a search that branches and bounds.

What may leave together may also leave without some of it: more rules only make smaller groups, and tell of more of
them. (Every requirement is monotone: where parts of a group keep it, the whole does. And a group of which something is
told is told of whatever is added.) So two kinds that cannot leave as the only two are in no release together, and of a
class of kinds of which no two can, one at most is. Kinds are put into such classes; the best of each, summed up, are an
upper bound. The same goes for what may leave beside kinds that were taken already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.rules.pairs import compatible
from shoal.rules.problem import Flags, Ids, Problem

Worth = NDArray[np.float64]
SLACK = 1e-9  # sums of floats, such as lifts, are equal up to this share


def best(problem: Problem, value: Worth, found: Flags, fixed: Ids, steps: int) -> tuple[Flags, float]:
    """The most valuable kinds that may leave beside the fixed ones, as far as they are found, and an upper bound.

    Parameters
    ----------
    problem
        The kinds of rules.
    value
        What each kind is worth.
    found
        A choice to begin with.
    fixed
        Kinds that are in any release.
    steps
        About how much to do. What is found is the best there is if it is worth as much as the bound.

    Returns
    -------
    taken
        Which kinds to take; they are worth at least as much as those found.
    bound
        What no choice is worth more than.
    """
    others = np.setdiff1d(np.arange(len(problem)), fixed)
    search = _Search(problem, value, fixed, others[problem.fitting(fixed, others)], steps)
    most = float(value[found].sum())
    stack = [search.root()]
    while stack and search.steps > 0:
        node = stack[-1]
        if node.worth + node.more <= most * (1 + SLACK):
            stack.pop()
            continue
        if search.narrow(node):
            continue
        child = search.branch(node)
        stack.append(child)
        if child.worth > most * (1 + SLACK):
            most = child.worth
            found = np.zeros(len(problem), dtype=bool)
            found[search.kinds(child.taken)] = True
    return found, max([most, *(node.worth + node.more for node in stack)])


@dataclass
class _Node:
    """Kinds that were taken, and what may still be tried beside them."""

    taken: tuple[int, ...]
    worth: float
    open: Ids  # the most valuable first
    beside: Flags  # which pairs of open kinds may leave together, as far as was looked at
    is_narrow: bool  # whether that was looked at for just these kinds taken
    branches: list[tuple[int, float]]  # the place of an open kind, and what all up to it add at most; the last is next

    @property
    def more(self) -> float:
        """What kinds that were not tried yet add at most."""
        return self.branches[-1][1] if self.branches else 0.0


class _Search:
    """The tree of nodes."""

    def __init__(self, problem: Problem, value: Worth, fixed: Ids, others: Ids, steps: int) -> None:
        self.problem, self.value, self.fixed, self.others, self.steps = problem, value, fixed, others, steps
        self.rows = max(1, problem.work // max(1, len(problem)))

    def kinds(self, taken: tuple[int, ...]) -> Ids:
        """The fixed kinds and some others."""
        return np.concatenate([self.fixed, np.array(taken, dtype=np.int64)])

    def root(self) -> _Node:
        """Nothing is taken but what is fixed, and everything may be tried."""
        open_ = self.others[np.argsort(-self.value[self.others], kind="stable")]
        beside = compatible(self.problem, open_)
        np.fill_diagonal(beside, False)
        worth = float(self.value[self.fixed].sum())
        return _Node((), worth, open_, beside, False, self._branches(open_, beside))

    def narrow(self, node: _Node) -> bool:
        """Look which pairs may leave beside just the kinds taken, unless that was done or is too much."""
        cost = self.rows * (len(node.taken) + int(node.beside.sum()) // 2)
        if node.is_narrow or cost > self.steps:
            return False
        self.steps -= cost
        node.is_narrow = True
        node.beside = self.problem.fitting_pairs(self.kinds(node.taken), node.open, node.beside)
        node.branches = self._branches(node.open, node.beside)
        return True

    def branch(self, node: _Node) -> _Node:
        """Take the next kind of a node; it is not tried there again."""
        place, _ = node.branches.pop()
        taken = (*node.taken, int(node.open[place]))
        here = np.flatnonzero(node.beside[place])
        self.steps -= self.rows * (len(taken) + len(here))
        here = here[self.problem.fitting(self.kinds(taken), node.open[here])]
        node.beside[place] = node.beside[:, place] = False
        open_, beside = node.open[here], node.beside[np.ix_(here, here)]
        worth = node.worth + float(self.value[node.open[place]])
        return _Node(taken, worth, open_, beside, False, self._branches(open_, beside))

    def _branches(self, open_: Ids, beside: Flags) -> list[tuple[int, float]]:
        """Kinds class by class, of which no two may leave together; a class adds its best, which comes first."""
        packed = np.packbits(beside, axis=1, bitorder="little")
        neighbours = [int.from_bytes(row.tobytes(), "little") for row in packed]
        classes: list[list[int]] = []
        members: list[int] = []  # of each class, bit by bit
        for place, near in enumerate(neighbours):
            for i, inside in enumerate(members):
                if not inside & near:
                    members[i] |= 1 << place
                    classes[i].append(place)
                    break
            else:
                members.append(1 << place)
                classes.append([place])
        best_of = self.value[open_[[listed[0] for listed in classes]]] if classes else np.empty(0)
        bounds = np.cumsum(best_of).tolist()
        return [(place, bound) for listed, bound in zip(classes, bounds, strict=True) for place in listed]
