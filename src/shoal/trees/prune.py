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

Pruning = Literal["cost"] | float | None
CONFIDENCE = 0.1  # of the expected errors in pruning by cost; 0.05 to 0.15 did as well in our measurements
BITS_A_LEAF = 2.0  # times log2(people): the price of a leaf
SLACK = 0.1  # a subtree must be expected to save at least this many errors, as in C4.5


def prune(
    grown: list[GrownNode],
    pruning: Pruning,
    *,
    roots: int = 1,
    n_people: int | None = None,
    confidence: float = CONFIDENCE,
) -> list[GrownNode]:
    """Replace every subtree by a leaf that is not expected to do worse.

    Parameters
    ----------
    grown
        The tree; children stand behind their parents.
    pruning
        ``"cost"``: a subtree stays if it is expected to make fewer errors, as error-based pruning at 0.1 would have
        it, or if it saves 2·log₂(people) bits about the class for each leaf it adds (cost complexity
        [1]_ at one price), so that a tree of probabilities stays a tree where all its leaves have the same majority. A
        number above 0 and at most 0.5: C4.5's error-based pruning [2]_ with that confidence factor; the smaller, the
        more is pruned. None: nothing is pruned.
    roots
        How many of the first nodes are roots of trees; usually there is one.
    n_people
        People of the whole table, if they are not those of the one root.
    confidence
        Of the expected errors in pruning by cost.

    References
    ----------
    .. [1] L. Breiman, J. Friedman, R. Olshen, C. Stone, "Classification and Regression Trees", 1984, Sect. 3.3.
    .. [2] J. R. Quinlan, "C4.5: Programs for Machine Learning", 1993, Chapter 4.
    """
    if pruning is None:
        return grown
    costs = leaf_costs(grown, pruning, n_people=n_people, confidence=confidence)
    slack = np.array([SLACK, 0.0])[: costs.shape[1]]
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
    return _compact(grown, roots)


def leaf_costs(
    grown: list[GrownNode],
    pruning: Literal["cost"] | float,
    *,
    n_people: int | None = None,
    confidence: float = CONFIDENCE,
) -> NDArray[np.float64]:
    """What every node costs as a leaf: expected errors and, for pruning by cost, bits with the price of a leaf."""
    counts = np.stack([node.counts for node in grown])
    people, errors = counts.sum(axis=1), counts.sum(axis=1) - counts.max(axis=1)
    if pruning != "cost":
        return expected_errors(people, errors, float(pruning))[:, None]
    price = BITS_A_LEAF * math.log2(max(int(people[0]) if n_people is None else n_people, 2))
    return np.stack([expected_errors(people, errors, confidence), bits(counts) + price], axis=1)


def bits(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """People times entropy of their classes, for each row of counts."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    total: NDArray[np.float64] = -(counts * np.log2(np.where(counts > 0, shares, 1.0))).sum(axis=1)
    return total


def _compact(grown: list[GrownNode], roots: int) -> list[GrownNode]:
    """Only the nodes that still hang on a root, in the old order."""
    kept = list(range(roots))
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
    [1.24, 1.28, 0.75]
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
