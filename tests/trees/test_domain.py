# SPDX-License-Identifier: Apache-2.0
"""The domain a release states is declared or safe, and spans are over the domain, not over the rows."""

import numpy as np
import pytest

from shoal import AnonymousTreeClassifier, KAnonymity, RequirementError, Roles, audit, to_table
from shoal.audit.recount import recount
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.release.parse import parse_tree

CLAIM = ({"requirement": "k-anonymity", "k": 2},)


def people(n=400, seed=0):
    rng = np.random.default_rng(seed)
    wealth = np.round(rng.lognormal(8, 1.5, n), 2)
    sex = rng.choice(["f", "m"], n)
    rich = np.where(wealth + 2000 * (sex == "m") > 4000, "y", "n")
    return to_table({"sex": sex.tolist(), "wealth": wealth.tolist(), "t": rich.tolist()})


def test_extremes_of_an_undeclared_private_number_are_not_stated():
    table = people()
    wealth = np.sort(table["wealth"].numbers[table["wealth"].codes])
    tree = AnonymousTreeClassifier(privacy=20, public=["sex"]).fit(table, "t")
    low, high = tree.release_.attribute("wealth").bounds
    assert (wealth <= low).sum() >= 20
    assert (wealth >= high).sum() >= 20
    assert low not in wealth
    assert high not in wealth
    text = str(tree.release_.to_json())
    assert str(wealth[0]) not in text
    assert str(wealth[-1]) not in text


def test_declared_bounds_are_stated_as_declared():
    tree = AnonymousTreeClassifier(privacy=20, public=["sex"], domain={"wealth": [0, 10**7]}).fit(people(), "t")
    assert tree.release_.attribute("wealth").bounds == (0, 10**7)


def test_thresholds_are_round_and_nobodys_value():
    table = people()
    tree = AnonymousTreeClassifier(privacy=20).fit(table, "t")
    ends = {
        end
        for node in tree.release_.nodes
        for branch in node.branches
        for interval in branch.intervals
        for end in (interval.above, interval.at_most)
        if end is not None
    }
    assert ends
    assert not ends & set(table["wealth"].numbers.tolist())
    # strictly between two neighbouring values, and shorter than either
    values = table["wealth"].numbers
    for end in ends:
        at = np.searchsorted(values, end)
        shortest = min(len(repr(float(values[at - 1]))), len(repr(float(values[at]))))
        assert len(repr(float(end))) <= shortest


def release_with(nodes, *attributes):
    target = Attribute("t", "private", "categorical", values=("n", "y"))
    return TreeRelease("t", (*attributes, target), CLAIM, nodes)


def leaf(n=0, y=0):
    return Node(counts=(n, y))


def test_a_private_value_that_nobody_has_still_makes_a_bin_reachable():
    table = to_table({"sex": ["f", "m"], "ward": ["a", "a"], "t": ["n", "y"]})
    nodes = (
        Node("ward", (Branch(1, ("a",)), Branch(2, ("b",)))),
        leaf(1, 1),
        Node("sex", (Branch(3, ("f",)), Branch(4, ("m",)))),
        leaf(),
        leaf(),
    )
    ward = Attribute("ward", "private", "categorical", values=("a", "b"))
    sex = Attribute("sex", "public", "categorical", values=("f", "m"))
    # nobody is in ward b, yet an outsider must think each may be, and there the tree tells f from m
    assert recount(release_with(nodes, ward, sex), table, None, None).groups.people.tolist() == [1, 1]


def test_a_path_that_contradicts_itself_is_not_reachable():
    table = to_table({"sex": ["f", "m"], "ward": ["a", "a"], "t": ["n", "y"]})
    nodes = (
        Node("ward", (Branch(1, ("a",)), Branch(2, ("b",)))),
        Node("ward", (Branch(3, ("a",)), Branch(4, ("b",)))),
        leaf(),
        leaf(1, 1),
        Node("sex", (Branch(5, ("f",)), Branch(6, ("m",)))),
        leaf(),
        leaf(),
    )
    ward = Attribute("ward", "private", "categorical", values=("a", "b"))
    sex = Attribute("sex", "public", "categorical", values=("f", "m"))
    # the test of sex stands under ward = a and ward = b: nobody can ever be there
    assert recount(release_with(nodes, ward, sex), table, None, None).groups.people.tolist() == [2]


