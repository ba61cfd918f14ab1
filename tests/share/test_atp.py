# SPDX-License-Identifier: Apache-2.0
"""Pruning by merging, against the rules written down once more in the plainest way."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.strategies import cases, trees
from shoal import audit, load
from shoal.errors import DataError, PromiseError
from shoal.privacy import EntropyDiversity, KAnonymity, RecursiveDiversity, SimpleDiversity
from shoal.release import Attribute, Branch, Node, TreeRelease
from shoal.trees.atp import prune_by_merging

REQUIREMENTS = st.one_of(
    st.integers(1, 6).map(KAnonymity),
    st.sampled_from([SimpleDiversity(1.5), SimpleDiversity(2), RecursiveDiversity(2, 2), EntropyDiversity(1.5)]),
)


def plain_merge(release, number, keeps):
    """The children of a node, each as (values taken, counts, subtree or None, passes), by the rules of Sect. 4.2."""
    node = release.nodes[number]
    if node.is_leaf:
        return None, list(node.counts)
    children = []
    for place, branch in enumerate(node.branches):
        below, counts = plain_merge(release, branch.node, keeps)
        children.append(({place}, counts, below, below is not None or keeps(counts)))

    def union(one, other):
        counts = [a + b for a, b in zip(one[1], other[1], strict=True)]
        return one[0] | other[0], counts, None, keeps(counts)

    while len(children) > 1 and not all(child[3] for child in children):
        failing = [child for child in children if not child[3]]
        chosen = max(failing, key=lambda child: max(child[1]) / max(sum(child[1]), 1))
        while not chosen[3] and len(children) > 1:
            siblings = [child for child in children if child is not chosen]
            ranked = [(not union(chosen, each)[3], each[3], sum(each[1]), place) for place, each in enumerate(siblings)]
            sibling = siblings[min(ranked)[3]]
            merged = union(chosen, sibling)
            children = [merged if child is chosen else child for child in children if child is not sibling]
            chosen = merged
    total = [sum(each) for each in zip(*(child[1] for child in children), strict=True)]
    if len(children) == 1:
        return children[0][2], total
    return [(places, below if below is not None else counts) for places, counts, below, _ in children], total


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
    below, counts = plain_merge(release, 0, keeps)
    assert as_plain(pruned, 0, release, 0) == (counts if below is None else below)
    assert audit(pruned, case.table, privacy=requirement).holds


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
