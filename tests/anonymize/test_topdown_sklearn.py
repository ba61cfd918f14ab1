# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own checks of TDS and TDR."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from shoal.anonymize import TopDownRefinement, TopDownSpecialization


@parametrize_with_checks(
    [  # texts cannot be subtracted, as some checks do
        TopDownSpecialization(3, numbers="midpoints", reproducible=True),
        TopDownRefinement(3, numbers="midpoints", reproducible=True),
    ]
)
@pytest.mark.filterwarnings("default")  # some checks warn on purpose
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_parameters_are_stored_as_given_and_cloned():
    for method in (TopDownSpecialization, TopDownRefinement):
        anonymizer = method(privacy=7, public=["age"], reproducible=True)
        assert clone(anonymizer).get_params() == anonymizer.get_params()
