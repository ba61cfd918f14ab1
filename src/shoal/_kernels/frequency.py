# SPDX-License-Identifier: Apache-2.0
"""Frequency sets: different rows and how often each is there, rolled up to more general values.

What a row says is packed into one or more 64-bit words, each column in bits of its own.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: neighbouring keys land far apart


@njit(cache=True, nogil=True)
def roll_up(keys, counts, keep, words, shifts, masks, maps, most, out_keys, out_counts, group_of):
    """Group rows that are alike after maps[j] was applied to each of some fields, and add up their counts.

    Of word w the bits keep[w] stay as they are; field j is the bits masks[j] of words[j], shifts[j] up, and all other
    bits are dropped. Writes the key and the counts of every group, in the order in which groups are met, and the group
    of every row unless `group_of` is empty. Returns how many groups there are, or -1 as soon as there are more than
    `most`: then nothing that was written counts.
    """
    n_rows, n_words = keys.shape
    new = np.empty(keys.shape, dtype=np.uint64)
    for r in range(n_rows):
        for w in range(n_words):
            new[r, w] = keys[r, w] & keep[w]
    for j in range(len(words)):
        word, shift, mask = words[j], shifts[j], masks[j]
        for r in range(n_rows):
            new[r, word] |= maps[j, (keys[r, word] >> shift) & mask] << shift
    bits = 4
    while (1 << bits) < 2 * n_rows:
        bits += 1
    last = (1 << bits) - 1
    down = np.uint64(64 - bits)
    slots = np.full(1 << bits, -1, dtype=np.int32)  # an open hash table of group numbers
    n_groups = 0
    for r in range(n_rows):
        key = new[r, 0]
        hashed = key
        for w in range(1, n_words):
            hashed = (hashed * _SPREAD) ^ new[r, w]
        slot = np.int64((hashed * _SPREAD) >> down)
        while True:
            g = slots[slot]
            if g < 0:
                if n_groups == most:
                    return -1
                g = n_groups
                slots[slot] = g
                for w in range(n_words):
                    out_keys[g, w] = new[r, w]
                for v in range(counts.shape[1]):
                    out_counts[g, v] = 0
                n_groups += 1
                break
            same = out_keys[g, 0] == key
            for w in range(1, n_words):
                same &= out_keys[g, w] == new[r, w]
            if same:
                break
            slot = (slot + 1) & last
        if len(group_of):
            group_of[r] = g
        for v in range(counts.shape[1]):
            out_counts[g, v] += counts[r, v]
    return n_groups
