# SPDX-License-Identifier: Apache-2.0
"""What a column tells is the difference of two audits, counted here by enumeration of the definition."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import oracle
from helpers.strategies import Case, cases, trees
from shoal import AnonymousTreeClassifier, Confidence, KAnonymity, audit, load_sample
from shoal.audit import AnonymisedTable
from shoal.audit.foreign.blackbox import BlackBox
from shoal.audit.telling import rank_columns
from shoal.data import to_table
from shoal.errors import RequirementError
from shoal.release import Attribute, Branch, Node, TreeRelease

CANARY = "Xq7Canary"


@st.composite
def trees_of_cases(draw: st.DrawFn) -> tuple[Case, TreeRelease]:
    case = draw(cases())
    return case, draw(trees(case))


def told(case: Case, body: dict[str, Any], public: set[str], k: int) -> tuple[int, int | None, int, int | None]:
    """Groups, the smallest, people at risk, people whose class is certain."""
    spans = oracle.groups(body, case.rows, public)
    sizes = Counter(spans)
    counted = [n for bins, n in sizes.items() if len(bins) > 1]
    at_risk = sum(n for n in counted if n < k)
    classes: dict[Any, set[str]] = {}
    for span, row in zip(spans, case.rows, strict=True):
        classes.setdefault(span, set()).add(row["t"])
    certain = sum(n for bins, n in sizes.items() if len(classes[bins]) == 1)
    return len(sizes), min(counted, default=None), at_risk, None if "t" in public else certain


@given(trees_of_cases(), st.integers(1, 5))
@settings(max_examples=150)
def test_every_effect_is_that_of_the_definition(pair: tuple[Case, TreeRelease], k: int) -> None:
    case, release = pair
    body = release.to_json()
    asked = {node["attribute"] for node in body["nodes"] if "attribute" in node} | {"t"}
    ranking = rank_columns(release, case.table, privacy=k)
    effects = [*ranking.private, *ranking.public]
    assert {effect.column for effect in effects} == asked
    assert {effect.column for effect in ranking.public} == asked & case.public
    assert tuple(ranking.today.__dict__.values()) == told(case, body, case.public, k)
    for effect in effects:
        for counted, public in (
            (effect.known, case.public | {effect.column}),
            (effect.unknown, case.public - {effect.column}),
        ):
            assert tuple(counted.__dict__.values()) == told(case, body, public, k)


@given(trees_of_cases())
@settings(max_examples=50)
def test_the_most_telling_come_first(pair: tuple[Case, TreeRelease]) -> None:
    case, release = pair
    ranking = rank_columns(release, case.table, privacy=3)
    for effects in (ranking.private, ranking.public):
        risks = [effect.more_at_risk for effect in effects]
        assert risks == sorted(risks, reverse=True)


def test_hiding_a_column_can_put_more_people_at_risk() -> None:
    """Where c is known, d is never asked of people with c = 1; where it is not, d tells them apart."""
    rows = {"c": ["1", "1"], "d": ["x", "y"], "t": ["n", "y"]}
    attributes = (
        Attribute("c", "public", "categorical", values=("1", "2")),
        Attribute("d", "public", "categorical", values=("x", "y")),
        Attribute("t", "private", "categorical", values=("n", "y")),
    )
    nodes = (
        Node("c", (Branch(1, ("1",)), Branch(2, ("2",)))),
        Node(counts=(1, 1)),
        Node("d", (Branch(3, ("x",)), Branch(4, ("y",)))),
        Node(counts=(0, 0)),
        Node(counts=(0, 0)),
    )
    release = TreeRelease("t", attributes, ({"requirement": "k-anonymity", "k": 2},), nodes)
    ranking = rank_columns(release, rows)
    effect = next(each for each in ranking.public if each.column == "c")
    assert (effect.more_at_risk, effect.more_certain) == (-2, -2)
    assert ranking.public[-1] is effect
    assert " ".join(ranking.to_text().splitlines()[-1].split()) == "c 2 → 1 0 → 2 0 → 2 1 → 2"


def black_box() -> tuple[BlackBox, Any]:
    table = to_table(
        {
            "age": [f"{decade}0s" for decade in (2, 2, 2, 2, 3, 3, 3, 3)],
            "town": ["x", "x", "y", "y"] * 2,
            "pay": ["low", "low", "low", CANARY] * 2,
            "ill": ["n", "n", "n", "y", "n", "n", "y", "y"],
        }
    )
    return BlackBox("a black box", table.select(["age", "town", "pay"]), table["ill"], None), table


def test_a_foreign_model_is_ranked_too() -> None:
    subject, table = black_box()
    ranking = rank_columns(subject, table, public=["age", "town"], privacy=2)
    by_name = {effect.column: effect for effect in (*ranking.private, *ranking.public)}
    assert ranking.private[0].column == "pay"
    # in town y each is alone with his pay
    assert by_name["pay"].known.at_risk == 4
    assert by_name["pay"].more_certain == 8 - 6
    assert by_name["town"].unknown.smallest_group == 4
    assert by_name["ill"].more_certain is None


def test_what_is_learned_is_no_longer_asked_about() -> None:
    subject, table = black_box()
    both = rank_columns(subject, table, public=["age"], privacy=KAnonymity(3) & Confidence(0.7))
    ill = next(effect for effect in both.private if effect.column == "ill")
    assert ill.known.at_risk == sum(n for n in (3, 1, 2, 2) if n < 3)
    only = rank_columns(subject, table, public=["age"], privacy=Confidence(0.7))
    assert next(effect for effect in only.private if effect.column == "ill").known.at_risk == 0
    # a sensitive column may become public as well: then it is not asked about
    named = rank_columns(subject, table, public=["age"], privacy=Confidence(0.7), sensitive=["pay"])
    assert next(effect for effect in named.private if effect.column == "pay").known.groups == 4


def test_without_a_target_it_is_the_first_sensitive_column_that_may_be_certain() -> None:
    published = AnonymisedTable(
        {"age": ["20-29"] * 4 + ["30-39"] * 4, "town": ["x", "x", "y", "y"] * 2, "ill": [CANARY, CANARY, "a", "b"] * 2}
    )
    ranking = rank_columns(published, public=["age"], privacy=2, sensitive=["ill"])
    assert (ranking.about, ranking.today.certain, ranking.public[0].known.groups) == ("ill", 0, 2)
    ranking = rank_columns(published, public=["age", "town"], privacy=2, sensitive=["ill"])
    assert {effect.column: effect.more_certain for effect in ranking.public} == {"age": 0, "town": 4}
    assert ranking.private[0].column == "ill"
    assert "ill certain" in str(ranking)
    assert CANARY not in str(ranking)


def test_its_views_agree_and_hold_no_cell() -> None:
    subject, table = black_box()
    ranking = rank_columns(subject, table, public=["age"], privacy=2)
    frame = ranking.to_frame(backend="pyarrow").to_pydict()
    assert frame["column"] == [effect.column for effect in (*ranking.private, *ranking.public)]
    assert frame["at_risk_if_known"] == [effect.known.at_risk for effect in (*ranking.private, *ranking.public)]
    body = json.loads(json.dumps(ranking.to_json()))
    assert [each["column"] for each in body["private"]] == [effect.column for effect in ranking.private]
    for text in (str(ranking), repr(ranking), json.dumps(body), str(frame)):
        assert CANARY not in text


def test_of_a_release_nothing_is_asked_that_it_states_itself() -> None:
    people = load_sample().table.select(["age", "sex", "smoker", "diabetes"])
    tree = AnonymousTreeClassifier(privacy=100, public=["age", "sex"], variant="id3").fit(people, "diabetes")
    ranking = rank_columns(tree, people)
    assert ranking.today.smallest_group == audit(tree, people).smallest_group
    smoker = next(effect for effect in ranking.private if effect.column == "smoker")
    assert smoker.known.smallest_group == audit(tree, people, public=["age", "sex", "smoker"]).smallest_group


def test_a_foreign_model_without_a_requirement_is_refused() -> None:
    subject, table = black_box()
    with pytest.raises(RequirementError) as refusal:
        rank_columns(subject, table)
    assert refusal.value.code == "no-requirement"
