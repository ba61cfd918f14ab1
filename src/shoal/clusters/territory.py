# SPDX-License-Identifier: Apache-2.0
"""Which clusters people with some public values can be in, worked out by the miner itself: the audit recounts it."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal._kernels.territory import NO, UNDECIDED, YES, reach
from shoal.data.table import Column, Table
from shoal.release import Attribute
from shoal.release.encoding import Encoding, Floats

Ids = NDArray[np.int64]
States = NDArray[np.int8]  # NO, UNDECIDED or YES

__all__ = ["NO", "UNDECIDED", "YES", "States", "Territory"]

AT_ONCE = 2**22  # pairs of person and centroid that are worked on together, for the memory's sake
MOST_COMBINATIONS = 2**16  # of enumerated private values; beyond, nothing is decided
MOST_WHOLE = 2**12  # up to so many combinations, whole numbers are enumerated too until two columns are left
EXACT = 2**53  # from here on floats do not tell whole numbers apart


@dataclass(frozen=True)
class _Numbers:
    """A private numeric column: its feature, where the feature begins, how far it goes and in how many steps."""

    feature: int
    low: float
    width: float
    count: int  # 0 for a continuous column


class Territory:
    """The public values that people have, and the box in which their private values can be.

    Parameters
    ----------
    encoding
        How columns become points.
    public
        The columns an attacker knows; at least one column must be private.
    kinds
        One row for each combination of public values.
    """

    def __init__(self, encoding: Encoding, public: Collection[str], kinds: Table) -> None:
        self._n_kinds = kinds.n_rows
        self._public: list[tuple[slice, Floats, Ids]] = []  # features of every value, and the value of every kind
        self._enumerated: list[tuple[slice, Floats]] = []  # features of every value
        hidden = [each for each in encoding.attributes if each.name not in public and each.type == "categorical"]
        combinations = math.prod(len(each.values) + each.missing for each in hidden)
        self._decidable = combinations <= MOST_COMBINATIONS
        sizes, numbers = [], []
        for number, attribute in enumerate(encoding.attributes):
            own = encoding.own(number)
            sizes.append(_sizes(encoding, number))
            if attribute.name in public:
                column = kinds[attribute.name]
                features = encoding.numbers(number, column)
                self._public.append((own, features, column.codes.astype(np.int64)))
            elif attribute.type == "categorical":
                if not self._decidable:  # and their features are too many
                    continue
                self._enumerated.append((own, encoding.scales[attribute.name].features(attribute)))
            else:
                numbers.append(self._number(encoding, number, attribute))
        self._sizes = np.concatenate(sizes)
        self._enumerate(numbers, combinations)

    def _number(self, encoding: Encoding, number: int, attribute: Attribute) -> _Numbers:
        assert attribute.bounds is not None
        low, high = attribute.bounds
        if attribute.integer:
            low, high = math.ceil(low), math.floor(high)
        ends = Column(attribute.name, "numeric", np.zeros(0, dtype=np.uint8), np.array([low, high], dtype=np.float64))
        first, last = encoding.numbers(number, ends)[:2, 0].tolist()
        self._decidable &= high - low < EXACT
        return _Numbers(encoding.own(number).start, first, last - first, int(high - low) if attribute.integer else 0)

    def _enumerate(self, numbers: list[_Numbers], combinations: int) -> None:
        """Whole numbers become enumerated values, those of the fewest first, until two columns are left."""
        moving = [each for each in numbers if each.width > 0]
        for each in [each for each in numbers if not each.width > 0]:
            self._enumerated.append((slice(each.feature, each.feature + 1), np.array([[each.low]])))
        while len(moving) > 2 and any(each.count for each in moving):
            fewest = min((each for each in moving if each.count), key=lambda each: each.count)
            combinations *= fewest.count + 1
            if combinations > MOST_WHOLE:
                break
            values = fewest.low + np.arange(fewest.count + 1) / fewest.count * fewest.width
            self._enumerated.append((slice(fewest.feature, fewest.feature + 1), values[:, None]))
            moving.remove(fewest)
        self._moving = moving
        self._counts = np.array([each.count for each in moving], dtype=np.int64)
        self._split = len(moving) <= 2
        # Beyond two columns an audit rounds the best point of the relaxed cell: it must win whichever way that goes.
        steps = self._counts[self._counts > 0]
        self._spare = 0.0 if self._split else 0.5 / int(steps.min()) + 1e-6 if len(steps) else 1e-9

    def states(self, centroids: Floats, cells: Ids | None = None, people: NDArray[np.bool_] | None = None) -> States:
        """For some combinations of public values and some centroids, whether the centroid can be the nearest.

        By default for all of both. A single possible centroid is not yet made a sure one: see `settle`.
        """
        cells = np.arange(len(centroids)) if cells is None else cells
        rows = np.arange(self._n_kinds) if people is None else np.flatnonzero(people)
        state = np.full((len(rows), len(cells)), UNDECIDED, dtype=np.int8)
        if not self._decidable:
            return state
        offsets = np.zeros((1, len(centroids)))
        for own, features in self._enumerated:
            offsets = (offsets[:, None] + _squares(features, centroids[:, own])).reshape(-1, len(centroids))
        slopes = np.zeros((len(centroids), len(self._moving)))
        for place, each in enumerate(self._moving):
            centre = centroids[:, each.feature]
            offsets = offsets + (each.low - centre) ** 2
            slopes[:, place] = -2 * centre * each.width  # less what all centroids share
        tables = [(_squares(features, centroids[:, own]), codes) for own, features, codes in self._public]
        slack = self._slack(centroids)
        step = max(1, AT_ONCE // len(centroids))
        for first in range(0, len(rows), step):
            chosen = rows[first : first + step]
            fixed = np.zeros((len(chosen), len(centroids)))
            for table, codes in tables:
                fixed += table[codes[chosen]]
            state[first : first + step] = reach(
                fixed, offsets, slopes, self._counts, slack, cells, self._spare, self._split
            )
        return state

    def _slack(self, centroids: Floats) -> Floats:
        """By how much a squared distance may be wrong: ours, the release's and, so that it follows us, the audit's.

        Rounding is at most as many steps as there are terms, of the size of the largest terms. The factors are four
        times those of the audit or more, so that whatever is decided here is decided there.
        """
        n, n_features = centroids.shape
        size = ((self._sizes + np.abs(centroids)) ** 2).sum(axis=1)
        return np.asarray(float(np.finfo(np.float64).eps) * (16 * n_features + 64 * n + 1024) * size)


def settle(state: States) -> None:
    """Everybody is somewhere: a person's only possible cluster is a sure one."""
    possible = state > NO
    state[(possible.sum(axis=1) == 1)[:, None] & possible] = YES


def _squares(features: Floats, centroids: Floats) -> Floats:
    """Squared distances between values and centroids over the features of one column."""
    squares = np.zeros((len(features), len(centroids)))
    for own, centre in zip(features.T, centroids.T, strict=True):
        squares += np.subtract.outer(own, centre) ** 2
    return squares


def _sizes(encoding: Encoding, number: int) -> Floats:
    """The largest number met in working out each feature of a column."""
    attribute = encoding.attributes[number]
    scale = encoding.scales[attribute.name]
    if attribute.type == "categorical":
        own = encoding.own(number)
        return np.full(own.stop - own.start, scale.factor)
    assert attribute.bounds is not None
    return np.array([(max(map(abs, attribute.bounds)) + abs(scale.centre)) / scale.scale])
