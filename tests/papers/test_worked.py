# SPDX-License-Identifier: Apache-2.0
"""Examples that the papers work through by hand: every printed number comes out, and every claim but some holds."""

import pytest

from shoal.errors import DataError
from shoal.papers.experiment import all_experiments
from shoal.papers.judge import compare, judge
from shoal.papers.runner import Runs
from shoal.papers.worked import EXAMPLES, get_example, modules

OWN = [
    each
    for each in all_experiments().values()
    if each.recipe == "worked-example" and each.paper in ("vldb08", "pkdd06")
]
# what papers say and is not so, with the reason in the experiment's file
UNKEPT = {
    "vldb08-rules": ["Two rules with three states each make nine equivalence classes."],  # its footnote: seven
    "vldb08-fig4": ["By that split every bin of the old span is split in two."],  # not in its own Sect. 4.1
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    made = Runs(tmp_path_factory.mktemp("worked"))
    assert made.run(OWN, quick=False, jobs=1) == []
    return made


@pytest.mark.parametrize("experiment", OWN, ids=[each.id for each in OWN])
def test_printed_numbers_come_out_and_claims_hold(runs, experiment):
    points = runs.result(experiment).points
    assert points is not None
    beside = compare(experiment, points)
    assert [each.published for each in beside if each.ours is None] == []
    assert [(each.published.x, each.ours) for each in beside if each.agrees is False] == []
    judged = judge(experiment, points)
    assert judged
    assert {each.outcome.verdict for each in judged} <= {"holds", "does not hold"}
    unkept = [each.claim for each in judged if each.outcome.verdict != "holds"]
    assert [claim.says for claim in unkept] == UNKEPT.get(experiment.id, [])
    assert all(claim.otherwise for claim in unkept)


@pytest.mark.parametrize("experiment", OWN, ids=[each.id for each in OWN])
def test_claims_ask_for_places_that_there_are(runs, experiment):
    """A place that is misspelt would be left out of its check."""
    there = set(runs.result(experiment).points.of("value"))
    printed = {each.x for each in experiment.published if each.tolerance is not None}
    for claim in experiment.claims:
        assert set(claim.options.get("places", [])) <= (printed if claim.check == "as-published" else there)


def test_every_example_is_of_an_experiment():
    modules()
    used = {name for each in all_experiments().values() for name in each.parameters.get("examples", [])}
    assert set(EXAMPLES) == used


def test_an_example_that_is_not_there_is_told():
    with pytest.raises(DataError, match="Closest: 'baskets'"):
        get_example("basket")
