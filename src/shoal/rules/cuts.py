# SPDX-License-Identifier: Apache-2.0
"""Columns of numbers as items: classes of numbers, because a number that few people have is theirs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.data.discretize import quantile_cuts
from shoal.data.person import people_by_code
from shoal.data.table import Column

MOST_NUMBERS = 10  # that are items themselves, where enough people have each
MOST_CLASSES = 8


def cuts_of(column: Column, person: NDArray[np.int64] | None, least: int) -> tuple[float, ...] | None:
    """Where to cut a column: at round numbers, into at most eight classes of about equally many people.

    Each class has at least so many people; where no two can, there is no cut. None where nothing needs to be cut:
    columns of categories, and of a few numbers that enough people have each.

    >>> from shoal import to_table
    >>> cuts_of(to_table({"age": [31, 34, 40, 42, 51, 58, 63, 70]})["age"], None, 3)
    (50.0,)
    """
    if column.kind == "categorical":
        return None
    there = np.flatnonzero(column.codes < len(column.values))
    codes = column.codes[there].astype(np.int64)
    whose = None if person is None else person[there]
    people = people_by_code(codes, len(column.values), whose)
    if len(people) <= MOST_NUMBERS and (people >= least).all():
        return None
    rows = np.bincount(codes, minlength=len(column.values))
    for n in range(MOST_CLASSES, 1, -1):
        cuts = quantile_cuts(column.numbers, rows, n)
        of_row = np.searchsorted(cuts, column.numbers)[codes]
        if people_by_code(of_row, len(cuts) + 1, whose).min(initial=least) >= least:
            return tuple(cuts.tolist())
    return ()
