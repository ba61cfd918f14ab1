# SPDX-License-Identifier: Apache-2.0
"""Distributions of single columns beside a tree: they part no group, they are held against the rows, and they load."""

import copy
import itertools
import json
import math
from collections import Counter
from dataclasses import replace
from importlib import resources

import jsonschema
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers import oracle
from helpers.strategies import _branches, cases, trees
from shoal import AnonymousTreeClassifier, audit, load, load_sample
from shoal.audit.together.joint import audit_together
from shoal.audit.together.subjects import as_subject
from shoal.data import to_table
from shoal.errors import DataError, ReleaseError
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.release.generalised import Generalised
from shoal.share import Marginal, marginals_of, pseudo_data, publish

K2 = ({"requirement": "k-anonymity", "k": 2},)


def inside(cell, value):
    """Whether a value is in a cell, in the words of its JSON."""
    if value is None:
        return bool(cell.get("missing", False))
    if "values" in cell:
        return value in cell["values"]
    parts = cell.get("intervals", [cell] if {"above", "at_most"} & set(cell) else [])
    return any(part.get("above", -math.inf) < value <= part.get("at_most", math.inf) for part in parts)


def cell_of(cells, value):
    found = [number for number, cell in enumerate(cells) if inside(cell, value)]
    assert len(found) == 1
    return found[0]


def tell(draw, case, release):
    """The same tree, which tells the distributions of some of its columns as well."""
    marginals = {}
    for attribute in release.attributes[:-1]:
        if draw(st.booleans()):
            parts = draw(_branches(attribute, 1))
            cells = [Generalised("", part.values, part.intervals, part.missing) for part in parts]
            told = [cell.to_json() for cell in cells]
            counts = Counter(cell_of(told, row[attribute.name]) for row in case.rows)
            marginals[attribute.name] = Marginal(tuple(cells), tuple(counts[i] for i in range(len(cells))))
    return replace(release, marginals=marginals)


@st.composite
def told_trees(draw):
    """A case, and a tree over it that tells the distributions of some of its columns as well."""
    case = draw(cases(max_rows=10))
    return case, tell(draw, case, draw(trees(case, max_nodes=12)))


@st.composite
def two_told_trees(draw):
    """A case, and two such trees that state the same domain and cut columns in different places."""
    case = draw(cases(max_rows=9))
    one, other = (draw(trees(case, max_nodes=7)) for _ in range(2))
    return case, [tell(draw, case, each) for each in (one, replace(other, attributes=one.attributes))]


@settings(max_examples=40, deadline=None)
@given(two_told_trees())
def test_the_ledger_groups_people_by_trees_and_distributions_of_two_files_together(drawn):
    case, releases = drawn
    public, bodies = case.public, [release.to_json() for release in releases]
    told = [{name: cells for name, cells in body.get("marginals", {}).items() if name not in public} for body in bodies]
    nodes = [node for body in bodies for node in body["nodes"]]
    nodes += [{"attribute": name, "branches": cells} for each in told for name, cells in each.items()]
    asked = {node["attribute"] for node in nodes if "attribute" in node} | {"t"}
    hidden = [each for each in bodies[0]["attributes"] if each["name"] not in public and each["name"] in asked]
    domains = [oracle.domain({"nodes": nodes}, each) for each in hidden]
    assume(math.prod(map(len, domains)) <= 1500)

    def joint(row, which):
        bins = set()
        for values in itertools.product(*domains):
            guess = {**row, **dict(zip([each["name"] for each in hidden], values, strict=True))}
            cells = [tuple(cell_of(cells, guess[name]) for name, cells in told[i].items()) for i in which]
            bins.add((tuple(oracle.model(bodies[i], guess) for i in which), tuple(cells)))
        return frozenset(bins)

    telling = [i for i in (0, 1) if any(len(joint(row, [i])) > 1 for row in case.rows)]
    verdict = audit_together([as_subject(release) for release in releases], case.table, public=public)
    assert verdict.left_out == tuple(i + 1 for i in (0, 1) if i not in telling)
    sizes = [n for bins, n in Counter(joint(row, telling) for row in case.rows).items() if len(bins) > 1]
    assert verdict.smallest_group == (min(sizes) if sizes else None)


