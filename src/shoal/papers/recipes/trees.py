# SPDX-License-Identifier: Apache-2.0
"""Trees on Adult as VLDB'08 Sect. 6 and PKDD'06 Sect. 4 compare them: k-anonymous ones, usual ones, and after TDS.

Each unit is one method at one level of privacy. The parameters of an experiment:

- `columns`: ``"categorical"`` (the eight of the papers), ``"seven"`` (those without relationship) or ``"all"``; a series may
  have its own;
- `at`: what stands on the axis, ``"k"`` or ``"limit"`` (an attacker's confidence, in percent), and its values as `levels`;
- `measure`: what is shown, a key of what `measure` returns;
- `series`: a list of ``{name, method, …}``, each with a `measure` or `panel` of its own if it has one. Methods: ``"tree"``
  (k-anonymous), ``"plain"`` (no promise; the same number at every level), ``"tds"`` (a tree without a promise, of what TDS
  made of the rows) and ``"k-optimize"``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from shoal.anonymize import KOptimize, TopDownSpecialization
from shoal.audit import audit
from shoal.data import Table, to_table
from shoal.data.stack import stack
from shoal.papers.adult import CATEGORICAL, TARGET, Adult, classification_metric
from shoal.papers.data import Data
from shoal.papers.registry import Measured, Parameters, Point, Unit, recipe
from shoal.privacy import EntropyDiversity, Requirement, as_requirement
from shoal.release import TreeRelease
from shoal.trees import AnonymousTreeClassifier

TABLES = ("adult", "adult-taxonomies")
TIMES = 2  # seconds are the best of so many: the first time kernels are loaded


def diversity_of(limit: float) -> EntropyDiversity:
    """The entropy diversity that keeps an attacker's confidence about two classes at a limit, in percent.

    >>> round(diversity_of(85).l, 3)  # VLDB'08 Sect. 6.3
    1.526
    """
    share = limit / 100
    return EntropyDiversity(math.exp(-share * math.log(share) - (1 - share) * math.log(1 - share)))


def columns_of(adult: Adult, which: str) -> list[str]:
    """The columns of Adult that an experiment learns from."""
    if which == "all":
        return [name for name in adult.train.names if name != TARGET]
    return [name for name in CATEGORICAL if which == "categorical" or name != "relationship"]


@recipe("adult-trees")
class AdultTrees:
    """A method at a level of privacy, on the papers' own training and test rows."""

    sources = ("shoal.papers.adult", "shoal.papers.recipes.trees")

    def units(self, parameters: Parameters) -> Iterable[Unit]:
        """A unit for each series and level; one for a series that has no levels."""
        return [unit for each in parameters["series"] for unit in _units(each, parameters)]

    def measure(self, options: Parameters, data: Data) -> Any:
        """Errors, exposure and the rest, as far as the method has them."""
        adult = Adult.read(data.folder)
        columns = columns_of(adult, options["columns"])
        if options["method"] == "k-optimize":
            return _by_k_optimize(adult, columns, options)
        if options["method"] == "tds":
            return _after_tds(adult, columns, options)
        return _by_tree(adult, columns, options)

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterable[Point]:
        """A point for each level; a series without levels has the same value at all of them."""
        found, waiting, levels = [], iter(measured), parameters["levels"]
        for each in parameters["series"]:
            own = [next(waiting).result[each.get("measure", parameters["measure"])] for _ in _units(each, parameters)]
            values = own * len(levels) if each["method"] == "plain" else own
            found += [
                Point(each["name"], x, value, each.get("panel", "")) for x, value in zip(levels, values, strict=True)
            ]
        return found


def _units(series: Mapping[str, Any], parameters: Parameters) -> list[Unit]:
    own = {key: value for key, value in series.items() if key not in ("name", "measure", "panel")}
    options = {"columns": own.get("columns", parameters.get("columns")), **own}
    weight = 20.0 if series["method"] == "k-optimize" else 2.0
    if series["method"] == "plain":
        return [Unit({**options, "k": 1}, TABLES, weight)]
    return [Unit({**options, parameters["at"]: level}, TABLES, weight) for level in parameters["levels"]]


