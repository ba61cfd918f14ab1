# SPDX-License-Identifier: Apache-2.0
"""The public tables that benchmarks share: how to read them, and their folds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sklearn.model_selection import StratifiedKFold

from shoal.data import Table, read_table

# file, class column, columns left out
TABLES = {
    "adult": ("adult_train.csv.gz", "income", []),
    "german": ("german_credit.csv", "class", []),
    "vote": ("house_votes_84.csv", "class", []),
    "wisconsin": ("breast_cancer_wisconsin.csv", "class", ["id"]),
    "heart": ("heart_statlog.csv", "class", []),
    "cmc": ("cmc.csv", "contraceptive_method", []),
    "pima": ("pima_diabetes.csv", "class", []),
    "nursery": ("nursery.csv.gz", "class", []),
    "car": ("car.csv", "class", []),
    "crx": ("crx.csv", "class", []),
}
NUMERIC = {"crx": ["A14"]}  # written with leading zeros, which a reader takes for codes


def read(data: Path, name: str, *, test: bool = False) -> tuple[Table, str]:
    """A table, its class column last, and that column's name; Adult has a test part of its own."""
    file, target, left_out = TABLES[name]
    kinds = {target: "categorical", **dict.fromkeys(NUMERIC.get(name, []), "numeric")}
    table = read_table(data / (file.replace("train", "test") if test else file), missing=["?"], kinds=kinds)
    return table.drop(left_out).select([*(c for c in table.names if c not in (target, *left_out)), target]), target


def folds(table: Table, target: str, n: int, repeats: int) -> Iterator[tuple]:
    """Training and test rows of stratified folds; the seeds are 0, 1, …"""
    codes = table[target].codes
    for seed in range(repeats):
        yield from StratifiedKFold(n, shuffle=True, random_state=seed).split(codes, codes)