@settings(max_examples=150, deadline=None)
@given(told_trees())
def test_groups_are_those_of_the_tree_and_only_single_bins_count_no_more(drawn):
    case, release = drawn
    body, public = release.to_json(), case.public
    told = {name: cells for name, cells in body.get("marginals", {}).items() if name not in public}
    fake = [{"attribute": name, "branches": cells} for name, cells in told.items()]
    asked = {node["attribute"] for node in body["nodes"] if "attribute" in node} | {body["target"], *told}
    hidden = [each for each in body["attributes"] if each["name"] not in public and each["name"] in asked]
    domains = [oracle.domain({"nodes": body["nodes"] + fake}, each) for each in hidden]
    assume(math.prod(map(len, domains)) <= 1500)

    def joint(row):
        bins = set()
        for values in itertools.product(*domains):
            guess = {**row, **dict(zip([each["name"] for each in hidden], values, strict=True))}
            cells = tuple(cell_of(cells, guess[name]) for name, cells in told.items())
            bins.add((oracle.model(body, guess), cells))
        return frozenset(bins)

    alone, together = oracle.groups(body, case.rows, public), [joint(row) for row in case.rows]
    for i, j in itertools.combinations(range(len(case.rows)), 2):
        assert (alone[i] == alone[j]) == (together[i] == together[j])
    sizes = [n for bins, n in Counter(together).items() if len(bins) > 1]
    verdict = audit(release, case.table, public=sorted(public))
    assert verdict.smallest_group == (min(sizes) if sizes else None)
    assert not any(finding.code == "marginal-differs" for finding in verdict.findings)


def leaky():
    """Target and x are public; of x = a everybody's p is told by leaves, and b are two people nobody is told of."""
    x = Attribute("x", "public", "categorical", values=("a", "b"))
    p = Attribute("p", "private", "categorical", values=("0", "1"))
    t = Attribute("t", "public", "categorical", values=("n", "y"))
    nodes = (
        Node("x", (Branch(1, ("a",)), Branch(2, ("b",)))),
        Node("p", (Branch(3, ("0",)), Branch(4, ("1",)))),
        Node(counts=(2, 0)),
        Node(counts=(5, 0)),
        Node(counts=(5, 0)),
    )
    rows = {"x": ["a"] * 10 + ["b"] * 2, "p": ["0"] * 5 + ["1"] * 7, "t": ["n"] * 12}
    return TreeRelease("t", (x, p, t), ({"requirement": "k-anonymity", "k": 5},), nodes), rows


def test_what_is_said_of_everybody_less_what_leaves_say_of_others_is_no_way_around():
    """Without a distribution, the two are in a single bin, so nothing is told of them; with one, p = 1 for both."""
    release, rows = leaky()
    assert audit(release, rows).holds
    cells = (Generalised("", values=("0",)), Generalised("", values=("1",)))
    more = replace(release, marginals={"p": Marginal(cells, (5, 7))})
    verdict = audit(more, rows)
    assert not verdict.holds
    assert verdict.smallest_group == 2
    # of a public column nothing is told that was not known
    known = (Generalised("", values=("a",)), Generalised("", values=("b",)))
    assert audit(replace(release, marginals={"x": Marginal(known, (10, 2))}), rows, privacy=2).holds
    # and in the ledger's product, too
    table = to_table(rows)
    assert audit_together([as_subject(release)], table).holds
    assert not audit_together([as_subject(more)], table).holds


@pytest.fixture(scope="module")
def told():
    clinic = load_sample()
    people = clinic.table.select(["age", "sex", "occupation", "smoker", "diabetes"])
    domain = {"age": [0, 120], "smoker": [*people["smoker"].names, "never asked"]}
    return publish(people, "diabetes", 50, public=["age", "sex", "occupation"], domain=domain), people


def test_cells_have_enough_people_and_values_that_nobody_has_are_apart(told):
    release, people = told
    assert audit(release, people).holds
    for marginal in release.marginals.values():
        assert sum(marginal.counts) == 5000
        assert all(n == 0 or n >= 50 for n in marginal.counts)
    cells = {cell.values: n for cell, n in zip(*vars(release.marginals["smoker"]).values(), strict=True)}
    assert cells[("never asked",)] == 0
    assert set(pseudo_data(release, marginals=release.marginals, random_state=0).to_frame()["smoker"]) == set(
        people["smoker"].names
    )


