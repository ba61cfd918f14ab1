# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own checks, and what it expects of any estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from shoal import load_sample
from shoal.anonymize import TreeAnonymizer

# checks we do not pass: they subtract two outputs, and generalised values are texts
SUBTRACT = [
    "check_pipeline_consistency",
    "check_estimators_pickle",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_fit_idempotent",
]
EXPECTED_FAILURES = dict.fromkeys(SUBTRACT, "subtracts two outputs, and generalised values are texts")


@parametrize_with_checks(
    [TreeAnonymizer(privacy=3, reproducible=True)], expected_failed_checks=lambda estimator: EXPECTED_FAILURES
)
@pytest.mark.filterwarnings("default")  # some checks warn on purpose
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_parameters_are_stored_as_given_and_cloned():
    anonymizer = TreeAnonymizer(privacy=7, public=["age"], reproducible=True)
    assert clone(anonymizer).get_params() == anonymizer.get_params()


def test_rows_of_an_array_come_back_in_order():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (80, 2))
    y = (X[:, 0] > 1).astype(int)
    back = TreeAnonymizer(privacy=5).fit_transform(X, y)
    assert back.column_names == ["x0", "x1"]
    assert {label for label, number in zip(back["x0"].to_pylist(), X[:, 0], strict=True) if number > 1} == {">1.5"}


@pytest.mark.parametrize("option", ["max_depth", "max_leaves"])
def test_bad_options_are_refused(option):
    people = load_sample().table.select(["age", "diabetes"])
    with pytest.raises(ValueError, match=f"{option} must be a whole number"):
        TreeAnonymizer(**{option: 0}).fit(people, "diabetes")


def test_other_rows_are_generalised_alike():
    people = load_sample().to_arrow().select(["age", "sex", "education", "diabetes"]).to_pandas()
    anonymizer = TreeAnonymizer(privacy=100, reproducible=True)
    assert anonymizer.fit_transform(people, "diabetes").equals(anonymizer.transform(people))
    some = anonymizer.transform(people[:3].drop(columns="diabetes"))
    assert list(some) == ["age", "sex", "education"]
    assert some["age"].tolist() == anonymizer.transform(people)["age"].tolist()[:3]
