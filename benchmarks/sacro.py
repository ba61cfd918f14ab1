# SPDX-License-Identifier: Apache-2.0
"""Shoal's audit beside the structural attack of SACRO-ML, on the same models in the same run.

Needs `sacroml` in the environment (it brings PyTorch, so it is no dependency of ours) and, for the forests, the data
folder SHOAL_DATA. Run: python benchmarks/sacro.py
"""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from shoal import audit

K = 10  # SACRO-ML's own default


def structural(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """The size of each record's class by SACRO-ML, and the seconds it took."""
    from sacroml.attacks.structural_attack import StructuralAttack
    from sacroml.attacks.target import Target

    logging.disable(logging.CRITICAL)
    attack = StructuralAttack(write_report=False, report_individual=True)
    assert attack.THRESHOLD == K
    start = time.perf_counter()
    attack.attack(Target(model=model, X_train=X, y_train=y, X_test=X[:1000], y_test=y[:1000]))
    return np.array(attack.record_level_results.k_anonymity), time.perf_counter() - start


def beside(name: str, model: Any, frame: pd.DataFrame, y: np.ndarray, public: list[str] | None = None) -> None:
    """Print what both say of a model."""
    X = frame.to_numpy(np.float64)
    model.fit(X, y)
    theirs, their_time = structural(model, X, y)
    start = time.perf_counter()
    ours = audit(model, dict(zip((f"x{i}" for i in range(X.shape[1])), X.T, strict=True)), y, privacy=K, public=public)
    our_time = time.perf_counter() - start
    print(f"{name}: {len(y):,} people")
    print(f"  SACRO-ML  {_told(theirs)}   {their_time:.1f} s")
    print(f"  Shoal     {_told(ours.size_of_row)}   {our_time:.1f} s, {their_time / our_time:.1f} times as fast")


def _told(sizes: np.ndarray) -> str:
    return f"smallest {sizes.min():>6,}   alone {(sizes == 1).sum():>7,}   below {K} {(sizes < K).sum():>7,}"


def adult() -> tuple[pd.DataFrame, np.ndarray]:
    """The complete rows of Adult, one-hot, and whether income is above 50K."""
    rows = pd.read_csv(Path(os.environ["SHOAL_DATA"]) / "adult_train.csv.gz", na_values="?", skipinitialspace=True)
    rows = rows.dropna()
    target = rows.columns[-1]
    return pd.get_dummies(rows.drop(columns=target)), rows[target].str.startswith(">").to_numpy().astype(int)


def hidden_breach() -> None:
    """Two leaves with the same answer, one of them with three people: equal answers hide them, their span does not."""
    zips = np.repeat([1, 2], [3, 40])
    income = np.concatenate([[95, 95, 20], np.tile([20, 95], 20)])
    ill = np.concatenate([[1, 1, 0], np.tile([1, 0], 20)])
    frame = pd.DataFrame({"zip": zips, "income": income})
    forest = RandomForestClassifier(1, bootstrap=False, max_features=None, random_state=0)
    beside("zip public, income private", forest, frame, ill, public=["x0"])


def no_breach() -> None:
    """Leaves of few people that only a private column makes: an outsider cannot tell who is in them."""
    income = np.repeat([20, 50, 95], [45, 42, 3])
    ill = np.concatenate([np.zeros(45), np.ones(42), [1, 0, 0]]).astype(int)
    frame = pd.DataFrame({"zip": np.tile([1, 2], 45), "income": income})
    forest = RandomForestClassifier(1, bootstrap=False, max_features=None, random_state=0)
    beside("income private", forest, frame, ill, public=["x0"])


def main() -> None:
    """Print all comparisons."""
    try:
        import sacroml  # noqa: F401
    except ImportError:
        sys.exit("This benchmark needs sacroml. Install it into an environment of its own, with Shoal.")
    hidden_breach()
    no_breach()
    frame, y = adult()
    beside("Adult, random forest of 100 trees", RandomForestClassifier(100, random_state=0, n_jobs=2), frame, y)
    careful = RandomForestClassifier(100, min_samples_leaf=50, random_state=0, n_jobs=2)
    beside("the same with min_samples_leaf=50", careful, frame, y)


if __name__ == "__main__":
    main()
