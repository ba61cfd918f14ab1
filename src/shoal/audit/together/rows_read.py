# SPDX-License-Identifier: Apache-2.0
"""The rows behind one or several releases, as one table that each can read in its own way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.data.frames import to_table
from shoal.data.table import Column, Kind, Table
from shoal.data.target import as_categorical, with_target
from shoal.errors import DataError
from shoal.release import ModelRelease, RulesRelease


def in_kind(column: Column, kind: str) -> Column:
    """A column read as numbers or as categories, whichever it was read as first."""
    if column.kind == kind:
        return column
    if kind == "categorical":
        return as_categorical(column)
    try:
        numbers = np.array([float(text) for text in column.names], dtype=np.float64)
    except ValueError:
        numbers = np.array([math.nan])
    if not np.isfinite(numbers).all():
        raise DataError(
            "column-kind",
            f"Column {column.name!r} is categorical here but numeric in the release. "
            f"Read it with kinds={{{column.name!r}: 'numeric'}}.",
        )
    values, code_of = np.unique(numbers, return_inverse=True)
    codes = np.append(code_of.reshape(-1), len(values))[column.codes]
    return replace(column, kind="numeric", codes=codes, values=values, labels="string")


def read_rows(releases: Sequence[Any], X: Any, y: Any, person: str | None = None) -> Table:
    """The rows as one table for all releases; the last of them says what `y` is.

    A column that some release takes for categories keeps its texts, of which numbers can still be made. Baskets that
    rules were mined from may have any form that rules are mined from; then every item is a column.
    """
    if any(isinstance(release, RulesRelease) and release.rows == "baskets" for release in releases):
        X = as_items(X, person)
    table = to_table(X)
    wanted: dict[str, Kind] = {}
    for release in releases:
        for name, kind in kinds_of(release).items():
            wanted[name] = "categorical" if "categorical" in (kind, wanted.get(name)) else "numeric"
    other = {name: kind for name, kind in wanted.items() if name in table and table[name].kind != kind}
    if other and not isinstance(X, Table):
        table = to_table(X, kinds=other)
    target = releases[-1].target
    if y is None or (isinstance(y, str) and y == target):
        return table
    if target is None:
        raise DataError("no-target", "This release has no target, so there is nothing to compare y with.")
    if not isinstance(y, str) and wanted[target] == "numeric":
        numbers = to_table({target: np.asarray(y).ravel()}, kinds={target: "numeric"})[target]
        return Table([*(column for name, column in table.items() if name != target), numbers])
    return with_target(table, y, target)


def as_items(X: Any, person: str | None) -> Any:
    """Baskets with a column of yes and no for every item, in whichever form they come; a table of more stays as it is.

    So the same baskets have the same digests in every form.
    """
    from shoal.audit.rules.transactions import read_transactions

    try:
        return read_transactions(X, () if person is None else (person,))
    except DataError as error:
        if error.code != "not-transactions" or not (hasattr(X, "columns") or isinstance(X, Table | Mapping)):
            raise
        return X


def kinds_of(release: Any) -> dict[str, Kind]:
    """How a release reads each column, its target included."""
    kinds: dict[str, Kind] = dict(release.kinds)
    if isinstance(release, ModelRelease):
        kinds[release.target] = "categorical" if release.cuts is None else "numeric"
    return kinds
