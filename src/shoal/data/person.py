# SPDX-License-Identifier: Apache-2.0
"""Whose row each is, where people may have several."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column, count_codes
from shoal.errors import DataError

Ids = NDArray[np.int64]
EXACT = 2.0**53  # from here on not every whole number is a float


def whose_rows(column: Column) -> Ids | None:
    """A number for the person of every row, from 0 without gaps; None where everybody has one row.

    >>> from shoal.data import to_table
    >>> whose_rows(to_table({"patient": ["b", "a", "b"]})["patient"]).tolist()
    [1, 0, 1]
    """
    check_person(column)
    people = column.compact()
    return None if len(people.values) == len(people) else people.codes.astype(np.int64)


def check_person(column: Column) -> None:
    """Refuse rows of nobody, and numbers too large to be told apart."""
    n_missing = int((column.codes == len(column.values)).sum())
    if n_missing:
        raise DataError(
            "person-missing",
            f"Column {column.name!r}, which tells people apart, is missing in {n_missing} row(s). "
            "Fill it in, or leave those rows out.",
        )
    if column.kind == "numeric" and (np.abs(column.numbers) >= EXACT).any():
        raise DataError(
            "person-inexact",
            f"Column {column.name!r}, which tells people apart, has numbers that are too large to be kept exactly. "
            f"Read it as text: kinds={{{column.name!r}: 'categorical'}}, or categorical under [data] of shoal.toml.",
        )


def people_with(column: Column, n_codes: int, person: Ids | None) -> Ids:
    """How many different people have each code of a column; where `person` is None, how many rows."""
    return people_by_code(column.codes, n_codes, person, column.weights)


def people_by_code(codes: NDArray[np.integer], n_codes: int, person: Ids | None, weights: Ids | None = None) -> Ids:
    """How many different people have each code; where `person` is None, how many rows, or what they stand for."""
    if person is None:
        return count_codes(codes, n_codes, weights)
    n_people = int(person.max()) + 1
    once = distinct(codes.astype(np.int64) * n_people + person)
    return np.bincount(once // n_people, minlength=n_codes)


def distinct(numbers: Ids) -> Ids:
    """Different numbers, ascending; for many numbers sorting is several times faster than np.unique, which hashes."""
    ordered = np.sort(numbers)
    return np.asarray(ordered[np.append(np.ones(min(1, len(ordered)), dtype=bool), ordered[1:] != ordered[:-1])])
