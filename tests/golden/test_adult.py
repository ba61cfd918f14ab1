# SPDX-License-Identifier: Apache-2.0
"""Adult, to the last digit. Published numbers: VLDB'08 Table 6 (page 800) and Fig. 6."""

import pytest

from shoal import Confidence, KAnonymity, PromiseError, audit
from shoal.papers.adult import CATEGORICAL, FIGURE_6, Adult, bench_adult, bench_adult14, classification_metric
from shoal.trees.mine import mine_tree

WITHOUT_RELATIONSHIP = [name for name in CATEGORICAL if name != "relationship"]


@pytest.fixture(scope="module")
def adult(shoal_data) -> Adult:
    return Adult.read(shoal_data)


def test_complete_rows_are_those_of_the_paper(adult):
    assert (adult.train.n_rows, adult.test.n_rows) == (30_162, 15_060)


@pytest.mark.parametrize(("k", "metric"), [(10, 5198), (25, 5273), (50, 5379), (100, 5439)])
def test_vldb_table_6(adult, k, metric):
    release = adult.mine(WITHOUT_RELATIONSHIP, k)
    assert classification_metric(release) == metric
    verdict = audit(release, adult.train)
    assert verdict.holds
    assert verdict.smallest_group >= k


@pytest.fixture(scope="module")
def figure_6(adult):
    return {k: adult.mine(CATEGORICAL, k) for k in (*FIGURE_6,)}


def test_vldb_figure_6_has_its_hump_at_750(adult, figure_6):
    error = {k: adult.error(release) for k, release in figure_6.items()}
    assert error[750] > error[500]
    assert error[750] > error[1000] == error[1500]
    assert figure_6[750].nodes[0].attribute == "relationship"
    assert len(figure_6[750].nodes[0].branches) == 6  # its lowest level
    assert figure_6[1000].nodes[0].attribute == "marital-status"
    assert figure_6[1000].nodes[0].branches[0].label is not None  # a level above the lowest


def test_vldb_figure_6_errors_are_re_derived(adult, figure_6):
    """Our own figures for the curve, from an independent float prototype (the paper prints it as a picture)."""
    percent = [round(100 * adult.error(figure_6[k]), 2) for k in FIGURE_6]
    assert percent == [17.5, 17.31, 17.7, 17.72, 17.71, 17.76, 17.91, 17.91, 18.07, 18.66, 17.92, 17.92, 19.34]


def test_pkdd_exposure_drops_to_zero_beyond_500(adult, figure_6):
    """PKDD'06 Sect. 4.2: nobody's income is certain any more only for k from 750 on."""
    exposed = {k: audit(release, adult.train).exposed for k, release in figure_6.items()}
    assert [k for k in FIGURE_6 if exposed[k] == 0] == [750, 1000, 1500, 2000]
    assert exposed[10] / adult.train.n_rows == pytest.approx(0.2308, abs=5e-5)


def test_the_bench_reports_what_it_should(shoal_data):
    row = bench_adult(shoal_data, ks=(100,))[0]
    assert row["holds"]
    assert row["smallest_group"] == 100
    assert row["leaves"] == 112
    assert row["seconds"] > 0
    assert row["ratio"] == pytest.approx(row["sklearn_seconds"] / row["seconds"])


# our own measurements of the default settings, in percent: they may fall, not rise
DEFAULT_ERROR = {10: 13.9, 50: 13.8, 100: 14.4, 500: 15.3, 1000: 15.9}
PRIVATE_ERROR = {100: 14.0, 1000: 14.6}


def test_the_default_tree_beats_scikit_learn_at_the_same_k(shoal_data):
    for row in bench_adult14(shoal_data):
        assert row["smallest_group"] >= row["k"]
        assert 100 * row["error"] <= DEFAULT_ERROR[row["k"]]
        assert row["error"] < row["sklearn_error"]
        if row["k"] in PRIVATE_ERROR:
            assert 100 * row["private_error"] <= PRIVATE_ERROR[row["k"]]


@pytest.mark.parametrize("limit", [0.99, 0.97, 0.95, 0.925, 0.9, 0.875])
def test_vldb_figure_8_no_group_is_above_its_confidence_limit(adult, limit):
    table, roles, hierarchies = adult.setting(CATEGORICAL)
    release = mine_tree(table, roles, Confidence(limit), hierarchies=hierarchies)
    verdict = audit(release, adult.train)
    assert verdict.holds
    assert verdict.highest_confidence <= limit
    assert len(release.leaves) > 100
    assert adult.error(release) < 0.19


def test_vldb_figure_8_a_low_limit_leaves_nothing_useful(adult):
    """At 85 % one split is left that changes no prediction; why, stands in docs/explanation/papers.md."""
    table, roles, hierarchies = adult.setting(CATEGORICAL)
    releases = {c: mine_tree(table, roles, Confidence(c), hierarchies=hierarchies) for c in (0.85, 0.8)}
    assert [branch.label for branch in releases[0.85].nodes[0].branches] == ["White", "Colored"]
    assert [len(release.leaves) for release in releases.values()] == [2, 1]
    for release in releases.values():
        assert set(release.predict(adult.test, unknown="ancestor")) == {"<=50K"}
    pruned = mine_tree(table, roles, Confidence(0.85), hierarchies=hierarchies, pruning=0.25)
    assert len(pruned.leaves) == 1
    with pytest.raises(PromiseError):  # the root itself stands at 75.1 %
        mine_tree(table, roles, Confidence(0.75), hierarchies=hierarchies)


def test_without_the_two_groups_of_race_figure_8_would_be_that_of_the_paper_but_table_6_would_not(adult):
    table, roles, hierarchies = adult.setting(CATEGORICAL)
    del hierarchies["race"]
    assert len(mine_tree(table, roles, Confidence(0.85), hierarchies=hierarchies).leaves) == 1
    table, roles, hierarchies = adult.setting(WITHOUT_RELATIONSHIP)
    del hierarchies["race"]
    metrics = [
        classification_metric(mine_tree(table, roles, KAnonymity(k), hierarchies=hierarchies))
        for k in (10, 25, 50, 100)
    ]
    assert metrics == [5217, 5278, 5379, 5439]  # the paper has 5198 and 5273 first
