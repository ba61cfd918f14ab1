# SPDX-License-Identifier: Apache-2.0
"""The experiments of Tian et al.: their parts by hand on small tables, and one small run of each."""

from fractions import Fraction

import numpy as np
import pytest

from shoal import AnonymousTreeClassifier, to_table
from shoal.anonymize import TreeAnonymizer
from shoal.papers.sharing import compare_generators, consensus, together, vote
from shoal.papers.sharing_data import SharingTable, fold, share_rows
from shoal.papers.sharing_private import combined_cm, compare_publishers, exact_rows
from shoal.privacy import RecursiveDiversity, SimpleDiversity

ROWS = to_table(
    {
        "a": ["x"] * 60 + ["y"] * 60,
        "b": (["u"] * 30 + ["v"] * 30) * 2,
        "n": [1, 2, 3] * 40,
        "c": ["0"] * 60 + ["1"] * 30 + ["0"] * 20 + ["1"] * 10,
    }
)
TASK = SharingTable(ROWS, "c", ("a", "b", "n"), {})


def test_folds_and_owners_share_rows_out_evenly_and_once():
    parts = [fold(103, number) for number in range(10)]
    assert sorted(np.concatenate([test for _, test in parts]).tolist()) == list(range(103))
    for train, test in parts:
        assert sorted([*train, *test]) == list(range(103))
    owners = share_rows(np.arange(103), 10, seed=1)
    assert sorted(np.concatenate(owners).tolist()) == list(range(103))
    assert {len(rows) for rows in owners} == {10, 11}
    train, test = fold(103, 0, share=0.2)
    assert len(train) + len(test) == 21


def test_joined_tables_keep_every_row():
    parts = [ROWS.take(np.arange(i, 120, 5)) for i in range(5)]
    joined = together(parts)
    for name in ROWS.names:
        assert sorted(np.array(joined[name].values)[joined[name].codes]) == sorted(
            np.array(ROWS[name].values)[ROWS[name].codes]
        )


def test_bagging_by_votes_and_by_shares_differ_where_one_tree_is_sure():
    """Of a row two trees say 0 by 3 to 2, one says 1 by 10 to 0: two votes for 0, and 1.2 against 1.8 shares."""
    unsure = to_table({"a": ["x", "y"] * 5, "c": ["0"] * 6 + ["1"] * 4})
    sure = to_table({"a": ["x", "y"] * 6, "c": ["1"] * 10 + ["0", "0"]})
    stump = AnonymousTreeClassifier(privacy=10, domain={"a": ["x", "y"], "c": ["0", "1"]})
    trees = [stump.fit(rows, "c").release_ for rows in (unsure, unsure, sure)]
    row = to_table({"a": ["x"]})
    assert vote(trees, row, shares=False).tolist() == ["0"]
    assert vote(trees, row, shares=True).tolist() == ["1"]
    # two of three are more than half; one of two is not
    assert consensus(trees, row).tolist() == ["0"]
    assert consensus(trees[1:], row).tolist() == [""]


def test_cm_of_a_tree_counts_only_what_paths_ask_for():
    """Leaves a = x (60 and 0), a = y with b = u (0 and 30), a = y with b = v (20 and 10): ten rows in the minority."""
    tree = AnonymousTreeClassifier(privacy=10, variant="id3", domain=TASK.domain(["a", "b"]))
    release = tree.fit(ROWS.select(["a", "b", "c"]), "c").release_
    assert len(release.leaves) == 3
    assert combined_cm([release]) == float(Fraction(10, 120))
    assert combined_cm([release, release]) == float(Fraction(10, 120))


def test_cm_of_a_table_is_over_its_groups():
    release = TreeAnonymizer(privacy=60, reproducible=True).fit(ROWS.select(["a", "c"]), "c").release_
    # a = x: 60 and 0; a = y: 20 and 40
    assert combined_cm([release]) == float(Fraction(20, 120))


def test_exact_rows_have_the_published_classes():
    table = TreeAnonymizer(privacy=20, reproducible=True).fit(ROWS, "c").release_
    tree = AnonymousTreeClassifier(privacy=20, domain=TASK.domain(TASK.public)).fit(ROWS, "c").release_
    for release in (table, tree):
        rows = exact_rows(release, 0)
        assert rows.names == ROWS.names
        assert rows["c"].counts().tolist() == ROWS["c"].counts().tolist()


def test_generators_from_one_and_two_owners():
    train, test = fold(120, 0)
    lines = compare_generators(TASK, train, test, owners=(1, 2), seed=3)
    by = {(line["method"], line["learner"], line["owners"]): line for line in lines}
    assert len(by) == len(lines) == 3 + 2 * (3 + 3 + 3 + 1)
    # with one owner the joint tree is his own
    one = {by[method, "tree", 1]["accuracy"] for method in ("pgen", "pgen-counts", "basegen", "bagging")}
    assert len(one) == 1
    assert all(0 <= line["accuracy"] <= 1 and 0 <= line["class_match"] <= 1 for line in lines)
    assert {key for key, line in by.items() if "path_match" in line} == {
        (method, "tree", n) for method in ("pgen", "pgen-counts") for n in (1, 2)
    }
    assert lines == compare_generators(TASK, train, test, owners=(1, 2), seed=3)


@pytest.mark.parametrize("owners", [1, 2])
def test_publishers_keep_the_requirement_or_say_why_not(owners):
    train, test = fold(120, 0)
    lines = compare_publishers(
        TASK, train, test, RecursiveDiversity(3, 2), owners=owners, methods=["atp", "ldm"], seed=0
    )
    learners = ["tree"] if owners == 1 else ["tree", "bayes"]
    assert [(line["method"], line["learner"]) for line in lines] == [
        (method, learner) for method in ("atp", "ldm") for learner in learners
    ]
    assert all(0 < line["cm"] < 0.5 and 0 <= line["accuracy"] <= 1 for line in lines)
    # two in three have class 0: nobody can be hidden among three equal classes
    (no,) = compare_publishers(TASK, train, test, SimpleDiversity(3), owners=owners, methods=["atp"])
    assert no["why"].startswith("impossible")
    assert "accuracy" not in no


def test_trees_pruned_by_estimated_hits_are_audited_and_told():
    """Sixteen people of y have class 0; of 29 of x 14 have class 1, 13 class 0, and one each of two others."""
    classes = ["0"] * 16 + ["1"] * 14 + ["0"] * 13 + ["2", "3"]
    rows = to_table({"a": ["y"] * 16 + ["x"] * 29, "c": classes})
    task, everybody = SharingTable(rows, "c", ("a",), {}), np.arange(45)
    # y is merged with x, whose 15 misses are taken to be five of each other class: 21 of 45 have class 0, really 29
    (line,) = compare_publishers(task, everybody, everybody, SimpleDiversity(2), methods=["atp-hits"])
    assert line["broken"] == 1
    (exact,) = compare_publishers(task, everybody, everybody, SimpleDiversity(2), methods=["atp"])
    assert exact["why"].startswith("impossible")
