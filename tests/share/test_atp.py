# SPDX-License-Identifier: Apache-2.0
"""Pruning by merging, against the rules written down once more in the plainest way."""

import math
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.strategies import cases, trees
from shoal import audit, load
from shoal.errors import DataError, PromiseError
from shoal.privacy import EntropyDiversity, KAnonymity, RecursiveDiversity, SimpleDiversity
from shoal.privacy.hits import holds_by_hits
from shoal.release import Attribute, Branch, Node, TreeRelease
from shoal.share import pseudo_data
from shoal.trees.atp import prune_by_merging

REQUIREMENTS = st.one_of(
    st.integers(1, 6).map(KAnonymity),
    st.sampled_from([SimpleDiversity(1.5), SimpleDiversity(2), RecursiveDiversity(2, 2), EntropyDiversity(1.5)]),
)
BY_HITS = st.one_of(
    st.integers(1, 6).map(KAnonymity),
    st.sampled_from([SimpleDiversity(1.5), SimpleDiversity(2), RecursiveDiversity(2, 2), RecursiveDiversity(3, 3)]),
)


def join_counts(parts):
    return [sum(each) for each in zip(*parts, strict=True)]


def join_hits(parts, n_classes):
    """Eq. 2 and 3 of (class, hit, miss)."""
    of_class = [
        sum(Fraction(hit) if own == c else Fraction(miss, n_classes - 1) for own, hit, miss in parts)
        for c in range(n_classes)
    ]
    hit = math.ceil(max(of_class))
    return of_class.index(max(of_class)), hit, sum(hit + miss for _, hit, miss in parts) - hit


def plain_merge(release, number, told, join, keeps, weigh):
    """A node as (what is in its place, its people, what is told of it): children are pairs of branches and subtrees.

    `told` is what is told of each node before any is merged, `join` of several together, `keeps` whether that keeps the
    requirement, and `weigh` how many people it says there are, and how many of them of one class.
    """
    node = release.nodes[number]
    if node.is_leaf:
        return None, list(node.counts), told[number]
    children = []
    for place, branch in enumerate(node.branches):
        below, counts, known = plain_merge(release, branch.node, told, join, keeps, weigh)
        children.append(({place}, counts, below, known, below is not None or keeps(known)))

    def union(one, other):
        known = join([one[3], other[3]])
        return one[0] | other[0], join_counts([one[1], other[1]]), None, known, keeps(known)

    while len(children) > 1 and not all(child[4] for child in children):
        failing = [child for child in children if not child[4]]
        chosen = max(failing, key=lambda child: Fraction(weigh(child[3])[1], max(weigh(child[3])[0], 1)))
        while not chosen[4] and len(children) > 1:
            siblings = [child for child in children if child is not chosen]
            ranked = [
                (not union(chosen, each)[4], each[4], weigh(each[3])[0], place) for place, each in enumerate(siblings)
            ]
            sibling = siblings[min(ranked)[3]]
            merged = union(chosen, sibling)
            children = [merged if child is chosen else child for child in children if child is not sibling]
            chosen = merged
    if len(children) == 1:
        return children[0][2], children[0][1], children[0][3]
    total = join_counts([child[1] for child in children])
    return [(child[0], child[1] if child[2] is None else child[2]) for child in children], total, told[number]


def as_plain(release, number, original, at):
    """A pruned node in the same words: which branches of the original node lead to each child."""
    node = release.nodes[number]
    if node.is_leaf:
        return list(node.counts)
    while len(original.nodes[at].branches) == 1:  # asks nothing, so it is passed over
        at = original.nodes[at].branches[0].node
    answer = []
    for branch in node.branches:
        places = {
            place
            for place, before in enumerate(original.nodes[at].branches)
            if set(before.values) <= set(branch.values)
            and (not before.missing or branch.missing)
            and all(_inside(interval, branch.intervals) for interval in before.intervals)
        }
        only = original.nodes[at].branches[min(places)].node
        answer.append((places, as_plain(release, branch.node, original, only)))
    return answer


def _inside(interval, intervals):
    def low(x):
        return float("-inf") if x.above is None else x.above

    def high(x):
        return float("inf") if x.at_most is None else x.at_most

    return any(low(each) <= low(interval) and high(interval) <= high(each) for each in intervals)


@settings(max_examples=150, deadline=None)
@given(st.data(), REQUIREMENTS)
def test_the_result_is_what_the_rules_say_and_keeps_the_requirement(data, requirement):
    case = data.draw(cases(private=False))
    release = data.draw(trees(case))

    def keeps(counts):
        return bool(requirement.holds([counts], release.counts[0])[0])

    if not keeps(release.counts[0].tolist()):
        with pytest.raises(PromiseError, match="no tree can"):
            prune_by_merging(release, requirement)
        return
    pruned = prune_by_merging(release, requirement)
    assert all(keeps(list(pruned.nodes[leaf].counts)) for leaf in pruned.leaves)
    told = release.counts.tolist()
    below, counts, _ = plain_merge(release, 0, told, join_counts, keeps, lambda each: (sum(each), max(each)))
    assert as_plain(pruned, 0, release, 0) == (counts if below is None else below)
    assert audit(pruned, case.table, privacy=requirement).holds


