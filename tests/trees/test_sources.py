# SPDX-License-Identifier: Apache-2.0
"""Rows from wherever they are: `y` may be the name of a column of any kind of input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from shoal import AnonymousTreeClassifier, audit, to_table
from shoal.errors import DataError

RNG = np.random.default_rng(5)
N = 400
AGE = RNG.integers(18, 60, N)
SEX = RNG.choice(["f", "m"], N)
RICH = np.where((AGE > 40) ^ (RNG.random(N) < 0.1), "yes", "no")
PEOPLE = {"age": AGE.tolist(), "sex": SEX.tolist(), "rich": RICH.tolist()}


def _inputs(folder: Path) -> dict[str, Any]:
    table = pa.table(PEOPLE)
    pq.write_table(table, folder / "people.parquet")
    feather.write_feather(table, folder / "people.feather")
    pd.DataFrame(PEOPLE).to_csv(folder / "people.csv", index=False)
    parts = folder / "parts"
    parts.mkdir()
    for number, first in enumerate(range(0, N, 150)):
        pq.write_table(table.slice(first, 150), parts / f"{number}.parquet")
    return {
        "dict": PEOPLE,
        "pandas": pd.DataFrame(PEOPLE),
        "polars": pl.DataFrame(PEOPLE),
        "arrow": table,
        "table": to_table(PEOPLE),
        "parquet": folder / "people.parquet",
        "text": str(folder / "people.csv"),
        "feather": folder / "people.feather",
        "folder": str(parts),
    }


def test_the_target_by_name_in_every_kind_of_input(tmp_path: Path) -> None:
    wanted = AnonymousTreeClassifier(privacy=10).fit(pd.DataFrame(PEOPLE)[["age", "sex"]], RICH)
    for kind, given in _inputs(tmp_path).items():
        tree = AnonymousTreeClassifier(privacy=10).fit(given, "rich")
        ours, theirs = tree.release_.to_json(), wanted.release_.to_json()
        theirs["target"] = "rich"
        theirs["attributes"][-1]["name"] = "rich"
        assert ours == theirs, kind
        assert audit(tree, given, "rich").to_json() == audit(tree, given).to_json(), kind
        assert audit(tree, given, "rich").holds, kind
        assert (tree.predict(given) == wanted.predict(PEOPLE)).all(), kind


def test_a_path_is_read_only_where_it_is_needed(tmp_path: Path) -> None:
    people = pa.table({**PEOPLE, "odd": pa.array([[1]] * N)})  # lists cannot be read
    pq.write_table(people, tmp_path / "people.parquet")
    tree = AnonymousTreeClassifier(privacy=10).fit(PEOPLE, "rich")
    assert audit(tree, tmp_path / "people.parquet", "rich").holds


def test_a_string_that_is_no_path_is_not_repeated() -> None:
    with pytest.raises(DataError) as refusal:
        AnonymousTreeClassifier(privacy=10).fit("canary-73519", "rich")
    assert "canary" not in str(refusal.value)
    with pytest.raises(DataError, match=r"no file 'nowhere\.csv'"):
        AnonymousTreeClassifier(privacy=10).fit("nowhere.csv", "rich")
