# SPDX-License-Identifier: Apache-2.0
"""How single columns are distributed, told in cells with enough people each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.data.discretize import quantile_cuts, roundest
from shoal.data.person import Ids, people_by_code
from shoal.data.table import Column, Table
from shoal.release.domain import Interval
from shoal.release.generalised import Generalised
from shoal.release.marginal import Marginal

Counts = NDArray[np.int64]
MOST_CELLS = 32  # of a column of numbers


def marginals_of(
    table: Table, names: Collection[str], people: int, person: Ids | None = None, *, private: Collection[str] = ()
) -> dict[str, Marginal]:
    """The distribution of some columns whose domain is settled, every cell with at least so many people.

    Numbers are told in cells of about equally many people between round cuts. Of categories, those that too few people
    have are one cell, and those that nobody has another; in `private` columns these are one cell, so that it is not
    told which rare values somebody has. A column of which no two cells can be told is left out.

    >>> from shoal import load_sample
    >>> marginals_of(load_sample().table, ["sex"], 10)["sex"].to_json()
    [{'values': ['Female'], 'people': 2590}, {'values': ['Male'], 'people': 2410}]
    """
    found: Mapping[str, Marginal | None] = {
        name: _marginal(table[name], people, person, name in private) for name in names
    }
    return {name: each for name, each in found.items() if each is not None}


def _marginal(column: Column, people: int, person: Ids | None, private: bool) -> Marginal | None:
    if column.kind == "categorical":
        groups = _common(column, people, person, private)
    else:
        # cuts lie between numbers of these rows: others that a dictionary has may be those of people left out
        column = replace(column.compact(), missing=column.missing)
        groups = _between(column, people, person, private)
    if len(groups) < 2:
        return None
    number = np.empty(column.n_codes, dtype=np.int64)
    for place, codes in enumerate(groups):
        number[codes] = place
    counts = people_by_code(number[column.codes], len(groups), person)
    cells = tuple(_cell(column, codes) for codes in groups)
    return Marginal(cells, tuple(int(n) for n in counts))


def _common(column: Column, people: int, person: Ids | None, private: bool) -> list[Counts]:
    """Values that enough people have, each alone; all others together, with the rarest of those if need be.

    Values that nobody has are apart, in private columns only if there are no others.
    """
    counts = people_by_code(column.codes, column.n_codes, person)
    nobody = np.flatnonzero(counts == 0)
    order = np.argsort(-counts, kind="stable")[: len(counts) - len(nobody)]
    alone = int((counts >= people).sum())
    while alone:
        rest = order[alone:]
        held = np.isin(column.codes, rest)
        n = len(np.unique(person[held])) if person is not None else int(held.sum())
        if not len(rest) or n >= people:
            break
        alone -= 1
    groups = [np.array([code]) for code in np.sort(order[:alone])]
    rest = order[alone:]
    if private and len(rest):
        rest, nobody = np.append(rest, nobody), nobody[:0]
    groups += [np.sort(rest)] if len(rest) else []
    return [*groups, nobody] if len(nobody) and groups else groups


def _between(column: Column, people: int, person: Ids | None, private: bool) -> list[Counts]:
    """Neighbouring numbers, and missing by itself, or with the last of them where it is so for too few people.

    For nobody is too few in private columns only.
    """
    counts = people_by_code(column.codes, column.n_codes, person)
    known = counts[: len(column.numbers)]
    cells = min(MOST_CELLS, int(known.sum()) // max(people, 1))
    codes = np.arange(len(column.numbers))
    groups: list[Counts] = []
    if cells >= 1:
        cuts = quantile_cuts(column.numbers, known, cells)
        bounds = np.searchsorted(column.numbers, cuts, side="right")
        groups = _merged([part for part in np.split(codes, bounds) if len(part)], column, people, person)
    if column.missing:
        gap = np.array([column.n_codes - 1])
        n = _held(column, gap, person)
        if not groups or n >= people or (not n and not private):
            return [*groups, gap]
        groups[-1] = np.append(groups[-1], gap)
    return groups


def _merged(parts: list[Counts], column: Column, people: int, person: Ids | None) -> list[Counts]:
    """Neighbours joined until each has enough people; too few at the end go with the last."""
    done: list[Counts] = []
    waiting = np.empty(0, dtype=np.int64)
    for part in parts:
        waiting = np.append(waiting, part)
        if _held(column, waiting, person) >= people:
            done.append(waiting)
            waiting = np.empty(0, dtype=np.int64)
    if len(waiting) and done:
        done[-1] = np.append(done[-1], waiting)
    elif len(waiting):
        done.append(waiting)
    return done


def _held(column: Column, codes: Counts, person: Ids | None) -> int:
    held = np.isin(column.codes, codes)
    return int(held.sum()) if person is None else len(np.unique(person[held]))


def _cell(column: Column, codes: Counts) -> Generalised:
    missing = bool(column.missing and codes[-1] == column.n_codes - 1)
    known = codes[: len(codes) - missing]
    if column.kind == "categorical":
        return Generalised("", values=tuple(column.names[code] for code in known), missing=missing)
    if not len(known):
        return Generalised("", missing=True)
    first, last = int(known[0]), int(known[-1])
    above = None if first == 0 else _cut(column, first - 1, first)
    at_most = None if last == len(column.numbers) - 1 else _cut(column, last, last + 1)
    return Generalised("", intervals=(Interval(above, at_most),), missing=missing)


def _cut(column: Column, low: int, high: int) -> float:
    """A round number between two neighbours of a dictionary."""
    return roundest(float(column.numbers[low]), float(column.numbers[high]))
