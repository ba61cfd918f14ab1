# SPDX-License-Identifier: Apache-2.0
"""Trees and forests of scikit-learn: exact spans, predictions from the grove, and what else is said of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier
from threadpoolctl import threadpool_limits

from helpers.foreign import leaves_of, same_partition, spans
from shoal import KAnonymity, audit
from shoal.audit.foreign import read_model
from shoal.audit.foreign.grove_subject import GroveSubject
from shoal.errors import DataError


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Models of a few rows are not worth threads, which wait for each other on a busy machine."""
    with threadpool_limits(1):
        yield


MODELS = {
    "tree": lambda random_state: DecisionTreeClassifier(max_depth=4, random_state=random_state),
    "regression tree": lambda random_state: DecisionTreeRegressor(random_state=random_state),
    "extra tree": ExtraTreeClassifier,
    "forest": lambda random_state: RandomForestClassifier(3, max_depth=4, random_state=random_state),
    "regression forest": lambda random_state: RandomForestRegressor(3, max_depth=4, random_state=random_state),
    "extra trees": lambda random_state: ExtraTreesClassifier(3, random_state=random_state),
    "extra regression": lambda random_state: ExtraTreesRegressor(2, max_depth=3, random_state=random_state),
    "boosting": lambda random_state: GradientBoostingClassifier(n_estimators=3, random_state=random_state),
    "regression boosting": lambda random_state: GradientBoostingRegressor(n_estimators=3, random_state=random_state),
    "histograms": lambda random_state: HistGradientBoostingClassifier(
        max_iter=3, min_samples_leaf=2, random_state=random_state
    ),
    "regression histograms": lambda random_state: HistGradientBoostingRegressor(
        max_iter=3, min_samples_leaf=2, random_state=random_state
    ),
    "bagging": lambda random_state: BaggingClassifier(
        DecisionTreeClassifier(), n_estimators=3, max_features=0.7, random_state=random_state
    ),
}
TAKES_MISSING = sorted(set(MODELS) - {"boosting", "regression boosting"})
NUMBERS = {
    "as is": lambda: "passthrough",
    "scaled": StandardScaler,
    "filled": lambda: make_pipeline(SimpleImputer(add_indicator=True), MinMaxScaler()),
    "bins": lambda: make_pipeline(SimpleImputer(), KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform")),
    "1-hot": lambda: OneHotEncoder(handle_unknown="ignore", sparse_output=False),
}
CATEGORIES = {
    "ordinal": lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan),
    "ordinal missing": lambda: OrdinalEncoder(encoded_missing_value=-1),
    "1-hot": lambda: OneHotEncoder(sparse_output=False),
    "drop first": lambda: OneHotEncoder(drop="first", sparse_output=False),
    "infrequent": lambda: OneHotEncoder(min_frequency=5, sparse_output=False, handle_unknown="infrequent_if_exist"),
}


def frame(seed: int, missing: bool, n: int = 24) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(1, 6, n),
            "weight": rng.normal(70, 9, n).round(1),
            "ward": pd.Series(rng.choice(["a", "b", "c", "d"], n), dtype="str"),
            "sex": pd.Series(rng.choice(["f", "m"], n), dtype="str"),
        }
    )
    if missing:
        table["age"] = table["age"].mask(rng.random(n) < 0.2)
        table["ward"] = table["ward"].mask(rng.random(n) < 0.2)
    return table


def answers_for(X: pd.DataFrame, model, seed: int):
    rng = np.random.default_rng(seed + 1)
    noise = rng.normal(0, 3, len(X)) + X["weight"] / 9 + X["age"].fillna(0)
    is_regressor = type(model).__name__.endswith("Regressor")
    return noise.rename("y") if is_regressor else pd.Series((noise > noise.median()).astype(int), name="y")


