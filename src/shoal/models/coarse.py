# SPDX-License-Identifier: Apache-2.0
"""Private numbers told coarsely: no number reaches a model that fewer people stand behind than the promise asks for.

A fitted model may hold what it was given: thresholds between two numbers, the value of a leaf with one person in it. So
it is given numbers that enough people share.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.data.discretize import roundest
from shoal.data.table import Column, smallest_dtype
from shoal.errors import DataError
from shoal.release.model_inputs import classed

MOST_RUNS = 1000  # a model needs no finer numbers than these many
CLASSES = 10


def coarse(column: Column, people: int) -> Column:
    """A numeric column in which every number is shared by at least `people`.

    Neighbouring values are taken together until enough people have one of them, and are told as the roundest number
    between the first and the last. A value that enough people have stays as it is.
    """
    if not len(column.values):
        return column
    counts = column.counts()[: len(column.values)]
    total = int(counts.sum())
    starts, ends = _runs(counts, max(people, -(-total // MOST_RUNS)))
    numbers = column.numbers
    if total < people:
        assert column.bounds is not None
        told = np.array([roundest(*column.bounds)])
    else:
        told = np.array([roundest(numbers[a], numbers[b - 1]) for a, b in zip(starts, ends, strict=True)])
    run_of = np.repeat(np.arange(len(starts)), ends - starts)
    code_of = np.append(run_of, len(told)).astype(smallest_dtype(len(told) + 1))
    return replace(column, codes=code_of[column.codes], values=told, integer=False)


def in_classes(column: Column, people: int) -> tuple[Column, tuple[float, ...]]:
    """A number as target, cut into at most ten classes of about equally many people, and the cuts.

    No class has fewer than `people`, and a cut is the roundest number between two neighbouring values.
    """
    counts = column.counts()
    numbers = column.numbers
    starts, ends = _runs(counts, max(people, -(-len(column) // CLASSES)))
    if len(starts) < 2:
        raise DataError(
            "one-class",
            f"The target {column.name!r} makes only one class of at least {people:,} people: it has one value, or "
            f"{len(column):,} row(s) are too few.",
        )
    cuts = tuple(roundest(numbers[b - 1], numbers[b]) for b in ends[:-1])
    return classed(column, cuts), cuts


def _runs(counts: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Neighbouring values in runs of at least `size` people each (all in one if there are fewer): starts and ends."""
    reached = np.cumsum(counts)
    ends: list[int] = []
    before = 0
    while before + size <= reached[-1]:
        ends.append(int(np.searchsorted(reached, before + size)) + 1)
        before = int(reached[ends[-1] - 1])
    ends[-1:] = [len(counts)]  # what is left over goes with the last run
    return np.array([0, *ends[:-1]]), np.array(ends)
