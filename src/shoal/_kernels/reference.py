# SPDX-License-Identifier: Apache-2.0
"""The slow, obvious twins of the kernels, for the tests."""

from __future__ import annotations

import numpy as np


def histogram(codes, by, order, starts, ends, out):
    for s, (start, end) in enumerate(zip(starts, ends, strict=True)):
        rows = order[start:end]
        np.add.at(out, (s, codes[rows], by[rows]), 1)


def split_segments(codes, branch_of, order, starts, ends, sizes):
    for s, (start, end) in enumerate(zip(starts, ends, strict=True)):
        rows = order[start:end].copy()
        branch = branch_of[s, codes[rows]]
        order[start:end] = rows[np.argsort(branch, kind="stable")]
        sizes[s] += np.bincount(branch, minlength=sizes.shape[1])


def regroup(counts, group_of, out):
    for code, group in enumerate(group_of):
        out[:, group] += counts[:, code]


def impurity(counts, gini, scale):
    people = int(counts.sum())
    if people == 0:
        return 0
    if gini:
        return int(np.rint((people - float((counts.astype(np.float64) ** 2).sum()) / people) * scale))
    return _term(people, scale) - sum(_term(int(x), scale) for x in counts)


def _term(x, scale):
    return int(np.rint(x * np.log2(x) * scale)) if x > 1 else 0


def gains(counts, gini, scale):
    return np.array(
        [
            impurity(node.sum(axis=0), gini, scale) - sum(impurity(group, gini, scale) for group in node)
            for node in counts
        ],
        dtype=np.int64,
    )


def threshold_gains(counts, n_known, n_sides, gini, scale):
    out = np.zeros((len(counts), n_known - 1, n_sides), dtype=np.int64)
    for s, node in enumerate(counts):
        for cut in range(n_known - 1):
            for side in range(n_sides):
                low = node[: cut + 1].sum(axis=0) + (node[n_known] if side else 0)
                both = np.stack([low, node.sum(axis=0) - low])
                out[s, cut, side] = gains(both[None], gini, scale)[0]
    return out
