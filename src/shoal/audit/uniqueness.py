# SPDX-License-Identifier: Apache-2.0
"""How far the public columns alone already tell people apart, before anything is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.audit.groups import count_people, person_codes
from shoal.data.table import Column, Table

How = Literal["single", "pair", "growing", "all"]

PAIRED = 12  # columns whose pairs are all looked at: 66 pairs
GROWN = 5  # the growing set stops here; few attackers know more, and all columns together are looked at anyway


@dataclass(frozen=True)
class Uniqueness:
    """What one set of columns tells of the people in a table.

    Attributes
    ----------
    columns
        The columns an attacker knows.
    how
        Why the set was looked at: ``"single"``, ``"pair"``, ``"growing"`` (the set before and the column that
        sets most people apart) or ``"all"``.
    combinations
        Distinct combinations of values that somebody has; missing is a value.
    alone
        People whom nobody shares the combination with.
    below
        People who share it with fewer than k, themselves included.
    """

    columns: tuple[str, ...]
    how: How
    combinations: int
    alone: int
    below: int

    def to_json(self) -> dict[str, Any]:
        """The counts as plain JSON."""
        return {**self.__dict__, "columns": list(self.columns)}


@dataclass(frozen=True)
class _Key:
    """A number for each row's combination, from 0 without gaps, and the people who have it."""

    of_row: NDArray[np.int64]
    people: NDArray[np.int64]
    person: NDArray[np.int64] | None

    def tells(self, k: int) -> tuple[int, int]:
        """People alone and people below k."""
        return self._people_of(self.people == 1), self._people_of(self.people < k)

    def _people_of(self, chosen: NDArray[np.bool_]) -> int:
        if self.person is None:
            return int(self.people[chosen].sum())
        return int(np.count_nonzero(np.bincount(self.person[chosen[self.of_row]])))

    def rank(self, k: int) -> tuple[int, int, int]:
        """The more an attacker can tell, the greater."""
        return (*self.tells(k), len(self.people))


def uniqueness(table: Table, columns: Sequence[str], *, k: int, person: str | None = None) -> list[Uniqueness]:
    """Count the people that sets of public columns set apart, without trying every set.

    Looked at are all single columns, the pairs of the (at most 12) most telling ones, a set that grows from
    the most telling pair, and all columns together. Counts are exact.

    Parameters
    ----------
    table
        The rows, one a person unless `person` is given.
    columns
        The columns an attacker may know.
    k
        A group with fewer people is counted in `below`.
    person
        The column that tells people apart, where they may have several rows. Then all counts but `combinations` are
        of different people; somebody with a combination of his own in any of his rows is `alone`.

    Examples
    --------
    >>> from shoal import load_sample
    >>> found = uniqueness(load_sample().table, ["sex", "age"], k=10)
    >>> [(each.columns, each.combinations, each.alone) for each in found]
    [(('sex',), 2, 0), (('age',), 78, 0), (('sex', 'age'), 156, 0)]
    """
    columns = list(columns)
    whose = None if person is None else person_codes(table[person])
    singles = {name: _single(table[name], whose) for name in columns}
    found = [_said((name,), "single", key, k) for name, key in singles.items()]
    telling = sorted(columns, key=lambda name: singles[name].rank(k), reverse=True)
    if len(columns) > 2:
        kept = set(telling[:PAIRED])
        best: tuple[tuple[str, ...], _Key] | None = None
        for pair in combinations([name for name in columns if name in kept], 2):
            key = _joined(singles[pair[0]], singles[pair[1]])
            found.append(_said(pair, "pair", key, k))
            if best is None or key.rank(k) > best[1].rank(k):
                best = pair, key
        assert best is not None
        found += _growing(*best, singles, telling[:PAIRED], k)
    if len(columns) > 1:
        whole = singles[columns[0]]
        for name in columns[1:]:
            whole = _joined(whole, singles[name])
        found.append(_said(tuple(columns), "all", whole, k))
    return found


def _growing(
    start: tuple[str, ...], key: _Key, singles: dict[str, _Key], telling: list[str], k: int
) -> list[Uniqueness]:
    """Add the column that tells most, again and again; stop before the set is all there is."""
    found = []
    while len(start) < min(GROWN, len(singles) - 1):
        rest = [name for name in telling if name not in start]
        if not rest:
            break
        keys = [_joined(key, singles[name]) for name in rest]
        best = max(range(len(rest)), key=lambda i: keys[i].rank(k))
        if len(keys[best].people) == len(key.people):
            break  # nothing more to tell
        start, key = (*start, rest[best]), keys[best]
        found.append(_said(start, "growing", key, k))
    return found


def _said(columns: tuple[str, ...], how: How, key: _Key, k: int) -> Uniqueness:
    return Uniqueness(columns, how, len(key.people), *key.tells(k))


def _single(column: Column, person: NDArray[np.int64] | None) -> _Key:
    return _renumbered(column.codes.astype(np.int64), column.n_codes, person)


def _joined(first: _Key, second: _Key) -> _Key:
    # both are below the number of people, so the product fits for any table that fits in memory
    n = len(second.people)
    return _renumbered(first.of_row * n + second.of_row, len(first.people) * n, first.person)


def _renumbered(key: NDArray[np.int64], size: int, person: NDArray[np.int64] | None) -> _Key:
    """Leave no gaps: by counting where the numbers are small, by sorting where they are not."""
    if size <= max(2**20, 4 * len(key)):
        rows = np.bincount(key, minlength=size)
        of_row, n = (np.cumsum(rows > 0) - 1)[key], int((rows > 0).sum())
    else:
        present, of_row = np.unique(key, return_inverse=True)
        of_row, n = of_row.reshape(-1).astype(np.int64, copy=False), len(present)
    return _Key(of_row, count_people(of_row, n, person), person)
