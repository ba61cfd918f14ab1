# SPDX-License-Identifier: Apache-2.0
"""A partitioning of features into subsets (Def. 6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Partitioning:
    """Subsets of n features, each a bit mask; features in no subset are left out.

    >>> Partitioning.of(4, [[3], [0, 2]]).features
    ((0, 2), (3,))
    """

    n: int
    subsets: tuple[int, ...]

    @classmethod
    def of(cls, n: int, subsets: Iterable[Iterable[int]]) -> Partitioning:
        """From the features of each subset."""
        return cls(n, tuple(sorted(sum(1 << feature for feature in subset) for subset in subsets)))

    @property
    def features(self) -> tuple[tuple[int, ...], ...]:
        """The features of each subset."""
        return tuple(features_of(mask) for mask in self.subsets)


def features_of(mask: int) -> tuple[int, ...]:
    """The features of a mask.

    >>> features_of(0b1101)
    (0, 2, 3)
    """
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)
