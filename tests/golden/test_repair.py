# SPDX-License-Identifier: Apache-2.0
"""A scikit-learn tree on Adult, repaired to k = 50, loses at most a point against the tree that is mined for it."""

import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from shoal import AnonymousTreeClassifier, audit
from shoal.repair import repair


def rows(folder, name):
    found = pd.read_csv(folder / f"adult_{name}.csv.gz", na_values="?", skipinitialspace=True).dropna()
    target = found.columns[-1]
    return found.drop(columns=target), found[target].str.strip(" .").rename("income")


@pytest.mark.parametrize("least", [1, 10])
def test_a_repaired_tree_is_nearly_as_good_as_a_mined_one(shoal_data, least):
    (X, y), test = rows(shoal_data, "train"), rows(shoal_data, "test")
    words = list(X.select_dtypes(exclude="number").columns)
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words), remainder="passthrough")
    model = make_pipeline(encode, DecisionTreeClassifier(min_samples_leaf=least, random_state=0)).fit(X, y)
    done = repair(model, X, y, privacy=50, test=test)
    assert not done.before.holds
    assert audit(done.release, X.assign(income=y)).holds
    assert done.audit.smallest_group >= 50
    mined = AnonymousTreeClassifier(privacy=50).fit(X.assign(income=y), "income").release_
    best = (mined.predict(test[0], unknown="ancestor") == test[1].to_numpy()).mean()
    before, after = done.test_accuracy
    assert after >= best - 0.01
    assert after > before  # it had learned its rows by heart
