# SPDX-License-Identifier: Apache-2.0
"""The second figure for missing values, of a released tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.audit.groups import Groups, Ids
from shoal.audit.recount import Recount
from shoal.audit.spans import TreeSpans
from shoal.audit.unknowns import MissingFigure, missing_figure
from shoal.data.table import Column, Table, smallest_dtype
from shoal.release import TreeRelease
from shoal.release.domain import Atoms


def missing_in_tree(
    release: TreeRelease, counted: Recount, groups: Groups, counts_for: NDArray[np.bool_], k: int
) -> MissingFigure | None:
    """What changes if a missing public value could match any, over the columns that the tree asks for."""
    spans = TreeSpans(release, counted.public)  # another than that of the recount, which remembers whom it looked at
    columns = [
        _one_value_a_piece(counted.table[name], spans.routing.atoms[spans.routing.names.index(name)])
        for name in spans.public
    ]
    also = [release.target] if release.target in counted.public else []
    if not any(column.missing for column in columns):
        return None
    table = Table([*columns, *([counted.target] if also else [])])

    def spans_of(rows: Table) -> Ids:
        found = spans.spans(rows).of_row
        return found * rows[also[0]].n_codes + rows[also[0]].codes if also else found

    values = {name: release.attribute(name).values for name in spans.public}
    return missing_figure(table, spans.public, groups, counts_for, k, spans_of=spans_of, values=values, also=also)


def _one_value_a_piece(column: Column, atoms: Atoms) -> Column:
    """A column with one number for all that the tree does not tell apart: fewer ways to fill in, the same spans."""
    if column.kind == "categorical":
        return column
    piece = np.searchsorted(atoms.thresholds, column.numbers, side="left")
    _, first, code_of = np.unique(piece, return_index=True, return_inverse=True)
    code_of = np.append(code_of.reshape(-1), len(first)).astype(smallest_dtype(len(first) + 1))
    return Column(column.name, "numeric", code_of[column.codes], column.numbers[first], column.missing, column.integer)
