# SPDX-License-Identifier: Apache-2.0
"""A foreign tree as a released one: the same groups, the same counts, the same answers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from shoal import audit
from shoal.audit.foreign import read_model
from shoal.audit.foreign.tree_release import to_tree_release
from shoal.errors import DataError


def people(seed: int, missing: bool) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(17, 40, 80),
            "weight": rng.normal(70, 9, 80).round(2),
            "ward": pd.Series(rng.choice(["a", "b", "c"], 80), dtype="str"),
            "smoker": rng.random(80) < 0.5,
        }
    )
    ill = (X["age"] + 5 * (X["ward"] == "b") + rng.normal(0, 5, 80) > 30).map({True: "yes", False: "no"})
    if missing:
        X["weight"] = X["weight"].mask(rng.random(80) < 0.2)
        X["ward"] = X["ward"].mask(rng.random(80) < 0.2)
    return X, ill.rename("ill")


def trained(X, ill, seed, encoder):
    columns = [("w", encoder, ["ward"]), ("n", StandardScaler(), ["weight"]), ("a", OneHotEncoder(), ["age"])]
    encode = ColumnTransformer(columns, remainder="passthrough", sparse_threshold=0)
    return make_pipeline(encode, DecisionTreeClassifier(random_state=seed)).fit(X, ill)


@settings(max_examples=25)
@given(
    st.integers(0, 10_000),
    st.booleans(),
    st.sampled_from([OneHotEncoder(), OrdinalEncoder()]),
    st.sets(st.sampled_from(["age", "weight", "ward", "smoker"])),
)
def test_same_groups_counts_and_answers(seed, missing, encoder, public):
    X, ill = people(seed, missing)
    model = trained(X, ill, seed, encoder)
    subject, table = read_model(model, X, ill)
    release = to_tree_release(subject, table, privacy=2, public=public)
    assert release.predict(X).tolist() == model.predict(X).tolist()
    assert len({*map(int, subject.leaves(table)[:, 0])}) == sum(release.counts[list(release.leaves)].sum(axis=1) > 0)
    ours, theirs = audit(release, X, ill, privacy=3), audit(model, X, ill, public=public, privacy=3)
    assert ours.size_of_row.tolist() == theirs.size_of_row.tolist()
    assert ours.holds == theirs.holds
    assert ours.n_exempt == theirs.n_exempt
    assert ours.exact == theirs.exact


def test_a_forest_is_not_one_tree():
    X, ill = people(1, missing=False)
    forest = RandomForestClassifier(3).fit(X[["age"]], ill)
    with pytest.raises(DataError, match="a random forest of 3 trees"):
        to_tree_release(*read_model(forest, X[["age"]], ill), privacy=2)
