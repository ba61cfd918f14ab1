# SPDX-License-Identifier: Apache-2.0
"""Statistical tests against values worked by hand, published ones, and scipy where it has the same."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlxtend import evaluate
from scipy import stats

from shoal import DataError
from shoal.evaluate import bonferroni_dunn, combined_f_test, friedman_test

# Demšar 2006, Table 6: the ranks of C4.5, with m, with cf, with both, on 14 data sets
DEMSAR = np.array(
    [
        [4, 3, 2, 1],
        [1, 2, 3, 4],
        [4, 1, 2, 3],
        [4, 1, 3, 2],
        [4, 2, 3, 1],
        [1, 2.5, 4, 2.5],
        [3, 2, 4, 1],
        [2.5, 2.5, 4, 1],
        [4, 3, 2, 1],
        [2.5, 2.5, 2.5, 2.5],
        [4, 2.5, 1, 2.5],
        [3, 2, 4, 1],
        [4, 1, 2, 3],
        [3, 1, 4, 2],
    ]
)


def test_friedman_as_demsar_works_it():
    found = friedman_test(-DEMSAR)
    assert found.ranks.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert round(found.chi_square, 2) == 9.28
    assert round(found.statistic, 2) == 3.69
    assert found.degrees == (3, 39)
    assert found.statistic > 2.85  # the critical value he names for 0.05
    assert stats.f.isf(0.05, *found.degrees) == pytest.approx(2.85, abs=0.005)
    assert found.p_value < 0.05


def test_bonferroni_dunn_as_demsar_works_it():
    found = bonferroni_dunn(-DEMSAR, control=0)
    assert found.z.round(3).tolist() == [0.0, 2.342, 0.512, 2.415]
    single = found.p_values[1:] / 3
    assert single[[2, 0]].round(3).tolist() == [0.016, 0.019]
    assert found.p_values[2] == 1  # 0.607 three times
    # his critical difference for 0.05 is 2.394 · 0.488: only the version with both is farther from C4.5
    assert stats.norm.isf(0.05 / 6) == pytest.approx(2.394, abs=0.0005)
    assert (found.p_values < 0.05).tolist() == [False, False, False, True]


@given(st.integers(3, 12), st.integers(3, 6), st.randoms(use_true_random=False))
def test_without_ties_friedman_is_that_of_scipy(n, k, random):
    scores = np.array([random.sample(range(100), k) for _ in range(n)])
    assert friedman_test(scores).chi_square == pytest.approx(stats.friedmanchisquare(*scores.T).statistic)


def test_friedman_where_all_tables_agree_or_say_nothing():
    agreed = friedman_test(np.tile([3.0, 2.0, 1.0], (7, 1)))
    assert (agreed.statistic, agreed.p_value, agreed.chi_square) == (math.inf, 0.0, 14.0)
    same = friedman_test(np.ones((7, 3)))
    assert (same.statistic, same.p_value) == (0.0, 1.0)


def test_combined_f_test_by_hand():
    """Differences 2, 1 | 3, 3 | 1, 0 | 2, 2 | 0, -1: squares add to 33, variances are 1/2, 0, 1/2, 0, 1/2."""
    second = np.array([[80, 81], [79, 80], [82, 80], [81, 79], [80, 81]], dtype=float)
    difference = np.array([[2, 1], [3, 3], [1, 0], [2, 2], [0, -1]])
    found = combined_f_test(second + difference, second)
    assert found.statistic == 33 / (2 * 1.5)
    assert found.degrees == (10, 5)
    # the critical value of Alpaydin 1999 for 0.05
    assert stats.f.isf(0.05, 10, 5) == pytest.approx(4.74, abs=0.005)
    assert found.p_value == pytest.approx(stats.f.sf(11, 10, 5))
    assert combined_f_test(second, second + difference) == found


def test_combined_f_test_equals_that_of_mlxtend():
    """Its test fits the models itself, so give it two that reach what was drawn."""
    draws = np.random.default_rng(0).random((2, 10))

    class Reaches:
        def __init__(self, values):
            self.values = iter(values)

        def fit(self, X, y):
            return self

    statistic, p_value = evaluate.combined_ftest_5x2cv(
        Reaches(draws[0]), Reaches(draws[1]), np.zeros((4, 1)), np.zeros(4), scoring=lambda m, X, y: next(m.values)
    )
    found = combined_f_test(draws[0].reshape(5, 2), draws[1].reshape(5, 2))
    assert (found.statistic, found.p_value) == pytest.approx((statistic, p_value))


def test_combined_f_test_where_nothing_varies():
    same = np.full((5, 2), 0.5)
    assert combined_f_test(same, same)[:2] == (0.0, 1.0)
    assert combined_f_test(same + 0.25, same)[:2] == (math.inf, 0.0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: combined_f_test(np.ones((2, 5)), np.ones((2, 5))),
        lambda: combined_f_test(np.ones((5, 2)), np.full((5, 2), np.nan)),
        lambda: combined_f_test("ab", np.ones((5, 2))),
        lambda: combined_f_test([[1, 2], [3]], np.ones((5, 2))),
        lambda: friedman_test(np.ones((1, 3))),
        lambda: friedman_test(np.ones((3, 1))),
        lambda: friedman_test(np.ones(3)),
        lambda: bonferroni_dunn(np.ones((3, 3)), control=3),
    ],
)
def test_bad_scores_are_refused(wrong):
    with pytest.raises(DataError) as caught:
        wrong()
    assert caught.value.code == "scores"
