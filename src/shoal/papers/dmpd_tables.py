# SPDX-License-Identifier: Apache-2.0
"""What `shoal.papers.dmpd` measured, as the paper prints it: Table 1 and Tables 3 to 6, with its numbers beside."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.evaluate import bonferroni_dunn, combined_f_test, friedman_test
from shoal.papers.dmpd import METHOD
from shoal.papers.dmpd_published import LEARNERS, LEVELS, TABLE_1, TABLES_3_TO_6

Line = Mapping[str, Any]
METHODS = ("dmpd", "tds", "tdr")
BASELINE = ("baseline",)
ALL_CUT, BY_PAL = METHOD["cuts"], METHOD["pal"]
PARTITIONED = tuple(METHOD.values())
NAMES = {"c45": "C4.5", "bayes": "naive Bayes"}
SIGNIFICANT = 0.05


class Compared(NamedTuple):
    """A cell that the paper prints: table, method, its accuracy and ours, in per cent."""

    table: str
    method: str
    theirs: float
    ours: float


def versions() -> dict[str, str]:
    """What measured."""
    packages = ("shoal", "pymoo", "numpy", "numba", "scikit-learn")
    return {"python": python_version(), **{package: version(package) for package in packages}}


def merge_parts(folder: Path, file: Path) -> None:
    """One file of all units that were measured: accuracies of 5 × 2 cv by table, public features, learner and method.

    Nothing is averaged. A repetition that was not run is not there.
    """
    cells: dict[tuple[str, int, str, str, int], dict[str, Any]] = {}
    told: dict[str, str] = {}
    for path in sorted(folder.glob("*.json")):
        found = json.loads(path.read_text())
        told = found["versions"]
        for line in found["lines"]:
            key = (line["table"], line["top"], line["learner"], line["method"], line.get("k", 0))
            cell = cells.setdefault(
                key, dict(zip(("table", "top", "learner", "method", "k"), key, strict=True)) | {"accuracies": {}}
            )
            cell["accuracies"].setdefault(str(line["repetition"]), []).append(round(line["accuracy"], 6))
            for name in ("in_search", "level", "seconds"):
                if name in line:
                    cell.setdefault(name, []).append(round(line[name], 4))
            if "subsets" in line:
                cell.setdefault("n_subsets", []).append(len(line["subsets"]))
    lines = [json.dumps(cells[key]) for key in sorted(cells)]
    seeds = "halves: repetition; folds and search: 2 * repetition + half"
    head = f'{{"versions": {json.dumps(told)},\n"seeds": {json.dumps(seeds)},\n"cells": [\n'
    file.write_text(head + ",\n".join(lines) + "\n]}\n")


@dataclass(frozen=True, eq=False)
class Measured:
    """Accuracies of 5 × 2 cv, by table, public features, learner, method and level."""

    cells: Mapping[tuple[str, int, str, str, int], NDArray[np.float64]]

    @classmethod
    def read(cls, file: Path) -> Measured:
        """What `merge_parts` wrote; an array of repetitions × 2 for each cell."""
        found = json.loads(file.read_text())["cells"]
        return cls(
            {
                (cell["table"], cell["top"], cell["learner"], cell["method"], cell["k"]): np.array(
                    list(cell["accuracies"].values())
                )
                for cell in found
            }
        )

    def mean(self, *cell: Any) -> float | None:
        """The mean accuracy of a cell in per cent; None where nothing was measured."""
        return float(100 * self.cells[cell].mean()) if cell in self.cells else None

    def better(self, ours: tuple[Any, ...], other: tuple[Any, ...]) -> int:
        """1 where the first is significantly more accurate by the 5 × 2 cv F test, −1 where the second is, else 0."""
        one, two = self.cells.get(ours), self.cells.get(other)
        if one is None or two is None or not one.shape == two.shape == (5, 2):
            return 0
        if combined_f_test(one, two).p_value >= SIGNIFICANT:
            return 0
        return 1 if one.mean() > two.mean() else -1

    def repetitions(self, table: str) -> int:
        """How often a table was cut in halves for partitionings, in the cell with the fewest."""
        return min((len(own) for cell, own in self.cells.items() if (cell[0], cell[3]) == (table, "dmpd")), default=0)

    def compared(self) -> Iterator[Compared]:
        """Every cell of Table 1 and Tables 3 to 6 that was measured, beside what the paper prints."""
        for (table, learner), printed in TABLE_1.items():
            for k, theirs in zip((0, 1, *LEVELS[table]), printed, strict=True):
                yield from self._beside(theirs, table, top_of(table), learner, PARTITIONED if k else BASELINE, k)
        for (table, learner, top), methods in TABLES_3_TO_6.items():
            for method, accuracies in methods.items():
                if (method, top) == ("dmpd", 9):
                    continue  # these are in Table 1
                for k, theirs in zip(LEVELS[table], accuracies, strict=True):
                    own = PARTITIONED if method == "dmpd" else (method,)
                    yield from self._beside(theirs, table, top, learner, own, k)

    def _beside(
        self, theirs: float, table: str, top: int, learner: str, methods: Iterable[str], k: int
    ) -> Iterator[Compared]:
        for method in methods:
            ours = self.mean(table, top, learner, method, k)
            if ours is not None:
                yield Compared(table, method, theirs, ours)


def top_of(table: str) -> int:
    """How many features are public in Table 1."""
    return 8 if table in ("nursery", "pima") else 9


def within(cells: Iterable[Compared], points: float = 1.0) -> str:
    """How many cells are at most so many points below the paper's, of how many.

    >>> within([Compared("pima", "dmpd", 77.75, 76.8), Compared("pima", "dmpd", 77.62, 76.5)])
    '1 of 2'
    """
    own = list(cells)
    return f"{sum(cell.ours >= cell.theirs - points for cell in own)} of {len(own)}" if own else ""


def summary(measured: Measured) -> str:
    """By table and method, how many cells are within one point of the paper's or better."""
    cells = list(measured.compared())
    methods = {
        **{each: each.replace("dmpd", "DMPD") for each in PARTITIONED},
        **{each: each.upper() for each in ("tds", "tdr")},
    }
    methods["baseline"] = "baseline"
    lines = [_row("table", "5 × 2 cv, repetitions", *methods.values()), "|---|---:|" + "---:|" * len(methods)]
    for table in (*LEVELS, "all"):
        own = [cell for cell in cells if table in (cell.table, "all")]
        told = [within(cell for cell in own if cell.method == method) for method in methods]
        lines.append(_row(table, "" if table == "all" else measured.repetitions(table), *told))
    return "\n".join(lines)


