# SPDX-License-Identifier: Apache-2.0
"""Accuracy by level of partitionings, TDS and TDR, and all tests between them (Matatov et al., Tables 1, 3 to 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.evaluate import bonferroni_dunn, combined_f_test, friedman_test
from shoal.papers.data import Data
from shoal.papers.dmpd import METHOD
from shoal.papers.dmpd import Unit as Repetition
from shoal.papers.dmpd_data import MOST_PUBLIC
from shoal.papers.registry import Measured, Parameters, Point, Unit, recipe

NAMES = {
    "adult": "Adult",
    "credit": "Credit",
    "vote": "Vote",
    "wisconsin": "Wisconsin",
    "german": "German",
    "heart": "Heart",
    "cmc": "CMC",
    "pima": "Pima",
    "nursery": "Nursery",
}
LEARNERS = {"c45": "C4.5", "bayes": "naive Bayes"}
METHODS = {
    "baseline": "DMPD",  # the first column of Table 1
    METHOD["own"]: "DMPD",
    METHOD["cuts"]: "DMPD, cuts of all rows",
    METHOD["pal"]: "DMPD, PAL in the fitness",
    "tds": "TDS",
    "tdr": "TDR",
}
BASELINE = "baseline"
SIGNIFICANT = 0.05
TEST = "significant (5 × 2 cv F, 0.05)"
SECONDS = {"adult": {"c45": 190, "bayes": 55}, "nursery": {"c45": 45, "bayes": 40}}  # of a whole repetition
Cell = tuple[str, int, str, str, int]  # table, public features, learner, method, k
Cells = dict[Cell, NDArray[np.float64]]


def tables_of(table: str) -> tuple[str, ...]:
    """The names of a table's files in the manifest; Wisconsin comes with scikit-learn."""
    own = {"adult": ("adult", "adult-taxonomies"), "adult-train": ("adult", "adult-taxonomies"), "wisconsin": ()}
    return own.get(table, (table,))


@recipe("partitioning")
class Partitioning:
    """One repetition of 5 × 2 cv of one table, learner and set of public features is a unit; `show` says what of it.

    Parameters of experiments: `tables`, `learners`, `tops`, `repetitions`, `population`, `generations`, `cuts` (tables
    that are measured with cuts of all rows as well), and `show`: ``"levels"`` (Table 1), ``"beside"`` (Tables 3 to 6,
    with `rival`) or ``"tests"`` (all significance tests).
    """

    sources = ("shoal.papers.dmpd", "shoal.papers.dmpd_data", "shoal.papers.dmpd_published")

    def units(self, parameters: Parameters) -> Iterator[Unit]:
        """Repetition by repetition, so that a run that is cut has the same of all tables."""
        size = parameters["population"] * parameters["generations"] / 5000
        for repetition in range(parameters["repetitions"]):
            for table in parameters["tables"]:
                for top in dict.fromkeys(min(top, MOST_PUBLIC.get(table, 9)) for top in parameters["tops"]):
                    for learner in parameters["learners"]:
                        for variant in ("own", "cuts") if table in parameters["cuts"] else ("own",):
                            options = {
                                "table": table,
                                "top": top,
                                "learner": learner,
                                "repetition": repetition,
                                "variant": variant,
                                "population": parameters["population"],
                                "generations": parameters["generations"],
                            }
                            whole = SECONDS.get(table, {}).get(learner, 22)
                            yield Unit(options, tables_of(table), weight=2 + whole * (0.15 + 0.85 * size))

    def measure(self, options: Parameters, data: Data) -> Any:
        """Both halves of one repetition, all methods and levels."""
        told = {key: options[key] for key in ("table", "top", "learner", "repetition", "variant")}
        search = {key: options[key] for key in ("population", "generations")}
        lines = Repetition(**told).run(data.folder, search)
        return [{key: line[key] for key in line if key not in (*told, "subsets")} for line in lines]

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterator[Point]:
        """What `show` asks for."""
        cells = gather(measured)
        if parameters["show"] == "levels":
            return levels(cells)
        if parameters["show"] == "beside":
            return beside(cells, parameters["rival"])
        return tests(cells)


