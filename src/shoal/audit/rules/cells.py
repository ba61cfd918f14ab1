# SPDX-License-Identifier: Apache-2.0
"""Tables as transactions: a person has the item "column=value" for each of his cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from shoal.audit.rules.transactions import Transactions, read_transactions
from shoal.data.discretize import interval_labels
from shoal.data.encode import number_text
from shoal.data.frames import to_table
from shoal.data.table import Column

Cuts = Mapping[str, Sequence[float]]


def read_items(data: Any, rows: str, also: Collection[str] = (), cuts: Cuts | None = None) -> Transactions:
    """Transactions from baskets or from a table; the parameters are those of the two functions."""
    return read_transactions(data, also) if rows == "baskets" else items_of_table(data, also, cuts)


def items_of_table(data: Any, also: Collection[str] = (), cuts: Cuts | None = None) -> Transactions:
    """One item for each value of each column; a missing cell is none.

    Parameters
    ----------
    data
        The rows: a data frame, an Arrow table or a `Table`.
    also
        Columns that are no items: they tell people apart.
    cuts
        Where to cut columns of numbers; then an item is a class of numbers.

    Examples
    --------
    >>> items_of_table({"sex": ["f", "m"], "age": [30, None]}).item_names
    ('sex=f', 'sex=m', 'age=30')
    >>> items_of_table({"age": [30, 41, 77]}, cuts={"age": [35, 60]}).item_names
    ('age=<=35', 'age=(35, 60]', 'age=>60')
    """
    if isinstance(data, Transactions):
        return data
    table = to_table(data)
    rows, items, names = [np.empty(0, np.int64)], [np.empty(0, np.int64)], list[str]()
    column_of: dict[str, str] = {}
    for name in table:
        cut = None if cuts is None else cuts.get(name)
        if name in also or (cut is not None and not len(cut)):  # one class for everybody is no item
            continue
        column = table[name]
        there = np.flatnonzero(column.codes < len(column.values))
        texts, text_of = _texts(column, cut)
        rows.append(there)
        items.append(text_of[column.codes[there]] + len(names))
        names += [f"{name}={text}" for text in texts]
        column_of |= dict.fromkeys((f"{name}={text}" for text in texts), name)
    others = [table[name] for name in table if name in also]
    return Transactions(np.concatenate(rows), np.concatenate(items), names, table.n_rows, others, column_of)


def _texts(column: Column, cuts: Sequence[float] | None) -> tuple[Sequence[str], Any]:
    """What the values of a column are called, and which of these each of its codes is."""
    if column.kind == "categorical":
        return column.names, np.arange(len(column.names))
    if cuts is None:
        return list(map(number_text, column.numbers)), np.arange(len(column.values))
    places = np.array(cuts, dtype=np.float64)
    return interval_labels(places, whole=False), np.searchsorted(places, column.numbers)
