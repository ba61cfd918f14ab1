# SPDX-License-Identifier: Apache-2.0
"""`variant="c45"` with k = 1 grows the trees of Weka's J48: the same leaves, the same errors on the rows themselves.

The numbers are those of Weka 3.6.14, ``J48 -S -C 0.25 -M 2`` (no subtree raising), trained and tested on all rows; see
benchmarks/c45.py and docs/explanation/c45.md.
"""

import numpy as np
import pytest

from shoal import AnonymousTreeClassifier, read_table

# file, class column, leaves that somebody is in, rows classified wrongly
J48 = [
    ("german_credit.csv", "class", 81, 145),
    ("house_votes_84.csv", "class", 6, 12),
    ("breast_cancer_wisconsin.csv", "class", 14, 13),
    ("heart_statlog.csv", "class", 20, 22),
    ("cmc.csv", "contraceptive_method", 157, 378),
    ("pima_diabetes.csv", "class", 20, 122),
    ("nursery.csv.gz", "class", 359, 242),
    ("car.csv", "class", 131, 64),
]


@pytest.mark.parametrize(("file", "target", "leaves", "errors"), J48, ids=[row[0] for row in J48])
def test_the_tree_is_as_large_and_as_wrong_as_that_of_j48(shoal_data, file, target, leaves, errors):
    table = read_table(shoal_data / file, missing=["?"], kinds={target: "categorical"})
    table = table.drop([name for name in table.names if name == "id"])
    release = AnonymousTreeClassifier(privacy=1, variant="c45").fit(table, target).release_
    people = release.counts[list(release.leaves)].sum(axis=1)
    assert int((people > 0).sum()) == leaves
    truth = np.array(table[target].names)[table[target].codes]
    assert int((release.predict(table).astype(str) != truth).sum()) == errors
