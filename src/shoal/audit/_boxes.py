# SPDX-License-Identifier: Apache-2.0
"""Which of many boxes hold which points: compiled, a bit a box.

A box has in each column a set of atoms, as runs. For a block of boxes and each atom of a column the boxes that take the
atom are a row of bits; the boxes that hold a point are the AND of one such row a column. Points come sorted, so what a
point begins like the one before has been worked out, and once no box is left the rest is not looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

WORD = 64

Bits = NDArray[np.uint64]
Ids = NDArray[np.int64]


@njit(cache=True, nogil=True)
def atom_bits(value: Ids, begin: int, stop: int, start: Ids, first: Ids, end: Ids, offset: Ids, bits: Bits) -> None:
    """The boxes of a block that take each atom: row `offset[column] + atom` of `bits`.

    `value[box, column]` is a row of `start`, whose runs of atoms are in `first` and `end`.
    """
    bits[:] = 0
    n_columns = value.shape[1]
    for box in range(begin, stop):
        word = (box - begin) // WORD
        bit = np.uint64(1) << np.uint64((box - begin) % WORD)
        for column in range(n_columns):
            v = value[box, column]
            for run in range(start[v], start[v + 1]):
                bits[offset[column] + first[run], word] ^= bit
                if end[run] < offset[column + 1] - offset[column]:
                    bits[offset[column] + end[run], word] ^= bit
    for column in range(n_columns):
        for row in range(offset[column] + 1, offset[column + 1]):
            for word in range(bits.shape[1]):
                bits[row, word] ^= bits[row - 1, word]


@njit(cache=True, nogil=True)
def value_bits(
    value: Ids,
    begin: int,
    stop: int,
    start: Ids,
    first: Ids,
    end: Ids,
    offset: Ids,
    values: Ids,
    of_atom: Bits,
    starts: Bits,
    bits: Bits,
) -> None:
    """The boxes of a block that share an atom with each value: row v of `bits`.

    The values of a column are rows `values[column]` to before `values[column + 1]` of `start`; `of_atom` is what
    `atom_bits` says. A box of one run shares an atom with a stretch if it takes its first, or begins within it.
    """
    starts[:] = 0
    bits[:] = 0
    n_words = bits.shape[1]
    for column in range(value.shape[1]):
        simple = True
        for v in range(values[column], values[column + 1]):
            simple = simple and start[v + 1] - start[v] <= 1
        if simple:
            for box in range(begin, stop):
                v = value[box, column]
                if start[v] < start[v + 1]:
                    row = offset[column] + first[start[v]]
                    starts[row, (box - begin) // WORD] |= np.uint64(1) << np.uint64((box - begin) % WORD)
            for row in range(offset[column] + 1, offset[column + 1]):
                for word in range(n_words):
                    starts[row, word] |= starts[row - 1, word]
        for v in range(values[column], values[column + 1]):
            for run in range(start[v], start[v + 1]):
                low, high = offset[column] + first[run], offset[column] + end[run]
                if simple:
                    for word in range(n_words):
                        bits[v, word] |= of_atom[low, word] | (starts[high - 1, word] ^ starts[low, word])
                else:
                    for row in range(low, high):
                        for word in range(n_words):
                            bits[v, word] |= of_atom[row, word]


@njit(cache=True, nogil=True)
def held(
    bits: Bits, offset: Ids, points: NDArray[Any], begin: int, most: int, several: bool, counts: Ids
) -> tuple[Ids, Ids]:
    """Pairs of a box of a block and a point that it holds; the points must ascend.

    `counts` is added to: how many boxes hold each point. No pairs are told once there are more than `most`. With
    `several`, the search ends at the first point that two boxes hold.
    """
    n, n_columns = points.shape
    n_words = bits.shape[1]
    # the words that are not empty after each column, and where they are; those before the first column are all
    left = np.zeros((n_columns + 1, n_words), dtype=np.uint64)
    place = np.zeros((n_columns + 1, n_words), dtype=np.int64)
    n_left = np.zeros(n_columns + 1, dtype=np.int64)
    left[0] = ~np.uint64(0)
    place[0] = np.arange(n_words)
    n_left[0] = n_words
    boxes, found = np.empty(min(most, 1024), dtype=np.int64), np.empty(min(most, 1024), dtype=np.int64)
    n_pairs = 0
    dead = n_columns
    for p in range(n):
        column = 0
        if p > 0:
            while column < n_columns and points[p, column] == points[p - 1, column]:
                column += 1
            if dead < column:  # no box takes what it begins with, as before
                continue
        dead = n_columns
        while column < n_columns:
            row = offset[column] + points[p, column]
            n_kept = 0
            for i in range(n_left[column]):
                word = place[column, i]
                both = left[column, i] & bits[row, word]
                left[column + 1, n_kept] = both
                place[column + 1, n_kept] = word
                n_kept += both != 0
            n_left[column + 1] = n_kept
            if n_kept == 0:
                dead = column
                break
            column += 1
        if dead < n_columns:
            continue
        for i in range(n_left[n_columns]):
            rest = left[n_columns, i]
            while rest != 0:
                counts[p] += 1
                if several and counts[p] > 1:
                    return boxes[:n_pairs], found[:n_pairs]
                if n_pairs < most:
                    if n_pairs == len(boxes):
                        size = min(most, 2 * n_pairs)
                        more = np.empty(size, dtype=np.int64)
                        more[:n_pairs] = boxes
                        boxes = more
                        more = np.empty(size, dtype=np.int64)
                        more[:n_pairs] = found
                        found = more
                    boxes[n_pairs] = begin + place[n_columns, i] * WORD + _lowest(rest)
                    found[n_pairs] = p
                    n_pairs += 1
                rest &= rest - np.uint64(1)
    return boxes[:n_pairs], found[:n_pairs]


@njit(cache=True, nogil=True)
def _lowest(word: Any) -> int:
    """The place of the lowest bit that is set."""
    place = 0
    for step in (32, 16, 8, 4, 2, 1):
        if word & ((np.uint64(1) << np.uint64(step)) - np.uint64(1)) == 0:
            word >>= np.uint64(step)
            place += step
    return place
