# SPDX-License-Identifier: Apache-2.0
"""Private numbers told coarsely: no number reaches a model that fewer people stand behind than the promise asks for.

A fitted model may hold what it was given: thresholds between two numbers, the value of a leaf with one person in it. So
it is given numbers that enough people share.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal._kernels.people import runs_of_people
from shoal.data.discretize import roundest
from shoal.data.person import Ids
from shoal.data.table import Column, smallest_dtype
from shoal.errors import DataError
from shoal.release.model_inputs import classed

MOST_RUNS = 1000  # a model needs no finer numbers than these many
CLASSES = 10


def coarse(column: Column, people: int, person: Ids | None = None) -> Column:
    """A numeric column in which every number is shared by at least `people`.

    Neighbouring values are taken together until enough people have one of them, and are told as the roundest number
    between the first and the last. A value that enough people have stays as it is. `person` says whose row each is,
    where people have several.
    """
    if not len(column.values):
        return column
    known = column.codes < len(column.values)
    total = _people(person, known)
    starts, ends = _runs(column, person, max(people, -(-total // MOST_RUNS)))
    numbers = column.numbers
    if total < people:
        assert column.bounds is not None
        told = np.array([roundest(*column.bounds)])
    else:
        told = np.array([roundest(numbers[a], numbers[b - 1]) for a, b in zip(starts, ends, strict=True)])
    run_of = np.repeat(np.arange(len(starts)), ends - starts)
    code_of = np.append(run_of, len(told)).astype(smallest_dtype(len(told) + 1))
    return replace(column, codes=code_of[column.codes], values=told, integer=False)


def in_classes(column: Column, people: int, person: Ids | None = None) -> tuple[Column, tuple[float, ...]]:
    """A number as target, cut into at most ten classes of about equally many people, and the cuts.

    No class has fewer than `people`, and a cut is the roundest number between two neighbouring values. `person` says
    whose row each is, where people have several.
    """
    numbers = column.numbers
    everybody = _people(person, np.ones(len(column), dtype=bool))
    starts, ends = _runs(column, person, max(people, -(-everybody // CLASSES)))
    if len(starts) < 2:
        raise DataError(
            "one-class",
            f"The target {column.name!r} makes only one class of at least {people:,} people: it has one value, or "
            f"{len(column):,} row(s) are too few.",
        )
    cuts = tuple(roundest(numbers[b - 1], numbers[b]) for b in ends[:-1])
    return classed(column, cuts), cuts


def _people(person: Ids | None, where: NDArray[np.bool_]) -> int:
    """How many people some rows are of."""
    return int(where.sum()) if person is None else int(np.count_nonzero(np.bincount(person[where])))


def _runs(column: Column, person: Ids | None, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Neighbouring values in runs of at least `size` people each (all in one if there are fewer): starts and ends."""
    n = len(column.values)
    if person is None:
        reached = np.cumsum(column.counts()[:n])
        ends: list[int] = []
        before = 0
        while before + size <= reached[-1]:
            ends.append(int(np.searchsorted(reached, before + size)) + 1)
            before = int(reached[ends[-1] - 1])
    else:
        order = np.argsort(column.codes, kind="stable")
        order = order[: int((column.codes < n).sum())]  # missing is last
        made = np.zeros(n, dtype=np.int64)
        codes = column.codes[order].astype(np.int64)
        ends = made[: runs_of_people(codes, person[order], int(person.max()) + 1, size, made)].tolist()
    ends[-1:] = [n]  # what is left over goes with the last run
    return np.array([0, *ends[:-1]]), np.array(ends)
