# SPDX-License-Identifier: Apache-2.0
"""The audit's groups are those of Definition 5, enumerated over the whole domain."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import oracle
from helpers.strategies import Case, cases, trees
from shoal import KAnonymity, Roles, audit
from shoal.audit import spans as audit_spans
from shoal.audit.recount import recount
from shoal.release import Attribute, Branch, Node, TreeRelease, routing
from shoal.release.parse import parse_tree


@st.composite
def trees_of_cases(draw):
    case = draw(cases())
    return case, draw(trees(case))


@given(trees_of_cases())
@settings(max_examples=1000)
def test_groups_are_those_of_the_definition(pair: tuple[Case, TreeRelease]):
    case, release = pair
    body = release.to_json()
    spans = oracle.groups(body, case.rows, case.public)
    groups = recount(release, case.table, None, None).groups
    # the same partition of people: equal spans, equal numbers
    assert len(set(zip(spans, groups.of_row.tolist(), strict=True))) == len(set(spans)) == len(groups)
    for number, example in enumerate(groups.example):
        assert groups.people[number] == oracle.sizes(spans)[spans[example]]
        assert groups.n_bins[number] == len(spans[example])


@given(trees_of_cases(), st.integers(1, 6))
@settings(max_examples=200)
def test_verdict_is_claim_3(pair: tuple[Case, TreeRelease], k: int):
    case, release = pair
    verdict = audit(release, case.table, privacy=KAnonymity(k))
    assert verdict.holds == oracle.holds(release.to_json(), case.rows, case.public, k)


@given(trees_of_cases())
@settings(max_examples=150)
def test_a_released_tree_survives_its_file(pair: tuple[Case, TreeRelease]):
    case, release = pair
    body = json.loads(json.dumps(release.to_json()))
    again = parse_tree(body)
    assert again.to_json() == release.to_json()
    assert again.sha256 == release.sha256
    assert (again.apply(case.table) == release.apply(case.table)).all()


@given(trees_of_cases())
@settings(max_examples=150)
def test_rows_end_where_the_file_says(pair: tuple[Case, TreeRelease]):
    case, release = pair
    body = release.to_json()
    assert release.apply(case.table).tolist() == [oracle.model(body, row)[0] for row in case.rows]


@given(trees_of_cases(), st.randoms())
@settings(max_examples=100)
def test_row_order_changes_no_verdict(pair: tuple[Case, TreeRelease], random):
    case, release = pair
    rows = case.rows[:]
    random.shuffle(rows)
    shuffled = Case(rows, case.roles, case.domain, case.hierarchies)
    first, second = (audit(release, each.table, privacy=2) for each in (case, shuffled))
    assert first.holds == second.holds
    assert first.exposed == second.exposed
    assert np.array_equal(first.group_sizes, second.group_sizes)


@given(trees_of_cases(), st.integers(2, 6))
@settings(max_examples=100)
def test_what_holds_at_k_holds_below(pair: tuple[Case, TreeRelease], k: int):
    case, release = pair
    if audit(release, case.table, privacy=k).holds:
        assert audit(release, case.table, privacy=k - 1).holds


def test_hiding_a_column_can_split_a_group():
    """Spans are not monotone in what is public, so a column moved to private needs a new audit.

    Where c is known, d is never asked of people with c = 1. Where it is not, they too may be at the test of d.
    """
    rows = [{"c": "1", "d": d, "t": t} for d, t in (("x", "n"), ("y", "y"))]
    case = Case(rows, Roles.resolve(["c", "d", "t"], target="t"), {}, {})
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
    assert audit(release, case.table).smallest_group == 2
    assert audit(release, case.table, public=["d"]).smallest_group == 1


@given(trees_of_cases())
@settings(max_examples=200)
def test_the_compiled_walk_equals_the_plain_one(pair: tuple[Case, TreeRelease]):
    case, release = pair
    plain = release.apply(case.table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routing, "MANY_ROWS", 1)
        assert np.array_equal(release.apply(case.table), plain)


@given(trees_of_cases())
@settings(max_examples=100)
def test_spans_are_the_same_whether_alike_people_are_put_together_first_or_not(pair: tuple[Case, TreeRelease]):
    case, release = pair
    together = audit(release, case.table, public=case.public, privacy=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_spans, "MOST_CELLS", 0)
        apart = audit(release, case.table, public=case.public, privacy=2)
    assert np.array_equal(together.group_sizes, apart.group_sizes)
    assert (together.holds, together.n_exempt, together.exposed) == (apart.holds, apart.n_exempt, apart.exposed)
