# SPDX-License-Identifier: Apache-2.0
"""Files from other owners may be broken or hostile: whatever they hold, one sentence refuses them."""

import contextlib
import copy
import json
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from shoal import load, load_sample
from shoal.cli import run
from shoal.errors import ShoalError
from shoal.share import JointModel, compare_owners, pool, publish

QUICK = 20.0  # seconds of the processor, on a machine that others use as well


@pytest.fixture(scope="module")
def bodies(tmp_path_factory) -> dict[str, Any]:
    """One owner's file, and a recipe of two."""
    people = load_sample().table.select(["age", "sex", "bmi", "diabetes"])
    domain = {"age": [18, 95], "bmi": [10, 60]}
    parts = {name: people.take(np.arange(i, 5000, 2)) for i, name in enumerate(["north", "south"])}
    owners = {name: publish(rows, "diabetes", 100, domain=domain) for name, rows in parts.items()}
    folder = tmp_path_factory.mktemp("files")
    owners["north"].save(folder / "owner.json")
    pool(owners, "bayes", n_rows=200).recipe.save(folder / "joint.json")
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in ("owner", "joint")}


def use(path: Any, good: Any = None) -> None:
    """Everything that one does with a stranger's file, which must work or be refused in one sentence."""
    try:
        release = load(path)
        if release.kind == "joint":
            model = JointModel(release)
        else:
            owners = {"stranger": release, **({} if good is None else {"good": good})}
            compare_owners(owners, n_rows=20, widen=True)
            model = pool(owners, "bayes", n_rows=50, widen=True)
        model.pseudo_data(30).to_frame("pyarrow")
        model.predict(model.pseudo_data(5).table, unknown="ancestor")
    except ShoalError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 5000
        raise


