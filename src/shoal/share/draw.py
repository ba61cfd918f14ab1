# SPDX-License-Identifier: Apache-2.0
"""Drawing values of one column, each from what one of several cells leaves open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column, smallest_dtype
from shoal.errors import DataError
from shoal.release.domain import Attribute, Interval
from shoal.release.generalised import Generalised
from shoal.release.marginal import Marginal

Ids = NDArray[np.int64]
Numbers = NDArray[np.float64]
Place = Literal["uniform", "middle", "end"]


class Drawer:
    """Values of one column for rows of which each may have what one of some cells leaves open.

    Parameters
    ----------
    attribute
        The column and its domain.
    cells
        What rows may have, several possibilities.
    marginal
        How often values come; None: every value of a set, and every interval of several, comes as often.
    """

    def __init__(self, attribute: Attribute, cells: Sequence[Generalised], marginal: Marginal | None) -> None:
        self._attribute = attribute
        if attribute.type == "categorical":
            pieces = _of_values(attribute, cells, marginal)
        else:
            pieces = [_of_numbers(attribute, cell, marginal) for cell in cells]
        self._first = np.concatenate([each[0] for each in pieces])
        self._last = np.concatenate([each[1] for each in pieces])
        # one ascending line for all cells: those of cell c lie between c and c + 1
        ends: list[Numbers] = []
        for number, (_, _, weight) in enumerate(pieces):
            reached = np.cumsum(weight) / weight.sum()
            reached[-1] = 1.0
            ends.append(number + reached)
        self._ends = np.concatenate(ends)
        self._last_piece = np.cumsum([len(each) for each in ends]) - 1

    def draw(self, cell: Ids, place: Place, rng: np.random.Generator) -> Column:
        """A value for each row; `cell` is the number of its cell."""
        if place not in ("uniform", "middle", "end"):
            raise DataError("unknown-option", f"numbers must be 'uniform', 'middle' or 'end'; got {place!r}.")
        attribute = self._attribute
        piece = np.searchsorted(self._ends, cell + rng.random(len(cell)), side="right")
        piece = np.minimum(piece, self._last_piece[cell])  # a sum may be rounded up into the next cell
        if attribute.type == "categorical":
            codes = self._first[piece].astype(smallest_dtype(len(attribute.values) + attribute.missing))
            return Column(
                attribute.name,
                "categorical",
                codes,
                attribute.values,
                missing=attribute.missing,
                labels=attribute.labels,
            )
        low, high = self._first[piece], self._last[piece]
        if place == "end":
            found = high
        elif attribute.integer:
            inside = 0.5 if place == "middle" else rng.random(len(cell))
            found = np.minimum(np.floor(low + inside * (high - low + 1)), high)
        else:
            found = (low + high) / 2 if place == "middle" else high - rng.random(len(cell)) * (high - low)
            found = np.where(found < low, low, found)
        return _column(attribute, found)


def _column(attribute: Attribute, found: Numbers) -> Column:
    """Numbers as a column; NaN is missing."""
    gap = np.isnan(found)
    values, codes = np.unique(found[~gap], return_inverse=True)
    all_codes = np.full(len(found), len(values), dtype=np.int64)
    all_codes[~gap] = codes.reshape(-1)
    return Column(
        attribute.name,
        "numeric",
        all_codes.astype(smallest_dtype(len(values) + attribute.missing)),
        values,
        missing=attribute.missing,
        integer=attribute.integer,
        bounds=attribute.bounds,
    )


def _of_numbers(attribute: Attribute, cell: Generalised, marginal: Marginal | None) -> tuple[Numbers, Numbers, Numbers]:
    """The intervals that a cell leaves open, by their ends, and how often each comes; a missing number is NaN.

    Without a marginal, missing is left to cells that leave nothing else open: a tree that sends missing values some way
    does not say that there are any.
    """
    parts = (Interval(None, None),) if cell.is_all else cell.intervals
    ends = np.array([_closed(attribute, part) for part in parts], dtype=np.float64).reshape(-1, 2)
    ends = ends[ends[:, 0] <= ends[:, 1]]
    weight = np.ones(len(ends))
    if marginal is not None and len(ends):
        finer = [_overlap(attribute, ends, part, n) for part, n in _by_interval(marginal)]
        within = np.concatenate(finer) if finer else np.empty((0, 3))
        gap = _missing_people(marginal) if attribute.missing and (cell.is_all or cell.missing) else 0
        if gap:
            within = np.vstack([within, [math.nan, math.nan, gap]])
        if within[:, 2].sum() > 0:
            ends, weight = within[:, :2], within[:, 2]
    if not len(ends):
        return np.array([math.nan]), np.array([math.nan]), np.ones(1)
    return ends[:, 0], ends[:, 1], weight


def _of_values(
    attribute: Attribute, cells: Sequence[Generalised], marginal: Marginal | None
) -> list[tuple[Numbers, Numbers, Numbers]]:
    """The same of categories: a value is its code, missing the last, both ends of an interval that is one number."""
    position = {value: code for code, value in enumerate(attribute.values)}
    gap = len(attribute.values)
    people = np.zeros(gap + 1)
    for each, n in zip(marginal.cells, marginal.counts, strict=True) if marginal is not None else ():
        own = [position[value] for value in each.values] + [gap] * each.missing
        people[own] += n / max(len(own), 1)
    found = []
    for cell in cells:
        codes = np.arange(gap) if cell.is_all else np.array([position[value] for value in cell.values], dtype=np.int64)
        if marginal is not None and attribute.missing and (cell.is_all or cell.missing):
            codes = np.append(codes, gap)
        if not len(codes):
            codes = np.array([gap])
        weight = people[codes] if people[codes].sum() > 0 else np.ones(len(codes))
        found.append((codes.astype(np.float64), codes.astype(np.float64), weight))
    return found


def _closed(attribute: Attribute, part: Interval) -> tuple[float, float]:
    """The lowest and the highest number of an interval within the domain, both part of it."""
    assert attribute.bounds is not None
    low, high = attribute.bounds
    last = high if part.at_most is None else min(high, part.at_most)
    if attribute.integer:
        first = math.ceil(low) if part.above is None else max(math.ceil(low), math.floor(part.above) + 1)
        return float(first), float(math.floor(last))
    if part.above is None or part.above < low:
        return low, last
    return float(np.nextafter(part.above, math.inf)), last


def _by_interval(marginal: Marginal) -> list[tuple[Interval, float]]:
    return [
        (part, n / len(cell.intervals))
        for cell, n in zip(marginal.cells, marginal.counts, strict=True)
        for part in cell.intervals
    ]


def _missing_people(marginal: Marginal) -> int:
    """How many people have no number; where that is one cell with some numbers, nobody knows."""
    cells = zip(marginal.cells, marginal.counts, strict=True)
    return sum(n for cell, n in cells if cell.missing and not cell.intervals)


def _overlap(attribute: Attribute, ends: Numbers, part: Interval, people: float) -> Numbers:
    """What an interval with some people has in common with each of some others, and how many of them are there."""
    low, high = _closed(attribute, part)
    first, last = np.maximum(ends[:, 0], low), np.minimum(ends[:, 1], high)
    there = first <= last
    first, last = first[there], last[there]
    one = 1.0 if attribute.integer else 0.0
    width = high - low + one
    share = (last - first + one) / width if width > 0 else np.ones(len(first))
    return np.column_stack([first, last, people * share])
