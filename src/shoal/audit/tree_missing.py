# SPDX-License-Identifier: Apache-2.0
"""The second figure for missing values, of released trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.audit.groups import Groups, Ids, numbered
from shoal.audit.recount import Recount
from shoal.audit.spans import TreeSpans
from shoal.audit.unknowns import MissingFigure, missing_figure
from shoal.data.table import Column, Table, smallest_dtype
from shoal.release import TreeRelease


def missing_in_trees(
    trees: Sequence[TreeRelease], counted: Recount, groups: Groups, counts_for: NDArray[np.bool_], k: int
) -> MissingFigure | None:
    """What changes if a missing public value could match any, over the columns that trees released together ask for."""
    # others than those of the recount, which remember whom they looked at
    spans = [TreeSpans(tree, counted.public) for tree in trees]
    names = tuple(dict.fromkeys(name for each in spans for name in each.public))
    if not any(counted.table[name].missing for name in names):
        return None
    columns = [_one_value_a_piece(counted.table[name], _thresholds(spans, name)) for name in names]
    also = [trees[0].target] if trees[0].target in counted.public else []
    table = Table([*columns, *([counted.target] if also else [])])

    def spans_of(rows: Table) -> Ids:
        return numbered(
            [*(each.spans(rows).of_row for each in spans), *(rows[name].codes for name in also)], rows.n_rows
        )

    values = {name: trees[0].attribute(name).values for name in names}
    return missing_figure(table, names, groups, counts_for, k, spans_of=spans_of, values=values, also=also)


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
