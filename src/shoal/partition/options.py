# SPDX-License-Identifier: Apache-2.0
"""What every search for partitionings is told, asks, tells and finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError, RequirementError
from shoal.partition.partitioning import Partitioning
from shoal.privacy._parameters import real, whole

Stopped = Literal["generations", "exhausted", "time", "interrupted"]

OWNER = "The search"  # of these parameters, in messages: they are given by many doors, and each has the same names


class Judge(Protocol):
    """Says how private and how accurate partitionings are."""

    @property
    def n(self) -> int:
        """How many features there are."""

    def level(self, partitioning: Partitioning, /) -> int:
        """PartAL: the anonymity level of a partitioning, of each subset and of every two joined."""

    def partial(self, partitioning: Partitioning, /) -> int:
        """PAL: the lowest anonymity level of its subsets, each by itself."""

    def accuracies(self, partitionings: list[Partitioning], /) -> NDArray[np.float64]:
        """Of each, the accuracy of the classifiers learned on its subsets."""


@dataclass(frozen=True, slots=True)
class Point:
    """A partitioning with its accuracy and its level (PartAL)."""

    partitioning: Partitioning
    accuracy: float
    level: int

    @property
    def before(self) -> tuple[float, int, int, Partitioning]:
        """The lower this is the better: more accurate, then fewer subsets, fewer features, canonical order.

        >>> one, two = Point(Partitioning(2, (1, 2)), 0.9, 5), Point(Partitioning(2, (3,)), 0.9, 5)
        >>> min(one, two, key=lambda point: point.before).partitioning.features
        ((0, 1),)
        """
        own = self.partitioning
        return -self.accuracy, len(own.subsets), own.n_features, own


@dataclass(frozen=True, slots=True)
class Generation:
    """Where a search stands.

    Attributes
    ----------
    number, of
        Which generation was just done, and how many there are to be.
    seconds
        How long it has taken.
    found
        The best valid partitioning so far; of a frontier all its points so far. Nothing if there is none yet.
    """

    number: int
    of: int
    seconds: float
    found: tuple[Point, ...]

    @property
    def best(self) -> Point | None:
        """The most accurate one so far."""
        return min(self.found, key=lambda point: point.before, default=None)


@dataclass(frozen=True, kw_only=True)
class GeneticOptions:
    """How a genetic search goes about it.

    Parameters
    ----------
    population, generations
        The paper's defaults. The better half of a population are parents; as many offspring as there are partitionings
        in a population are judged in each generation, and the best of both live on.
    crossover
        The probability that two parents are crossed; otherwise their offspring are copies of them, which mutate.
    mutation
        The probability that a feature moves: one for all, or one for each. By default one feature moves on average.
    overlapping
        Whether a feature may be in several subsets.
    start
        Partitionings to begin with, beside those that every search begins with.
    seed
        The same seed is the same search, on every machine; None is another one each time.
    max_seconds
        End after the first generation that is done then. Which one that is depends on the machine.

    Notes
    -----
    The paper leaves the probabilities open ("similar to those found in the literature"). Ours: crossover 0.9, mutation
    1/n.
    """

    population: int = 50
    generations: int = 100
    crossover: float = 0.9
    mutation: float | Sequence[float] | None = None
    overlapping: bool = False
    start: Sequence[Partitioning] = ()
    seed: int | None = 0
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        whole(OWNER, "population", self.population, least=2)
        whole(OWNER, "generations", self.generations, least=1)
        _probability("crossover", self.crossover)
        if self.mutation is not None:
            for rate in [self.mutation] if isinstance(self.mutation, (int, float)) else self.mutation:
                _probability("mutation", rate)
        if self.max_seconds is not None:
            real(OWNER, "max_seconds", self.max_seconds, "a positive number or None", above=0)

    def rates(self, n: int) -> list[float]:
        """The probability of moving for each of n features.

        >>> GeneticOptions().rates(4), GeneticOptions(mutation=0.5).rates(2)
        ([0.25, 0.25, 0.25, 0.25], [0.5, 0.5])
        """
        if self.mutation is None:
            return [1 / max(n, 1)] * n
        if isinstance(self.mutation, (int, float)):
            return [float(self.mutation)] * n
        if len(self.mutation) != n:
            raise RequirementError(
                "parameter",
                f"{OWNER}: mutation must be one probability or one of each of {n} features; got {len(self.mutation)}.",
            )
        return [float(rate) for rate in self.mutation]

    def check(self, n: int) -> None:
        """Refuse options that are not about n features."""
        self.rates(n)
        if any(each.n != n or not (self.overlapping or each.disjoint) for each in self.start):
            raise DataError(
                "not-a-partitioning",
                f"A partitioning to start with is not of {n} features, or has one twice though overlapping is off.",
            )


def _probability(name: str, value: object) -> None:
    real(OWNER, name, value, "a probability between 0 and 1", least=0, most=1)


def check_pymoo() -> None:
    """Refuse to search where pymoo is not installed, and say what brings it."""
    try:
        import pymoo  # noqa: F401
    except ImportError:
        raise DataError(
            "no-pymoo", "The search needs pymoo, which is not installed. Try: pip install shoal[search]."
        ) from None