def places(body: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to every value of a body."""
    yield way
    inside = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, value in inside:
        yield from places(value, (*way, key))


STRANGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([-1, 2**53, 2**63, 10**30, 1e300, -1e300, 0.5, 1e-320, "", "x" * 300, "age", "diabetes", "\x00"]),
    st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(st.sampled_from(["node", "values", "people", "above", "x"]), st.integers(-1, 5), max_size=3),
)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), which=st.sampled_from(["owner", "joint"]))
def test_whatever_a_file_says_it_works_or_is_refused(bodies, tmp_path, data, which):
    body = copy.deepcopy(bodies[which])
    for _ in range(data.draw(st.integers(1, 3))):
        ways = list(places(body))[1:]
        if not ways:
            break
        *way, key = data.draw(st.sampled_from(ways))
        parent = body
        for step in way:
            parent = parent[step]
        change = data.draw(st.sampled_from(["replace", "remove", "twice"]))
        if change == "replace":
            parent[key] = data.draw(STRANGE)
        elif change == "remove":
            del parent[key]
        elif isinstance(parent, list):
            parent.append(copy.deepcopy(parent[key]))
    (tmp_path / "file.json").write_text(json.dumps(body), encoding="utf-8")
    with contextlib.suppress(ShoalError):
        use(tmp_path / "file.json")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1), junk=st.binary(max_size=4), which=st.sampled_from(["owner", "joint"]))
@example(where=0.0, junk=b"", which="owner")
@example(where=0.999, junk=b"", which="joint")
def test_a_file_that_is_cut_off_or_garbled_is_refused(bodies, tmp_path, where, junk, which):
    raw = json.dumps(bodies[which]).encode()
    (tmp_path / "file.json").write_bytes(raw[: int(where * (len(raw) - 1))] + junk)
    with pytest.raises(ShoalError):
        use(tmp_path / "file.json")


def tree(nodes: list[Any], *attributes: Any, **more: Any) -> dict[str, Any]:
    target = {"name": "t", "role": "private", "type": "categorical", "values": ["n", "y"]}
    claims = [{"requirement": "k-anonymity", "k": 2}]
    head = {"format": "shoal-release/1", "kind": "tree", "target": "t", "attributes": [*attributes, target]}
    return {**head, "claims": claims, "nodes": nodes, **more}


def number(name: str, low: float = 0, high: float = 1) -> dict[str, Any]:
    return {"name": name, "role": "public", "type": "numeric", "bounds": [low, high]}


def category(name: str, n: int) -> dict[str, Any]:
    return {"name": name, "role": "public", "type": "categorical", "values": [f"v{i}" for i in range(n)]}


LEAF = {"counts": {"n": 3, "y": 3}}


def split(low: int, high: int, at: float = 0.5) -> dict[str, Any]:
    return {"attribute": "x", "branches": [{"at_most": at, "node": low}, {"above": at, "node": high}]}


def recipe(*releases: Any, **more: Any) -> dict[str, Any]:
    owners = [{"owner": str(i), "release": each} for i, each in enumerate(releases)]
    return {"format": "shoal-release/1", "kind": "joint", "learner": "tree", "seed": 0, "owners": owners, **more}


def many_branches(n: int) -> dict[str, Any]:
    branches = [{"values": [f"v{i}"], "node": i + 1} for i in range(n)]
    return tree([{"attribute": "x", "branches": branches}, *[LEAF] * n], category("x", n))


def balanced(depth: int) -> dict[str, Any]:
    """A tree of as many different thresholds as nodes."""
    nodes = []
    for level in range(depth):
        first = 2**level - 1
        for i in range(2**level):
            below = 2 * (first + i) + 1
            nodes.append(split(below, below + 1, (i + 0.5) / 2**level))
    return tree([*nodes, *[LEAF] * 2**depth], number("x"))


HOSTILE = {
    "empty": b"",
    "a list": b"[]",
    "half a number": b'{"format": "shoal-release/1", "kind": "joint", "seed": 1',
    "not UTF-8": b'{"format": "\xff\xfe"}',
    "NaN": json.dumps(tree([{"counts": {"n": float("nan"), "y": 3}}])).encode(),
    "infinite bounds": json.dumps(tree([LEAF], number("x", 0, float("inf")))).encode(),
    "thousands of digits": b'{"format": "shoal-release/1", "kind": "joint", "seed": ' + b"9" * 10_000 + b"}",
    "nested without end": b'{"format": "shoal-release/1", "kind": "joint", "owners": ' + b"[" * 200_000,
    "a key twice": b'{"format": "shoal-release/1", "format": "shoal-release/1"}',
    "a cycle": tree([split(1, 2), split(0, 3), LEAF, LEAF], number("x")),
    "a node that leads to itself": tree([split(0, 1), LEAF], number("x")),
    "two ways to one node": tree([split(1, 1), LEAF], number("x")),
    "a node that does not exist": tree([split(1, 10**9), LEAF], number("x")),
    "negative counts": tree([{"counts": {"n": -3, "y": 3}}]),
    "nobody": tree([{"counts": {"n": 0, "y": 0}}]),
    "counts that are true": tree([{"counts": {"n": True, "y": 3}}]),
    "more people than there are": tree([{"counts": {"n": 2**53, "y": 2**53}}]),
    "very many branches": many_branches(110_000),  # a million take longer to write than to refuse
    "many branches, and as many values": many_branches(50_000),
    "very many thresholds": balanced(12),
    "deeper than any tree": tree(
        [each for i in range(500) for each in (split(2 * i + 2, 2 * i + 1), LEAF)] + [LEAF], number("x")
    ),
    "very many owners": recipe(*[{}] * 20_000),
    "owners within owners": recipe(recipe(tree([LEAF]))),
    "an owner of another kind": recipe({**tree([LEAF]), "kind": "ensemble"}),
    "nodes that are text": recipe(tree("LEAF")),  # type: ignore[arg-type]
    "rows without end": recipe(tree([LEAF]), rows=10**15),
    "a seed that is text": recipe(tree([LEAF]), seed="0"),
    "very many columns and people": recipe(
        tree([{"counts": {"n": 10**15, "y": 1}}], *(number(f"c{i}") for i in range(9_000)))
    ),
    "very many classes": tree([{"counts": {f"v{i}": 1 for i in range(5_000)}}], category("t", 5_000)),
}
HOSTILE["very many classes"]["attributes"].pop()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_quickly_and_in_one_line(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shoal.release.parse.MAX_WORK", 2**22)  # so that a smaller tree is too large
    body = HOSTILE[name]
    (tmp_path / "evil.json").write_bytes(body if isinstance(body, bytes) else json.dumps(body).encode())
    started = time.process_time()
    with pytest.raises(ShoalError):
        use("evil.json")
    for verb in (["pool", "evil.json"], ["generate", "evil.json", "--rows", "10"]):
        if name in ("very many columns and people", "very many classes") and verb[0] == "generate":
            continue  # ten rows can be made
        if name == "many branches, and as many values" and verb[0] == "pool":
            continue  # refused before, for carrying no audit
        assert run(verb) in (1, 2)
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("shoal: ")
        assert said.err.count("\n") == 1
        assert "unexpected" not in said.err
        assert "Traceback" not in said.err
    assert time.process_time() - started < QUICK


def test_numbers_at_the_edge_of_what_a_release_can_hold(tmp_path):
    """No warning and no nonsense: shares add up."""
    body = tree([split(1, 2, 0), LEAF, {"counts": {"n": 9, "y": 1}}], number("x", -1e300, 1e300))
    (tmp_path / "edge.json").write_text(json.dumps(body))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for learner in ("tree", "bayes", "rules", "boosting", "bag", "vote"):
            model = pool({"edge": load(tmp_path / "edge.json")}, learner)
            shares = model.predict_proba({"x": [-1e300, 0.0, 1e300]})
            assert np.allclose(shares.sum(axis=1), 1)
