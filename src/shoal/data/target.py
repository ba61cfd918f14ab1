# SPDX-License-Identifier: Apache-2.0
"""The target: a column of the table by name, or given beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeVar

import numpy as np

from shoal.data.encode import number_text
from shoal.data.frames import to_table
from shoal.data.table import Column, Columns
from shoal.errors import DataError

Rows = TypeVar("Rows", bound=Columns)


def with_target(table: Rows, y: Any, name: str) -> Rows:
    """The table with its target as a categorical column called `name`, wherever it came from.

    `y` is None or a column's name (the target is in the table), or the values themselves.
    """
    if y is None or isinstance(y, str):
        column = as_categorical(table[name if y is None else y])
        others = [other for other in table.values() if other.name != column.name]
        return table.like([*others, replace(column, name=name)])
    target = target_column(y, name)
    if len(target) != table.n_rows:
        raise DataError(
            "target-length", f"X has {table.n_rows} row(s) but y has {len(target)}. Give one value of y a row."
        )
    return table.like({**table, name: target}.values())


def target_column(y: Any, name: str) -> Column:
    """The values of a target as a categorical column."""
    if not hasattr(y, "to_numpy"):  # anything but a series of a data frame library
        y = np.asarray(y)
        y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        if y.ndim != 1:
            raise DataError("target-shape", f"y must be one column; got an array of shape {y.shape}.")
    return as_categorical(to_table({name: y}, kinds={name: "categorical"})[name])


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
    """A column read as categories: a numeric one by its numbers, any other without what no row has."""
    if column.kind == "categorical":
        # a missing that no row has any more would be refused in a target
        return _in_own_order(column.compact() if column.missing else column)
    if column.integer and np.abs(column.numbers).max(initial=0) >= 2**53:
        raise DataError(
            "target-numbers",
            f"The target {column.name!r} has whole numbers beyond 2**53, which cannot be told apart. Make them texts.",
        )
    names = tuple(str(int(number)) if column.integer else number_text(number) for number in column.numbers)
    labels: Literal["integer", "number"] = "integer" if column.integer else "number"
    return replace(column, kind="categorical", values=names, integer=False, bounds=None, labels=labels)
