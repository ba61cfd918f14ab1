# SPDX-License-Identifier: Apache-2.0
"""Pruning by subtree replacement: put a leaf where a subtree does not pay.

Putting a leaf in a subtree's place merges bins, so it merges spans or leaves them as they are: no group shrinks, and a
requirement that is monotone still holds. C4.5's other kind, raising a branch into its parent's place, makes new spans
and can break the promise (PKDD'06 Sect. 3.3); it is not offered.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from shoal.trees.split import GrownNode
from shoal.trees.weights import Weights

Pruning = Literal["cost"] | float | None
Weighed = NDArray[np.int64] | NDArray[np.float64]  # people, or what they weigh
SLACK = 0.1  # a subtree must be expected to save at least this many errors, as in C4.5


def prune(grown: list[GrownNode], pruning: Pruning, weights: Weights | None = None) -> list[GrownNode]:
    """Replace every subtree by a leaf that is not expected to do worse.

    Parameters
    ----------
    grown
        The tree; children stand behind their parents.
    pruning
        ``"cost"``: every leaf has a price, and a subtree stays if it saves enough errors, or enough bits about the
        class (so that a tree of probabilities stays a tree where all its leaves have the same majority): ½·log₂(people)
        errors or 2·log₂(people) bits for each leaf it adds. This is cost complexity [1]_ at one price. A number above
        0 and at most 0.5: C4.5's error-based pruning [2]_ with that confidence factor; the smaller, the more is
        pruned. None: nothing is pruned.
    weights
        How much a person of each class counts in errors and bits, where the average person counts as one.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen, C. Stone, "Classification and Regression Trees", 1984, Sect. 3.3.
    .. [2] J. R. Quinlan, "C4.5: Programs for Machine Learning", 1993, Chapter 4.
    """
    if pruning is None:
        return grown
    own = np.stack([node.counts for node in grown])
    counts: Weighed = own if weights is None else weights.weigh(own) * (own[0].sum() / weights.total)
    people, errors = counts.sum(axis=1), counts.sum(axis=1) - counts.max(axis=1)
    if pruning == "cost":
        price = math.log2(max(float(people[0]), 2))
        costs, slack = np.stack([errors + price / 2, bits(counts) + 2 * price], axis=1), 0.0
    else:
        costs, slack = expected_errors(people, errors, float(pruning))[:, None], SLACK
    below = costs.copy()
    for number in range(len(grown) - 1, -1, -1):
        node = grown[number]
        if node.split is None:
            continue
        subtree = below[list(node.children.values())].sum(axis=0)
        if (costs[number] <= subtree + slack).all():
            node.split = None
            node.children = {}
        else:
            below[number] = subtree
    return _compact(grown)


def bits(counts: Weighed) -> NDArray[np.float64]:
    """People times entropy of their classes, for each row of counts."""
    whole = counts.sum(axis=1, keepdims=True)
    shares = counts / np.where(whole > 0, whole, 1)
    total: NDArray[np.float64] = -(counts * np.log2(np.where(counts > 0, shares, 1.0))).sum(axis=1)
    return total


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


def expected_errors(people: Weighed, errors: Weighed, confidence: float) -> NDArray[np.float64]:
    """The upper limit of the errors of a leaf, at a confidence: observed ones and what chance may have hidden.

    For no errors the exact binomial limit, between none and one a straight line, above the normal approximation with
    a continuity correction, as C4.5 computes it.

    >>> expected_errors(np.array([6, 9, 1]), np.array([0, 0, 0]), 0.25).round(2).tolist()
    [1.24, 1.28, 0.75]
    """
    n, e = people.astype(np.float64), errors.astype(np.float64)
    z = float(norm.isf(confidence))
    safe = np.where(n > 0, n, 1.0)
    share = (e + 0.5) / safe
    spread = np.sqrt(np.maximum(share / safe - share**2 / safe + z**2 / (4 * safe**2), 0.0))
    limit = (share + z**2 / (2 * safe) + z * spread) / (1 + z**2 / safe) * safe
    limit = np.where(e + 0.5 >= n, np.maximum(n, e), limit)
    none = safe * (1 - np.exp(math.log(confidence) / safe))
    return np.where(n == 0, 0.0, np.where(e == 0, none, limit))
