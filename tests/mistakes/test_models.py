# SPDX-License-Identifier: Apache-2.0
"""What a sceptical reading of the audits of foreign models found; each was once wrong."""

import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingRegressor, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from shoal import Confidence, DataError, Rules, audit, to_table
from shoal.audit.foreign.features import check_traced


def people(n=120):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.integers(0, 4, n), "b": rng.normal(size=n).round(1)})
    return rows, pd.Series(rng.choice(["no", "yes"], n), name="ill")


def codes(found, severity=None):
    return {finding.code for finding in found.findings if severity in (None, finding.severity)}


def assert_same_groups(found, keys):
    """The groups of an audit are those of some keys, one a row."""
    true = pd.factorize(pd.Series(list(map(tuple, keys))))[0]
    pairs = set(zip(found.groups.of_row.tolist(), true.tolist(), strict=True))
    assert len(pairs) == len(found.groups) == len(set(true.tolist()))


# ------------------------------------------------------------------------------------------ wrong groups


@pytest.mark.parametrize("weight", [10.0, 0.01])
def test_transformer_weights_count(weight):
    """Thresholds of weighted features were compared with features without their weights."""
    rows, y = people()
    parts = [("s", StandardScaler(), ["a"]), ("m", MinMaxScaler(), ["b"])]
    columns = ColumnTransformer(parts, transformer_weights={"s": weight, "m": 1 / weight})
    union = FeatureUnion([("s", StandardScaler()), ("m", MinMaxScaler())], transformer_weights={"s": weight})
    for before in (columns, union):
        model = make_pipeline(before, RandomForestClassifier(3, max_depth=3, random_state=0)).fit(rows, y)
        found = audit(model, rows, y, privacy=2)
        assert_same_groups(found, model[-1].apply(model[:-1].transform(rows)))
        assert "finer-groups" not in codes(found)


def test_a_negative_weight_turns_a_feature_round():
    rows, y = people()
    union = FeatureUnion([("s", StandardScaler())], transformer_weights={"s": -1.0})
    model = make_pipeline(union, DecisionTreeClassifier(max_depth=2, random_state=0)).fit(rows, y)
    found = audit(model, rows, y, privacy=2)
    assert "finer-groups" in codes(found)


def test_xgboost_takes_zeros_of_a_sparse_matrix_to_be_missing():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"c": rng.choice(list("abcd"), 200), "d": rng.choice(list("xyz"), 200)})
    y = ((rows["c"] == "a") ^ (rows["d"] == "x") ^ (rng.random(200) < 0.2)).astype(int).rename("ill")
    for sparse in (True, False):
        before = make_pipeline(OneHotEncoder(sparse_output=sparse), StandardScaler(with_mean=False))
        model = make_pipeline(before, xgboost.XGBClassifier(n_estimators=3, max_depth=2)).fit(rows, y)
        found = audit(model, rows, y, privacy=2)
        assert_same_groups(found, model[-1].apply(model[:-1].transform(rows)))
        assert "finer-groups" not in codes(found)


class Doubler(TransformerMixin, BaseEstimator):
    """A transformer that says which features it keeps, and then mixes them all the same."""

    func = None

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def get_support(self):
        return np.ones(self.n_features_in_, dtype=bool)

    def transform(self, X):
        return np.asarray(X) @ np.array([[1.0, 1.0], [1.0, -1.0]])


def test_a_transformer_that_only_looks_like_one_we_know():
    rows, y = people()
    model = make_pipeline(Doubler(), DecisionTreeClassifier(max_depth=3, random_state=0)).fit(rows, y)
    found = audit(model, rows, y, privacy=2, public=["a"])
    assert "finer-groups" in codes(found)
    assert len(found.groups) == rows["a"].nunique()


def encoded(column, y):
    before = ColumnTransformer([("o", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["c"])])
    return make_pipeline(before, DecisionTreeClassifier(random_state=0)).fit(pd.DataFrame({"c": column}), y)


