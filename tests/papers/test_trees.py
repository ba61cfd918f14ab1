# SPDX-License-Identifier: Apache-2.0
"""Trees on Adult and the comparisons beyond the papers: recipes, their checks, and what the peers are given."""

import numpy as np
import pytest

from shoal.papers.adult import FIGURE_6, Adult
from shoal.papers.claims.trees import at_least_x, at_most, below_x, best_of_mean, hump
from shoal.papers.data import Data
from shoal.papers.experiment import all_experiments
from shoal.papers.recipes.beyond import METHODS, PANELS, Beyond
from shoal.papers.recipes.beyond_data import SOURCES, read_study
from shoal.papers.recipes.peers import matrix, one_hot_tree
from shoal.papers.recipes.tree_facts import C45, FACTS, ID3, limits_of, rows_of
from shoal.papers.recipes.trees import AdultTrees, diversity_of
from shoal.papers.registry import Measured, Point, Points

OWN = [each for each in all_experiments().values() if each.recipe in ("adult-trees", "beyond")]


def points(panel="", **series):
    return Points([Point(name, x, value, panel) for name, own in series.items() for x, value in own.items()])


@pytest.fixture(scope="module")
def data(shoal_data):
    return Data(shoal_data, {})


def test_a_hump_is_higher_than_both_its_neighbours():
    assert hump(points(a={1: 1, 2: 3, 3: 2}), series="a", x=2).verdict == "holds"
    assert hump(points(a={1: 1, 2: 3, 3: 4}), series="a", x=2).verdict == "does not hold"
    assert hump(points(a={1: 4, 2: 3, 3: 2}), series="a", x=2).verdict == "does not hold"
    assert hump(points(a={1: 4, 2: 3}), series="a", x=2).verdict == "not measured"  # nothing after it


def test_at_most_another_series_and_some_more():
    found = points(a={1: 1.0, 2: 2.0, 3: 5.0}, b={1: 1.0, 2: 1.5, 3: 1.0})
    assert at_most(found, series="a", other="b", slack=0.5, places=[1, 2]).verdict == "holds"
    assert at_most(found, series="a", other="b", slack=0.5).verdict == "depends"
    assert at_most(found, series="a", other="b", places=[2, 3]).verdict == "does not hold"
    assert "+4, at 3" in at_most(found, series="a", other="b").sentence
    assert at_most(found, series="a", other="c").verdict == "not measured"


def test_best_of_all_whose_name_ends_so():
    found = points(own={1: 3.0, 2: 3.0}, **{"x table": {1: 1.0, 2: 4.0}, "y table": {2: 9.0}, "z": {1: 99.0}})
    assert best_of_mean(found, series="own", others="x table").verdict == "holds"
    told = best_of_mean(found, series="own", others=" table")
    assert told.verdict == "does not hold"
    assert "y table, with -6.00" in told.sentence
    assert best_of_mean(found, series="own", others=" table", slack=6).verdict == "holds"


def test_groups_against_k():
    found = points(a={10: 12.0, 50: 50.0}, b={10: 1.0, 50: 60.0})
    assert at_least_x(found, series=["a"]).verdict == "holds"
    assert at_least_x(found, series=["a", "b"]).verdict == "depends"
    assert below_x(found, series=["b"]).verdict == "does not hold"
    assert below_x(points(b={10: 9.0}), series=["b"]).verdict == "holds"


