# SPDX-License-Identifier: Apache-2.0
"""Pruning by subtree replacement: put a leaf where a subtree does not pay.

Putting a leaf in a subtree's place merges bins, so it merges spans or leaves them as they are: no group shrinks, and a
requirement that is monotone still holds. C4.5's other kind, raising a branch into its parent's place, makes new spans
and can break the promise (PKDD'06 Sect. 3.3); it is not offered.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from shoal.trees.split import GrownNode
from shoal.trees.weights import Weights

Pruning = Literal["cost"] | float | None
CONFIDENCE = 0.05  # of the expected errors in pruning by cost: 0.1 does as well on small tables, worse on noisy ones
BITS_A_LEAF = 2.0  # times log2(people): the price of a leaf
EVIDENCE = 6.63  # least χ² of a split that is grown where leaves have a price: chance makes one in a hundred as high
Weighed = NDArray[np.int64] | NDArray[np.floating[Any]]  # people, or what they weigh
SLACK = 0.1  # a subtree must be expected to save at least this many errors, as in C4.5


def prune(
    grown: list[GrownNode],
    pruning: Pruning,
    weights: Weights | None = None,
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
        ``"cost"``: a subtree stays if it is expected to make fewer errors, as error-based pruning at 0.05 would have
        it, or if it saves 2·log₂(people) bits about the class for each leaf it adds (cost complexity [1]_ at one
        price), so that a tree of probabilities stays a tree where all its leaves have the same majority. A number above
        0 and at most 0.5: C4.5's error-based pruning [2]_ with that confidence factor; the smaller, the more is pruned.
        None: nothing is pruned.
    weights
        How much a person of each class counts in errors and bits, where the average person counts as one.
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
    costs = leaf_costs(grown, pruning, weights, n_people=n_people, confidence=confidence)
    slack = np.array([SLACK, 0.0])[: costs.shape[1]]
    inner = np.array([node.split is not None for node in grown])
    depth = np.array([node.depth for node in grown])
    parent = np.zeros(len(grown), dtype=np.int64)
    for number, node in enumerate(grown):
        for child in node.children.values():
            parent[child] = number
    below, subtree = costs.copy(), np.zeros_like(costs)
    for level in range(int(depth.max()), -1, -1):  # from the bottom, a level at once
        here = np.flatnonzero((depth == level) & inner)
        stays = (costs[here] > subtree[here] + slack).any(axis=1)
        below[here[stays]] = subtree[here[stays]]
        for number in here[~stays]:
            grown[number].split, grown[number].children = None, {}
        here = np.flatnonzero(depth == level)
        np.add.at(subtree, parent[here], below[here])
    return _compact(grown, roots)


def leaf_costs(
    grown: list[GrownNode],
    pruning: Literal["cost"] | float,
    weights: Weights | None = None,
    *,
    n_people: int | None = None,
    confidence: float = CONFIDENCE,
) -> NDArray[np.float64]:
    """What every node costs as a leaf: expected errors and, for pruning by cost, bits with the price of a leaf."""
    own = np.stack([node.counts for node in grown])
    n_people = int(own[0].sum()) if n_people is None else n_people
    counts = _weighed(own, n_people, weights)
    people, errors = counts.sum(axis=1), counts.sum(axis=1) - counts.max(axis=1)
    if pruning != "cost":
        return expected_errors(people, errors, float(pruning))[:, None]
    return np.stack([expected_errors(people, errors, confidence), bits(counts) + price_of_leaf(n_people)], axis=1)


def expected_of(grown: list[GrownNode], pruning: Literal["cost"] | float) -> float:
    """The errors that are expected of a tree."""
    costs = leaf_costs(grown, pruning)[:, 0]
    return math.fsum(costs[number] for number, node in enumerate(grown) if node.split is None)


def price_of_leaf(n_people: int) -> float:
    """The bits that a leaf costs."""
    return BITS_A_LEAF * math.log2(max(n_people, 2))


def hopeless(
    counts: NDArray[np.int64],
    n_people: int,
    weights: Weights | None = None,
    *,
    least_people: int = 1,
    confidence: float = CONFIDENCE,
) -> NDArray[np.bool_]:
    """Nodes that pruning by cost makes leaves whatever grows below them: even two leaves without errors, of at least
    `least_people`, would not be expected to do better.

    >>> hopeless(np.array([[900, 100], [990, 3], [999, 1]]), 30_000, least_people=100).tolist()
    [False, False, True]
    """
    weighed = _weighed(counts, n_people, weights)
    people, errors = weighed.sum(axis=1), weighed.sum(axis=1) - weighed.max(axis=1)
    lightest = 1.0 if weights is None else min(weights.units) * n_people / weights.total
    without = expected_errors(np.array([least_people * lightest]), np.array([0.0]), confidence)[0]
    closed: NDArray[np.bool_] = (expected_errors(people, errors, confidence) <= 2 * without + SLACK) & (
        bits(weighed) <= price_of_leaf(n_people)
    )
    return closed


def _weighed(counts: NDArray[np.int64], n_people: int, weights: Weights | None) -> Weighed:
    """Counts by class by what people weigh, where the average person of the table counts as one."""
    return counts if weights is None else weights.weigh(counts) * (n_people / weights.total)


def bits(counts: Weighed) -> NDArray[np.float64]:
    """People times entropy of their classes, for each row of counts."""
    whole = counts.sum(axis=1, keepdims=True)
    shares = counts / np.where(whole > 0, whole, 1)
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
