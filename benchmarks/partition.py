# SPDX-License-Identifier: Apache-2.0
"""How long a search for a partitioning takes: German, its Table 2 expansion, and Adult; beside the paper's minutes.

python benchmarks/partition.py --data FOLDER [--factors 1 5 10 15 20] [--adult] [--sample 30]

C4.5, 50 × 100 partitionings, from an encoded table to an audited release. Wall and CPU seconds: on a busy machine only
the latter tell. Kernels are compiled before. The peer is scikit-learn's DecisionTreeClassifier in the place of our
kernel, timed on a sample of the subsets that the search learned: once for each subset that is new (with our cache), and
once for each subset of each partitioning (as a wrapper without a cache has it).
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from shoal import PartitionedClassifier, Table
from shoal.papers.dmpd import FOLDS, make_judge
from shoal.papers.dmpd_data import StudyTable, read_study
from shoal.papers.dmpd_published import TABLE_2
from shoal.papers.recipes.partitioning_search import expand
from shoal.partition.encoded import stratified_folds
from shoal.partition.learners import EstimatorFolds, FoldLearner
from shoal.partition.partitioning import Partitioning, features_of
from shoal.partition.search import search


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("SHOAL_DATA"), help="the benchmark data, or SHOAL_DATA"
    )
    parser.add_argument("--factors", type=int, nargs="*", default=[1, 5, 10, 15, 20])
    parser.add_argument("--adult", action="store_true")
    parser.add_argument("--sample", type=int, default=30, help="subsets that the peer learns; 0: none")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, or set SHOAL_DATA")
    german = read_study(Path(options.data), "german")
    fit(german, german.rows, 5, 10, generations=2)  # loads the kernels
    found = []
    print("| rows | seconds | CPU seconds | paper, minutes | scikit-learn, CPU seconds | without a cache | PartAL |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for factor in options.factors:
        rows = expand(german.rows, factor, seed=factor)
        found.append(one(german, rows, 5, 10, options.sample, TABLE_2.get(rows.n_rows)))
    if len(found) > 1:
        sizes, seconds = np.log(np.array(found)).T
        print(f"\nCPU seconds grow with the rows to the power of {np.polyfit(sizes, seconds, 1)[0]:.2f}\n")
    if options.adult:
        adult = read_study(Path(options.data), "adult-train")
        one(adult, adult.rows, 9, 50, options.sample, None)


def one(study: StudyTable, rows: Table, top: int, k: int, sample: int, minutes: float | None) -> tuple[int, float]:
    """Time one table and print its line."""
    wall, cpu = time.perf_counter(), time.process_time()
    model = fit(study, rows, top, k)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peer = peer_seconds(study, rows, top, k, sample) if sample else None
    shown = "".join(f"| {each:,.0f} ({each / cpu:.0f} times) " for each in peer) if peer else "| | "
    print(f"| {rows.n_rows:,} | {wall:.1f} | {cpu:.1f} | {minutes or ''} {shown}| {model.level_} |", flush=True)
    return rows.n_rows, cpu


def fit(study: StudyTable, rows: Table, top: int, k: int, generations: int = 100) -> PartitionedClassifier:
    model = PartitionedClassifier(
        "c45", k, public=study.public(top), domain=study.domain, generations=generations, random_state=0
    )
    return model.fit(rows, study.target)


@dataclass
class Counting:
    """A judge that notes what it was asked."""

    judge: object

    def __post_init__(self) -> None:
        self.n, self.level, self.partial = self.judge.n, self.judge.level, self.judge.partial
        self.asked: list[int] = []

    def accuracies(self, partitionings: list[Partitioning]) -> np.ndarray:
        self.asked += [mask for each in partitionings for mask in each.subsets]
        return self.judge.accuracies(partitionings)


def peer_seconds(study: StudyTable, rows: Table, top: int, k: int, sample: int) -> tuple[float, float]:
    """CPU seconds that scikit-learn would take for the subsets of the same search: each once, and every time."""
    judge = make_judge(study, rows, study.public(top), "c45", seed=0)
    counting = Counting(judge)
    search(counting, k)
    masks = sorted(set(counting.asked))
    drawn = np.random.default_rng(0).choice(len(masks), min(sample, len(masks)), replace=False)
    folds = stratified_folds(judge.data.target, FOLDS, np.random.default_rng(0))
    peer: FoldLearner = EstimatorFolds(DecisionTreeClassifier(min_samples_leaf=2), judge.data, folds)
    start = time.process_time()
    for number in drawn:
        peer.out_of_fold(features_of(masks[number]))
    each = (time.process_time() - start) / len(drawn)
    return each * len(masks), each * len(counting.asked)


if __name__ == "__main__":
    main()
