# SPDX-License-Identifier: Apache-2.0
"""A table of any size to measure with: 8 categorical and 6 numeric columns and a class that depends on them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

CATEGORICAL = {"sex": 2, "region": 16, "education": 8, "job": 30, "sector": 12, "family": 6, "housing": 5, "origin": 40}
NUMERIC = ("age", "income", "hours", "debt", "visits", "score")
TARGET = "default"


def people(n_rows: int, seed: int = 0) -> pa.Table:
    """`n_rows` people, the same for the same seed."""
    rng = np.random.default_rng(seed)
    columns: dict[str, pa.Array] = {}
    codes = {}
    for name, n_values in CATEGORICAL.items():
        weights = rng.dirichlet(np.full(n_values, 2.0))
        codes[name] = rng.choice(n_values, n_rows, p=weights).astype(np.int8)
        labels = pa.array([f"{name}-{i:02d}" for i in range(n_values)])
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes[name]), labels).cast(pa.string())
    numbers = {
        "age": rng.integers(18, 90, n_rows).astype(float),
        "income": np.round(rng.lognormal(10, 0.6, n_rows), 0),
        "hours": np.clip(np.round(rng.normal(38, 10, n_rows)), 0, 90),
        "debt": np.round(rng.exponential(5000, n_rows), 2),
        "visits": rng.poisson(3, n_rows).astype(float),
        "score": rng.normal(0, 1, n_rows),
    }
    for name in NUMERIC:
        columns[name] = pa.array(numbers[name])
    risk = (
        0.8 * (numbers["debt"] / numbers["income"] > 0.25)
        + 0.6 * (numbers["age"] < 30)
        + 0.5 * np.isin(codes["job"], [3, 5, 8, 13]) * (numbers["hours"] < 35)
        + 0.4 * np.abs(numbers["score"])
        + 0.3 * (codes["region"] % 3)
        - 0.5 * (codes["education"] > 4)
        + 0.2 * (codes["sex"] ^ (codes["family"] > 2))
        + rng.normal(0, 0.6, n_rows)
    )
    columns[TARGET] = pa.array(np.where(risk > 1.0, "yes", "no"))
    return pa.table(columns)
