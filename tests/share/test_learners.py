# SPDX-License-Identifier: Apache-2.0
"""Learners in the box: naive Bayes for mixed columns, and one conjunctive rule."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from shoal.errors import DataError
from shoal.share import ConjunctiveRule, MixedNaiveBayes

REASONS = {"check_classifiers_train": "a single rule parts rows in two, and the check has three classes"}


@parametrize_with_checks(
    [MixedNaiveBayes(), ConjunctiveRule()],
    expected_failed_checks=lambda estimator: REASONS if isinstance(estimator, ConjunctiveRule) else {},
)
@pytest.mark.filterwarnings("default")  # some checks warn on purpose
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_numbers_are_judged_as_scikit_learns_gaussian_bayes_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) + np.repeat([0, 1, 2], 100)[:, None]
    y = np.repeat(["a", "b", "c"], 100)
    ours, theirs = MixedNaiveBayes().fit(X, y), GaussianNB(var_smoothing=0).fit(X, y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X))


def test_categories_are_judged_as_scikit_learns_categorical_bayes_does():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, (200, 2))
    y = rng.integers(0, 2, 200)
    frame = pd.DataFrame({"a": [f"v{c}" for c in codes[:, 0]], "b": [f"v{c}" for c in codes[:, 1]]})
    ours, theirs = MixedNaiveBayes().fit(frame, y), CategoricalNB(alpha=1).fit(codes, y)
    assert np.allclose(ours.predict_proba(frame), theirs.predict_proba(codes))


def test_what_is_missing_or_new_says_nothing():
    frame = pd.DataFrame({"a": ["x", "x", "z", "z"], "n": [1.0, 2.0, 8.0, 9.0]})
    bayes = MixedNaiveBayes().fit(frame, ["p", "p", "q", "q"])
    nothing = bayes.predict_proba(pd.DataFrame({"a": ["new"], "n": [math.nan]}))
    assert np.allclose(nothing, [[0.5, 0.5]])
    with pytest.raises(DataError, match="lack column"):
        bayes.predict(pd.DataFrame({"a": ["x"]}))


def test_a_column_that_cannot_tell_classes_apart_says_nothing():
    classes = ["p", "p", "p", "q"]
    one = MixedNaiveBayes().fit(pd.DataFrame({"n": [3.0] * 4}), classes)
    assert np.allclose(one.predict_proba(pd.DataFrame({"n": [3.0, 4.0, 1e9]})), [[0.75, 0.25]] * 3)
    # nothing is known of the numbers of q: they are like everybody's, and not impossible
    gap = MixedNaiveBayes().fit(pd.DataFrame({"n": [1.0, 2.0, 3.0, math.nan]}), classes)
    assert np.allclose(gap.predict_proba(pd.DataFrame({"n": [1.0, 2.0, 9.0]})), [[0.75, 0.25]] * 3)


def test_a_rule_by_hand():
    # x = yes and n above 5 is ill, and nobody else
    rows = [(x, n) for x in ("yes", "no") for n in range(11)] * 6
    frame = pd.DataFrame(rows, columns=["x", "n"])
    ill = np.where((frame["x"] == "yes") & (frame["n"] > 5), "ill", "well")
    rule = ConjunctiveRule().fit(frame, ill)
    assert sorted(map(str, rule.tests_)) == ["n above 5.5", "x = yes"]
    assert rule.score(frame, ill) == 1.0
    assert rule.predict_proba(pd.DataFrame({"x": ["yes"], "n": [math.nan]})).tolist() == [[0.0, 1.0]]


def test_a_test_that_does_not_pay_on_other_rows_is_cut_back():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"noise": rng.random(300), "x": rng.choice(["a", "b"], 300)})
    y = np.where((frame["x"] == "a") ^ (rng.random(300) < 0.1), "p", "q")
    assert [test.column for test in ConjunctiveRule().fit(frame, y).tests_] == ["x"]
