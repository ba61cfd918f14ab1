# SPDX-License-Identifier: Apache-2.0
"""Two tables, one below the other, in common codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column, Table, smallest_dtype
from shoal.errors import DataError


def stack(first: Table, second: Table, names: Sequence[str]) -> Table:
    """Some columns of two tables: the rows of the first, then those of the second.

    >>> from shoal.data.frames import to_table
    >>> both = stack(to_table({"sex": ["m", "f"]}), to_table({"sex": ["m", "x"]}), ["sex"])
    >>> both["sex"].names, both["sex"].codes.tolist()
    (('f', 'm', 'x'), [1, 0, 1, 2])
    """
    return Table(_stacked(first[name], second[name]) for name in names)


def _stacked(first: Column, second: Column) -> Column:
    if first.kind != second.kind:
        raise DataError(
            "column-kind",
            f"Column {first.name!r} is {first.kind} in one table but {second.kind} in the other. "
            f"Read it with kinds={{{first.name!r}: {first.kind!r}}}.",
        )
    wider = with_values(first, second.values)
    position = _positions(wider, second)
    codes = np.concatenate([wider.codes.astype(np.int64), position[second.codes]])
    missing = first.missing or second.missing
    return replace(
        wider,
        codes=codes.astype(smallest_dtype(len(wider.values) + missing)),
        missing=missing,
        integer=first.integer and second.integer,
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
