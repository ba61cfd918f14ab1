# SPDX-License-Identifier: Apache-2.0
"""VLDB'08 Tables 1 and 2 and Fig. 1: twelve clients, their anonymised table and their tree."""

from __future__ import annotations

import csv
import io
from collections import Counter

import numpy as np

from shoal.anonymize import Incognito, anonymize_by_tree, tree_from_table
from shoal.audit import AnonymisedTable, attack, audit
from shoal.data import Table, to_table
from shoal.papers.worked import Numbers, worked
from shoal.papers.worked.told import YES, together
from shoal.release import TreeRelease
from shoal.trees import AnonymousTreeClassifier

COLUMNS = ("gender", "married", "age", "sports car", "loan risk")
PUBLIC, TARGET = COLUMNS[:-1], COLUMNS[-1]
NAMES = (
    *("Anthony", "Brian", "Charles", "David", "Edward", "Frank"),
    *("Alice", "Barbara", "Carol", "Donna", "Emily", "Fiona"),
)
TABLE_1 = (
    ("Male", "Yes", "Young", "Yes", "good"),
    ("Male", "Yes", "Young", "No", "good"),
    ("Male", "Yes", "Young", "Yes", "good"),
    ("Male", "Yes", "Old", "Yes", "good"),
    ("Male", "Yes", "Old", "Yes", "bad"),
    ("Male", "No", "Old", "Yes", "bad"),
    ("Female", "No", "Young", "No", "good"),
    ("Female", "No", "Old", "Yes", "good"),
    ("Female", "No", "Young", "No", "bad"),
    ("Female", "Yes", "Young", "No", "bad"),
    ("Female", "Yes", "Young", "Yes", "bad"),
    ("Female", "Yes", "Young", "Yes", "bad"),
)
TABLE_2 = (
    ("Male", "*", "Young", "*", "good"),
    ("Male", "*", "Young", "*", "good"),
    ("Male", "*", "Young", "*", "good"),
    ("Male", "*", "Old", "*", "good"),
    ("Male", "*", "Old", "*", "bad"),
    ("Male", "*", "Old", "*", "bad"),
    ("Female", "No", "*", "*", "good"),
    ("Female", "No", "*", "*", "good"),
    ("Female", "No", "*", "*", "bad"),
    ("Female", "Yes", "*", "*", "bad"),
    ("Female", "Yes", "*", "*", "bad"),
    ("Female", "Yes", "*", "*", "bad"),
)
# the leaves of Fig. 1, by a client who is in each
LEAVES = {
    "leaf 1, young men": "Anthony",
    "leaf 2, old men": "David",
    "leaf 3, married women": "Donna",
    "leaf 4, unmarried women": "Alice",
}


def clients() -> Table:
    """Table 1 without the names."""
    return _table(TABLE_1)


def _table(rows: tuple[tuple[str, ...], ...]) -> Table:
    return to_table(dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)))


def client_tree(k: int) -> TreeRelease:
    """The paper's k-anonymous tree of Table 1."""
    release: TreeRelease = AnonymousTreeClassifier(privacy=k, variant="id3").fit(clients(), TARGET).release_
    return release


def _right(table: Table) -> float:
    """How many rows are answered right by the tree that plain ID3 learns from them."""
    tree = AnonymousTreeClassifier(privacy=1, variant="id3").fit(table, TARGET)
    target = table[TARGET]
    return float((tree.predict(table) == np.array(target.names)[target.codes]).sum())


@worked("client-columns")
def columns() -> Numbers:
    """Which columns must go as a whole, and what is left without gender."""
    table = clients()
    found = [
        {name for name, level in solution.levels.items() if level}
        for solution in Incognito(2, reproducible=True).fit(table, TARGET).solutions_
    ]
    verdict = audit(AnonymisedTable(table.drop(["gender"])), privacy=2, sensitive=[TARGET])
    assert verdict.likeliest is not None
    return {
        "clients": table.n_rows,
        "least choices of columns to suppress, k = 2": len(found),
        "gender alone is one of them" + YES: float({"gender"} in found),
        "all but gender is one of them" + YES: float(set(PUBLIC) - {"gender"} in found),
        "without gender: highest share of a risk in a group, %": 100
        * float((verdict.likeliest / verdict.groups.people).max()),
    }


