# SPDX-License-Identifier: Apache-2.0
"""The genetic loop, on pymoo: this file is the only one that knows it, and is imported only when a search runs.

pymoo's populations hold arrays, so each individual is an array of one cell that holds a `Partitioning`. All randomness
is our own generator's: with pymoo's, the same seed would be another search in another version of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.moo.spea2 import SPEA2, SPEA2Survival
from pymoo.algorithms.soo.nonconvex.ga import GA, FitnessSurvival
from pymoo.core.crossover import Crossover
from pymoo.core.duplicate import DuplicateElimination
from pymoo.core.mating import Mating
from pymoo.core.mutation import Mutation
from pymoo.core.population import Population
from pymoo.core.problem import Problem
from pymoo.core.sampling import Sampling
from pymoo.core.selection import Selection

from shoal.partition.operators import crossover, first_generation, mutate
from shoal.partition.options import GeneticOptions, Stopped
from shoal.partition.partitioning import Partitioning

Objectives = Callable[[list[Partitioning]], NDArray[np.float64]]
Algorithm = Literal["ga", "spea2", "nsga2"]

ROUNDS = 10  # of mating in a generation, after which strangers fill it up
STRANGERS = 4  # times a generation: how many are looked for


def breed(
    algorithm: Algorithm, n: int, options: GeneticOptions, objectives: Objectives, told: Callable[[int], None]
) -> Stopped:
    """Run a genetic search, and say why it ended.

    Parameters
    ----------
    algorithm
        `ga` for one objective, `spea2` or `nsga2` for several.
    n
        How many features there are.
    options
        How to search.
    objectives
        Of each of some partitionings, none of which was asked for before, numbers to be made small
        (partitionings × objectives).
    told
        Called with the number of each generation that is done.
    """
    started = time.perf_counter()
    random = Random(options.seed)
    seen: set[Partitioning] = set()
    problem = _Problem(1 if algorithm == "ga" else 2, objectives, seen)
    search = _algorithm(algorithm, n, options, random, seen)
    search.setup(problem, termination=("n_gen", options.generations), seed=0)
    generation = 0
    try:
        while search.has_next():
            search.next()
            if search.termination.force_termination:
                return "exhausted"
            generation += 1
            told(generation)
            if options.max_seconds is not None and time.perf_counter() - started >= options.max_seconds:
                return "time"
    except KeyboardInterrupt:
        return "interrupted"
    return "generations"


def _algorithm(algorithm: Algorithm, n: int, options: GeneticOptions, random: Random, seen: set[Partitioning]) -> Any:
    new = _New(seen)
    order = {"ga": _by_fitness, "spea2": _by_strength, "nsga2": _by_front}[algorithm]
    first = _First(n, options, random)
    mating = _Mating(
        _RankWeighting(order, options.population // 2, random),
        _GroupWise(options, random),
        _Moves(options.rates(n), options.overlapping, random),
        first,
        eliminate_duplicates=new,
        n_max_iterations=ROUNDS,
    )
    common = {
        "pop_size": options.population,
        "sampling": first,
        "mating": mating,
        "eliminate_duplicates": new,
        "output": None,
    }
    if algorithm == "ga":
        return GA(**common, survival=FitnessSurvival(), advance_after_initial_infill=True)
    if algorithm == "spea2":
        # without pymoo's own normalisation: it silences the warnings of the whole process
        return SPEA2(**common, survival=_Strength())
    return NSGA2(**common)


def _column(partitionings: Sequence[Partitioning]) -> NDArray[np.object_]:
    cells = np.empty((len(partitionings), 1), dtype=object)
    cells[:, 0] = partitionings
    return cells


class _Problem(Problem):  # type: ignore[misc]
    """Asks for the objectives of partitionings, and remembers which it asked for."""

    def __init__(self, n_objectives: int, objectives: Objectives, seen: set[Partitioning]) -> None:
        super().__init__(n_var=1, n_obj=n_objectives)
        self.objectives, self.seen = objectives, seen

    def _evaluate(self, x: NDArray[np.object_], out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        partitionings = x[:, 0].tolist()
        out["F"] = self.objectives(partitionings)
        self.seen.update(partitionings)


class _First(Sampling):  # type: ignore[misc]
    def __init__(self, n: int, options: GeneticOptions, random: Random) -> None:
        super().__init__()
        self.n, self.options, self.random = n, options, random

    def _do(self, problem: Any, n_samples: int, *args: Any, **kwargs: Any) -> NDArray[np.object_]:
        own = self.options
        return _column(first_generation(self.n, n_samples, self.random, overlapping=own.overlapping, start=own.start))


class _New(DuplicateElimination):  # type: ignore[misc]
    """Leaves out what was ever looked at: nothing is judged twice."""

    def __init__(self, seen: set[Partitioning]) -> None:
        super().__init__()
        self.seen = seen

    def do(self, pop: Any, population: Any = (), offspring: Any = (), **kwargs: Any) -> Any:
        known = {each.X[0] for each in offspring}  # all of the population was seen
        kept = []
        for number, each in enumerate(pop):
            found = each.X[0]
            if found not in known and found not in self.seen:
                known.add(found)
                kept.append(number)
        return pop[kept]


class _Mating(Mating):  # type: ignore[misc]
    """Where parents have no new offspring, strangers come in: a search ends early only when there is nothing left."""

    def __init__(self, selection: Any, crossover: Any, mutation: Any, strangers: _First, **kwargs: Any) -> None:
        super().__init__(selection, crossover, mutation, **kwargs)
        self.strangers = strangers

    def do(self, problem: Any, pop: Any, n_offsprings: int, **kwargs: Any) -> Any:
        found = super().do(problem, pop, n_offsprings, **kwargs)
        if len(found) < n_offsprings:
            more = self.eliminate_duplicates.do(self.strangers.do(problem, STRANGERS * n_offsprings), pop, found)
            found = Population.merge(found, more[: n_offsprings - len(found)])
        return found


class _RankWeighting(Selection):  # type: ignore[misc]
    """Two parents each out of the best, the r-th of N with a chance in proportion to N + 1 - r."""

    def __init__(self, order: Callable[[Any], Any], n_parents: int, random: Random) -> None:
        super().__init__()
        self.order, self.n_parents, self.random = order, n_parents, random

    def _do(self, problem: Any, pop: Any, n_select: int, n_parents: int, *args: Any, **kwargs: Any) -> NDArray[np.intp]:
        best = self.order(pop)[: max(self.n_parents, 2)].tolist()
        weights = range(len(best), 0, -1)
        drawn = self.random.choices(best, weights=weights, k=n_select * n_parents)
        return np.array(drawn).reshape(n_select, n_parents)


def _by_fitness(pop: Any) -> Any:
    return np.arange(len(pop))  # survivors are sorted


def _by_strength(pop: Any) -> Any:
    return np.argsort(pop.get("SPEA_F"), kind="stable")


def _by_front(pop: Any) -> Any:
    return np.lexsort((-pop.get("crowding"), pop.get("rank")))


class _Strength(SPEA2Survival):  # type: ignore[misc]
    """SPEA2's choice of whom to keep, without duplicates by objective values, as the paper has it."""

    def _do(self, problem: Any, pop: Any, *args: Any, n_survive: int, **kwargs: Any) -> Any:
        first = np.sort(np.unique(pop.get("F"), axis=0, return_index=True)[1])
        # pymoo fails where more are to survive than there are and none is dominated
        return super()._do(problem, pop[first], *args, n_survive=min(n_survive, len(first)), **kwargs)


class _GroupWise(Crossover):  # type: ignore[misc]
    def __init__(self, options: GeneticOptions, random: Random) -> None:
        super().__init__(2, 2, prob=1.0)
        self.options, self.random = options, random

    def _do(self, problem: Any, x: NDArray[np.object_], *args: Any, **kwargs: Any) -> NDArray[np.object_]:
        found = np.empty_like(x)
        for number, (first, second) in enumerate(zip(x[0, :, 0].tolist(), x[1, :, 0].tolist(), strict=True)):
            if self.random.random() < self.options.crossover:
                first, second = crossover(first, second, self.random, overlapping=self.options.overlapping)
            found[0, number, 0], found[1, number, 0] = first, second
        return found


class _Moves(Mutation):  # type: ignore[misc]
    def __init__(self, rates: Sequence[float], overlapping: bool, random: Random) -> None:
        super().__init__(prob=1.0)
        self.rates, self.overlapping, self.random = rates, overlapping, random

    def _do(self, problem: Any, x: NDArray[np.object_], *args: Any, **kwargs: Any) -> NDArray[np.object_]:
        return _column(
            [mutate(each, self.rates, self.random, overlapping=self.overlapping) for each in x[:, 0].tolist()]
        )
