# SPDX-License-Identifier: Apache-2.0
"""How long DMPD, TDS and TDR take on the same rows (Matatov et al., Sect. 5.10, third drawback)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from shoal.anonymize import TopDownRefinement, TopDownSpecialization
from shoal.papers.data import Data
from shoal.papers.dmpd import FOLDS, make_judge
from shoal.papers.dmpd_data import StudyTable, read_study
from shoal.papers.registry import Measured, Parameters, Point, Unit, recipe
from shoal.partition import PartitionedClassifier
from shoal.partition.options import GeneticOptions
from shoal.partition.search import search

LEARNER = "c45"
TOP = 5  # features that are public, as in Table 2
FITS = 20  # of TDS and TDR, which take milliseconds: one would be mostly chance


@recipe("partitioning-seconds")
class PartitioningSeconds:
    """CPU seconds on all rows of German at each k of `levels`, averaged over `runs`; top 5 public, C4.5."""

    sources = (
        "shoal.papers.dmpd",
        "shoal.papers.dmpd_data",
        "shoal.papers.dmpd_published",
        "shoal.papers.recipes.partitioning_seconds",
    )

    def units(self, parameters: Parameters) -> Iterator[Unit]:
        """One search each, and the two others beside it."""
        for run in range(parameters["runs"]):
            for k in parameters["levels"]:
                yield Unit({"k": k, "run": run}, ("german",), weight=2)

    def measure(self, options: Parameters, data: Data) -> Any:
        """Seconds by method, from a table to what is released."""
        german, k, seed = read_study(data.folder, "german"), options["k"], options["run"]
        partition(german, k, seed, generations=2)  # all three load their kernels
        specialize(german, k)
        refine(german, k)
        ways: Mapping[str, tuple[int, Callable[[], object]]] = {
            "DMPD": (1, lambda: partition(german, k, seed, generations=100)),
            "TDS": (FITS, lambda: specialize(german, k)),
            "TDR": (FITS, lambda: refine(german, k)),
        }
        return {name: _seconds(way, times) for name, (times, way) in ways.items()}

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterator[Point]:
        """A series for each method."""
        for k in parameters["levels"]:
            own = [each.result for each in measured if each.options["k"] == k]
            for name in own[0]:
                yield Point(name, k, fmean(result[name] for result in own))


def _seconds(way: Callable[[], object], times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        way()
    return (time.process_time() - start) / times


def partition(study: StudyTable, k: int, seed: int, *, generations: int) -> PartitionedClassifier:
    """The search, with nothing known from other levels, and the models of what it found."""
    public = study.public(TOP)
    judge = make_judge(study, study.rows, public, LEARNER, seed=seed)
    genetic = GeneticOptions(seed=seed, generations=generations)
    best = search(judge, k, options=genetic, level_in_fitness=True).best
    return PartitionedClassifier(
        LEARNER,
        k,
        public=public,
        domain=study.domain,
        partitioning=best.partitioning.named([name for name in study.rows.names if name != study.target]),
        folds=FOLDS,
        unseen="missing",
        random_state=seed,
    ).fit(study.rows, study.target)


def specialize(study: StudyTable, k: int) -> object:
    """The table of TDS."""
    public = study.public(TOP)
    given = {name: study.hierarchies[name] for name in public if name in study.hierarchies}
    method = TopDownSpecialization(k, public=public, domain=study.domain, hierarchies=given)
    return method.fit_transform(study.rows, study.target)


def refine(study: StudyTable, k: int) -> object:
    """The table of TDR."""
    method = TopDownRefinement(k, public=study.public(TOP), domain=study.domain)
    return method.fit_transform(study.rows, study.target)
