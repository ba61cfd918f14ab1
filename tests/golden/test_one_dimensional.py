# SPDX-License-Identifier: Apache-2.0
"""One-Dimensional on Adult with eight quasi-identifiers: our own measurements, which may fall, not rise."""

import pytest

from shoal.anonymize import OneDimensional
from shoal.evaluate import learned_accuracy, measure_table
from shoal.papers.adult import TARGET, Adult
from shoal.privacy import Closeness, Confidence, KAnonymity

COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
LOSS = {10: 0.047, 100: 0.173}
ACCURACY = {10: 0.82, 100: 0.805}  # of C4.5 on raw test rows; from the raw training rows it is 0.826


@pytest.fixture(scope="module")
def adult(shoal_data) -> Adult:
    return Adult.read(shoal_data)


@pytest.mark.parametrize("k", [10, 100])
def test_adult(adult, k):
    columns = [*COLUMNS, TARGET]
    release = OneDimensional(k).fit(adult.train.select(columns), TARGET).release_
    assert release.verdict.smallest_group >= k
    assert measure_table(release).lm <= LOSS[k]
    assert learned_accuracy(release, adult.test.select(columns)) >= ACCURACY[k]


@pytest.mark.parametrize(
    ("requirement", "loss"),
    [(KAnonymity(10) & Confidence(0.9), 0.1), (KAnonymity(10) & Closeness(0.1), 0.15)],
    ids=["confidence", "closeness"],
)
def test_requirements_about_values_cost_little_more(adult, requirement, loss):
    """Pieces of the line alone would lose 0.53 and 0.75: where incomes are all alike, none is mixed."""
    release = OneDimensional(requirement).fit(adult.train.select([*COLUMNS, TARGET]), TARGET).release_
    assert measure_table(release).lm <= loss
