# SPDX-License-Identifier: Apache-2.0
"""The examples of Tian et al. and of Matatov et al.: every number that they print, and every claim."""

import pytest

from shoal.papers.experiment import all_experiments
from shoal.papers.judge import compare, judge
from shoal.papers.runner import Runs

OWN = [
    each
    for each in all_experiments().values()
    if each.recipe in ("worked-example", "sharing-tables") and each.paper in ("tian12", "dmpd")
]
# numbers that are other than published, and why
OTHER_NUMBERS = {("tian12-table1", "rows", "Adult"): "UCI's files have 45,222 complete rows"}
# claims that do not hold, by where they stand; their `otherwise` says why
OTHER_CLAIMS = {
    ("tian12-table1", 0): "depends",
    ("tian12-fig4", 3): "does not hold",
    ("dmpd-fig7", 5): "does not hold",
    ("dmpd-fig8", 0): "does not hold",
    ("dmpd-fig8", 1): "does not hold",
}


def test_there_are_examples_of_both_papers():
    assert {each.id for each in OWN} == {
        *("tian12-table1", "tian12-fig2", "tian12-fig3", "tian12-fig4", "tian12-fig8"),
        *("dmpd-fig3", "dmpd-fig5", "dmpd-fig7", "dmpd-fig8", "dmpd-fig13", "dmpd-sect44"),
    }


@pytest.mark.parametrize("experiment", OWN, ids=[each.id for each in OWN])
def test_numbers_and_claims(experiment, tmp_path, request):
    runs = Runs(tmp_path, request.getfixturevalue("shoal_data") if experiment.data else None)
    assert runs.run([experiment], quick=False, jobs=1) == []
    points = runs.result(experiment, quick=False).points
    for each in compare(experiment, points):
        told = each.published
        if told.tolerance is None:  # only shown beside
            continue
        assert each.agrees is ((experiment.id, told.series, told.x) not in OTHER_NUMBERS), (told, each.ours)
    for place, each in enumerate(judge(experiment, points)):
        expected = OTHER_CLAIMS.get((experiment.id, place), "holds")
        assert each.outcome.verdict == expected, (each.claim.says, each.outcome.sentence)
        assert (expected == "holds") == (each.claim.otherwise == "")
        # a name that is not there would go unnoticed among others
        assert set(each.claim.options.get("places", ())) <= {point.x for point in points}


def test_what_is_known_of_a_path_is_no_other_by_counting():
    """The labels of f and h are estimated in the paper; ours have these by counting, too."""
    from shoal.papers.worked.tian_tree import NAMES, fig5, fig7
    from shoal.trees.atp import Hits, hits_of

    counted = dict(zip(NAMES, hits_of(fig5().counts), strict=True))
    for name, label in {"f": Hits(2, 5, 9), "h": Hits(0, 3, 7)}.items():
        assert fig7()[name] == counted[name] == label
