# SPDX-License-Identifier: Apache-2.0
"""Every partitioning of a few features, and a judge that knows them all by heart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.partition.partitioning import Partitioning


def every_partitioning(n: int) -> list[Partitioning]:
    """All disjoint partitionings of n features, some left out or none."""
    return [Partitioning.of(n, [subset for subset in subsets if subset]) for subsets in _every(list(range(n)))]


def _every(features: list[int]) -> Iterator[list[list[int]]]:
    if not features:
        yield []
        return
    last = features[-1]
    for subsets in _every(features[:-1]):
        yield subsets  # left out
        yield [*subsets, [last]]
        for number, subset in enumerate(subsets):
            yield [*subsets[:number], [*subset, last], *subsets[number + 1 :]]


class Rugged:
    """A judge without any rhyme or reason but one: a subset is no more private than a part of it.

    The worst case of a search: nothing can be told from what was seen.
    """

    def __init__(self, n: int, seed: int, accuracies: int = 1000) -> None:
        self.n, self.people = n, 300
        random = np.random.default_rng(seed)
        alone = random.integers(1, self.people, 2**n)
        alone[0] = self.people
        self.of_mask = [
            min(int(alone[part]) for part in range(mask + 1) if part & mask == part) for mask in range(2**n)
        ]
        self.seed, self.grades = seed, accuracies
        self.asked: list[Partitioning] = []

    def partial(self, partitioning: Partitioning) -> int:
        return min((self.of_mask[mask] for mask in partitioning.subsets), default=self.people)

    def level(self, partitioning: Partitioning) -> int:
        # two subsets together may be less private than each
        return max(
            1,
            self.partial(partitioning) - (self.seed + sum(partitioning.subsets)) % 40 * (len(partitioning.subsets) > 1),
        )

    def accuracies(self, partitionings: list[Partitioning]) -> np.ndarray:
        self.asked += partitionings
        return np.array([self.accuracy(each) for each in partitionings])

    def accuracy(self, partitioning: Partitioning) -> float:
        drawn = np.random.default_rng([self.seed, *partitioning.subsets]).integers(self.grades)
        return float(drawn) / self.grades
