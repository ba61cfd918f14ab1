# SPDX-License-Identifier: Apache-2.0
"""The rows that an earlier release was made from, by keyed digests: who is still here, who is new, who is gone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.audit.groups import Ids, count_people, numbered
from shoal.audit.together.product import Product
from shoal.audit.together.released import Released
from shoal.data.table import Table
from shoal.release.digests import Words, row_digests, were_there

Rows = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RowsBefore:
    """What is kept of the rows that a release was made from, none of it readable without the ledger's key.

    Attributes
    ----------
    own
        A digest of each row, as far as the release looks at its columns.
    whole
        A digest of each row, all columns.
    person
        A digest of whose row it is; 0 where every row is a person.
    span
        The number of its span in the release.
    """

    own: Words
    whole: Words
    person: Words
    span: Words

    @classmethod
    def of(cls, subject: Released, table: Table, public: Collection[str], person: str | None, key: bytes) -> RowsBefore:
        """The rows of a table, in the order of their digests."""
        span = Product([subject], table, public, [None]).spans([0]).of_row.astype(np.uint64)
        whose = np.zeros_like(span) if person is None else row_digests(table, [person], key)
        found = (row_digests(table, subject.columns, key), row_digests(table, table.names, key), whose, span)
        order = np.lexsort(found[::-1])
        return cls(*(each[order] for each in found))

    def to_bytes(self) -> bytes:
        """All of it as bytes."""
        return np.concatenate([self.own, self.whole, self.person, self.span]).astype("<u8").tobytes()

    @classmethod
    def from_bytes(cls, raw: bytes) -> RowsBefore:
        """What `to_bytes` made."""
        return cls(*np.frombuffer(raw, dtype="<u8").astype(np.uint64).reshape(4, -1))

    def take(self, rows: Rows) -> RowsBefore:
        """Some of the rows."""
        return RowsBefore(self.own[rows], self.whole[rows], self.person[rows], self.span[rows])


@dataclass(frozen=True, eq=False)
class Comparison:
    """How rows now stand to those that a release was made from.

    Attributes
    ----------
    present
        The rows now that it was made from.
    gone
        The rows that it was made from and that are not here.
    unclear
        How many rows now may be among those that it was made from or not: it cannot be told which of them are.
    """

    present: Rows
    gone: RowsBefore
    unclear: int


def compare(
    before: RowsBefore, columns: Collection[str], subject: Released, table: Table, person: str | None, key: bytes
) -> Comparison:
    """Find the rows of a release again: by all the `columns` of its table, then by whose they are, then by its own.

    A release tells rows apart by few columns. Which of those that are alike to it are new is told by the others.
    """
    own, now = row_digests(table, subject.columns, key), row_digests(table, table.names, key)
    ways: list[tuple[Words, Words]] = []  # of before, and of now
    if all(name in table for name in columns):
        ways.append((before.whole, row_digests(table, sorted(columns), key)))
    if person is not None and before.person.any():
        ways.append((_both(before.own, before.person), _both(own, row_digests(table, [person], key))))
    ways.append((before.own, own))
    present, found = np.zeros(table.n_rows, dtype=bool), np.zeros(len(before.own), dtype=bool)
    unclear = np.zeros(table.n_rows, dtype=bool)
    for then_by, now_by in ways:
        open_now, open_then = np.flatnonzero(~present), np.flatnonzero(~found)
        again = were_there(then_by[open_then], now_by[open_now])
        unclear[open_now[_any_of(again, now_by[open_now], now[open_now])]] = True
        found[open_then[were_there(now_by[open_now], then_by[open_then])]] = True
        present[open_now[again]] = True
    return Comparison(present, before.take(~found), int(unclear.sum()))


def _both(one: Words, other: Words) -> Words:
    return np.asarray(one * np.uint64(0x9E3779B97F4A7C15) ^ other)


def _any_of(chosen: Rows, alike: Words, now: Words) -> Rows:
    """Rows of which some that are `alike` were chosen and others not, though there is a difference between them."""
    _, which = np.unique(alike, return_inverse=True)
    which = which.reshape(-1)
    n = int(which.max(initial=-1)) + 1
    some, all_ = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    np.logical_or.at(some, which, chosen)
    np.logical_and.at(all_, which, chosen)
    low, high = np.full(n, np.iinfo(np.uint64).max), np.zeros(n, dtype=np.uint64)
    np.minimum.at(low, which, now)
    np.maximum.at(high, which, now)
    return np.asarray((some & ~all_ & (low != high))[which])


def smallest_group_gone(gone: Sequence[RowsBefore], columns: Iterable[Collection[str]]) -> int | None:
    """The fewest people who are gone and whom the releases that they were in put together; None if that is unknown.

    Rows of several releases are the same row where all columns are the same. `columns` are those of each release's
    table; where they differ, rows cannot be found in each other.
    """
    if len({frozenset(each) for each in columns}) > 1:
        return None
    # equal rows are told apart by how many of them came before: it does not matter which is which
    rank = [_rank(each.whole) for each in gone]
    key = numbered([_codes([each.whole for each in gone]), np.concatenate(rank)], sum(map(len, rank)))
    n = int(key.max()) + 1
    spans, start = [], 0
    whose = np.zeros(n, dtype=np.uint64)
    for each in gone:
        own = key[start : start + len(each.span)]
        start += len(own)
        span = np.zeros(n, dtype=np.int64)  # 0 is: was not in it
        span[own] = each.span.astype(np.int64) + 1
        spans.append(span)
        whose[own] = each.person
    group = numbered(list(spans), n)
    person = None if not whose.any() else _codes([whose])
    return int(count_people(group, int(group.max()) + 1, person).min())


def _rank(digests: Words) -> Ids:
    """How many equal digests there are before each."""
    order = np.argsort(digests, kind="stable")
    ordered = digests[order]
    rank = np.empty(len(digests), dtype=np.int64)
    rank[order] = np.arange(len(digests)) - np.searchsorted(ordered, ordered, side="left")
    return rank


def _codes(digests: Sequence[Words]) -> Ids:
    return np.asarray(np.unique(np.concatenate(digests), return_inverse=True)[1].reshape(-1), dtype=np.int64)
