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
from shoal.engines.base import Counts, Feature, Way

MOST_PEOPLE = 1 << 14  # a larger node is looked at through so many of its people, evenly spaced
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
        people: int,
        ways: Sequence[Way],
        *,
        least_people: int,
        bits_a_leaf: float,
        gini: bool,
    ) -> Counts:
        """For each way to split some people: the bits and the price of leaves of the pruned trees that follow.

        `codes` (one array a feature) and `classes` are those of the people themselves, or of some who stand for them.
        """
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
                max(1, round(least_people * share)),
                RARE,
                math.ceil(SMALLEST_SPLIT * self._n_people * share),
                round(bits_a_leaf * self._scale),
                gini,
                self._table,
                self._scale,
            )

        return np.array(side_by_side(cost, ways, rows=n * len(ways) * len(self._groups)), dtype=np.int64)


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
