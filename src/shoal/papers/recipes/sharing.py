# SPDX-License-Identifier: Apache-2.0
"""Learning from published trees and tables (Tian et al., Fig. 10 to 16)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from shoal.papers.data import Data
from shoal.papers.registry import Measured, Parameters, Point, Unit, recipe
from shoal.papers.sharing import compare_generators
from shoal.papers.sharing_data import fold, read_sharing
from shoal.papers.sharing_private import compare_publishers
from shoal.privacy import RecursiveDiversity, SimpleDiversity

NAMES = {"adult": "Adult", "nursery": "Nursery", "car": "Car", "cmc": "CMC"}
LEARNERS = {"tree": "tree", "bayes": "naive Bayes", "rules": "conjunctive rule"}
GENERATORS = {
    "basis": "BASIS",
    "pgen": "PGEN",
    "basegen": "BASEGEN",
    "bagging": "BAGGING",
    "bagging-consensus": "BAGGING by consensus",
    "pgen-counts": "PGEN, classes counted",
    "bagging-shares": "BAGGING by shares",
}
PUBLISHERS = {"atp": "ATP", "atp-hits": "ATP by hits", "ldm": "LDM", "opti": "OPTI", "ldd": "LDD"}
OWNERS = {1: "one owner", 10: "ten owners"}
MEASURES = {"accuracy": "accuracy", "class_match": "class match", "path_match": "path match", "cm": "CM"}
# about how many seconds one fold with ten numbers of owners takes, and one requirement
GENERATING = {"adult": 460.0, "nursery": 3.0, "car": 1.0, "cmc": 3.0}
PUBLISHING = {"adult": 6.0, "nursery": 1.0}
Key = tuple[str, ...]


def tables_of(table: str) -> tuple[str, ...]:
    """The names of a table's files in the manifest."""
    return ("adult", "adult-taxonomies") if table == "adult" else (table,)


def _runs(parameters: Parameters) -> Iterator[dict[str, Any]]:
    """Folds and passes by table."""
    for table in parameters["tables"]:
        for number in range(parameters["passes"][table]):
            for part in range(parameters["folds"][table]):
                yield {"table": table, "fold": part, "pass": number, "share": parameters["shares"].get(table, 1.0)}