@pytest.mark.parametrize("experiment", OWN, ids=[each.id for each in OWN])
@pytest.mark.parametrize("quick", [True, False])
def test_claims_ask_for_series_places_and_panels_that_there_are(experiment, quick):
    """Every name in a file is one that the recipe makes, so that no check is about nothing."""
    asked = experiment.asked(quick=quick)
    if experiment.recipe == "beyond":
        names, panels, places = set(asked["methods"]), set(PANELS.values()), set(asked["k"])
        assert names <= set(METHODS)
    elif "facts" in asked:
        assert set(asked["facts"]) <= set(FACTS)
        names, panels, places = {"value"}, {""}, {each.x for each in experiment.published}
    else:
        names, panels, places = {each["name"] for each in asked["series"]}, {""}, set(asked["levels"])
    assert {each.series for each in experiment.published} <= names
    for claim in experiment.claims:
        told = claim.options
        several = told.get("series", [])
        used = {told[key] for key in ("first", "second", "other", "lowest", "highest") if key in told}
        used |= {several} if isinstance(several, str) else set(several)
        if not quick:
            assert used <= names
        assert set(told.get("places", [])) <= places
        assert {told.get("panel", next(iter(panels)))} | set(told.get("panels", [])) <= panels


def test_series_without_a_promise_are_lines_across_and_facts_have_words():
    asked = {"at": "k", "levels": [10, 25], "columns": "all", "measure": "error"}
    asked["series"] = [{"name": "ours", "method": "tree", "variant": "id3"}, {"name": "plain", "method": "plain"}]
    units = list(AdultTrees().units(asked))
    assert [each.options["k"] for each in units] == [10, 25, 1]
    results = [
        Measured(each.options, {"error": error}, 0.0) for each, error in zip(units, (1.0, 2.0, 3.0), strict=True)
    ]
    found = Points(AdultTrees().points(asked, results))
    assert found.of("ours") == {10: 1.0, 25: 2.0}
    assert found.of("plain") == {10: 3.0, 25: 3.0}


def test_facts_are_made_of_what_was_measured():
    asked = {"facts": ["below TDS, 8 columns", "exposure of ID3"]}
    units = list(AdultTrees().units(asked))
    assert len(units) == 2 * len(FIGURE_6)  # the trees of both facts are the same
    results = [
        Measured(
            each.options,
            {
                "error": 18.0 if each.options["method"] == "tds" else 17.5,
                "exposed": 2.0 if each.options["k"] < 75 else 0,
            },
            0.0,
        )
        for each in units
    ]
    assert Points(AdultTrees().points(asked, results)).of("value") == {
        "below TDS with 8 columns, points": pytest.approx(0.5),
        "ID3: smallest k from which nobody is exposed": 75,
        "ID3: largest share exposed, %": 2.0,
    }


def test_the_units_of_facts_are_those_of_the_figures():
    """Nothing is measured twice."""
    figure = {str(sorted(each.options.items())) for each in all_experiments()["pkdd06-fig4"].units(quick=False)}
    facts = [{**C45, "k": k} for k in FIGURE_6]
    assert {str(sorted(each.items())) for each in facts} <= figure


@pytest.mark.parametrize(("k", "root", "level"), [(750, "relationship", 0), (1000, "marital-status", 1)])
def test_the_root_of_the_tree_is_that_of_the_papers(data, k, root, level):
    found = AdultTrees().measure({**ID3, "k": k}, data)
    assert (found["root"], found["level"], found["exposed"], found["holds"]) == (root, level, 0.0, True)


def test_exposure_of_c45_is_that_of_the_text(data):
    """PKDD'06 Sect. 4.2: zero at k = 75, below 0.5 % before."""
    exposed = [AdultTrees().measure({**C45, "k": k}, data)["exposed"] for k in (10, 75)]
    assert 0 < exposed[0] < 0.5
    assert exposed[1] == 0


def test_table_6_and_tds_on_training_and_test_rows(data):
    tree = {"columns": "seven", "method": "tree", "variant": "id3", "k": 100}
    assert AdultTrees().measure(tree, data)["metric"] == 5439
    tds = {"columns": "categorical", "method": "tds", "variant": "id3", "k": 750}
    errors = [AdultTrees().measure({**tds, "rows": rows}, data)["error"] for rows in ("both", "train")]
    assert [round(error, 2) for error in errors] == [18.46, 19.34]  # more rows allow one more step


