# SPDX-License-Identifier: Apache-2.0
"""Checks of claims, by hand: each holds, does not hold, and depends where it can."""

from itertools import product

import pytest

from shoal.papers.experiment import Published, all_experiments
from shoal.papers.judge import judge
from shoal.papers.recipes.partitioning import LEARNERS as LEARNERS_OF_PARTS
from shoal.papers.recipes.partitioning import NAMES as TABLES_OF_PARTS
from shoal.papers.recipes.sharing import GENERATORS, LEARNERS, NAMES, OWNERS, PUBLISHERS
from shoal.papers.registry import Point, Points, get_check


def made(published=(), **series):
    """Points from ``series={x: value}``; a name with two underscores has a panel before them."""
    found = []
    for name, own in series.items():
        panel, _, bare = name.rpartition("__")
        found += [Point(bare, x, value, panel) for x, value in own.items()]
    return Points(found, published)


def verdict(points, name, **options):
    return get_check(name)(points, **options).verdict


RANGE = {"low": {1: 5.0, 2: 6.0}, "high": {1: 6.0, 2: 7.0}}
TWO = {"one": {1: 5.0, 2: 4.0, 3: 3.0}, "two": {1: 4.0, 2: 4.5, 3: 1.0}}


@pytest.mark.parametrize(
    ("check", "options", "expected"),
    [
        ("order", {"series": ["one", "two"]}, "depends"),
        ("order", {"series": ["one", "two"], "slack": 0.5}, "holds"),
        ("order", {"series": ["one", "two"], "most": 0.6}, "holds"),
        ("order", {"series": ["one", "two"], "after": 2}, "holds"),
        ("order", {"series": ["one", "two"], "places": [1, 3]}, "holds"),
        ("order", {"series": ["two", "one"]}, "does not hold"),
        ("order", {"series": ["one", "three"]}, "not measured"),
        ("mean-difference", {"first": "one", "second": "two", "low": 0.8, "high": 0.9}, "holds"),
        ("mean-difference", {"first": "one", "second": "two", "low": 1.0}, "does not hold"),
        ("mean-difference", {"first": "one", "second": "three"}, "not measured"),
        ("bounds", {"series": ["one"], "low": 3, "high": 5}, "holds"),
        ("bounds", {"series": ["one"], "low": 4}, "depends"),
        ("bounds", {"series": ["one"], "low": 5}, "does not hold"),
        ("bounds", {"series": ["one"], "low": 5, "places": [1]}, "holds"),
        ("bounds", {"series": ["three"]}, "not measured"),
        ("total", {"series": "one", "places": [1, 3], "low": 8, "high": 8}, "holds"),
        ("total", {"series": "one", "places": [1, 3], "high": 7}, "does not hold"),
        ("total", {"series": "one", "places": [1, 4]}, "not measured"),
        ("ends-lower", {"series": ["one", "two"], "first": 1}, "holds"),
        ("ends-lower", {"series": ["one"], "first": 3}, "does not hold"),
        ("ends-lower", {"series": ["one", "one", "two"], "first": 3}, "does not hold"),
        ("ends-lower", {"series": ["three"], "first": 1}, "not measured"),
        ("same-at", {"series": ["one", "two"], "x": 1}, "does not hold"),
        ("same-at", {"series": ["one", "one"], "x": 1}, "holds"),
        ("first", {"series": "one", "others": ["two"]}, "depends"),
        ("first", {"series": "one", "others": ["two"], "slack": 0.5}, "holds"),
        ("first", {"series": "one", "others": ["two"], "after": 2}, "holds"),
        ("last", {"series": "one", "others": ["two"]}, "does not hold"),
        ("zero-from", {"series": "one", "x": 4}, "holds"),
        ("zero-from", {"series": "one", "x": 3}, "does not hold"),
    ],
)
def test_common_checks(check, options, expected):
    assert verdict(made(**TWO), check, **options) == expected


def test_zero_from_a_place_on_and_not_before():
    assert verdict(made(out={250: 2, 500: 1, 750: 0, 1000: 0}), "zero-from", series="out", x=750) == "holds"
    assert verdict(made(out={250: 0, 500: 1, 750: 0}), "zero-from", series="out", x=750) == "does not hold"


