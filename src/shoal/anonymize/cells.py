# SPDX-License-Identifier: Apache-2.0
"""From groups of codes to what a published cell says: the recoding of one column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.data.discretize import interval_labels, within
from shoal.data.table import Column
from shoal.errors import DataError
from shoal.release.domain import Interval, plain
from shoal.release.generalised import ALL, Generalised

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Recoded:
    """One public column as it is published.

    Attributes
    ----------
    found
        What its cells can say, without labels; each once.
    codes
        Which of them each row has.
    names
        What some of them are called, by a hierarchy or as an interval is written.
    """

    found: Sequence[Generalised]
    codes: Ids
    names: Mapping[Generalised, set[str]]

    def of_groups(self, group: Ids) -> Recoded:
        """The same cells for rows of which `group` says whose code each has."""
        return Recoded(self.found, self.codes[group], self.names)


@dataclass(frozen=True, eq=False)
class ColumnMap:
    """A recoding of one column: each of its values becomes one cell, whatever the other columns say.

    Make one with `of_groups`, `of_cuts` or `exact`; `recode` applies it to any rows with the column.
    """

    column: str
    found: tuple[Generalised, ...]
    names: Mapping[Generalised, set[str]]
    of_value: Mapping[str, int] | None = None  # of a categorical column the cell of each value
    cuts: NDArray[np.float64] | None = None  # of numbers: between which of these each cell lies
    of_missing: int | None = None

    @classmethod
    def of_groups(cls, column: Column, group: NDArray[np.integer], labels: Sequence[str] | None = None) -> ColumnMap:
        """A partition of the codes of a column, `group` being the number of each code's group.

        Of a column of numbers a group may be any set of neighbouring codes; better use `of_cuts`, whose ends are round.
        One group of all codes is ``*``. `labels` names the groups.
        """
        n = int(group.max()) + 1
        if n == 1:
            return cls(column.name, (Generalised(ALL),), {}, None, np.empty(0), 0)
        if column.kind == "numeric":
            raise ValueError("groups of numbers are made by cuts")
        missing = int(group[-1]) if column.missing else None
        members: list[list[str]] = [[] for _ in range(n)]
        for value, number in zip(column.names, group[: len(column.names)].tolist(), strict=True):
            members[number].append(value)
        found = tuple(Generalised("", values=tuple(each), missing=g == missing) for g, each in enumerate(members))
        names = {} if labels is None else {cell: {labels[g]} for g, cell in enumerate(found) if len(cell.values) > 1}
        of_value = {value: int(number) for value, number in zip(column.names, group, strict=False)}
        return cls(column.name, found, names, of_value, None, missing)

    @classmethod
    def of_cuts(cls, column: Column, cuts: Sequence[float] | NDArray[np.float64]) -> ColumnMap:
        """Intervals of a column of numbers between cuts; missing, where there is any, is a cell of its own."""
        assert column.bounds is not None
        inside = within(np.unique(np.asarray(cuts, dtype=np.float64)), *column.bounds)
        if not len(inside) and not column.missing:
            return cls(column.name, (Generalised(ALL),), {}, None, inside, None)
        ends = [None, *inside.tolist(), None]
        found = [Generalised("", intervals=(Interval(a, b),)) for a, b in pairwise(ends)]
        texts = interval_labels(inside, whole=column.integer) if len(inside) else ()
        names = {cell: {text} for cell, text in zip(found, texts, strict=False)}
        if column.missing:
            found.append(Generalised("", missing=True))
        return cls(column.name, tuple(found), names, None, inside, len(found) - 1 if column.missing else None)

    @classmethod
    def exact(cls, column: Column) -> ColumnMap:
        """Every value as it is."""
        if column.kind == "categorical":
            return cls.of_groups(column, np.arange(column.n_codes))
        found = [_number(column, number) for number in column.numbers.tolist()]
        names = {cell: {str(plain(number))} for cell, number in zip(found, column.numbers.tolist(), strict=True)}
        if column.missing:
            found.append(Generalised("", missing=True))
        of_value = {repr(number): i for i, number in enumerate(column.numbers.tolist())}
        return cls(column.name, tuple(found), names, of_value, None, len(found) - 1 if column.missing else None)

    def recode(self, column: Column) -> Recoded:
        """What a column of that name becomes; a value that the recoding does not know is refused."""
        if len(self.found) == 1 and self.found[0].is_all:
            return Recoded(self.found, np.zeros(len(column), dtype=np.int64), self.names)
        if self.cuts is not None:
            check_kind(column, "numeric")
            of_code = np.searchsorted(self.cuts, column.numbers, side="left").astype(np.int64)
        elif column.kind == "numeric":
            assert self.of_value is not None
            of_code = np.array([self.of_value.get(repr(number), -1) for number in column.numbers.tolist()], np.int64)
        else:
            assert self.of_value is not None
            of_code = np.array([self.of_value.get(value, -1) for value in column.names], dtype=np.int64)
        codes = np.append(of_code, -1 if self.of_missing is None else self.of_missing)[column.codes]
        unknown = int((codes < 0).sum())
        if unknown:
            raise unseen_value(column, unknown)
        return Recoded(self.found, codes, self.names)


def _number(column: Column, number: float) -> Generalised:
    """The cell of one number alone: the interval that holds nothing else of its column."""
    above = number - 1 if column.integer and abs(number) < 2**53 else float(np.nextafter(number, -np.inf))
    return Generalised("", intervals=(Interval(above, number),))


def check_kind(column: Column, kind: str) -> None:
    """Refuse a column of new rows that is of another kind than the one of the same name was."""
    if column.kind != kind:
        raise DataError(
            "column-kind",
            f"Column {column.name!r} is {column.kind} here but was {kind} when the recoding was made. "
            f"Read it with kinds={{{column.name!r}: {kind!r}}}.",
        )


def unseen_value(column: Column, rows: int) -> DataError:
    """The refusal of values of new rows that a recoding does not know."""
    return DataError(
        "unseen-value",
        f"Column {column.name!r} has value(s), in {rows} row(s), that the recoding does not know. "
        "Declare them with domain= or in the hierarchy before fitting, or leave these rows out.",
    )