def test_numbers_of_the_text(shoal_data):
    adult = Adult.read(shoal_data)
    assert rows_of(adult)["test rows"] == 15_060
    limits = limits_of(adult, diversity_of(85))
    assert round(limits["ℓ at 85 % confidence"], 3) == 1.526
    assert round(limits["confidence at the root, %"], 1) == 75.1
    assert round(limits["lowest confidence of a split of the root, eight columns, %"], 1) == 84.2


@pytest.mark.parametrize("name", ["german", "diabetes"])
def test_nobody_is_in_both_halves_and_every_private_value_is_declared(shoal_data, name):
    study = read_study(shoal_data, {"table": name, "seed": 1, "rows": 500})
    assert study.train.n_rows == 500
    assert set(study.public) < set(study.features)
    person = SOURCES[name].person
    if person is not None:
        people = [set(np.asarray(part[person].values)[part[person].codes]) for part in (study.train, study.test)]
        assert not people[0] & people[1]
    for each in set(study.features) - set(study.public):
        if study.train[each].kind == "categorical":
            assert set(study.test[each].names) <= set(study.domain[each])


def test_the_matrix_of_the_peers_has_numbers_and_codes_of_training_rows(shoal_data):
    study = read_study(shoal_data, {"table": "german", "seed": 0, "rows": None})
    rows, asked = matrix(study, study.train), matrix(study, study.test)
    age, purpose = study.features.index("age"), study.features.index("purpose")
    own = study.test["age"]
    assert (asked[:, age] == own.numbers[own.codes]).all()
    names = np.array([*study.train["purpose"].names, "unknown"])
    truth = np.array(study.test["purpose"].names)[study.test["purpose"].codes]
    assert (names[asked[:, purpose].astype(int)] == truth).all()
    assert set(rows[:, purpose]) == set(range(len(names) - 1))


def test_large_leaves_are_no_large_groups_where_other_columns_are_private(shoal_data):
    study = read_study(shoal_data, {"table": "german", "seed": 0, "rows": None})
    shares, classes, verdict = one_hot_tree(study, 20)
    assert shares.shape == (study.test.n_rows, 2)
    assert classes == ["1", "2"]
    assert verdict.smallest_group < 20
    assert not verdict.holds


def test_a_method_is_measured_and_one_that_refuses_says_why(data):
    options = {"table": "german", "seed": 0, "rows": None, "nodes": None}
    found = Beyond().measure({**options, "method": "anonymous tree", "k": 20}, data)
    assert found["group"] >= 20
    assert 65 < found["accuracy"] < 80
    assert 60 < found["auc"] < 85
    told = Beyond().measure({**options, "method": "tds table + tree", "k": 900}, data)
    assert "refused" in told


def test_points_are_means_over_seeds_and_refusals_have_none():
    asked = {"k": [10, 50], "methods": ["anonymous tree", "boosting, no promise"]}
    result = {"accuracy": 70.0, "auc": 60.0, "exposed": None, "group": 12, "seconds": 1.0}
    measured = [
        Measured({"method": "anonymous tree", "k": 10, "seed": 0}, result, 1.0),
        Measured({"method": "anonymous tree", "k": 10, "seed": 1}, {**result, "accuracy": 80.0, "group": 11}, 1.0),
        Measured({"method": "anonymous tree", "k": 50, "seed": 0}, {"refused": "no"}, 1.0),
        Measured({"method": "boosting, no promise", "k": None, "seed": 0}, result, 1.0),
    ]
    found = Points(Beyond().points(asked, measured))
    assert found.of("anonymous tree", PANELS["accuracy"]) == {10: 75.0}
    assert found.of("anonymous tree", PANELS["group"]) == {10: 11}
    assert found.of("boosting, no promise", PANELS["accuracy"]) == {10: 70.0, 50: 70.0}
    assert found.series(PANELS["exposed"]) == []