def all_cases(measured: Measured) -> str:
    """The tests over all cases, in a sentence."""
    found = ranks(measured)
    if found is None:
        return "Too little was measured for a test over all cases."
    n, friedman, dunn = found
    first = ", ".join(f"{name.upper()} {rank:.2f}" for name, rank in zip(METHODS, friedman.ranks, strict=True))
    return (
        f"Over {n} cases (table, learner, public features and k) the mean ranks are {first}; Friedman's adjusted "
        f"F = {friedman.statistic:.2f} with {friedman.degrees[0]} and {friedman.degrees[1]} degrees of freedom "
        f"(p = {friedman.p_value:.2g}); Bonferroni-Dunn z of DMPD against TDS {dunn.z[1]:.2f} "
        f"(p = {dunn.p_values[1]:.2g}), against TDR {dunn.z[2]:.2f} (p = {dunn.p_values[2]:.2g})."
    )


def table_1(measured: Measured) -> str:
    """Table 1, ours and the paper's; † where a level is significantly less accurate than k = 1."""
    lines = [_row("table", "learner", "", "baseline", "k = 1", "", "", "", ""), "|---|---|---|" + "---:|" * 6]
    for table, levels in LEVELS.items():
        lines.append(_row(f"**{table}**", "", "k", "", "1", *levels))
        for learner in LEARNERS:
            cells = [(table, top_of(table), learner, "dmpd" if k else "baseline", k) for k in (0, 1, *levels)]
            ours = [_number(measured.mean(*cell)) for cell in cells]
            marked = ["†" if measured.better(cells[1], cell) > 0 else "" for cell in cells]
            marked[0] = ""
            lines.append(_row("", NAMES[learner], "ours", *map("".join, zip(ours, marked, strict=True))))
            for variant in (BY_PAL, ALL_CUT):
                own = [measured.mean(table, top_of(table), learner, variant, k) for k in (1, *levels)]
                if any(each is not None for each in own):
                    lines.append(_row("", "", variant.replace("dmpd", "ours"), "", *map(_number, own)))
            lines.append(_row("", "", "paper", *map(_number, TABLE_1[table, learner])))
    return "\n".join(lines)


def tables_3_to_6(measured: Measured, table: str) -> str:
    """DMPD, TDS and TDR, ours and the paper's; * where TDS or TDR differs significantly from DMPD."""
    levels = LEVELS[table]
    lines = [_row("learner", "public", "method", "", *(f"k = {k}" for k in levels)), "|---|---|---|---|" + "---:|" * 4]
    for learner in LEARNERS:
        for top in (5, 7, 9):
            for method in METHODS:
                ours = []
                for k in levels:
                    cell = (table, top, learner, method, k)
                    worse = measured.better((table, top, learner, "dmpd", k), cell)
                    mark = "" if method == "dmpd" or not worse else "−*" if worse > 0 else "+*"
                    ours.append(_number(measured.mean(*cell)) + mark)
                lines.append(_row(NAMES[learner], f"top {top}", method.upper(), "ours", *ours))
                theirs = map(_number, TABLES_3_TO_6[table, learner, top][method])
                lines.append(_row("", "", "", "paper", *theirs))
    return "\n".join(lines)


def ranks(measured: Measured) -> tuple[int, Any, Any] | None:
    """Over all cases that were measured of all three methods: how many, the Friedman test, and Bonferroni-Dunn."""
    cases = []
    for table, top, learner, method, k in measured.cells:
        own = [measured.cells.get((table, top, learner, each, k)) for each in METHODS]
        if method == "dmpd" and k > 1:
            means = [float(each.mean()) for each in own if each is not None]
            cases += [means] if len(means) == len(METHODS) else []
    return (len(cases), friedman_test(cases), bonferroni_dunn(cases)) if len(cases) > 1 else None


def page_part(text: str, name: str) -> str:
    """What stands in a page between ``<!-- name -->`` and the next blank line after its table."""
    return text.split(f"<!-- {name} -->\n\n")[1].split("\n\n")[0]


def write_page(measured: Measured, page: Path) -> None:
    """Bring every table of a page up to date."""
    text = page.read_text()
    for name, make in PARTS:
        mark = f"<!-- {name} -->\n\n"
        before, after = text.split(mark)
        text = before + mark + make(measured) + after[len(page_part(text, name)) :]
    page.write_text(text)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


PARTS: Sequence[tuple[str, Callable[[Measured], str]]] = (
    ("summary", summary),
    ("table 1", table_1),
    ("tables 3 and 4", lambda measured: tables_3_to_6(measured, "adult")),
    ("tables 5 and 6", lambda measured: tables_3_to_6(measured, "german")),
    ("all cases", all_cases),
)
