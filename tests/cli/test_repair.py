# SPDX-License-Identifier: Apache-2.0
"""``shoal repair --method atp`` of a release, a scikit-learn tree and what Weka prints of a J48 tree."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import skops.io as skops
from sklearn.tree import DecisionTreeClassifier

from shoal.cli.things import kind_of

from .conftest import Shoal

TREE = """=== Run information ===

Scheme:       weka.classifiers.trees.J48 -C 0.25 -M 2

=== Classifier model (full training set) ===

J48 pruned tree
------------------

sex = Female: no ({}.0/{}.0)
sex = Male
|   smoker = no: no ({}.0/{}.0)
|   smoker = former: no ({}.0/{}.0)
|   smoker = current: no ({}.0/{}.0)

Number of Leaves  : \t4

Size of the tree : \t6
"""


def printed(frame: pd.DataFrame) -> str:
    men = frame["sex"] == "Male"
    numbers = []
    for leaf in (~men, *(men & (frame["smoker"] == value) for value in ("no", "former", "current"))):
        numbers += [int(leaf.sum()), int((frame["diabetes"][leaf] == "yes").sum())]
    return TREE.format(*numbers)


def test_the_text_of_a_j48_tree_is_audited_and_repaired(shoal: Shoal, clinic: Path) -> None:
    frame = pd.read_csv(clinic / "clinic.csv")
    text = printed(frame)
    (clinic / "j48.txt").write_text(text)
    assert kind_of(clinic / "j48.txt") == "model"
    assert shoal("audit", "j48.txt", "-k", 491, "--public", "sex,smoker").code == 0
    assert shoal("audit", "j48.txt", "-k", 492, "--public", "sex,smoker").code == 3
    arguments = ["repair", "j48.txt", "-k", 600, "--public", "sex,smoker", "--method", "atp", "-o", "tree.json"]
    ran = shoal(*arguments, "--json")
    assert ran.code == 0
    assert (ran.json["before"]["holds"], ran.json["after"]["holds"], ran.json["leaves"]) == (False, True, [4, 3])
    assert ran.json["after"]["smallest_group"] == 546 + 491  # men who smoke or did
    assert shoal("audit", "tree.json").code == 0
    (clinic / "j48.txt").write_text(text[:-20])
    cut = shoal("audit", "j48.txt", "-k", 5)
    assert cut.code == 1
    assert "cut off" in cut.err


def test_releases_and_trees_of_scikit_learn_are_repaired_by_merging(shoal: Shoal, clinic: Path) -> None:
    frame = pd.read_csv(clinic / "clinic.csv")
    model = DecisionTreeClassifier(max_leaf_nodes=60, random_state=0).fit(frame[["age", "bmi"]], frame["diabetes"])
    skops.dump(model, clinic / "tree.skops")
    assert (
        shoal("repair", "tree.skops", "-k", 20, "--public", "age,bmi", "--method", "atp", "-o", "tree.json").code == 0
    )
    again = shoal("repair", "tree.json", "-k", 200, "--public", "age,bmi", "--method", "atp", "--json")
    assert again.code == 0
    assert again.json["after"]["smallest_group"] >= 200
    said = shoal("repair", "tree.json", "--confidence", 0.5, "--public", "age,bmi", "--method", "atp")
    assert said.code == 1
    assert "no tree can" in said.err
