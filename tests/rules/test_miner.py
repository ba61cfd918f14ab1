# SPDX-License-Identifier: Apache-2.0
"""What the miner takes and refuses, tables and hierarchies, the file, and the command."""

import json
from importlib import resources

import jsonschema
import pytest
from referencing import Registry, Resource

from shoal import AnonymousRules, Confidence, audit, load
from shoal.errors import DataError, PromiseError, ReleaseError, RequirementError, RoleError

BASKETS = (
    [["bread", "pills"]] * 30
    + [["bread"]] * 20
    + [["eggs", "pills"]] * 8
    + [["eggs"]] * 4
    + [["rolls", "pills"]] * 7
    + [["rolls"]] * 5
    + [[]] * 25
)
PUBLIC = ["bread", "eggs", "rolls"]


def mined(**given):
    options = {"privacy": 10, "public_items": PUBLIC, "min_support": 5, "min_confidence": 0.5}
    return AnonymousRules(**(options | given)).fit(BASKETS)


@pytest.fixture(scope="module")
def release():
    return mined().release_


def test_numbers_are_counts_of_people(release):
    assert "bread ⇒ pills: 30 of 50 people" in str(release)
    assert "%" not in str(release)
    assert audit(release, BASKETS).holds
    assert not audit(release, BASKETS, privacy=13).holds


def test_an_audit_sees_wrong_counts(release):
    verdict = audit(release, BASKETS[1:])
    assert not verdict.holds
    assert "counts-differ" in {finding.code for finding in verdict.findings}


def test_a_rule_that_does_not_fit_is_generalised():
    plain = mined(privacy=20, merge=False)
    assert [str(rule) for rule in plain.release_.rules] == [
        "bread ⇒ pills: 30 of 50 people",
        "pills ⇒ bread: 30 of 45 people",
    ]
    miner = mined(privacy=20, hierarchy={"*": {"breakfast": ["eggs", "rolls"], "loaf": ["bread"]}})
    assert "any breakfast ⇒ pills: 15 of 24 people" in str(miner.release_)
    assert miner.release_.categories == {"any breakfast": ("eggs", "rolls")}
    assert (miner.report_.kept, miner.report_.generalised) == (2, 1)
    assert {each.rule: each.people for each in miner.report_.dropped}["eggs ⇒ pills"] == 12
    assert audit(miner.release_, BASKETS).holds


def test_a_category_of_items_of_both_roles_is_not_used():
    miner = mined(
        privacy=20, hierarchy={"*": {"breakfast": ["eggs", "rolls", "pills"], "loaf": ["bread"]}}, merge=False
    )
    assert miner.report_.generalised == 0


def test_rules_that_differ_in_one_public_item_are_merged():
    miner = mined(privacy=20)
    assert [str(rule) for rule in miner.release_.rules] == [
        "eggs or rolls ⇒ pills: 15 of 24 people",
        "bread ⇒ pills: 30 of 50 people",
        "pills ⇒ bread: 30 of 45 people",
    ]
    assert miner.release_.categories == {"eggs or rolls": ("eggs", "rolls")}
    assert audit(miner.release_, BASKETS).smallest_group == 24
    with pytest.raises(RoleError, match="some are public and some private"):
        audit(miner.release_, BASKETS, public=["bread", "eggs"])
    assert audit(miner.release_, BASKETS, public=["bread"]).holds


def test_rules_about_public_items_alone_cost_nothing():
    baskets = [*BASKETS, *([["bread", "eggs"]] * 3)]
    options = {"privacy": 20, "public_items": PUBLIC, "min_support": 3, "min_confidence": 0.01, "merge": False}
    plain = AnonymousRules(**options).fit(baskets)
    miner = AnonymousRules(**options, public_rules=True).fit(baskets)
    more = {str(rule) for rule in miner.release_.rules} - {str(rule) for rule in plain.release_.rules}
    assert more == {"bread ⇒ eggs: 3 of 53 people", "eggs ⇒ bread: 3 of 15 people"}
    assert (miner.report_.public, plain.report_.public) == (2, 0)
    verdict = audit(miner, baskets)
    assert verdict.holds
    assert verdict.smallest_group == audit(plain, baskets).smallest_group >= 20
    assert "public-rules" in {finding.code for finding in verdict.findings}
    # to an attacker who does not know of eggs beforehand they do tell something
    assert "public-rules" not in {each.code for each in audit(miner, baskets, public=["bread"]).findings}


def test_numbers_of_a_table_are_cut_into_classes():
    ages = list(range(20, 60))
    table = {"age": ages, "ill": ["yes" if age > 45 or age % 4 == 0 else "no" for age in ages], "is=so": [1, 2] * 20}
    options = {"public_items": ["age", "is=so"], "min_support": 3, "min_confidence": 0.6, "rows": "table"}
    miner = AnonymousRules(privacy=10, **options).fit(table)
    release = miner.release_
    assert release.cuts == {"age": (29.5, 39.5, 49.5)}
    assert {item.column for item in release.items} <= {"age", "ill", "is=so"}
    assert any("age=(39.5, 49.5]" in (item.name, *item.members) for item in release.items)
    assert "age=37" not in str(release)
    assert audit(miner, table).holds
    assert audit(release, table, public=["age", "is=so"]).smallest_group == audit(miner, table).smallest_group
    with pytest.raises(RoleError, match="Closest: 'age'"):
        audit(release, table, public=["aeg"])
    # too few people for two classes: the column is no item, but may still be named
    few = AnonymousRules(privacy=21, **options)
    with pytest.raises(PromiseError, match="No rule that names something private"):
        few.fit(table)


