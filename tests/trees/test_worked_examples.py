# SPDX-License-Identifier: Apache-2.0
"""The examples that VLDB'08 and PKDD'06 work through by hand."""

import pytest

from shoal import AnonymousTreeClassifier, KAnonymity, PromiseError, Roles, attack, audit
from shoal.audit.recount import recount
from shoal.papers.worked.clients import NAMES as CLIENTS
from shoal.papers.worked.clients import clients
from shoal.papers.worked.loans import NAMES, loans
from shoal.release import Attribute, Branch, Node, TreeRelease
from shoal.trees.mine import mine_tree

CLAIM = ({"requirement": "k-anonymity", "k": 3},)


def names_by_group(release, table, names, public=None):
    of_person = recount(release, table, None, public).groups.of_row
    return {frozenset(n for n, g in zip(names, of_person, strict=True) if g == group) for group in set(of_person)}


def mortgage_tree(**options):
    return (
        AnonymousTreeClassifier(privacy=3, public=["marital status"], variant="id3", **options)
        .fit(loans(), "loan risk")
        .release_
    )


def test_vldb_figure_2_is_what_kadet_returns():
    release = mortgage_tree()
    assert [(node.attribute, node.counts) for node in release.nodes] == [
        ("sports car", None),
        (None, (3, 0)),  # No: classes in the order bad, good
        ("marital status", None),
        (None, (0, 1)),  # Married
        (None, (1, 1)),  # Unmarried
    ]
    assert release.describe_node(3) == "sports car = Yes and marital status = Married"


def test_vldb_figure_2_has_two_groups_of_three():
    assert names_by_group(mortgage_tree(), loans(), NAMES) == {
        frozenset({"John", "Ben", "Laura"}),
        frozenset({"Lisa", "Robert", "Anna"}),
    }
    verdict = audit(mortgage_tree(), loans())
    assert verdict.holds
    assert verdict.smallest_group == 3
    assert not verdict.exact  # both groups share the leaf of those without a sports car


def test_with_a_public_sports_car_the_same_tree_fails_and_john_stands_alone():
    release = mortgage_tree()
    public = ["marital status", "sports car"]
    verdict = audit(release, loans(), public=public)
    assert not verdict.holds
    assert verdict.smallest_group == 1
    assert frozenset({"John"}) in names_by_group(release, loans(), NAMES, public)
    alone = [finding for finding in verdict.findings if finding.people == 1 and finding.code == "group-fails"]
    assert alone[0].nodes == (2,)  # the split by marital status set him apart
    assert "sports car = Yes and marital status = Married" in alone[0].message


def test_vldb_figure_4_step_by_step():
    """At first one span of all; after the private split still one; after the public split two of three people."""
    table = loans()
    groups = []
    for most in (1, 2, 3):
        release = mortgage_tree(max_leaves=most)
        counted = recount(release, table, None, None)
        groups.append((len(release.leaves), counted.groups.people.tolist(), counted.groups.n_bins.tolist()))
    # leaves, people a span, bins a span: s0 = {b0, b1}; s0 = {b2..b5}; s1 and s2 of four bins each
    assert groups == [(1, [6], [2]), (2, [6], [4]), (3, [3, 3], [4, 4])]


def test_vldb_figure_4_splitting_the_other_leaf_gains_nothing():
    """Marital status tells nothing more of those without a sports car: all are bad risks, so that leaf stays."""
    assert mortgage_tree().nodes[1].is_leaf


def test_splitting_by_the_public_column_first_is_refused_for_four():
    tree = AnonymousTreeClassifier(
        privacy=4, public=["marital status"], variant="id3", domain={"sports car": ["Yes", "No"]}
    )
    release = tree.fit(loans(), "loan risk").release_
    assert [node.attribute for node in release.nodes if node.attribute] == ["sports car"]


def client_tree():
    """VLDB'08 Figure 1, by hand."""
    columns = ["gender", "married", "age", "sports car"]
    yes_no = ("Yes", "No")
    values = {"gender": ("Male", "Female"), "married": yes_no, "age": ("Young", "Old"), "sports car": yes_no}
    attributes = tuple(Attribute(name, "public", "categorical", values=values[name]) for name in columns)
    attributes += (Attribute("loan risk", "private", "categorical", values=("good", "bad")),)
    nodes = (
        Node("gender", (Branch(1, ("Male",)), Branch(2, ("Female",)))),
        Node("age", (Branch(3, ("Young",)), Branch(4, ("Old",)))),
        Node("married", (Branch(5, ("Yes",)), Branch(6, ("No",)))),
        Node(counts=(3, 0)),
        Node(counts=(1, 2)),
        Node(counts=(0, 3)),
        Node(counts=(2, 1)),
    )
    return TreeRelease("loan risk", attributes, CLAIM, nodes)


def test_vldb_figure_1_has_four_groups_of_three():
    verdict = audit(client_tree(), clients())
    assert verdict.holds
    assert verdict.group_sizes.tolist() == [3, 3, 3, 3]
    assert verdict.exact
    # leaves 1 and 3 of the figure are all of one class: six people, though the tree is 3-anonymous
    assert verdict.exposed == 6
    assert verdict.highest_confidence == 1.0


def test_vldb_definition_6_links_donna_emily_and_fiona_to_three_bad_risks():
    found = attack(client_tree(), clients().drop(["loan risk"]))
    donna = found.group_of_person[CLIENTS.index("Donna")]
    assert {n for n, g in zip(CLIENTS, found.group_of_person, strict=True) if g == donna} == {"Donna", "Emily", "Fiona"}
    assert found.certain[donna]
    assert found.beliefs[donna].tolist() == [0.0, 1.0]
    carol = found.group_of_person[CLIENTS.index("Carol")]
    assert found.beliefs[carol].tolist() == pytest.approx([2 / 3, 1 / 3])


def test_attack_on_the_mortgage_tree_uses_counts_of_shared_leaves():
    found = attack(mortgage_tree(), loans().select(["marital status"]))
    assert found.group_sizes.tolist() == [3, 3]
    assert not found.exact
    # three of six have no sports car; the married leaf holds one person and the unmarried one two
    john = found.group_of_person[NAMES.index("John")]
    assert dict(found.conditions["sports car"][john])["= No"] == pytest.approx(2 / 3)
    assert found.beliefs[john].sum() == pytest.approx(1.0)


def test_the_strict_rule_of_pkdd_differs_where_the_target_is_public():
    """With everything public nothing private can be told, so VLDB'08 lets any split pass; PKDD'06 still counts."""
    table = loans()
    roles = Roles.resolve(table.names, target="loan risk", target_role="public")
    free = mine_tree(table, roles, KAnonymity(2))
    assert len([leaf for leaf in free.leaves if free.counts[leaf].sum() == 1]) >= 1
    strict = mine_tree(table, roles, KAnonymity(2), strict=True)
    assert len(strict.leaves) < len(free.leaves)
    with pytest.raises(PromiseError):  # two good risks only: their span is too small from the start
        mine_tree(table, roles, KAnonymity(3), strict=True)


def test_a_private_split_ends_the_exemption_of_single_bins():
    """Public target: each class is a span of one bin and exempt; a private split would give it several bins."""
    table = loans()
    roles = Roles.resolve(table.names, target="loan risk", target_role="public", private=["sports car"])
    assert {node.attribute for node in mine_tree(table, roles, KAnonymity(2)).nodes if node.attribute} >= {"sports car"}
    # the two good risks are fewer than three, so the private split may not touch them
    assert "sports car" not in {node.attribute for node in mine_tree(table, roles, KAnonymity(3)).nodes}