@settings(max_examples=80, deadline=None)
@given(st.data(), BY_HITS)
def test_by_hits_the_result_is_what_the_rules_say_of_estimates(data, requirement):
    """Of every node first, before any is merged, as Fig. 6 has it: a node that is merged later is judged by that."""
    release = data.draw(trees(data.draw(cases(private=False))))
    m = len(release.classes)

    def keeps(told):
        return bool(holds_by_hits(requirement, [told[1]], [told[2]])[0])

    told = [None] * len(release.nodes)
    for number in reversed(range(len(release.nodes))):  # a branch leads to a higher number
        node = release.nodes[number]
        if node.is_leaf:
            hit = max(node.counts)
            told[number] = node.counts.index(hit), hit, sum(node.counts) - hit
        else:
            told[number] = join_hits([told[branch.node] for branch in node.branches], m)
    join = partial(join_hits, n_classes=m)
    below, counts, known = plain_merge(release, 0, told, join, keeps, lambda each: (each[1] + each[2], each[1]))
    if below is None and not keeps(known):
        with pytest.raises(PromiseError, match="as far as hits and misses can tell"):
            prune_by_merging(release, requirement, by="hits")
        return
    pruned = prune_by_merging(release, requirement, by="hits")
    assert as_plain(pruned, 0, release, 0) == (counts if below is None else below)


def test_what_is_told_of_a_node_comes_from_its_leaves_before_any_was_merged():
    """Node C becomes one leaf; what is told of B above it is what was told before, or B would merge with A = 2 too."""
    target = Attribute("t", "private", "categorical", values=("x", "y", "z"))
    columns = [Attribute(name, "public", "categorical", values=("1", "2", "3")) for name in "ABC"]

    def split(name, *to):
        return Node(name, tuple(Branch(node, (str(i + 1),)) for i, node in enumerate(to)))

    leaves = [(4, 4, 4), (1, 0, 4), (2, 2, 2), (1, 1, 2), (3, 1, 3), (1, 0, 3), (4, 1, 3)]
    a, b, *below = (Node(counts=counts) for counts in leaves)
    nodes = (split("A", 1, 2, 3), split("B", 4, 5, 6), a, b, split("C", 7, 8, 9), *below)
    release = TreeRelease("t", (*columns, target), ({"requirement": "k-anonymity", "k": 1},), nodes)
    pruned = prune_by_merging(release, RecursiveDiversity(3, 3), by="hits")
    assert {branch.values: pruned.nodes[branch.node].counts for branch in pruned.nodes[0].branches} == {
        ("2",): (4, 4, 4),
        ("1", "3"): (12, 5, 17),
    }


def test_a_pruned_tree_is_a_release_like_any_other(tmp_path):
    target = Attribute("ill", "private", "categorical", values=("no", "yes"))
    town = Attribute("town", "public", "categorical", values=("A", "B", "C"))
    leaves = [Node(counts=counts) for counts in [(4, 4), (1, 0), (0, 1)]]
    branches = tuple(Branch(1 + i, (name,)) for i, name in enumerate("ABC"))
    claim = ({"requirement": "k-anonymity", "k": 1},)
    pruned = prune_by_merging(TreeRelease("ill", (town, target), claim, (Node("town", branches), *leaves)), 2)
    rows = {"town": [*"AAAAAAAABC"], "ill": [*["no"] * 4, *["yes"] * 4, "no", "yes"]}
    verdict = audit(pruned, rows)
    assert verdict.holds
    pruned.with_audit(verdict).save(tmp_path / "pruned.json")
    assert load(tmp_path / "pruned.json").predict({"town": ["B"]}).tolist() == ["no"]


def test_a_single_class_has_no_misses():
    target = Attribute("ill", "private", "categorical", values=("no",))
    town = Attribute("town", "public", "categorical", values=("A", "B"))
    nodes = (Node("town", (Branch(1, ("A",)), Branch(2, ("B",)))), Node(counts=(3,)), Node(counts=(4,)))
    release = TreeRelease("ill", (town, target), ({"requirement": "k-anonymity", "k": 1},), nodes)
    assert len(prune_by_merging(release, 3, by="hits").leaves) == 2
    assert prune_by_merging(release, 4, by="hits").nodes == (Node(counts=(7,)),)
    assert pseudo_data(release, classes="hits", random_state=0).table.n_rows == 7


def test_trees_that_ask_private_columns_are_refused():
    target = Attribute("ill", "private", "categorical", values=("no", "yes"))
    town = Attribute("town", "private", "categorical", values=("A", "B"))
    branches = (Branch(1, ("A",)), Branch(2, ("B",)))
    nodes = (Node("town", branches), Node(counts=(1, 2)), Node(counts=(3, 4)))
    release = TreeRelease("ill", (town, target), ({"requirement": "k-anonymity", "k": 1},), nodes)
    with pytest.raises(DataError, match="asks private 'town'"):
        prune_by_merging(release, 2)
    with pytest.raises(DataError, match="by must be"):
        prune_by_merging(release, 2, by="luck")
