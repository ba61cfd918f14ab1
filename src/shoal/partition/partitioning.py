# SPDX-License-Identifier: Apache-2.0
"""A partitioning of features into subsets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Partitioning:
    """Subsets of `n` features, each a bit mask (bit i is feature i); features in none are left out."""

    n: int
    subsets: tuple[int, ...]

    @classmethod
    def of(cls, n: int, subsets: Iterable[Iterable[int]]) -> Partitioning:
        """A partitioning from the numbers of the features of each subset."""
        masks = {sum(1 << feature for feature in set(subset)) for subset in subsets}
        return cls(n, tuple(sorted(mask for mask in masks if mask)))


def features_of(mask: int) -> tuple[int, ...]:
    """The features of a subset, ascending."""
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def mask_of(features: Iterable[int]) -> int:
    """The mask of a subset, from its features."""
    return sum(1 << feature for feature in set(features))
