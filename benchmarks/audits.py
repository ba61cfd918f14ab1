# SPDX-License-Identifier: Apache-2.0
"""Audits of scikit-learn's trees and forests on Adult, beside a pandas groupby of the leaves that each row is in.

python benchmarks/audits.py DATA
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from shoal import audit

PRIVATE = ["capital-gain", "education-num", "fnlwgt"]
EIGHT = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    adult = pd.read_csv(parser.parse_args().data / "adult_train.csv.gz", na_values="?", skipinitialspace=True).dropna()
    X, y = adult.drop(columns="income"), adult["income"]
    known = [name for name in X if name not in PRIVATE]
    audit(fit(RandomForestClassifier(2), X, y), X, y, public=known, privacy=10)  # compiles the walks
    audit(fit(RandomForestClassifier(2), X, y), X, y, privacy=10)
    print(f"Adult, {len(X):,} rows, {X.shape[1]} columns; private where said: {', '.join(PRIVATE)}")

    tree = fit(DecisionTreeClassifier(random_state=0), X, y)
    forest = fit(RandomForestClassifier(100, n_jobs=-1, random_state=0), X, y)
    boosting = fit(HistGradientBoostingClassifier(random_state=0), X, y)
    for name, model in (("tree of any depth", tree), ("forest of 100", forest), ("histogram boosting", boosting)):
        theirs = None if model is boosting else group_leaves(model, X)
        show(f"{name}, all public", model, X, y, None, theirs)
        show(f"{name}, 3 private", model, X, y, known, theirs)

    encode = ColumnTransformer([("c", OneHotEncoder(), EIGHT[1:])], remainder="passthrough")
    usual = make_pipeline(encode, DecisionTreeClassifier(min_samples_leaf=10, random_state=0)).fit(X[EIGHT], y)
    found = show("min_samples_leaf=10, 8 columns, all public", usual, X[EIGHT], y, None, group_leaves(usual, X[EIGHT]))
    print(f"  {found.exposed:,} of {found.n_people:,} incomes known for certain")
    print(f"most memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")


def fit(model, X: pd.DataFrame, y: pd.Series) -> Pipeline:
    """The model on ordinal codes of the words."""
    words = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    return make_pipeline(ColumnTransformer([("c", OrdinalEncoder(), words)], remainder="passthrough"), model).fit(X, y)


def group_leaves(model: Pipeline, X: pd.DataFrame) -> tuple[float, int]:
    """Seconds of `apply` and a groupby of its leaves, and how many groups there are: only where all is public."""
    start = time.perf_counter()
    leaves = pd.DataFrame(np.reshape(model[-1].apply(model[:-1].transform(X)), (len(X), -1)))
    n_groups = leaves.groupby(list(leaves)).ngroups
    return time.perf_counter() - start, n_groups


def show(name: str, model: Pipeline, X: pd.DataFrame, y: pd.Series, public, theirs):
    start = time.perf_counter()
    found = audit(model, X, y, public=public, privacy=10)
    ours = time.perf_counter() - start
    sizes = f"{found.n_groups:,} groups, smallest {found.smallest_group}"
    peer = ""
    if theirs is not None:
        peer = f"; apply and groupby {theirs[0]:.2f} s, ratio {ours / theirs[0]:.1f}"
        assert public is not None or theirs[1] == found.n_groups
    print(f"{name}: {ours:.2f} s, {sizes}{peer}")
    return found


if __name__ == "__main__":
    main()
