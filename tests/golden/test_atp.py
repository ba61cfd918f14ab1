# SPDX-License-Identifier: Apache-2.0
"""Adult with occupation as the class, as in Tian et al.: what merging branches gives, and what no tree can keep."""

import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from shoal import PromiseError, SimpleDiversity
from shoal.repair import repair


@pytest.fixture(scope="module")
def fitted(shoal_data):
    parts = [
        pd.read_csv(shoal_data / f"adult_{name}.csv.gz", na_values="?", skipinitialspace=True)
        for name in ("train", "test")
    ]
    rows = pd.concat([part.set_axis(parts[0].columns, axis=1) for part in parts]).dropna()
    assert len(rows) == 45_222
    X, y = rows.drop(columns="occupation"), rows["occupation"]
    words = list(X.select_dtypes(exclude="number").columns)
    encode = make_column_transformer((OrdinalEncoder(), words), remainder="passthrough")
    return make_pipeline(encode, DecisionTreeClassifier(max_leaf_nodes=400, random_state=0)).fit(X, y), X, y


def test_simple_8_diversity_of_occupation_is_impossible_and_said(fitted):
    model, X, y = fitted
    assert y.value_counts(normalize=True).iloc[0] == pytest.approx(0.133, abs=0.0005)  # more than one in eight
    with pytest.raises(PromiseError, match="so no tree can") as refused:
        repair(model, X, y, privacy=SimpleDiversity(8), method="atp")
    assert refused.value.code == "impossible"


@pytest.mark.parametrize("l", [2, 4, 7])
def test_what_is_possible_is_done(fitted, l):  # noqa: E741
    model, X, y = fitted
    done = repair(model, X, y, privacy=SimpleDiversity(l), method="atp")
    assert done.audit.holds
    assert done.audit.highest_confidence <= 1 / l
    assert int(done.release.counts[0].sum()) == 45_222
    assert (done.leaves[1] > 1) == (l == 2)  # splits in two leave little to merge with
