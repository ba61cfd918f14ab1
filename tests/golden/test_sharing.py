# SPDX-License-Identifier: Apache-2.0
"""The tables of Tian et al. as they are read here, and which of their requirements no release can keep."""

import numpy as np
import pytest

from shoal import AnonymousTreeClassifier
from shoal.data.stack import stack
from shoal.papers.adult import TARGET, Adult
from shoal.papers.sharing import truth, vote
from shoal.papers.sharing_data import SharingTable, read_sharing, share_rows
from shoal.papers.sharing_income import CHOSEN, SETTINGS, owner_trees
from shoal.privacy import RecursiveDiversity, SimpleDiversity


@pytest.mark.parametrize(
    ("name", "rows", "columns", "classes"),
    [("adult", 45222, 15, 14), ("nursery", 12960, 9, 5), ("car", 1728, 7, 4), ("cmc", 1473, 10, 3)],
)
def test_tables_are_those_of_table_1(shoal_data, name, rows, columns, classes):
    task = read_sharing(shoal_data, name)
    assert (task.rows.n_rows, len(task.rows), task.rows[task.target].n_codes) == (rows, columns, classes)


def test_requirements_that_no_release_of_adult_or_nursery_can_keep(shoal_data):
    occupation = read_sharing(shoal_data, "adult").rows["occupation"].counts()[None, :]
    assert round(occupation.max() / occupation.sum(), 3) == 0.133
    assert [n for n in range(2, 15) if SimpleDiversity(n).holds(occupation)[0]] == [2, 3, 4, 5, 6, 7]
    assert all(RecursiveDiversity(5, n).holds(occupation)[0] for n in range(2, 8))
    nursery = read_sharing(shoal_data, "nursery").rows["class"].counts()[None, :]
    assert [n for n in range(2, 6) if SimpleDiversity(n).holds(nursery)[0]] == [2, 3]
    assert [n for n in range(2, 6) if RecursiveDiversity(20, n).holds(nursery)[0]] == [2, 3, 4]


def test_ten_owners_of_adult_come_within_a_point_of_the_pooled_rows(shoal_data):
    """Unpruned trees by gain, k = 50 at every owner, shares averaged; beside the 50-anonymous tree of all rows."""
    adult = Adult.read(shoal_data)
    both = stack(adult.train, adult.test, adult.train.names)
    task = SharingTable(both, TARGET, tuple(name for name in both.names if name != TARGET), {})
    train, test = np.arange(adult.train.n_rows), both.take(np.arange(adult.train.n_rows, both.n_rows))
    options, fewer = SETTINGS[CHOSEN]
    trees = owner_trees(task, share_rows(train, 10, seed=0), options, fewer)
    assert len(trees) == 10
    assert all(tree.verdict is not None and tree.verdict.smallest_group >= 50 for tree in trees)
    right = truth(test, TARGET)
    joint = (vote(trees, test, shares=True) == right).mean()
    pooled = AnonymousTreeClassifier(50).fit(adult.train, TARGET).release_
    of_all = (pooled.predict(test, unknown="ancestor").astype(str) == right).mean()
    assert of_all > 0.86
    assert joint > of_all - 0.01