def test_published_numbers_are_within_their_tolerance_on_the_side_that_counts():
    published = [
        Published("one", 1, 5.2, "T", 0.2),
        Published("one", 2, 6.0, "T", 1.0, within="below"),
        Published("one", 3, 1.0, "T", 1.0, within="below"),
        Published("one", 3, 9.0, "T"),
    ]
    points = made(published, **TWO)
    assert [each.agrees(ours) for each, ours in zip(published, (5, 4, 3, 3), strict=True)] == [True, False, True, None]
    assert Published("one", 1, 4.0, "T", 1.0, within="above").agrees(0.0)
    assert not Published("one", 1, 4.0, "T", 1.0, within="above").agrees(5.1)
    outcome = get_check("as-published")(points)
    assert outcome.verdict == "depends"
    assert outcome.sentence == "2 of 3 numbers are as near as asked; the farthest is -2 off."
    assert verdict(points, "as-published", places=[1]) == "holds"
    assert verdict(points, "as-published", places=[2]) == "does not hold"
    assert verdict(points, "as-published", places=[4]) == "not measured"
    assert verdict(points, "as-published", series=["two"]) == "not measured"
    assert verdict(made(**TWO), "as-published") == "not measured"


def test_checks_of_partitionings():
    points = made(
        **{
            "Vote, C4.5__DMPD": {"baseline": 95.0, 1: 97.0, 10: 96.0},
            "Pima, C4.5__DMPD": {"baseline": 95.0, 1: 97.0, 10: 94.0},
            "front__median": {1: 86.0, 35: 83.0, 889: 82.5, 2000: 77.0},
        }
    )
    assert verdict(points, "beats-baseline", series="DMPD", tables=["Vote"]) == "holds"
    assert verdict(points, "beats-baseline", series="DMPD", tables=["Pima"]) == "does not hold"
    both = made(a__one={1: 3.0}, a__two={1: 2.0}, b__one={1: 5.0}, b__two={1: 2.0})
    assert verdict(both, "gap-grows", first="one", second="two", panels=[["a"], ["b"]]) == "holds"
    assert verdict(both, "gap-grows", first="one", second="two", panels=[["b"], ["a"]]) == "does not hold"
    assert verdict(both, "gap-grows", first="one", second="two", panels=[["c"], ["a"]]) == "not measured"
    assert verdict(made(**TWO), "gap-grows", first="one", second="two", places=[[1], [3]]) == "holds"
    assert verdict(made(**TWO), "gap-grows", first="one", second="two", places=[[1, 3], [2]]) == "does not hold"
    assert verdict(made(**TWO), "gap-grows", first="one", second="two", places=[[1], [4]]) == "not measured"
    front = {"series": "median", "panel": "front"}
    assert verdict(points, "reaches", levels=[36, 700], low=82.5, high=82.5, **front) == "holds"
    assert verdict(points, "reaches", levels=[36, 1], low=82.5, high=82.5, **front) == "does not hold"
    assert verdict(points, "reaches", levels=[3000], low=0, high=100, **front) == "not measured"
    assert verdict(points, "step", before=655, after=1000, low=5.5, high=5.5, **front) == "holds"
    assert verdict(points, "step", before=1, after=1000, low=0, high=5, **front) == "does not hold"


@pytest.mark.parametrize(
    ("p_value", "place", "expected"),
    [
        (0.04, 200, "does not hold"),  # significantly better, beyond
        (0.05, 200, "holds"),  # better, not significantly
        (0.04, 50, "holds"),  # significantly better, with fewer generations
        (0.04, 150, "holds"),  # significantly worse
        (0.04, 300, "not measured"),
    ],
)
def test_only_a_significant_gain_beyond_a_setting_counts(p_value, place, expected):
    points = made(
        **{
            "German__population 50": {50: 79.0, 100: 71.0, 150: 70.0, 200: 71.5},
            "p__German, population 50": {place: p_value},
        }
    )
    if place == 50:  # nothing beyond has a test: one that finds nothing
        points = Points([*points, Point("German, population 50", 200, 0.9, "p")])
    options = {"series": "population 50", "x": 100, "panels": ["German"], "tests": "p"}
    assert verdict(points, "no-gain", **options) == expected


@pytest.mark.parametrize(("p_value", "expected"), [(0.04, "holds"), (0.02, "does not hold")])
def test_a_claim_that_takes_two_tests_asks_each_at_half_the_level(p_value, expected):
    tests = {"p__German, population 50": {150: 0.9, 200: p_value}}
    points = made(**{"German__population 50": {100: 71.0, 150: 70.0, 200: 71.5}}, **tests)
    options = {"series": "population 50", "x": 100, "panels": ["German"], "tests": "p"}
    assert verdict(points, "no-gain", **options) == expected


