# SPDX-License-Identifier: Apache-2.0
"""The files of projections: they come back as they were, and broken or hostile ones are refused in one sentence."""

from __future__ import annotations

import copy
import hashlib
import json
import os
from dataclasses import replace
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from referencing import Registry, Resource

from shoal import ReleaseError, audit, load
from shoal.errors import ShoalError
from shoal.partition.publish import publish_projections
from shoal.privacy import NOT_K_ANONYMITY, LikelyPartAL, PartAL
from shoal.release import ProjectionsRelease
from shoal.release.parse_projections import parse_projections

PEOPLE = pd.DataFrame(
    {
        "age": [21, 33, 47, 58, 62, 71] * 10,
        "sex": ["f", "m", None] * 20,
        "town": ["north", "south", "south", "north"] * 15,
        "pay": np.arange(60) % 7 + 0.5,
        "ill": ["no", "no", "yes", "no", "yes"] * 12,
    }
)
SUBSETS = [["age", "pay"], ["sex", "town"]]
OPTIONS = {"public": ["age", "sex", "town"], "cuts": {"age": [40, 60]}, "domain": {"pay": [0, 9], "age": [18, 90]}}


def make(subsets=SUBSETS, privacy=2, **more) -> ProjectionsRelease:
    return publish_projections(PEOPLE, "ill", subsets, privacy=privacy, **OPTIONS, **more)


@pytest.fixture(scope="module")
def release() -> ProjectionsRelease:
    return make()


@pytest.fixture
def saved(release, tmp_path) -> Path:
    release.save(tmp_path / "people.json")
    return tmp_path / "people.json"


