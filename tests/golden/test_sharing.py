# SPDX-License-Identifier: Apache-2.0
"""The tables of Tian et al. as they are read here, and which of their requirements no release can keep."""

import pytest

from shoal.papers.sharing_data import read_sharing
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
