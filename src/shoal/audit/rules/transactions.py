# SPDX-License-Identifier: Apache-2.0
"""Which items each person has: a table of yes-or-no columns that is kept as the short list of what is there.

A shop has thousands of items and a basket has ten of them. So only the ten are kept, and the column of an item is made
when somebody asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import narwhals as nw
import numpy as np

from shoal.audit.groups import Ids, person_codes
from shoal.data.encode import number_text
from shoal.data.frames import to_table
from shoal.data.table import Column, Table
from shoal.errors import DataError

NO_YES = ("False", "True")
YES = frozenset({"true", "yes", "y", "t", "1"})
NO = frozenset({"false", "no", "n", "f", "0"})


class Transactions(Table):
    """Who has which items: one row a transaction, one yes-or-no column an item.

    Parameters
    ----------
    rows, items
        What is there: the row and the number of the item of each purchase, in any order; twice is once.
    names
        The names of the items.
    n_rows
        How many transactions there are, also those without any item.
    others
        Columns that are no items, such as the one that tells people apart.
    column_of
        Of items that are cells of a table, the column.

    Examples
    --------
    >>> baskets = read_transactions([["milk", "bread"], ["milk"], []])
    >>> baskets
    <Transactions: 3 rows, 2 items>
    >>> baskets["milk"].codes.tolist()
    [1, 1, 0]
    """

    def __init__(
        self,
        rows: Ids,
        items: Ids,
        names: Sequence[str],
        n_rows: int,
        others: Iterable[Column] = (),
        column_of: Mapping[str, str] | None = None,
    ) -> None:
        if not n_rows:
            raise DataError("empty-table", "There are no transactions.")
        self._columns = _ItemColumns(rows, items, names, n_rows, others)
        self.n_rows = n_rows
        self.column_of = dict(column_of or {})

    def __repr__(self) -> str:
        return f"<Transactions: {self.n_rows} rows, {self._columns.n_items} items>"  # type: ignore[attr-defined]

    @property
    def item_names(self) -> tuple[str, ...]:
        """The names of all items."""
        return tuple(self._columns.number)  # type: ignore[attr-defined]

    def rows_of(self, item: str) -> Ids:
        """The rows that have an item, in order; none for an item that nobody has."""
        return self._columns.rows_of(item)  # type: ignore[attr-defined,no-any-return]

    def with_categories(self, categories: Mapping[str, Collection[str]]) -> Transactions:
        """The same with further items: a category is there where one of its members is.

        >>> baskets = read_transactions([["milk", "bread"], ["milk"], []])
        >>> baskets.with_categories({"bakery": ["bread", "rolls"]})["bakery"].codes.tolist()
        [1, 0, 0]
        """
        names = [*self.item_names, *categories]
        has = [[self.rows_of(item)] for item in self.item_names]
        has += [[self.rows_of(member) for member in members] for members in categories.values()]
        rows = [np.concatenate(parts) for parts in has]
        items = np.repeat(np.arange(len(names)), list(map(len, rows)))
        others = [self[name] for name in self if name not in set(self.item_names)]
        return Transactions(
            np.concatenate([*rows, np.empty(0, np.int64)]), items, names, self.n_rows, others, self.column_of
        )


class _ItemColumns(Mapping[str, Column]):
    """Columns by name, each made of the rows that have the item when it is asked for."""

    def __init__(self, rows: Ids, items: Ids, names: Sequence[str], n_rows: int, others: Iterable[Column]) -> None:
        pairs = np.unique(np.asarray(items, dtype=np.int64) * n_rows + rows)
        self._rows = (pairs % n_rows).astype(np.int32 if n_rows < 2**31 else np.int64)
        self._starts = np.searchsorted(pairs, np.arange(len(names) + 1, dtype=np.int64) * n_rows)
        self.number = {name: number for number, name in enumerate(names)}
        self._others = {column.name: column for column in others}
        self._n_rows = n_rows
        both = sorted(self._others.keys() & self.number.keys())
        if both or len(self.number) < len(names):
            raise DataError("column-twice", "Two items, or an item and a column, have the same name. Rename one.")

    @property
    def n_items(self) -> int:
        return len(self.number)

    def rows_of(self, item: str) -> Ids:
        if item not in self.number:
            return np.empty(0, dtype=np.int64)
        number = self.number[item]
        return self._rows[self._starts[number] : self._starts[number + 1]].astype(np.int64)

    def __getitem__(self, name: str) -> Column:
        if name in self._others:
            return self._others[name]
        self.number[name]  # a KeyError where there is no such item
        codes = np.zeros(self._n_rows, dtype=np.uint8)
        codes[self.rows_of(name)] = 1
        return Column(name, "categorical", codes, NO_YES, labels="boolean")

    def __contains__(self, name: object) -> bool:
        return name in self.number or name in self._others

    def __iter__(self) -> Iterator[str]:
        return chain(self.number, self._others)

    def __len__(self) -> int:
        return len(self.number) + len(self._others)


def read_transactions(data: Any, also: Collection[str] = ()) -> Transactions:
    """Transactions in any of the forms that people keep them in.

    Parameters
    ----------
    data
        A list (or series) of collections of items; a frame of two columns, transaction and item, with a line for each
        item of a transaction; a frame of columns such as ``item1``, ``item2``, with or without one that says which
        transaction it is; or a frame of yes-or-no columns (or of 0 and 1), one an item. Where all columns are of the
        last form, it is taken to be that. A line of two columns whose item is missing is a transaction that may be
        empty.
    also
        Names that will be needed besides. A column of these in a frame need not be an item: it tells people apart.

    Examples
    --------
    >>> read_transactions({"basket": [1, 1, 2], "item": ["milk", "bread", "milk"]})
    <Transactions: 2 rows, 2 items>
    >>> read_transactions({"milk": [True, True], "bread": [1, 0]})
    <Transactions: 2 rows, 2 items>
    """
    if isinstance(data, Transactions):
        return data
    lists = _lists(data)
    if lists is not None:
        return _from_lists(lists)
    table = to_table(data)
    others = [name for name in table if name in also and not _is_item(table[name])]
    if all(_is_item(table[name]) for name in table if name not in others):
        return _from_columns(table, others)
    listed = _item_columns(table, also)
    if listed is not None:
        return _from_item_columns(table, *listed, also)
    ids = [name for name in table if name in also] or table.names[:1]
    rest = [name for name in table if name not in ids]
    if len(table) == 2 and len(ids) == 1:
        return _from_pairs(table[ids[0]], table[rest[0]], [table[name] for name in ids if name in also])
    if len(table) == 3 and len(ids) == 1 and ids[0] in also:
        return _from_pairs(table[rest[0]], table[rest[1]], [table[ids[0]]])
    odd = [name for name in table if name not in others and not _is_item(table[name])]
    what = "have missing cells or " if any(table[name].missing for name in odd) else ""
    raise DataError(
        "not-transactions",
        f"These are no transactions: {len(odd)} column(s), such as {odd[0]!r}, {what}hold something else than yes and "
        "no. Give one yes-or-no column an item, two columns (transaction, item), columns item1, item2, …, or a list of "
        "lists of items.",
    )


def item_name(item: Any) -> str:
    """What an item is called; whole numbers have no point, as in a table."""
    if isinstance(item, float | np.floating):
        return number_text(item)
    return str(item)


def _lists(data: Any) -> list[Any] | None:
    if isinstance(data, list | tuple):
        lists = list(data)
    elif isinstance(data, Mapping | Table | np.ndarray):
        return None
    else:
        try:
            lists = nw.from_native(data, series_only=True).to_list()
        except TypeError:
            return None
    if any(issubclass(kind, str | bytes | Mapping) or not hasattr(kind, "__iter__") for kind in set(map(type, lists))):
        raise DataError(
            "not-transactions", "A list of transactions must hold a list or set of items for each; got something else."
        )
    return lists


def _from_lists(lists: list[Any]) -> Transactions:
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    rows = np.repeat(np.arange(len(lists)), sizes)
    if not len(rows):
        return Transactions(rows, rows, [], len(lists))
    return _of_column(rows, to_table({"item": list(chain.from_iterable(lists))})["item"], len(lists), [])


def _is_item(column: Column) -> bool:
    if column.missing or not len(column.values):
        return False
    if column.kind == "numeric":
        return bool(np.isin(column.numbers, (0.0, 1.0)).all())
    return {name.lower() for name in column.names} <= YES | NO


def _from_columns(table: Table, others: list[str]) -> Transactions:
    names = [name for name in table if name not in others]
    if not names:
        raise DataError("not-transactions", "These are no transactions: there is no column of an item.")
    rows = [np.flatnonzero(has_item(table[name])) for name in names]
    items = np.repeat(np.arange(len(names)), list(map(len, rows)))
    return Transactions(np.concatenate(rows), items, names, table.n_rows, [table[name] for name in others])


def has_item(column: Column) -> Any:
    """Which rows have the item of a column of yes and no, or of 0 and 1."""
    if not _is_item(column):
        raise DataError(
            "not-transactions", f"Column {column.name!r} is no item: it holds something else than yes and no."
        )
    if column.kind == "numeric":
        return (column.numbers == 1)[column.codes]
    return np.array([name.lower() in YES for name in column.names])[column.codes]


def _item_columns(table: Table, also: Collection[str]) -> tuple[list[str], list[str]] | None:
    """Columns of the first, second, … item of a transaction, and what else there is; None where there are none.

    They are called by one word and a number, such as item1 and item2; x0 and x1 are made up for arrays without names.
    """
    rest = [name for name in table if name not in also]
    stems = [re.sub(r"[ _.-]?\d+$", "", name) for name in rest]
    for stem in dict.fromkeys(stems):
        named = [name for name, each in zip(rest, stems, strict=True) if each == stem != name]
        others = [name for name in rest if name not in named]
        texts = all(table[name].kind == "categorical" or not len(table[name].values) for name in named)
        if len(named) > 1 and len(others) < 2 and texts and stem != "x":
            return named, others
    return None


def _from_item_columns(table: Table, columns: list[str], transaction: list[str], also: Collection[str]) -> Transactions:
    """A line a transaction, or several where a column says which."""
    names = list(dict.fromkeys(name for column in columns for name in map(str, table[column].values)))
    number = {name: i for i, name in enumerate(names)}
    lines, items = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for column in map(table.__getitem__, columns):
        there = np.flatnonzero(column.codes < len(column.values))
        of_code = np.array([number[name] for name in map(str, column.values)], dtype=np.int64)
        lines.append(there)
        items.append(of_code[column.codes[there]])
    which = person_codes(table[transaction[0]]) if transaction else np.arange(table.n_rows)
    others = _of_transactions(which, [table[name] for name in table if name in also])
    return Transactions(which[np.concatenate(lines)], np.concatenate(items), names, int(which.max()) + 1, others)


def _from_pairs(transaction: Column, item: Column, people: list[Column]) -> Transactions:
    """Lines of transaction and item; `people` is the column that tells people apart, if one does."""
    row = person_codes(transaction)
    return _of_column(row, item, int(row.max()) + 1, _of_transactions(row, people))


def _of_transactions(row: Ids, people: list[Column]) -> list[Column]:
    """Columns of lines as columns of transactions, of which each line is one."""
    line = np.zeros(int(row.max()) + 1, dtype=np.int64)
    line[row] = np.arange(len(row))  # some line of each transaction
    others = [column.take(line) for column in people]
    for before, after in zip(people, others, strict=True):
        if (after.codes[row] != before.codes).any():
            raise DataError(
                "not-transactions", f"Some transactions are of several people: {before.name!r} differs within them."
            )
    return others


def _of_column(rows: Ids, item: Column, n_rows: int, others: list[Column]) -> Transactions:
    """Transactions from the item of each line; a line without one only says that there is such a transaction."""
    names = tuple(map(number_text, item.numbers)) if item.kind == "numeric" else item.names
    there = item.codes < len(names)
    return Transactions(rows[there], item.codes[there].astype(np.int64), names, n_rows, others)