def test_forged_counts_are_a_breach(told):
    release, people = told
    name, marginal = next(iter(release.marginals.items()))
    first, second, *rest = marginal.counts
    forged = replace(marginal, counts=(first + 1, second - 1, *rest))
    verdict = audit(replace(release, marginals={**release.marginals, name: forged}), people)
    assert [finding.code for finding in verdict.findings if finding.severity == "breach"] == ["marginal-differs"]
    assert not audit(release, people.take(np.arange(4000))).holds


def test_a_cell_of_few_people_is_a_breach(told):
    release, people = told
    verdict = audit(release, people, privacy=200)
    assert {finding.code for finding in verdict.findings if finding.severity == "breach"} >= {"marginal-small"}


def test_rows_in_no_cell_are_a_breach(told):
    release, people = told
    marginal = release.marginals["sex"]
    less = Marginal(marginal.cells[:1], marginal.counts[:1])
    verdict = audit(replace(release, marginals={"sex": less}), people)
    assert "marginal-differs" in {finding.code for finding in verdict.findings}


def test_a_column_that_the_rows_have_not_is_named(told):
    release, people = told
    alone = replace(release, nodes=(Node(counts=(3985, 1015)),), marginals={"sex": release.marginals["sex"]})
    with pytest.raises(DataError, match="'sex'"):
        audit(alone, people.select(["age", "diabetes"]))


