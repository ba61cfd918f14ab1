# SPDX-License-Identifier: Apache-2.0
"""How many rows a combination of classifiers gets right."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def weight_right(odds, target, possible, weight, tie):
    """The weight of the rows whose class is chosen: the first that no other beats by more than `tie`.

    odds[class, row] are log odds against the last class. A class that is not possible[row, class] is never chosen;
    an empty `possible` says that all are.
    """
    n_classes = len(odds) + 1
    total = 0.0
    for row in range(len(target)):
        best, chosen = -np.inf, -1
        for c in range(n_classes):
            if len(possible) and not possible[row, c]:
                continue
            own = odds[c, row] if c < n_classes - 1 else 0.0
            if own > best + tie:
                best, chosen = own, c
        if chosen == target[row]:
            total += weight[row]
    return total
