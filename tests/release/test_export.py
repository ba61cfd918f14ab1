# SPDX-License-Identifier: Apache-2.0
"""Exports say what the release says: each is read back by something that is not Shoal, and compared."""

from __future__ import annotations

import json
import pickle
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from helpers.strategies import cases, trees
from shoal import AnonymousTreeClassifier, DataError, ReleaseError, load, load_sample
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.release.statement import STATEMENTS

ODD = {"a": "it's", "b": 'say "b"', "c": "c\\", "d": "`d`; --", "n": "n'o", "y": "<y> & \n", "z": "z"}
ODD_NAME = "{}\"'`\\ <&"
NUMBERS = [None, -7, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 4.5, 5, 99]
CLAIMS = ({"requirement": "k-anonymity", "k": 2},)

WEIGHTS = st.sampled_from([0.25, 1.0, 1.5, 3.0, 40.0])

Rows = list[dict[str, Any]]


def odd(release: TreeRelease) -> TreeRelease:
    """The same tree over names and values that need care."""

    def values(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(ODD[text] for text in texts)

    attributes = tuple(
        replace(attribute, name=ODD_NAME.format(attribute.name), values=values(attribute.values))
        for attribute in release.attributes
    )
    nodes = tuple(
        replace(
            node,
            attribute=node.attribute and ODD_NAME.format(node.attribute),
            branches=tuple(replace(branch, values=values(branch.values)) for branch in node.branches),
        )
        for node in release.nodes
    )
    return TreeRelease(ODD_NAME.format(release.target), attributes, release.claims, nodes)


@st.composite
def trees_and_rows(draw: st.DrawFn) -> tuple[TreeRelease, Rows]:
    """A random tree that says much or little, plain or with odd names, and rows with missing and unknown values."""
    release = draw(cases().flatmap(trees))
    if draw(st.booleans()):
        release = odd(release)
    weights = draw(st.none() | st.lists(WEIGHTS, min_size=len(release.classes), max_size=len(release.classes)))
    release = replace(release, weights=weights and tuple(weights)).stating(draw(st.sampled_from(STATEMENTS)))
    features = [attribute for attribute in release.attributes if attribute.name != release.target]
    row = st.fixed_dictionaries(
        {
            attribute.name: st.sampled_from(
                NUMBERS if attribute.type == "numeric" else [*attribute.values, None, "elsewhere"]
            )
            for attribute in features
        }
    )
    return release, draw(st.lists(row, min_size=1, max_size=12))


def columns(rows: Rows) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.fixture(scope="module")
def clinic() -> TreeRelease:
    table = load_sample().table.drop(["patient"])
    release: TreeRelease = (
        AnonymousTreeClassifier(privacy=30, max_leaves=40, pruning="none").fit(table, "diabetes").release_
    )
    return release


def every_kind(labels: Any = "string", classes: tuple[str, ...] = ("no", "yes")) -> TreeRelease:
    """One branch of every sort: several intervals, one value, several values, missing alone, any number."""
    attributes = (
        Attribute("x", "public", "numeric", bounds=(0, 9), missing=True),
        Attribute("v", "public", "categorical", values=("a", "b", "c"), missing=True),
        Attribute("t", "private", "categorical", values=classes, labels=labels),
    )
    numbers = (
        Branch(1, intervals=(Interval(None, 1.5), Interval(3, 4.5))),
        Branch(2, intervals=(Interval(1.5, 3),)),
        Branch(3, intervals=(Interval(4.5, None),), missing=True),
    )
    values = (Branch(4, values=("a",)), Branch(5, values=("b", "c"), label="late"), Branch(6, missing=True))
    any_number = (Branch(7, intervals=(Interval(None, None),)), Branch(8, missing=True))
    leaves = [Node(counts=counts) for counts in [(1, 9), (5, 5), (7, 2), (0, 4), (3, 0)]]
    nodes = (Node("x", numbers), Node("v", values), Node(counts=(0, 0)), Node("x", any_number), *leaves)
    return TreeRelease("t", attributes, CLAIMS, nodes)


# -------------------------------------------------------------------- SQL


def run_sql(expressions: list[str], release: TreeRelease, rows: Rows) -> list[tuple[Any, ...]]:
    """What SQLite answers."""
    names = list(rows[0])
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    kinds = ["REAL" if release.attribute(name).type == "numeric" else "TEXT" for name in names]
    base = sqlite3.connect(":memory:")
    try:
        base.execute(f"CREATE TABLE t ({', '.join(map(' '.join, zip(quoted, kinds, strict=True)))})")
        marks = ", ".join("?" * len(names))
        base.executemany(f"INSERT INTO t VALUES ({marks})", [tuple(row[name] for name in names) for row in rows])
        return base.execute(f"SELECT {', '.join(expressions)} FROM t ORDER BY rowid").fetchall()
    finally:
        base.close()


def told(release: TreeRelease, rows: Rows) -> np.ndarray:
    """The shares where each row ends; NaN where a release that states shares says only the class."""
    answer: np.ndarray = release.shares[release.apply(columns(rows), unknown="ancestor")]
    return answer


def check_sql(release: TreeRelease, rows: Rows) -> None:
    X = columns(rows)
    shares: dict[str, str] = {}
    if release.statement != "majority":
        shares = release.to_sql(proba=True)
        assert list(shares) == list(release.classes)
    answers = run_sql([release.to_sql(), *shares.values()], release, rows)
    assert [answer[0] for answer in answers] == release.predict(X, unknown="ancestor").tolist()
    if shares:
        found = np.array([answer[1:] for answer in answers], dtype=np.float64)  # NULL is NaN
        np.testing.assert_allclose(found, told(release, rows), rtol=0, atol=1e-12, equal_nan=True)


@given(trees_and_rows())
def test_sql_answers_as_the_release_does(drawn):
    check_sql(*drawn)


def test_sql_answers_as_the_release_does_on_the_sample(clinic):
    rows = load_sample().to_arrow().select(list(clinic.tested)).to_pylist()
    for i, row in enumerate(rows[:600]):  # some rows with a value that is missing or in no domain
        name = clinic.tested[i % len(clinic.tested)]
        row[name] = None if i % 2 or clinic.attribute(name).type == "numeric" else "elsewhere"
    assert len(clinic.leaves) >= 40
    check_sql(clinic, rows)


def test_sql_has_every_sort_of_condition():
    release = every_kind()
    assert release.to_sql() == (
        "CASE\n"
        '  WHEN ("x" <= 1.5 OR ("x" > 3 AND "x" <= 4.5)) AND "v" IN (\'b\', \'c\') THEN \'no\'\n'
        '  WHEN ("x" <= 1.5 OR ("x" > 3 AND "x" <= 4.5)) AND "v" IS NULL THEN \'no\'\n'
        "  WHEN \"x\" IS NULL THEN 'no'\n"
        "  ELSE 'yes'\n"
        "END"
    )
    assert '"x" IS NOT NULL' in release.to_sql(proba=True)["no"]
    check_sql(release, [{"x": x, "v": v} for x in NUMBERS for v in ("a", "b", "c", None, "d")])


def test_sql_leaves_out_splits_that_change_nothing():
    release = every_kind()
    same = tuple(node if node.counts is None else Node(counts=(2, 1)) for node in release.nodes)
    assert replace(release, nodes=same).to_sql() == "'no'"


def test_mysql_quotes_with_backticks_and_doubles_backslashes():
    attributes = (
        Attribute("a`b", "public", "categorical", values=("c\\", "it's")),
        Attribute("t", "private", "categorical", values=("no", "yes")),
    )
    nodes = (
        Node("a`b", (Branch(1, values=("c\\",)), Branch(2, values=("it's",)))),
        Node(counts=(0, 3)),
        Node(counts=(5, 0)),
    )
    release = TreeRelease("t", attributes, CLAIMS, nodes)
    assert "WHEN `a``b` = 'c\\\\' THEN 'yes'" in release.to_sql("mysql")
    assert "WHEN \"a`b\" = 'c\\' THEN 'yes'" in release.to_sql()
    assert "`a``b` = 'it''s'" in release.to_sql("mysql", proba=True)["yes"]


def test_spark_reads_no_text_of_a_release_as_anything_else():
    """Spark puts settings and environment variables in the place of ${...}, also within quotes."""

    def release(name):
        attributes = (
            Attribute(name, "public", "categorical", values=("${env:HOME}", "it's")),
            Attribute("t", "private", "categorical", values=("c\\", "yes")),
        )
        nodes = (
            Node(name, (Branch(1, values=("${env:HOME}",)), Branch(2, values=("it's",)))),
            Node(counts=(0, 3)),
            Node(counts=(5, 0)),
        )
        return TreeRelease("t", attributes, CLAIMS, nodes)

    sql = release("a`b").to_sql("spark")
    assert "$" not in sql
    assert "\\" not in sql
    assert "CAST(`a``b` AS STRING) = decode(X'247b656e763a484f4d457d', 'UTF-8') THEN 'yes'" in sql
    with pytest.raises(ReleaseError, match="Spark cannot name column"):
        release("${env:HOME}").to_sql("spark")


@pytest.mark.parametrize(
    ("labels", "classes", "words"),
    [
        ("integer", ("0", "1"), ("0", "1")),
        ("number", ("0.5", "2"), ("0.5", "2")),
        ("boolean", ("False", "True"), ("FALSE", "TRUE")),
    ],
)
def test_sql_answers_in_the_type_of_the_target(labels, classes, words):
    release = every_kind(labels, classes)
    assert f"ELSE {words[1]}\nEND" in release.to_sql()
    check_sql(release, [{"x": 1, "v": "a"}, {"x": 1, "v": "b"}])


def test_sql_compares_in_the_type_a_column_had():
    attributes = (
        Attribute("zip", "public", "categorical", values=("1", "2"), labels="integer"),
        Attribute("t", "private", "categorical", values=("no", "yes")),
    )
    nodes = (
        Node("zip", (Branch(1, values=("1",)), Branch(2, values=("2",)))),
        Node(counts=(3, 0)),
        Node(counts=(0, 2)),
    )
    assert 'WHEN "zip" = 2 THEN' in TreeRelease("t", attributes, CLAIMS, nodes).to_sql()


def test_sql_of_an_unknown_dialect_is_refused(clinic):
    with pytest.raises(DataError, match="'ansi', 'mysql' or 'spark'") as caught:
        clinic.to_sql("oracle")
    assert caught.value.code == "unknown-option"


def test_what_a_format_cannot_hold_is_refused_without_showing_it():
    attributes = (
        Attribute("v", "public", "categorical", values=("secret\x00cell", "b")),
        Attribute("t", "private", "categorical", values=("no", "yes")),
    )
    branches = (Branch(1, values=("secret\x00cell",)), Branch(2, values=("b",)))
    nodes = (Node("v", branches), Node(counts=(0, 2)), Node(counts=(3, 0)))
    release = TreeRelease("t", attributes, CLAIMS, nodes)
    for write in (release.to_sql, release.to_dot, release.to_pmml):
        with pytest.raises(ReleaseError) as caught:
            write()
        assert caught.value.code == "cannot-export"
        assert "secret" not in str(caught.value)
    json.dumps(release.to_nested())


# -------------------------------------------------------------------- text and nested data


def test_text_is_whole_where_print_stops(clinic):
    assert clinic.to_text() == str(clinic)
    table = load_sample().table.drop(["patient"])
    big = AnonymousTreeClassifier(privacy=10, pruning="none").fit(table, "diabetes").release_
    assert "more nodes" in str(big)
    assert "more nodes" not in big.to_text()
    assert len(big.to_text().splitlines()) == len(big.nodes)  # a headline, and the root has no line


def follow(nested: dict[str, Any], row: dict[str, Any]) -> Any:
    """A reader of the nested form that knows only its words."""
    while "branches" in nested:
        value = row[nested["attribute"]]
        nexts = [branch["node"] for branch in nested["branches"] if takes(branch, value)]
        if not nexts:
            break
        (nested,) = nexts
    return nested["predict"]


def takes(branch: dict[str, Any], value: Any) -> bool:
    if value is None:
        return branch.get("missing", False)
    if "values" in branch:
        return value in branch["values"]
    ends = branch.get("intervals", [branch] if {"above", "at_most"} & set(branch) else [])
    return any(end.get("above", -1e9) < value <= end.get("at_most", 1e9) for end in ends)


@given(trees_and_rows())
def test_nested_data_goes_through_json_and_answers_as_the_release_does(drawn):
    release, rows = drawn
    nested = json.loads(json.dumps(release.to_nested()))
    assert [follow(nested, row) for row in rows] == release.predict(columns(rows), unknown="ancestor").tolist()
    stated = {"counts": {"counts", "predict"}, "shares": {"shares", "predict"}, "majority": {"predict"}}
    leaves = list(leaves_of(nested))
    assert len(leaves) == len(release.leaves)
    assert all(set(leaf) == stated[release.statement] for leaf in leaves)


def leaves_of(nested: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "branches" not in nested:
        yield nested
    for branch in nested.get("branches", ()):
        yield from leaves_of(branch["node"])


def test_nested_data_keeps_labels_and_the_type_of_the_target():
    nested = every_kind("integer", ("0", "1")).to_nested()
    inner = nested["branches"][0]
    assert inner["intervals"] == [{"at_most": 1.5}, {"above": 3, "at_most": 4.5}]
    assert inner["node"]["branches"][1]["label"] == "late"
    assert inner["node"]["branches"][0]["node"] == {"counts": {"0": 1, "1": 9}, "predict": 1}


# -------------------------------------------------------------------- Graphviz

QUOTED = r'"((?:[^"\\\n]|\\.)*)"'
STATEMENT = re.compile(
    rf"  (?:n(?P<node>\d+) \[label={QUOTED}(?P<leaf>, style=rounded)?\]"
    rf"|n(?P<start>\d+) -> n(?P<end>\d+) \[label={QUOTED}\]"
    rf"|graph \[rankdir=LR, label={QUOTED}\]|(?:node|edge) \[[^\]]*\]);"
)


@given(trees_and_rows())
def test_dot_is_well_formed_and_has_every_node_and_branch(drawn):
    release, _ = drawn
    first, *statements, last = release.to_dot().split("\n")
    assert re.fullmatch(rf"digraph {QUOTED} {{", first)
    assert last == "}"
    found = [STATEMENT.fullmatch(statement) for statement in statements]
    assert all(found)
    nodes = {int(match["node"]): bool(match["leaf"]) for match in found if match and match["node"]}
    assert nodes == {number: node.is_leaf for number, node in enumerate(release.nodes)}
    edges = {(int(match["start"]), int(match["end"])) for match in found if match and match["start"]}
    assert edges == {(i, branch.node) for i, node in enumerate(release.nodes) for branch in node.branches}


def test_dot_escapes_what_graphviz_would_read():
    release = odd(every_kind(classes=("n", "y")))
    text = release.to_dot()
    assert r"= say \"b\" or c\\" not in text  # a label stands for several values
    assert "&lt;" not in text  # < needs no escape in a quoted string
    assert "<y> &amp; \\n 9" in text
    assert ODD_NAME.format("x").replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") in text


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_reads_it(clinic):
    for release in (clinic, odd(every_kind(classes=("n", "y")))):
        drawn = subprocess.run(["dot", "-Tsvg"], input=release.to_dot(), capture_output=True, text=True, check=True)
        assert drawn.stdout.count('class="node"') == len(release.nodes)


# -------------------------------------------------------------------- PMML

PMML = "{http://www.dmg.org/PMML-4_4}"


def holds(test: ET.Element, row: dict[str, Any]) -> bool | None:
    """A predicate in the three-valued logic of PMML; None is unknown."""
    kind = test.tag.removeprefix(PMML)
    if kind == "True":
        return True
    if kind == "CompoundPredicate":
        parts = [holds(part, row) for part in test]
        wins = test.get("booleanOperator") == "or"
        return wins if wins in parts else None if None in parts else not wins
    value = row[test.attrib["field"]]
    if test.get("operator") in ("isMissing", "isNotMissing"):
        return (value is None) == (test.get("operator") == "isMissing")
    if value is None:
        return None
    if kind == "SimpleSetPredicate":
        array = test.find(f"{PMML}Array")
        assert array is not None
        members = re.findall(r'"([^"]*)"', array.text or "")
        assert len(members) == int(array.attrib["n"])
        return value in members
    number = test.attrib["value"]
    return {
        "equal": lambda: value == number,
        "lessOrEqual": lambda: value <= float(number),
        "greaterThan": lambda: value > float(number),
    }[test.attrib["operator"]]()


def evaluate(pmml: str, row: dict[str, Any]) -> tuple[str, dict[str, float]]:
    """A tiny reader of PMML's tree model, written from its specification: first true child, else last prediction."""
    model = ET.fromstring(pmml).find(f"{PMML}TreeModel")
    assert model is not None
    assert model.get("missingValueStrategy") == "none"
    assert model.get("noTrueChildStrategy") == "returnLastPrediction"
    node = model.find(f"{PMML}Node")
    while node is not None:
        at = node
        # the predicate is the first element of a node
        node = next((child for child in at.findall(f"{PMML}Node") if holds(child[0], row)), None)
    shares = at.findall(f"{PMML}ScoreDistribution")
    return at.attrib["score"], {share.attrib["value"]: float(share.attrib["probability"]) for share in shares}


@given(trees_and_rows())
def test_pmml_answers_as_the_release_does(drawn):
    release, rows = drawn
    pmml = release.to_pmml()
    X = columns(rows)
    expected = release.predict(X, unknown="ancestor").tolist()
    assert ("probability(" in pmml) == (release.statement != "majority")
    assert ('recordCount="' in pmml.split("TreeModel")[1]) == (release.statement != "majority")
    shares = [[]] * len(rows) if release.statement == "majority" else told(release, rows).tolist()
    for row, answer, share in zip(rows, expected, shares, strict=True):
        stated = dict(zip(release.classes, share, strict=True)) if share and not np.isnan(share).any() else {}
        assert evaluate(pmml, row) == (answer, stated)


def test_pmml_states_fields_counts_and_where_it_comes_from(clinic):
    root = ET.fromstring(clinic.to_pmml())
    fields = root.findall(f"{PMML}DataDictionary/{PMML}DataField")
    assert [field.attrib["name"] for field in fields] == [*clinic.tested, "diabetes"]
    assert root.find(f"{PMML}Header/{PMML}Extension[@name='sha256']").attrib["value"] == clinic.sha256
    nodes = {int(node.attrib["id"]): node for node in root.iter(f"{PMML}Node")}
    for number, counts in enumerate(clinic.counts.tolist()):
        told = nodes[number].findall(f"{PMML}ScoreDistribution")
        assert [int(each.attrib["recordCount"]) for each in told] == counts
        assert int(nodes[number].attrib["recordCount"]) == sum(counts)
    # no reader may refuse a value that the release routes
    asked = root.findall(f"{PMML}TreeModel/{PMML}MiningSchema/{PMML}MiningField")
    assert {field.get("invalidValueTreatment") for field in asked[:-1]} == {"asIs"}
    assert asked[-1].get("usageType") == "target"


@pytest.mark.parametrize(
    ("labels", "classes", "kind", "words"),
    [
        ("integer", ("0", "1"), "integer", ["0", "1"]),
        ("number", ("0.5", "2"), "double", ["0.5", "2"]),
        ("boolean", ("False", "True"), "boolean", ["false", "true"]),
    ],
)
def test_pmml_has_the_type_of_the_target(labels, classes, kind, words):
    root = ET.fromstring(every_kind(labels, classes).to_pmml())
    field = root.findall(f"{PMML}DataDictionary/{PMML}DataField")[-1]
    assert field.attrib["dataType"] == kind
    assert [value.attrib["value"] for value in field] == words


# -------------------------------------------------------------------- scikit-learn


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    frame: pd.DataFrame = load_sample().to_arrow().to_pandas()
    return frame


def test_sklearn_face_is_fitted_and_answers_as_the_release_does(clinic, people):
    model = clinic.to_sklearn()
    check_is_fitted(model)
    assert model.n_features_in_ == len(model.feature_names_in_) == len(clinic.attributes) - 1
    assert "diabetes" not in model.feature_names_in_
    assert (model.predict(people) == clinic.predict(people)).all()
    assert (model.predict_proba(people) == clinic.predict_proba(people)).all()
    assert model.score(people, people["diabetes"]) > 0.8


def test_sklearn_face_reads_arrays_in_the_order_of_its_columns(clinic, people):
    model = clinic.to_sklearn()
    array = people[model.feature_names_in_].to_numpy(dtype=object)
    assert (model.predict(array) == clinic.predict(people)).all()
    with pytest.raises(DataError, match="in that order") as caught:
        model.predict(array[:, :-1])
    assert caught.value.code == "names"
    with pytest.raises(DataError, match="2D"):
        model.predict(array[:, 0])


def test_sklearn_face_stands_last_in_a_pipeline(clinic, people):
    pipeline = make_pipeline(FunctionTransformer(lambda frame: frame.rename(columns=str.lower)), clinic.to_sklearn())
    check_is_fitted(pipeline)
    upper = people.rename(columns=str.upper)
    assert (pipeline.predict(upper) == clinic.predict(people)).all()
    assert pipeline.classes_.tolist() == ["no", "yes"]
    assert (pipeline.fit(upper, people["diabetes"]).predict(upper) == clinic.predict(people)).all()


def test_sklearn_face_survives_pickle_and_clone(clinic, people):
    model = clinic.to_sklearn(unknown="ancestor")
    for again in (clone(model), pickle.loads(pickle.dumps(model))):
        check_is_fitted(again)
        assert again.unknown == "ancestor"
        assert (again.predict(people) == model.predict(people)).all()
    assert set(model.get_params()) == {"release", "unknown"}
    assert "diabetes" in repr(model)


def test_sklearn_face_refuses_unknown_values_unless_told(clinic, people):
    name = next(name for name in clinic.tested if clinic.attribute(name).type == "categorical")
    strange = people.assign(**{name: "elsewhere"})
    with pytest.raises(DataError) as caught:
        clinic.to_sklearn().predict(strange)
    assert caught.value.code == "unseen-value"
    expected = clinic.predict(strange, unknown="ancestor")
    assert (clinic.to_sklearn(unknown="ancestor").predict(strange) == expected).all()


def test_sklearn_face_sorts_its_classes():
    release = every_kind("integer", ("10", "2"))
    model = release.to_sklearn()
    assert model.classes_.tolist() == [2, 10]
    rows = {"x": [1, 1, 5], "v": ["a", "b", "c"]}
    assert (model.predict_proba(rows) == release.predict_proba(rows)[:, ::-1]).all()
    assert model.predict(rows).tolist() == release.predict(rows).tolist()


def test_exports_need_no_scikit_learn_until_asked(clinic, tmp_path):
    clinic.save(tmp_path / "tree.json")
    code = (
        "import sys, shoal; tree = shoal.load(sys.argv[1]); tree.to_sql(); tree.to_pmml(); tree.to_dot();"
        "print('sklearn' in sys.modules, 'matplotlib' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "tree.json")], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["False", "False"]


def test_a_loaded_release_exports_the_same(clinic, tmp_path):
    clinic.save(tmp_path / "tree.json")
    again = load(tmp_path / "tree.json")
    for write in ("to_text", "to_sql", "to_dot", "to_nested", "to_pmml"):
        assert getattr(again, write)() == getattr(clinic, write)()


def test_the_deepest_tree_that_loads_can_be_exported():
    nodes: list[Node] = []
    for level in range(400):
        here = (Interval(None, float(level)), Interval(float(level), None))
        nodes.append(Node("x", tuple(Branch(2 * level + 1 + i, intervals=(each,)) for i, each in enumerate(here))))
        nodes.append(Node(counts=(level % 2, 1 - level % 2)))
    nodes.append(Node(counts=(0, 1)))
    attributes = (
        Attribute("x", "public", "numeric", bounds=(0, 400)),
        Attribute("t", "private", "categorical", values=("no", "yes")),
    )
    release = TreeRelease("t", attributes, CLAIMS, tuple(nodes))
    rows = [{"x": float(x)} for x in range(401)]
    check_sql(release, rows)
    assert follow(release.to_nested(), {"x": 398}) == release.predict({"x": [398]})[0]
    assert evaluate(release.to_pmml(), {"x": 397})[0] == release.predict({"x": [397]})[0]
    assert release.to_dot().count("->") == 800