def test_the_file_comes_back_as_it_was(told, tmp_path):
    release, people = told
    release.with_audit(audit(release, people)).save(tmp_path / "owner.json")
    back = load(tmp_path / "owner.json")
    assert back.marginals == release.marginals
    assert back.sha256 == release.sha256 == back.verdict.sha256
    assert audit(back, people).holds
    assert back.stating("shares").marginals == {}
    schema = json.loads(resources.files("shoal").joinpath("release/schema/tree.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads((tmp_path / "owner.json").read_text(encoding="utf-8")))


WRONG = {
    "no object": lambda body: body.update(marginals=[]),
    "empty": lambda body: body.update(marginals={}),
    "of the target": lambda body: body["marginals"].update(diabetes=[{"values": ["no"], "people": 5000}]),
    "of a column that is not stated": lambda body: body["marginals"].update(shoe=[{"people": 5000}]),
    "no cells": lambda body: body["marginals"].update(sex=[]),
    "a negative count": lambda body: body["marginals"]["sex"][0].update(people=-1),
    "a count that is a fraction": lambda body: body["marginals"]["sex"][0].update(people=2540.5),
    "a value that is not declared": lambda body: body["marginals"]["sex"][0].update(values=["Martian"]),
    "a value twice": lambda body: body["marginals"]["sex"][1].update(values=["Female"]),
    "an interval of categories": lambda body: body["marginals"]["sex"][1].update(above=3),
    "values of numbers": lambda body: body["marginals"]["age"][0].update(values=["3"]),
    "missing that cannot be": lambda body: body["marginals"]["sex"][0].update(missing=True),
    "a cell that nobody can be in": lambda body: body["marginals"]["age"].append({"above": 500, "people": 0}),
    "fewer people than the leaves": lambda body: body["marginals"]["sex"].pop(),
    "a key too many": lambda body: body["marginals"]["sex"][0].update(label="x"),
    "beside shares": lambda body: body.update(nodes=[{"predict": "no"}], audit=None),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_refused(told, name, tmp_path):
    body = copy.deepcopy(told[0].to_json())
    WRONG[name](body)
    (tmp_path / "owner.json").write_text(json.dumps(body), encoding="utf-8")
    with pytest.raises(ReleaseError, match="marginals"):
        load(tmp_path / "owner.json")


def test_only_a_tree_has_them(told, tmp_path):
    """Nobody holds those of an ensemble or of a model against the rows."""
    body = told[0].to_json()
    several = {**body, "kind": "ensemble", "trees": [{"nodes": body.pop("nodes")}]}
    del several["nodes"]
    (tmp_path / "e.json").write_text(json.dumps(several), encoding="utf-8")
    with pytest.raises(ReleaseError, match="marginals"):
        load(tmp_path / "e.json")


def test_several_rows_a_person():
    """Cells count different people, who may be in several of them."""
    visits = {
        "who": [str(i // 3) for i in range(600)],
        "ward": ["a" if i % 3 else "b" for i in range(600)],
        "dose": [float(i % 7) for i in range(600)],
        "ill": ["no" if i % 5 else "yes" for i in range(600)],
    }
    table = to_table(visits)
    tree = AnonymousTreeClassifier(20, person="who", domain={"dose": [0, 10], "ward": ["a", "b"]}).fit(table, "ill")
    whose = np.repeat(np.arange(200), 3)
    found = marginals_of(table, ["ward", "dose"], 20, whose)
    assert found["ward"].counts == (200, 200)
    assert all(n >= 20 for n in found["dose"].counts)
    release = replace(tree.release_, marginals=found, verdict=None)
    assert audit(release, table, person="who").holds
    assert load_again(release) == found
    once = replace(release, marginals={"ward": Marginal(found["ward"].cells, (400, 200))})
    assert not audit(once, table, person="who").holds


def load_again(release):
    from shoal.release.parse import parse_tree

    return parse_tree(json.loads(json.dumps(release.to_json()))).marginals


def test_too_few_missing_numbers_go_with_the_last_cell_and_many_are_a_cell():
    numbers = [float(i % 10) for i in range(200)]
    few = to_table({"x": [*numbers, None, None]})
    many = to_table({"x": [*numbers, *[None] * 30]})
    assert [cell.missing for cell in marginals_of(few, ["x"], 20)["x"].cells].count(True) == 1
    assert marginals_of(few, ["x"], 20)["x"].cells[-1].intervals
    assert marginals_of(many, ["x"], 20)["x"].cells[-1] == Generalised("", missing=True)
    # which is drawn again
    x = Attribute("x", "public", "numeric", bounds=(0, 9), missing=True)
    t = Attribute("t", "private", "categorical", values=("n", "y"))
    tree = TreeRelease("t", (x, t), K2, (Node(counts=(130, 100)),))
    rows = pseudo_data(tree, 2300, marginals=marginals_of(many, ["x"], 20), random_state=0).to_frame()
    assert rows["x"].isna().mean() == pytest.approx(30 / 230, abs=0.03)


def test_numbers_of_people_who_are_not_there_decide_no_cut():
    """Some rows of a table keep its dictionary; what only other rows have must not be seen."""
    everybody = to_table({"x": [float(i) for i in range(1000)]})
    some = np.arange(0, 1000, 10)
    alone = to_table({"x": [float(i) for i in some]})
    assert marginals_of(everybody.take(some), ["x"], 10) == marginals_of(alone, ["x"], 10)
    # nor that one of them has none
    gap = to_table({"x": [*range(100), None]})
    told = [marginals_of(gap.take(np.arange(n)), ["x"], 10, private=["x"])["x"] for n in (100, 101)]
    assert told[0].cells == told[1].cells


def test_of_a_private_column_it_is_not_told_which_rare_values_somebody_has():
    rows = {"q": [*"uv" * 50], "p": [*"a" * 50, *"bbc", *"d" * 47], "t": ["n", "y"] * 50}

    def cells(public):
        told = publish(rows, "t", 10, public=public, domain={"p": [*"abcdefgh"]}).marginals["p"]
        return {"".join(cell.values): n for cell, n in zip(told.cells, told.counts, strict=True)}

    assert cells(["q"]) == {"a": 50, "bcdefgh": 50}
    assert cells(["q", "p"]) == {"a": 50, "bcd": 50, "efgh": 0}


def test_cells_are_between_round_numbers_and_never_at_somebodys():
    table = to_table({"x": [17.25 + 3.1 * i for i in range(500)]})
    cells = marginals_of(table, ["x"], 25)["x"].cells
    ends = [end for cell in cells for part in cell.intervals for end in (part.above, part.at_most) if end is not None]
    assert ends
    assert not set(ends) & set(table["x"].numbers.tolist())
    assert cells[0].intervals[0].above is None
    assert cells[-1].intervals == (Interval(ends[-1], None),)
