# SPDX-License-Identifier: Apache-2.0
"""Whether sets of people keep a requirement, counted here and not by the audit that will judge the result."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column
from shoal.privacy import And, Requirement, least_people, needs_values, parts_of

Ids = NDArray[np.int64]


class Promise:
    """A requirement and the columns it is about."""

    def __init__(self, requirement: Requirement, sensitive: list[Column], person: Ids | None) -> None:
        self._sizes = [part for part in parts_of(requirement) if not needs_values(part)]
        self._values = [part for part in parts_of(requirement) if needs_values(part)]
        self.least_people = least_people(requirement)
        self._sensitive = sensitive
        self._person = person

    def holds(self, cell: Ids, n_cells: int, rows: Ids) -> NDArray[np.bool_]:
        """Whether each of `n_cells` sets of people keeps the requirement; `cell` says which set each row is in."""
        whose = None if self._person is None else self._person[rows]
        answer = np.ones(n_cells, dtype=bool)
        for part in self._sizes:
            people = np.bincount(_once(cell, whose, None), minlength=n_cells)
            answer &= And((part,)).holds(people[:, None], people.sum(keepdims=True))
        for part in self._values:
            for column in self._sensitive:
                n = column.n_codes
                chosen = _once(cell, whose, column.codes[rows].astype(np.int64), n)
                counts = np.bincount(chosen, minlength=n_cells * n).reshape(n_cells, n)
                answer &= And((part,)).holds(counts, self._totals(column))
        return answer

    def _totals(self, column: Column) -> Ids:
        """How many people have each value, each counted once as in a set."""
        everybody = np.zeros(len(column.codes), dtype=np.int64)
        once = _once(everybody, self._person, column.codes.astype(np.int64), column.n_codes)
        return np.bincount(once, minlength=column.n_codes)


def _once(cell: Ids, whose: Ids | None, value: Ids | None, n_values: int = 1) -> Ids:
    """Every person once in each set: cell × value, the value being the one of his that most people of the set have."""
    if whose is None:
        return cell if value is None else cell * n_values + value
    order = np.lexsort((whose, cell))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (cell[order][1:] != cell[order][:-1]) | (whose[order][1:] != whose[order][:-1])
    if value is None:
        return np.asarray(cell[order][new])
    key = cell * n_values + value
    if new.all():
        return key
    pairs = np.unique(np.stack([key, whose]), axis=1)
    often = np.bincount(pairs[0])[pairs[0]]
    order = np.lexsort((pairs[0], -often, pairs[1], pairs[0] // n_values))
    cells, people = (pairs[0] // n_values)[order], pairs[1][order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (cells[1:] != cells[:-1]) | (people[1:] != people[:-1])
    return np.asarray(pairs[0][order][new])
