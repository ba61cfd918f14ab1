# SPDX-License-Identifier: Apache-2.0
"""Walks through trees over atoms: which leaves exist for somebody, and which a person can be in.

A test is a cut (atoms below it go left, and missing has its own way) or a row of a table with an entry an atom.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import njit

LEAF, PUBLIC, PRIVATE, MIXED = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def goes_left(node, atom, cut, row, missing_left, masks, n_known):
    """Whether a node sends an atom of its column left."""
    if row[node] >= 0:
        return masks[row[node] + atom]
    if atom >= n_known:
        return missing_left[node]
    return atom < cut[node]


@njit(cache=True, nogil=True)
def some_value_left(child, column, parents, left, tests, domain):
    """Whether some value of a column passes all tests of it on the way to a node."""
    columns, cut, row, missing_left, masks = tests
    start, n_known, n_atoms, possible = domain
    low, high, missing, by_row = 0, n_known[column], n_atoms[column] > n_known[column], False
    node = child
    while parents[node] >= 0:
        parent = parents[node]
        if columns[parent] == column:
            went_left = left[parent] == node
            if row[parent] >= 0:
                by_row = True
            else:
                if went_left:
                    high = min(high, cut[parent])
                else:
                    low = max(low, cut[parent])
                missing = missing and missing_left[parent] == went_left
        node = parent
    for atom in range(low, n_atoms[column]):
        if atom >= high and atom < n_known[column]:
            continue
        if not possible[start[column] + atom] or (atom >= n_known[column] and not missing):
            continue
        passes = True
        node = child
        while by_row and passes and parents[node] >= 0:
            parent = parents[node]
            if columns[parent] == column and row[parent] >= 0:
                passes = masks[row[parent] + atom] == (left[parent] == node)
            node = parent
        if passes:
            return True
    return False


@njit(cache=True, nogil=True)
def alive_nodes(roots, kinds, parents, left, right, tests, domain):
    """The nodes whose path asks nothing contradictory of private columns, within the domain."""
    columns = tests[0]
    alive = np.zeros(len(kinds), dtype=np.bool_)
    stack = np.empty(len(kinds) + 1, dtype=np.int64)
    for root in roots:
        stack[0] = root
        top = 1
        while top:
            top -= 1
            node = stack[top]
            alive[node] = True
            if kinds[node] == LEAF:
                continue
            for child in (left[node], right[node]):
                if kinds[node] != PRIVATE or some_value_left(child, columns[node], parents, left, tests, domain):
                    stack[top] = child
                    top += 1
    return alive


@njit(cache=True, nogil=True)
def one_leaf(root, kinds, left, right, tests, n_known, cells, out):
    """The leaf of each cell, where every test is of a column that is known."""
    columns, cut, row, missing_left, masks = tests
    for cell in range(len(cells)):
        node = root
        while kinds[node] != LEAF:
            column = columns[node]
            if goes_left(node, cells[cell, column], cut, row, missing_left, masks, n_known[column]):
                node = left[node]
            else:
                node = right[node]
        out[cell] = node


@njit(cache=True, nogil=True)
def some_leaves(root, kinds, wide, alive, left, right, tests, n_known, cells, ids, is_wide, reached):
    """Number the sets of leaves that cells can be in; and how many leaves all these sets have together.

    A set is known by the ways that the public tests send the cell, in the order in which the walk meets them: two
    walks are alike up to the first such test that sends them different ways, and below either way there are leaves.
    The ways are kept as bits and compared as they are; the hash only says where to look.
    """
    columns, cut, row, missing_left, masks = tests
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
            node = stack[top]
            while kinds[node] != LEAF:
                if kinds[node] == PUBLIC:
                    if n_bits % 64 == 0:
                        if n_bits // 64 == len(bits):
                            bits = np.concatenate((bits, np.zeros(len(bits), dtype=np.uint64)))
                        bits[n_bits // 64] = 0
                    column = columns[node]
                    if goes_left(node, cells[cell, column], cut, row, missing_left, masks, n_known[column]):
                        bits[n_bits // 64] |= np.uint64(1) << np.uint64(n_bits % 64)
                        node = left[node]
                    else:
                        node = right[node]
                    n_bits += 1
                elif not alive[right[node]]:
                    node = left[node]
                elif not alive[left[node]]:
                    node = right[node]
                else:
                    widened = widened or wide[node]
                    if top == len(stack):
                        stack = np.concatenate((stack, np.empty(len(stack), dtype=np.int64)))
                    stack[top] = right[node]
                    top += 1
                    node = left[node]
            reached[node] = True
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
