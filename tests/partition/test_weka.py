# SPDX-License-Identifier: Apache-2.0
"""C4.5 and naive Bayes are Weka's, as far as a tree's size and errors on its own rows tell.

The numbers are those of J48 and NaiveBayes of Weka 3.6.14 with default options, numeric columns as numbers.
"""

import pytest

from shoal.data import read_table
from shoal.partition.c45 import fit_c45
from shoal.partition.encoded import Encoded
from shoal.partition.naive_bayes import fit_bayes

# file, class, nodes and errors of J48, errors of naive Bayes
TABLES = [
    ("german_credit.csv", "class", 135, 145, 228),
    ("house_votes_84.csv", "class", 11, 12, 42),
    ("breast_cancer_wisconsin.csv", "class", 27, 13, 27),
    ("heart_statlog.csv", "class", 35, 23, 40),
    ("cmc.csv", "contraceptive_method", 321, 369, 740),
    ("pima_diabetes.csv", "class", 39, 122, 182),
    ("nursery.csv.gz", "class", 511, 242, 1257),
    ("car.csv", "class", 182, 64, 223),
]


@pytest.mark.parametrize(("file", "target", "nodes", "tree_errors", "bayes_errors"), TABLES)
def test_as_weka(shoal_data, file, target, nodes, tree_errors, bayes_errors):
    table = read_table(shoal_data / file, missing=["?"], kinds={target: "categorical"})
    columns = [column for name, column in table.items() if name not in (target, "id")]
    data = Encoded.of_columns(columns, table[target])
    tree, bayes = (fit(data, range(len(columns))) for fit in (fit_c45, fit_bayes))
    assert len(tree.feature) == nodes
    assert (tree.probabilities(data.codes).argmax(axis=1) != data.target).sum() == tree_errors
    assert (bayes.probabilities(data.codes).argmax(axis=1) != data.target).sum() == bayes_errors
