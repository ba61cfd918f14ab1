# SPDX-License-Identifier: Apache-2.0
"""Splits and the nodes they make, in the codes of the engine's features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.engines import Feature

Hopeless = Callable[[NDArray[np.int64]], NDArray[np.bool_]]  # class counts of nodes -> which are not worth a split


@dataclass(frozen=True)
class Split:
    """One test: a feature at a level of its hierarchy, a numeric feature at a cut, a set of codes against the rest, or
    groups of codes.

    `missing_low` sends missing numbers to the lower part of a cut; `low` is the set of codes of the first branch;
    `groups` holds the branch of each code; `missing_to` is the group of the level that missing values join, if they do
    not stand alone.
    """

    feature: int
    level: int | None = None
    missing_to: int | None = None
    cut: int | None = None
    missing_low: bool = False
    low: tuple[int, ...] | None = None
    groups: tuple[int, ...] | None = None

    def branch_of(self, feature: Feature) -> NDArray[np.int32]:
        """The branch that each code takes."""
        if self.level is not None:
            assert feature.levels is not None
            branch = feature.levels.maps[self.level]
            if self.missing_to is not None:
                branch = np.append(branch[:-1], np.int32(self.missing_to))
            return branch
        if self.low is not None:
            branch = np.ones(feature.n_codes, dtype=np.int32)
            branch[list(self.low)] = 0
            return branch
        if self.groups is not None:
            return np.array(self.groups, dtype=np.int32)
        assert self.cut is not None
        branch = (np.arange(feature.n_codes) > self.cut).astype(np.int32)
        if feature.missing:
            branch[-1] = not self.missing_low
        return branch

    def n_branches(self, feature: Feature) -> int:
        """How many branches there are, taken or not."""
        if self.groups is not None:
            return max(self.groups) + 1
        if self.level is None:
            return 2
        assert feature.levels is not None
        return len(feature.levels.labels[self.level])


@dataclass
class GrownNode:
    """A node while the tree grows: who is in it by class, and how it was split."""

    depth: int
    counts: NDArray[np.int64]
    split: Split | None = None
    children: dict[int, int] = field(default_factory=dict)  # branch -> node; branches that nobody can take are absent
    id: int = -1  # the engine's number of it, where a grower keeps it
