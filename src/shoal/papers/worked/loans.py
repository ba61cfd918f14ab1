# SPDX-License-Identifier: Apache-2.0
"""VLDB'08 Table 4, Fig. 2 and Fig. 4; PKDD'06 Table 1, Fig. 1 and Fig. 2: six borrowers and their tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal._kernels.gains import scale_for
from shoal.audit import attack, audit
from shoal.audit.recount import Recount, recount
from shoal.data import Table, to_table
from shoal.papers.worked import Numbers, worked
from shoal.papers.worked.told import YES, together
from shoal.release import TreeRelease
from shoal.trees import AnonymousTreeClassifier
from shoal.trees.score import Score

LOANS: Mapping[str, Sequence[str]] = {
    "name": ["Lisa", "John", "Ben", "Laura", "Robert", "Anna"],
    "marital status": ["Unmarried", "Married", "Married", "Married", "Unmarried", "Unmarried"],
    "sports car": ["Yes", "Yes", "No", "No", "Yes", "No"],
    "loan risk": ["good", "good", "bad", "bad", "bad", "bad"],
}
NAMES = LOANS["name"]
TARGET = "loan risk"
PUBLIC = ["marital status"]
JOHNS, LISAS = ["John", "Ben", "Laura"], ["Lisa", "Robert", "Anna"]


def loans() -> Table:
    """The borrowers without their names."""
    return to_table({name: cells for name, cells in LOANS.items() if name != "name"})


def loan_tree(max_leaves: int | None = None) -> TreeRelease:
    """The papers' 3-anonymous ID3, after all its splits or after some of them."""
    tree = AnonymousTreeClassifier(privacy=3, public=PUBLIC, variant="id3", max_leaves=max_leaves)
    release: TreeRelease = tree.fit(loans(), TARGET).release_
    return release


def _linked(release: TreeRelease) -> Recount:
    """Who shares a span, for somebody who knows who is married."""
    return recount(release, loans(), None, PUBLIC)


def _bins(release: TreeRelease) -> Numbers:
    """How many people are in each bin."""
    return {
        f"{_words(release, leaf)}: {risk}": float(people)
        for leaf in release.leaves
        for risk, people in zip(release.classes, release.counts[leaf], strict=True)
    }


def _words(release: TreeRelease, leaf: int) -> str:
    return release.describe_node(leaf).replace(" and marital status = ", ", ")


@worked("loan-tree")
def tree_and_spans() -> Numbers:
    """The tree that is mined, and the spans of an attacker who does not know the sports cars."""
    release = loan_tree()
    groups = _linked(release).groups
    lisa, john = (int(groups.of_row[NAMES.index(name)]) for name in ("Lisa", "John"))
    return {
        **_bins(release),
        "spans": len(groups),
        "John, Ben and Laura are the people of a span" + YES: together(NAMES, groups.of_row, JOHNS),
        "Lisa, Robert and Anna are the people of a span" + YES: together(NAMES, groups.of_row, LISAS),
        "bins in John's span": float(groups.n_bins[john]),
        "bins in Lisa's span": float(groups.n_bins[lisa]),
        "3-anonymous" + YES: float(audit(release, loans(), privacy=3).holds),
    }


@worked("loan-tree-known-car")
def known_car() -> Numbers:
    """The same tree for an attacker who knows the sports cars too."""
    verdict = audit(loan_tree(), loans(), privacy=3, public=[*PUBLIC, "sports car"])
    return {
        "sports car public: people in John's span": float(verdict.size_of_row[NAMES.index("John")]),
        "sports car public: bins in John's span": float(verdict.groups.n_bins[_group(verdict.groups.of_row, "John")]),
        "sports car public: 3-anonymous" + YES: float(verdict.holds),
    }


@worked("loan-tree-bins")
def bins_and_beliefs() -> Numbers:
    """Who is in one bin or one span, and what an attacker makes of the counts."""
    release, table = loan_tree(), loans()
    leaf, risk = release.routing.apply(table), LOANS[TARGET]
    anna, ben = NAMES.index("Anna"), NAMES.index("Ben")
    found = attack(release, table.select(PUBLIC))
    good = np.array([each == "good" for each in risk])
    believed = found.beliefs[found.group_of_person, found.classes.index("good")]
    true = [good[found.group_of_person == group].mean() for group in found.group_of_person]
    return {
        "bins": float(len(release.leaves) * len(release.classes)),
        "Anna and Ben are in one bin" + YES: float(leaf[anna] == leaf[ben] and risk[anna] == risk[ben]),
        "Anna and Ben have one span" + YES: float(found.group_of_person[anna] == found.group_of_person[ben]),
        "share of good risks in a span, the attacker's less the true one, at most": float(abs(believed - true).max()),
    }


@worked("loan-steps")
def steps() -> Numbers:
    """The bins and spans after no split, after one and after two, and what the candidates gain."""
    table = loans()
    car = LOANS["sports car"]
    everybody = np.ones(table.n_rows, dtype=bool)
    has_car = np.array([each == "Yes" for each in car])
    at_root = [_gain(table, name, everybody) for name in ("sports car", "marital status")]
    told: dict[str, float] = {
        "gain of sports car less that of marital status, at the root, bits": at_root[0] - at_root[1],
        "gain of marital status where sports car = No, bits": _gain(table, "marital status", ~has_car),
    }
    for leaves, step in ((1, "no split: "), (2, "one split: "), (3, "two splits: ")):
        release = loan_tree(leaves)
        linked = _linked(release)
        told |= {step + words: people for words, people in _bins(release).items()}
        told[step + "bins"] = float(len(release.leaves) * len(release.classes))
        told[step + "spans"] = float(len(linked.groups))
        for name in ["John", "Lisa"][: len(linked.groups)]:  # they are never in one span where there are two
            group = _group(linked.groups.of_row, name)
            whose = f"{name}'s span" if len(linked.groups) > 1 else "the span"
            told[f"{step}people in {whose}"] = float(linked.groups.people[group])
            told[f"{step}bins in {whose}"] = float(linked.groups.n_bins[group])
    # of the last step, when there are two
    shared = set.intersection(*(set(linked.tree_spans.leaves_of(NAMES.index(name))) for name in ("John", "Lisa")))
    told[step + "bins that both spans have"] = float(len(shared) * len(release.classes))
    told[step + "John, Ben and Laura are the people of a span" + YES] = together(NAMES, linked.groups.of_row, JOHNS)
    return told


def _group(of_row: Sequence[int] | np.ndarray, name: str) -> int:
    return int(of_row[NAMES.index(name)])


def _gain(table: Table, name: str, rows: np.ndarray) -> float:
    """The information gain of splitting some people by a column, in bits a person."""
    column, target = table[name], table[TARGET]
    counts = np.zeros((1, column.n_codes, target.n_codes), dtype=np.int64)
    np.add.at(counts[0], (column.codes[rows], target.codes[rows]), 1)
    n = int(rows.sum())
    gained = int(Score("gain", n).gains(counts)[0])  # of all of them, in fixed-point
    return gained / float(n << scale_for(n))
