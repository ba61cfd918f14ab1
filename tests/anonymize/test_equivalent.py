# SPDX-License-Identifier: Apache-2.0
"""The tree again from its table (VLDB'08 Sect. 3)."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.strategies import cases, trees
from shoal import KAnonymity, PromiseError, ReleaseError, Roles, audit, load_sample, to_table
from shoal.anonymize import anonymize_by_tree, tree_from_table
from shoal.audit.recount import recount
from shoal.data.table import Column, Table
from shoal.papers.worked.clients import clients
from shoal.release import Attribute, Interval, TableRelease
from shoal.release.generalised import Generalised
from shoal.release.parse import parse_tree
from shoal.trees.mine import mine_tree

from .examples import client_tree


def test_figure_1_from_table_2():
    table = anonymize_by_tree(client_tree(), clients())
    again = tree_from_table(table)
    assert again.nodes == client_tree().nodes
    assert audit(again, clients()).holds


def same(tree, again, table):
    """The same people in the same groups, with the same counts."""
    ours, theirs = recount(tree, table, None, None), recount(again, table, None, None)
    pairs = set(zip(ours.groups.of_row.tolist(), theirs.groups.of_row.tolist(), strict=True))
    assert len(pairs) == len(ours.groups) == len(theirs.groups)
    counts = [
        Counter(tuple(row) for row in release.counts[list(release.leaves)].tolist() if any(row))
        for release in (tree, again)
    ]
    assert counts[0] == counts[1]
    assert (again.counts[list(again.leaves)] == theirs.bins[list(again.leaves)]).all()


@given(st.data())
def test_random_mined_trees_there_and_back(data):
    case = data.draw(cases(private=False))
    try:
        tree = mine_tree(case.table, case.roles, KAnonymity(data.draw(st.integers(1, 3))), domain=case.domain)
    except PromiseError:
        return
    table = anonymize_by_tree(tree, case.table, reproducible=True)
    again = tree_from_table(table)
    parse_tree(again.to_json())  # a function of its domain, as any release must be
    same(tree, again, case.table)
    assert anonymize_by_tree(again, case.table, reproducible=True).data_sha256 == table.data_sha256


@given(st.data())
def test_any_tree_there_and_back(data):
    case = data.draw(cases(private=False))
    tree = data.draw(trees(case))
    table = anonymize_by_tree(tree, case.table, privacy=1)
    again = tree_from_table(table)
    parse_tree(again.to_json())
    same(tree, again, case.table)


def test_labels_of_a_hierarchy_come_back():
    clinic = load_sample()
    people = clinic.table.select(["education", "sex", "diabetes"])
    from shoal import AnonymousTreeClassifier

    hierarchies = {"education": clinic.hierarchies["education"]}
    tree = AnonymousTreeClassifier(privacy=400, hierarchies=hierarchies).fit(people, "diabetes").release_
    again = tree_from_table(anonymize_by_tree(tree, people))
    assert {b.label for n in again.nodes for b in n.branches} == {b.label for n in tree.nodes for b in n.branches}


def test_a_table_with_another_private_column_is_refused():
    table = to_table({"a": ["x", "y"] * 4, "pay": ["u", "v", "v", "u"] * 2, "t": ["n", "m"] * 4})
    roles = Roles.resolve(table.names, target="t", private=["pay"])
    release = anonymize_by_tree(mine_tree(table, roles, KAnonymity(2)), table)
    with pytest.raises(ReleaseError, match="one private column"):
        tree_from_table(release)


def test_a_table_of_no_tree_is_refused():
    """Five boxes around a middle one, no cut through all of them: no tree has these leaves."""
    ages = Attribute("a", "public", "numeric", bounds=(0, 3)), Attribute("b", "public", "numeric", bounds=(0, 3))
    target = Attribute("t", "private", "categorical", values=("n", "y"))

    def spans(*ends):
        return tuple(Generalised(f"({a}, {b}]", intervals=(Interval(a, b),)) for a, b in ends)

    a = spans((0, 2), (2, 3), (1, 3), (0, 1), (1, 2))
    b = spans((0, 1), (0, 2), (2, 3), (1, 3), (1, 2))
    codes = np.arange(5, dtype=np.uint8)
    rows = Table(
        [
            Column("a", "categorical", codes.copy(), tuple(value.label for value in a)),
            Column("b", "categorical", codes.copy(), tuple(value.label for value in b)),
            Column("t", "categorical", np.zeros(5, dtype=np.uint8), ("n", "y")),
        ]
    )
    claims = ({"requirement": "k-anonymity", "k": 1},)
    release = TableRelease("t", (*ages, target), claims, rows, {"a": a, "b": b})
    assert audit(release).exact  # no two boxes overlap
    with pytest.raises(ReleaseError, match="No tree has this table"):
        tree_from_table(release)
    with pytest.raises(ReleaseError, match="do not fit"):
        replace(release, generalised={"a": (Generalised("*"), *a[1:]), "b": b})
    # the first box, opened to all of its column, overlaps the second
    rows = rows.with_column(Column("a", "categorical", codes.copy(), ("*", *rows["a"].names[1:])))
    assert not audit(replace(release, rows=rows, generalised={"a": (Generalised("*"), *a[1:]), "b": b})).exact
