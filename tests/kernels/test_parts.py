# SPDX-License-Identifier: Apache-2.0
"""Parts of segments of rows, against their slow twins."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal._kernels import parts, reference


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 6), st.integers(1, 9))
def test_parts(seed, n_rows, n_slots, n_codes):
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_rows).astype(np.int32)
    codes = rng.integers(0, n_codes, n_rows).astype(np.int32)
    slot_of = rng.integers(0, n_slots, n_codes).astype(np.int32)
    edges = np.unique(rng.integers(0, n_rows + 1, 6))
    starts, ends = edges[:-1], edges[1:]
    slow = reference.count_parts(order, starts, ends, codes, slot_of)
    n = int((ends - starts).sum())
    rows, part_of, nothing = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(0, dtype=np.int64)
    fast = parts.count_parts(order, starts, ends, codes, slot_of, n_slots, nothing, rows, part_of)
    assert list(zip(*(each.tolist() for each in fast), strict=True)) == slow
    assert rows.tolist() == [row for a, b in zip(starts, ends, strict=True) for row in order[a:b].tolist()]
    assert (fast[1][part_of] == slot_of[codes[rows]]).all()
    assert np.bincount(part_of, minlength=len(slow)).tolist() == fast[2].tolist()
    again = parts.count_parts(order, starts, ends, codes, slot_of, n_slots, nothing, nothing, nothing)
    assert all(np.array_equal(one, other) for one, other in zip(again, fast, strict=True))
    weights = rng.integers(1, 9, n_rows)
    weighted = parts.count_parts(order, starts, ends, codes, slot_of, n_slots, weights, nothing, nothing)
    assert all(np.array_equal(one, other) for one, other in zip(weighted[:2], fast[:2], strict=True))
    assert [int(weights[rows[part_of == part]].sum()) for part in range(len(slow))] == weighted[2].tolist()

    sorted_order = order.copy()
    slow = reference.part_rows(sorted_order, starts, ends, codes, slot_of)
    fast = parts.part_rows(order, starts, ends, codes, slot_of, n_slots)
    assert list(zip(*(each.tolist() for each in fast), strict=True)) == slow
    assert np.array_equal(order, sorted_order)