@pytest.mark.parametrize(
    ("ours", "expected"),
    [({1: 4.0, 2: 6.0}, "holds"), ({1: 5.0, 2: 6.0}, "does not hold"), ({1: 4.0, 2: 7.5}, "does not hold")],
)
def test_similar_is_nowhere_above_a_published_range_and_better_is_somewhere_below(ours, expected):
    published = [Published(name, x, value, "T") for name, own in RANGE.items() for x, value in own.items()]
    options = {"series": "ours", "lowest": "low", "highest": "high"}
    assert verdict(made(published, ours=ours), "similar-or-better", **options) == expected
    assert verdict(made(ours=ours), "similar-or-better", **options) == "not measured"


def names_of(experiment):
    """The panels, series and places that a whole run of an experiment has, as far as its parameters say."""
    asked = experiment.parameters
    if experiment.recipe == "sharing":
        told = {
            "table": [NAMES[each] for each in asked["tables"]],
            "learner": [LEARNERS[each] for each in asked["learners"]],
            "method": [GENERATORS[each] for each in asked["methods"]],
        }
        panels, series = (
            {", ".join(each) for each in product(*(told[n] for n in asked[k]))} for k in ("panels", "series")
        )
        return panels, series, set(asked["owners"])
    if experiment.recipe == "sharing-private":
        kinds = ["(c, l)", "simple l"]
        panels = {f"{NAMES[each]}, {kind}" for each in asked["tables"] for kind in kinds}
        panels |= {f"{panel}{end}" for panel in panels for end in (", tree", ", naive Bayes", ", CM")}
        panels |= {f"{panel}: runs with a release, %" for panel in panels}
        places = {
            f"({own[0]}, {own[1]})" if len(own) == 2 else f"l = {own[0]}"
            for n in asked["tables"]
            for own in asked["diversity"][n]
        }
        series = set(PUBLISHERS.values())
        if len(asked["owners"]) > 1:
            series = {f"{name}, {OWNERS[n]}" for name in series for n in asked["owners"]}
        if asked["leads"]:
            series |= {f"ATP over {name}" for name in series}
            panels.add("mean lead, points")
        return panels, series, places
    ends = LEARNERS_OF_PARTS.values()
    starts = [f"top {top}" for top in asked["tops"]] if asked["show"] == "beside" else TABLES_OF_PARTS.values()
    return {f"{start}, {end}" for start in starts for end in ends}, {"DMPD", "TDS", "TDR"}, {1, 50, 100, 200, 500}


SHARED = [
    each
    for each in all_experiments().values()
    if each.recipe in ("sharing", "sharing-private") or each.parameters.get("show") in ("levels", "beside")
]


@pytest.mark.parametrize("experiment", SHARED, ids=[each.id for each in SHARED])
def test_no_claim_is_about_what_is_not_measured(experiment):
    """A claim with a wrong name would be told as not measured, and not be counted."""
    panels, series, places = names_of(experiment)
    for claim in experiment.claims:
        told = claim.options
        used = {told[key] for key in ("first", "second") if isinstance(told.get(key), str)} | set(
            told.get("others", ())
        )
        used |= {told["series"]} if isinstance(told.get("series"), str) else set(told.get("series", ()))
        assert used <= series
        assert set(flat(told.get("panels", ()))) <= panels
        assert set(flat(told.get("places", ()))) <= places


def flat(groups):
    return [each for group in groups for each in (group if isinstance(group, list) else [group])]


def test_a_claim_is_also_asked_of_the_numbers_that_the_paper_prints():
    table = all_experiments()["dmpd-table1"]
    judged = judge(table, Points([], table.published))
    beats = next(one for one in judged if one.claim.check == "beats-baseline")
    # C4.5 on Nursery: 96.16 without partitioning, 92.64 at best with it
    assert beats.printed.verdict == "depends"
    assert not beats.unborne  # ours were not measured
    printed = Points([Point(each.series, each.x, each.value, each.panel) for each in table.published])
    assert [one.unborne for one in judge(table, printed)] == [False, True]


def test_no_check_stumbles_over_numbers_that_are_not_there():
    for experiment in all_experiments().values():
        for one in judge(experiment, Points([])):
            assert one.outcome.verdict == "not measured", (experiment.id, one.claim.says)
