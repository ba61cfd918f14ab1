# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own checks, and what it expects of any estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from shoal import load_sample
from shoal.anonymize import TreeAnonymizer

# checks we do not pass, each with its reason
EXPECTED_FAILURES = {"check_pipeline_consistency": "subtracts two outputs, and generalised values are texts"}


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
