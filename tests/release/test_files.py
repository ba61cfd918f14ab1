# SPDX-License-Identifier: Apache-2.0
"""Release files: written whole or not at all, and nothing in one is believed unchecked."""

import copy
import json
import os
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal.release.files as files
from shoal import AnonymousTreeClassifier, ReleaseError, audit, load, load_sample
from shoal.release import Node


@pytest.fixture(scope="module")
def people():
    return load_sample().table.select(["age", "sex", "education", "bmi", "diabetes"])


@pytest.fixture(scope="module")
def release(people):
    public = ["age", "sex", "education"]
    tree = AnonymousTreeClassifier(privacy=150, public=public, max_leaves=8, domain={"bmi": [10, 60]})
    return tree.fit(people, "diabetes").release_


@pytest.fixture
def body(release, tmp_path):
    release.save(tmp_path / "tree.json")
    return json.loads((tmp_path / "tree.json").read_text())


def test_a_saved_release_loads_as_it_was(release, people, tmp_path):
    release.save(tmp_path / "tree.json")
    again = load(tmp_path / "tree.json")
    assert again.to_json() == release.to_json()
    assert str(again) == str(release)
    assert (again.predict(people) == release.predict(people)).all()
    assert audit(again, people).holds
    again.with_audit(audit(again, people)).save(tmp_path / "again.json")
    assert (tmp_path / "tree.json").read_bytes() == (tmp_path / "again.json").read_bytes()


def test_the_file_has_the_rights_of_an_ordinary_one(release, tmp_path):
    release.save(tmp_path / "tree.json")
    (tmp_path / "plain").write_text("")
    assert (tmp_path / "tree.json").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_what_was_not_audited_is_not_written(release, tmp_path):
    with pytest.raises(ReleaseError, match="not audited here"):
        replace(release, verdict=None).save(tmp_path / "tree.json")
    assert not list(tmp_path.iterdir())


def test_what_was_changed_after_its_audit_is_not_written(release, tmp_path):
    leaf = release.leaves[0]
    counts = (release.nodes[leaf].counts[0] + 1, *release.nodes[leaf].counts[1:])
    nodes = (*release.nodes[:leaf], Node(counts=counts), *release.nodes[leaf + 1 :])
    with pytest.raises(ReleaseError, match="changed after its audit"):
        replace(release, nodes=nodes).save(tmp_path / "tree.json")
    assert not list(tmp_path.iterdir())


def test_what_failed_its_audit_is_not_written(release, people, tmp_path):
    claims = ({"requirement": "k-anonymity", "k": 4000},)
    bold = replace(release, claims=claims)
    verdict = audit(bold, people)
    assert not verdict.holds
    with pytest.raises(ReleaseError, match="found a breach"):
        bold.with_audit(verdict).save(tmp_path / "tree.json")
    # an audit that was asked something easier does not count
    with pytest.raises(ReleaseError, match="other claims"):
        bold.with_audit(audit(bold, people, privacy=2))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_a_failed_write_leaves_the_old_file(release, tmp_path, monkeypatch, step):
    target = tmp_path / "tree.json"
    target.write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, step, fail)
    with pytest.raises(ReleaseError, match="No space left on device"):
        release.save(target)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["tree.json"]


def test_a_folder_that_is_not_there_is_said(release, tmp_path):
    with pytest.raises(ReleaseError, match="Cannot write"):
        release.save(tmp_path / "nowhere" / "tree.json")


def test_a_truncated_file_is_refused_wherever_it_was_cut(release, tmp_path):
    release.save(tmp_path / "tree.json")
    text = (tmp_path / "tree.json").read_text()
    for end in range(0, len(text.rstrip()) - 1, 7):
        (tmp_path / "cut.json").write_text(text[:end])
        with pytest.raises(ReleaseError) as refusal:
            load(tmp_path / "cut.json")
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no complete JSON"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[1, 2]", "no release"),
        (b"{}", "no release"),
        (b'{"format": "shoal-release/9"}', "not of the format"),
        (b'{"format": "shoal-release/1", "kind": "oracle"}', "does not know"),
        (b'{"format": "shoal-release/1", "kind": ["tree"]}', "does not know"),
        (b'{"format": "shoal-release/1", "format": "shoal-release/1"}', "names a key twice"),
        (b'{"format": NaN}', "NaN is not a number"),
        (b'{"format": ' + b"9" * 5000 + b"}", "number no release can hold"),
        (b"[" * 100_000, "nested too deeply"),
        (b"cos\nsystem\n(S'echo owned'\ntR.", "no complete JSON"),
    ],
    ids=range(12),
)
def test_what_is_no_release_is_refused(tmp_path, content, message):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(ReleaseError, match=message):
        load(tmp_path / "x.json")


def test_an_oversized_file_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    (tmp_path / "x.json").write_text("{" + " " * 100)
    with pytest.raises(ReleaseError, match="at most 10"):
        load(tmp_path / "x.json")
    with pytest.raises(ReleaseError, match="not a file"):
        load(tmp_path)


def first_split(body):
    return next(i for i, node in enumerate(body["nodes"]) if "branches" in node)


