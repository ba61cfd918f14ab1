# SPDX-License-Identifier: Apache-2.0
"""What a sceptical reading of repair, people and the ledger found; each was once wrong."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from shoal import AnonymousTreeClassifier, Closeness, Confidence, KAnonymity
from shoal.repair import repair


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    n = 600
    X = pd.DataFrame({"a": rng.integers(0, 60, n).astype(float), "c": rng.normal(size=n).round(2)})
    return X, np.where(rng.random(n) < 0.1 + 0.2 * (X["a"] > 40), "yes", "no")


# ---------------------------------------------------------------- repair


@pytest.mark.parametrize("weight", ["balanced", {"yes": 4}])
def test_a_safe_tree_with_class_weights_predicts_as_before(rows, weight):
    X, y = rows
    model = DecisionTreeClassifier(class_weight=weight, min_samples_leaf=40, random_state=0).fit(X, y)
    done = repair(model, X, y, privacy=20)
    assert done.before.holds
    assert "yes" in model.predict(X)
    assert done.release.predict(X).tolist() == model.predict(X).tolist()
    # and so does the repair of what was repaired
    again = repair(done.release, X, y, privacy=20)
    assert again.release.weights == done.release.weights
    assert again.accuracy == done.accuracy


def test_pruning_counts_people_by_their_weight(rows):
    X, y = rows
    model = DecisionTreeClassifier(class_weight="balanced", min_samples_leaf=10, random_state=0).fit(X, y)
    done = repair(model, X, y, privacy=60)
    assert not done.before.holds
    assert set(done.release.predict(X)) == {"no", "yes"}


def test_a_forest_of_equal_trees_loses_nothing_that_one_of_them_keeps(rows):
    """What is asked a second time tells nobody apart again, however few people a group has."""
    X, y = rows
    model = RandomForestClassifier(3, bootstrap=False, max_features=None, min_samples_leaf=20, random_state=0).fit(X, y)
    assert len({tree.tree_.node_count for tree in model.estimators_}) == 1
    done = repair(model, X, y, privacy=20, prune=False)
    alone = repair(model.estimators_[0], X.to_numpy(), np.where(y == "yes", 1.0, 0.0), privacy=20, prune=False)
    assert alone.leaves[1] * 3 == done.leaves[1]


def test_what_a_release_does_not_state_its_repair_does_not_state(rows):
    X, y = rows
    release = AnonymousTreeClassifier(privacy=10).fit(X, y).release_.stating("majority")
    repaired = repair(release, X, y, privacy=50).release
    assert repaired.statement == "majority"
    assert "counts" not in str(repaired.to_json())


def test_bounds_of_a_private_column_have_people_behind_them_not_rows(rows):
    X, y = rows
    # one person has thirty rows, and in all of them what nobody else has
    X = X.assign(who=np.where(np.arange(len(X)) < 30, 0, np.arange(len(X))))
    X.loc[X["who"] == 0, "c"] = 777.25
    model = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X[["a", "c"]], y)
    done = repair(model, X, y, privacy=10, public=["a"], domain=None, person="who")
    assert done.release.several_rows
    assert done.audit.holds
    stated = [attribute for attribute in done.release.attributes if attribute.name == "c"]
    assert all(attribute.bounds[1] < 700 for attribute in stated)
    assert "777" not in str(done.release.to_json())


def test_closeness_is_to_the_people_of_the_table_not_to_its_rows(rows):
    X, y = rows
    X = X.assign(who=np.where(y == "yes", np.cumsum(y == "yes") // 8, 1000 + np.arange(len(y))))
    model = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(X[["a", "c"]], y)
    done = repair(model, X, y, privacy=KAnonymity(5) & Closeness(0.1), person="who")
    assert done.audit.holds
    assert done.release.several_rows


def test_sensitive_columns_are_not_public_by_default(rows):
    X, y = rows
    X = X.assign(b=np.where(np.arange(len(X)) % 3, "p", "q"))
    model = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(X[["a", "c"]], y)
    done = repair(model, X, y, privacy=KAnonymity(10) & Confidence(0.9), sensitive=["b"])
    assert set(done.release.public) == {"a", "c"}
    assert done.audit.holds
