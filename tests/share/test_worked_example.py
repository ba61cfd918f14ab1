# SPDX-License-Identifier: Apache-2.0
"""Tian et al., Fig. 3, 5 and 7 and Examples 10 to 16, by hand; all of their numbers are in `shoal papers`."""

import numpy as np
import pytest

from shoal.papers.worked.tian_tree import CLASSES, DIVERSE, fig5, fig7
from shoal.privacy import KAnonymity, SimpleDiversity
from shoal.privacy.hits import holds_by_hits
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.trees.atp import ByHits, Hits, prune_by_merging


def test_example_10_every_path_has_three_people():
    leaves = fig5().counts[list(fig5().leaves)].sum(axis=1)
    assert KAnonymity(3).holds(leaves[:, None]).all()
    assert not KAnonymity(4).holds(leaves[:, None]).all()


def test_example_12_which_paths_are_diverse_by_hits():
    leaves = {name: label for name, label in fig7().items() if name in "degiklmnop"}
    passing = {name for name, (_, hit, miss) in leaves.items() if holds_by_hits(DIVERSE, [hit], [miss])[0]}
    assert passing == set("klmnip")


def test_equation_1_is_no_bound_in_either_direction():
    assert holds_by_hits(DIVERSE, [2], [2])[0]
    assert not DIVERSE.holds([[2, 2]])[0]
    assert not holds_by_hits(DIVERSE, [5], [4])[0]
    assert DIVERSE.holds([[5, 2, 2]])[0]


def test_example_14_simple_diversity():
    assert holds_by_hits(SimpleDiversity(2), [6], [8])[0]  # A = a1, B = b4
    assert not holds_by_hits(SimpleDiversity(3), [6], [8])[0]
    assert holds_by_hits(SimpleDiversity(3), [2], [6])[0]  # A = a2, C = c1


def test_example_15_what_is_estimated_of_node_b():
    knowledge = ByHits(DIVERSE, 5)
    parts = [Hits(0, 3, 0), Hits(1, 5, 4), Hits(2, 5, 9), Hits(3, 6, 8), Hits(0, 3, 7)]
    estimated = [sum(p.hit if p.of_class == c else p.miss / 4 for p in parts) for c in range(5)]
    assert estimated == [11.25, 11, 9.75, 11, 7]
    assert knowledge.together(parts) == Hits(0, 12, 38)
    below_f, below_h = [Hits(4, 2, 2), Hits(2, 4, 6)], [Hits(0, 2, 5), Hits(0, 1, 2)]
    assert (knowledge.together(below_f), knowledge.together(below_h)) == (parts[2], parts[4])


def test_example_16_what_is_merged():
    knowledge = ByHits(DIVERSE, 5)
    d, e, g, h = Hits(0, 3, 0), Hits(1, 5, 4), Hits(3, 6, 8), Hits(0, 3, 7)
    assert knowledge.together([d, e]) == Hits(1, 5, 7)
    assert knowledge.together([g, h]) == Hits(3, 8, 16)
    assert knowledge.passes([knowledge.together([d, h])]) == [False]  # so h does not satisfy Rule 1 for d


def test_fig_3_the_pruned_fig5():
    before = fig5()
    pruned = prune_by_merging(before, DIVERSE, by="hits")
    b = pruned.nodes[1]
    assert [branch.values for branch in b.branches] == [("b1", "b2"), ("b3",), ("b4", "b5")]
    merged = [pruned.nodes[branch.node] for branch in b.branches]
    assert [node.is_leaf for node in merged] == [True, False, True]
    assert sum(merged[0].counts) == 12
    assert sum(merged[2].counts) == 24
    c = pruned.nodes[2]
    assert [pruned.nodes[branch.node].is_leaf for branch in c.branches] == [True, True]  # o and p replace j
    assert sum(pruned.nodes[c.branches[1].node].counts) == 23
    assert pruned.counts[0].tolist() == before.counts[0].tolist()


def test_by_exact_counts_every_path_keeps_the_requirement():
    pruned = prune_by_merging(fig5(), DIVERSE)
    assert DIVERSE.holds(pruned.counts[list(pruned.leaves)]).all()


@pytest.mark.parametrize("by", ["counts", "hits"])
def test_a_tree_that_passes_is_left_as_it_is(by):
    pruned = prune_by_merging(fig5(), 3, by=by)
    assert [node.to_json(CLASSES) for node in pruned.nodes] == [node.to_json(CLASSES) for node in fig5().nodes]


def test_numeric_branches_become_sets_of_intervals():
    target = Attribute("ill", "private", "categorical", values=("no", "yes"))
    age = Attribute("age", "public", "numeric", bounds=(0, 100))
    ends = [(None, 20), (20, 40), (40, 60), (60, None)]
    branches = tuple(Branch(1 + i, intervals=(Interval(*end),)) for i, end in enumerate(ends))
    leaves = [Node(counts=counts) for counts in [(2, 0), (9, 9), (0, 3), (9, 9)]]
    nodes = (Node("age", branches), *leaves)
    before = TreeRelease("ill", (age, target), ({"requirement": "k-anonymity", "k": 1},), nodes)
    pruned = prune_by_merging(before, 5)
    assert [[(i.above, i.at_most) for i in branch.intervals] for branch in pruned.nodes[0].branches] == [
        [(None, 20), (40, 60)],
        [(20, 40)],
        [(60, None)],
    ]
    assert np.array_equal(pruned.predict({"age": [10, 30, 50, 70]}), pruned.predict({"age": [50, 30, 10, 70]}))
