# SPDX-License-Identifier: Apache-2.0
"""The domain of each column: what an attacker is assumed to know before he sees a model.

A release states its domain, so the domain must be declared or safe. A public column's values are known to the attacker
anyway, and the classes of the target are what a classifier is about. Of any other private column, an undeclared number
range is cut back to round bounds with enough people at or beyond each, and an undeclared category that too few people
have is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.discretize import safe_bounds
from shoal.data.encode import number_text
from shoal.data.hierarchy import Hierarchy
from shoal.data.person import Ids, people_with
from shoal.data.roles import Roles
from shoal.data.table import Column, smallest_dtype
from shoal.data.target import Rows
from shoal.errors import DataError, closest

Domain = Mapping[str, Sequence[Any]]


def declare_domain(
    table: Rows,
    roles: Roles,
    domain: Domain | None,
    hierarchies: Mapping[str, Hierarchy],
    *,
    people: int,
    person: Ids | None = None,
) -> Rows:
    """The features and the target of a table, each with its domain settled.

    Parameters
    ----------
    domain
        Declared values of a categorical column, or the two bounds of a numeric one.
    hierarchies
        A hierarchy that lists its values declares them too.
    people
        How many people must stand behind anything undeclared that is said of a private column.
    person
        Whose row each is, where people have several.
    """
    domain = {} if domain is None else dict(domain)
    for name in domain:
        if name not in table:
            raise DataError("no-column", f"domain: no column {name!r}.{closest(name, table)}")
    columns = []
    for name in (*roles.features, roles.target):
        column = table[name]
        declared = domain.get(name)
        if declared is None and name in hierarchies:
            declared = hierarchies[name].values
        private = roles.of(name) == "private"
        named = name == roles.target and column.kind == "categorical"  # a release names its target's values anyway
        columns.append(declare_column(column, declared, people if private and not named else 0, person))
    return table.like(columns)


def declare_column(column: Column, declared: Sequence[Any] | None, people: int, person: Ids | None) -> Column:
    """One column with its domain settled: `people` must stand behind what is undeclared, 0 for a public column."""
    if declared is not None and not hasattr(declared, "__iter__"):
        raise DataError("domain", f"domain of {column.name!r} must be a list: of values, or of two bounds.")
    if column.kind == "categorical":
        return _categorical(column, declared, people, person)
    return _numeric(column, declared, people, person)


def _categorical(column: Column, declared: Sequence[Any] | None, people: int, person: Ids | None) -> Column:
    if declared is None:
        if not people:
            return column
        counts = people_with(column, column.n_codes, person)
        rare = int(((counts > 0) & (counts < people)).sum())
        if rare:
            raise DataError(
                "rare-private-values",
                f"Private column {column.name!r} has {rare} value(s) that fewer than {people} people have, and a "
                "release names them. Declare the column's values with domain=, or give it a hierarchy that lists them.",
            )
        return column
    if isinstance(declared, str):
        raise DataError("domain", f"domain of {column.name!r} must be a list of values; got one string.")
    return declare_values(column, tuple(_text(value, column.name) for value in declared))


def without_rows(column: Column, left_out: NDArray[np.bool_], people: int, person: Ids | None) -> Column:
    """An undeclared private column, its domain settled again by the rows that are published.

    Otherwise the domain would tell a value that only rows have that are left out. Those rows get any value.
    """
    kept, person = column.take(~left_out).compact(), None if person is None else person[~left_out]
    if kept.kind == "numeric" and len(kept.numbers):
        kept = _cut_back(kept, people, person)
    codes = np.zeros(len(column), dtype=kept.codes.dtype)
    codes[~left_out] = kept.codes
    return replace(kept, codes=codes)


def declare_values(column: Column, values: tuple[str, ...]) -> Column:
    """A categorical column over a declared list of values, in their order; others in it are refused by their number."""
    if len(set(values)) < len(values) or not values:
        raise DataError("domain", f"domain of {column.name!r} must list every value once, and at least one.")
    position = {value: code for code, value in enumerate(values)}
    code_of = np.array([*(position.get(value, -1) for value in column.names), len(values)], dtype=np.int64)
    codes = code_of[column.codes]
    outside = column.rows(codes < 0)
    if outside:
        unknown = int((column.counts()[: len(column.names)][code_of[:-1] < 0] > 0).sum())
        raise DataError(
            "outside-domain",
            f"Column {column.name!r} has {unknown} value(s), in {outside} row(s), that its declared domain does not "
            "list. Add them to the domain (or hierarchy), or list them as missing.",
        )
    return replace(column, codes=codes.astype(smallest_dtype(len(values) + 1)), values=values)


def check_sensitive(column: Column) -> None:
    """Refuse a sensitive column with missing values: whether nothing is a value of its own is not ours to guess."""
    if column.n_missing:
        raise DataError(
            "sensitive-missing",
            f"Sensitive column {column.name!r} is missing in {column.n_missing} row(s), and a requirement about its "
            "values cannot say what those hide. Fill them in, or leave these rows out.",
        )


def _numeric(column: Column, declared: Sequence[Any] | None, people: int, person: Ids | None) -> Column:
    numbers = column.numbers
    if declared is not None:
        return replace(column, bounds=check_bounds(column, declared))
    if not len(numbers):
        raise DataError(
            "empty-column", f"Column {column.name!r} has no value at all. Drop it, or make it an identifier."
        )
    if not people:
        return replace(column, bounds=(float(numbers[0]), float(numbers[-1])))
    counts = people_with(column, len(numbers) + 1, person)
    if 0 < counts[-1] < people:
        raise DataError(
            "rare-private-values",
            f"Private column {column.name!r} is missing for fewer than {people} people, and a release would say that "
            "it can be. Fill it in, leave those rows out, or declare its bounds with domain=.",
        )
    return _cut_back(column, people, person)


def _cut_back(column: Column, people: int, person: Ids | None) -> Column:
    """A column of numbers within round bounds that enough people are at or beyond."""
    numbers, counts = column.numbers, people_with(column, len(column.numbers) + 1, person)
    low, high = safe_bounds(numbers, counts[:-1], people, ends=None if person is None else _ends(column, person))
    if column.integer:  # still at or beyond the people counted, and a number the column could hold
        low, high = math.floor(low), math.floor(low) if low == high else math.ceil(high)
    return clip(column, float(low), float(max(low, high)))


def _ends(column: Column, person: Ids) -> tuple[Ids, Ids]:
    """How many people have each number as their lowest, and as their highest."""
    n = len(column.numbers)
    known = column.codes < n
    codes, whose = column.codes[known].astype(np.int64), person[known]
    lowest, highest = np.full(int(person.max()) + 1, n), np.full(int(person.max()) + 1, -1)
    np.minimum.at(lowest, whose, codes)
    np.maximum.at(highest, whose, codes)
    there = highest >= 0
    return np.bincount(lowest[there], minlength=n), np.bincount(highest[there], minlength=n)


def check_bounds(column: Column, declared: Sequence[Any]) -> tuple[float, float]:
    """The declared bounds of a numeric column, which all its numbers keep."""
    numbers = column.numbers
    if isinstance(declared, str) or len(declared) != 2:
        raise DataError("domain", f"domain of {column.name!r}, a numeric column, must be two bounds [low, high].")
    try:
        low, high = (float(bound) for bound in declared)
    except (TypeError, ValueError):
        raise DataError("domain", f"domain of {column.name!r} must be two numbers.") from None
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise DataError("domain", f"domain of {column.name!r} must be two finite numbers, low first.")
    outside = int(column.counts()[: len(numbers)][(numbers < low) | (numbers > high)].sum())
    if outside:
        raise DataError(
            "outside-domain",
            f"Column {column.name!r} has {outside} row(s) outside its declared bounds. Widen them, or clip the column.",
        )
    return low, high


def clip(column: Column, low: float, high: float) -> Column:
    """The column with every number below `low` or above `high` moved there."""
    values, code_of = np.unique(np.clip(column.numbers, low, high), return_inverse=True)
    code_of = np.append(code_of, len(values)).astype(smallest_dtype(len(values) + 1))
    return replace(column, codes=code_of[column.codes], values=values, bounds=(low, high))


def _text(value: Any, column: str) -> str:
    if value is None:
        raise DataError("domain", f"domain of {column!r} lists None; a missing value needs no declaring.")
    return number_text(value) if isinstance(value, (float, np.floating)) else str(value)
