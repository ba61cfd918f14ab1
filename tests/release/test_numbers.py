# SPDX-License-Identifier: Apache-2.0
"""Generalised numbers written as numbers."""

import numpy as np
import pandas as pd
import pytest

from shoal.anonymize import TreeAnonymizer
from shoal.errors import DataError
from shoal.release import Attribute, Interval
from shoal.release.generalised import Generalised
from shoal.release.numbers import spread

AGE = Attribute("age", "public", "numeric", bounds=(17, 90), integer=True)
DOSE = Attribute("dose", "public", "numeric", bounds=(0.5, 2.5))


def of(attribute, *parts, missing=False):
    cell = Generalised("", intervals=tuple(Interval(*part) for part in parts), missing=missing)
    return tuple(float(each[0]) for each in spread(attribute, [cell]))


def test_ends_of_whole_numbers_are_numbers_that_the_cell_holds():
    assert of(AGE, (19, 24)) == (20, 24, 22)
    assert of(AGE, (19.5, 24.5)) == (20, 24, 22)
    assert of(AGE, (None, 19)) == (17, 19, 18)
    assert of(AGE, (36, 37)) == (37, 37, 37)


def test_the_middle_of_several_intervals_is_that_of_all_their_numbers():
    # 17, 18, 19 and 81..90: (54 + 855) / 13
    assert of(AGE, (None, 19), (80, None)) == (17, 90, pytest.approx(909 / 13))
    assert of(DOSE, (None, 1), (2, None)) == (0.5, 2.5, pytest.approx(1.5))


def test_ends_of_other_numbers_are_the_cuts():
    assert of(DOSE, (1, 2)) == (1, 2, 1.5)


def test_missing_alone_has_no_number_and_missing_beside_numbers_does_not_count():
    assert np.isnan(of(AGE, missing=True)).all()
    assert of(AGE, (19, 24), missing=True) == (20, 24, 22)


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(3)
    age = rng.integers(20, 60, 200)
    people = pd.DataFrame({"age": age, "sex": rng.choice(["f", "m"], 200), "ill": np.where(age > 40, "yes", "no")})
    return TreeAnonymizer(20, domain={"age": [0, 100]}, reproducible=True).fit(people, "ill").release_


def test_the_frame_keeps_its_order_of_rows_and_columns(release):
    labels = release.to_frame()
    ends = release.to_frame(numbers="ends")
    assert list(ends) == ["age_low", "age_high", "sex", "ill"]
    assert ends["age_low"].dtype == np.int64
    assert (ends["age_low"] <= ends["age_high"]).all()
    assert ends[["sex", "ill"]].equals(labels[["sex", "ill"]])
    middles = release.to_frame("pyarrow", numbers="midpoints")
    assert middles.column_names == ["age", "sex", "ill"]
    lows = labels["age"].str.startswith("<=")
    assert (ends["age_low"][lows] == 0).all()
    assert (ends["age_high"][~lows] == 100).all()


def test_a_strange_way_is_refused(release):
    with pytest.raises(DataError, match="must be one of intervals, ends, midpoints"):
        release.to_frame(numbers="middle")
