# SPDX-License-Identifier: Apache-2.0
"""Generalised numbers as numbers: the two ends of what a cell leaves open, or its middle."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.table import Column, Table
from shoal.errors import DataError
from shoal.release.domain import Attribute, Interval
from shoal.release.generalised import Generalised

Numbers = Literal["intervals", "ends", "midpoints"]
NUMBERS: tuple[Numbers, ...] = ("intervals", "ends", "midpoints")


def number_columns(
    numbers: Numbers,
    columns: Mapping[str, Any],
    rows: Table,
    attributes: Sequence[Attribute],
    generalised: Mapping[str, Sequence[Generalised]],
) -> dict[str, Any]:
    """Published columns with generalised numbers written another way; all others stay, and the order too.

    ``"ends"`` makes two columns of ``age``: ``age_low`` and ``age_high``, both part of what the cell leaves open where
    the numbers are whole; ``"midpoints"`` keeps one. Of several intervals the ends are the outermost, and the middle is
    that of all numbers they hold. An open end is that of the column's domain; a missing number stays missing.
    """
    if numbers not in NUMBERS:
        raise DataError("numbers", f"numbers must be one of {', '.join(NUMBERS)}; got {numbers!r}.")
    if numbers == "intervals":
        return dict(columns)
    domain = {attribute.name: attribute for attribute in attributes}
    answer: dict[str, Any] = {}
    for name, cells in columns.items():
        attribute = domain[name]
        if name not in generalised or attribute.type != "numeric":
            answer[name] = cells
            continue
        low, high, middle = spread(attribute, generalised[name])
        if numbers == "midpoints":
            answer[name] = _numbers(rows[name], middle)
            continue
        for end, each in ((f"{name}_low", low), (f"{name}_high", high)):
            if end in columns:
                raise DataError("column-twice", f"The ends of {name!r} would be a second column {end!r}. Rename one.")
            answer[end] = _numbers(rows[name], each)
    return answer


def spread(attribute: Attribute, found: Sequence[Generalised]) -> tuple[NDArray[np.float64], ...]:
    """The lowest number, the highest and the middle of each generalised value; NaN of one that is only missing.

    >>> age = Attribute("age", "public", "numeric", bounds=(17, 90), integer=True)
    >>> low, high, middle = spread(age, [Generalised("20-24", intervals=(Interval(19, 24),)), Generalised("*")])
    >>> low.tolist(), high.tolist(), middle.tolist()
    ([20.0, 17.0], [24.0, 90.0], [22.0, 53.5])
    """
    assert attribute.bounds is not None
    table = np.full((3, len(found)), math.nan)
    for place, value in enumerate(found):
        parts = (Interval(None, None),) if value.is_all else value.intervals
        ends = [_ends(attribute, part) for part in parts]
        if not ends:
            continue
        # of whole numbers the middle counts them, so one alone has a width as well
        widths = [last - first + attribute.integer for first, last in ends]
        middles = [(first + last) / 2 for first, last in ends]
        even = sum(widths) <= 0
        weighed = sum(middles) / len(middles) if even else float(np.dot(widths, middles)) / sum(widths)
        table[:, place] = min(first for first, _ in ends), max(last for _, last in ends), weighed
    return table[0], table[1], table[2]


def _ends(attribute: Attribute, part: Interval) -> tuple[float, float]:
    """The first and last number of an interval within the domain."""
    assert attribute.bounds is not None
    low, high = attribute.bounds
    first = low if part.above is None else max(low, math.floor(part.above) + 1 if attribute.integer else part.above)
    last = high if part.at_most is None else min(high, part.at_most)
    return float(first), float(math.floor(last) if attribute.integer else last)


def _numbers(column: Column, of_code: NDArray[np.float64]) -> pa.Array:
    """A number for each row; whole ones as whole numbers, and null where there is none."""
    cells = of_code[column.codes]
    known = of_code[~np.isnan(of_code)]
    if len(known) and (known == np.floor(known)).all() and np.abs(known).max() < 2**53:
        return pa.array(np.nan_to_num(cells).astype(np.int64), mask=np.isnan(cells))
    return pa.array(cells, mask=np.isnan(cells))
