# SPDX-License-Identifier: Apache-2.0
"""Routing compiled, for tables of many rows. `Routing` has the same in NumPy, and the tests hold them equal."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def walk(encoded, tests, cut, ways, start, child, n_known, ends):
    """Send every row down the tree until it meets a leaf or no branch; ends[row] is where it stands then."""
    for row in range(len(ends)):
        node = 0
        while tests[node] >= 0:
            test = tests[node]
            atom = encoded[test, row]
            if atom < 0:
                break
            if cut[node] < 0:
                following = child[start[node] + atom]
            elif atom >= n_known[test]:
                following = ways[node, 2]
            elif atom > cut[node]:
                following = ways[node, 1]
            else:
                following = ways[node, 0]
            if following < 0:
                break
            node = following
        ends[row] = node
