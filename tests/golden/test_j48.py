# SPDX-License-Identifier: Apache-2.0
"""The tree that Weka shows of its vote data, against the rows it was grown on, in which many values are missing."""

import pandas as pd
import pytest

from shoal import audit
from shoal.audit.foreign.j48 import J48Model
from shoal.audit.foreign.j48_text import Leaf, parse
from shoal.repair import repair

VOTE = """J48 pruned tree
------------------

physician-fee-freeze = n: democrat (253.41/3.75)
physician-fee-freeze = y
|   synfuels-corporation-cutback = n: republican (145.71/4.0)
|   synfuels-corporation-cutback = y
|   |   mx-missile = n
|   |   |   adoption-of-the-budget-resolution = n: republican (22.61/3.32)
|   |   |   adoption-of-the-budget-resolution = y
|   |   |   |   anti-satellite-test-ban = n: democrat (5.04/0.02)
|   |   |   |   anti-satellite-test-ban = y: republican (2.21)
|   |   mx-missile = y: democrat (6.03/1.03)

Number of Leaves  : \t6

Size of the tree : \t11
"""


@pytest.fixture(scope="module")
def rows(shoal_data):
    return pd.read_csv(shoal_data / "house_votes_84.csv", na_values="?")


def parts(tree, rows, target):
    """People and misses of every leaf: parts of a person go every way that he has no value for, as many people go."""
    weight = {0: pd.Series(1.0, index=rows.index)}
    found = {}
    for number, node in enumerate(tree.nodes):
        own = weight[number]
        if isinstance(node, Leaf):
            found[number] = (round(own.sum(), 2), round(own[rows[target] != node.label].sum(), 2))
            continue
        value = rows[node.attribute]
        takes = [value == each for each in node.values]
        known = own[value.notna()].sum()
        for way, taken in zip(node.ways, takes, strict=True):
            share = own[taken].sum() / known
            weight[way] = own.where(taken, 0.0).where(value.notna(), own * share)
    return found


def test_parts_of_people_are_those_that_weka_prints(rows):
    tree = parse(VOTE)
    printed = {i: (leaf.people, leaf.miss) for i, leaf in enumerate(tree.nodes) if isinstance(leaf, Leaf)}
    found = parts(tree, rows, "class")
    for number, numbers in printed.items():
        assert found[number] == pytest.approx(numbers, abs=0.011)


def test_people_without_a_vote_are_groups_of_their_own(rows):
    verdict = audit(J48Model(VOTE), rows, "class", privacy=2)
    assert verdict.exact
    assert "counts-differ" not in {finding.code for finding in verdict.findings}
    assert not verdict.holds
    done = repair(J48Model(VOTE), rows, "class", privacy=10, method="atp")
    assert done.audit.smallest_group >= 10
    assert done.accuracy[1] > 0.94