def test_item_names_with_commas_are_quoted():
    baskets = [["eggs, fresh", "pills"]] * 8 + [["eggs, fresh"]] * 4
    miner = AnonymousRules(privacy=10, public_items=["eggs, fresh"], min_support=5).fit(baskets)
    assert '"eggs, fresh" ⇒ pills: 8 of 12 people' in str(miner.release_)
    assert miner.release_.to_json()["rules"][0]["antecedent"] == ["eggs, fresh"]


def test_a_table_has_an_item_for_each_cell():
    table = {"sex": ["f"] * 20 + ["m"] * 20, "ill": ["yes"] * 15 + ["no"] * 15 + ["yes"] * 10}
    miner = AnonymousRules(privacy=10, public_items=["sex"], min_support=5, min_confidence=0.5, rows="table").fit(table)
    assert "sex=f ⇒ ill=yes: 15 of 20 people" in str(miner.release_)
    assert audit(miner, table).holds


def test_a_requirement_about_values():
    assert {str(rule) for rule in mined(privacy=Confidence(0.65), sensitive=["pills"]).release_.rules} == {
        "bread ⇒ pills: 30 of 50 people",
        "rolls ⇒ pills: 7 of 12 people",
    }


def test_a_rule_that_never_fails_is_dropped():
    miner = AnonymousRules(privacy=2, public_items=["bread"], min_support=2, min_confidence=0.9)
    miner.fit([["bread", "pills"]] * 20 + [["pills"], ["pills"], []])
    assert [str(rule) for rule in miner.release_.rules] == ["pills ⇒ bread: 20 of 22 people"]
    assert (miner.report_.mined, miner.report_.certain) == (2, 1)
    assert "bread ⇒ pills: never fails" in str(miner.report_)


def test_nothing_to_release():
    with pytest.raises(PromiseError, match="none can leave") as caught:
        mined(privacy=60, merge=False)
    assert caught.value.code == "no-rules"


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"value": "worth"}, DataError, "value must be one of"),
        ({"rows": "columns"}, DataError, "rows must be"),
        ({"min_support": 0}, DataError, "min_support"),
        ({"min_support": 1.5}, DataError, "min_support"),
        ({"min_confidence": 2}, DataError, "min_confidence"),
        ({"public_items": "bread"}, RoleError, "one string"),
        ({"public_items": ["bred"]}, RoleError, "Closest: 'bread'"),
        ({"sensitive": ["bread"]}, RoleError, "is public"),
        ({"sensitive": ["pill"]}, RoleError, "Closest: 'pills'"),
        ({"privacy": Confidence(0.5)}, RequirementError, "named as sensitive"),
    ],
)
def test_what_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        mined(**given)


def schema(kind):
    return json.loads(resources.files("shoal").joinpath(f"release/schema/{kind}.json").read_text(encoding="utf-8"))


def test_its_file_is_as_the_schema_says_and_loads(release, tmp_path):
    release.save(tmp_path / "rules.json")
    body = json.loads((tmp_path / "rules.json").read_text(encoding="utf-8"))
    registry = Registry().with_resource(schema("tree")["$id"], Resource.from_contents(schema("tree")))
    jsonschema.Draft202012Validator(schema("rules"), registry=registry).validate(body)
    loaded = load(tmp_path / "rules.json")
    assert loaded.to_json() == release.to_json()
    assert loaded.sha256 == loaded.verdict.sha256
    with pytest.raises(ReleaseError, match="not audited here"):
        loaded.save(tmp_path / "again.json")
    loaded.with_audit(audit(loaded, BASKETS)).save(tmp_path / "again.json")


def first(body):
    return body["rules"][0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda body: body.update(rows="cells"), "rows must be"),
        (lambda body: body.update(items=body["items"] * 2), "named before"),
        (lambda body: body["items"][0].update(role="secret"), "role must be"),
        (lambda body: body["items"][0].update(column="food"), "must name the column"),
        (lambda body: body.update(rows="table"), "must name the column"),
        (lambda body: body.update(cuts={"age": [3, 2]}), "ascending"),
        (lambda body: body.update(cuts=[1, 2]), "an object from columns to numbers"),
        (lambda body: body["items"][0].update(members=[body["items"][0]["name"]]), "must name other items"),
        (lambda body: first(body).update(people=10**6), "at most as many"),
        (lambda body: first(body).update(people=0.5), "whole number"),
        (lambda body: first(body).update(consequent=first(body)["antecedent"]), "each once"),
        (lambda body: first(body).update(antecedent=["cheese"]), "items of the release"),
        (lambda body: body["rules"].append(first(body)), "every rule once"),
        (lambda body: body.update(sensitive=["bread"]), "must name private items"),
        (lambda body: body.update(more=1), "keys that this format does not know"),
    ],
)
def test_a_broken_file_is_refused(release, tmp_path, change, message):
    body = json.loads(json.dumps(release.to_json()))
    change(body)
    (tmp_path / "rules.json").write_text(json.dumps(body), encoding="utf-8")
    with pytest.raises(ReleaseError, match=message):
        load(tmp_path / "rules.json")
