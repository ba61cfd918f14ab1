# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own battery, for a classifier and a regressor inside."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from shoal import AnonymousModel

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
