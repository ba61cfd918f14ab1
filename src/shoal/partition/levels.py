# SPDX-License-Identifier: Apache-2.0
"""How anonymous a partitioning is: DAL, PAL, SAL and PartAL, from one small vector of counts a subset.

Joining two projections on the class makes, of the rows with values v of one and w of the other and class c, as many
rows as the product of both counts. So the rarest joined row is found from each subset's smallest count with each class,
and no join is ever made.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal._kernels.keys import number_keys
from shoal.partition.partitioning import Partitioning, features_of, mask_of

Ids = NDArray[np.int64]
Integers = NDArray[np.integer[Any]]

LARGEST = 2**62  # keys of several features stay below it; beyond, groups are numbered before the next feature is added
KEPT = 1024  # how many subsets' class sets of all rows are kept, a byte a row and eight classes


class Levels:
    """Anonymity levels of subsets of features and of partitionings into them.

    A subset is a bit mask: bit i is feature i. Only the features that an attacker may know are counted; two subsets
    with the same such features have the same levels. Everything is counted once and kept.

    Parameters
    ----------
    codes
        For each feature the code of every row; a missing value is a code of its own.
    n_values
        For each feature how many codes it has.
    target
        The class of every row, as a code.
    n_classes
        How many codes the class has.
    quasi
        The numbers of the features that an attacker may know: the public columns.
    also
        Further sets of features that he may know instead. A level is the smallest over all sets.

    Notes
    -----
    Differs from the paper: where subsets overlap, their natural join is one on the shared features too. A shared
    feature that is not in `quasi` is counted as if an attacker knew it, so the level is never above that of
    the definition.

    References
    ----------
    N. Matatov, L. Rokach, O. Maimon, "Privacy-preserving data mining: A feature set partitioning approach",
    Information Sciences 180, 2010, Definitions 7 and 8, doi:10.1016/j.ins.2010.03.011.

    Examples
    --------
    Two columns of an attacker, each with at least two people a value, but one person alone with (0, 1) and class 0:

    >>> import numpy as np
    >>> from shoal.partition.partitioning import Partitioning
    >>> codes = [np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1])]
    >>> levels = Levels(codes, [2, 2], np.array([0, 0, 0, 1, 1]), 2, quasi=[0, 1])
    >>> levels.dal(0b11), levels.dal(0b01)
    (1, 2)
    >>> apart = Partitioning.of(2, [[0], [1]])
    >>> levels.pal(apart), levels.sal(apart), levels.partal(apart)
    (2, 3, 2)
    """

    def __init__(
        self,
        codes: Sequence[Integers],
        n_values: Sequence[int],
        target: Integers,
        n_classes: int,
        quasi: Sequence[int],
        *,
        also: Sequence[Sequence[int]] = (),
    ) -> None:
        self.codes, self.n_values = list(codes), [int(n) for n in n_values]
        self.target, self.n_classes = np.asarray(target, dtype=np.int64), int(n_classes)
        self.n_rows = len(self.target)
        self.known = tuple(dict.fromkeys(mask_of(features) for features in (quasi, *also)))
        self._counts: dict[int, tuple[int, Ids]] = {}
        self._shared: dict[tuple[int, int], Ids] = {}
        self._classes: dict[int, NDArray[np.uint8]] = {}

    def dal(self, mask: int, more: int = 0) -> int:
        """How many rows share the rarest values of a subset (Def. 7); all rows where it has nothing that is known.

        Here and below, `more` are features that an attacker knows besides, as a mask.
        """
        return min(self._counted(mask & (known | more))[0] for known in self.known)

    def smallest(self, mask: int) -> Ids:
        """How many rows share the rarest values of a subset together with each class; 0 for a class nobody has."""
        return np.asarray(np.min([self._counted(mask & known)[1] for known in self.known], axis=0))

    def pal(self, partitioning: Partitioning, more: int = 0) -> int:
        """The partial anonymity level (Def. 8): the smallest level of a subset."""
        return min((self.dal(mask, more) for mask in partitioning.subsets), default=self.n_rows)

    def sal(self, partitioning: Partitioning, more: int = 0) -> int | None:
        """The set anonymity level (Def. 8): rows of the rarest values and class in the join of any two subsets.

        None where there are fewer than two subsets, so nothing to join.
        """
        masks = partitioning.subsets
        if len(masks) < 2:
            return None
        return min(self._joined(masks, known | more) for known in self.known)

    def partal(self, partitioning: Partitioning, more: int = 0) -> int:
        """The partitioning's anonymity level (Def. 8): the smaller of both; all rows where there is no subset."""
        pal, sal = self.pal(partitioning, more), self.sal(partitioning, more)
        return pal if sal is None else min(pal, sal)

    def class_counts(self, mask: int) -> Ids:
        """Groups × classes: how many rows of each group of a subset have each class, for any requirement to judge.

        A group is the rows with the same known values. With several known sets it has the groups of each in turn.
        """
        return np.concatenate([self._count(*self._groups(mask & known)) for known in self.known])

    def open_classes(self, partitioning: Partitioning) -> int:
        """How many classes are left, for the person with fewest, to whoever puts all projections side by side.

        In each projection a person's known values leave the classes of his group. A class must be left in all: 1 means
        that somebody's class is certain. Levels do not see that, for they count joined rows and not people.
        Projections that share a feature that is not known count as one: by its values their rows can be put together.
        """
        return min(self._open(partitioning.subsets, known) for known in self.known)

    def _joined(self, masks: Sequence[int], known: int) -> int:
        vectors = np.array([self._counted(mask & known)[1] for mask in masks])
        held = vectors[0] > 0
        two = np.partition(vectors[:, held], 1, axis=0)[:2]
        level = int((two[0] * two[1]).min())
        for one, other in combinations(masks, 2):
            if shared := one & other:
                both = self._keyed(one, shared, known) * self._keyed(other, shared, known)
                level = min(level, int(both.min()))
        return level

    def _counted(self, part: int) -> tuple[int, Ids]:
        """The smallest count of a set of known features, and the smallest with each class."""
        if part not in self._counts:
            counts = self._count(*self._groups(part))
            none = self.n_rows + 1
            with_class = np.where(counts > 0, counts, none).min(axis=0)
            self._counts[part] = int(counts.sum(axis=1).min()), np.where(with_class == none, 0, with_class)
        return self._counts[part]

    def _keyed(self, mask: int, shared: int, known: int) -> Ids:
        """For every value of shared features and class that a row has, the smallest count in a subset."""
        part = mask & known | shared
        if (part, shared) not in self._shared:
            group, n_groups = self._groups(part)
            key, n_keys = self._groups(shared)
            counts = self._count(group, n_groups)
            # every row of a group has the same shared values
            key_of = np.empty(n_groups, dtype=np.int64)
            key_of[group] = key
            smallest = np.full((n_keys, self.n_classes), self.n_rows + 1)
            np.minimum.at(smallest, key_of, np.where(counts > 0, counts, self.n_rows + 1))
            self._shared[part, shared] = smallest[smallest <= self.n_rows]
        return self._shared[part, shared]

    def _open(self, masks: Sequence[int], known: int) -> int:
        left = self._class_sets(0)
        for part in {mask & known for mask in _linked(masks, known)}:
            left = left & self._class_sets(part)
        return int(np.unpackbits(left, axis=1).sum(axis=1).min())

    def _class_sets(self, part: int) -> NDArray[np.uint8]:
        """The classes of each row's group, a bit each."""
        if part not in self._classes:
            if len(self._classes) >= KEPT:
                self._classes.clear()
            group, n_groups = self._groups(part)
            self._classes[part] = np.packbits(self._count(group, n_groups) > 0, axis=1)[group]
        return self._classes[part]

    def _count(self, group: Ids, n_groups: int) -> Ids:
        cells = np.bincount(group * self.n_classes + self.target, minlength=n_groups * self.n_classes)
        return cells.reshape(n_groups, self.n_classes)

    def _groups(self, part: int) -> tuple[Ids, int]:
        """The number of each row's group by its values of some features, and how many groups there are."""
        key, size = np.zeros(self.n_rows, dtype=np.int64), 1
        for feature in features_of(part):
            if size * self.n_values[feature] > LARGEST:
                key, size = _numbered(key)
            key = key * self.n_values[feature] + self.codes[feature]
            size *= self.n_values[feature]
        return _numbered(key)


def _linked(masks: Sequence[int], known: int) -> list[int]:
    """Subsets, with those that share something unknown, directly or through others, taken as one."""
    found: list[int] = []
    for mask in masks:
        joined = [other for other in found if other & mask & ~known]
        found = [*(other for other in found if other not in joined), reduce(or_, joined, mask)]
    return found


def _numbered(key: Ids) -> tuple[Ids, int]:
    """Numbers without gaps for equal keys, and how many there are."""
    number = np.empty_like(key)
    return number, int(number_keys(key, number))
