# SPDX-License-Identifier: Apache-2.0
"""Measures of a table, and the second figure for missing values, timed against the ways that others take.

The peer for measures does what pycanon does, group by group with pandas, on the same rows: it is written out here, and
only on a small table, as its time grows with groups × values. The peer for missing values compares all pairs.

    python benchmarks/measures.py [--rows 1000000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from shoal.audit import AnonymisedTable, audit
from shoal.audit.measures import measure

PUBLIC = ["age", "zip", "sex", "job"]
SENSITIVE = ["ill", "salary"]
FEW = 3_000  # rows that the peers get through in seconds


def people(n: int, missing: float = 0.0) -> pd.DataFrame:
    """A made-up table with groups of some dozens."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {
        "age": rng.integers(4, 17, n) * 5,
        "zip": rng.integers(0, 60, n),
        "sex": rng.integers(0, 2, n),
        "job": rng.integers(0, 15, n),
        "ill": rng.choice([f"ill {i}" for i in range(20)], n),
        "salary": rng.integers(10, 80, n),
    }
    frame = pd.DataFrame(columns)
    for name in PUBLIC:
        frame[name] = frame[name].astype("Int64").mask(rng.random(n) < missing / len(PUBLIC))
    return frame


def group_by_group(frame: pd.DataFrame, column: str) -> tuple[int, float, int, float]:
    """k, alpha, l and basic beta as pycanon finds them: a filter of the rows for every group and value."""
    values = np.unique(frame[column])
    p = np.array([len(frame[frame[column] == value]) / len(frame) for value in values])
    sizes, alphas, kinds, betas = [], [], [], []
    for rows in frame.groupby(PUBLIC).groups.values():
        part = frame.iloc[np.asarray(rows)]
        q = np.array([len(part[part[column] == value]) / len(part) for value in values])
        sizes.append(len(part))
        alphas.append(q.max())
        kinds.append(len(np.unique(part[column])))
        betas.append(((q - p) / p).max())
    return min(sizes), max(alphas), min(kinds), max(betas)


def all_pairs(frame: pd.DataFrame) -> int:
    """The smallest number of people that anybody could match."""
    cells = frame[PUBLIC].to_numpy(dtype=np.float64, na_value=np.nan)
    smallest = len(cells)
    for row in cells:
        smallest = min(smallest, int(((cells == row) | np.isnan(cells) | np.isnan(row)).all(axis=1).sum()))
    return smallest


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came out."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    whole = AnonymisedTable(people(rows))
    seconds, verdict = timed(lambda: audit(whole, privacy=5, public=PUBLIC, sensitive=SENSITIVE))
    print(f"audit of {rows:,} rows in {verdict.n_groups:,} groups, {len(SENSITIVE)} sensitive columns: {seconds:.2f} s")

    few = people(min(rows, FEW))
    groups = audit(AnonymisedTable(few), privacy=5, public=PUBLIC, sensitive=SENSITIVE).groups
    table = AnonymisedTable(few).table
    slow, theirs = timed(lambda: group_by_group(few, "ill"))
    fast, ours = timed(lambda: measure(groups, table["ill"]))
    assert np.allclose(theirs, (ours.k, ours.alpha, ours.distinct_l, ours.basic_beta))
    print(
        f"measures of {len(few):,} rows, {len(groups):,} groups: {fast:.4f} s for all ten; "
        f"group by group {slow:.2f} s for four: ratio {slow / fast:,.0f}"
    )

    gaps = people(min(rows, FEW), missing=0.2)
    slow, pairs = timed(lambda: all_pairs(gaps))
    fast, verdict = timed(lambda: audit(AnonymisedTable(gaps), privacy=5, public=PUBLIC, sensitive=["ill"]))
    assert verdict.missing.smallest == pairs
    print(f"missing values of {len(gaps):,} rows: audit {fast:.2f} s, all pairs {slow:.2f} s: ratio {slow / fast:.0f}")
    gaps = people(rows, missing=0.2)
    fast, verdict = timed(lambda: audit(AnonymisedTable(gaps), privacy=5, public=PUBLIC, sensitive=["ill"]))
    print(f"missing values of {rows:,} rows: whole audit {fast:.2f} s; {verdict.missing}")


if __name__ == "__main__":
    main()
