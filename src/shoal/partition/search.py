# SPDX-License-Identifier: Apache-2.0
"""The most accurate partitioning of a given anonymity level, by genetic search (Algorithm 1 of the paper)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PromiseError
from shoal.partition.options import Generation, GeneticOptions, Judge, Point, Stopped, check_pymoo
from shoal.partition.partitioning import Partitioning
from shoal.privacy._parameters import whole


@dataclass(frozen=True)
class Found:
    """What a search for one partitioning found.

    Attributes
    ----------
    best
        The best valid partitioning of all that were looked at.
    stopped
        Why the search ended: all `generations` are done; it is `exhausted`, as mating gives nothing new; its `time` is
        over; or somebody `interrupted` it (Ctrl-C).
    looked_at
        How many different partitionings were looked at.
    judged
        Of how many the accuracy was asked: the others failed before anything was trained.
    curve
        The accuracy of the best valid one after each generation.
    """

    best: Point
    stopped: Stopped
    looked_at: int
    judged: int
    curve: tuple[float, ...]

    @property
    def interrupted(self) -> bool:
        """Whether somebody ended the search before its time."""
        return self.stopped == "interrupted"


def search(
    judge: Judge,
    k: int,
    *,
    options: GeneticOptions | None = None,
    level_in_fitness: bool = True,
    demand: Callable[[Partitioning], bool] | None = None,
    confirm: Callable[[Partitioning], bool] | None = None,
    progress: Callable[[Generation], None] | None = None,
) -> Found:
    """Search for the most accurate partitioning whose anonymity level (PartAL) is at least k.

    Parameters
    ----------
    judge
        Says how private and how accurate a partitioning is.
    k
        The level to keep.
    options
        How to search; by default 50 partitionings and 100 generations, seed 0.
    level_in_fitness
        The fitness is the accuracy, times PartAL / k where that is below one: what nearly keeps k may have offspring
        that do. False is the paper's fitness: the accuracy, and zero where the level of a single subset (PAL) is below
        k. That is faster, for such partitionings are not even trained.
    demand
        A further condition. What does not meet it has a fitness of zero, is not trained and is not valid.
    confirm
        A further condition that is costly to ask, so it is asked only of what would be the best so far. What does not
        meet it is not valid, but may have offspring.
    progress
        Called after each generation.

    Returns
    -------
    Found
        Ctrl-C ends the search, and the best valid partitioning so far is returned, marked as interrupted.

    Notes
    -----
    Valid are all partitionings of level k or more that meet the demand; the empty one is looked at first. Of several
    that are equally accurate the one with the fewest subsets wins, then the one with the fewest features, then the
    first in canonical order. No partitioning is judged twice.

    Differs from the paper: the best is that of all that were ever looked at, as in the paper's proof of complexity, not
    that of the last population as in its Algorithm 1. Parents are drawn from the better half of a population, the r-th
    of N with a chance in proportion to N + 1 - r; the paper says so of its search for a frontier only. The level counts
    in the fitness: with the paper's, a search gathers around what is accurate, keeps PAL and fails SAL.

    Examples
    --------
    >>> class Toy:  # subsets are private if they are small, and accurate if features 0 and 2 are together
    ...     n = 3
    ...     def partial(self, p):
    ...         return min((10 - 3 * len(each) for each in p.features), default=10)
    ...     level = partial
    ...     def accuracies(self, ps):
    ...         return np.array([0.5 + 0.1 * p.n_features + 0.1 * ((0, 2) in p.features) for p in ps])
    >>> found = search(Toy(), 4)
    >>> found.best.partitioning.features, found.best.level, round(found.best.accuracy, 3)
    (((1,), (0, 2)), 4, 0.9)
    """
    k = whole("search", "k", k, least=1)
    options = options or GeneticOptions()
    options.check(judge.n)
    highest = judge.level(Partitioning(judge.n))
    if highest < k:
        raise PromiseError(
            "table-too-small",
            f"No partitioning keeps the level {k:,}: even one without features has {highest:,}. "
            "Use more people or a smaller k.",
        )
    check_pymoo()
    from shoal.partition._genetic import breed

    started = time.perf_counter()
    hunt = _Hunt(judge, k, level_in_fitness, demand, confirm)

    def told(number: int) -> None:
        hunt.curve.append(hunt.best.accuracy if hunt.best is not None else float("nan"))
        if progress is not None:
            found = () if hunt.best is None else (hunt.best,)
            progress(Generation(number, options.generations, time.perf_counter() - started, found))

    stopped = breed("ga", judge.n, options, hunt.objectives, told)
    if hunt.best is None:
        if stopped == "interrupted":
            raise KeyboardInterrupt  # before anything was found
        raise PromiseError(
            "no-partitioning",
            f"None of the {hunt.looked_at:,} partitionings that the search looked at keeps the level {k:,} and meets "
            "what else is demanded. Demand less, or search longer.",
        )
    return Found(hunt.best, stopped, hunt.looked_at, hunt.judged, tuple(hunt.curve))


class _Hunt:
    """Gives partitionings their fitness, and keeps the best valid one."""

    def __init__(
        self,
        judge: Judge,
        k: int,
        level_in_fitness: bool,
        demand: Callable[[Partitioning], bool] | None,
        confirm: Callable[[Partitioning], bool] | None,
    ) -> None:
        self.judge, self.k, self.level_in_fitness = judge, k, level_in_fitness
        self.demand, self.confirm = demand, confirm
        self.best: Point | None = None
        self.looked_at = self.judged = 0
        self.curve: list[float] = []

    def objectives(self, partitionings: list[Partitioning]) -> NDArray[np.float64]:
        """The fitness of each, below zero: pymoo makes numbers small."""
        fitness = np.zeros((len(partitionings), 1))
        passed = [number for number, each in enumerate(partitionings) if self._passes(each)]
        chosen = [partitionings[number] for number in passed]
        accuracies = self.judge.accuracies(chosen) if chosen else np.zeros(0)
        for number, each, accuracy in zip(passed, chosen, accuracies.tolist(), strict=True):
            self._consider(each, accuracy)
            share = min(self.judge.level(each) / self.k, 1.0) if self.level_in_fitness else 1.0
            fitness[number] = -accuracy * share
        self.looked_at += len(partitionings)
        self.judged += len(chosen)
        return fitness

    def _passes(self, partitioning: Partitioning) -> bool:
        if not self.level_in_fitness and self.judge.partial(partitioning) < self.k:
            return False
        return self.demand is None or self.demand(partitioning)

    def _consider(self, partitioning: Partitioning, accuracy: float) -> None:
        point = Point(partitioning, accuracy, self.judge.level(partitioning))
        if point.level < self.k or (self.best is not None and point.before >= self.best.before):
            return
        if self.confirm is None or self.confirm(partitioning):
            self.best = point