def test_values_that_an_encoder_tells_apart_and_a_table_does_not():
    """None and NaN, or neighbours beyond 2**53, were one group to the audit and two to the model."""
    y = np.array(["p", "q", "q"] * 20)
    gaps = pd.Series([None, np.nan, "a"] * 20, dtype=object)
    for column in (gaps, pd.Series([2**53, 2**53 + 1, 7] * 20)):
        with pytest.raises(DataError) as error:
            audit(encoded(column, y), pd.DataFrame({"c": column}), y, privacy=2)
        assert error.value.code == "model-sees-other"
    numbers = pd.DataFrame({"c": [2**53, 2**53 + 1, 7] * 20})
    with pytest.raises(DataError) as error:
        audit(LogisticRegression().fit(numbers, y), numbers, y, privacy=2)
    assert error.value.code == "model-sees-other"


def test_dates_in_an_encoder_are_not_unknown_values():
    dates = pd.Series(pd.to_datetime(["2020-01-01", "2020-02-01", "2020-03-03"] * 20))
    y = np.array(["p", "q", "q"] * 20)
    model = encoded(dates, y)
    found = audit(model, pd.DataFrame({"c": dates}), y, privacy=2)
    assert len(found.groups) == 3
    assert "finer-groups" in codes(found)


def test_a_pipeline_that_makes_other_numbers_of_the_rows_is_refused():
    rows, y = people()
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2, random_state=0)).fit(rows, y)
    assert audit(model, rows, y, privacy=2).holds
    with pytest.raises(DataError) as error:
        check_traced(model, rows, to_table(rows.assign(b=rows["b"] + 1)))
    assert error.value.code == "model-sees-other"


def test_y_that_is_called_like_a_column_does_not_take_its_place():
    """The column was gone, and people were told apart without it."""
    rows, y = people()
    for model in (LogisticRegression().fit(rows.to_numpy(), y), LogisticRegression().fit(rows, y)):
        with pytest.raises(DataError) as error:
            audit(model, rows, y.rename("b"), privacy=2)
        assert error.value.code == "target-clash"
    with pytest.raises(DataError) as error:
        audit(model, rows.rename(columns={"b": "target"}), y.to_numpy(), privacy=2)
    assert error.value.code == "target-clash"
    tree = DecisionTreeClassifier(max_depth=1).fit(rows, y)
    assert audit(tree, rows.assign(ill=y), y, privacy=2).holds  # the very same column is no clash


# ------------------------------------------------------------------------------------------ wrong exemptions


def test_a_sensitive_column_that_a_black_box_was_given_by_place():
    """It was taken not to be given to the model, so that everything it was given seemed public."""
    rows, y = people()
    rows["s"] = np.arange(len(rows)) % 7
    model = LogisticRegression().fit(rows.to_numpy(), y)
    found = audit(model, rows.assign(ill=y), "ill", privacy=50, public=["a", "b", "ill"], sensitive=["s"])
    assert not found.holds
    assert found.n_exempt == 0
    fewer = LogisticRegression().fit(rows[["a", "b"]].to_numpy(), y)
    found = audit(fewer, rows.assign(ill=y), "ill", privacy=50, public=["a", "b", "ill"], sensitive=["s"])
    assert found.n_exempt == len(found.groups)
    with pytest.raises(DataError) as error:
        audit(LogisticRegression().fit(rows[["a"]].to_numpy(), y), rows, y, privacy=2)
    assert error.value.code == "column-count"


def test_a_model_that_was_taught_two_targets_tells_the_other_one_too():
    rows, y = people()
    both = pd.DataFrame({"ill": (y == "yes").astype(int), "other": np.arange(len(y)) % 2})
    models = [
        DecisionTreeClassifier().fit(rows, both),
        BaggingRegressor(random_state=0).fit(rows, both),
        xgboost.XGBRegressor(n_estimators=2).fit(rows, both),
    ]
    for model in models:
        found = audit(model, rows, both["ill"], privacy=50, public=["a", "b", "ill"])
        assert not found.holds
        assert found.n_exempt == 0


def test_a_target_that_everybody_shares_is_not_known_beforehand():
    rows, _ = people()
    y = pd.Series(["yes"] * len(rows), name="ill")
    tree = DecisionTreeClassifier().fit(rows, y)
    assert not audit(tree, rows, y, privacy=1000).holds
    assert not audit(tree, rows, y, privacy=1000, domain={"ill": ["no", "yes"]}).holds


class Oracle:
    """No estimator of scikit-learn."""

    def predict(self, rows):
        return np.zeros(len(rows))


