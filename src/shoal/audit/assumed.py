# SPDX-License-Identifier: Apache-2.0
"""The domain of columns of which nobody declared one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from shoal.data.domain import check_bounds, declare_values
from shoal.data.table import Column, Table
from shoal.errors import DataError, closest
from shoal.release import Attribute


def stated_domain(table: Table, names: Sequence[str], domain: Mapping[str, Any] | None) -> dict[str, Attribute]:
    """What an attacker is taken to know of some columns: what is declared, else the values and ranges of the rows.

    Nothing of it is published or shown, so the range of a private column may be taken from the rows here.
    """
    domain = {} if domain is None else dict(domain)
    for name in domain:
        if name not in table:
            raise DataError("no-column", f"domain: no column {name!r}.{closest(name, table)}")
    stated = {}
    for name in names:
        column, declared = table[name], domain.get(name)
        if column.kind == "categorical":
            if declared is not None:
                column = declare_values(column, tuple(map(str, declared)))
        else:
            column = _bounded(column, declared)
        stated[name] = Attribute.of(column, "private")
    return stated


def _bounded(column: Column, declared: Any) -> Column:
    if declared is not None:
        return replace(column, bounds=check_bounds(column, declared))
    if not len(column.numbers):
        raise DataError("empty-column", f"Column {column.name!r} has no value at all. Drop it.")
    return replace(column, bounds=(float(column.numbers[0]), float(column.numbers[-1])))
