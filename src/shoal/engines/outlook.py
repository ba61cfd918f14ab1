# SPDX-License-Identifier: Apache-2.0
"""How the trees below a split would turn out, from the people of a table in memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import gains, outlook
from shoal._threads import side_by_side
from shoal.engines.base import Counts, Feature, Price, Way

MOST_PEOPLE = 1 << 14  # a larger node is looked at through so many of its people
MOST_CODES = 128  # numbers in as many groups of like size; of categories the most frequent, and the others together
SMALLEST_SPLIT = 0.01  # a node of a smaller share of the table is not split any further
RARE = 5  # a value that fewer people of a node have is not looked at by itself


class Outlook:
    """Grows trees below splits, greedily and for nothing but their cost.

    This is an estimate: all splits are in two, of a requirement it knows only how many people it asks for, and large
    nodes and columns of many values are simplified (see the constants). `counts` are the people of each code.
    """

    def __init__(self, features: Sequence[Feature], counts: Sequence[Counts], n_people: int, n_classes: int) -> None:
        self._n_people = n_people
        self._n_classes = n_classes
        self._ordered = np.array([f.levels is None or f.levels.cuts is not None for f in features])
        self._missing = np.array([f.missing for f in features]) & self._ordered
        self._groups = [
            coarse(people, ordered=ordered, missing=missing)
            for people, ordered, missing in zip(counts, self._ordered.tolist(), self._missing.tolist(), strict=True)
        ]
        self._n_codes = np.array([int(group_of.max(initial=0)) + 1 for group_of in self._groups], dtype=np.int64)
        self._scale = float(2 ** gains.scale_for(MOST_PEOPLE))
        self._table = gains.log_table(MOST_PEOPLE + 1, self._scale)

    def costs(
        self,
        codes: Sequence[NDArray[Any]],
        classes: NDArray[Any],
        ways: Sequence[Way],
        price: Price,
    ) -> Counts:
        """For each way to split some people: the bits and the price of leaves of the pruned trees that follow.

        `codes` (one array a feature) and `classes` are those of all of them.
        """
        people = len(classes)
        if people > MOST_PEOPLE:
            chosen = spread([*codes, classes], MOST_PEOPLE)
            codes, classes = [column[chosen] for column in codes], classes[chosen]
        n = len(classes)
        share = n / max(people, 1)
        coarse_codes = np.empty((n, len(self._groups)), dtype=np.uint8)
        for f, group_of in enumerate(self._groups):
            coarse_codes[:, f] = group_of[codes[f]]
        known_classes = classes.astype(np.int32)

        def cost(way: Way) -> int:
            f, branch_of = way
            return outlook.outlook(  # type: ignore[no-any-return]  # kernels have no types
                coarse_codes,
                known_classes,
                self._n_classes,
                branch_of[codes[f]],
                int(branch_of.max()) + 1,
                self._n_codes,
                self._ordered,
                self._missing.astype(np.int64),
                max(1, round(price.least_people * share)),
                RARE,
                math.ceil(SMALLEST_SPLIT * self._n_people * share),
                round(price.bits_a_leaf * self._scale),
                price.gini,
                self._table,
                self._scale,
            )

        return np.array(side_by_side(cost, ways, rows=n * len(ways) * len(self._groups)), dtype=np.int64)


def spread(columns: Sequence[NDArray[Any]], most: int) -> NDArray[np.intp]:
    """Rows that stand for all: `most` of them, evenly spaced when like rows are side by side.

    Rows are ordered by a hash of what they hold, so that it does not matter in what order they come.

    >>> some = spread([np.array([7, 7, 5, 7]), np.array([0, 0, 1, 0])], 2)
    >>> sorted(np.array([7, 7, 5, 7])[some].tolist()) in ([5, 7], [7, 7])
    True
    """
    hashes = np.zeros(len(columns[0]), dtype=np.uint64)
    for codes in columns:
        hashes += codes.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)  # the finaliser of SplitMix64
        hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        hashes ^= hashes >> np.uint64(31)
    return np.argsort(hashes)[np.arange(most) * len(hashes) // most]


def coarse(counts: Counts, *, ordered: bool, missing: bool) -> NDArray[np.uint8]:
    """Codes in at most `MOST_CODES` groups: neighbours of about the same size, or the most frequent and all others.

    Missing, which is the last code of an ordered column, stays by itself and last.
    """
    n_known = len(counts) - missing
    if n_known <= MOST_CODES:
        return np.arange(len(counts), dtype=np.uint8)
    known = counts[:n_known]
    if ordered:
        middle = np.cumsum(known) - known / 2
        tile = np.minimum(middle / max(int(known.sum()), 1) * MOST_CODES, MOST_CODES - 1).astype(np.int64)
        group_of = np.unique(tile, return_inverse=True)[1].reshape(-1)
        return np.append(group_of, [group_of.max() + 1] * missing).astype(np.uint8)
    apart = np.full(n_known, MOST_CODES - 1, dtype=np.uint8)
    apart[np.argsort(-known, kind="stable")[: MOST_CODES - 1]] = np.arange(MOST_CODES - 1)
    return apart
