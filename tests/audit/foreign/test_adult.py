# SPDX-License-Identifier: Apache-2.0
"""The tree that every user would train on Adult today: 10-anonymous, and thousands of incomes given away."""

import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from shoal import Confidence, KAnonymity, audit

COLUMNS = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"]


@pytest.fixture(scope="module")
def adult(shoal_data) -> pd.DataFrame:
    return pd.read_csv(shoal_data / "adult_train.csv.gz", na_values="?", skipinitialspace=True).dropna()


def test_ten_people_a_leaf_and_12583_incomes_known(adult):
    X, y = adult[COLUMNS], adult["income"]
    encode = ColumnTransformer([("c", OneHotEncoder(), COLUMNS[1:])], remainder="passthrough")
    model = make_pipeline(encode, DecisionTreeClassifier(min_samples_leaf=10, random_state=0)).fit(X, y)
    found = audit(model, X, y, privacy=10)
    assert found.holds
    assert found.smallest_group == 10
    assert found.exact
    assert abs(found.exposed - 12_600) < 100
    tree = model[-1].tree_
    pure = (tree.impurity == 0) & (tree.children_left < 0)
    assert (found.n_groups, found.exposed) == (model[-1].get_n_leaves(), tree.n_node_samples[pure].sum())
    assert 260 <= pure.sum() <= 280
    text = str(found)
    assert text.index("every group has at least 10 people: holds") < text.index("target known for certain")
    assert "Confidence(0.95) would" in text
    assert not audit(model, X, y, privacy=KAnonymity(10) & Confidence(0.95)).holds


def test_a_forest_with_everything_public_groups_by_leaf_vectors(adult):
    X, y = adult.drop(columns="income"), adult["income"]
    words = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    encode = ColumnTransformer([("c", OrdinalEncoder(), words)], remainder="passthrough")
    model = make_pipeline(encode, RandomForestClassifier(5, max_depth=12, random_state=0)).fit(X, y)
    leaves = pd.Series(list(map(tuple, model[-1].apply(model[:-1].transform(X)))))
    assert audit(model, X, y, privacy=10).size_of_row.tolist() == leaves.map(leaves.value_counts()).tolist()
