# SPDX-License-Identifier: Apache-2.0
"""What repairing scikit-learn's trees and forests on Adult costs, beside the tree that is mined for the same k.

Run: SHOAL_DATA=... python benchmarks/repair.py
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from shoal import AnonymousTreeClassifier
from shoal.repair import repair

K = 50
HIDDEN = ("capital-gain", "capital-loss", "hours-per-week")
DOMAIN = {"capital-gain": [0, 100_000], "capital-loss": [0, 5_000], "hours-per-week": [0, 100]}


def rows(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """The complete rows of one of Adult's files, and their income."""
    folder = Path(os.environ["SHOAL_DATA"])
    found = pd.read_csv(folder / f"adult_{name}.csv.gz", na_values="?", skipinitialspace=True).dropna()
    target = found.columns[-1]
    return found.drop(columns=target), found[target].str.strip(" .")


def main() -> None:
    """Print a line for each model and attacker."""
    (X, y), test = rows("train"), rows("test")
    words = list(X.select_dtypes(exclude="number").columns)
    one_hot = OneHotEncoder(handle_unknown="ignore")
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)

    def pipe(encoder: Any, model: Any) -> Any:
        return make_pipeline(make_column_transformer((encoder, words), remainder="passthrough"), model)

    models = {
        "tree, one-hot": pipe(one_hot, DecisionTreeClassifier(random_state=0)),
        "tree, ordinal codes": pipe(codes, DecisionTreeClassifier(random_state=0)),
        "tree, min_samples_leaf=10, one-hot": pipe(
            one_hot, DecisionTreeClassifier(min_samples_leaf=10, random_state=0)
        ),
        "forest of 100 trees, one-hot": pipe(one_hot, RandomForestClassifier(100, random_state=0, n_jobs=2)),
    }
    attackers = {"all public": list(X.columns), "three private": [name for name in X.columns if name not in HIDDEN]}
    for who, public in attackers.items():
        mined = AnonymousTreeClassifier(privacy=K, public=public, domain=DOMAIN).fit(X.assign(income=y), "income")
        best = float((mined.release_.predict(test[0], unknown="ancestor") == test[1].to_numpy()).mean())
        print(f"{who}, k = {K}: the tree we mine has {best:.2%} on the test rows")
        for name, model in models.items():
            start = time.perf_counter()
            model.fit(X, y)
            learned = time.perf_counter() - start
            start = time.perf_counter()
            done = repair(model, X, y, privacy=K, public=public, domain=DOMAIN, test=test)
            seconds = time.perf_counter() - start
            assert done.test_accuracy is not None
            before, after = done.test_accuracy
            print(
                f"  {name}: {before:.2%} before, {after:.2%} repaired ({100 * (best - after):+.2f} points lost against "
                f"ours), {done.leaves[0]:,} to {done.leaves[1]:,} leaves, {done.trees[1]} tree(s); {seconds:.1f} s, "
                f"{seconds / learned:.1f} times the fit"
            )


if __name__ == "__main__":
    main()
