# SPDX-License-Identifier: Apache-2.0
"""A hierarchy bound to the codes of a column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.discretize import Numbers, interval_labels, within
from shoal.data.hierarchy_sources import Row
from shoal.data.table import Column
from shoal.errors import HierarchyError

MISSING = "(missing)"
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].+)?")


@dataclass(frozen=True, eq=False, repr=False)
class Levels:
    """Which codes of a column are one group, level by level, finest first, without the root.

    Parameters
    ----------
    maps
        For each level an `int32` array from code to group. Groups are numbered from 0 in order of first
        appearance by code; of a numeric hierarchy they are the intervals, ascending, empty ones included.
        Missing is the last group.
    labels
        For each level the groups' labels; missing is ``(missing)``.
    cuts
        For a numeric hierarchy the cut points of each level: group ``g`` is ``(cuts[g - 1], cuts[g]]``, the
        outer two open. Otherwise None.

    Examples
    --------
    >>> Levels((np.array([0, 1, 2]), np.array([0, 0, 1])), (("a", "b", "c"), ("ab", "c")))
    <Levels: 3, 2 groups>
    """

    maps: tuple[NDArray[np.int32], ...]
    labels: tuple[tuple[str, ...], ...]
    cuts: tuple[Numbers, ...] | None = None

    def __post_init__(self) -> None:
        arrays: list[NDArray[Any]] = [*self.maps, *(self.cuts or ())]
        for array in arrays:
            array.setflags(write=False)
        for fine, coarse in pairwise(self.maps):
            parent = np.zeros(int(fine.max(initial=-1)) + 1, dtype=np.int32)
            parent[fine] = coarse
            if not np.array_equal(parent[fine], coarse):
                raise HierarchyError("hierarchy-not-nested", "The levels do not nest: a group is in two wider ones.")

    def __len__(self) -> int:
        return len(self.maps)

    def __repr__(self) -> str:
        return f"<Levels: {', '.join(str(len(labels)) for labels in self.labels)} groups>"


def levels_from_rows(column: Column, rows: Sequence[Row | None], problem: str) -> Levels:
    """The levels of a categorical column from one row of labels a value, None where a value is not known."""
    unknown = [code for code, row in enumerate(rows) if row is None]
    if unknown:
        held = int(column.counts()[unknown].sum())
        raise HierarchyError(
            "hierarchy-unknown-value",
            f"Column {column.name!r} has {len(unknown)} value(s), in {held} row(s), {problem}",
        )
    maps: list[NDArray[np.int32]] = []
    labels: list[tuple[str, ...]] = []
    for level in list(zip(*(row for row in rows if row is not None), strict=True)) or [()]:
        ids: dict[str, int] = {}
        groups = [ids.setdefault(label, len(ids)) for label in level]
        # a level that splits nothing is the root under another name
        if maps and (len(ids) < 2 or len(ids) == len(labels[-1]) - column.missing):
            continue
        maps.append(np.array(groups + [len(ids)] * column.missing, dtype=np.int32))
        labels.append((*ids, *[MISSING] * column.missing))
    return Levels(tuple(maps), tuple(labels))


def levels_from_cuts(column: Column, cuts: Iterable[Numbers]) -> Levels:
    """The levels of a numeric column from cut points, finest first."""
    low, high = domain(column)
    maps: list[NDArray[np.int32]] = []
    labels: list[tuple[str, ...]] = []
    kept: list[Numbers] = []
    for level in cuts:
        inside = within(level, low, high)
        if kept and (not len(inside) or len(inside) == len(kept[-1])):
            continue
        groups = np.searchsorted(inside, column.numbers, side="left")
        maps.append(np.append(groups, [len(inside) + 1] * column.missing).astype(np.int32))
        labels.append((*interval_labels(inside, whole=column.integer), *[MISSING] * column.missing))
        kept.append(inside)
    return Levels(tuple(maps), tuple(labels), tuple(kept))


def domain(column: Column) -> tuple[float, float]:
    """The bounds of a numeric column, or its range where they are not known."""
    if column.bounds is not None:
        return column.bounds
    return (float(column.numbers[0]), float(column.numbers[-1])) if len(column.numbers) else (0.0, 0.0)


def prefix_row(value: str, lengths: Iterable[int]) -> Row:
    """A string and its beginnings. One shorter than asked for stays whole, without a star.

    >>> prefix_row("471", [4, 3, 2])
    ('471', '471', '471*', '47*')
    """
    return (value, *(value[:n] + "*" if len(value) >= n else value for n in lengths))


def date_row(value: str, parts: Iterable[str]) -> Row | None:
    """An ISO date, with or without a time, and the periods it is in; None if it is no such date.

    >>> date_row("2024-05-17", ["month", "quarter", "year", "decade"])
    ('2024-05-17', '2024-05', '2024-Q2', '2024', '2020s')
    """
    if not _ISO_DATE.fullmatch(value):
        return None
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return None
    labels = {
        "month": value[:7],
        "quarter": f"{value[:4]}-Q{(int(value[5:7]) + 2) // 3}",
        "year": value[:4],
        "decade": f"{value[:3]}0s",
    }
    return (value, *(labels[part] for part in parts))


def wrong_kind(column: Column) -> HierarchyError:
    """The refusal of a hierarchy of numbers for strings, or the other way round."""
    if column.kind == "numeric":
        problem = (
            "is numeric and its hierarchy is one of strings: read it as categorical with "
            f"kinds={{{column.name!r}: 'categorical'}}, or use intervals, cuts or equal_size."
        )
    else:
        problem = "is categorical and its hierarchy is one of numbers: list its values, or read it as numeric."
    return HierarchyError("hierarchy-wrong-kind", f"Column {column.name!r} {problem}")
