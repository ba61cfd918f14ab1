# SPDX-License-Identifier: Apache-2.0
"""The kernels that cut regions and find nearest tuples, beside slow and obvious twins."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal._kernels import nearest, regions

SEEDS = st.integers(0, 2**32 - 1)


def drawn(seed, n_places=9):
    """Places of some rows in segments that have people, with gaps between them."""
    rng = np.random.default_rng(seed)
    edges = np.unique(rng.integers(0, 80, 8))
    return rng, rng.integers(0, n_places, 80).astype(np.int32), edges[:-1][::2].copy(), edges[1:][::2].copy()


@given(SEEDS)
def test_ranges(seed):
    _, places, starts, ends = drawn(seed)
    low, high, known = (np.empty(len(starts), dtype=np.int32) for _ in range(3))
    regions.ranges(places, starts, ends, 7, low, high, known)
    for s, own in enumerate(places[a:b] for a, b in zip(starts, ends, strict=True)):
        assert (low[s], high[s], known[s]) == (own.min(), own.max(), own[own < 7].max(initial=-1))


@given(SEEDS, st.sampled_from([3, 9, 2000]))
def test_cells(seed, n_places):
    rng, places, starts, ends = drawn(seed, n_places)
    values, weights = rng.integers(0, 3, len(places)).astype(np.int32), rng.integers(1, 9, len(places))
    most = int(np.minimum(ends - starts, n_places).sum())
    found, counts, stops = np.empty(most, np.int32), np.zeros((most, 3), np.int64), np.zeros(len(starts), np.int64)
    regions.count_cells(places, values, np.empty(0, dtype=np.int64), starts, ends, n_places, found, counts, stops)
    at = 0
    for a, b, stop in zip(starts, ends, stops, strict=True):
        own = [
            (place, [int(((places[a:b] == place) & (values[a:b] == v)).sum()) for v in range(3)])
            for place in np.unique(places[a:b])
        ]
        assert list(zip(found[at:stop].tolist(), counts[at:stop].tolist(), strict=True)) == own
        at = stop
    weighted, of = np.zeros_like(counts), np.zeros_like(counts)
    regions.count_cells(places, values, weights, starts, ends, n_places, found, weighted, stops)
    begin = np.append(0, stops[:-1])
    for a, b, first, stop in zip(starts, ends, begin, stops, strict=True):
        np.add.at(of, (first + np.searchsorted(found[first:stop], places[a:b]), values[a:b]), weights[a:b])
    assert np.array_equal(weighted, of)


@given(SEEDS)
def test_gains_of_cuts(seed):
    rng = np.random.default_rng(seed)
    counts, first = rng.integers(0, 4, (9, 3)), np.array([0, 1, 5, 9])
    terms = np.array([0.0, *(x * np.log2(x) for x in range(1, 100))])
    below, gain = np.empty(9, dtype=np.int64), np.empty(9)
    regions.cut_gains(counts, first, terms, below, gain)

    def bits(own):
        share = own[own > 0] / max(own.sum(), 1)
        return -own.sum() * (share * np.log2(share)).sum()

    for a, b in itertools.pairwise(first):
        for cell in range(a, b):
            lower, upper = counts[a : cell + 1].sum(axis=0), counts[cell + 1 : b].sum(axis=0)
            assert below[cell] == lower.sum()
            assert gain[cell] == pytest.approx(bits(lower + upper) - bits(lower) - bits(upper), abs=1e-9)


@given(SEEDS)
def test_branches_and_sorting_by_them(seed):
    rng, places, starts, ends = drawn(seed)
    bounds = [np.append(0, np.sort(rng.choice(np.arange(1, 9), rng.integers(1, 5), replace=False))) for _ in starts]
    first = np.append(0, np.cumsum([len(each) for each in bounds]))
    branch = np.empty(int((ends - starts).sum()), dtype=np.int64)
    regions.branches(places, starts, ends, np.concatenate(bounds).astype(np.int32), first, branch)
    wanted = [
        first[s] + (own[None, :] <= places[a:b, None]).sum(axis=1) - 1
        for s, (own, a, b) in enumerate(zip(bounds, starts, ends, strict=True))
    ]
    assert branch.tolist() == np.concatenate(wanted).tolist()
    column = rng.integers(0, 10**6, len(places))
    fast = column.copy()
    regions.sort_by_part(fast, branch, starts, ends, first, np.bincount(branch, minlength=first[-1]))
    for own, a, b in zip(wanted, starts, ends, strict=True):
        column[a:b] = column[a:b][np.argsort(own, kind="stable")]
    assert fast.tolist() == column.tolist()


@given(SEEDS)
def test_halves(seed):
    rng, places, starts, ends = drawn(seed)
    pivot = rng.integers(0, 9, len(starts)).astype(np.int32)
    ties = rng.integers(0, 6, len(starts))
    branch = np.empty(int((ends - starts).sum()), dtype=np.int64)
    regions.halves(places, starts, ends, pivot, ties, branch)
    wanted = []
    for s, (a, b) in enumerate(zip(starts, ends, strict=True)):
        seen = 0
        for place in places[a:b]:
            seen += place == pivot[s]
            wanted.append(2 * s + (place > pivot[s] or (place == pivot[s] and seen > ties[s])))
    assert branch.tolist() == wanted


@given(SEEDS)
def test_nearest(seed):
    rng = np.random.default_rng(seed)
    rows, tuples = rng.integers(0, 4, (6, 3)), rng.integers(0, 3, (5, 3))
    far = rng.integers(0, 4, (3, 3, 4)) / 4  # columns × cells × codes
    out = np.empty(6, dtype=np.int64)
    nearest.nearest(rows, tuples, far.reshape(-1), np.array([0, 12, 24]), np.array([4, 4, 4]), out)
    sums = [[sum(far[c, t[c], r[c]] for c in range(3)) for t in tuples] for r in rows]
    assert out.tolist() == np.argmin(sums, axis=1).tolist()
