# SPDX-License-Identifier: Apache-2.0
"""Many sets at once, as a matrix with a row a set: which of them are equal."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from shoal.audit.groups import Ids


def incidence(rows: Ids, columns: Ids, shape: tuple[int, int]) -> sparse.csr_array:
    """The matrix whose row r has a 1 in column c for each pair (r, c); no pair may be there twice."""
    return sparse.csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=shape)


def distinct_sets(sets: sparse.csr_array) -> tuple[Ids, Ids]:
    """A number for each row of a matrix, equal for equal rows and without gaps, and one row of each number.

    >>> kind, first = distinct_sets(incidence(np.array([0, 1, 1, 3]), np.array([2, 0, 2, 2]), (4, 3)))
    >>> kind.tolist(), first.tolist()
    ([1, 2, 0, 1], [2, 0, 1])
    """
    sets.sort_indices()
    length = np.diff(sets.indptr)
    kind = np.zeros(sets.shape[0], dtype=np.int64)
    first: list[Ids] = []
    n = 0
    for each in np.unique(length):
        rows = np.flatnonzero(length == each)
        entries = sets.indices[sets.indptr[rows][:, None] + np.arange(each)].reshape(len(rows), each)
        _, example, number = np.unique(entries, axis=0, return_index=True, return_inverse=True)
        kind[rows] = number.reshape(-1) + n
        first.append(rows[example])
        n += len(example)
    return kind, np.concatenate(first)
