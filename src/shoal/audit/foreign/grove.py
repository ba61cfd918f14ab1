# SPDX-License-Identifier: Apache-2.0
"""Binary trees over numbers as arrays: the one form that every tree ensemble is read into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.audit.foreign.features import compared

Ids = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grove:
    """Binary trees over numbers, as arrays. Node numbers run over all trees; children are absolute numbers.

    Attributes
    ----------
    roots
        The first node of each tree.
    feature
        The feature that each node asks for; −1 for a leaf.
    threshold
        A number goes left if it is at most this; NaN where a set decides.
    left, right
        The children of each node; −1 for a leaf.
    missing_left
        Where NaN goes.
    left_set
        Which of `sets` goes left; −1 where the threshold decides. A number in no set goes right.
    sets
        Sets of whole numbers, sorted.
    value
        What each leaf adds to the prediction (nodes × outputs).
    people
        Training rows of each node, where the model's file states them.
    single
        Whether numbers are rounded to float32 before they are compared.
    combine
        How the leaves of all trees become a raw prediction.
    base
        What is added to it (one number an output).
    """

    roots: Ids
    feature: NDArray[np.int32]
    threshold: Numbers
    left: Ids
    right: Ids
    missing_left: NDArray[np.bool_]
    left_set: NDArray[np.int32]
    sets: tuple[Ids, ...]
    value: Numbers
    people: Ids | None
    single: bool
    combine: Literal["mean", "sum"]
    base: Numbers

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.roots)

    @property
    def n_nodes(self) -> int:
        """How many nodes all trees have together."""
        return len(self.feature)

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return np.asarray(self.feature < 0)

    def goes_left(self, node: int, numbers: Numbers) -> NDArray[np.bool_]:
        """Which numbers of its feature a node sends left."""
        if self.left_set[node] >= 0:
            left = np.isin(numbers, self.sets[self.left_set[node]])
        else:
            left = compared(numbers, self.single) <= self.threshold[node]
        return np.where(np.isnan(numbers), self.missing_left[node], left)


def grow(trees: Sequence[Grove]) -> Grove:
    """Several groves as one, tree after tree; how they combine is that of the first."""
    first = trees[0]
    shifts = np.cumsum([0, *(tree.n_nodes for tree in trees[:-1])])
    set_shifts = np.cumsum([0, *(len(tree.sets) for tree in trees[:-1])])
    shifted = list(zip(trees, shifts, set_shifts, strict=True))
    people = [tree.people for tree in trees if tree.people is not None]
    return Grove(
        roots=np.concatenate([tree.roots + shift for tree, shift, _ in shifted]),
        feature=np.concatenate([tree.feature for tree in trees]),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        left=np.concatenate([np.where(tree.left < 0, -1, tree.left + shift) for tree, shift, _ in shifted]),
        right=np.concatenate([np.where(tree.right < 0, -1, tree.right + shift) for tree, shift, _ in shifted]),
        missing_left=np.concatenate([tree.missing_left for tree in trees]),
        left_set=np.concatenate(
            [np.where(tree.left_set < 0, -1, tree.left_set + shift).astype(np.int32) for tree, _, shift in shifted]
        ),
        sets=tuple(each for tree in trees for each in tree.sets),
        value=np.concatenate([tree.value for tree in trees]),
        people=np.concatenate(people) if len(people) == len(trees) else None,
        single=first.single,
        combine=first.combine,
        base=first.base,
    )
