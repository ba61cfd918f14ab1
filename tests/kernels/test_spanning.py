# SPDX-License-Identifier: Apache-2.0
"""The spanning tree against scipy's, which needs all distances."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

from shoal._kernels.spanning import below, spanning_tree


@pytest.mark.parametrize("seed", range(40))
def test_it_is_a_tree_and_minimal(seed):
    random = np.random.default_rng(seed)
    n, axes = random.integers(2, 120), random.integers(1, 5)
    points = random.normal(size=(n, axes))
    if seed % 2:  # many ties
        points = np.unique(random.integers(0, 6, (n, axes)).astype(float), axis=0)
    start, end, squares = spanning_tree(points)
    assert len(start) == len(points) - 1
    edges = coo_array((np.ones(len(start)), (start, end)), shape=(len(points), len(points)))
    assert connected_components(edges, directed=False)[0] == 1
    assert np.allclose(squares, ((points[start] - points[end]) ** 2).sum(axis=1))
    expected = minimum_spanning_tree(squareform(pdist(points))).data
    assert np.allclose(np.sort(np.sqrt(squares)), np.sort(expected))


def test_one_point_has_no_edge():
    assert [len(each) for each in spanning_tree(np.zeros((1, 3)))] == [0, 0, 0]


def test_sums_below_stop_at_cuts():
    #     0
    #   1   2
    #  3 4
    order, parent = np.array([0, 1, 2, 3, 4]), np.array([-9999, 0, 0, 1, 1])
    values = np.array([[1.0], [2.0], [4.0], [8.0], [16.0]])
    top, sums = below(order, parent, np.array([True, False, False, False, False]), values)
    assert top.tolist() == [0] * 5
    assert sums[:, 0].tolist() == [31, 26, 4, 8, 16]
    top, sums = below(order, parent, np.array([True, True, False, False, False]), values)
    assert top.tolist() == [0, 1, 0, 1, 1]
    assert sums[:, 0].tolist() == [5, 26, 4, 8, 16]
