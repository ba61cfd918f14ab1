# SPDX-License-Identifier: Apache-2.0
"""The tables of Tian et al. (2012), Sect. 7, their folds, and how rows are shared out among owners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data import Table, load_hierarchies, read_table
from shoal.data.stack import stack
from shoal.data.table import Kind
from shoal.errors import DataError
from shoal.papers.dmpd_data import KINDS

Rows = NDArray[np.int64]
TARGETS = {"adult": "occupation", "nursery": "class", "car": "class", "cmc": "contraceptive_method"}
# what an attacker may know of Adult, and whole tables are generalised in (the paper does not list it)
ADULT_PUBLIC = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")


@dataclass(frozen=True)
class SharingTable:
    """A table with its target, the columns that are published where tables are, and their hierarchies.

    Attributes
    ----------
    rows
        All complete rows; of Adult those of both parts.
    target
        The private class.
    public
        The columns of Fig. 14 to 16, where whole tables are generalised as well.
    hierarchies
        For methods that need some.
    """

    rows: Table
    target: str
    public: tuple[str, ...]
    hierarchies: Mapping[str, Any]

    def domain(self, columns: Sequence[str]) -> dict[str, list[Any]]:
        """What all owners declare of some columns: the documented values, here those of the whole table."""
        told: dict[str, list[Any]] = {}
        for name in columns:
            column = self.rows[name]
            if column.kind == "categorical":
                told[name] = list(column.names)
            else:
                told[name] = [float(column.numbers.min()), float(column.numbers.max())]
        return told


@cache
def read_sharing(folder: Path, name: str) -> SharingTable:
    """Read one of the tables from the data folder."""
    if name not in TARGETS:
        raise DataError("unknown-option", f"The table must be one of {', '.join(TARGETS)}; got {name!r}.")
    files = ["adult_train.csv.gz", "adult_test.csv.gz"] if name == "adult" else [f"{name}.csv", f"{name}.csv.gz"]
    found = [folder / file for file in files if (folder / file).exists()]
    if not found:
        raise DataError("no-data", f"The data folder has no {files[0]!r}. Point SHOAL_DATA at the benchmark data.")
    target = TARGETS[name]
    kinds: dict[str, Kind] = {target: "categorical", **KINDS.get(name, {})}
    parts = [read_table(file, missing=["?"], kinds=kinds).complete() for file in found]
    rows = parts[0] if len(parts) == 1 else stack(parts[0], parts[1], parts[0].names)
    columns = [column for column in rows.names if column != target]
    rows = rows.select([*columns, target])
    if name != "adult":
        return SharingTable(rows, target, tuple(columns), {})
    hierarchies: dict[str, Any] = dict(load_hierarchies(folder / "hierarchies" / "tds", ADULT_PUBLIC))
    return SharingTable(rows, target, ADULT_PUBLIC, {**hierarchies, "age": {"intervals": [5, 10, 20]}})


def fold(n_rows: int, number: int, *, folds: int = 10, share: float = 1.0) -> tuple[Rows, Rows]:
    """Training and test rows of one fold; with a share below 1 only so many of all rows, the same in each fold."""
    order = np.random.default_rng(0).permutation(n_rows)[: round(n_rows * share)]
    parts = np.array_split(order, folds)
    return np.concatenate(parts[:number] + parts[number + 1 :]), parts[number]


def share_rows(rows: Rows, owners: int, seed: int) -> list[Rows]:
    """Rows handed out to owners at random, evenly."""
    return np.array_split(np.random.default_rng(seed).permutation(rows), owners)
