# SPDX-License-Identifier: Apache-2.0
"""Tables from trees: VLDB'08 Table 2, and random tables held against brute force on the written text."""

import csv
import io
import json
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.strategies import cases, trees
from shoal import (
    AnonymousTreeClassifier,
    Confidence,
    DataError,
    KAnonymity,
    PromiseError,
    Roles,
    audit,
    load,
    load_sample,
    to_table,
)
from shoal.anonymize import TreeAnonymizer, anonymize_by_tree
from shoal.audit.recount import recount
from shoal.papers.worked.clients import TABLE_2, clients
from shoal.trees.mine import mine_tree

from .examples import client_tree


def written(release):
    """The rows of the file, read by nothing of ours."""
    return list(csv.DictReader(io.StringIO(release.to_csv(), newline="")))


def test_vldb_table_2_from_figure_1():
    release = anonymize_by_tree(client_tree(), clients(), reproducible=True)
    rows = [tuple(row.values()) for row in written(release)]
    assert release.columns == ("gender", "married", "age", "sports car", "loan risk")
    assert Counter(rows) == Counter(TABLE_2)
    verdict = audit(release, clients())
    assert verdict.holds
    assert verdict.exact
    assert verdict.group_sizes.tolist() == [3, 3, 3, 3]
    assert verdict.exposed == 6


def mined(case, k):
    """A tree that counts every group, or None where the table is too small for it."""
    try:
        return mine_tree(
            case.table,
            case.roles,
            KAnonymity(k),
            domain=case.domain,
            hierarchies={name: _hierarchy(spec) for name, spec in case.hierarchies.items()},
            strict=True,
        )
    except PromiseError:
        return None


def _hierarchy(spec):
    from shoal import Hierarchy

    return Hierarchy.from_spec(spec)


def inside(meaning, attribute, value):
    """Whether an original value is among those a label stands for, by the released JSON."""
    if set(meaning) == {"label"}:
        return True
    if value is None:
        return meaning.get("missing", False)
    if "values" in meaning:
        return value in meaning["values"]
    parts = meaning.get("intervals", [meaning] if {"above", "at_most"} & set(meaning) else [])
    return any(part.get("above", -np.inf) < value <= part.get("at_most", np.inf) for part in parts)


@settings(max_examples=150)
@given(st.data())
def test_what_is_published_is_right_for_everybody(data):
    case = data.draw(cases())
    k = data.draw(st.integers(1, 4))
    tree = mined(case, k)
    if tree is None:
        return
    release = anonymize_by_tree(tree, case.table, reproducible=data.draw(st.booleans()))
    assert release.verdict.holds
    rows, body = written(release), release.to_json()
    meaning = {name: {each["label"]: each for each in values} for name, values in body["generalised"].items()}
    public, private = list(release.public), list(release.private)
    # the audit's groups are those of the text
    groups = Counter(tuple(row[name] for name in public) for row in rows)
    verdict = audit(release, case.table)
    assert verdict.group_sizes.tolist() == sorted(groups.values())
    assert min(groups.values()) >= k
    # every person fits exactly one group, and the groups have these people and their private values
    fitting = defaultdict(list)
    for person in case.rows:
        fits = [
            key
            for key in groups
            if all(inside(meaning[name][label], name, person[name]) for name, label in zip(public, key, strict=True))
        ]
        assert len(fits) == 1
        fitting[fits[0]].append(tuple(_cell(person[name]) for name in private))
    told = defaultdict(list)
    for row in rows:
        told[tuple(row[name] for name in public)].append(tuple(row[name] for name in private))
    assert {key: Counter(each) for key, each in told.items()} == {key: Counter(e) for key, e in fitting.items()}
    # and they are the groups of the tree
    counted = recount(tree, case.table, None, None)
    assert sorted(groups.values()) == sorted(counted.groups.people.tolist())


def _cell(value):
    return "" if value is None else str(value)


@settings(max_examples=100)
@given(st.data())
def test_any_tree_gives_a_table_with_its_groups_or_is_refused(data):
    """Trees nobody mined, with contradictions, odd branches and missing values everywhere."""
    case = data.draw(cases())
    tree = data.draw(trees(case))
    counted = recount(tree, case.table, None, None)
    try:
        release = anonymize_by_tree(tree, case.table, privacy=2)
    except PromiseError:
        assert counted.groups.people.min() < 2
        return
    groups = Counter(tuple(row[name] for name in release.public) for row in written(release))
    assert sorted(groups.values()) == sorted(counted.groups.people.tolist())
    assert audit(release).exact