@worked("client-table")
def table_of_the_tree() -> Numbers:
    """The table of the tree for k = 2, and what can be learned from it and from the one without gender."""
    release = anonymize_by_tree(client_tree(2), clients(), reproducible=True)
    rows = [tuple(row) for row in csv.reader(io.StringIO(release.to_csv(), newline=""))][1:]
    hidden = {name: sum(row[place] == "*" for row in rows) for place, name in enumerate(PUBLIC)}
    printed, without = _table(TABLE_2), clients().drop(["gender"])
    smallest = audit(AnonymisedTable(printed), privacy=2, sensitive=[TARGET]).smallest_group
    return {
        **{f"{name}: suppressed cells": float(cells) for name, cells in hidden.items()},
        "rows that are as printed": float((Counter(rows) & Counter(TABLE_2)).total()),
        "people in the smallest group": float(smallest or 0),
        "suppressed cells more than without gender": float(sum(hidden.values()) - without.n_rows),
        "rows that the tree of the table answers right": _right(printed),
        "rows that the tree without gender answers right": _right(without),
        "rows answered right more than without gender": _right(printed) - _right(without),
    }


@worked("client-tree")
def tree() -> Numbers:
    """The tree, its bins and spans, and the linking attack on three of the women."""
    table, release = clients(), client_tree(3)
    leaf, risk = release.routing.apply(table), [row[-1] for row in TABLE_1]
    leaf_of = dict(zip(NAMES, leaf.tolist(), strict=True))
    bin_of = dict(zip(NAMES, zip(leaf.tolist(), risk, strict=True), strict=True))
    groups = audit(release, table).groups.of_row
    people = {node: [name for name in NAMES if leaf_of[name] == node] for node in release.leaves}
    span_of = dict(zip(NAMES, groups.tolist(), strict=True))
    again = tree_from_table(anonymize_by_tree(release, table))
    # the attacker of Def. 6 knows no ages
    known = ["gender", "married"]
    found = attack(release, table.select(known), public=known)
    women = ["Donna", "Emily", "Fiona"]
    donna = int(found.group_of_person[NAMES.index("Donna")])
    linked = found.beliefs[donna] * found.group_sizes[donna]
    told: dict[str, float] = {}
    for words, name in LEAVES.items():
        counts = dict(zip(release.classes, release.counts[leaf_of[name]], strict=True))
        told |= {f"{words}: {each}": float(counts[each]) for each in ("good", "bad")}
    return told | {
        "Anthony and Brian are in one bin" + YES: float(bin_of["Anthony"] == bin_of["Brian"]),
        "David and Edward are in one leaf" + YES: float(leaf_of["David"] == leaf_of["Edward"]),
        "David and Edward are in one bin" + YES: float(bin_of["David"] == bin_of["Edward"]),
        "leaves": len(release.leaves),
        "leaves whose people are those of a span": sum(together(NAMES, groups, inside) for inside in people.values()),
        "Barbara and Carol have one span" + YES: float(span_of["Barbara"] == span_of["Carol"]),
        "the tree made again from the table is the same" + YES: float(again.nodes == release.nodes),
        "Donna, Emily and Fiona are linked together" + YES: together(NAMES, found.group_of_person, women),
        "bad risks they are linked to": float(linked[found.classes.index("bad")]),
        "good risks they are linked to": float(linked[found.classes.index("good")]),
        "largest k that the tree keeps": float(
            max(k for k in range(1, len(NAMES) + 1) if audit(release, table, privacy=k).holds)
        ),
    }
