# SPDX-License-Identifier: Apache-2.0
"""Numbers about trees on Adult that the text of VLDB'08 Sect. 6 and PKDD'06 Sect. 4 states, one by one.

The parameter `facts` lists functions of this file; each gives some numbers by the words they are listed under. All points
are of the series ``value``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from shoal.papers.adult import CATEGORICAL, FIGURE_6, TARGET, Adult
from shoal.papers.data import Data
from shoal.papers.recipes.trees import TABLES, AdultTrees, diversity_of
from shoal.papers.registry import Measured, Parameters, Point, Unit, recipe

Numbers = Mapping[str, float]
ID3 = {"columns": "categorical", "method": "tree", "variant": "id3"}
C45 = {"columns": "all", "method": "tree", "variant": "c45"}


@recipe("adult-facts")
class AdultFacts:
    """Numbers of the text, each from a function of the data."""

    sources = ("shoal.papers.adult", "shoal.papers.recipes.trees", "shoal.papers.recipes.tree_facts")

    def units(self, parameters: Parameters) -> Iterable[Unit]:
        """A unit for each fact."""
        return [Unit({"fact": name}, TABLES, weight=10) for name in parameters["facts"]]

    def measure(self, options: Parameters, data: Data) -> Any:
        """The numbers of one fact."""
        return FACTS[options["fact"]](data)

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterable[Point]:
        """All numbers by their words."""
        return [Point("value", words, value) for each in measured for words, value in each.result.items()]


def rows(data: Data) -> Numbers:
    """How many rows are complete, and how many test rows are of the smaller class."""
    adult = Adult.read(data.folder)
    kinds = [adult.train[name].kind for name in adult.train.names if name != TARGET]
    high = adult.test[TARGET].codes == adult.test[TARGET].names.index(">50K")
    return {
        "continuous columns": kinds.count("numeric"),
        "categorical columns": kinds.count("categorical"),
        "training rows": adult.train.n_rows,
        "test rows": adult.test.n_rows,
        "test rows above 50K, %": 100 * float(high.mean()),
    }


def roots(data: Data) -> Numbers:
    """What the root of the ID3 tree asks at k = 750 and 1000: 1 where the papers say so."""
    at = {k: AdultTrees().measure({**ID3, "k": k}, data) for k in (750, 1000)}
    taxonomy = Adult.read(data.folder).hierarchies["marital-status"]
    second = len({row[1] for row in taxonomy.rows})
    return {
        "k = 750: the root asks relationship (1: yes)": float(at[750]["root"] == "relationship"),
        "k = 750: its branches": at[750]["branches"],
        "k = 1000: the root asks marital status (1: yes)": float(at[1000]["root"] == "marital-status"),
        "k = 1000: its branches are the second lowest level (1: yes)": float(at[1000]["branches"] == second),
    }


def limits(data: Data) -> Numbers:
    """Entropy and ℓ of 85 % confidence, that of the root, and the lowest after one split of the root."""
    adult = Adult.read(data.folder)
    asked = diversity_of(85).l
    counts = adult.train[TARGET].counts()
    return {
        "entropy at 85 % confidence, nats": float(np.log(asked)),
        "ℓ at 85 % confidence": float(asked),
        "confidence at the root, %": 100 * float(counts.max() / counts.sum()),
        "lowest confidence of a split of the root, eight columns, %": 100 * min(_splits(adult)),
    }


def _splits(adult: Adult) -> list[float]:
    """The highest confidence after each split of the root by a column, at each level of its taxonomy."""
    target, found = adult.train[TARGET], []
    for name in CATEGORICAL:
        column = adult.train[name]
        for level in adult.hierarchies[name].bind(column).maps:
            part = level[column.codes]
            counts = np.zeros((part.max() + 1, target.n_codes))
            np.add.at(counts, (part, target.codes), 1)
            people = counts.sum(axis=1)
            if (people > 0).sum() > 1:
                found.append(float((counts.max(axis=1)[people > 0] / people[people > 0]).max()))
    return found


def reductions(data: Data) -> Numbers:
    """By how many points the error is below that after TDS, on average over the thirteen k."""
    return {
        "below TDS with 8 columns, points": _below(data, ID3),
        "below TDS with 14 columns, points": _below(data, C45),
    }


def _below(data: Data, tree: Mapping[str, Any]) -> float:
    tds = {**tree, "method": "tds", "rows": "both"}
    run = AdultTrees().measure
    return fmean(run({**tds, "k": k}, data)["error"] - run({**tree, "k": k}, data)["error"] for k in FIGURE_6)


def exposure(data: Data) -> Numbers:
    """From which of the thirteen k on nobody's class is certain, and how many people's is at smaller ones."""
    found: dict[str, float] = {}
    for name, tree in (("ID3", ID3), ("C4.5", C45)):
        exposed = {k: AdultTrees().measure({**tree, "k": k}, data)["exposed"] for k in FIGURE_6}
        some = [k for k in FIGURE_6 if exposed[k] > 0]
        found[f"{name}: smallest k at which nobody is exposed"] = next(k for k in FIGURE_6 if k > max(some, default=0))
        found[f"{name}: largest share exposed, %"] = max(exposed.values())
    return found


def seconds(data: Data) -> Numbers:
    """CPU seconds of the slowest of the trees of each kind, its audit included."""
    return {
        f"slowest k-anonymous {name}, seconds": max(
            AdultTrees().measure({**tree, "k": k}, data)["seconds"] for k in FIGURE_6
        )
        for name, tree in (("ID3", ID3), ("C4.5", C45))
    }


FACTS: Mapping[str, Callable[[Data], Numbers]] = {
    each.__name__: each for each in (rows, roots, limits, reductions, exposure, seconds)
}
