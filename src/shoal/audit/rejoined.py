# SPDX-License-Identifier: Apache-2.0
"""What projections keep when their rows are joined again: PAL, SAL and PartAL, counted without joining any rows.

And what nobody joins but everybody can intersect: the classes that are left for a person who is in a group of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shoal.audit.groups import Ids, numbered

AT_ONCE = 2**22  # pairs of groups that are counted at a time


@dataclass(frozen=True, eq=False)
class Side:
    """One projection, or one tree, as rows that can be joined with those of another.

    Attributes
    ----------
    group
        For every row a number for all that an attacker knows of it, without gaps.
    target
        The class of every row; what is joined by.
    known, hidden
        The values of other columns that several sides have, which are joined by, too: those that the attacker knows,
        which are part of the group, and those that he does not.
    """

    group: Ids
    target: Ids
    known: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    hidden: Mapping[str, NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Rejoined:
    """The levels of a partitioning.

    Attributes
    ----------
    groups
        The smallest group of each side.
    sal
        The *set* level: the fewest equal rows, as far as the attacker's columns and the target go, in the natural join
        of two sides; None where there is only one.

    References
    ----------
    N. Matatov, L. Rokach and O. Maimon, "Privacy-preserving data mining: A feature set partitioning approach",
    Information Sciences 180(14), 2010, Definition 8, doi:10.1016/j.ins.2010.03.011.

    Examples
    --------
    >>> one, other = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    >>> target = np.array([0, 0, 1, 1])
    >>> rejoin([Side(one, target), Side(other, target)])
    Rejoined(groups=(1, 2), sal=2)
    """

    groups: tuple[int, ...]
    sal: int | None

    @property
    def pal(self) -> int:
        """The *partial* level: the smallest group of any side."""
        return min(self.groups)

    @property
    def partal(self) -> int:
        """The smaller of both."""
        return self.pal if self.sal is None else min(self.pal, self.sal)


def rejoin(sides: Sequence[Side]) -> Rejoined:
    """The levels of some sides together; the classes of all have the same numbers."""
    groups = tuple(int(np.bincount(side.group).min()) for side in sides)
    n_classes = max(int(side.target.max()) for side in sides) + 1
    by_class = [_fewest_of(side.group, side.target, n_classes) for side in sides]
    levels = []
    for (one, mine), (other, others) in combinations(zip(sides, by_class, strict=True), 2):
        alike = one.known.keys() & other.known.keys() or one.hidden.keys() & other.hidden.keys()
        levels.append(_joined_by_more(one, other) if alike else _least_product(mine, others))
    return Rejoined(groups, min(levels, default=None))


def _least_product(one: Ids, other: Ids) -> int:
    """A group of each side with a cell in common join to the product of their rows of it: the least of these."""
    rows = one * other
    return int(rows[rows > 0].min()) if (rows > 0).any() else 0


def _joined_by_more(one: Side, other: Side) -> int:
    """The fewest equal rows in the natural join of two sides that have more columns in common than the target."""
    cells = [(one.target, other.target)]
    cells += [(one.known[name], other.known[name]) for name in one.known if name in other.known]
    hidden = [(one.hidden[name], other.hidden[name]) for name in one.hidden if name in other.hidden]
    mine, others = _together([*cells, *hidden])
    n = int(max(mine.max(), others.max())) + 1
    if hidden:  # rows with other values there are equal all the same, so their products add up
        return _fewest_joined(_counts(one, mine, n), _counts(other, others, n))
    return _least_product(_fewest_of(one.group, mine, n), _fewest_of(other.group, others, n))


def _together(pairs: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> tuple[Ids, Ids]:
    """A number for what two sides say in some columns: equal numbers, equal values in all of them."""
    n = len(pairs[0][0])
    columns = [np.unique(np.concatenate(pair), return_inverse=True)[1].reshape(-1) for pair in pairs]
    both = numbered(columns, len(columns[0]))
    return both[:n], both[n:]


def _fewest_of(group: Ids, cell: Ids, n: int) -> Ids:
    """For each of `n` cells the fewest rows of it that a group has; 0 where no group has any."""
    pairs, rows = np.unique(group * n + cell, return_counts=True)
    most = np.iinfo(np.int64).max
    least = np.full(n, most)
    np.minimum.at(least, pairs % n, rows)
    return np.where(least == most, 0, least)


def _counts(side: Side, cell: Ids, n: int) -> sparse.csr_array:
    """How many rows of each group and class have each of `n` cells."""
    row = numbered([side.group, side.target], len(cell))
    return sparse.csr_array((np.ones(len(cell), dtype=np.int64), (row, cell)), shape=(int(row.max()) + 1, n))


def _fewest_joined(one: sparse.csr_array, other: sparse.csr_array) -> int:
    """The fewest rows that a group of one side and a group of the other join to, of those that join to any."""
    step = max(1, AT_ONCE // other.shape[0])
    across = other.T.tocsc()
    found = [(one[start : start + step] @ across).data for start in range(0, one.shape[0], step)]
    rows = np.concatenate(found)
    return int(rows[rows > 0].min()) if (rows > 0).any() else 0


def classes_left(groups: Sequence[Ids], target: Ids) -> tuple[Ids, Ids]:
    """For every person how many classes are in his group of every side; and the fewest that one side leaves him.

    >>> first, second = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 0, 0])
    >>> left, alone = classes_left([first, second], np.array([0, 1, 1, 0, 2]))
    >>> left.tolist(), alone.tolist()
    ([2, 2, 1, 2, 2], [2, 2, 1, 2, 2])
    """
    n_classes = int(target.max()) + 1
    cell = numbered(list(groups), len(target))
    example = np.zeros(int(cell.max()) + 1, dtype=np.int64)
    example[cell] = np.arange(len(target))
    left = np.ones((len(example), n_classes), dtype=bool)
    alone = np.full(len(example), n_classes)
    for group in groups:
        there = np.bincount(group * n_classes + target, minlength=(int(group.max()) + 1) * n_classes)
        possible = (there.reshape(-1, n_classes) > 0)[group[example]]
        left &= possible
        alone = np.minimum(alone, possible.sum(axis=1))
    return left.sum(axis=1)[cell], alone[cell]
