# SPDX-License-Identifier: Apache-2.0
"""From Arrow to codes: the only place where an Arrow array becomes a `Column`.

Rows are touched only by Arrow and NumPy. Python sees the distinct values, once each.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.data.factorize import Indices, factorize, value_type
from shoal.data.table import Column, Kind, smallest_dtype
from shoal.errors import DataError

Labels = Literal["string", "integer", "number", "boolean"]
# how many rows have one of some entries, for messages
CountRows = Callable[[NDArray[Any]], int]


def encode(
    name: str,
    array: pa.ChunkedArray | pa.Array,
    *,
    kind: Kind | None = None,
    missing: Collection[str] = (),
    weights: NDArray[np.int64] | None = None,
) -> Column:
    """Encode one Arrow array.

    Parameters
    ----------
    name
        The column's name.
    array
        Numbers, booleans, strings, dates, times or a dictionary of these.
    kind
        ``"numeric"`` or ``"categorical"``; by default numbers are numeric and all else is categorical.
    missing
        Strings that mean missing, besides null and NaN.
    weights
        How many rows each element stands for, where these are distinct entries of rows elsewhere.

    Returns
    -------
    Column
        With a sorted dictionary of the values that occur, and the smallest codes that hold it.

    Examples
    --------
    >>> column = encode("grade", pa.array(["b", "a", None, "b"]))
    >>> column.names, column.codes.tolist(), column.missing
    (('a', 'b'), [1, 0, 2, 1], True)
    >>> encode("age", pa.array([30, 41, 30])).numbers.tolist()
    [30.0, 41.0]
    """
    missing = frozenset([missing] if isinstance(missing, str) else missing)
    chunks = plain_array(name, array)
    wanted = value_type(chunks.type)
    if kind is None:
        number = pa.types.is_integer(chunks.type) or pa.types.is_floating(chunks.type)
        kind = "numeric" if number else "categorical"
    indices, entries, used = factorize(chunks)
    kept = np.flatnonzero(used)
    if len(kept) < len(entries):
        entries = entries.take(pa.array(kept))

    def rows(which: NDArray[Any]) -> int:
        found = np.concatenate([np.isin(piece, kept[which]) for piece in indices])
        return int(found.sum()) if weights is None else int(weights[found].sum())

    table = np.full(len(used) + 1, -1, dtype=np.int64)
    values: tuple[str, ...] | NDArray[np.float64]
    labels: Labels = "string"
    integer = False
    if kind == "numeric":
        numbers = _numbers(name, entries, wanted, missing, rows)
        _refuse_infinite(name, numbers, rows)
        found, ranks = _ranked(numbers)
        n = len(found) - int(np.count_nonzero(np.isnan(found)))  # NaN sorts last
        values = found[:n] + 0.0  # -0.0 becomes 0.0
        integer = n > 0 and bool(np.all(np.floor(values) == values))
        table[kept] = np.where(ranks < n, ranks, -1)
    else:
        texts, labels = _texts(name, entries, wanted, missing, rows)
        values = tuple(sorted({text for text in texts if text is not None}))
        rank: dict[str | None, int] = {text: i for i, text in enumerate(values)}
        table[kept] = np.fromiter((rank.get(text, -1) for text in texts), np.int64, len(texts))
    codes, gaps = _codes(indices, table, len(values))
    return Column(name, kind, codes, values, missing=gaps, integer=integer, labels=labels, weights=weights)


def plain_array(name: str, array: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray:
    """One of the few types that the rest knows, or a refusal."""
    chunks = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    if isinstance(chunks.type, pa.BaseExtensionType):
        storage = [chunk.storage for chunk in chunks.chunks]
        chunks = pa.chunked_array(storage, type=chunks.type.storage_type)
    if pa.types.is_run_end_encoded(chunks.type):
        chunks = pc.run_end_decode(chunks)
    of = value_type(chunks.type)
    t = pa.types
    if t.is_decimal(chunks.type):
        return _nearest(chunks)
    if t.is_float16(chunks.type):
        return chunks.cast(pa.float32())
    if t.is_string_view(chunks.type):
        return chunks.cast(pa.large_string())
    text = t.is_string(of) or t.is_large_string(of) or t.is_string_view(of)
    moment = t.is_date(of) or t.is_timestamp(of) or t.is_time(of)
    number = t.is_integer(of) or t.is_floating(of) or t.is_decimal(of)
    if not (text or moment or number or t.is_boolean(of) or t.is_null(of)):
        raise DataError(
            "unsupported-column",
            f"Column {name!r} holds {of}, which Shoal cannot use. Make it numbers or strings, or drop it.",
        )
    return chunks


def _nearest(decimals: Any) -> Any:
    """Decimals as the nearest floats: Arrow itself may make 0.15000000000000002 of 0.15, which is beyond a cut."""
    return decimals.cast(pa.string()).cast(pa.float64())


def _ranked(numbers: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The distinct numbers, ascending, and the rank of each."""
    if bool(np.all(numbers[1:] > numbers[:-1])):  # they often are in order already
        return numbers, np.arange(len(numbers))
    return np.unique(numbers, return_inverse=True)


