# SPDX-License-Identifier: Apache-2.0
"""The audit of large released tables against their rows, timed: disjoint groups, and groups that overlap.

Disjoint groups are the leaves of a random tree of median cuts, as strict Mondrian makes them; overlapping ones are the
bounding boxes of neighbours on a Z-order curve, as One-Dimensional methods make them. The release and the rows are made
up here, so nothing but the audit, the two files and memory is measured.

    python benchmarks/table_audit.py [--rows 1000000] [--columns 8] [--k 14]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shoal import audit, load
from shoal.data.table import Column, Table, smallest_dtype
from shoal.release import Attribute, Interval, TableRelease
from shoal.release.generalised import Generalised

Ids = NDArray[np.int64]
SIZES = (2, 5, 7, 9, 16, 41, 15, 74, 100, 50, 1000, 20_000, 90, 60)  # values of each column


def people(n: int, n_columns: int) -> Ids:
    """Public values, some of them rare."""
    rng = np.random.default_rng(0)
    columns = [rng.choice(size, n, p=rng.dirichlet(np.full(size, 0.7))) for size in SIZES[:n_columns]]
    return np.column_stack(columns).astype(np.int64)


def tree_boxes(values: Ids, k: int) -> tuple[Ids, Ids, Ids]:
    """The first and last value of each group in each column, and the group of each row; the groups are disjoint."""
    rng = np.random.default_rng(1)
    lows, highs, group = [], [], np.empty(len(values), dtype=np.int64)
    width = np.ptp(values, axis=0) + 1
    stack = [(np.arange(len(values)), values.min(axis=0), values.max(axis=0))]
    while stack:
        rows, low, high = stack.pop()
        for column in np.argsort(-(high - low) / width * rng.uniform(0.5, 1.5, len(width))):
            cut = int(np.median(values[rows, column])) if len(rows) >= 2 * k else 0
            left = values[rows, column] <= cut
            if k <= left.sum() <= len(rows) - k:
                up_to, above = high.copy(), low.copy()
                up_to[column], above[column] = cut, cut + 1
                stack += [(rows[left], low, up_to), (rows[~left], above, high)]
                break
        else:
            group[rows] = len(lows)
            lows.append(low)
            highs.append(high)
    return np.array(lows), np.array(highs), group


def curve_boxes(values: Ids, k: int) -> tuple[Ids, Ids, Ids]:
    """The same for k neighbours each on a Z-order curve; the groups overlap."""
    scaled = values * 1024 // (values.max(axis=0) + 1)
    digits = [((scaled >> bit) & 1) @ (1 << np.arange(values.shape[1])) for bit in range(10)]
    order = np.lexsort(digits)
    starts = np.arange(0, len(values) - k + 1, k)
    group = np.empty(len(values), dtype=np.int64)
    group[order] = np.minimum(np.arange(len(values)) // k, len(starts) - 1)
    return np.minimum.reduceat(values[order], starts), np.maximum.reduceat(values[order], starts), group


def published(values: Ids, low: Ids, high: Ids, group: Ids) -> tuple[TableRelease, Table]:
    """The release of some groups, and the rows it was made from."""
    rng = np.random.default_rng(2)
    rows, original, attributes, generalised = [], [], [], {}
    for i in range(values.shape[1]):
        name, last = f"q{i}", int(values[:, i].max())
        pairs, code = np.unique(np.column_stack([low[:, i], high[:, i]]), axis=0, return_inverse=True)
        generalised[name] = tuple(
            Generalised("*")
            if (a, b) == (0, last)
            else Generalised(f"{a}-{b}", intervals=(Interval(a - 1 if a else None, b if b < last else None),))
            for a, b in pairs.tolist()
        )
        labels = tuple(value.label for value in generalised[name])
        attributes.append(Attribute(name, "public", "numeric", bounds=(0, last), integer=True))
        rows.append(Column(name, "categorical", code.reshape(-1)[group].astype(smallest_dtype(len(labels))), labels))
        numbers, codes = np.unique(values[:, i], return_inverse=True)
        codes = codes.reshape(-1).astype(smallest_dtype(len(numbers)))
        original.append(Column(name, "numeric", codes, numbers.astype(np.float64), integer=True, bounds=(0, last)))
    ill = Column("ill", "categorical", rng.integers(0, 10, len(values)).astype(np.uint8), tuple(map(str, range(10))))
    attributes.append(Attribute("ill", "private", "categorical", values=ill.names))
    claims = ({"requirement": "k-anonymity", "k": int(np.bincount(group).min())},)
    table = Table([*rows, ill]).take(rng.permutation(len(values)))
    return TableRelease("ill", tuple(attributes), claims, table, generalised), Table([*original, ill])


def main() -> None:
    """Time both kinds of groups."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--k", type=int, default=14)
    given = parser.parse_args()
    small = people(1000, given.columns)
    audit(*published(small, *tree_boxes(small, given.k)))  # what is compiled, is compiled now
    values = people(given.rows, given.columns)
    for what, boxes in (("disjoint", tree_boxes), ("overlapping", curve_boxes)):
        release, rows = published(values, *boxes(values, given.k))
        start = time.process_time()
        verdict = audit(release, rows)
        took = time.process_time() - start
        codes = ", ".join(finding.code for finding in verdict.findings)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{what}: {given.rows:,} rows, {given.columns} columns, {verdict.n_groups:,} groups")
        print(f"  audit {took:.2f} s of CPU, {memory:,.0f} MB; {'holds' if verdict.holds else 'fails'} ({codes})")
        with tempfile.TemporaryDirectory() as folder:
            path, start = Path(folder) / "table.json", time.process_time()
            release.with_audit(verdict).save(path)
            saved = time.process_time()
            load(path)
            print(f"  save {saved - start:.2f} s, load {time.process_time() - saved:.2f} s")


if __name__ == "__main__":
    main()
