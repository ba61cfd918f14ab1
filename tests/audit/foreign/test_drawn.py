# SPDX-License-Identifier: Apache-2.0
"""A foreign tree as it is drawn: its own node numbers, the people of the rows, and no value of a private column."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from shoal.audit.foreign.drawn import drawn_tree


def rows() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"age": rng.integers(18, 90, 300), "pay": rng.normal(987.0, 3.0, 300).round(3)})
    return X, pd.Series(np.where(rng.random(300) < X["age"] / 90, "yes", "no"), name="ill")


def test_nodes_keep_their_numbers_and_have_the_people_of_the_rows() -> None:
    X, y = rows()
    model = DecisionTreeClassifier(min_samples_leaf=20, random_state=0).fit(X, y)
    drawn = drawn_tree(model, X, y, public=["age"])
    assert drawn is not None
    tree = model.tree_
    assert drawn.counts.sum(axis=1).tolist() == tree.n_node_samples.tolist()
    assert [node.is_leaf for node in drawn.nodes] == (tree.children_left < 0).tolist()
    for number, node in enumerate(drawn.nodes):
        if not node.is_leaf:
            assert [branch.node for branch in node.branches] == [
                tree.children_left[number],
                tree.children_right[number],
            ]
    shares = drawn.counts / drawn.counts.sum(axis=1, keepdims=True)
    assert np.allclose(shares, tree.value[:, 0, :])


def test_tests_of_private_columns_are_drawn_without_values() -> None:
    X, y = rows()
    model = DecisionTreeClassifier(min_samples_leaf=20, random_state=0).fit(X, y)
    assert "pay" in X.columns[model.tree_.feature[model.tree_.feature >= 0]]
    for known, unknown in (("age", "pay"), ("pay", "age")):
        drawn = drawn_tree(model, X, y, public=[known])
        assert drawn is not None
        tests = [(node.attribute, branch.condition()) for node in drawn.nodes for branch in node.branches]
        assert {words for name, words in tests if name == unknown} == {"= some values", "= the others"}
        assert all(words.startswith(("at most ", "above ")) for name, words in tests if name == known)


def test_a_number_as_target_is_drawn_by_people_alone_and_other_models_not_at_all() -> None:
    X, y = rows()
    tree = drawn_tree(
        DecisionTreeRegressor(max_depth=2).fit(X[["age"]], X["pay"]), X[["age"]], X["pay"], public=["age"]
    )
    assert tree is not None
    assert (tree.classes, tree.n_people) == (("people",), 300)
    for model in (RandomForestClassifier(3).fit(X, y), LogisticRegression().fit(X, y)):
        assert drawn_tree(model, X, y, public=["age"]) is None
