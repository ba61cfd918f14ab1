# SPDX-License-Identifier: Apache-2.0
"""A partitioning of features: which are published together, and which are left out.

A subset of features is an integer, its *mask*: bit i stands for feature i. Masks are small, compare fast, and are the
keys of every cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import DataError


def features_of(mask: int) -> tuple[int, ...]:
    """The features of a subset, from its mask.

    >>> features_of(0b1101)
    (0, 2, 3)
    """
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return tuple(found)


def mask_of(features: Iterable[int]) -> int:
    """The mask of a subset, from its features.

    >>> mask_of([0, 2, 3]) == 0b1101
    True
    """
    return reduce(or_, (1 << feature for feature in features), 0)


@dataclass(frozen=True, order=True, slots=True)
class Partitioning:
    """Some subsets of the features 0 … n - 1; a feature in none of them is left out.

    Partitionings compare by their masks, the smallest first: that is their canonical order.

    Attributes
    ----------
    n
        How many features there are.
    subsets
        The mask of each subset, ascending, none of them zero and no two the same. There may be none: then nothing is
        published but the target.

    Examples
    --------
    >>> found = Partitioning.of(4, [[0], [1, 2]])
    >>> found.subsets, found.features, found.left_out
    ((1, 6), ((0,), (1, 2)), (3,))
    >>> found.matrix()
    array([[ 1,  0,  0,  0],
           [ 0,  1,  1,  0],
           [ 0,  1,  1,  0],
           [ 0,  0,  0, -1]], dtype=int8)
    """

    n: int
    subsets: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        above = 0
        for mask in self.subsets:
            if mask <= above:
                raise _wrong("subsets have some features each, are ascending by mask, and are given once")
            above = mask
        if above >> self.n:
            raise _wrong(f"features are numbered 0 to {self.n - 1}")

    @classmethod
    def of(cls, n: int, subsets: Iterable[Iterable[int]]) -> Partitioning:
        """A partitioning of `n` features, from the features of each subset, in any order.

        >>> Partitioning.of(4, [[3, 0], [2]]) == Partitioning.of(4, [[2], [0, 3]])
        True
        """
        lists = [list(subset) for subset in subsets]
        if any(not 0 <= feature < n for subset in lists for feature in subset):
            raise _wrong(f"features are numbered 0 to {n - 1}")
        return cls.of_masks(n, map(mask_of, lists))

    @classmethod
    def of_masks(cls, n: int, masks: Iterable[int]) -> Partitioning:
        """A partitioning of `n` features from masks in any order; empty subsets and repeated ones are dropped.

        >>> Partitioning.of_masks(4, [6, 1, 0, 6]).subsets
        (1, 6)
        """
        return cls(n, tuple(sorted(set(masks) - {0})))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Partitioning:
        """The disjoint partitioning that a matrix of `matrix` stands for."""
        cells = np.asarray(matrix)
        if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
            raise _wrong("its matrix is square")
        found = cls.of(len(cells), [np.flatnonzero(line == 1).tolist() for line in cells])
        if not (found.disjoint and np.array_equal(found.matrix(), cells)):
            raise _wrong("two features that share a subset with a third one share it with each other")
        return found

    @property
    def features(self) -> tuple[tuple[int, ...], ...]:
        """The features of each subset."""
        return tuple(map(features_of, self.subsets))

    @property
    def used(self) -> int:
        """The mask of all features that are in a subset."""
        return reduce(or_, self.subsets, 0)

    @property
    def left_out(self) -> tuple[int, ...]:
        """The features in no subset."""
        return features_of(~self.used & (1 << self.n) - 1)

    @property
    def n_features(self) -> int:
        """How many features are published, one counted as often as it is."""
        return sum(mask.bit_count() for mask in self.subsets)

    @property
    def disjoint(self) -> bool:
        """Whether no feature is in two subsets."""
        return self.n_features == self.used.bit_count()

    def matrix(self) -> NDArray[np.int8]:
        """The paper's encoding (Fig. 4): 1 for two features of one subset, -1 for two that are left out, else 0.

        Only of disjoint partitionings does it tell everything: `from_matrix` is the way back.
        """
        member = np.array([[mask >> i & 1 for mask in self.subsets] for i in range(self.n)], dtype=np.int8)
        member = member.reshape(self.n, len(self.subsets))
        out = ~member.any(axis=1)
        return ((member @ member.T > 0).astype(np.int8) - np.outer(out, out)).astype(np.int8)

    def named(self, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """The names of the features of each subset.

        >>> Partitioning.of(3, [[0, 2]]).named(["age", "sex", "job"])
        (('age', 'job'),)
        """
        return tuple(tuple(names[i] for i in subset) for subset in self.features)


def _wrong(rule: str) -> DataError:
    return DataError("not-a-partitioning", f"This is no partitioning of features: {rule}.")