def test_a_number_of_an_undeclared_private_column_is_clipped_and_not_shown():
    people = pd.DataFrame({"age": list(range(20, 60)), "pay": [*range(39), 99_999], "ill": ["n", "y"] * 20})
    anonymizer = TreeAnonymizer(privacy=5, public=["age"])
    anonymizer.fit(people, "ill")
    text = anonymizer.release_.to_csv() + json.dumps(anonymizer.release_.to_json("x.csv"))
    assert "99999" not in text


CANARY = "Xq7Canary"


def people(n=60):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "name": [f"{CANARY}{i}" for i in range(n)],
            "age": rng.integers(20, 60, n),
            "city": [f"{CANARY}-town{i}" for i in range(n)],
            "zip": rng.choice(["8001", "8002", "8003"], n),
            "weight": rng.integers(50, 90, n),
            "ill": np.where(rng.integers(0, 60, n) > 30, "yes", "no"),
        },
        index=[f"{CANARY}-index{i}" for i in range(n)],
    )


def test_identifiers_and_hidden_values_are_nowhere(tmp_path):
    anonymizer = TreeAnonymizer(privacy=5, public=["age", "city", "zip"], person="name", domain={"weight": [0, 200]})
    frame = anonymizer.fit_transform(people(), "ill")
    release = anonymizer.release_
    release.save(tmp_path / "people.json")
    told = "".join(path.read_text() for path in tmp_path.iterdir())
    told += frame.to_csv() + str(release) + repr(release) + str(audit(release))
    assert CANARY not in told
    assert set(written(release)[0]) == {"age", "city", "zip", "weight", "ill"}
    assert {row["city"] for row in written(release)} == {"*"}
    # a public number is only ever an end of an interval, never the number of one person
    assert all(not row["age"].isdigit() for row in written(release))


def test_rows_are_shuffled_unless_they_are_to_be_reproducible():
    clinic = load_sample().table.select(["age", "sex", "bmi", "diabetes"])
    options = {"privacy": 100, "public": ["age", "sex"], "domain": {"bmi": [10, 60]}}
    first, second = (TreeAnonymizer(**options).fit(clinic, "diabetes").release_ for _ in range(2))
    assert first.data_sha256 != second.data_sha256
    assert Counter(map(str, written(first))) == Counter(map(str, written(second)))
    backwards = clinic.take(np.arange(clinic.n_rows)[::-1])
    one, other = (
        TreeAnonymizer(**options, reproducible=True).fit(rows, "diabetes").release_ for rows in (clinic, backwards)
    )
    assert one.sha256 == other.sha256
    assert one.data_sha256 != first.data_sha256


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", "dict"])
def test_frames_come_back_as_they_came(backend):
    frame = people().drop(columns=["name", "city"]).reset_index(drop=True)
    make = {
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "pyarrow": lambda: pa.Table.from_pandas(frame),
        "dict": lambda: {name: frame[name].tolist() for name in frame},
    }
    anonymizer = TreeAnonymizer(privacy=5, public=["age", "zip"], domain={"weight": [0, 200]})
    back = anonymizer.fit_transform(make[backend](), "ill")
    wanted = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table, "dict": pa.Table}[backend]
    assert isinstance(back, wanted)
    columns = {name: list(back[name].to_pylist() if wanted is pa.Table else back[name]) for name in frame}
    assert columns["weight"] == frame["weight"].tolist()  # row for row, and a number as it was
    assert columns["ill"] == frame["ill"].tolist()
    assert all(isinstance(label, str) for label in columns["age"])
    published = anonymizer.release_.to_frame("pandas")
    assert Counter(zip(*columns.values(), strict=True)) == Counter(published.itertuples(index=False, name=None))


def test_a_target_given_as_values_stays_beside_the_frame():
    frame = people().drop(columns=["name", "city"])
    anonymizer = TreeAnonymizer(privacy=5, public=["age", "zip"], domain={"weight": [0, 200]})
    back = anonymizer.fit_transform(frame.drop(columns="ill"), frame["ill"])
    assert list(back) == ["age", "zip", "weight"]
    assert anonymizer.release_.columns == ("age", "zip", "weight", "ill")
    assert audit(anonymizer, frame.drop(columns="ill"), frame["ill"]).holds


