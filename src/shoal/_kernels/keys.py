# SPDX-License-Identifier: Apache-2.0
"""Numbers without gaps for keys of any size."""

from __future__ import annotations

import numpy as np
from numba import njit

SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2 ** 64 over the golden ratio: neighbouring keys land far apart


@njit(cache=True, nogil=True)
def number_keys(keys, out):
    """out[i]: the number of each key, in order of first appearance; gives how many different keys there are."""
    bits = 1
    while (1 << bits) < 2 * len(keys):
        bits += 1
    last, shift = np.int64((1 << bits) - 1), np.uint64(64 - bits)
    number_at = np.full(1 << bits, -1, dtype=np.int64)
    found = np.empty(len(keys), dtype=np.int64)
    n = 0
    for i in range(len(keys)):
        key = keys[i]
        at = np.int64((np.uint64(key) * SPREAD) >> shift)
        while number_at[at] >= 0 and found[number_at[at]] != key:
            at = (at + 1) & last
        if number_at[at] < 0:
            number_at[at] = n
            found[n] = key
            n += 1
        out[i] = number_at[at]
    return n