def schema(kind: str):
    return json.loads(resources.files("shoal").joinpath(f"release/schema/{kind}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def validator():
    kinds = [schema(kind) for kind in ("table", "projections")]
    registry = Registry().with_resources((each["$id"], Resource.from_contents(each)) for each in kinds)
    return jsonschema.Draft202012Validator(kinds[-1], registry=registry)


def test_it_comes_back_as_it_was(release, saved):
    again = load(saved)
    assert again.sha256 == release.sha256
    assert again.to_json() == release.to_json()
    for number in range(2):
        pd.testing.assert_frame_equal(again.frame(number), release.frame(number))
    assert audit(again, PEOPLE).holds
    assert sorted(os.listdir(saved.parent)) == ["people.1.csv", "people.2.csv", "people.json"]


def test_its_file_says_what_it_is_not(saved):
    body = json.loads(saved.read_text(encoding="utf-8"))
    assert body["notice"] == NOT_K_ANONYMITY
    assert body["claims"] == [{"requirement": "partal", "k": 2}]
    assert "smallest_group" not in body["audit"]
    assert "k-anonymity" not in json.dumps(body["claims"])


def test_its_file_is_as_the_schema_says(saved, validator):
    body = json.loads(saved.read_text(encoding="utf-8"))
    validator.check_schema(validator.schema)
    validator.validate(body)
    for wrong in ({"claims": [{"requirement": "k-anonymity", "k": 2}]}, {"notice": "safe"}, {"projections": []}):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate({**body, **wrong})


def test_numbers_are_intervals_and_categories_are_as_they_are(release):
    first, second = release.frame(0), release.frame(1)
    assert set(first["age"]) == {"<=40", "41-60", ">60"} or len(set(first["age"])) == 3
    assert set(second["town"]) == {"north", "south"}
    assert second["sex"].isna().sum() == 20
    assert sorted(first["pay"]) == sorted(PEOPLE["pay"])
    ends = release.frame(0, numbers="ends")
    assert {"age_low", "age_high"} <= set(ends.columns)


def test_rows_are_in_an_order_of_their_own(release):
    other = make()
    assert other.sha256 != release.sha256  # shuffled again
    assert other.tables[0].to_csv() != release.tables[0].to_csv()
    kept = [sorted(each.tables[1].to_csv().splitlines()) for each in (release, other)]
    assert kept[0] == kept[1]
    ordered = make(reproducible=True)
    shuffled = publish_projections(PEOPLE.iloc[::-1], "ill", SUBSETS, privacy=2, **OPTIONS, reproducible=True)
    assert ordered.sha256 == shuffled.sha256


def test_the_two_orders_have_nothing_to_do_with_each_other():
    n = 400
    people = pd.DataFrame({"a": np.arange(n) % 2, "b": np.arange(n) % 2, "x": np.arange(n), "y": np.arange(n)})
    people["ill"] = "n"
    release = publish_projections(
        people, "ill", [["a", "x"], ["b", "y"]], privacy=2, public=["a", "b"], domain={"x": [0, n], "y": [0, n]}
    )
    one, other = release.frame(0)["x"].to_numpy(), release.frame(1)["y"].to_numpy()
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.3
    assert abs(np.corrcoef(one, np.arange(n))[0, 1]) < 0.3


def test_what_is_claimed_of_columns_known_by_chance_is_in_the_file(tmp_path, validator):
    asked = PartAL(2) & LikelyPartAL(2, {"pay": 0.25}, 0.75)
    path, *_ = make(privacy=asked).save(tmp_path / "people.json")
    body = json.loads(path.read_text(encoding="utf-8"))
    validator.validate(body)
    assert load(path).requirement == asked
    claim = body["claims"][1]
    for wrong in ({"chances": {}}, {"chances": {"pay": 0}}, {"chances": {"pay": 2}}, {"certainty": None}, {"of": 1}):
        broken = {**body, "claims": [body["claims"][0], {**claim, **wrong}]}
        assert not validator.is_valid(broken)
        rewrite(path, broken)
        assert "cannot be read" in refused(path)
    rewrite(path, {**body, "claims": [body["claims"][0], {**claim, "chances": {"sex": 0.5}}]})
    assert "known by chance" in refused(path)


def test_nothing_is_saved_that_was_not_audited(release, tmp_path):
    with pytest.raises(ReleaseError, match="not audited here") as caught:
        replace(release, verdict=None).save(tmp_path / "people.json")
    assert caught.value.code == "not-audited"
    other = replace(release, claims=({"requirement": "partal", "k": 1},))
    with pytest.raises(ReleaseError, match="changed after its audit"):
        other.save(tmp_path / "people.json")
    with pytest.raises(ReleaseError, match="another release"):
        other.with_audit(audit(release, PEOPLE))
    assert os.listdir(tmp_path) == []


def test_a_file_that_cannot_be_written_leaves_all_as_it_was(release, saved):
    before = {path.name: path.read_bytes() for path in saved.parent.iterdir()}
    (saved.parent / "other.2.csv").mkdir()
    with pytest.raises(ReleaseError, match="Cannot write"):
        make().save(saved.parent / "other.json")
    (saved.parent / "other.2.csv").rmdir()
    assert {path.name: path.read_bytes() for path in saved.parent.iterdir()} == before


def test_it_is_shown(release):
    assert repr(release) == "<ProjectionsRelease of 'ill': 2 projections, 60 rows, PartAL 2>"
    assert "  1: age, pay (private), ill (private)" in str(release)


# ---------------------------------------------------------------- hostile files


def test_files_that_only_the_older_release_names_are_removed(release, saved):
    folder = saved.parent
    (folder / "people.3.csv").write_text("mine", encoding="utf-8")  # no release names it
    one = make(subsets=[["age", "sex"]])
    assert one.save(saved) == [saved, folder / "people.1.csv"]
    assert sorted(os.listdir(folder)) == ["people.1.csv", "people.3.csv", "people.json"]
    assert len(load(saved)) == 1
    # a file that is no longer what the older release wrote is somebody else's by now
    release.save(saved)
    (folder / "people.2.csv").write_text("mine", encoding="utf-8")
    one.save(saved)
    assert (folder / "people.2.csv").read_text(encoding="utf-8") == "mine"
    # nor is anything removed for the word of a file that is no release, or names another folder
    for older in ("{}", '{"format": "shoal-release/1", "projections": [{"name": "../people.2.csv", "sha256": "0"}]}'):
        saved.write_text(older, encoding="utf-8")
        one.save(saved)
        assert len(os.listdir(folder)) == 4


def rewrite(saved: Path, body) -> None:
    saved.write_text(json.dumps(body), encoding="utf-8")


def put(saved: Path, number: int, text: str, **more):
    """Another file of rows, with its right hash."""
    (saved.parent / f"people.{number}.csv").write_text(text, encoding="utf-8")
    body = json.loads(saved.read_text(encoding="utf-8"))
    body["projections"][number - 1] |= {"sha256": hashlib.sha256(text.encode()).hexdigest(), **more}
    rewrite(saved, body)


def refused(saved: Path) -> str:
    with pytest.raises(ReleaseError) as caught:
        load(saved)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_files_that_are_cut_off_changed_or_gone_are_refused(saved):
    text = saved.read_text(encoding="utf-8")
    saved.write_text(text[: len(text) // 2], encoding="utf-8")
    assert "no complete JSON" in refused(saved)
    saved.write_text(text, encoding="utf-8")
    rows = saved.with_name("people.2.csv")
    raw = rows.read_bytes()
    rows.write_bytes(raw[:-20])
    assert "SHA-256 differs" in refused(saved)
    rows.unlink()
    assert "no file 'people.2.csv'" in refused(saved)


def test_another_number_of_rows_is_refused(saved):
    lines = saved.with_name("people.2.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    put(saved, 2, "".join(lines[:-1]), rows=59)
    assert "the same number of rows" in refused(saved)


def test_another_histogram_of_classes_is_refused(saved):
    text = saved.with_name("people.2.csv").read_text(encoding="utf-8")
    put(saved, 2, text.replace(",yes\n", ",no\n", 1))
    assert "as many rows of each value of the target" in refused(saved)


def test_a_cell_that_is_not_explained_is_refused(saved):
    text = saved.with_name("people.2.csv").read_text(encoding="utf-8")
    put(saved, 2, text.replace("north", "<b>", 1))
    assert "<b>" not in refused(saved)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda b: b["projections"][0].update(name="../people.1.csv"), "plain name"),
        (lambda b: b["projections"][0].update(name="/etc/passwd"), "plain name"),
        (lambda b: b["projections"][0].update(name="people.2.csv"), "the file of another projection"),
        (lambda b: b["projections"][0].update(name=5), "must be a text"),
        (lambda b: b["projections"][0].update(rows=True), "must be a whole number"),
        (lambda b: b["projections"][0].update(rows=0), "at least 1"),
        (lambda b: b["projections"][0].update(sha256="x"), "64 hexadecimal"),
        (lambda b: b["projections"][0].update(columns=["age", "pay"]), "the target, and at least one other"),
        (lambda b: b["projections"][0].update(columns=["ill"]), "the target, and at least one other"),
        (lambda b: b["projections"][0].update(columns=["age", "age", "ill"]), "each once"),
        (lambda b: b["projections"][0].update(columns=["age", "pay", "sex", "ill"]), "no overlap is stated"),
        (lambda b: b["projections"][0].update(columns="age"), "must be a list"),
        (lambda b: b["projections"][0].update(more=1), "keys that this format does not know"),
        (lambda b: b["projections"].pop(), "must all be in a projection"),
        (lambda b: b.update(projections=[]), "must be a list that is not empty"),
        (lambda b: b.update(projections={}), "must be a list"),
        (lambda b: b.update(projections=[None]), "must be an object"),
        (lambda b: b.update(overlapping=1), "must be true or false"),
        (lambda b: b.update(left_out=-1), "whole number"),
        (lambda b: b.update(notice="This table is k-anonymous."), "what PartAL is not"),
        (lambda b: b.pop("notice"), "lacks 'notice'"),
        (lambda b: b.update(claims=[{"requirement": "k-anonymity", "k": 2}]), "must state partal"),
        (lambda b: b.update(claims=[{"requirement": "partal", "k": 0}]), "at least 1"),
        (lambda b: b.update(claims=[{"requirement": "partal"}]), "partal needs 'k'"),
        (lambda b: b.update(target="town"), "private categorical"),
        (lambda b: b.update(target=None), "must be a text"),
        (lambda b: b["attributes"].append(b["attributes"][0]), "every attribute once"),
        (lambda b: b["generalised"].pop("age"), "lacks 'age'"),
        (lambda b: b.update(audit={"holds": True}), "lacks 'sha256'"),
        (lambda b: b.update(kind="table"), "release"),
    ],
)
def test_what_is_not_valid_is_refused_by_its_place(saved, change, why):
    body = json.loads(saved.read_text(encoding="utf-8"))
    change(body)
    rewrite(saved, body)
    assert why in refused(saved)


def test_no_other_kind_of_release_may_claim_partal(release, tmp_path):
    table = release.tables[0]
    table.with_audit(audit(table, PEOPLE)).save(tmp_path / "table.json")
    body = json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))
    body["claims"] = [{"requirement": "partal", "k": 2}]
    rewrite(tmp_path / "table.json", body)
    assert "only projections" in refused(tmp_path / "table.json")


def test_a_files_own_word_is_not_enough_to_write_it_again(saved, tmp_path):
    with pytest.raises(ReleaseError, match="a file's own word does not count"):
        load(saved).save(tmp_path / "again.json")


LEAVES = st.none() | st.booleans() | st.integers(-2, 3) | st.text(max_size=3) | st.floats(allow_nan=False)
JUNK = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner))


@pytest.fixture(scope="module")
def kept(release, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("kept") / "people.json"
    release.save(path)
    return path


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_is_read_or_refused_in_one_sentence(kept, data):
    body = copy.deepcopy(json.loads(kept.read_text(encoding="utf-8")))
    place = body
    for _ in range(data.draw(st.integers(0, 3))):
        inner = [key for key, each in _entries(place) if isinstance(each, dict | list) and each]
        if not inner:
            break
        place = place[data.draw(st.sampled_from(inner))]
    key = data.draw(st.sampled_from([key for key, _ in _entries(place)]))
    if data.draw(st.booleans()):
        place[key] = data.draw(JUNK)
    else:
        del place[key]
    try:
        parse_projections(body, kept.parent)
    except ShoalError as error:
        assert "\n" not in str(error)


def _entries(place):
    return list(place.items()) if isinstance(place, dict) else list(enumerate(place))
