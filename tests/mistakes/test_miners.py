# SPDX-License-Identifier: Apache-2.0
"""Mistakes that a review of the miners of clusters and rules found, each with the rows that showed it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal import AnonymousClusters, AnonymousRules, audit
from shoal.cli.options import names
from shoal.errors import DataError, PromiseError, RequirementError, RoleError


def _people() -> dict[str, list]:
    """One thousand people, one of them alone in his area: everybody can be in either cluster, light or heavy."""
    random = np.random.default_rng(0)
    heavy = random.random(1000) < 0.5
    bmi = np.where(heavy, random.normal(40, 1.5, 1000), random.normal(20, 1.5, 1000)).round(1)
    bmi[-1] = 41.0
    return {"area": ["a"] * 495 + ["b"] * 504 + ["lonely"], "bmi": bmi.tolist()}


def _mined(people: dict[str, list], method: str, **options: object) -> AnonymousClusters:
    options = {"privacy": 50, "public": ["area"], "n_clusters": 2, "domain": {"bmi": [10, 60]}, **options}
    return AnonymousClusters(method=method, random_state=0, **options).fit(people)


@pytest.mark.parametrize("method", ["mst", "kmeans"])
def test_the_share_of_a_public_category_does_not_tell_where_its_only_person_is(method: str) -> None:
    """The one of area "lonely" was in the only centroid with a share of it, so that he was known to be heavy."""
    people = _people()
    model = _mined(people, method)
    shares = [entry["centroid"]["area"] for entry in model.release_.to_json()["clusters"]]
    assert len(shares) == 2
    for each in shares:  # told as one with those of area a
        assert each["lonely"] * 495 == pytest.approx(each["a"], abs=0.005)
        assert sum(each.values()) == pytest.approx(1, abs=3e-5)
    assert audit(model, people).holds


def test_the_audit_sees_a_share_that_tells_where_few_people_are() -> None:
    people = _people()
    release = _mined(people, "kmeans").release_
    means = release.means.copy()
    nearest = release.predict(people)
    for number in range(2):
        inside = np.array(people["area"])[nearest == number]
        means[number, :3] = [(inside == area).mean().round(5) for area in ("a", "b", "lonely")]
    honest = replace(release, means=means, verdict=None)
    found = audit(honest, people)
    assert not found.holds
    (finding,) = [each for each in found.findings if each.severity == "breach"]
    assert (finding.code, finding.people) == ("share-of-few", 1)
    assert "lonely" not in finding.message
    assert audit(replace(honest, small=True), people).holds  # it says of itself that it follows the letter


def test_a_missing_public_category_of_few_is_pooled_too() -> None:
    people = _people()
    people["area"] = [None if area == "lonely" else area for area in people["area"]]
    model = _mined(people, "kmeans")
    assert audit(model, people).holds
    assert all(entry["missing"]["area"] > 0 for entry in model.release_.to_json()["clusters"])


def test_nothing_is_pooled_where_nothing_is_private_or_the_letter_is_asked_for() -> None:
    people = _people()
    for options in ({"public": ["area", "bmi"], "domain": None}, {"allow_small": True}):
        clusters = _mined(people, "kmeans", **options).release_.to_json()["clusters"]
        assert sum("lonely" in entry["centroid"]["area"] for entry in clusters) == 1


def test_too_few_people_are_told_before_rare_values() -> None:
    people = {"age": [30, 40, 50] * 4, "ill": ["yes", "no"] * 6}
    with pytest.raises(PromiseError, match="all 12 people") as caught:
        AnonymousClusters(privacy=13, public=["age"]).fit(people)
    assert caught.value.code == "table-too-small"


@pytest.mark.parametrize("seed", [-1, 2**32, "one"])
def test_a_seed_that_is_none_is_refused_in_words(seed: object) -> None:
    with pytest.raises(RequirementError, match="random_state must be"):
        AnonymousClusters(privacy=2, random_state=seed).fit({"age": [30, 40, 50] * 4})


def test_rules_of_a_table_do_not_name_a_private_value_that_few_people_have() -> None:
    """As trees, tables and clusters do not: "ill=ebola: 1 of 1 people" told that somebody has it."""
    people = {
        "sex": ["f"] * 50 + ["m"] * 50,
        "ill": ["ebola"] + ["no"] * 25 + ["flu"] * 24 + ["no"] * 25 + ["flu"] * 25,
    }
    miner = AnonymousRules(20, ["sex"], min_support=1, min_confidence=0.01, rows="table").fit(people)
    assert len(miner.release_.rules) == 8
    assert "ebola" not in str(miner.release_.to_json())
    assert "ebola" not in str(miner.report_)
    assert audit(miner, people).holds
    known = AnonymousRules(20, ["ill"], min_support=1, min_confidence=0.01, rows="table")
    assert "ill=ebola" in {item for items in known.fit(people).report_.dropped for item in str(items.rule).split(" ⇒ ")}


def test_a_name_with_a_comma_is_in_quotes_in_the_audit_and_on_the_command_line() -> None:
    """An audit said "an attacker knows: bread, tea, green"; and no private item could be called so."""
    baskets = [["tea, green", "pills"], ["tea, green"]] * 30 + [[]] * 30
    miner = AnonymousRules(privacy=20, public_items=["tea, green"], min_support=5, min_confidence=0.3).fit(baskets)
    told = str(audit(miner, baskets, privacy=40))
    assert 'an attacker knows: "tea, green"' in told
    assert '("tea, green" ⇒ pills)' in told
    given = ["age, sex", "zip,", 'soap,"tea, green" , he "x"', r'"he \"x\"", b', '"', '"a" b,c', r'"\q"', ""]
    names_are = ("age", "sex", "zip", "soap", "tea, green", 'he "x"', 'he "x"', "b", '"', '"a" b', "c", r'"\q"')
    assert names(given) == names_are


def test_a_message_proposes_no_private_value() -> None:
    """It said: 'age' does not exist. Closest: 'age=40'."""
    miner = AnonymousRules(5, ["sex"], min_support=5, rows="table", sensitive=["age"])
    with pytest.raises(RoleError) as caught:
        miner.fit({"sex": ["f", "m"] * 20, "age": [40, 50] * 20})
    assert "=4" not in str(caught.value)
    assert "column=value" in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [{"public_items": [1]}, {"public_items": None}, {"sensitive": [1]}, {"merge": "no"}, {"public_rules": 1}],
)
def test_options_of_rules_that_mean_nothing_are_refused_in_words(options: dict) -> None:
    with pytest.raises((RoleError, DataError), match="must be"):
        AnonymousRules(**{"privacy": 5, "public_items": ["a"], "min_support": 5, **options}).fit(
            [["a", "p"], ["a"]] * 20
        )


def test_a_domain_that_is_no_list_is_refused_in_words() -> None:
    for domain in ({"age": 5}, {"sex": 5}):
        with pytest.raises(DataError, match="must be a list"):
            AnonymousClusters(5, public=["sex"], domain=domain).fit({"sex": ["f", "m"] * 20, "age": [40, 50] * 20})


@pytest.mark.parametrize("options", [{"public": [1]}, {"public": 5}, {"sensitive": [1]}, {"domain": [1]}])
def test_options_of_clusters_that_mean_nothing_are_refused_in_words(options: dict) -> None:
    with pytest.raises((RoleError, DataError), match="must be"):
        AnonymousClusters(**{"privacy": 5, "public": ["sex"], **options}).fit({"sex": ["f", "m"] * 9, "age": [4] * 18})
