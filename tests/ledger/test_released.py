# SPDX-License-Identifier: Apache-2.0
"""Tables and models as subjects: the spans that their files imply, by enumeration."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import oracle
from shoal import AnonymousModel, AnonymousTreeClassifier, DataError, audit, load_sample, to_table
from shoal.audit.together.product import Product
from shoal.audit.together.rows_read import in_kind
from shoal.audit.together.subjects import as_subject
from shoal.release import Attribute, TableRelease
from shoal.release.generalised import Generalised
from shoal.release.parse import parse_tree

DOMAIN = {"a": ("p", "q", "r"), "b": ("p", "q"), "c": ("u", "v"), "t": ("n", "y")}
PARTS = {"a": [("p",), ("q",), ("r",), ("p", "q"), ("q", "r"), ()], "b": [("p",), ("q",), ()]}
Row = dict[str, str]


@st.composite
def generalised_tables(draw: st.DrawFn) -> tuple[list[Row], set[str], list[dict[str, tuple[str, ...]]]]:
    """People, what an attacker knows, and for every person published values that stand for his; they may overlap."""
    rows = draw(
        st.lists(st.fixed_dictionaries({n: st.sampled_from(v) for n, v in DOMAIN.items()}), min_size=1, max_size=9)
    )
    public = {"a", "b"} - draw(st.sets(st.sampled_from(["a", "b"]), max_size=1))
    published = []
    for row in rows:
        fitting = {name: [part for part in PARTS[name] if not part or row[name] in part] for name in PARTS}
        published.append({name: draw(st.sampled_from(parts)) for name, parts in fitting.items()})
    return rows, public, published


def release_of(rows: list[Row], published: list[dict[str, tuple[str, ...]]]) -> TableRelease:
    labels = {name: list(dict.fromkeys(each[name] for each in published)) for name in PARTS}
    generalised = {
        name: tuple(Generalised("+".join(part) or "*", values=part) for part in parts) for name, parts in labels.items()
    }
    columns = {name: [("+".join(each[name]) or "*") for each in published] for name in PARTS}
    table = to_table({**columns, **{name: [row[name] for row in rows] for name in ("c", "t")}})
    fitted = []
    for name in DOMAIN:
        values = tuple(each.label for each in generalised[name]) if name in PARTS else DOMAIN[name]
        codes = np.array([values.index(table[name].names[code]) for code in table[name].codes])
        fitted.append(type(table[name])(name, "categorical", codes, values))
    attributes = tuple(
        Attribute(name, "public" if name in PARTS else "private", "categorical", values=values)
        for name, values in DOMAIN.items()
    )
    return TableRelease("t", attributes, ({"requirement": "k-anonymity", "k": 2},), type(table)(fitted), generalised)


TREE: dict[str, Any] = {
    "format": "shoal-release/1",
    "kind": "tree",
    "target": "t",
    "attributes": [
        {"name": n, "role": "public" if n in PARTS else "private", "type": "categorical", "values": list(v)}
        for n, v in DOMAIN.items()
    ],
    "claims": [{"requirement": "k-anonymity", "k": 2}],
    "nodes": [
        {"attribute": "c", "branches": [{"values": ["u"], "node": 1}, {"values": ["v"], "node": 2}]},
        {"attribute": "a", "branches": [{"values": ["p"], "node": 3}, {"values": ["q", "r"], "node": 4}]},
        *({"counts": {"n": 1, "y": 1}} for _ in range(3)),
    ],
}


def spans_together(rows: list[Row], public: set[str], published: list[dict[str, tuple[str, ...]]]) -> list[Any]:
    """Every pair of a published group with its private values, and a leaf, that somebody may be in."""
    groups = {tuple(each.items()) for each in published}
    hidden = [name for name in DOMAIN if name not in public]
    answer = []
    for row in rows:
        found = set()
        for values in itertools.product(*(DOMAIN[name] for name in hidden)):
            guess = {**row, **dict(zip(hidden, values, strict=True))}
            for group in groups:
                if all(not part or guess[name] in part for name, part in group):
                    found.add((group, guess["c"], guess["t"], oracle.model(TREE, guess)))
        answer.append(frozenset(found))
    return answer


@given(generalised_tables())
@settings(max_examples=100)
def test_a_table_and_a_tree_together(case):
    rows, public, published = case
    table = to_table({name: [row[name] for row in rows] for name in DOMAIN})
    subjects = [as_subject(release_of(rows, published)), as_subject(parse_tree(TREE))]
    spans = Product(subjects, table, public, [None, None]).spans([0, 1])
    expected = spans_together(rows, public, published)
    pairs = set(zip(spans.of_row.tolist(), expected, strict=True))
    assert len(pairs) == len(set(expected)) == len(spans)  # the same partition


@given(generalised_tables())
@settings(max_examples=100)
def test_blocks_of_a_table_are_people_whose_groups_overlap(case):
    rows, _, published = case
    table = to_table({name: [row[name] for row in rows] for name in DOMAIN})
    told = as_subject(release_of(rows, published)).told(table, {"a", "b"})
    assert [each.column for each in told] == ["c", "t"]
    groups = {tuple(each.items()) for each in published}
    covering = [{g for g in groups if all(not part or row[n] in part for n, part in g)} for row in rows]
    blocks = list(range(len(rows)))
    for i, j in itertools.product(range(len(rows)), repeat=2):
        if covering[i] & covering[j]:
            blocks = [blocks[i] if block == blocks[j] else block for block in blocks]
    assert len(set(zip(blocks, told[0].blocks.tolist(), strict=True))) == len(set(blocks)) == len(set(told[0].blocks))


@pytest.fixture(scope="module")
def people():
    return load_sample().table.select(["age", "sex", "smoker", "bmi", "diabetes"])


def test_a_model_has_the_groups_of_its_audit(people):
    from sklearn.linear_model import LogisticRegression

    model = AnonymousModel(LogisticRegression(), privacy=200, public=["age", "sex"])
    release = model.fit(people.drop(["bmi"]), "diabetes").release_
    assert release.inputs == ("smoker",)
    for public in (["age", "sex"], ["age", "sex", "smoker"], ["sex"]):
        spans = Product([as_subject(release)], people, public, [None]).spans([0])
        groups = audit(release, people, public=public).groups
        assert len(set(zip(spans.of_row.tolist(), groups.of_row.tolist(), strict=True))) == len(groups) == len(spans)
    assert len(np.unique(as_subject(release).bins(people))) > len(groups)


def test_a_number_as_target_is_told_by_its_classes(people):
    from sklearn.linear_model import LinearRegression

    model = AnonymousModel(LinearRegression(), privacy=500, public=["age", "sex"])
    release = model.fit(people.select(["age", "sex", "bmi"]), "bmi").release_
    subject = as_subject(release)
    (told,) = subject.told(people, {"age", "sex"})
    assert told.coding != b""
    assert len(np.unique(told.codes)) == len(release.classes)
    assert Product([subject], people, {"age", "sex"}, [None]).telling == [0]
    assert subject.told(people, {"age", "sex", "bmi"}) == []
    assert subject.totals() == {}


def test_what_tells_no_counts(people):
    release = AnonymousTreeClassifier(privacy=500).fit(people.select(["age", "diabetes"]), "diabetes").release_
    assert as_subject(release.stating("majority")).n_people is None
    assert as_subject(release.stating("majority")).totals() == {}
    assert as_subject(release).n_people == 5000
    assert sum(as_subject(release).totals()["diabetes"].values()) == 5000


def test_columns_are_read_in_either_kind():
    table = to_table({"n": [3, 1, None], "t": ["3", "1.0", None], "w": ["x", "1", "nan"]})
    assert in_kind(table["n"], "categorical").names == ("1", "3")
    number = in_kind(table["t"], "numeric")
    assert number.numbers.tolist() == [1.0, 3.0]
    assert number.codes.tolist() == [1, 0, 2]
    with pytest.raises(DataError, match="'w' is categorical here but numeric in the release"):
        in_kind(table["w"], "numeric")
