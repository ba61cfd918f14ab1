# SPDX-License-Identifier: Apache-2.0
"""The nearest of many tuples, column by column; a tuple is given up as soon as it is too far."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def nearest(rows, tuples, far, starts, widths, out):
    """out[i]: the tuple with the least sum of distances to row i, the earliest of several.

    The distance of cell t of column c from code r is far[starts[c] + t * widths[c] + r].
    """
    for i in range(len(rows)):
        best = np.inf
        for t in range(len(tuples)):
            distance = 0.0
            for c in range(tuples.shape[1]):
                distance += far[starts[c] + tuples[t, c] * widths[c] + rows[i, c]]
                if distance >= best:
                    break
            if distance < best:
                best = distance
                out[i] = t
                if best == 0.0:
                    break
