# SPDX-License-Identifier: Apache-2.0
"""From an Arrow array to the distinct entries it has, and the entry of every row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

# index arrays into the entries, one a chunk; the index after the last entry means missing
Indices = list[NDArray[Any]]
SAMPLE = 4096  # rows to guess from whether a column has many distinct numbers


def value_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values, which a dictionary hides."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def factorize(chunks: pa.ChunkedArray) -> tuple[Indices, pa.Array, NDArray[np.bool_]]:
    """Indices of every row, the entries they point at, and which entries any row has."""
    if pa.types.is_integer(chunks.type):
        bounds = pc.min_max(chunks)
        low, high = bounds["min"].as_py(), bounds["max"].as_py()
        # a table over the whole range beats hashing as long as the table is small
        if low is not None and high - low < max(2**16, len(chunks) // 4):
            return _offsets(chunks, low, high)
    if pa.types.is_floating(chunks.type) and _mostly_distinct(chunks):
        return _by_sorting(chunks)
    if not pa.types.is_dictionary(chunks.type):
        chunks = chunks.dictionary_encode()
        fresh = True
    else:
        chunks = chunks.unify_dictionaries()  # row groups may each have their own
        fresh = False
    if chunks.num_chunks == 0:
        return [], pa.array([], value_type(chunks.type)), np.zeros(0, dtype=np.bool_)
    entries = chunks.chunk(0).dictionary
    n = len(entries)
    indices = [_filled(chunk.indices, n) for chunk in chunks.chunks]
    used = np.full(n + 1, fresh)
    if not fresh:
        for piece in indices:
            used[piece] = True
    return indices, entries, used[:n]


def _filled(indices: pa.Array, n: int) -> NDArray[Any]:
    if indices.null_count:
        # a narrow index type may have no room for n
        indices = indices.cast(pa.int64()).fill_null(n)
    return np.asarray(indices.to_numpy(zero_copy_only=False))


def _offsets(chunks: pa.ChunkedArray, low: int, high: int) -> tuple[Indices, pa.Array, NDArray[np.bool_]]:
    n = high - low + 1
    indices: Indices = []
    used = np.zeros(n + 1, dtype=np.bool_)
    for chunk in chunks.chunks:
        gaps = chunk.is_null().to_numpy(zero_copy_only=False) if chunk.null_count else None
        numbers = (chunk.fill_null(low) if chunk.null_count else chunk).to_numpy(zero_copy_only=False)
        if numbers.dtype.itemsize < 8:
            numbers = numbers.astype(np.int64)  # the difference of two int8 may not be one
        piece = (numbers - numbers.dtype.type(low)).astype(np.int32)
        if gaps is not None:
            piece[gaps] = n
        used[piece] = True
        indices.append(piece)
    entries = np.arange(n, dtype=np.uint64 if high >= 2**63 else np.int64)
    entries += entries.dtype.type(low)
    return indices, pa.array(entries), used[:n]


def _mostly_distinct(chunks: pa.ChunkedArray) -> bool:
    """Whether a look at some rows says that most numbers occur once or twice: then sorting beats hashing."""
    step = len(chunks) // SAMPLE
    if step == 0:
        return False
    sample = chunks.take(pa.array(np.arange(SAMPLE) * step))
    return bool(pc.count_distinct(sample).as_py() > SAMPLE // 2)


def _by_sorting(chunks: pa.ChunkedArray) -> tuple[Indices, pa.Array, NDArray[np.bool_]]:
    numbers = chunks.to_numpy()  # null becomes NaN
    order = np.argsort(numbers)
    ordered = numbers[order]
    n_known = len(ordered) - int(np.isnan(ordered).sum())  # NaN sorts last
    first = np.ones(n_known, dtype=np.bool_)
    np.not_equal(ordered[1:n_known], ordered[: n_known - 1], out=first[1:])
    entries = ordered[:n_known][first]
    indices = np.full(len(numbers), len(entries), dtype=np.int32 if len(numbers) < 2**31 else np.int64)
    indices[order[:n_known]] = np.cumsum(first, dtype=indices.dtype) - 1
    return [indices], pa.array(entries), np.ones(len(entries), dtype=np.bool_)
