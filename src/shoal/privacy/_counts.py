# SPDX-License-Identifier: Apache-2.0
"""Counts of people, checked and added up: integers in, integers out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import RequirementError

Integers = NDArray[np.int64]
_TOP = 2**63 - 1


def check_counts(counts: ArrayLike) -> Integers:
    """`counts` as an int64 array (groups × values), or a refusal. One cheap pass.

    >>> check_counts([[3, 0], [1, 2]]).shape
    (2, 2)
    >>> check_counts([[0.5, 1.0]])
    Traceback (most recent call last):
    ...
    shoal.errors.RequirementError: Counts must be integers, one row a group and one column a value;
    got float64.
    """
    array = _integers(counts, "Counts must be integers, one row a group and one column a value")
    if array.ndim != 2:
        raise RequirementError(
            "counts",
            f"Counts must have one row a group and one column a value; got {array.ndim} dimension(s).",
        )
    return array


def check_total(total: ArrayLike, n_values: int) -> Integers:
    """`total` as an int64 array with one count a value, or a refusal."""
    array = _integers(total, "The table's counts must be integers, one a value")
    if array.shape != (n_values,):
        raise RequirementError(
            "counts", f"The table's counts must be one a value, {n_values} in all; got shape {array.shape}."
        )
    return array


def _integers(counts: ArrayLike, needed: str) -> Integers:
    try:
        array: NDArray[Any] = np.asarray(counts)
    except (ValueError, TypeError, OverflowError):
        raise RequirementError("counts", f"{needed}; got rows of different lengths.") from None
    if array.dtype.kind not in "iu":
        raise RequirementError("counts", f"{needed}; got {array.dtype}.")
    if array.dtype.itemsize < 8 or not array.dtype.isnative:
        array = array.astype(np.int64)
    if array.size:
        # Read as unsigned, a negative count is enormous: one pass finds both it and sums that would not fit.
        largest = int(array.view(np.uint64).max())
        if largest > _TOP // array.size:
            negative = array.dtype.kind == "i" and largest > _TOP
            wrong = "at least one is negative" if negative else "they are too large to add up"
            raise RequirementError("counts", f"Counts are numbers of people, but {wrong}.")
    return array.view(np.int64)


def sizes(counts: Integers) -> Integers:
    """People in each group."""
    # On narrow rows einsum is several times faster than sum(axis=1).
    people: Integers = np.einsum("ij->i", counts)
    return people


def largest(counts: Integers) -> Integers:
    """People with the most frequent value of each group; 0 where there is nobody."""
    # On narrow rows it pays to lay the values out one after the other first.
    rows = np.asfortranarray(counts) if counts.shape[1] <= 8 else counts
    most: Integers = rows.max(axis=1, initial=0)
    return most


def safe_type(bound: int) -> type[np.int64] | type[object]:
    """The fastest type in which numbers up to `bound` are exact: int64, else Python's own integers."""
    return np.int64 if bound <= _TOP else object


def top(array: Integers) -> int:
    """The largest entry as a Python int, 0 for an empty array."""
    return int(array.max(initial=0))


def ratio(above: NDArray[Any], below: NDArray[Any]) -> NDArray[np.float64]:
    """`above` / `below` as floats, for telling, never for deciding: nan for 0/0, inf for n/0, no warning."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return above.astype(np.float64) / below.astype(np.float64)