def domain_of(X: pd.DataFrame, asked=()) -> dict[str, list]:
    """Every value of each column; of a real number, those of the rows and one on either side of everything asked."""
    domain = {name: sorted(X[name].dropna().unique()) for name in X if name not in ("age", "weight")}
    low, high = int(X["age"].min()), int(X["age"].max())
    domain["age"] = list(range(low, high + 1))
    around = [each + way for each in asked for way in (-1e-4, 1e-4)]
    inside = [each for each in around if X["weight"].min() <= each <= X["weight"].max()]
    domain["weight"] = sorted({*inside, *X["weight"]})
    for name in X:
        if X[name].isna().any():
            domain[name].append(np.nan)
    return domain


def weights_asked(model, X: pd.DataFrame) -> list[float]:
    """The weights at which some tree or bin changes, from scikit-learn's own thresholds turned back into weights."""
    one, two = X.iloc[:1], X.iloc[:1].assign(weight=X["weight"].iloc[0] + 1)
    moves = np.asarray(model[:-1].transform(two) - model[:-1].transform(one))[0]
    final = model[-1]
    trees = [final] if hasattr(final, "tree_") else list(np.ravel(getattr(final, "estimators_", [])))
    thresholds = [t for tree in trees for t in tree.tree_.threshold[tree.tree_.feature >= 0]]
    for tree in (tree for each in getattr(final, "_predictors", []) for tree in each):
        thresholds += tree.nodes["num_threshold"][tree.nodes["is_leaf"] == 0].tolist()
    asked: list[float] = []
    for place in np.flatnonzero(moves):
        start = np.asarray(model[:-1].transform(one))[0, place]
        asked += [X["weight"].iloc[0] + (t - start) / moves[place] for t in thresholds]
    for each in (step for _, step, _ in model[0].transformers_ if hasattr(step, "steps")):
        if hasattr(each[-1], "bin_edges_"):
            asked += each[-1].bin_edges_[1].tolist()
    return asked


@settings(max_examples=80)
@given(data=st.data())
def test_spans_are_those_of_enumeration(data):
    seed = data.draw(st.integers(0, 100_000))
    name = data.draw(st.sampled_from(sorted(MODELS)))
    numbers, categories = data.draw(st.sampled_from(sorted(NUMBERS))), data.draw(st.sampled_from(sorted(CATEGORIES)))
    missing = data.draw(st.booleans()) and name in TAKES_MISSING and numbers != "1-hot"
    public = data.draw(st.sets(st.sampled_from(["age", "weight", "ward", "sex"])))
    X = frame(seed, missing, n=14)
    model = make_pipeline(
        ColumnTransformer([("n", NUMBERS[numbers](), ["age", "weight"]), ("c", CATEGORIES[categories](), [2, 3])]),
        MODELS[name](random_state=seed),
    )
    y = answers_for(X, model[-1], seed)
    model.fit(X, y)
    subject, table = read_model(model, X, y)
    assert isinstance(subject, GroveSubject)
    assert subject.exact
    assert subject.separable
    fast = subject.spans(table, public)
    slow = spans(X, sorted(public), domain_of(X, weights_asked(model, X)), leaves_of(model[-1], model[:-1].transform))
    assert same_partition(fast.of_row.tolist(), slow)
    assert [fast.n_bins[i] == 1 for i in fast.of_row] == [len(span) == 1 for span in slow]
    if fast.disjoint:
        distinct = set(slow)
        assert sum(map(len, distinct)) == len(frozenset().union(*distinct))


@settings(max_examples=40)
@given(st.integers(0, 100_000), st.sampled_from(sorted(MODELS)), st.booleans())
def test_everything_public_groups_by_leaves(seed, name, missing):
    X = frame(seed, missing and name in TAKES_MISSING, n=60)
    model = make_pipeline(
        ColumnTransformer([("c", OrdinalEncoder(), ["ward", "sex"])], remainder="passthrough"),
        MODELS[name](random_state=seed),
    )
    y = answers_for(X, model[-1], seed)
    model.fit(X, y)
    leaves = leaves_of(model[-1], model[:-1].transform)(X)
    found = audit(model, X, y, privacy=2)
    counts = pd.Series(leaves).map(pd.Series(leaves).value_counts())
    assert found.size_of_row.tolist() == counts.tolist()
    assert not any(finding.code == "counts-differ" for finding in found.findings)


