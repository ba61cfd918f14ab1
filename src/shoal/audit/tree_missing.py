# SPDX-License-Identifier: Apache-2.0
"""The second figure for missing values, of released trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal.audit.groups import Groups, Ids, numbered
from shoal.audit.recount import Recount
from shoal.audit.spans import TreeSpans
from shoal.audit.unknowns import MissingFigure, missing_figure
from shoal.data.pieces import Pieces
from shoal.data.table import Column, Table, count_codes, smallest_dtype
from shoal.release import TreeRelease

MOST_CELLS = 1 << 20  # different rows that are held in memory


def missing_in_trees(
    trees: Sequence[TreeRelease], counted: Recount, groups: Groups, counts_for: NDArray[np.bool_], k: int
) -> MissingFigure | None:
    """What changes if a missing public value could match any, over the columns that trees released together ask for."""
    # others than those of the recount, which remember whom they looked at
    spans = [TreeSpans(tree, counted.public) for tree in trees]
    columns = public_columns(spans, counted)
    if not any(column.missing for column in columns):
        return None
    names = tuple(column.name for column in columns)
    also = [trees[0].target] if trees[0].target in counted.public else []
    table = Table([*columns, *([counted.target] if also else [])])
    return _figure(trees, spans, table, names, also, groups, counts_for, k)


def missing_in_pieces(
    release: TreeRelease, counted: Recount, rows: Pieces, tells: bool, k: int
) -> MissingFigure | None:
    """The same of one tree and rows in pieces, from the different rows among them where these are few.

    `tells` says that no span is exempt.
    """
    spans = TreeSpans(release, counted.public)
    columns = public_columns([spans], counted)
    if not any(column.missing for column in columns):
        return None
    names = tuple(column.name for column in columns)
    also = [release.target] if release.target in counted.public else []
    pieces = rows.like(rows.columns.like([*columns, *([counted.target] if also else [])]))
    parts = [part for part in pieces.mapped(partial(_cells, names)) if part is not None]
    unknown = sum(part[2] for part in parts)
    if not unknown:
        return None
    cells, people = _joined([part[:2] for part in parts])
    if len(people) > MOST_CELLS:
        return MissingFigure(unknown, k, None, None)
    found = spans.spans(cells)
    groups = Groups(found.of_row, np.bincount(found.of_row), found.n_bins, found.example)
    n_bins = found.n_bins * (1 if also else counted.target.n_codes)
    return _figure([release], [spans], cells, names, also, groups, (n_bins > 1) | tells, k, people)


def _cells(names: Sequence[str], tables: Iterator[Table]) -> tuple[Table, Ids, int] | None:
    """The different rows of some tables, as long as they are few, how many there are of each, and how many rows lack a
    value. None where there are no rows."""
    found: tuple[Table, Ids] | None = None
    unknown = 0
    for table in tables:
        lacks = np.zeros(table.n_rows, dtype=bool)
        for name in names:
            lacks |= table[name].codes == len(table[name].values)
        unknown += int(lacks.sum())
        if found is None or len(found[1]) <= MOST_CELLS:
            own = table, np.ones(table.n_rows, dtype=np.int64)
            found = _joined([own] if found is None else [found, own])
    return None if found is None else (*found, unknown)


def _joined(parts: Sequence[tuple[Table, Ids]]) -> tuple[Table, Ids]:
    """The different rows of several parts, which have the same dictionaries, as long as they are few."""
    table, people = parts[0]
    for more, own in [(table.take(np.zeros(0, dtype=np.intp)), people[:0]), *parts[1:]]:
        if len(people) > MOST_CELLS:
            break
        both = Table(
            replace(column, codes=np.concatenate([column.codes, more[name].codes])) for name, column in table.items()
        )
        table, people = _different(both, np.append(people, own))
    return table, people


def _different(table: Table, people: Ids) -> tuple[Table, Ids]:
    """The different rows, and how many people each stands for."""
    key = numbered([column.codes for column in table.values()], table.n_rows)
    _, example = np.unique(key, return_index=True)
    return table.take(example), count_codes(key, len(example), people)


def public_columns(spans: Sequence[TreeSpans], counted: Recount) -> list[Column]:
    """The public columns that trees ask for, one value for all that none tells apart."""
    names = tuple(dict.fromkeys(name for each in spans for name in each.public))
    return [_one_value_a_piece(counted.table[name], _thresholds(spans, name)) for name in names]


def _figure(
    trees: Sequence[TreeRelease],
    spans: Sequence[TreeSpans],
    table: Table,
    names: Sequence[str],
    also: Sequence[str],
    groups: Groups,
    counts_for: NDArray[np.bool_],
    k: int,
    weights: Ids | None = None,
) -> MissingFigure | None:
    def spans_of(rows: Table) -> Ids:
        return numbered(
            [*(each.spans(rows).of_row for each in spans), *(rows[name].codes for name in also)], rows.n_rows
        )

    values = {name: trees[0].attribute(name).values for name in names}
    return missing_figure(
        table, names, groups, counts_for, k, spans_of=spans_of, values=values, also=also, weights=weights
    )


def _thresholds(spans: Sequence[TreeSpans], name: str) -> NDArray[np.float64]:
    """Where any of the trees cuts a column."""
    asking = [each.routing for each in spans if name in each.routing.names]
    return np.unique(np.concatenate([routing.atoms[routing.names.index(name)].thresholds for routing in asking]))


def _one_value_a_piece(column: Column, thresholds: NDArray[np.float64]) -> Column:
    """A column with one number for all that no tree tells apart: fewer ways to fill in, the same spans."""
    if column.kind == "categorical":
        return column
    piece = np.searchsorted(thresholds, column.numbers, side="left")
    _, first, code_of = np.unique(piece, return_index=True, return_inverse=True)
    code_of = np.append(code_of.reshape(-1), len(first)).astype(smallest_dtype(len(first) + 1))
    return Column(column.name, "numeric", code_of[column.codes], column.numbers[first], column.missing, column.integer)