def requirement_of(options: Parameters) -> Requirement:
    """What a unit asks of every group."""
    return diversity_of(options["limit"]) if "limit" in options else as_requirement(options["k"])


def _taxonomies(adult: Adult, columns: Sequence[str]) -> dict[str, Any]:
    return {name: adult.hierarchies[name] for name in columns if name in adult.hierarchies}


def mine(adult: Adult, columns: Sequence[str], options: Parameters) -> TreeRelease:
    """The tree of a unit; one without a promise has no use for taxonomies."""
    classifier = AnonymousTreeClassifier(
        requirement_of(options),
        hierarchies=_taxonomies(adult, columns) if options["method"] == "tree" else None,
        variant=options["variant"],
        pruning=options.get("pruning"),
    )
    return classifier.fit(adult.train.select([*columns, TARGET]), TARGET).release_


def _by_tree(adult: Adult, columns: Sequence[str], options: Parameters) -> dict[str, Any]:
    seconds = []
    for _ in range(TIMES):
        start = time.process_time()
        release = mine(adult, columns, options)
        seconds.append(time.process_time() - start)
    verdict = audit(release, adult.train, privacy=requirement_of(options))
    return {
        "error": 100 * adult.error(release),
        "exposed": 100 * float(verdict.exposed_share or 0.0),
        "metric": classification_metric(release),
        "leaves": int((release.counts[list(release.leaves)].sum(axis=1) > 0).sum()),
        "smallest group": verdict.smallest_group,
        "holds": verdict.holds,
        "root": release.nodes[0].attribute,
        "branches": len(release.nodes[0].branches),
        "seconds": min(seconds),
    }


def _after_tds(adult: Adult, columns: Sequence[str], options: Parameters) -> dict[str, Any]:
    """TDS on training rows, or on training and test rows as PKDD'06 Sect. 4.1 says, then a tree of the training rows."""
    train, test = adult.train.select([*columns, TARGET]), adult.test.select([*columns, TARGET])
    method = TopDownSpecialization(requirement_of(options), hierarchies=_taxonomies(adult, columns), reproducible=True)
    start = time.process_time()
    method.fit(stack(train, test, [*columns, TARGET]) if options["rows"] == "both" else train, TARGET)
    seconds = time.process_time() - start
    recoded, asked = (to_table(method.transform(rows)) for rows in (train, test))
    tree = AnonymousTreeClassifier(1, variant=options["variant"], pruning=options.get("pruning")).fit(recoded, TARGET)
    said = tree.release_.predict(asked, unknown="ancestor")
    verdict = method.release_.verdict
    return {
        "error": 100 * float((said != _classes(adult.test)).mean()),
        "smallest group": None if verdict is None else verdict.smallest_group,
        "steps": len(method.steps_),
        "seconds": seconds,
    }


def _by_k_optimize(adult: Adult, columns: Sequence[str], options: Parameters) -> dict[str, Any]:
    """In its own setting: age as well, in intervals of so many years, and rows may be left out at a cost."""
    rows = adult.train.select(["age", *columns, TARGET])
    cost, seconds = [], []
    for years in options["years"]:
        ages = {"age": {"intervals": [years]}}
        method = KOptimize(
            options["k"],
            cost="cm",
            hierarchies={**_taxonomies(adult, columns), **ages},
            suppress=options["suppress"],
            max_seconds=None,
            max_nodes=options["nodes"],
            reproducible=True,
        )
        start = time.process_time()
        method.fit(rows, TARGET)
        seconds.append(time.process_time() - start)
        cost.append(method.cost_)
    return {"lowest": min(cost), "highest": max(cost), "seconds": min(seconds)}


def _classes(table: Table) -> Any:
    return np.array(table[TARGET].names)[table[TARGET].codes]
