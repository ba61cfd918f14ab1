# SPDX-License-Identifier: Apache-2.0
"""The target: a column of the table by name, or given beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from shoal.data.encode import encode
from shoal.data.table import Column, Table
from shoal.errors import DataError


def with_target(table: Table, y: Any, name: str) -> Table:
    """The table with its target as a categorical column called `name`, wherever it came from.

    `y` is None or a column's name (the target is in the table), or the values themselves.
    """
    if y is None or isinstance(y, str):
        return table.with_column(as_categorical(table[name if y is None else y]))
    target = target_column(y, name)
    if len(target) != table.n_rows:
        raise DataError(
            "target-length",
            f"X has {table.n_rows} row(s) but y has {len(target)}. Give one value of y a row.",
        )
    return table.with_column(target)


def target_column(y: Any, name: str) -> Column:
    """The values of a target as a categorical column."""
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        array = series.to_arrow()
    elif isinstance(y, (pa.Array, pa.ChunkedArray)):
        array = y
    else:
        values = np.asarray(y)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise DataError("target-shape", f"y must be one column; got an array of shape {values.shape}.")
        if values.dtype.kind == "O":
            values = np.array([None if v is None or v != v else v for v in values.tolist()], dtype=object)
            array = pa.array(
                values.tolist() if _of_one_type(values) else [None if v is None else str(v) for v in values]
            )
        else:
            array = pa.array(values.tolist() if values.dtype.kind in "US" else values)
    return _in_own_order(encode(name, array, kind="categorical"))


def _in_own_order(column: Column) -> Column:
    """Classes that were numbers in the order of numbers, not of their texts."""
    if column.labels not in ("integer", "number"):
        return column
    order = np.argsort([float(value) for value in column.names], kind="stable")
    code_of = np.append(np.argsort(order), len(order)).astype(column.codes.dtype)
    return replace(column, codes=code_of[column.codes], values=tuple(column.names[i] for i in order))


def name_of(y: Any) -> str:
    """What to call a target that came without a table."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "target"


def as_categorical(column: Column) -> Column:
    """A numeric column read as categories, one a number."""
    if column.kind == "categorical":
        return column
    names = tuple(str(int(v)) if float(v).is_integer() else str(float(v)) for v in column.numbers)
    return replace(
        column,
        kind="categorical",
        values=names,
        integer=False,
        bounds=None,
        labels="integer" if column.integer else "number",
    )


def _of_one_type(values: np.ndarray[Any, np.dtype[Any]]) -> bool:
    return len({type(value) for value in values.tolist() if value is not None}) <= 1
