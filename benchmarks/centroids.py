# SPDX-License-Identifier: Apache-2.0
"""Audit of k-means clusters of Adult's numeric columns, beside trying every point of a grid with the model's predict.

The grid is what one would do without the geometry: 50 values for each private column, for every different row of
public values. It is timed on a part of the rows and scaled up. It misses cells that are smaller than its mesh; how
many is printed too.

python benchmarks/centroids.py --data FOLDER [--clusters 20] [--points 2500]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shoal import audit
from shoal.audit.foreign import read_model

PRIVATE = (["fnlwgt"], ["age", "hours-per-week"], ["capital-gain", "hours-per-week"])
PRIVATE += (["age", "hours-per-week", "education-num"],)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--clusters", type=int, default=20)
    parser.add_argument("--points", type=int, default=2_500, help="points of the grid for each row of public values")
    options = parser.parse_args()
    adult = pd.read_csv(options.data / "adult_train.csv.gz", na_values="?").dropna().select_dtypes("number")
    adult = adult.reset_index(drop=True)
    # the same people with numbers that are not whole, so that nothing can be enumerated
    for kind, people in (("whole", adult), ("continuous", adult + 0.5)):
        model = make_pipeline(StandardScaler(), KMeans(options.clusters, n_init=1, random_state=0)).fit(people)
        for private in PRIVATE:
            compare(model, people, private, kind, options.points)


def compare(model, people: pd.DataFrame, private: list[str], kind: str, n_points: int) -> None:
    public = [name for name in people if name not in private]
    start = time.perf_counter()
    verdict = audit(model, people, public=public, privacy=10)
    ours = time.perf_counter() - start
    undecided = sum(finding.people for finding in verdict.findings if finding.code == "finer-groups")

    distinct = people[public].drop_duplicates()
    sample = distinct.sample(min(100, len(distinct)), random_state=0)
    a_side = round(n_points ** (1 / len(private)))
    ends = [(people[name].min(), people[name].max(), people[name].dtype.kind) for name in private]
    sides = [np.linspace(low, high, a_side).round(0 if kind in "iu" else 9) for low, high, kind in ends]
    grid = pd.DataFrame(np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, len(private)), columns=private)
    start = time.perf_counter()
    answers = model.predict(sample.merge(grid, how="cross")[list(people)]).reshape(len(sample), -1)
    found = [set(row) for row in answers]
    theirs = (time.perf_counter() - start) * len(distinct) / len(sample)

    subject, table = read_model(model, people)
    spans = subject.spans(table, public)
    first = {tuple(values): row for row, values in enumerate(people[public].to_numpy())}
    exact = [subject.group_words(table, public, first[tuple(values)])[1] for values in sample.to_numpy()]
    missed = sum(set(ours_) != theirs_ for ours_, theirs_ in zip(exact, found, strict=True))
    wrong = sum(not theirs_ <= set(ours_) for ours_, theirs_ in zip(exact, found, strict=True))
    print(
        f"{kind:>10} {'+'.join(private):<35} {ours:6.2f} s, {len(spans)} groups, {undecided} undecided; "
        f"grid {theirs:7.1f} s, wrong for {missed} of {len(sample)} (ours for {wrong}); ratio {theirs / ours:.0f}"
    )


if __name__ == "__main__":
    main()
