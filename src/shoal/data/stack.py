# SPDX-License-Identifier: Apache-2.0
"""Rows of two tables, one below the other, in common codes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column, Table, smallest_dtype
from shoal.errors import DataError


def stack(first: Table, second: Table, names: list[str]) -> Table:
    """Some columns of two tables, the rows of the second below those of the first.

    >>> from shoal import to_table
    >>> both = stack(to_table({"sex": ["f", "m"]}), to_table({"sex": ["x", "f"]}), ["sex"])
    >>> both["sex"].names, both["sex"].codes.tolist()
    (('f', 'm', 'x'), [0, 1, 2, 0])
    """
    return Table(_stacked(first[name], second[name]) for name in names)


def _stacked(first: Column, second: Column) -> Column:
    if first.kind != second.kind:
        raise DataError(
            "column-kind",
            f"Column {first.name!r} is {first.kind} in one table and {second.kind} in the other. "
            f"Read it with kinds={{{first.name!r}: {first.kind!r}}}.",
        )
    missing = first.missing or second.missing
    values: tuple[str, ...] | NDArray[np.float64]
    if first.kind == "numeric":
        values = np.union1d(first.numbers, second.numbers)
    else:
        known = set(first.names)
        values = (*first.names, *(value for value in second.names if value not in known))
    wider = replace(first, values=values)
    codes = np.concatenate([_positions(wider, column)[column.codes] for column in (first, second)])
    integer = first.integer and second.integer
    return replace(
        wider,
        codes=codes.astype(smallest_dtype(len(values) + missing)),
        missing=missing,
        integer=integer,
        bounds=None,
    )


def with_values(column: Column, values: tuple[str, ...] | NDArray[np.float64]) -> Column:
    """The same column over a dictionary that holds some further values too."""
    if column.kind == "numeric":
        joined: tuple[str, ...] | NDArray[np.float64] = np.union1d(column.numbers, values)
    else:
        joined = tuple(sorted({*column.names, *map(str, values)}))
    wider = replace(column, values=joined)
    codes = _positions(wider, column)[column.codes]
    return replace(wider, codes=codes.astype(smallest_dtype(len(joined) + column.missing)))


def _positions(wider: Column, column: Column) -> NDArray[np.int64]:
    """Where the values of a column are in a dictionary that holds them all; missing is after the last."""
    if column.kind == "numeric":
        found = np.searchsorted(wider.numbers, column.numbers)
    else:
        place = {value: code for code, value in enumerate(wider.names)}
        found = np.array([place[value] for value in column.names], dtype=np.int64)
    return np.append(found, len(wider.values)).astype(np.int64)