MISTAKES = {
    "no nodes": lambda b: b.pop("nodes"),
    "empty nodes": lambda b: b.update(nodes=[]),
    "an unknown key": lambda b: b.update(pickle="gASV"),
    "nodes of text": lambda b: b.update(nodes=["a"]),
    "a negative count": lambda b: b["nodes"][-1]["counts"].update(no=-1),
    "a fractional count": lambda b: b["nodes"][-1]["counts"].update(no=1.5),
    "a boolean count": lambda b: b["nodes"][-1]["counts"].update(no=True),
    "a count beyond all people": lambda b: b["nodes"][-1]["counts"].update(no=2**60),
    "a class that is not declared": lambda b: b["nodes"][-1]["counts"].update(maybe=1),
    "a cycle": lambda b: b["nodes"][first_split(b)]["branches"][0].update(node=0),
    "two ways to one node": lambda b: b["nodes"][0]["branches"][0].update(node=b["nodes"][0]["branches"][1]["node"]),
    "a branch to nowhere": lambda b: b["nodes"][0]["branches"][0].update(node=10**6),
    "a branch to a negative node": lambda b: b["nodes"][0]["branches"][0].update(node=-1),
    "a node that hangs nowhere": lambda b: b["nodes"].append({"counts": {}}),
    "a missing branch": lambda b: b["nodes"][0]["branches"].pop(),
    "an empty branch": lambda b: b["nodes"][0].update(branches=[{"node": 1}]),
    "an attribute nobody declared": lambda b: b["nodes"][0].update(attribute="shoe size"),
    "a test of the target": lambda b: b["nodes"][0].update(attribute="diabetes"),
    "a value twice": lambda b: b["attributes"][1].update(values=["Female", "Female"]),
    "no bounds": lambda b: b["attributes"][0].pop("bounds"),
    "bounds of text": lambda b: b["attributes"][0].update(bounds=["0", "9"]),
    "bounds upside down": lambda b: b["attributes"][0].update(bounds=[9, 0]),
    "an unknown role": lambda b: b["attributes"][0].update(role="secret"),
    "an attribute twice": lambda b: b["attributes"].append(b["attributes"][0]),
    "a target nobody declared": lambda b: b.update(target="nothing"),
    "a numeric target": lambda b: b.update(target="age"),
    "no claims": lambda b: b.update(claims=[]),
    "an unknown claim": lambda b: b.update(claims=[{"requirement": "trust me"}]),
    "a claim of half a person": lambda b: b.update(claims=[{"requirement": "k-anonymity", "k": 0.5}]),
    "an audit of text": lambda b: b.update(audit="holds"),
    "a sensitive public column": lambda b: b.update(sensitive=["age"]),
    "labels that are no numbers": lambda b: b["attributes"][-1].update(labels="integer"),
    "nobody": lambda b: [n["counts"].update(dict.fromkeys(n["counts"], 0)) for n in b["nodes"] if "counts" in n],
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_statement_is_refused_by_its_place(body, tmp_path, mistake):
    MISTAKES[mistake](body)
    (tmp_path / "x.json").write_text(json.dumps(body))
    with pytest.raises(ReleaseError, match=r"x\.json.*The release is not valid") as refusal:
        load(tmp_path / "x.json")
    assert "\n" not in str(refusal.value)


def small_body(nodes, high=9):
    return {
        "format": "shoal-release/1",
        "kind": "tree",
        "target": "t",
        "attributes": [
            {"name": "x", "role": "public", "type": "numeric", "bounds": [0, high]},
            {"name": "t", "role": "private", "type": "categorical", "values": ["n", "y"]},
        ],
        "claims": [{"requirement": "k-anonymity", "k": 1}],
        "nodes": nodes,
    }


@pytest.mark.parametrize(("above", "message"), [(4, "overlap"), (6, "no branch for some values")])
def test_intervals_must_meet(tmp_path, above, message):
    branches = [{"at_most": 5, "node": 1}, {"above": above, "node": 2}]
    body = small_body([{"attribute": "x", "branches": branches}, {"counts": {"n": 1}}, {"counts": {"y": 1}}])
    (tmp_path / "x.json").write_text(json.dumps(body))
    with pytest.raises(ReleaseError, match=message):
        load(tmp_path / "x.json")


def test_a_chain_that_is_too_deep_is_refused(tmp_path):
    nodes = []
    for i in range(500):
        branches = [{"at_most": i, "node": 2 * i + 1}, {"above": i, "node": 2 * i + 2}]
        nodes += [{"attribute": "x", "branches": branches}, {"counts": {"n": 1}}]
    nodes.append({"counts": {"n": 1}})
    (tmp_path / "x.json").write_text(json.dumps(small_body(nodes, high=1000)))
    with pytest.raises(ReleaseError, match="levels deep"):
        load(tmp_path / "x.json")


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 2**70), st.floats(), st.text(max_size=5), st.just([]), st.just({})
)


@given(st.data())
@settings(max_examples=300)
def test_any_mutation_loads_or_is_refused_in_one_sentence(release, tmp_path_factory, data):
    """Replace one random place of the file by junk."""
    body = copy.deepcopy(release.to_json())
    place = body
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        inner = place[key]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.integers(0, 3)) == 0:
            break
        place = inner
    place[key] = data.draw(JUNK)
    path = tmp_path_factory.getbasetemp() / "mutated.json"
    path.write_text(json.dumps(body))
    try:
        loaded = load(path)
    except ReleaseError as refusal:
        assert "\n" not in str(refusal)
        assert len(str(refusal)) < 600
    else:
        assert loaded.n_people > 0
        str(loaded)