@pytest.mark.parametrize(
    ("bounds", "integer", "groups"), [((0, 10), False, 2), ((0, 5), False, 1), ((0, 5.2), True, 1)]
)
def test_bounds_decide_whether_an_interval_is_reachable(bounds, integer, groups):
    table = to_table({"sex": ["f", "m"], "score": [1.0, 2.0], "t": ["n", "y"]})
    nodes = (
        Node("score", (Branch(1, intervals=(Interval(None, 5.0),)), Branch(2, intervals=(Interval(5.0, None),)))),
        leaf(1, 1),
        Node("sex", (Branch(3, ("f",)), Branch(4, ("m",)))),
        leaf(),
        leaf(),
    )
    score = Attribute("score", "private", "numeric", bounds=bounds, integer=integer)
    sex = Attribute("sex", "public", "categorical", values=("f", "m"))
    assert len(recount(release_with(nodes, score, sex), table, None, None).groups) == groups


def test_people_in_other_leaves_decide_whether_a_public_split_may_be_made():
    """VLDB'08 Sect. 5.1: a public split in one node splits every span that reaches it."""
    rows = [("a", "f", "n")] * 10 + [("a", "m", "y")] * 10 + [("b", "f", "n")] * 9 + [("b", "f", "y")] * 11
    ward, sex, t = (list(column) for column in zip(*rows, strict=True))
    table = to_table({"ward": ward, "sex": sex, "t": t})
    roles = Roles.resolve(table.names, target="t", private=["ward"])
    from shoal.trees.mine import mine_tree

    # all ten men are in ward a, where f and m have ten people each; in the span of all men there are ten
    assert "sex" in mine_tree(table, roles, KAnonymity(10)).tested
    assert "sex" not in mine_tree(table, roles, KAnonymity(11)).tested
    # with the ward public, eleven is too many as well; with nine both allow it
    assert "sex" in mine_tree(table, roles, KAnonymity(9)).tested


def test_missing_is_a_value_that_the_attacker_sees():
    sex = ["f"] * 10 + ["m"] * 10 + [None] * 3
    t = ["n"] * 10 + ["y"] * 10 + ["n", "y", "n"]
    table = to_table({"sex": sex, "t": t})
    tree = AnonymousTreeClassifier(privacy=3, variant="id3").fit(table, "t")
    verdict = audit(tree, table)
    assert verdict.smallest_group == 3
    assert tree.release_.attribute("sex").missing
    assert [branch.missing for branch in tree.release_.nodes[0].branches] == [False, False, True]
    # four people are needed and only three are missing: the column cannot be asked at all
    assert AnonymousTreeClassifier(privacy=4, variant="id3").fit(table, "t").release_.tested == ()
    # unless missing may share a branch
    assert AnonymousTreeClassifier(privacy=4).fit(table, "t").release_.tested == ("sex",)


def test_missing_numbers_go_to_the_side_that_tells_more():
    age = [float(i) for i in range(20)] + [None] * 4
    t = ["n"] * 10 + ["y"] * 10 + ["n"] * 4
    table = to_table({"age": age, "t": t})
    tree = AnonymousTreeClassifier(privacy=5).fit(table, "t")
    root = tree.release_.nodes[0]
    assert [(str(branch.intervals[0]), branch.missing) for branch in root.branches] == [
        ("at most 9.5", True),
        ("above 9.5", False),
    ]
    assert tree.predict(table).tolist() == t


def test_an_empty_leaf_predicts_as_its_parent():
    table = to_table({"c": ["a"] * 5 + ["b"] * 4, "t": ["n"] * 5 + ["y"] * 4})
    tree = AnonymousTreeClassifier(privacy=2, variant="id3", domain={"c": ["a", "b", "z"]}).fit(table, "t")
    assert [str(leaf_) for leaf_ in tree.release_.predict(to_table({"c": ["a", "b", "z"]}))] == ["n", "y", "n"]
    assert tree.release_.predict_proba(to_table({"c": ["z"]}))[0].tolist() == pytest.approx([5 / 9, 4 / 9])
    assert "nobody" in str(tree.release_)


def test_a_release_says_which_numeric_columns_were_cut_at_quantiles():
    rng = np.random.default_rng(0)
    few, many = rng.integers(0, 60, 3000), rng.normal(size=3000)
    people = {"few": few, "many": many, "sick": np.where(few / 60 + many / 4 > 0.5, "yes", "no")}
    release = AnonymousTreeClassifier(privacy=50, max_codes=100).fit(people, "sick").release_
    assert {name: release.attribute(name).quantiles for name in ("few", "many")} == {"few": False, "many": True}
    assert parse_tree(release.to_json()).attribute("many").quantiles
    exact = AnonymousTreeClassifier(privacy=50, max_codes=3000).fit(people, "sick").release_
    assert not exact.attribute("many").quantiles
    assert "quantiles" not in str(exact.to_json())


@pytest.mark.parametrize("wrong", [1, 0, None, True, "many", 10.0])
def test_max_codes_is_a_whole_number(wrong):
    with pytest.raises(RequirementError, match="max_codes must be a whole number of at least 2"):
        AnonymousTreeClassifier(max_codes=wrong).fit({"x": [1, 2], "y": ["a", "b"]}, "y")
