# SPDX-License-Identifier: Apache-2.0
"""`variant="c45"` follows C4.5's own rules (Quinlan 1993), by examples that can be worked out by hand."""

import numpy as np

from shoal import AnonymousTreeClassifier, Confidence, KAnonymity, audit, to_table
from shoal.trees.features import make_feature
from shoal.trees.forms import KnownLevels
from shoal.trees.score import Score
from shoal.trees.veto import Veto

# Quinlan's golf players: outlook, temperature, humidity, windy, plays
GOLF = [
    ("sunny", 85, 85, "no", "no"),
    ("sunny", 80, 90, "yes", "no"),
    ("overcast", 83, 86, "no", "yes"),
    ("rainy", 70, 96, "no", "yes"),
    ("rainy", 68, 80, "no", "yes"),
    ("rainy", 65, 70, "yes", "no"),
    ("overcast", 64, 65, "yes", "yes"),
    ("sunny", 72, 95, "no", "no"),
    ("sunny", 69, 70, "no", "yes"),
    ("rainy", 75, 80, "no", "yes"),
    ("sunny", 75, 70, "yes", "yes"),
    ("overcast", 72, 90, "yes", "yes"),
    ("overcast", 81, 75, "no", "yes"),
    ("rainy", 71, 91, "yes", "no"),
]


def c45(columns, k=1, **options):
    return AnonymousTreeClassifier(privacy=k, variant="c45", **options).fit(to_table(columns), "class").release_


def test_the_golf_players_of_the_book():
    names = ["outlook", "temperature", "humidity", "windy", "class"]
    text = str(c45(dict(zip(names, zip(*GOLF, strict=True), strict=True))))
    assert text.splitlines()[1:] == [
        "outlook = overcast: no 0, yes 4",
        "outlook = rainy",
        "  windy = no: no 0, yes 3",
        "  windy = yes: no 2, yes 0",
        "outlook = sunny",
        "  humidity at most 72: no 0, yes 2",
        "  humidity above 72: no 3, yes 0",
    ]


def test_two_parts_of_a_split_must_have_two_people():
    told_apart = {"name": list("abcdef"), "class": ["n", "y", "n", "y", "n", "y"]}
    assert len(c45(told_apart, pruning="none").leaves) == 1
    in_pairs = {"name": list("aabbcc"), "class": ["n", "n", "y", "y", "n", "n"]}
    assert len(c45(in_pairs, pruning="none").leaves) == 3


def test_a_coarser_level_is_taken_where_the_finer_has_too_few_people():
    names = {"name": list("abcdefgh"), "class": list("nnnnyyyy")}
    hierarchy = {"name": {"*": {"early": list("abcd"), "late": list("efgh")}}}
    for options in ({}, {"max_leaves": 9}):  # both loops
        release = c45(names, hierarchies=hierarchy, pruning="none", **options)
        assert [branch.label for branch in release.nodes[0].branches] == ["early", "late"]


def test_a_cut_leaves_a_tenth_of_an_even_share_on_both_sides():
    """100 people of two classes: at least 5 on each side, though the first 4 would be told apart for certain."""
    first = {"age": range(100), "class": ["y"] * 4 + ["n"] * 96}
    low, _ = c45(first, pruning="none").nodes[0].branches
    assert 4 < low.intervals[0].at_most <= 5
    # no more than 25 people are asked for, however many there are
    many = {"age": range(1000), "class": ["y"] * 26 + ["n"] * 974}
    low, _ = c45(many, pruning="none").nodes[0].branches
    assert 25 < low.intervals[0].at_most < 26


def test_missing_values_follow_the_most():
    columns = {"vote": ["n"] * 10 + ["y"] * 5 + [None] * 3, "class": ["d"] * 10 + ["r"] * 5 + ["d", "d", "r"]}
    release = c45(columns, k=3)
    assert str(release).splitlines()[1:] == ["vote = n or (missing): d 12, r 1", "vote = y: d 0, r 5"]
    assert audit(release, to_table(columns)).holds
    numbers = {**columns, "vote": [1] * 10 + [2] * 5 + [None] * 3}
    assert str(c45(numbers, k=3)).splitlines()[1:] == [
        "vote at most 1.5 or (missing): d 12, r 1",
        "vote above 1.5: d 0, r 5",
    ]
    upside_down = {**columns, "vote": [2] * 10 + [1] * 5 + [None] * 3}
    assert str(c45(upside_down, k=3)).splitlines()[1:] == [
        "vote at most 1.5: d 0, r 5",
        "vote above 1.5 or (missing): d 12, r 1",
    ]


def test_the_requirement_is_asked_of_those_who_follow_too():
    column = to_table({"vote": ["n", "y", None]})["vote"]
    form = KnownLevels(make_feature(column, public=True, hierarchies={})[0], Score("ratio", 10))
    veto = Veto(KAnonymity(3), [])
    elsewhere = np.array([[[0], [4], [1]]])  # of a span, somebody whose vote is missing but nobody who votes no
    with_no, with_yes = np.array([[0]]), np.array([[1]])
    assert not form.kept(elsewhere, with_no, veto, None).any()
    assert form.kept(elsewhere, with_yes, veto, None).all()


def test_those_who_follow_can_make_a_group_too_certain():
    columns = {"vote": ["n"] * 10 + ["y"] * 6 + [None] * 3, "class": [*"ddddddddd", "r", *"rrrrr", "d", *"ddd"]}
    told_apart = {**columns, "vote": columns["vote"][:16] + ["y"] * 3}
    assert len(c45(told_apart, k=Confidence(0.9), pruning="none").leaves) == 2
    assert len(c45(columns, k=Confidence(0.9), pruning="none").leaves) == 1


def test_a_gain_just_below_the_average_still_counts():
    score = Score("ratio", 1000)
    bit = int(score._scale)
    gains = np.array([[200 * bit], [199 * bit]])  # the average is half a bit above the second
    ratio = score.ratios(gains, np.array([[1000 * bit], [500 * bit]]), np.array([1000]))
    assert ratio[1, 0] > ratio[0, 0] > 0
    ratio = score.ratios(gains, np.array([[1000 * bit], [500 * bit]]), np.array([400]))
    assert ratio[0, 0] > ratio[1, 0] == 0
