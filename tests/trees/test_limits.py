# SPDX-License-Identifier: Apache-2.0
"""What is kept of spans blocks exactly the splits that leave some span a part of fewer than k people."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.hierarchy import Levels as Hierarchy
from shoal.engines import Feature
from shoal.trees.forms import Cuts, Halves, Levels
from shoal.trees.limits import Cells, limits_of
from shoal.trees.score import Score

SEEDS = st.integers(0, 2**32 - 1)


def cells_of(rng, n_spans, n_nodes):
    """Two cells that share spans, and nodes in them."""
    first, second = (np.flatnonzero(rng.random(n_spans) < 0.6) for _ in range(2))
    first, second = (spans if len(spans) else np.array([0]) for spans in (first, second))
    starts = np.array([0, len(first), len(first) + len(second)])
    return Cells(rng.integers(0, 2, n_nodes), starts, np.concatenate([first, second]))


def too_small(counts, branch_of, least):
    """By the definition: does any part of this set of people have some, but too few?"""
    parts = np.bincount(branch_of, weights=counts).astype(int)
    return bool(((parts > 0) & (parts < least)).any())


@pytest.mark.parametrize("kind", ["cuts", "cuts with missing", "halves", "levels"])
@given(SEEDS, st.integers(1, 6), st.integers(2, 6), st.integers(1, 8))
def test_blocked_and_allowed_are_the_definition(kind, seed, n_spans, n_codes, least):
    rng = np.random.default_rng(seed)
    score = Score("gini", 1000)
    if kind.startswith("cuts"):
        missing = kind != "cuts"
        feature = Feature("x", True, n_codes + missing, missing, cuts=np.arange(n_codes - 1.0))
        form = Cuts(feature, score)
    else:
        maps = (np.arange(n_codes, dtype=np.int32), np.arange(n_codes, dtype=np.int32) // 2)
        names = tuple(tuple(map(str, range(int(group_of.max()) + 1))) for group_of in maps)
        feature = Feature("x", True, n_codes, levels=Hierarchy(maps, names))
        form = (Halves if kind == "halves" else Levels)(feature, score)
    spans = rng.integers(0, 5, (n_spans, feature.n_codes))
    limits = limits_of(feature, form, least)
    kept = limits.keep(spans)
    nodes = rng.integers(0, 9, (3, feature.n_codes, 2))
    order = form.order(nodes)
    cells = cells_of(rng, n_spans, len(nodes))
    blocked = limits.blocked(kept, cells, order)
    assert blocked.shape == form.gains(nodes, order).shape
    for node in range(len(nodes)):
        own = cells.spans[cells.first[cells.cell_of[node]] : cells.first[cells.cell_of[node] + 1]]
        for position in range(blocked.shape[1]):
            split = form.split(0, position, None if order is None else order[node])
            branch_of = split.branch_of(feature)
            expected = any(too_small(spans[span], branch_of, least) for span in own)
            assert blocked[node, position] == expected
            assert limits.allows(kept[own], split) == (not expected)
            picked = form.branches(np.array([position]), None if order is None else order[node : node + 1])
            assert np.array_equal(picked[0], branch_of)