def _numbers(
    name: str,
    entries: pa.Array,
    of: pa.DataType,
    missing: Collection[str],
    rows: CountRows,
) -> NDArray[np.float64]:
    """The entries as numbers, NaN where missing."""
    if pa.types.is_temporal(of):
        raise DataError("not-numeric", f"Column {name!r} holds dates or times; its kind cannot be 'numeric'.")
    if not (pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of)):
        if pa.types.is_boolean(of):
            entries = entries.cast(pa.uint8())
        if pa.types.is_decimal(of):
            entries = _nearest(entries)
        # safe=False: whole numbers beyond 2**53 are rounded
        return np.array(entries.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    numbers = np.full(len(entries), np.nan)
    wrong = []
    for i, text in enumerate(entries.to_pylist()):
        if text is None or text in missing or text.strip() in missing:
            continue
        try:
            if "_" in text:  # Python takes 1_000 for a number, nobody else does
                raise ValueError
            numbers[i] = float(text)
        except ValueError:
            wrong.append(i)
    if wrong:
        raise DataError(
            "not-numeric",
            f"Column {name!r} is to be numeric, but {rows(np.array(wrong))} of its cells are no numbers. "
            "Name what stands for missing, or make the column categorical.",
        )
    return numbers


def _refuse_infinite(name: str, numbers: NDArray[np.float64], rows: CountRows) -> None:
    infinite = np.isinf(numbers)
    if infinite.any():
        raise DataError(
            "not-finite",
            f"Column {name!r} has {rows(infinite)} infinite value(s) (inf). Replace them, or make them missing.",
        )


def _texts(
    name: str,
    entries: pa.Array,
    of: pa.DataType,
    missing: Collection[str],
    rows: CountRows,
) -> tuple[list[str | None], Labels]:
    """The entries as strings, None where missing, and what they were before."""
    if pa.types.is_boolean(of):
        return [None if flag is None else str(flag) for flag in entries.to_pylist()], "boolean"
    if pa.types.is_integer(of):
        return [None if number is None else str(number) for number in entries.to_pylist()], "integer"
    if pa.types.is_floating(of) or pa.types.is_decimal(of):
        if pa.types.is_decimal(of):
            entries = _nearest(entries)
        numbers = entries.to_numpy(zero_copy_only=False)
        _refuse_infinite(name, numbers, rows)
        return [None if np.isnan(number) else number_text(number) for number in numbers], "number"
    if pa.types.is_date(of) or pa.types.is_timestamp(of):
        return _moments(entries), "string"
    if pa.types.is_time(of):
        with contextlib.suppress(pa.ArrowInvalid):  # whole seconds if nothing is lost
            entries = entries.cast(pa.time32("s"))
        return list(entries.cast(pa.string()).to_pylist()), "string"
    return [None if text in missing else text for text in entries.to_pylist()], "string"


def number_text(number: float | np.floating[Any]) -> str:
    """A number as the name of a category: whole numbers without a point.

    >>> number_text(1.0), number_text(0.25), number_text(-0.0)
    ('1', '0.25', '0')
    """
    if number.is_integer() and abs(float(number)) < 1e15:
        return str(int(number))
    # str of a float32 is shorter than that of the same number as float64
    return str(number)


def _moments(entries: pa.Array) -> list[str | None]:
    """Days, or moments in the coarsest unit that loses nothing. Those of a time zone are UTC's, as everywhere."""
    zone = getattr(entries.type, "tz", None)
    suffix = ""
    if zone is not None:
        entries = entries.cast(pa.timestamp(entries.type.unit))
    moments = entries.to_numpy(zero_copy_only=False)
    days = moments.astype("datetime64[D]")
    gaps = np.isnat(moments)
    if np.all(gaps | (days == moments)):
        moments = days
    elif zone is not None:
        suffix = "Z"
    for unit in ("s", "ms", "us"):
        coarse = moments.astype(f"datetime64[{unit}]")
        if moments.dtype != days.dtype and np.all(gaps | (coarse == moments)):
            moments = coarse
            break
    texts = np.datetime_as_string(moments).tolist()
    return [None if gap else text + suffix for text, gap in zip(texts, gaps.tolist(), strict=True)]


def _codes(indices: Indices, table: NDArray[np.int64], n: int) -> tuple[NDArray[Any], bool]:
    """Codes of all rows from a table of ranks (-1: missing, code n), and whether any row is missing."""
    table = np.where(table < 0, n, table)
    codes = np.empty(sum(map(len, indices)), dtype=smallest_dtype(n + 1))
    small = table.astype(codes.dtype)
    start = 0
    for piece in indices:
        np.take(small, piece, out=codes[start : start + len(piece)], mode="clip")
        start += len(piece)
    gaps = bool((codes == n).any())
    # a smaller type may do when there is no code for missing
    return codes.astype(smallest_dtype(n + gaps), copy=False), gaps
