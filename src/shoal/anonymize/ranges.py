# SPDX-License-Identifier: Apache-2.0
"""What is published of a group of rows by a local recoding: of each public column the least that covers its values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.cells import Recoded
from shoal.anonymize.ladder import Ladder
from shoal.anonymize.task import Task
from shoal.data.discretize import interval_labels, round_cuts
from shoal.data.table import Column
from shoal.release.domain import Interval
from shoal.release.generalised import ALL, Generalised

Ids = NDArray[np.int64]
Named = tuple[Generalised, str | None]  # a cell, and what it is called


def cells_of_groups(task: Task, group: Ids, n_groups: int) -> dict[str, Recoded]:
    """Every public column as it is published, `group` being the number of each row's group.

    Where the user gave a hierarchy, a cell is its lowest node that covers the values of the group. Otherwise a cell of
    numbers is an interval and a cell of categories their set. An interval ends at round cuts between the outermost
    values of the group and the column's neighbouring values, so that no end is anybody's value. Missing is told beside
    the other values.
    """
    return {name: _recoded(task, name, group, n_groups) for name in task.public}


def leaf_ranks(ladder: Ladder) -> Ids:
    """The place of each code such that every group of every level is in one piece; missing is last."""
    order = np.lexsort(ladder.maps)  # of its keys the last counts most: the coarsest level
    known = len(ladder.column.values)
    order = np.concatenate([order[order < known], order[order >= known]])
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _recoded(task: Task, name: str, group: Ids, n_groups: int) -> Recoded:
    column = task.rows[name]
    missing = column.codes == len(column.values)
    gaps = np.bincount(group[missing], minlength=n_groups) > 0
    inside, codes = group[~missing], column.codes[~missing].astype(np.int64)
    if name not in task.hierarchies and column.kind == "categorical":
        return _sets(column, group, inside, codes, gaps)
    ladder = task.ladders[name]
    ranks = leaf_ranks(ladder)
    known = len(column.values)
    low, high = np.full(n_groups, known, dtype=np.int64), np.full(n_groups, -1, dtype=np.int64)
    np.minimum.at(low, inside, ranks[codes])
    np.maximum.at(high, inside, ranks[codes])
    if name not in task.hierarchies:
        return _distinct(np.column_stack([low, high, gaps]), group, _interval_teller(column))
    at_rank = np.argsort(ranks)
    level, node = np.full(n_groups, -1, dtype=np.int64), np.zeros(n_groups, dtype=np.int64)
    some = high >= 0
    for number, own in enumerate(ladder.maps):
        first, last = own[at_rank[np.minimum(low, known - 1)]], own[at_rank[high]]
        covered = some & (level < 0) & (first == last)
        level[covered], node[covered] = number, first[covered]
    return _distinct(np.column_stack([level, node, gaps]), group, _node_teller(ladder))


def _distinct(cells: Ids, group: Ids, tell: Callable[[int, int, bool], Named]) -> Recoded:
    """Each different cell of some groups once; `tell` says what its numbers mean."""
    different, code = np.unique(cells, axis=0, return_inverse=True)
    return _once([tell(a, b, bool(gap)) for a, b, gap in different.tolist()], code.reshape(-1), group)


def _once(told: list[Named], code: Ids, group: Ids) -> Recoded:
    """Two sets of numbers may mean the same cell, such as a node and the only one below it."""
    found = list(dict.fromkeys(cell for cell, _ in told))
    position = {cell: place for place, cell in enumerate(found)}
    places = np.array([position[cell] for cell, _ in told], dtype=np.int64)
    names: dict[Generalised, set[str]] = {}
    for cell, name in told:
        if name is not None:
            names.setdefault(cell, {name})  # the lowest level's name
    return Recoded(found, places[code][group], names)


def _sets(column: Column, group: Ids, inside: Ids, codes: Ids, gaps: NDArray[np.bool_]) -> Recoded:
    """The set of values of each group."""
    n_codes = len(column.values)
    pairs = np.unique(inside * n_codes + codes)
    sizes = np.bincount(pairs // n_codes, minlength=len(gaps))
    members = np.split(pairs % n_codes, np.cumsum(sizes)[:-1])
    keys = [(*own.tolist(), -1) if gap else tuple(own.tolist()) for own, gap in zip(members, gaps, strict=True)]
    different = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    told: list[Named] = [(_values(column, [code for code in key if code >= 0], -1 in key), None) for key in different]
    return _once(told, np.array([different[key] for key in keys], dtype=np.int64), group)


def _values(column: Column, codes: list[int], missing: bool) -> Generalised:
    if len(codes) + missing == column.n_codes:
        return Generalised(ALL)
    return Generalised("", values=tuple(column.names[code] for code in sorted(codes)), missing=missing)


def _interval(column: Column, above: float | None, at_most: float | None, missing: bool) -> Named:
    """A cell of numbers and how it is written; everything is an asterisk."""
    if above is None and at_most is None and missing == column.missing:
        return Generalised(ALL), None
    cell = Generalised("", intervals=(Interval(above, at_most),), missing=missing)
    ends = [end for end in (above, at_most) if end is not None]
    if missing or not ends:
        return cell, None
    return cell, interval_labels(np.array(ends), whole=column.integer)[0 if above is None else 1]


def _interval_teller(column: Column) -> Callable[[int, int, bool], Named]:
    cuts = round_cuts(column.numbers).tolist()

    def tell(low: int, high: int, missing: bool) -> Named:
        if high < 0:
            return Generalised("", missing=True), None
        above = None if low == 0 else cuts[low - 1]
        return _interval(column, above, None if high == len(cuts) else cuts[high], missing)

    return tell


def _node_teller(ladder: Ladder) -> Callable[[int, int, bool], Named]:
    column = ladder.column

    def tell(level: int, node: int, missing: bool) -> Named:
        if level < 0:
            return Generalised("", missing=True), None
        if column.kind == "numeric":
            cuts = None if ladder.cuts is None else ladder.cuts[level]
            assert cuts is not None
            return _interval(
                column, cuts[node - 1] if node else None, cuts[node] if node < len(cuts) else None, missing
            )
        own = ladder.maps[level][: len(column.values)]
        cell = _values(column, np.flatnonzero(own == node).tolist(), missing)
        named = len(cell.values) > 1 and not missing
        return cell, ladder.labels[level][node] if named else None

    return tell
