# SPDX-License-Identifier: Apache-2.0
"""From data frame to audited tree, beside scikit-learn's tree on the ready matrix, in one run; then with two of the
fourteen columns private.

python benchmarks/trees.py [--rows 1000000] [-k 100]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pyarrow.compute as pc
from sklearn.tree import DecisionTreeClassifier

from people import CATEGORICAL, NUMERIC, TARGET, people
from shoal import AnonymousTreeClassifier, audit, to_table

PRIVATE = ("income", "debt")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("-k", type=int, default=100)
    options = parser.parse_args()
    AnonymousTreeClassifier(privacy=options.k).fit(people(220_000), TARGET)  # compiles the kernels
    everybody = people(options.rows + options.rows // 5)
    train, test = everybody.slice(0, options.rows), everybody.slice(options.rows)
    frame = train.to_pandas()

    start = time.perf_counter()
    tree = AnonymousTreeClassifier(privacy=options.k, unknown="ancestor").fit(frame, TARGET)
    ours = time.perf_counter() - start
    table = to_table(train)
    start = time.perf_counter()
    verdict = audit(tree, table)
    auditing = time.perf_counter() - start

    matrix, truth = as_matrix(train), train[TARGET].to_numpy(zero_copy_only=False)
    start = time.perf_counter()
    peer = DecisionTreeClassifier(min_samples_leaf=options.k, random_state=0).fit(matrix, truth)
    theirs = time.perf_counter() - start

    expected = test[TARGET].to_numpy(zero_copy_only=False)
    error = float((tree.predict(test) != expected).mean())
    peer_error = float((peer.predict(as_matrix(test)) != expected).mean())
    print(f"{options.rows:,} rows, k = {options.k}; {verdict}")
    print(f"Shoal, data frame to audited tree: {ours:.2f} s, {len(tree.release_.leaves)} leaves, error {error:.2%}")
    print(f"  the audit alone: {auditing:.2f} s")
    print(f"scikit-learn, ready matrix:        {theirs:.2f} s, {peer.get_n_leaves()} leaves, error {peer_error:.2%}")
    print(f"ratio {theirs / ours:.1f}")

    public = [name for name in (*CATEGORICAL, *NUMERIC) if name not in PRIVATE]
    AnonymousTreeClassifier(privacy=options.k, public=public).fit(people(220_000), TARGET)  # compiles the rest
    start = time.perf_counter()
    hidden = AnonymousTreeClassifier(privacy=options.k, public=public, unknown="ancestor").fit(frame, TARGET)
    private = time.perf_counter() - start
    error = float((hidden.predict(test) != expected).mean())
    print(f"Shoal, {' and '.join(PRIVATE)} private: {private:.2f} s, error {error:.2%}")
    print(f"ratio to all public {private / ours:.1f}")


def as_matrix(table):
    """What scikit-learn takes: numbers, categories as ordinals."""
    columns = [pc.cast(pc.utf8_slice_codeunits(table[name], -2), "int32").to_numpy() for name in CATEGORICAL]
    columns += [table[name].to_numpy() for name in NUMERIC]
    return np.stack(columns, axis=1).astype(np.float32)


if __name__ == "__main__":
    main()
