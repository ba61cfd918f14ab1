# SPDX-License-Identifier: Apache-2.0
"""What a tree states of its leaves, held against the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.audit.result import Finding
from shoal.release import TreeRelease
from shoal.release.statement import PARTS

CLOSE = 1e-9  # products of counts and weights that differ by less are the same


def compare_statement(release: TreeRelease, bins: NDArray[np.int64]) -> list[Finding]:
    """Leaves and predictions that are not those of the rows; `bins` are the people of each node by class."""
    leaves = np.array(release.leaves)
    if release.statement == "counts":
        wrong = leaves[(release.counts[leaves] != bins[leaves]).any(axis=1)]
        return [Finding("counts-differ", "breach", *_told("counts", wrong, bins))] if len(wrong) else []
    findings = []
    counts = _answering(release, bins)
    if release.statement == "shares":
        wrong = leaves[_shares_off(release, leaves, counts)]
        if len(wrong):
            findings.append(Finding("shares-differ", "breach", *_told("shares", wrong, bins)))
    wrong = _wrong_answers(release, counts)
    if len(wrong):
        findings.append(Finding("predictions-differ", "breach", *_told("predicted classes", wrong, bins)))
    return findings


def _told(what: str, wrong: NDArray[np.int64], bins: NDArray[np.int64]) -> tuple[str, int, tuple[int, ...]]:
    """Message, people and nodes of a finding."""
    return (
        f"The released {what} of {len(wrong):,} node(s) are not those of these rows: other rows, or a changed file.",
        int(bins[wrong].sum()),
        tuple(wrong.tolist()),
    )


def _shares_off(release: TreeRelease, leaves: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Leaves with a share that is a thousandth or more from the truth, which rounding does not explain."""
    stated = np.array([release.nodes[leaf].shares for leaf in leaves])
    people = counts[leaves].sum(axis=1, keepdims=True)
    # in whole numbers, so that no share is nearly off
    off = np.abs(np.rint(stated * PARTS).astype(np.int64) * people - PARTS * counts[leaves]) >= people
    return np.asarray(off.any(axis=1))


def _answering(release: TreeRelease, bins: NDArray[np.int64]) -> NDArray[np.int64]:
    """The people each node answers for: all below it or, where there is nobody, those of the nearest node above."""
    counts = bins.copy()
    parents = release.parents
    for number in range(len(counts) - 1, 0, -1):
        counts[parents[number]] += counts[number]
    for number in range(1, len(counts)):
        if not counts[number].any():
            counts[number] = counts[parents[number]]
    return counts


def _wrong_answers(release: TreeRelease, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Nodes that predict a class which another one outweighs among the rows."""
    heavy = counts * np.ones(len(release.classes)) if release.weights is None else counts * np.array(release.weights)
    chosen = heavy[np.arange(len(heavy)), release.answers]
    return np.flatnonzero(chosen < heavy.max(axis=1) * (1 - CLOSE))