def gather(measured: Sequence[Measured]) -> Cells:
    """The accuracies of each cell in per cent, repetitions × halves."""
    found: dict[Cell, dict[int, list[float]]] = {}
    for unit in measured:
        own = unit.options
        for line in unit.result:
            key = (own["table"], own["top"], own["learner"], line["method"], line.get("k", 0))
            found.setdefault(key, {}).setdefault(own["repetition"], []).append(100 * line["accuracy"])
    return {cell: np.array(list(rows.values())) for cell, rows in found.items()}


def levels(cells: Cells) -> Iterator[Point]:
    """Table 1: by table and learner, the baseline and every level."""
    panels = dict.fromkeys(cell[:3] for cell in cells)
    for table, top, learner in panels:
        own = [cell for cell in cells if cell[:3] == (table, top, learner) and cell[3] not in ("tds", "tdr")]
        for cell in sorted(own, key=lambda cell: cell[3] != BASELINE):  # it stands before the levels
            x = BASELINE if cell[3] == BASELINE else cell[4]
            yield Point(METHODS[cell[3]], x, cells[cell].mean(), f"{NAMES[table]}, {LEARNERS[learner]}")


def beside(cells: Cells, rival: str) -> Iterator[Point]:
    """Tables 3 to 6: by learner and public features, partitionings and one rival."""
    for (_, top, learner, method, k), accuracies in cells.items():
        if method in ("dmpd", rival) and k > 1:
            yield Point(METHODS[method], k, accuracies.mean(), f"top {top}, {LEARNERS[learner]}")


def better(cells: Cells, one: Cell, two: Cell) -> int:
    """1 where the first is significantly more accurate, −1 where the second is, else 0."""
    if combined_f_test(cells[one], cells[two]).p_value >= SIGNIFICANT:
        return 0
    return 1 if cells[one].mean() > cells[two].mean() else -1


def tests(cells: Cells) -> Iterator[Point]:
    """How many differences are significant in each table, and the tests over all cases."""
    whole = all(each.shape == (5, 2) for each in cells.values())
    if whole:
        own = [cell for cell in cells if cell[3] == "dmpd" and cell[1] >= 8 and cell[4] > 1]
        lower = sum(better(cells, (*cell[:4], 1), cell) > 0 for cell in own)
        yield Point("k = 1 better than a level", "Table 1", lower, TEST)
        for table, rival, place in (
            ("adult", "tds", "Table 3"),
            ("adult", "tdr", "Table 4"),
            ("german", "tds", "Table 5"),
            ("german", "tdr", "Table 6"),
        ):
            pairs = [cell for cell in cells if cell[0] == table and cell[3] == "dmpd" and cell[4] > 1]
            found = [better(cells, cell, (*cell[:3], rival, cell[4])) for cell in pairs]
            if found:
                yield Point("DMPD better", place, found.count(1), TEST)
                yield Point("rival better", place, found.count(-1), TEST)
    cases = _cases(cells)
    if len(cases) > 1:
        friedman, dunn = friedman_test(cases), bonferroni_dunn(cases)
        panel = "over all cases"
        yield Point("cases", "all", len(cases), panel)
        yield Point("Friedman's adjusted F", "all", friedman.statistic, panel)
        for name, rank in zip(("DMPD", "TDS", "TDR"), friedman.ranks, strict=True):
            yield Point("mean rank", name, rank, panel)
        for name, z in zip(("TDS", "TDR"), dunn.z[1:], strict=True):
            yield Point("Bonferroni–Dunn z of DMPD", name, z, panel)


def _cases(cells: Cells) -> list[list[float]]:
    """Mean accuracies of DMPD, TDS and TDR wherever all three were measured."""
    found = []
    for table, top, learner, method, k in cells:
        if method == "dmpd" and k > 1:
            own: Iterable[Cell] = [(table, top, learner, each, k) for each in ("dmpd", "tds", "tdr")]
            if all(cell in cells for cell in own):
                found.append([float(cells[cell].mean()) for cell in own])
    return found
