# SPDX-License-Identifier: Apache-2.0
"""Matatov, Rokach and Maimon (2010), Sect. 4.2 and Fig. 7: one partitioning of Fig. 1, its trees and its release."""

from __future__ import annotations

from collections import Counter

import numpy as np

from shoal.data import Table, to_table
from shoal.papers.worked import Numbers, worked
from shoal.papers.worked.dmpd_sample import AGE_CUT, TARGET, levels_of, mask, parted, sample
from shoal.partition.c45 import C45Tree, fit_c45
from shoal.partition.encoded import Encoded
from shoal.partition.publish import publish_projections
from shoal.partition.wrapper import combine
from shoal.release import ProjectionsRelease

QUASI = ("capital-gain", "age", "marital-status", "relationship")
K = 2
SUBSETS = (("education-num", "relationship"), ("age", "hours-per-week"))
DOMAIN = {"education-num": [1, 16], "hours-per-week": [1, 99], "age": [17, 90]}
YOUNG, OLD = "(-inf-48]", "(48-inf)"


def fig7() -> ProjectionsRelease:
    """What is released: two projections, each with the class; public is what of the quasi-identifier is in them."""
    return publish_projections(
        sample(),
        TARGET,
        SUBSETS,
        privacy=K,
        public=[name for subset in SUBSETS for name in subset if name in QUASI],
        cuts={"age": [AGE_CUT]},
        domain=DOMAIN,
        reproducible=True,
    )


@worked("dmpd-fig7")
def released() -> Numbers:
    """The levels of the partitioning, the rows of its two projections, and who is alone in them."""
    levels, z = levels_of(QUASI, cuts={"age": [AGE_CUT]}), parted(*SUBSETS)
    sal = levels.sal(z)
    assert sal is not None  # there are two subsets
    release = fig7()
    return {
        "relationship, education-num: level": levels.dal(mask(*SUBSETS[0])),
        "hours-per-week, age: level": levels.dal(mask(*SUBSETS[1])),
        "partial level": levels.pal(z),
        "set level": sal,
        **{f"first projection: {words}": n for words, n in _rows(release, 0).items()},
        **{f"second projection: {words}": n for words, n in _rows(release, 1).items()},
        "fewest people with the same relationship and age": levels.dal(mask("relationship", "age")),
    }


def _rows(release: ProjectionsRelease, number: int) -> Counter[str]:
    """How many rows of a projection have each combination of values."""
    columns = release.frame(number, backend="pyarrow").to_pydict()
    return Counter(", ".join(map(str, row)) for row in zip(*columns.values(), strict=True))


@worked("dmpd-eq1")
def classified() -> Numbers:
    """The trees of both subsets, and what Eq. 1 makes of them for one person."""
    rows = coded()
    columns = list(rows.values())
    encoded = Encoded.of_columns(columns[:-1], columns[-1])
    trees = [fit_c45(encoded, [rows.names.index(name) for name in subset]) for subset in SUBSETS]
    leaves = {words: told for tree in trees for words, told in _leaves(tree, rows).items()}
    hours = rows["hours-per-week"].numbers
    person = {
        "education-num": rows["education-num"].numbers.tolist().index(13),
        "relationship": rows["relationship"].names.index("Unmarried"),
        "hours-per-week": int(np.searchsorted(hours, 30)),  # nobody works 30 hours: it falls in with the next
        "age": rows["age"].names.index(YOUNG),
    }
    alone = [tree.probabilities([[person[name]] for name in rows.names[:-1]]) for tree in trees]
    prior = rows[TARGET].counts() / rows.n_rows
    rich = rows[TARGET].names.index(">50K")
    return {
        **{f"{words}: people": people for words, (people, _) in leaves.items()},
        **{f"{words}: of the other class": errors for words, (_, errors) in leaves.items()},
        "share of <=50K": float(prior[1 - rich]),
        "share of >50K": float(prior[rich]),
        "the person is above 50K by the first tree (1: yes)": int(alone[0].argmax()) == rich,
        "the person is above 50K by the second tree (1: yes)": int(alone[1].argmax()) == rich,
        "the person is above 50K by both (1: yes)": int(combine(alone, prior).argmax()) == rich,
    }


def coded() -> Table:
    """What the trees of Sect. 4.2 see of Fig. 1: age is in two intervals."""
    rows = sample()
    names = [name for subset in SUBSETS for name in subset]
    columns = {name: np.array(rows[name].values)[rows[name].codes] for name in [*names, TARGET]}
    columns["age"] = np.where(columns["age"] <= AGE_CUT, YOUNG, OLD)
    return to_table(columns)


def _leaves(tree: C45Tree, rows: Table, node: int = 0, path: str = "") -> dict[str, tuple[int, int]]:
    """Of every leaf the people, and those of another class than it answers; thresholds are values, as in J48."""
    if not tree.children(node):
        counts = tree.counts[node]
        return {path: (int(counts.sum()), int(counts.sum() - counts.max()))}
    column = rows[rows.names[tree.feature[node]]]
    if column.kind == "numeric":
        cut = f"{column.numbers[tree.cut[node]]:g}"
        ways = [f"{column.name} <= {cut}", f"{column.name} > {cut}"]
    else:
        ways = [f"{column.name} = {name}" for name in column.names]
    found: dict[str, tuple[int, int]] = {}
    for child, way in zip(tree.children(node), ways, strict=True):
        found |= _leaves(tree, rows, child, f"{path}, {way}" if path else way)
    return found