def test_a_public_target_is_part_of_every_group():
    frame = people().drop(columns=["name", "city"])
    options = {"public": ["age", "zip"], "target_role": "public", "domain": {"weight": [0, 200]}}
    release = TreeAnonymizer(privacy=5, **options).fit(frame, "ill").release_
    groups = Counter(tuple(row[name] for name in ("age", "zip", "ill")) for row in written(release))
    assert min(groups.values()) >= 5
    assert audit(release).exposed is None
    rare = frame.assign(ill=["yes"] * 3 + ["no"] * 57)
    with pytest.raises(PromiseError):  # three people with a class that an attacker may know
        TreeAnonymizer(privacy=5, **options).fit(rare, "ill")


def test_a_tree_with_exempt_groups_is_no_excuse_for_a_table():
    """A single-bin span tells nothing private in a tree; a table would still publish the private column."""
    table = to_table({"a": ["x"] * 2 + ["y"] * 6, "pay": list("uvwxyzuv"), "t": ["n"] * 2 + ["m"] * 6})
    roles = Roles.resolve(table.names, target="t", private=["pay"], target_role="public")
    tree = mine_tree(table, roles, KAnonymity(3), domain={"pay": list("uvwxyz")})
    assert tree.verdict.holds
    with pytest.raises(PromiseError, match="failed its audit"):
        anonymize_by_tree(tree, table)


def test_the_anonymiser_counts_every_group_itself():
    """All public but one column that nobody asks for: a tree may split to single people, a table may not."""
    rows = {"a": ["p"] * 6 + ["q"] * 4, "pay": ["u"] * 10, "t": ["n"] + ["m"] * 5 + ["n"] * 4}
    options = {"privacy": 3, "public": ["a"], "target_role": "public", "domain": {"pay": ["u", "v"]}}
    free = AnonymousTreeClassifier(**options, variant="id3").fit(rows, "t").release_
    assert len(free.leaves) == 2
    with pytest.raises(PromiseError, match="withheld"):
        anonymize_by_tree(free, rows)
    release = TreeAnonymizer(**options).fit(rows, "t").release_
    assert audit(release, rows).group_sizes.tolist() == [5, 5]


def test_requirements_about_values_are_asked_of_the_table():
    clinic = load_sample()
    people = clinic.table.select(["age", "sex", "smoker", "diabetes"])
    requirement = KAnonymity(20) & Confidence(0.9)
    anonymizer = TreeAnonymizer(privacy=requirement, public=["age", "sex"], sensitive=["smoker"], domain=None)
    release = anonymizer.fit(people, "diabetes").release_
    assert release.sensitive == ("smoker",)
    verdict = audit(release, people)
    assert verdict.holds
    assert verdict.highest_confidence <= 0.9
    assert {part.about for part in verdict.parts} == {"", " (of 'diabetes')", " (of 'smoker')"}


def test_hierarchy_labels_are_used_where_they_mean_one_thing():
    clinic = load_sample()
    people = clinic.table.select(["education", "age", "diabetes"])
    hierarchies = {name: clinic.hierarchies[name] for name in ("education", "age")}
    release = TreeAnonymizer(privacy=300, hierarchies=hierarchies).fit(people, "diabetes").release_
    for value in release.generalised["education"]:
        assert value.label == "*" or not value.label.startswith("{")
    again = AnonymousTreeClassifier(privacy=300, hierarchies=hierarchies).fit(people, "diabetes").release_
    names = {branch.label for node in again.nodes for branch in node.branches} - {None}
    assert {value.label for value in release.generalised["education"] if len(value.values) > 1} <= names


def test_no_target_and_no_columns_are_refused():
    with pytest.raises(DataError, match="TreeAnonymizer estimator requires y"):
        TreeAnonymizer().fit(people())
    with pytest.raises(DataError, match="not here"):
        anonymize_by_tree(client_tree(), clients().drop(["sports car"]))


def test_a_saved_table_is_loaded_and_audited_again(tmp_path):
    frame = people().drop(columns=["name", "city"])
    anonymizer = TreeAnonymizer(privacy=5, public=["age", "zip"], domain={"weight": [0, 200]}).fit(frame, "ill")
    anonymizer.release_.save(tmp_path / "people.json")
    again = load(tmp_path / "people.json")
    assert again.sha256 == anonymizer.release_.sha256
    assert audit(again, frame).holds
    assert audit(again).holds
