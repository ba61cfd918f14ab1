# SPDX-License-Identifier: Apache-2.0
"""The published class nearest to rows that were not there: what a local recoding can say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal._kernels.nearest import nearest
from shoal._threads import side_by_side
from shoal.data.table import Column, Table
from shoal.errors import DataError, closest
from shoal.evaluate.losses import cell_losses
from shoal.release import Attribute, TableRelease
from shoal.release.generalised import Generalised

Ids = NDArray[np.int64]
Distances = NDArray[np.float64]  # cells × codes
AT_ONCE = 1000  # different rows compared in one piece: the distances of their values from all cells are kept
OUTSIDE = 1e-9  # the least distance of a value that a cell does not stand for: beside one that does, it is farther


def nearest_class(release: TableRelease, table: Table) -> Ids:
    """For each row the number of the published group whose cells are nearest to it, as in `release.groups`.

    A value that its cell stands for is at distance 0. Other numbers are as far as the nearest number of the cell, in
    shares of the column's bounds and at most 1; everything else, missing included, is at distance 1. Distances of
    columns are added. Of several groups that are equally near the one that says most is taken (the least loss), then
    the one with the lowest number.

    >>> from shoal import load_sample
    >>> from shoal.anonymize import TreeAnonymizer
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> release = TreeAnonymizer(privacy=1500, reproducible=True).fit(people, "diabetes").release_
    >>> [value.label for value in release.generalised["age"]]
    ['<=47.5', '>47.5']
    >>> from shoal.data import to_table
    >>> nearest_class(release, to_table({"age": [30, 90, None], "sex": ["male", "female", "male"]})).tolist()
    [0, 1, 0]
    """
    names = [name for name in release.public if not release.is_hidden(name)]
    columns = [_own_column(release.attribute(name), table) for name in names]
    _, example = np.unique(release.groups, return_index=True)
    losses = {name: cell_losses(release.attribute(name), release.generalised[name]) for name in names}
    loss = np.zeros(len(example))
    for name in names:
        loss += losses[name][release.rows[name].codes[example]]
    order = np.argsort(loss.round(9), kind="stable")  # equal up to rounding is equal
    if not names:
        return np.zeros(table.n_rows, dtype=np.int64)
    tuples = np.column_stack([release.rows[name].codes[example[order]].astype(np.int64) for name in names])
    rows, of_row = np.unique(np.column_stack([column.codes for column in columns]), axis=0, return_inverse=True)

    def piece(first: int) -> Ids:
        some = rows[first : first + AT_ONCE].astype(np.int64)
        own, tables = np.empty_like(some), []
        for i, name in enumerate(names):
            codes, own[:, i] = np.unique(some[:, i], return_inverse=True)
            tables.append(_distances(release.attribute(name), release.generalised[name], columns[i], codes))
        sizes = np.array([each.size for each in tables], dtype=np.int64)
        widths = np.array([each.shape[1] for each in tables], dtype=np.int64)
        found = np.zeros(len(some), dtype=np.int64)
        far = np.concatenate([each.reshape(-1) for each in tables])
        nearest(own, tuples, far, np.cumsum(sizes) - sizes, widths, found)
        return found

    found = side_by_side(piece, range(0, len(rows), AT_ONCE), rows=len(rows) * len(tuples))
    return order[np.concatenate(found)[of_row.reshape(-1)]]


def _own_column(attribute: Attribute, table: Table) -> Column:
    if attribute.name not in table:
        raise DataError("no-column", f"No column {attribute.name!r}.{closest(attribute.name, table)}")
    column = table[attribute.name]
    if column.kind != attribute.type:
        raise DataError(
            "column-kind",
            f"Column {column.name!r} is {column.kind} here but {attribute.type} in the release. "
            f"Read it with kinds={{{column.name!r}: {attribute.type!r}}}.",
        )
    return replace(column, missing=True)  # so that missing always has a code


def _distances(attribute: Attribute, cells: Sequence[Generalised], column: Column, codes: Ids) -> Distances:
    """How far each cell is from some codes of a column."""
    known = codes[codes < len(column.values)]
    if attribute.type == "categorical":
        place = {column.names[code]: i for i, code in enumerate(known.tolist())}
        found = np.ones((len(cells), len(known)))
        for i, cell in enumerate(cells):
            found[i, [place[value] for value in cell.values if value in place]] = 0.0
    else:
        found = np.stack([_from_numbers(attribute, cell, column.numbers[known]) for cell in cells])
    if len(known) < len(codes):
        found = np.hstack([found, [[0.0 if cell.missing else 1.0] for cell in cells]])
    found[[cell.is_all for cell in cells]] = 0.0
    return found


def _from_numbers(attribute: Attribute, cell: Generalised, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    assert attribute.bounds is not None
    width = attribute.bounds[1] - attribute.bounds[0]
    far = np.ones(len(numbers))
    for interval in cell.intervals:
        above = -np.inf if interval.above is None else interval.above
        at_most = np.inf if interval.at_most is None else interval.at_most
        lowest, highest = (np.floor(above) + 1, np.floor(at_most)) if attribute.integer else (above, at_most)
        beyond = np.maximum(lowest - numbers, numbers - highest)
        share = np.clip(beyond / width if width else np.ones(len(numbers)), OUTSIDE, 1.0)
        far = np.minimum(far, np.where((above < numbers) & (numbers <= at_most), 0.0, share))
    return far
