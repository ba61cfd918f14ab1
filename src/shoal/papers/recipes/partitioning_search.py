# SPDX-License-Identifier: Apache-2.0
"""The search for partitionings: its time, its settings and its frontiers (Matatov et al., Table 2, Fig. 10 to 12)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from shoal.data import Table
from shoal.data.table import Column
from shoal.evaluate import combined_f_test
from shoal.papers.data import Data
from shoal.papers.dmpd import make_judge
from shoal.papers.dmpd_data import read_study
from shoal.papers.recipes.partitioning import NAMES, tables_of
from shoal.papers.registry import Measured, Parameters, Point, Unit, recipe
from shoal.partition import PartitionedClassifier
from shoal.partition.options import GeneticOptions
from shoal.partition.pareto import Corner, attainment_surfaces, frontier
from shoal.partition.search import search

SOURCES = (
    "shoal.papers.dmpd",
    "shoal.papers.dmpd_data",
    "shoal.papers.dmpd_published",
    "shoal.papers.recipes.partitioning",
    "shoal.papers.recipes.partitioning_search",
)
P_VALUE = "5 × 2 cv F test against 50 × 100: p"


def expand(rows: Table, factor: int, seed: int) -> Table:
    """With every row `factor` − 1 more, whose values are drawn from the domain of each column, evenly."""
    generator = np.random.default_rng(seed)
    n = rows.n_rows * factor
    columns = []
    for name, column in rows.items():
        codes = generator.integers(len(column.values), size=n)
        codes[: rows.n_rows] = column.codes
        columns.append(Column(name, column.kind, codes.astype(column.codes.dtype), column.values))
    return Table(columns)


@recipe("partitioning-time")
class PartitioningTime:
    """How long German takes, expanded by each of `factors`, on average over `runs`; top 5 public, k = 10, C4.5."""

    sources = SOURCES

    def units(self, parameters: Parameters) -> Iterator[Unit]:
        """One fit each."""
        for run in range(parameters["runs"]):
            for factor in parameters["factors"]:
                yield Unit({"factor": factor, "run": run}, ("german",), weight=3 + factor)

    def measure(self, options: Parameters, data: Data) -> Any:
        """CPU seconds from an encoded table to an audited release."""
        german = read_study(data.folder, "german")
        rows = expand(german.rows, options["factor"], seed=100 * options["run"] + options["factor"])

        def fit(rows: Table, generations: int) -> None:
            public = german.public(5)
            model = PartitionedClassifier(
                "c45", 10, public=public, domain=german.domain, generations=generations, random_state=options["run"]
            )
            model.fit(rows, german.target)

        fit(german.rows, generations=2)  # loads the kernels
        start = time.process_time()
        fit(rows, generations=100)
        return {"rows": rows.n_rows, "seconds": time.process_time() - start}

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterator[Point]:
        """Minutes by rows, and the power of the rows with which they grow."""
        found: dict[int, list[float]] = {}
        for each in measured:
            found.setdefault(each.result["rows"], []).append(each.result["seconds"] / 60)
        for rows, minutes in found.items():
            yield Point("DMPD", rows, float(np.mean(minutes)))
        means = [float(np.mean(own)) for own in found.values()]
        power = float(np.polyfit(np.log(list(found)), np.log(means), 1)[0])
        yield Point("exponent", "minutes by rows", power, "growth")


@recipe("partitioning-settings")
class PartitioningSettings:
    """Accuracy by `populations` and `generations` of the genetic search; top 5 public, k = 10, C4.5."""

    sources = SOURCES

    def units(self, parameters: Parameters) -> Iterator[Unit]:
        """One repetition of 5 × 2 cv of one table and setting each."""
        for repetition in range(parameters["repetitions"]):
            for table in parameters["tables"]:
                for population in parameters["populations"]:
                    for generations in parameters["generations"]:
                        options = {
                            "table": table,
                            "repetition": repetition,
                            "population": population,
                            "generations": generations,
                        }
                        yield Unit(options, tables_of(table), weight=2 + 4 * population * generations / 5000)

    def measure(self, options: Parameters, data: Data) -> Any:
        """The accuracies of both halves."""
        study = read_study(data.folder, options["table"])
        public, found = study.public(5), []
        for half, (train, test) in enumerate(study.halves(options["repetition"])):
            seed = 2 * options["repetition"] + half
            rows, others = study.rows.take(train), study.rows.take(test)
            rows = Table([column.compact() if column.kind == "numeric" else column for column in rows.values()])
            judge = make_judge(study, rows, public, "c45", seed=seed)
            genetic = GeneticOptions(seed=seed, population=options["population"], generations=options["generations"])
            best = search(judge, 10, options=genetic, level_in_fitness=True).best
            names = [name for name in rows.names if name != study.target]
            model = PartitionedClassifier(
                "c45",
                10,
                public=public,
                domain=study.domain,
                partitioning=best.partitioning.named(names),
                unseen="missing",
                random_state=seed,
            ).fit(rows, study.target)
            truth = np.array(others[study.target].names)[others[study.target].codes]
            found.append(float((model.predict(others).astype(str) == truth).mean()))
        return found

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterator[Point]:
        """A panel for each table, a series for each population; and the tests, where all repetitions are there."""
        found: dict[tuple[str, int, int], list[list[float]]] = {}
        for each in measured:
            key = each.options["table"], each.options["population"], each.options["generations"]
            found.setdefault(key, []).append([100 * accuracy for accuracy in each.result])
        for (table, population, generations), own in found.items():
            yield Point(f"population {population}", generations, float(np.mean(own)), NAMES[table])
        for (table, population, generations), own in found.items():
            usual = found.get((table, 50, 100))
            if usual is not None and len(own) == 5 and (population, generations) != (50, 100):
                p_value = combined_f_test(usual, own).p_value
                yield Point(f"{NAMES[table]}, population {population}", generations, p_value, P_VALUE)


@recipe("partitioning-frontier")
class PartitioningFrontier:
    """Adult's frontier of accuracy and level, from `runs` independent searches; C4.5, half of all complete rows."""

    sources = SOURCES

    def units(self, parameters: Parameters) -> Iterator[Unit]:
        """One search each."""
        size = parameters["population"] * parameters["generations"] / 5000
        for run in range(parameters["runs"]):
            for top in parameters["tops"]:
                options = {"top": top, "run": run}
                options |= {key: parameters[key] for key in ("population", "generations")}
                yield Unit(options, tables_of("adult"), weight=5 + 25 * size)

    def measure(self, options: Parameters, data: Data) -> Any:
        """The corners that one search found: level and accuracy."""
        study = read_study(data.folder, "adult")
        half, _ = next(study.halves(0))
        judge = make_judge(study, study.rows.take(half), study.public(options["top"]), "c45", seed=0)
        genetic = GeneticOptions(
            seed=options["run"], population=options["population"], generations=options["generations"]
        )
        return [[point.level, point.accuracy] for point in frontier(judge, options=genetic).points]

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterator[Point]:
        """What all, at least half and at least one of the searches reached."""
        for top in parameters["tops"]:
            fronts = [
                [Corner(accuracy, level) for level, accuracy in each.result]
                for each in measured
                if each.options["top"] == top
            ]
            for name, surface in attainment_surfaces(fronts)._asdict().items():
                for corner in surface:
                    yield Point(name, corner.level, 100 * corner.accuracy, f"top {top} public")
