# SPDX-License-Identifier: Apache-2.0
"""Layout without drawing: bars and nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.release import Attribute, Branch, Node, TreeRelease
from shoal.release.domain import Interval
from shoal.report.layout import MOST_BARS, histogram, outline

SIZES = st.lists(st.integers(1, 10**7), max_size=60).map(lambda sizes: np.array(sizes, dtype=np.int64))


@given(SIZES, st.none() | st.integers(1, 10**6))
def test_every_group_is_in_exactly_one_bar(sizes, k):
    shown = histogram(sizes, k)
    assert sum(bar.groups for bar in shown.bars) == len(sizes)
    assert sum(bar.people for bar in shown.bars) == sizes.sum()
    assert all(bar.low <= bar.high for bar in shown.bars)
    assert all(a.high + 1 == b.low for a, b in zip(shown.bars, shown.bars[1:], strict=False))
    assert len(shown.bars) <= 2 * MOST_BARS


@given(SIZES.filter(len), st.integers(1, 10**6))
def test_no_bar_lies_on_both_sides_of_k(sizes, k):
    shown = histogram(sizes, k)
    assert not any(bar.low < k <= bar.high for bar in shown.bars)
    assert sum(bar.groups for bar in shown.bars[: shown.k_before]) == (sizes < k).sum()


def test_bars_grow_where_sizes_differ_much():
    shown = histogram(np.array([1, 3, 10, 5000]), k=25)
    assert [bar.low for bar in shown.bars] == [1, 2, 5, 10, 25, 50, 100, 200, 500, 1000, 2000, 5000]


def test_no_groups_make_no_bars():
    assert histogram(np.array([], dtype=np.int64), 5).bars == ()


def chain(levels: int) -> TreeRelease:
    """A tree that peels off one value a level."""
    nodes: list[Node] = []
    for level in range(levels):
        cut = float(level)
        nodes.append(
            Node(
                attribute="x",
                branches=(
                    Branch(2 * level + 1, intervals=(Interval(None, cut),)),
                    Branch(2 * level + 2, intervals=(Interval(cut, None),)),
                ),
            )
        )
        nodes.append(Node(counts=(1, 0)))
    nodes.append(Node(counts=(0, 1)))
    return TreeRelease(
        target="y",
        attributes=(
            Attribute("x", "public", "numeric", bounds=(0.0, 1000.0)),
            Attribute("y", "private", "categorical", values=("a", "b")),
        ),
        claims=({"requirement": "k-anonymity", "k": 1},),
        nodes=tuple(nodes),
    )


def test_a_small_tree_is_shown_whole_and_in_reading_order():
    release = chain(3)
    nodes = list(outline(release))
    assert [node.number for node in nodes] == [number for number, _, _ in release.lines()]
    assert [(node.depth, node.test) for node in nodes] == [(depth, test) for _, depth, test in release.lines()]
    assert all(node.unfolded and not node.hidden for node in nodes)


@pytest.mark.parametrize(("most_nodes", "most_levels"), [(7, 400), (2000, 5), (1, 1)])
def test_what_is_cut_off_is_counted(most_nodes, most_levels):
    release = chain(100)
    nodes = list(outline(release, most_nodes=most_nodes, most_levels=most_levels))
    assert len(nodes) + sum(node.hidden for node in nodes) == len(release.nodes)
    assert len(nodes) <= most_nodes
    assert max(node.depth for node in nodes) <= most_levels


def test_guilty_nodes_are_shown_wherever_they_stand_and_the_way_is_unfolded():
    release = chain(100)
    shown = {node.number: node for node in outline(release, [180], most_nodes=11)}
    assert shown[180].guilty
    assert not shown[0].guilty
    assert all(shown[number].unfolded for number in range(0, 180, 2))
    assert 13 not in shown
    assert len(shown) + sum(node.hidden for node in shown.values()) == len(release.nodes)


def test_a_large_tree_is_folded_below_its_first_levels():
    unfolded = {node.number: node.unfolded for node in outline(chain(100))}
    assert unfolded[0]
    assert unfolded[2]
    assert not unfolded[4]