@settings(max_examples=40)
@given(st.integers(0, 100_000), st.sampled_from(sorted(MODELS)), st.booleans())
def test_predictions_are_those_of_the_grove(seed, name, missing):
    X = frame(seed, missing and name in TAKES_MISSING)
    if name.endswith("histograms"):
        model = MODELS[name](random_state=seed).set_params(categorical_features=["ward", "sex"])
    else:
        encode = ColumnTransformer([("c", OneHotEncoder(), ["ward", "sex"])], remainder="passthrough")
        model = make_pipeline(encode, MODELS[name](random_state=seed))
    y = answers_for(X, model if name.endswith("histograms") else model[-1], seed)
    model.fit(X, y)
    subject, table = read_model(model, X, y)
    values = subject.grove.value[subject.leaves(table)]
    raw = (values.mean(axis=1) if subject.grove.combine == "mean" else values.sum(axis=1)) + subject.grove.base
    if hasattr(model, "decision_function"):
        assert np.allclose(raw[:, 0], model.decision_function(X))
    elif hasattr(model, "predict_proba"):
        assert np.allclose(raw, model.predict_proba(X))
    else:
        assert np.allclose(raw[:, 0], model.predict(X))


@settings(max_examples=25)
@given(st.integers(0, 100_000), st.sets(st.sampled_from(["age", "ward", "sex"])), st.booleans())
def test_histogram_boosting_with_its_own_categories(seed, public, missing):
    X = frame(seed, missing, n=30)
    X["ward"] = X["ward"].astype("category")
    X["sex"] = X["sex"].astype("category")
    y = answers_for(X, HistGradientBoostingClassifier(), seed)
    public = {*public, "weight"}
    model = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=1, random_state=seed).fit(X, y)
    subject, table = read_model(model, X, y)
    fast = subject.spans(table, public)
    slow = spans(X, sorted(public), domain_of(X), leaves_of(model, lambda rows: rows))
    assert same_partition(fast.of_row.tolist(), slow)
    assert [fast.n_bins[i] == 1 for i in fast.of_row] == [len(span) == 1 for span in slow]


@settings(max_examples=25)
@given(st.integers(0, 100_000), st.sets(st.sampled_from(["age", "weight", "ward"])))
def test_mixed_columns_give_finer_groups(seed, public):
    X = frame(seed, missing=False)[["age", "weight", "ward"]]
    prepare = ColumnTransformer([("p", PCA(1), ["age", "weight"]), ("c", OneHotEncoder(), ["ward"])])
    model = make_pipeline(prepare, RandomForestClassifier(3, max_depth=3, random_state=seed))
    y = answers_for(X, model[-1], seed)
    model.fit(X, y)
    subject, table = read_model(model, X, y)
    asks_mixed = any((tree.tree_.feature == 0).any() for tree in model[-1].estimators_)
    assert subject.exact == (not asks_mixed)
    fast = subject.spans(table, public)
    slow = spans(X, sorted(public), domain_of(X), leaves_of(model[-1], model[:-1].transform))
    assert len(set(zip(fast.of_row.tolist(), slow, strict=True))) == len(set(fast.of_row.tolist()))
    assert all(len(slow[row]) == 1 for row in range(len(X)) if fast.n_bins[fast.of_row[row]] == 1)
    if public == {"age", "weight", "ward"}:
        assert (fast.n_bins == 1).all()
        everywhere = audit(model, X, y, privacy=2)
        assert any(finding.code == "finer-groups" for finding in everywhere.findings) == asks_mixed


