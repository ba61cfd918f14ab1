# SPDX-License-Identifier: Apache-2.0
"""Keyed digests of rows: whoever has the key can tell whether two rows are the same, and nobody what they hold.

A row's digest is SipHash-2-4 over its cells, for all rows at once. Columns go by name and values by what they mean, so
neither the order of rows and columns nor how a file was read matters.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column, Table

Words = NDArray[np.uint64]
_START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)


def siphash(words: Sequence[Words], key: bytes) -> Words:
    """SipHash-2-4 [1]_ of many messages at once, each a sequence of 64-bit words.

    .. [1] J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012.

    Examples
    --------
    >>> word = np.array([0x0706050403020100], dtype=np.uint64)
    >>> [hex(digest) for digest in siphash([word], bytes(range(16)))]
    ['0x93f5f5799a932462']
    """
    halves = [int.from_bytes(key[:8], "little"), int.from_bytes(key[8:16], "little")]
    shape = words[0].shape
    v = [np.full(shape, start ^ half, dtype=np.uint64) for start, half in zip(_START, halves * 2, strict=True)]
    length = np.full(shape, (8 * len(words) & 0xFF) << 56, dtype=np.uint64)
    for word in (*words, length):
        v[3] ^= word
        _round(v)
        _round(v)
        v[0] ^= word
    v[2] ^= np.uint64(0xFF)
    for _ in range(4):
        _round(v)
    return np.asarray(v[0] ^ v[1] ^ v[2] ^ v[3])


def _round(v: list[Words]) -> None:
    for a, b, c, d, left, right in ((0, 1, 2, 3, 13, 16), (2, 1, 0, 3, 17, 21)):
        v[a] = v[a] + v[b]
        v[b] = _turned(v[b], left) ^ v[a]
        v[a] = _turned(v[a], 32)
        v[c] = v[c] + v[d]
        v[d] = _turned(v[d], right) ^ v[c]


def _turned(word: Words, bits: int) -> Words:
    return np.asarray((word << np.uint64(bits)) | (word >> np.uint64(64 - bits)))


def row_digests(table: Table, names: Sequence[str], key: bytes) -> Words:
    """A keyed digest of each row, as far as some columns go.

    >>> from shoal import to_table
    >>> one = row_digests(to_table({"a": [1, 2], "b": ["x", "y"]}), ["a", "b"], b"k" * 32)
    >>> other = row_digests(to_table({"b": ["y", "x"], "a": ["2", "1"]}), ["b", "a"], b"k" * 32)
    >>> one.tolist() == other.tolist()[::-1]
    True
    """
    words: list[Words] = []
    for name in sorted(names):
        column = table[name]
        words.append(np.full(table.n_rows, _word(f"column {name}", key), dtype=np.uint64))
        words.append(_value_words(column, key)[column.codes])
    if not words:
        return np.zeros(table.n_rows, dtype=np.uint64)
    return siphash(words, hmac.digest(key, b"rows", "sha256"))


def _value_words(column: Column, key: bytes) -> Words:
    """A word for each entry of a column's dictionary, and for missing: a number is itself, a text is digested."""
    if column.kind == "numeric":
        known = (column.numbers + 0.0).view(np.uint64)  # the zero with a sign is zero
    else:
        known = np.array([_text_word(text, key) for text in column.names], dtype=np.uint64)
    return np.append(known, np.array([_word("missing", key)], dtype=np.uint64))


def _text_word(text: str, key: bytes) -> int:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isfinite(number):  # so that it does not matter whether the column was read as numbers
        return int(np.float64(number + 0.0).view(np.uint64))
    return _word(f"text {text}", key)


def _word(text: str, key: bytes) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=key)
    return int.from_bytes(digest.digest(), "little")


def table_fingerprint(table: Table, key: bytes) -> str:
    """A keyed fingerprint of a whole table, independent of the order of its rows and columns."""
    digests = np.sort(row_digests(table, table.names, key))
    return hmac.new(key, b"table" + digests.astype("<u8").tobytes(), "sha256").hexdigest()


def were_there(before: Words, now: Words) -> NDArray[np.bool_]:
    """Which of the rows now were there before; of equal rows, as many as there were.

    >>> before, now = (np.array(each, dtype=np.uint64) for each in ([3, 5, 5, 7], [5, 9, 5, 5]))
    >>> were_there(before, now).tolist()
    [True, False, True, False]
    """
    before = np.sort(before)
    order = np.argsort(now, kind="stable")
    ordered = now[order]
    rank = np.arange(len(now)) - np.searchsorted(ordered, ordered, side="left")
    times = np.searchsorted(before, ordered, side="right") - np.searchsorted(before, ordered, side="left")
    answer = np.empty(len(now), dtype=bool)
    answer[order] = rank < times
    return answer
