# SPDX-License-Identifier: Apache-2.0
"""Original rows in pieces, as far as a released table tells them apart: the different ones, with their number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from shoal.data.grouped import coarser, most_groups
from shoal.data.pieces import Pieces
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical, with_target
from shoal.errors import DataError
from shoal.release import TableRelease
from shoal.release.generalised import atoms_of
from shoal.release.table import fit_column


def different_rows(release: TableRelease, X: Pieces, y: str | None) -> Table:
    """The different rows of the columns that a release publishes, each with how many there are of it.

    Public values that no published cell tells apart are one, and so are private numbers beyond the stated bounds.
    """
    if release.target is None and y is not None:
        raise DataError("no-target", "This release has no target, so there is nothing to compare y with.")
    columns = X.columns
    if release.target is not None and (y is not None or release.target in columns):
        columns = with_target(columns, y, release.target)
    kinds = release.kinds
    own = [_as_told(release, column, kinds[name]) for name, column in columns.items() if name in kinds]
    if not own:  # everything is hidden
        own = [next(iter(columns.values()))]
    return X.like(columns.like(own)).grouped(most_groups())


def _as_told(release: TableRelease, column: Column, kind: Any) -> Column:
    """A column with as few different values as the release tells apart."""
    if kind == "categorical" and column.kind == "numeric":  # numbers whose hierarchy listed them one by one
        column = as_categorical(column)
    if column.kind != kind:
        return column  # refused where it is compared
    attribute = release.attribute(column.name)
    if column.name not in release.generalised:
        return fit_column(attribute, column)
    atoms = atoms_of(attribute, release.generalised[column.name])
    return coarser(column, atoms.encode(replace(column, codes=np.arange(column.n_codes))))