def _averages(pairs: Iterable[tuple[tuple[Any, ...], float]]) -> dict[tuple[Any, ...], float]:
    """The mean of all values of each key, in the order of the keys' first appearance."""
    found: dict[tuple[Any, ...], list[float]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return {key: fmean(values) for key, values in found.items()}


@recipe("sharing")
class Sharing:
    """What joint models learn from the usual trees of one to ten owners.

    Parameters of experiments: `tables`, `folds`, `passes` and `shares` (of the rows) by table, `owners`; and what is
    shown: `measure`, `learners`, `methods`, and by which of ``"table"``, ``"learner"`` and ``"method"`` there are
    `panels` and `series`.
    """

    sources = ("shoal.papers.sharing", "shoal.papers.sharing_data", "shoal.papers.dmpd_data")

    def units(self, parameters: Parameters) -> Iterator[Unit]:
        """One pass of one fold of one table each."""
        for run in _runs(parameters):
            options = {**run, "owners": list(parameters["owners"])}
            weight = 1 + GENERATING[run["table"]] * run["share"] * len(parameters["owners"]) / 10
            yield Unit(options, tables_of(run["table"]), weight)

    def measure(self, options: Parameters, data: Data) -> Any:
        """A line for each method, learner and number of owners."""
        task = read_sharing(data.folder, options["table"])
        train, test = fold(task.rows.n_rows, options["fold"], share=options["share"])
        seed = 1000 * options["fold"] + options["pass"]
        return compare_generators(task, train, test, owners=options["owners"], seed=seed)

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterator[Point]:
        """Averages over folds and passes, in per cent."""
        measure, owners = parameters["measure"], parameters["owners"]
        found = _averages(
            ((each.options["table"], line["learner"], line["method"], n), 100 * line[measure])
            for each in measured
            for line in each.result
            # the pooled rows do not depend on owners: the same everywhere
            for n in ([line["owners"]] if line["owners"] else owners)
            if measure in line and line["learner"] in parameters["learners"] and line["method"] in parameters["methods"]
        )
        for (table, learner, method, n), value in found.items():
            told = {"table": NAMES[table], "learner": LEARNERS[learner], "method": GENERATORS[method]}
            if method.startswith("bagging"):
                told["learner"] = LEARNERS["tree"]  # a vote of trees
            panel = ", ".join(told[each] for each in parameters["panels"])
            rest = [told[each] for each in parameters["series"]]
            yield Point(", ".join(rest), n, value, panel)


@recipe("sharing-private")
class SharingPrivate:
    """What is learned from what one owner, or ten, publish under a requirement.

    Parameters of experiments: `tables`, `folds`, `shares`, `passes` as of `sharing`; `owners`, a list: where it has
    several numbers, series are told by them; `diversity` by table, a list of [c, l] and [l]; and what is shown:
    `shows`, a list of [measure, learner], `leads`: whether to show by how much ATP leads, and `releases`: whether to
    show which requirements each method keeps.
    """

    sources = (*Sharing.sources, "shoal.papers.sharing_private")

    def units(self, parameters: Parameters) -> Iterator[Unit]:
        """One pass of one fold of one table and requirement each."""
        for run in _runs(parameters):
            for asked in parameters["diversity"].get(run["table"], []):
                for owners in parameters["owners"]:
                    options = {**run, "owners": owners, "diversity": list(asked)}
                    weight = 1 + PUBLISHING[run["table"]] * run["share"] * (5 if owners > 1 else 1)
                    yield Unit(options, tables_of(run["table"]), weight)

    def measure(self, options: Parameters, data: Data) -> Any:
        """A line for each method and learner; where nothing can be published it says why."""
        task = read_sharing(data.folder, options["table"])
        train, test = fold(task.rows.n_rows, options["fold"], share=options["share"])
        seed = 1000 * options["fold"] + options["pass"]
        asked = options["diversity"]
        requirement = RecursiveDiversity(*asked) if len(asked) == 2 else SimpleDiversity(*asked)
        return compare_publishers(task, train, test, requirement, owners=options["owners"], seed=seed)

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterator[Point]:
        """Averages over the folds and passes in which something could be published, in per cent."""
        pairs: list[tuple[tuple[Any, ...], float]] = []
        for each in measured:
            kind, x = _place(each.options["diversity"])
            whose = f", {OWNERS[each.options['owners']]}" if len(parameters["owners"]) > 1 else ""
            for line in each.result:
                for measure, learner in parameters["shows"]:
                    if measure in line and line.get("learner") == learner:
                        panel = f"{NAMES[each.options['table']]}, {kind}"
                        if len(parameters["shows"]) > 1:
                            panel += f", {LEARNERS[learner] if measure == 'accuracy' else MEASURES[measure]}"
                        pairs.append(((panel, PUBLISHERS[line["method"]], whose, x), 100 * line[measure]))
        found = _averages(pairs)
        for (panel, method, whose, x), value in found.items():
            yield Point(method + whose, x, value, panel)
        if parameters["leads"]:
            yield from _leads(found)
        if parameters["releases"]:
            yield from _kept(measured)
            yield from _broken(measured)


def _place(asked: Sequence[float]) -> tuple[str, str]:
    """The kind of a requirement, and the requirement."""
    return ("(c, l)", f"({asked[0]:g}, {asked[1]:g})") if len(asked) == 2 else ("simple l", f"l = {asked[0]:g}")


def _kept(measured: Sequence[Measured]) -> Iterator[Point]:
    """The share of runs in which a method published something."""
    found = _averages(
        ((each.options["table"], *_place(each.options["diversity"]), line["method"]), 0.0 if "why" in line else 100.0)
        for each in measured
        for line in each.result
    )
    for (table, kind, x, method), share in found.items():
        yield Point(PUBLISHERS[method], x, share, f"{NAMES[table]}, {kind}: runs with a release, %")


def _broken(measured: Sequence[Measured]) -> Iterator[Point]:
    """Of trees that ATP pruned by hits and misses: the share of those whose rows break the requirement."""
    found = _averages(
        ((each.options["table"], *_place(each.options["diversity"])), 100 * line["broken"])
        for each in measured
        for line in each.result
        if "broken" in line
    )
    for (table, kind, x), share in found.items():
        yield Point(PUBLISHERS["atp-hits"], x, share, f"{NAMES[table]}, {kind}: trees that an audit refuses, %")


def _leads(found: Mapping[tuple[Any, ...], float]) -> Iterator[Point]:
    """By how many points ATP leads each other method, averaged over the requirements that both keep."""
    gaps = _averages(
        ((panel, method, whose), found[panel, "ATP", whose, x] - value)
        for (panel, method, whose, x), value in found.items()
        if method != "ATP" and (panel, "ATP", whose, x) in found and not panel.endswith(MEASURES["cm"])
    )
    for (panel, method, whose), gap in gaps.items():
        yield Point(f"ATP over {method}{whose}", panel, gap, "mean lead, points")
