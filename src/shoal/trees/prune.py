# SPDX-License-Identifier: Apache-2.0
"""Error-based pruning by subtree replacement (Quinlan 1993, Chapter 4).

Putting a leaf in a subtree's place merges bins, so it merges spans or leaves them as they are: no group shrinks, and a
requirement that is monotone still holds. C4.5's other kind, raising a branch into its parent's place, makes new spans
and can break the promise (PKDD'06 Sect. 3.3); it is not offered.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from shoal.trees.split import GrownNode

SLACK = 0.1  # a subtree must be expected to save at least this many errors, as in C4.5


def prune(grown: list[GrownNode], confidence: float) -> list[GrownNode]:
    """Replace every subtree by a leaf that is not expected to make more errors.

    Parameters
    ----------
    grown
        The tree; children stand behind their parents.
    confidence
        C4.5's confidence factor, above 0 and at most 0.5: the smaller, the more is pruned.
    """
    counts = np.stack([node.counts for node in grown])
    expected = expected_errors(counts.sum(axis=1), counts.sum(axis=1) - counts.max(axis=1), confidence).tolist()
    below = list(expected)
    for number in range(len(grown) - 1, -1, -1):
        node = grown[number]
        if node.split is None:
            continue
        subtree = sum(below[child] for child in node.children.values())
        if expected[number] <= subtree + SLACK:
            node.split = None
            node.children = {}
        else:
            below[number] = subtree
    return _compact(grown)


def _compact(grown: list[GrownNode]) -> list[GrownNode]:
    """Only the nodes that still hang on the root, in the old order."""
    kept = [0]
    for number in kept:
        kept.extend(grown[number].children.values())
    kept.sort()
    new = {old: position for position, old in enumerate(kept)}
    for old in kept:
        grown[old].children = {branch: new[child] for branch, child in grown[old].children.items()}
    return [grown[old] for old in kept]


def expected_errors(people: NDArray[np.int64], errors: NDArray[np.int64], confidence: float) -> NDArray[np.float64]:
    """The upper limit of the errors of a leaf, at a confidence: observed ones and what chance may have hidden.

    For no errors the exact binomial limit, between none and one a straight line, above the normal approximation with
    a continuity correction, as C4.5 computes it.

    >>> expected_errors(np.array([6, 9, 1]), np.array([0, 0, 0]), 0.25).round(2).tolist()
    [1.24, 1.29, 0.75]
    """
    n, e = people.astype(np.float64), errors.astype(np.float64)
    z = float(norm.isf(confidence))
    safe = np.maximum(n, 1.0)
    share = (e + 0.5) / safe
    spread = np.sqrt(np.maximum(share / safe - share**2 / safe + z**2 / (4 * safe**2), 0.0))
    limit = (share + z**2 / (2 * safe) + z * spread) / (1 + z**2 / safe) * safe
    limit = np.where(e + 0.5 >= n, np.maximum(n, e), limit)
    none = safe * (1 - np.exp(math.log(confidence) / safe))
    return np.where(n == 0, 0.0, np.where(e == 0, none, limit))
