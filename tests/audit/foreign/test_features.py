# SPDX-License-Identifier: Apache-2.0
"""Features traced back to columns are, to the last bit, what the model sees."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from shoal.audit.foreign.features import largest_at_most, seen, sources, trace
from shoal.data.frames import to_table
from shoal.errors import DataError

NUMERIC = {
    "scaler": StandardScaler,
    "no mean": lambda: StandardScaler(with_mean=False),
    "minmax": lambda: MinMaxScaler((-1, 2)),
    "clip": lambda: MinMaxScaler(clip=True),
    "maxabs": MaxAbsScaler,
    "robust": RobustScaler,
    "quantile": lambda: QuantileTransformer(n_quantiles=5),
    "power": PowerTransformer,
    "bins": lambda: KBinsDiscretizer(3, encode="ordinal", strategy="uniform"),
    "bins 1-hot": lambda: KBinsDiscretizer(3, encode="onehot", strategy="uniform"),
    "1-hot": lambda: OneHotEncoder(handle_unknown="ignore"),
    "through": lambda: "passthrough",
    "twice": lambda: make_pipeline(StandardScaler(), MinMaxScaler()),
    "scaled bins": lambda: make_pipeline(
        RobustScaler(), KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform")
    ),
}
FILLING = {
    "mean": SimpleImputer,
    "with indicator": lambda: SimpleImputer(strategy="median", add_indicator=True),
    "sentinel": lambda: make_pipeline(
        SimpleImputer(strategy="constant", fill_value=-1), SimpleImputer(missing_values=-1)
    ),
}
CATEGORICAL = {
    "1-hot": OneHotEncoder,
    "drop first": lambda: OneHotEncoder(drop="first", sparse_output=False),
    "if binary": lambda: OneHotEncoder(drop="if_binary"),
    "infrequent": lambda: OneHotEncoder(min_frequency=4, handle_unknown="infrequent_if_exist"),
    "most": lambda: OneHotEncoder(max_categories=2),
    "ordinal": OrdinalEncoder,
    "ordinal unknown": lambda: OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
    ),
    "filled": lambda: make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
    "scaled": lambda: make_pipeline(OneHotEncoder(), StandardScaler(with_mean=False)),
}


def frame(seed: int, missing: bool) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = 30
    table = pd.DataFrame(
        {
            "age": rng.integers(17, 30, n),
            "weight": np.round(rng.normal(70, 9, n), rng.integers(1, 9)),
            "ward": rng.choice(["a", "b", "c", "d"], n),
            "sex": rng.choice(["f", "m"], n),
            "smoker": rng.random(n) < 0.5,
        }
    )
    if missing:
        table["weight"] = table["weight"].mask(rng.random(n) < 0.2)
        table["ward"] = table["ward"].mask(rng.random(n) < 0.2)
    return table


def features_matrix(model, X) -> np.ndarray:
    table = to_table(X)
    _, features = trace(model, table.names)
    assert all(feature is not None for feature in features)
    return np.column_stack(
        [feature.numbers(table[feature.column])[table[feature.column].codes] for feature in features]
    )


def what_it_sees(model, X) -> np.ndarray:
    seen = model[:-1].transform(X)
    return np.asarray(seen.todense() if hasattr(seen, "todense") else seen, dtype=np.float64)


@settings(max_examples=120)
@given(st.integers(0, 10_000), st.sampled_from(sorted(NUMERIC)), st.sampled_from(sorted(CATEGORICAL)), st.booleans())
def test_numbers_are_those_of_the_pipeline(seed, numeric, categorical, filled):
    X = frame(seed, missing=filled)
    number = NUMERIC[numeric]()
    if filled:
        number = make_pipeline(FILLING[sorted(FILLING)[seed % 3]](), number)
    prepare = ColumnTransformer(
        [("n", number, ["weight", "age"]), ("gone", "drop", ["smoker"]), ("c", CATEGORICAL[categorical](), [2, 3])],
        remainder="passthrough",
        sparse_threshold=0.0 if filled else 0.6,  # a tree takes missing values, but not in a sparse matrix
    )
    model = Pipeline([("prepare", prepare), ("tree", DecisionTreeClassifier())])
    model.fit(X, np.arange(len(X)) % 2)
    assert np.array_equal(features_matrix(model, X), what_it_sees(model, X), equal_nan=True)


@pytest.mark.parametrize(
    "columns",
    [
        [0, 1],
        slice(0, 2),
        slice("age", "weight"),
        [True, True, False, False, False],
        make_column_selector("age|weight"),
    ],
)
@pytest.mark.parametrize("remainder", ["drop", "passthrough", OrdinalEncoder()])
def test_columns_may_be_named_in_every_way(columns, remainder):
    X = frame(3, missing=False)
    if remainder == "passthrough":
        X = X.drop(columns=["ward", "sex"])
        columns = columns[:3] if isinstance(columns, list) and columns[0] is True else columns
    prepare = ColumnTransformer([("n", StandardScaler(), columns)], remainder=remainder)
    model = make_pipeline(prepare, DecisionTreeClassifier()).fit(X, np.arange(len(X)) % 2)
    assert np.array_equal(features_matrix(model, X), what_it_sees(model, X))


def test_selections_and_unions_are_followed():
    X = frame(5, missing=False)[["age", "weight"]].assign(still=1)
    union = FeatureUnion([("a", StandardScaler()), ("b", make_pipeline(MinMaxScaler(), PowerTransformer()))])
    model = make_pipeline(VarianceThreshold(), union, SelectKBest(k=3), DecisionTreeClassifier())
    model.fit(X, X["age"] > 22)
    assert np.array_equal(features_matrix(model, X), what_it_sees(model, X))


def test_output_as_a_frame_is_followed():
    X = frame(6, missing=False)
    first = ColumnTransformer([("n", StandardScaler(), ["age"]), ("c", OrdinalEncoder(), ["ward", "sex"])])
    second = ColumnTransformer([("again", MinMaxScaler(), ["c__sex", "n__age"])], remainder="passthrough")
    model = make_pipeline(first, second, DecisionTreeClassifier()).set_output(transform="pandas")
    model.fit(X, np.arange(len(X)) % 2)
    assert np.array_equal(features_matrix(model, X), what_it_sees(model, X))


def test_arrays_have_columns_by_position():
    X = frame(7, missing=False)[["weight", "age"]].to_numpy()
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(X, X[:, 1] > 22)
    assert np.array_equal(features_matrix(model, X), what_it_sees(model, X))
    _, features = trace(model, to_table(X).names)
    factor, offset = features[1].affine
    assert np.allclose(factor * X[:, 1] + offset, what_it_sees(model, X)[:, 1])


def test_a_bare_model_sees_its_columns():
    X = frame(8, missing=False)[["smoker", "age"]]
    model = DecisionTreeClassifier().fit(X, X["age"] > 22)
    _, features = trace(model, ["age", "other", "smoker"])
    assert [(feature.column, feature.affine) for feature in features] == [("smoker", (1, 0)), ("age", (1, 0))]
    table = to_table(X)
    assert features[0].numbers(table["smoker"])[table["smoker"].codes].tolist() == X["smoker"].astype(float).tolist()


@pytest.mark.parametrize("mixing", [PCA(2), PolynomialFeatures(2), FunctionTransformer(lambda X: X - X.mean())])
def test_what_mixes_columns_is_not_traced(mixing):
    X = frame(9, missing=False)[["age", "weight", "smoker"]]
    prepare = ColumnTransformer([("m", mixing, ["age", "weight"]), ("s", "passthrough", ["smoker"])])
    model = make_pipeline(prepare, StandardScaler(), DecisionTreeClassifier()).fit(X, X["age"] > 22)
    _, features = trace(model, X.columns)
    assert [feature is None for feature in features] == [True] * (len(features) - 1) + [False]
    assert sources(model, X.columns) == [{"age", "weight"}] * (len(features) - 1) + [{"smoker"}]


def test_what_the_model_refuses_is_infinite():
    X = pd.DataFrame({"ward": ["a", "b", "a", "b"], "age": [1, 2, 3, 4]})
    prepare = ColumnTransformer([("c", OneHotEncoder(), ["ward"]), ("a", OneHotEncoder(), ["age"])])
    model = make_pipeline(prepare, DecisionTreeClassifier()).fit(X, [0, 1, 0, 1])
    _, features = trace(model, X.columns)
    more = to_table(pd.DataFrame({"ward": ["a", "b", "c", None], "age": [1, 2, 2.5, 4]}))
    assert features[0].numbers(more["ward"]).tolist() == [1, 0, np.inf, np.inf]
    assert features[2].numbers(more["age"]).tolist() == [1, 0, np.inf, 0, np.inf]


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from(["scaler", "minmax", "robust", "quantile", "power", "bins", "through"]))
def test_bounds_are_found_to_the_last_bit(seed, name):
    rng = np.random.default_rng(seed)
    X = rng.normal(10, 30, (40, 1)).round(2)
    model = make_pipeline(NUMERIC[name](), DecisionTreeClassifier()).fit(X, X[:, 0] > 9)
    _, (feature,) = trace(model, ["x0"])
    bounds = what_it_sees(model, X)[:6, 0] + rng.normal(0, 0.1, 6).round(1)
    for single in (False, True):
        found = largest_at_most(feature, bounds, np.full(6, -200.0), np.full(6, 200.0), single)
        inside = np.isfinite(found)
        assert (seen(feature, found[inside], single) <= bounds[inside]).all()
        more = np.nextafter(np.where(inside, found, np.nextafter(-200.0, -np.inf)), np.inf)
        assert ((seen(feature, more, single) > bounds) | (more > 200)).all()


def test_columns_must_be_there():
    X = frame(1, missing=False)[["age", "weight"]]
    model = DecisionTreeClassifier().fit(X, X["age"] > 22)
    with pytest.raises(DataError, match=r"'weight'.*Closest: 'height'"):
        trace(model, ["age", "height"])
    with pytest.raises(DataError, match="takes 2"):
        trace(DecisionTreeClassifier().fit(X.to_numpy(), X["age"] > 22), ["age"])
