# SPDX-License-Identifier: Apache-2.0
"""The whole of Tian et al. (2012), Sect. 7, as jobs that run one by one, and the averages of what they measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from shoal.papers.sharing import compare_generators
from shoal.papers.sharing_data import TARGETS, fold, read_sharing
from shoal.papers.sharing_private import REQUIREMENTS, compare_publishers
from shoal.privacy import RecursiveDiversity, Requirement, SimpleDiversity

OWNERS, QUICK_OWNERS = tuple(range(1, 11)), (1, 2, 5, 10)
QUICK_ADULT = 0.2  # of Adult's rows
QUICK: dict[str, list[Requirement]] = {
    "adult": [
        *(RecursiveDiversity(10, n) for n in (2, 4, 7)),
        *(SimpleDiversity(n) for n in (2, 4, 7, 8)),
    ],
    "nursery": [
        *(RecursiveDiversity(15, n) for n in (2, 3, 4, 5)),
        *(SimpleDiversity(n) for n in (2, 3, 4)),
    ],
}
KEYS = ("table", "figures", "requirement", "owners", "method", "learner")
MEASURES = ("accuracy", "class_match", "path_match", "cm", "left_out", "leaves")


@dataclass(frozen=True)
class Job:
    """One pass of one fold of one table: Fig. 10 to 13 for some numbers of owners, or Fig. 14 to 16 for one."""

    table: str
    figures: Literal["10-13", "14-15", "16"]
    number: int
    seed: int
    owners: tuple[int, ...]
    share: float = 1.0
    requirement: Requirement | None = None

    def run(self, data: Path) -> list[dict[str, Any]]:
        """Measure it."""
        task = read_sharing(data, self.table)
        train, test = fold(task.rows.n_rows, self.number, share=self.share)
        seed = 1000 * self.number + self.seed
        if self.requirement is None:
            found = compare_generators(task, train, test, owners=self.owners, seed=seed)
        else:
            found = compare_publishers(task, train, test, self.requirement, owners=self.owners[0], seed=seed)
        return [{"table": self.table, "figures": self.figures, "fold": self.number, **line} for line in found]


def sweep(*, quick: bool, tables: Iterable[str] = tuple(TARGETS)) -> list[Job]:
    """The jobs of Sect. 7: ten folds of five passes each; or quickly.

    The quick sweep has one pass of two folds (one of Adult, with a fifth of its rows), 1, 2, 5 and 10 owners, and some
    of the requirements.
    """
    jobs = []
    for table in tables:
        share = QUICK_ADULT if quick and table == "adult" else 1.0
        runs = [(number, seed) for number in range(10) for seed in range(5)]
        if quick:
            runs = [(0, 0)] if table == "adult" else [(0, 0), (1, 0)]
        asked = (QUICK if quick else REQUIREMENTS).get(table, [])
        for number, seed in runs:
            jobs.append(Job(table, "10-13", number, seed, QUICK_OWNERS if quick else OWNERS, share))
            jobs += [Job(table, "14-15", number, seed, (1,), share, each) for each in asked]
            jobs += [
                Job(table, "16", number, seed, (10,), share, each)
                for each in asked
                if isinstance(each, RecursiveDiversity)
            ]
    return jobs


def averages(lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was measured, averaged over folds and passes; `runs` says over how many, `failed` how many had no release.

    >>> averages([{"table": "car", "accuracy": 0.5}, {"table": "car", "accuracy": 0.75}, {"table": "car", "why": "no"}])
    [{'table': 'car', 'runs': 3, 'failed': 1, 'why': 'no', 'accuracy': 0.625}]
    """
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for line in lines:
        groups.setdefault(tuple(str(line.get(key)) for key in KEYS), []).append(line)
    found = []
    for group in groups.values():
        averaged = {key: group[0][key] for key in KEYS if key in group[0]}
        averaged["runs"] = len(group)
        failed = [line["why"] for line in group if "why" in line]
        if failed:
            averaged |= {"failed": len(failed), "why": failed[0]}
        for measure in MEASURES:
            values = [line[measure] for line in group if measure in line]
            if values:
                averaged[measure] = sum(values) / len(values)
        found.append(averaged)
    return found
