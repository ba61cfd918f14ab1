# SPDX-License-Identifier: Apache-2.0
"""Trees on Adult as VLDB'08 Sect. 6 and PKDD'06 Sect. 4 compare them: k-anonymous ones, usual ones, and after TDS.

Each unit is one method at one level of privacy. The parameters of an experiment:

- `columns`: ``"categorical"`` (the eight of the papers), ``"seven"`` (without relationship) or ``"all"``; a series
  may have its own;
- `at`: what stands on the axis, ``"k"`` or ``"limit"`` (an attacker's confidence, in percent); `levels`: its values;
- `measure`: what is shown, a key of what `measure` returns;
- `series`: a list of ``{name, method, …}``, with a `measure` of its own if it has one. Methods: ``"tree"``
  (k-anonymous), ``"plain"`` (no promise; the same number at every level), ``"tds"`` (a tree without a promise, of what
  TDS made of the rows) and ``"k-optimize"``.

Instead of all these, `facts` lists names of `tree_facts.FACTS`.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np

from shoal.anonymize import KOptimize, TopDownSpecialization
from shoal.audit import audit
from shoal.data import Table, load_sample, to_table
from shoal.data.stack import stack
from shoal.papers.adult import CATEGORICAL, TARGET, Adult, classification_metric
from shoal.papers.data import Data
from shoal.papers.recipes.tree_facts import FACTS, limits_of, rows_of
from shoal.papers.registry import Measured, Parameters, Point, Unit, recipe
from shoal.privacy import EntropyDiversity, Requirement, as_requirement
from shoal.release import TreeRelease
from shoal.trees import AnonymousTreeClassifier

TABLES = ("adult", "adult-taxonomies")
WEIGHT = {"k-optimize": 20.0}  # about how many seconds; others take two


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

    sources = ("shoal.papers.adult", "shoal.papers.recipes.trees", "shoal.papers.recipes.tree_facts")

    def units(self, parameters: Parameters) -> Iterable[Unit]:
        """A unit for each series and level, one for a series without a promise; or those that facts ask for."""
        asked = {_key(options): options for each in _parts(parameters) for options in each}
        return [Unit(each, TABLES, WEIGHT.get(each["method"], 2.0)) for each in asked.values()]

    def measure(self, options: Parameters, data: Data) -> Any:
        """Errors, exposure and the rest, as far as the method has them."""
        adult, method = Adult.read(data.folder), options["method"]
        if method == "rows":
            return rows_of(adult)
        if method == "limits":
            return limits_of(adult, diversity_of(85))
        columns = columns_of(adult, options["columns"])
        if method == "k-optimize":
            return _by_k_optimize(adult, columns, options)
        return (_after_tds if method == "tds" else _by_tree)(adult, columns, options)

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterable[Point]:
        """A point for each level, or for each number of a fact, of the series ``value``."""
        result_of = {_key(each.options): each.result for each in measured}
        parts = [[result_of[_key(options)] for options in each] for each in _parts(parameters)]
        if "facts" in parameters:
            told = [FACTS[name].tells(own) for name, own in zip(parameters["facts"], parts, strict=True)]
            return [Point("value", words, value) for each in told for words, value in each.items()]
        found, levels = [], parameters["levels"]
        for each, own in zip(parameters["series"], parts, strict=True):
            values = [result[each.get("measure", parameters["measure"])] for result in own]
            values = values * len(levels) if each["method"] == "plain" else values
            found += [Point(each["name"], x, value) for x, value in zip(levels, values, strict=True)]
        return found


def _parts(parameters: Parameters) -> list[Sequence[Parameters]]:
    """Options of units, for each series or fact."""
    if "facts" in parameters:
        return [FACTS[name].asks for name in parameters["facts"]]
    return [_of_series(each, parameters) for each in parameters["series"]]


def _key(options: Parameters) -> str:
    """What tells units apart: several series and facts may ask for the same."""
    return json.dumps(options, sort_keys=True)


def _of_series(series: Mapping[str, Any], parameters: Parameters) -> list[Parameters]:
    own = {key: value for key, value in series.items() if key not in ("name", "measure")}
    options = {"columns": parameters.get("columns"), **own}
    if series["method"] == "plain":
        return [{**options, "k": 1}]
    return [{**options, parameters["at"]: level} for level in parameters["levels"]]


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
    release: TreeRelease = classifier.fit(adult.train.select([*columns, TARGET]), TARGET).release_
    return release


def _by_tree(adult: Adult, columns: Sequence[str], options: Parameters) -> dict[str, Any]:
    _load_kernels(options["variant"])
    start = time.process_time()
    release = mine(adult, columns, options)
    seconds = time.process_time() - start
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
        "level": _level(adult, release),
        "seconds": seconds,
    }


def _level(adult: Adult, release: TreeRelease) -> int | None:
    """The level of its taxonomy at which the root asks a column, 0 being the lowest; None where it has none."""
    root = release.nodes[0]
    if root.attribute not in adult.hierarchies:
        return None
    labels = adult.hierarchies[root.attribute].bind(adult.train[root.attribute]).labels
    groups = [len(each) for each in labels]
    return groups.index(len(root.branches)) if len(root.branches) in groups else None


@cache
def _load_kernels(variant: Literal["id3", "c45"]) -> None:
    """Grow a small tree first, so that no time is taken of compiled code being loaded."""
    AnonymousTreeClassifier(50, variant=variant).fit(load_sample().table.select(["age", "sex", "diabetes"]), "diabetes")


def _after_tds(adult: Adult, columns: Sequence[str], options: Parameters) -> dict[str, Any]:
    """TDS on training rows, or on both as PKDD'06 Sect. 4.1 says, then a tree of the training rows."""
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
