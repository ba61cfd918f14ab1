# SPDX-License-Identifier: Apache-2.0
"""Tables as transactions: a person has the item "column=value" for each of his cells."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from shoal.audit.rules.transactions import Transactions, read_transactions
from shoal.data.encode import number_text
from shoal.data.frames import to_table
from shoal.data.table import Column


def read_items(data: Any, rows: str, also: Collection[str] = ()) -> Transactions:
    """Transactions from baskets or from a table; the parameters are those of `read_transactions`."""
    return read_transactions(data, also) if rows == "baskets" else items_of_table(data, also)


def items_of_table(data: Any, also: Collection[str] = ()) -> Transactions:
    """One item for each value of each column; a missing cell is none.

    Parameters
    ----------
    data
        The rows: a data frame, an Arrow table or a `Table`.
    also
        Columns that are no items: they tell people apart.

    Examples
    --------
    >>> items_of_table({"sex": ["f", "m"], "age": [30, None]}).item_names
    ('sex=f', 'sex=m', 'age=30')
    """
    if isinstance(data, Transactions):
        return data
    table = to_table(data)
    rows, items, names = [np.empty(0, np.int64)], [np.empty(0, np.int64)], list[str]()
    for name in table:
        if name in also:
            continue
        column = table[name]
        there = np.flatnonzero(column.codes < len(column.values))
        rows.append(there)
        items.append(column.codes[there].astype(np.int64) + len(names))
        names += [f"{name}={value}" for value in _texts(column)]
    others = [table[name] for name in table if name in also]
    return Transactions(np.concatenate(rows), np.concatenate(items), names, table.n_rows, others)


def _texts(column: Column) -> list[str]:
    return list(map(number_text, column.numbers)) if column.kind == "numeric" else list(column.names)