def test_an_unknown_model_may_have_a_target():
    rows, _ = people()
    with pytest.raises(DataError) as error:
        audit(Oracle(), rows, privacy=5)
    assert error.value.code == "target-unnamed"
    assert not audit(Oracle(), rows, rows["b"].rename("t"), privacy=5).holds  # was an AttributeError
    assert audit(KMeans(2, n_init=1, random_state=0).fit(rows), rows, privacy=5).holds


# ------------------------------------------------------------------------------------------ finer groups


class NotTooMany:
    """At most as many people as `most`: large groups are worse, so it is not monotone."""

    monotone = False

    def __init__(self, most):
        self.most = most

    def holds(self, counts, total=None):
        return counts.sum(axis=1) <= self.most

    def describe(self):
        return f"at most {self.most} people"


def test_finer_groups_prove_nothing_of_a_requirement_that_is_not_monotone():
    rows, y = people()
    requirement = NotTooMany(119)
    box = LogisticRegression().fit(rows, y)
    found = audit(box, rows, y, privacy=requirement)
    assert not found.holds
    assert codes(found, "breach") == {"not-proven"}
    (note,) = (finding for finding in found.findings if finding.code == "finer-groups")
    assert "it holds for the model" not in note.message
    tree = DecisionTreeClassifier(max_depth=1).fit(rows, y)  # worked out exactly
    assert audit(tree, rows, y, privacy=requirement).holds


def test_finer_groups_prove_nothing_of_values_where_people_are_in_several():
    """p1 and p2 each have both values: in two groups of two nobody's is certain, in the merged one everybody's is."""
    rows = pd.DataFrame({"a": [0, 0, 1, 1], "who": ["p1", "p2", "p1", "p2"], "ill": ["n", "y", "y", "n"]})
    leaf = DecisionTreeClassifier(max_depth=1, min_samples_leaf=4).fit(rows[["a"]], rows["ill"])
    box = LogisticRegression().fit(rows[["a"]], rows["ill"])
    asked = {"privacy": Confidence(0.6), "person": "who"}
    assert not audit(leaf, rows, "ill", **asked).holds
    found = audit(box, rows, "ill", **asked)
    assert codes(found, "breach") == {"not-proven"}
    assert audit(box, rows, "ill", privacy=2, person="who").holds  # numbers of people only grow


def test_the_numbers_of_rules_prove_nothing_of_a_requirement_that_is_not_monotone():
    rules = Rules.from_frame(
        {"antecedents": [{"a"}], "consequents": [{"p"}], "support": [0.084], "confidence": [0.75]}, decimals=2
    )
    told = rules.populations(1000, public=["a"])
    assert told.verdict(2).answer == "holds"
    assert told.verdict(NotTooMany(110)).answer == "cannot tell"


# ------------------------------------------------------------------------------------------ rows inside


def test_a_model_that_keeps_rows():
    rows, y = people()
    for model in (KNeighborsClassifier(), SVC(), make_pipeline(StandardScaler(), SVC())):
        model.fit(rows, y)
        found = audit(model, rows, y, privacy=2, public=["a"])
        assert codes(found, "breach") == {"stores-rows"}
        everything = audit(model, rows, y, privacy=2, public=["a", "b", "ill"])
        assert "stores-rows" not in codes(everything)
    forest = RandomForestClassifier(30, oob_score=True, max_leaf_nodes=2, random_state=0).fit(rows, y)
    assert "stores-labels" in codes(audit(forest, rows, y, privacy=2, public=["a"]), "warning")


# ------------------------------------------------------------------------------------------ crashes


@pytest.mark.parametrize(
    "model", [DecisionTreeClassifier(), RandomForestClassifier(), KMeans(), make_pipeline(StandardScaler(), SVC())]
)
def test_a_model_that_was_never_fitted(model):
    rows, y = people()
    with pytest.raises(DataError) as error:
        audit(model, rows, y, privacy=2)
    assert error.value.code == "not-fitted"


def test_a_pipeline_of_one_step():
    rows, y = people()
    model = make_pipeline(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(rows, y)
    assert_same_groups(audit(model, rows, y, privacy=2), model[-1].apply(rows)[:, None])


def test_a_private_column_of_more_whole_numbers_than_floats_tell_apart():
    rows, _ = people()
    model = make_pipeline(StandardScaler(), KMeans(2, n_init=1, random_state=0)).fit(rows)
    found = audit(model, rows, privacy=2, public=["b"], domain={"a": [0, 1e19]})
    assert "finer-groups" in codes(found)
