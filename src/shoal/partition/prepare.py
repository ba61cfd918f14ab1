# SPDX-License-Identifier: Apache-2.0
"""From a task to what a search counts and learns from: one array of codes a feature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.cells import ColumnMap, check_kind, unseen_value
from shoal.anonymize.ladder import Ladder
from shoal.anonymize.task import Task
from shoal.data.discretize import mdl_cuts
from shoal.data.table import Column, Table
from shoal.release.generalised import Generalised

Codes = NDArray[np.int32]
Unseen = Literal["error", "missing"]


@dataclass(frozen=True, eq=False)
class Encoder:
    """How one column becomes codes, in fit and for new rows; what is missing has the code after all others.

    Attributes
    ----------
    name
        The column.
    public
        How its values are published: categories as they are, numbers in intervals. None of a private column.
    values
        Of a private column of categories all of them, otherwise nothing.
    numbers
        Of a private column of numbers all of them, ascending. Its codes are in their order.
    n_known
        How many codes there are that do not mean missing.
    """

    name: str
    public: ColumnMap | None
    values: tuple[str, ...]
    numbers: NDArray[np.float64] | None
    n_known: int

    @classmethod
    def of(cls, column: Column, public: ColumnMap | None) -> Encoder:
        """The encoder of a column; `public` says how its values are published, if an attacker may know them."""
        if public is not None:
            return cls(column.name, public, (), None, len(public.found) - _missing_apart(public))
        if column.kind == "numeric":
            return cls(column.name, None, (), column.numbers, len(column.numbers))
        return cls(column.name, None, column.names, None, len(column.names))

    @property
    def ordered(self) -> bool:
        """Whether codes are numbers in ascending order, to be cut rather than told apart."""
        return self.numbers is not None

    def encode(self, column: Column, unseen: Unseen = "error") -> Codes:
        """The code of every row; `unseen` says what becomes of values that there were not in fit."""
        found = self._code_of(column)
        strange = int((found[column.codes] < 0).sum())
        if strange and unseen == "error":
            raise unseen_value(column, strange)
        found[found < 0] = self.n_known
        codes: Codes = found[column.codes].astype(np.int32)
        return codes

    def _code_of(self, column: Column) -> NDArray[np.int64]:
        """For each code of a column the code here, and after them that of missing; −1 where there is none."""
        if self.numbers is not None:
            check_kind(column, "numeric")
            # a number between two known ones takes the nearer one's place, as a cut half-way between them has it
            middle = (self.numbers[1:] + self.numbers[:-1]) / 2
            return np.append(np.searchsorted(middle, column.numbers, side="left"), self.n_known)
        if self.public is None:
            position = {value: code for code, value in enumerate(self.values)}
        elif self.public.cuts is not None:
            if len(self.public.found) == 1:
                return np.zeros(column.n_codes + 1, dtype=np.int64)
            check_kind(column, "numeric")
            return np.append(np.searchsorted(self.public.cuts, column.numbers, side="left"), self.n_known)
        else:
            position = dict(self.public.of_value or {})
        check_kind(column, "categorical")
        missing = self.n_known
        if self.public is not None and self.public.of_missing is not None and not _missing_apart(self.public):
            missing = self.public.of_missing
        return np.array([*(position.get(value, -1) for value in column.names), missing], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Prepared:
    """The features of a task, encoded.

    Attributes
    ----------
    task
        Rows, roles and what is required.
    encoders
        One for each feature, in the order of the table.
    codes
        Features × rows.
    """

    task: Task
    encoders: tuple[Encoder, ...]
    codes: Codes

    @property
    def names(self) -> tuple[str, ...]:
        """The features."""
        return tuple(each.name for each in self.encoders)

    @property
    def n_values(self) -> list[int]:
        """How many codes each feature may have, missing included."""
        return [each.n_known + 1 for each in self.encoders]

    @property
    def quasi(self) -> list[int]:
        """The features that an attacker may know."""
        return [i for i, each in enumerate(self.encoders) if each.public is not None]

    @property
    def target(self) -> Column:
        """The class of every row."""
        return self.task.classes

    def encode(self, table: Table, unseen: Unseen) -> Codes:
        """The codes of other rows (features × rows)."""
        return np.stack([each.encode(table[each.name], unseen) for each in self.encoders])


def _missing_apart(public: ColumnMap) -> bool:
    """Whether missing is a cell of its own, the last one."""
    return public.of_missing == len(public.found) - 1 and public.found[-1] == Generalised("", missing=True)


def prepare(task: Task, k: int, *, at_least: int = 1) -> Prepared:
    """Encode a task.

    A public column with a hierarchy is generalised to the first level at which all its values have `k` rows. Public
    numbers without one are put in intervals by their class; none holds fewer rows than `at_least`.
    """
    target = task.classes
    names = [name for name in task.rows.names if name != task.target]
    encoders = [Encoder.of(task.rows[name], _published(task, name, target, k, at_least)) for name in names]
    codes = np.stack([each.encode(task.rows[each.name]) for each in encoders])
    return Prepared(task, tuple(encoders), codes)


def _published(task: Task, name: str, target: Column, k: int, at_least: int) -> ColumnMap | None:
    if name not in task.public:
        return None
    column = task.rows[name]
    if name in task.hierarchies:
        return _generalised(task.ladder(name), k)
    if column.kind == "categorical":
        return ColumnMap.exact(column)
    return ColumnMap.of_cuts(column, mdl_cuts(_values(column), target.codes, at_least=at_least, rounded=True))


def _generalised(ladder: Ladder, k: int) -> ColumnMap:
    """The first level at which every value that somebody has is one of `k` rows; the last level has all rows in one."""
    rows = ladder.column.counts()
    for level, groups in enumerate(ladder.maps):
        held = np.bincount(groups, rows, minlength=int(groups.max()) + 1)
        if (held[held > 0] >= k).all():
            return _missing_last(ladder.at(level))
    return ladder.at(len(ladder) - 1)


def _missing_last(public: ColumnMap) -> ColumnMap:
    """The same recoding, with the cell of what is missing, if that is all it says, after all others."""
    at = public.of_missing
    if at is None or public.of_value is None or public.found[at] != Generalised("", missing=True):
        return public
    found = (*public.found[:at], *public.found[at + 1 :], public.found[at])
    of_value = {value: cell - (cell > at) for value, cell in public.of_value.items()}
    return replace(public, found=found, of_value=of_value, of_missing=len(found) - 1)


def _values(column: Column) -> NDArray[Any]:
    return np.append(column.numbers, np.nan)[column.codes]


def projection_maps(prepared: Prepared, features: tuple[int, ...]) -> Mapping[str, ColumnMap]:
    """How the public columns of a subset are published."""
    own = (prepared.encoders[i] for i in features)
    return {each.name: each.public for each in own if each.public is not None}
