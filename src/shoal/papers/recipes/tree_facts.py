# SPDX-License-Identifier: Apache-2.0
"""Numbers about trees on Adult that the text of VLDB'08 Sect. 6 and PKDD'06 Sect. 4 states, one by one.

A fact asks for units of the recipe ``adult-trees`` and makes numbers of what they measured, each under some words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from shoal.papers.adult import CATEGORICAL, FIGURE_6, TARGET, Adult
from shoal.privacy import EntropyDiversity

Numbers = Mapping[str, float]
Options = Mapping[str, Any]
ID3 = {"columns": "categorical", "method": "tree", "variant": "id3"}
C45 = {"columns": "all", "method": "tree", "variant": "c45"}
YES = " (1: yes)"


@dataclass(frozen=True)
class Fact:
    """Options of the units that are asked for, and what numbers come of their results."""

    asks: Sequence[Options]
    tells: Callable[[Sequence[Any]], Numbers]


def by_k(tree: Options) -> list[Options]:
    """The units of a tree at the thirteen k."""
    return [{**tree, "k": k} for k in FIGURE_6]


def after_tds(tree: Options) -> Options:
    """The options of the same tree after TDS, which chose its cut on training and test rows."""
    return {**tree, "method": "tds", "rows": "both"}


def rows_of(adult: Adult) -> Numbers:
    """How many rows are complete, and how many test rows are of the smaller class."""
    kinds = [adult.train[name].kind for name in adult.train.names if name != TARGET]
    high = adult.test[TARGET].codes == adult.test[TARGET].names.index(">50K")
    return {
        "continuous columns": kinds.count("numeric"),
        "categorical columns": kinds.count("categorical"),
        "training rows": adult.train.n_rows,
        "test rows": adult.test.n_rows,
        "test rows above 50K, %": 100 * float(high.mean()),
    }


def limits_of(adult: Adult, at_85: EntropyDiversity) -> Numbers:
    """Entropy and ℓ of 85 % confidence, that of the root, and the lowest after one split of the root."""
    counts = adult.train[TARGET].counts()
    return {
        "entropy at 85 % confidence, bits": float(np.log2(at_85.l)),
        "ℓ at 85 % confidence": float(at_85.l),
        "confidence at the root, %": 100 * float(counts.max() / counts.sum()),
        "lowest confidence of a split of the root, eight columns, %": 100 * min(_after_a_split(adult)),
    }


def _after_a_split(adult: Adult) -> list[float]:
    """The highest confidence after each split of the root by a column, at each level of its taxonomy."""
    target, found = adult.train[TARGET], []
    for name in CATEGORICAL:
        column = adult.train[name]
        for level in adult.hierarchies[name].bind(column).maps:
            part = level[column.codes]
            counts = np.zeros((part.max() + 1, target.n_codes), dtype=np.int64)
            np.add.at(counts, (part, target.codes), 1)
            counts = counts[counts.any(axis=1)]
            if len(counts) > 1:
                found.append(float((counts.max(axis=1) / counts.sum(axis=1)).max()))
    return found


def _roots(trees: Sequence[Any]) -> Numbers:
    at_750, at_1000 = trees
    return {
        "k = 750: the root asks relationship" + YES: float(at_750["root"] == "relationship"),
        "k = 750: its branches": at_750["branches"],
        "k = 1000: the root asks marital status" + YES: float(at_1000["root"] == "marital-status"),
        "k = 1000: at its second lowest level" + YES: float(at_1000["level"] == 1),
    }


def _reduction(columns: int) -> Callable[[Sequence[Any]], Numbers]:
    def tells(found: Sequence[Any]) -> Numbers:
        trees, after = found[: len(FIGURE_6)], found[len(FIGURE_6) :]
        below = fmean(two["error"] - one["error"] for one, two in zip(trees, after, strict=True))
        return {f"below TDS with {columns} columns, points": below}

    return tells


def _exposure(name: str) -> Callable[[Sequence[Any]], Numbers]:
    def tells(trees: Sequence[Any]) -> Numbers:
        some = [k for k, tree in zip(FIGURE_6, trees, strict=True) if tree["exposed"] > 0]
        return {
            f"{name}: smallest k from which nobody is exposed": next(k for k in FIGURE_6 if k > max(some, default=0)),
            f"{name}: largest share exposed, %": max(tree["exposed"] for tree in trees),
        }

    return tells


def _seconds(name: str) -> Callable[[Sequence[Any]], Numbers]:
    return lambda trees: {f"slowest k-anonymous {name}, seconds": max(tree["seconds"] for tree in trees)}


FACTS: Mapping[str, Fact] = {
    "rows": Fact([{"method": "rows"}], lambda found: found[0]),
    "limits": Fact([{"method": "limits"}], lambda found: found[0]),
    "roots": Fact([{**ID3, "k": 750}, {**ID3, "k": 1000}], _roots),
    "below TDS, 8 columns": Fact([*by_k(ID3), *by_k(after_tds(ID3))], _reduction(8)),
    "below TDS, 14 columns": Fact([*by_k(C45), *by_k(after_tds(C45))], _reduction(14)),
    "exposure of ID3": Fact(by_k(ID3), _exposure("ID3")),
    "exposure of C4.5": Fact(by_k(C45), _exposure("C4.5")),
    "seconds of ID3": Fact(by_k(ID3), _seconds("ID3")),
    "seconds of C4.5": Fact(by_k(C45), _seconds("C4.5")),
}
