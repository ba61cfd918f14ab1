# SPDX-License-Identifier: Apache-2.0
"""Walks through trees over atoms: which leaves exist for somebody, and which a person can be in.

A node is a row of whole numbers, so that it is read at once: its kind, column, ranks, cut, way for missing, and its
children. It sends an atom left if the atom's rank is below its cut. Of most numeric columns an atom is its own rank
(`RANKS` < 0, and then the atom after the known ones is missing); else the rank stands in a table, or `GAP` for missing.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import njit

KIND, COLUMN, RANKS, CUT, MISSING_LEFT, LEFT, RIGHT = range(7)
LEAF, PUBLIC, PRIVATE, MIXED = range(4)
GAP = 2**30


@njit(cache=True, nogil=True, inline="always")
def goes_left(node, atom, ranks, n_known):
    """Whether a node sends an atom of its column left."""
    if node[RANKS] >= 0:
        rank = ranks[node[RANKS] + atom]
    elif atom < n_known:
        rank = atom
    else:
        rank = GAP
    if rank == GAP:
        return node[MISSING_LEFT] == 1
    return rank < node[CUT]


@njit(cache=True, nogil=True)
def some_value_left(child, column, parents, nodes, ranks, domain):
    """Whether some value of a column passes all tests of it on the way to a node."""
    start, n_known, n_atoms, possible = domain
    low, high, by_rank = 0, n_known[column], False
    at = child
    while parents[at] >= 0:
        node = nodes[parents[at]]
        if node[KIND] == PRIVATE and node[COLUMN] == column:
            if node[RANKS] >= 0:
                by_rank = True
            elif node[LEFT] == at:
                high = min(high, node[CUT])
            else:
                low = max(low, node[CUT])
        at = parents[at]
    for atom in range(low, n_atoms[column]):
        if not possible[start[column] + atom] or (atom >= high and atom < n_known[column]):
            continue
        passes = True
        if by_rank or atom >= n_known[column]:
            at = child
            while passes and parents[at] >= 0:
                node = nodes[parents[at]]
                if node[KIND] == PRIVATE and node[COLUMN] == column:
                    passes = goes_left(node, atom, ranks, n_known[column]) == (node[LEFT] == at)
                at = parents[at]
        if passes:
            return True
    return False


@njit(cache=True, nogil=True)
def alive_nodes(roots, parents, nodes, ranks, domain):
    """The nodes whose path asks nothing contradictory of private columns, within the domain."""
    alive = np.zeros(len(nodes), dtype=np.bool_)
    stack = np.empty(len(nodes) + 1, dtype=np.int64)
    for root in roots:
        stack[0] = root
        top = 1
        while top:
            top -= 1
            at = stack[top]
            alive[at] = True
            node = nodes[at]
            if node[KIND] == LEAF:
                continue
            for child in (node[LEFT], node[RIGHT]):
                if node[KIND] != PRIVATE or some_value_left(child, node[COLUMN], parents, nodes, ranks, domain):
                    stack[top] = child
                    top += 1
    return alive


@njit(cache=True, nogil=True)
def one_leaf(root, nodes, ranks, n_known, cells, out):
    """The leaf of each cell, where every test is of a column that is known."""
    for cell in range(len(cells)):
        at = root
        while nodes[at, KIND] != LEAF:
            node = nodes[at]
            column = node[COLUMN]
            at = node[LEFT] if goes_left(node, cells[cell, column], ranks, n_known[column]) else node[RIGHT]
        out[cell] = at


@njit(cache=True, nogil=True)
def some_leaves(root, nodes, wide, alive, ranks, n_known, cells, ids, is_wide, reached):
    """Number the sets of leaves that cells can be in; and how many leaves all these sets have together.

    A set is known by the ways that the public tests send the cell, in the order in which the walk meets them: two
    walks are alike up to the first such test that sends them different ways, and below either way there are leaves.
    The ways are kept as bits and compared as they are; the hash only says where to look.
    """
    bits = np.zeros(16, dtype=np.uint64)
    stack = np.empty(64, dtype=np.int64)
    size = 1
    while size < 2 * len(cells):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    begins = np.zeros(len(cells) + 1, dtype=np.int64)
    pool = np.empty(max(len(cells), 16), dtype=np.uint64)
    n_sets, total = 0, 0
    for cell in range(len(cells)):
        stack[0] = root
        top, n_bits, n_leaves = 1, 0, 0
        widened = False
        while top:
            top -= 1
            at = stack[top]
            while nodes[at, KIND] != LEAF:
                node = nodes[at]
                if node[KIND] == PUBLIC:
                    if n_bits % 64 == 0:
                        if n_bits // 64 == len(bits):
                            bits = np.concatenate((bits, np.zeros(len(bits), dtype=np.uint64)))
                        bits[n_bits // 64] = 0
                    column = node[COLUMN]
                    if goes_left(node, cells[cell, column], ranks, n_known[column]):
                        bits[n_bits // 64] |= np.uint64(1) << np.uint64(n_bits % 64)
                        at = node[LEFT]
                    else:
                        at = node[RIGHT]
                    n_bits += 1
                elif not alive[node[RIGHT]]:
                    at = node[LEFT]
                elif not alive[node[LEFT]]:
                    at = node[RIGHT]
                else:
                    widened = widened or wide[at]
                    if top == len(stack):
                        stack = np.concatenate((stack, np.empty(len(stack), dtype=np.int64)))
                    stack[top] = node[RIGHT]
                    top += 1
                    at = node[LEFT]
            reached[at] = True
            n_leaves += 1
        n_words = (n_bits + 63) // 64
        key = np.uint64(n_bits)
        for word in range(n_words):
            key = (key ^ bits[word]) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
        place = np.int64(key & np.uint64(size - 1))
        while table[place] >= 0:
            other = table[place]
            same = begins[other + 1] - begins[other] == n_words
            word = 0
            while same and word < n_words:
                same = pool[begins[other] + word] == bits[word]
                word += 1
            if same:
                break
            place = (place + 1) & (size - 1)
        if table[place] < 0:
            table[place] = n_sets
            while begins[n_sets] + n_words > len(pool):
                pool = np.concatenate((pool, np.empty(len(pool), dtype=np.uint64)))
            pool[begins[n_sets] : begins[n_sets] + n_words] = bits[:n_words]
            begins[n_sets + 1] = begins[n_sets] + n_words
            n_sets += 1
            total += n_leaves
        ids[cell] = table[place]
        is_wide[cell] = widened
    return total
