# SPDX-License-Identifier: Apache-2.0
"""Adult as VLDB'08 Sect. 6 uses it: Table 6 and the thirteen k of Fig. 6, timed beside scikit-learn."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from shoal.audit import audit
from shoal.data import Hierarchy, Roles, Table, load_hierarchies, read_table
from shoal.errors import DataError
from shoal.privacy import KAnonymity
from shoal.release import TreeRelease
from shoal.trees.mine import grow, mine_tree, prepare

CATEGORICAL = (
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
)
TARGET = "income"
FIGURE_6 = (10, 25, 50, 75, 100, 150, 200, 250, 500, 750, 1000, 1500, 2000)
REPEATS = 5  # timings are the best of these


@dataclass(frozen=True)
class Adult:
    """The complete rows of Adult and the taxonomies for its categorical columns."""

    train: Table
    test: Table
    hierarchies: dict[str, Hierarchy]

    @classmethod
    def read(cls, folder: Path) -> Adult:
        """Read the data folder; rows with missing values are dropped, as in the paper."""
        for name in ("adult_train.csv.gz", "adult_test.csv.gz", "hierarchies/tds"):
            if not (folder / name).exists():
                raise DataError("no-data", f"The data folder has no {name!r}. Point SHOAL_DATA at the benchmark data.")
        train, test = (read_table(folder / f"adult_{part}.csv.gz").complete() for part in ("train", "test"))
        return cls(train, test, load_hierarchies(folder / "hierarchies" / "tds", train.names))

    def mine(self, columns: Sequence[str], k: int) -> TreeRelease:
        """The k-anonymous ID3 tree of some columns, all public, with income private."""
        table, roles, hierarchies = self.setting(columns)
        return mine_tree(table, roles, KAnonymity(k), hierarchies=hierarchies)

    def setting(self, columns: Sequence[str]) -> tuple[Table, Roles, dict[str, Hierarchy]]:
        """The training rows of some columns, their roles and taxonomies."""
        table = self.train.select([*columns, TARGET])
        return table, Roles.resolve(table.names, target=TARGET), {name: self.hierarchies[name] for name in columns}

    def error(self, release: TreeRelease) -> float:
        """The share of test rows that a tree gets wrong."""
        truth = np.array(self.test[TARGET].names)[self.test[TARGET].codes]
        return float((release.predict(self.test, unknown="ancestor") != truth).mean())


def classification_metric(release: TreeRelease) -> int:
    """People outside the majority class of their leaf (with income the only private column, of their group)."""
    counts = release.counts[list(release.leaves)]
    return int((counts.sum(axis=1) - counts.max(axis=1)).sum())


def bench_adult(data: Path, ks: Sequence[int] = FIGURE_6) -> list[dict[str, Any]]:
    """Fig. 6 with eight columns: error, leaves, smallest group, exposed share and seconds, every tree audited.

    `seconds` is the growing of the tree from codes, `sklearn_seconds` the fit of scikit-learn's tree with
    ``min_samples_leaf=k`` on the same codes, `ratio` the second over the first, `fit_seconds` the whole of it with
    publishing and audit.
    """
    adult = Adult.read(data)
    codes = np.stack([adult.train[name].codes for name in CATEGORICAL], axis=1).astype(np.float32)
    target = adult.train[TARGET].codes
    table, roles, hierarchies = adult.setting(CATEGORICAL)
    adult.mine(CATEGORICAL, ks[0])  # compiles the kernels
    rows = []
    for k in ks:
        requirement = KAnonymity(k)
        growing = [_grow_seconds(table, roles, requirement, hierarchies) for _ in range(REPEATS)]
        peer = [_peer_seconds(codes, target, k) for _ in range(REPEATS)]
        start = time.perf_counter()
        release = adult.mine(CATEGORICAL, k)
        fit_seconds = time.perf_counter() - start
        verdict = audit(release, table)
        rows.append(
            {
                "k": k,
                "error": adult.error(release),
                "leaves": int((release.counts[list(release.leaves)].sum(axis=1) > 0).sum()),
                "smallest_group": verdict.smallest_group,
                "exposed_share": verdict.exposed_share,
                "holds": verdict.holds,
                "seconds": min(growing),
                "sklearn_seconds": min(peer),
                "ratio": min(peer) / min(growing),
                "fit_seconds": fit_seconds,
            }
        )
    return rows


def _grow_seconds(table: Table, roles: Roles, requirement: KAnonymity, hierarchies: dict[str, Hierarchy]) -> float:
    task = prepare(table, roles, requirement, domain=None, hierarchies=hierarchies)
    start = time.perf_counter()
    grow(task)
    return time.perf_counter() - start


def _peer_seconds(codes: NDArray[np.float32], target: NDArray[Any], k: int) -> float:
    tree = DecisionTreeClassifier(min_samples_leaf=k, random_state=0)
    start = time.perf_counter()
    tree.fit(codes, target)
    return time.perf_counter() - start