def test_a_contradictory_path_is_in_no_span():
    # the second test asks private numbers that the first one excludes within the declared domain
    X = pd.DataFrame({"pay": [1, 2, 3, 4] * 4, "ward": np.arange(16) // 8})
    model = DecisionTreeClassifier(random_state=0).fit(X, (X["pay"] > 2) ^ (X["ward"] == 1))
    y = pd.Series((X["pay"] > 2) ^ (X["ward"] == 1), name="y")
    wide, table = read_model(model, X, y)
    assert (wide.spans(table, ["ward"]).n_bins == 2).all()
    few = X[X["pay"] <= 2]
    narrow, table = read_model(model, few, y[few.index], domain={"pay": [1, 2]})
    assert (narrow.spans(table, ["ward"]).n_bins == 1).all()


def test_a_number_that_stands_for_missing_goes_its_way():
    X = pd.DataFrame({"age": [1.0, 2.0, np.nan, 8.0, 9.0, np.nan]})
    model = make_pipeline(SimpleImputer(strategy="constant", fill_value=5), DecisionTreeClassifier(random_state=0))
    model.fit(X, [0, 0, 1, 0, 0, 1])
    assert audit(model, X, pd.Series([0, 0, 1, 0, 0, 1]), privacy=2).group_sizes.tolist() == [2, 2, 2]


def test_other_rows_are_noticed():
    X = frame(1, missing=False, n=80)[["age", "weight"]]
    y = answers_for(X, DecisionTreeClassifier(), 1)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[:60], y[:60])
    codes = [finding.code for finding in audit(model, X, y, privacy=2).findings]
    assert "counts-differ" in codes
    assert "counts-differ" not in [finding.code for finding in audit(model, X[:60], y[:60], privacy=2).findings]


def test_words_name_columns_and_nodes():
    X = pd.DataFrame({"age": [20, 21, 40, 41, 40, 41], "ward": ["a", "a", "a", "a", "b", "b"]})
    y = pd.Series([0, 0, 1, 1, 0, 0], name="ill")
    encode = ColumnTransformer([("w", OneHotEncoder(), ["ward"])], remainder=StandardScaler())
    model = make_pipeline(encode, DecisionTreeClassifier(random_state=0)).fit(X, y)
    found = audit(model, X, y, privacy=3)
    assert found.what == "a decision tree of 3 leaves"
    messages = " ".join(finding.message for finding in found.findings if finding.code == "group-fails")
    assert "ward = a" in messages
    assert "age above 30.5" in messages
    assert found.findings[0].nodes
    forest = make_pipeline(encode, RandomForestClassifier(5, random_state=0)).fit(X, y)
    found = audit(forest, X, y, privacy=KAnonymity(3))
    assert "tree" in found.findings[0].message
    assert any(finding.code == "worst-case-counts" for finding in found.findings)
    assert not found.exact


def test_rows_that_the_model_refuses_are_an_error():
    X = pd.DataFrame({"ward": ["a", "b", "a", "b"], "age": [1, 2, 3, 4]})
    encode = ColumnTransformer([("w", OneHotEncoder(), ["ward"])], remainder="passthrough")
    y = pd.Series([0, 1, 0, 1], name="y")
    model = make_pipeline(encode, DecisionTreeClassifier(random_state=0)).fit(X, y)
    with pytest.raises(DataError, match="refuses the value of column 'ward' in 1 row") as caught:
        audit(model, X.assign(ward=["a", "b", "a", "secret"]), y, privacy=2)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("init", ["zero", None])
def test_boosting_from_a_constant_is_read(init):
    X = frame(2, missing=False)[["age", "weight"]]
    y = answers_for(X, GradientBoostingClassifier(), 2)
    model = GradientBoostingClassifier(n_estimators=2, init=init, random_state=0).fit(X, y)
    assert isinstance(read_model(model, X, y)[0], GroveSubject)


def test_what_is_not_made_of_trees_alone_stays_a_black_box():
    X = frame(2, missing=False)[["age", "weight"]]
    y = answers_for(X, GradientBoostingClassifier(), 2)
    started = GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()).fit(X, y)
    assert not isinstance(read_model(started, X, y)[0], GroveSubject)
    lines = BaggingClassifier(LogisticRegression(), n_estimators=2).fit(X, y)
    assert not isinstance(read_model(lines, X, y)[0], GroveSubject)
    several = RandomForestRegressor(2).fit(X, X)
    assert not isinstance(read_model(several, X, y)[0], GroveSubject)
