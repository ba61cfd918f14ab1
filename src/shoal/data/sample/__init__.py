# SPDX-License-Identifier: Apache-2.0
"""A sample to try things with: an invented clinic, made by a formula, with roles and hierarchies."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.data.frames import to_table
from shoal.data.roles import Roles
from shoal.data.sample.clinic import EDUCATION, OCCUPATION, clinic
from shoal.data.table import Table
from shoal.errors import DataError

__all__ = ["Sample", "load_sample", "write_sample"]

_TOML = """\
[data]
source = "clinic.csv"

[roles]
identifier = ["patient"]
public = ["age", "sex", "zip", "education", "occupation"]
private = ["smoker", "bmi"]
target = "diabetes"

[hierarchies]
age = { intervals = [5, 10, 20, 40] }
zip = { prefix = [3, 2, 1] }
education = "education.csv"
occupation = "occupation.csv"

[domain]
age = [18, 95]
bmi = [10, 60]
smoker = ["current", "former", "no"]

[privacy]
k = 25
"""


@dataclass(frozen=True, eq=False)
class Sample:
    """The sample, ready to use.

    Parameters
    ----------
    table
        5,000 people, 9 columns, nothing missing.
    roles
        Who may know which column.
    hierarchies
        A specification for each public column that has a hierarchy.
    """

    table: Table
    roles: Roles
    hierarchies: dict[str, Any]

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table; ``.to_pandas()`` of it is a data frame."""
        return clinic()

    def to_rows(self) -> list[dict[str, Any]]:
        """The rows as dicts."""
        rows: list[dict[str, Any]] = clinic().to_pylist()
        return rows


def load_sample() -> Sample:
    """The invented clinic.

    Examples
    --------
    >>> sample = load_sample()
    >>> sample.table
    <Table: 5000 rows, 9 columns>
    >>> sample.roles.target, sample.roles.private
    ('diabetes', ('smoker', 'bmi'))
    >>> sample.hierarchies["zip"]
    {'prefix': [3, 2, 1]}
    """
    table = to_table(clinic())
    roles = Roles.resolve(
        table.names, target="diabetes", identifier=["patient"], private=["smoker", "bmi"], sensitive=()
    )
    hierarchies = {
        "age": {"intervals": [5, 10, 20, 40]},
        "zip": {"prefix": [3, 2, 1]},
        "education": copy.deepcopy(EDUCATION),
        "occupation": copy.deepcopy(OCCUPATION),
    }
    return Sample(table, roles, hierarchies)


def write_sample(folder: str | os.PathLike[str]) -> None:
    """Write the clinic, two hierarchies and a ``shoal.toml`` into a folder.

    Parameters
    ----------
    folder
        Made if it is not there. Files that are there are never overwritten.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_sample(folder)
    ...     sorted(os.listdir(folder))
    ['clinic.csv', 'education.csv', 'occupation.csv', 'shoal.toml']
    """
    place = Path(folder)
    files = {
        "clinic.csv": _csv(clinic()),
        "education.csv": _hierarchy(EDUCATION),
        "occupation.csv": _hierarchy(OCCUPATION),
        "shoal.toml": _TOML,
    }
    if place.exists() and not place.is_dir():
        raise DataError("no-folder", f"{str(folder)!r} is no folder.")
    there = [name for name in files if (place / name).exists()]
    if there:
        raise DataError("file-exists", f"{str(folder)!r} already has {', '.join(there)}. Choose another folder.")
    place.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        # "x": not even a file that came in between is overwritten; bytes are the same on every system
        with (place / name).open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)


def _csv(table: pa.Table) -> str:
    """No value has a comma or a quote in it, so none is quoted."""
    columns = [map(str, column.to_pylist()) for column in table.columns]
    lines = [",".join(table.column_names), *map(",".join, zip(*columns, strict=True))]
    return "\n".join(lines) + "\n"


def _hierarchy(tree: dict[str, Any]) -> str:
    """One line a value: the value, its groups from narrow to wide, the root."""
    return "".join(";".join(path) + "\n" for path in _paths(tree, ()))


def _paths(tree: dict[str, Any] | list[str], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(tree, list):
        yield from ((leaf, *above) for leaf in tree)
        return
    for name, below in tree.items():
        yield from _paths(below, (name, *above))
