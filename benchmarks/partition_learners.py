# SPDX-License-Identifier: Apache-2.0
"""What the wrapper of feature-set partitioning costs, beside scikit-learn on the same subsets and folds.

python benchmarks/partition_learners.py --data FOLDER [--only german,adult] [--subsets 40] [--folds 5]

Time is that of the processor, so other work on the machine counts less. The trees of scikit-learn are not C4.5: they
are binary, by entropy, on the codes, and not pruned; they are a measure of speed only. All subsets are random ones.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.naive_bayes import CategoricalNB
from sklearn.tree import DecisionTreeClassifier

from shoal.partition.encoded import Encoded, stratified_folds
from shoal.partition.learners import BayesFolds, C45Folds
from shoal.partition.partitioning import Partitioning
from shoal.partition.wrapper import Wrapper
from tables import read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("SHOAL_DATA"), help="the benchmark data, or SHOAL_DATA"
    )
    parser.add_argument("--only", default="german,adult")
    parser.add_argument("--subsets", type=int, default=40)
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, or set SHOAL_DATA")
    print(
        "| table | rows | features | C4.5, ms | of scikit-learn's tree | Bayes, ms | of CategoricalNB | combine, µs |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name in options.only.split(","):
        table, target = read(options.data, name)
        table = table.complete()
        columns = [column for column_name, column in table.items() if column_name != target]
        data = Encoded.of_columns(columns, table[target])
        rng = np.random.default_rng(0)
        folds = stratified_folds(data.target, options.folds, rng)
        trees, bayes = C45Folds(data, folds), BayesFolds(data, folds)
        trees.out_of_fold((0,))  # compile, or read what was compiled
        for size in (2, 4, 8):
            drawn = [rng.choice(len(columns), size, replace=False) for _ in range(options.subsets)]
            subsets = [tuple(sorted(subset.tolist())) for subset in drawn]
            ours = spent(trees.out_of_fold, subsets)
            tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2)
            theirs = spent(scikit_learn(tree, data, folds), subsets)
            our_bayes = spent(bayes.out_of_fold, subsets)
            their_bayes = spent(scikit_learn(None, data, folds), subsets)
            wrapper = Wrapper(bayes, data.target, data.n_classes, folds)
            some = [Partitioning.of(len(columns), [subset]) for subset in subsets]
            wrapper.accuracies(some)
            combining = spent(lambda one, wrapper=wrapper: wrapper.accuracies([one]), some)
            print(
                f"| {name} | {data.n_rows:,} | {size} | {1e3 * ours:.2f} | {theirs / ours:.1f} × faster "
                f"| {1e3 * our_bayes:.2f} | {their_bayes / our_bayes:.1f} × faster | {1e6 * combining:.0f} |",
                flush=True,
            )


def spent(work: Callable, items: list) -> float:
    """Processor seconds an item."""
    start = time.process_time()
    for item in items:
        work(item)
    return (time.process_time() - start) / len(items)


def scikit_learn(tree, data: Encoded, folds) -> Callable:
    """Out-of-fold probabilities of a tree, or else of CategoricalNB, on the codes themselves."""
    codes = np.ascontiguousarray(data.codes.T)

    def out_of_fold(features: tuple[int, ...]) -> None:
        own = tree or CategoricalNB(min_categories=[int(data.codes[f].max()) + 1 for f in features])
        X = codes[:, features]
        for fold in range(int(folds.max()) + 1):
            test = folds == fold
            own.fit(X[~test], data.target[~test]).predict_proba(X[test])

    return out_of_fold


if __name__ == "__main__":
    main()
