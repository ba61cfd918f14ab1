# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own battery, and what it expects of any clusterer."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from shoal import AnonymousClusters, DataError, PromiseError, RequirementError, RoleError

# checks we do not pass, each with its reason
EXPECTED_FAILURES: dict[str, str] = {}


@parametrize_with_checks(
    [AnonymousClusters(privacy=2, n_clusters=3), AnonymousClusters(privacy=2, method="kmeans", random_state=0)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
@pytest.mark.filterwarnings("default")  # some checks warn on purpose
def test_battery(estimator, check):
    check(estimator)


@pytest.fixture
def people():
    random = np.random.default_rng(0)
    age = random.integers(20, 60, 200)
    return pd.DataFrame({"age": age, "sex": random.choice(["f", "m"], 200), "dose": age // 10 + random.integers(0, 3)})


def test_parameters_are_left_as_given(people):
    public = ["age"]
    model = AnonymousClusters(5, public=public)
    before = dict(model.get_params())
    assert clone(model).fit(people[["age", "dose"]]).get_params() == before == model.get_params()
    assert model.public is public


def test_same_seed_same_bytes(people):
    made = [
        AnonymousClusters(5, public=["age"], method="kmeans", random_state=3, domain={"dose": [0, 20]}).fit(people)
        for _ in range(2)
    ]
    assert made[0].release_.sha256 == made[1].release_.sha256


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_clusters": 0}, RequirementError, "n_clusters must be a whole number"),
        ({"min_gain": 1}, RequirementError, "min_gain must be a number"),
        ({"method": "em"}, RequirementError, "method must be"),
        ({"scale": "std"}, RequirementError, "scale must be True or False"),
        ({"public": "age"}, RoleError, "one string"),
        ({"public": ["Age"]}, RoleError, "no column 'Age'"),
        ({"public": ["age"], "sensitive": ["age"]}, RoleError, "not private"),
        ({"person": "age", "public": ["age"]}, RoleError, "tells people apart"),
        ({"domain": {"weight": [0, 1]}}, DataError, "no column 'weight'"),
        ({"privacy": 201, "public": ["age"]}, PromiseError, "201|Even one cluster"),
    ],
)
def test_what_means_nothing_is_refused(people, options, error, message):
    with pytest.raises(error, match=message):
        AnonymousClusters(**options).fit(people[["age", "dose"]])


def test_missing_values_and_unknown_ones_are_refused(people):
    model = AnonymousClusters(5, public=["age"], domain={"dose": [0, 20]}).fit(people)
    with pytest.raises(DataError, match="1 row"):
        model.predict(people.head(3).assign(sex=["f", "x", "m"]))
    with pytest.raises(DataError, match="1 row"):
        model.predict(people.head(3).assign(sex=["f", None, "m"]))
    lacking = people.assign(age=[np.nan, *people["age"][1:]], dose=[np.nan, np.nan, *people["dose"][2:]])
    with pytest.raises(DataError, match=r"missing \(NaN\): 'age' in 1 row\(s\), 'dose' in 2 row\(s\)"):
        AnonymousClusters(5).fit(lacking)
