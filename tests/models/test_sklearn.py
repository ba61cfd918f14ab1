# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own battery, for a classifier and a regressor inside."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from shoal import AnonymousModel, RequirementError, load_sample

# checks we do not pass, each with its reason
EXPECTED_FAILURES: dict[str, str] = {}


@parametrize_with_checks(
    [
        AnonymousModel(LogisticRegression(), privacy=2),
        AnonymousModel(DecisionTreeRegressor(random_state=0), privacy=2),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
@pytest.mark.filterwarnings("default")  # some checks warn on purpose
def test_battery(estimator, check):
    check(estimator)


def test_no_listed_failure_is_stale():
    assert EXPECTED_FAILURES == {}


@pytest.fixture(scope="module")
def clinic():
    return load_sample().to_arrow().to_pandas()


def test_the_wrapper_is_what_it_wraps():
    assert is_classifier(AnonymousModel(LogisticRegression()))
    assert is_regressor(AnonymousModel(LinearRegression()))
    assert hasattr(AnonymousModel(LogisticRegression()), "predict_proba")
    assert not hasattr(AnonymousModel(RidgeClassifier()), "predict_proba")
    assert not hasattr(AnonymousModel(LinearRegression()), "predict_proba")


def test_cross_validation_grid_search_and_pipelines_work(clinic):
    X, y = clinic[["age", "sex", "education"]], clinic["diabetes"]
    model = AnonymousModel(make_pipeline(StandardScaler(), LogisticRegression()), privacy=50)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.75
    choices = {"privacy": [20, 200], "estimator__logisticregression__C": [0.1, 1.0]}
    search = GridSearchCV(model, choices, cv=2).fit(X, y)
    assert search.best_estimator_.release_.verdict.holds
    forest = AnonymousModel(RandomForestRegressor(10, random_state=0), privacy=50)
    assert cross_val_score(forest, clinic[["age", "sex", "diabetes"]], clinic["bmi"], cv=3).mean() > 0.05


def test_parameters_and_the_estimator_are_left_as_given(clinic):
    inside, options = RandomForestClassifier(5), {"max_leaves": 4}
    model = AnonymousModel(inside, privacy=50, tree_options=options, random_state=7)
    fitted = clone(model).fit(clinic[["age", "sex"]], clinic["diabetes"])
    model.fit(clinic[["age", "sex"]], clinic["diabetes"])
    assert model.estimator is inside
    assert not hasattr(inside, "estimators_")
    assert options == {"max_leaves": 4}
    assert len(model.release_.groups.leaves) <= 4
    assert inside.random_state is None
    assert fitted.release_.to_json() == model.release_.to_json()


def test_the_seed_reaches_the_estimator(clinic):
    X, y = clinic[["age", "sex", "bmi"]], clinic["diabetes"]

    def file(seed):
        inside = make_pipeline(StandardScaler(), RandomForestClassifier(5, max_depth=5))
        return AnonymousModel(inside, privacy=50, public=["age", "sex"], random_state=seed).fit(X, y).release_.file

    assert file(1) == file(1) != file(2)


def test_classes_come_back_in_their_own_type(clinic):
    X = clinic[["age", "sex", "bmi"]]
    for public in (None, ["age", "sex"]):
        for y in (np.where(clinic["diabetes"] == "yes", 10, 9), (clinic["diabetes"] == "yes").to_numpy()):
            model = AnonymousModel(LogisticRegression(), privacy=100, public=public).fit(X, y)
            assert set(model.predict(X)) <= set(np.unique(y))
            assert list(model.classes_) == list(np.unique(y))


def test_the_target_may_be_a_column_by_name(clinic):
    columns = ["age", "sex", "bmi"]
    by_name = AnonymousModel(LinearRegression(), privacy=100).fit(clinic[columns], "bmi")
    beside = AnonymousModel(LinearRegression(), privacy=100).fit(clinic[columns[:2]], clinic["bmi"])
    assert by_name.release_.to_json() == beside.release_.to_json()
    assert by_name.n_features_in_ == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": LogisticRegression}, "classifier or regressor"),
        ({"estimator": StandardScaler()}, "classifier or regressor"),
        ({"estimator": "tree"}, "classifier or regressor"),
        ({"privacy": 1.5}, "1.5"),
        ({"tree_options": {"depth": 3}}, "tree_options may have"),
        ({"tree_options": {"max_leaves": 0}}, "max_leaves must be"),
        ({"unknown": "guess"}, "unknown must be"),
    ],
)
def test_a_bad_parameter_is_refused_by_name(clinic, options, message):
    with pytest.raises(RequirementError, match=message):
        AnonymousModel(**{"estimator": LogisticRegression(), **options}).fit(clinic[["age"]], clinic["diabetes"])


@pytest.mark.parametrize(
    ("y", "code"),
    [(None, "no-target"), (["a"] * 5000, "not-numeric"), ([1.0] * 5000, "one-class"), ([1.0, 2.0], "target-length")],
)
def test_a_bad_target_of_a_regressor_is_refused(clinic, y, code):
    with pytest.raises(ValueError) as refused:
        AnonymousModel(LinearRegression()).fit(clinic[["age", "sex"]], y)
    assert refused.value.code == code
