# SPDX-License-Identifier: Apache-2.0
"""Requirements asked of hits and misses alone: how many people of a group have its most frequent value, how many not.

A decision tree of a usual learner says no more of its leaves. Which values the others have is then assumed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import RequirementError
from shoal.privacy._parameters import fraction
from shoal.privacy.base import Requirement
from shoal.privacy.confidence import Confidence
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.parts import parts_of
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.simple_diversity import SimpleDiversity

Answers = NDArray[np.bool_]


def holds_by_hits(requirement: Requirement, hit: ArrayLike, miss: ArrayLike) -> Answers:
    """Whether groups keep a requirement, from hits and misses alone (Def. 9, 11 and 13).

    Parameters
    ----------
    requirement
        `KAnonymity`, `SimpleDiversity`, `Confidence`, `RecursiveDiversity` with a whole l, or several of these.
    hit, miss
        How many people of each group have its most frequent value, and how many another; whole numbers. Or relative
        frequencies, numbers that add up to 1 in each group; then sizes are not known, so k cannot be asked, and Eq. 1
        is taken for ever larger groups.

    Returns
    -------
    bool array, one answer a group. An empty group holds.

    Notes
    -----
    For (c, l)-diversity the misses are taken to be as skewed as l different values allow (Eq. 1). **That is no bound in
    either direction**: (2, 2) passes (3, 3) though the true counts may be 2 and 2, which fail; and (5, 4) fails though
    they may be 5, 2 and 2, which hold. What leaves the house is judged on exact counts.

    References
    ----------
    H. Tian, W. Zhang, S. Xu, P. Sharkey, "A knowledge model sharing based approach to privacy-preserving data mining",
    Transactions on Data Privacy 5 (2012), 433-467.

    Examples
    --------
    >>> holds_by_hits(RecursiveDiversity(3, 3), [2, 5, 2, 3], [2, 4, 5, 0])
    array([ True, False,  True, False])
    >>> holds_by_hits(SimpleDiversity(2), [0.5, 0.6], [0.5, 0.4])
    array([ True, False])
    """
    hits, misses = np.asarray(hit), np.asarray(miss)
    relative = hits.dtype.kind == "f" or misses.dtype.kind == "f"
    if hits.shape != misses.shape or (hits < 0).any() or (misses < 0).any():
        raise RequirementError("counts", "Hits and misses must be as many, and none below 0.")
    if not relative:
        hits, misses = hits.astype(np.int64), misses.astype(np.int64)
    kept = np.ones(hits.shape, dtype=bool)
    for part in parts_of(requirement):
        kept &= _part(part, hits, misses, relative)
    nobody: Answers = hits + misses == 0
    return kept | nobody


def _part(part: Requirement, hit: NDArray[Any], miss: NDArray[Any], relative: bool) -> Answers:
    if isinstance(part, KAnonymity) and not relative:
        return np.asarray(hit + miss >= part.k)
    if isinstance(part, Confidence | SimpleDiversity):
        share = 1 / fraction(part.l) if isinstance(part, SimpleDiversity) else fraction(part.c)
        p, q = share.as_integer_ratio()
        few = hit * q <= (hit + miss) * p
        # Def. 13 asks for l - 1 others as well
        least = math.ceil(part.l) - 1 if isinstance(part, SimpleDiversity) else 0
        return np.asarray(few if relative else few & (miss >= least))
    if isinstance(part, RecursiveDiversity):
        p, q = fraction(part.c).as_integer_ratio()
        tail = tail_by_hits(hit, miss, part.l, relative=relative)
        others = miss > 0 if relative else miss >= part.l - 1
        return np.asarray(others & (hit * q < tail * p))
    raise RequirementError(
        "requirement",
        f"Hits and misses cannot tell whether {part.describe()}. They can for k-anonymity (of counts), simple and "
        "recursive l-diversity and confidence.",
    )


def tail_by_hits(hit: ArrayLike, miss: ArrayLike, l: int, *, relative: bool = False) -> NDArray[Any]:  # noqa: E741
    """p.tail of Eq. 1: the people from the l-th most frequent value on, where misses are as skewed as may be.

    The l - 1 other values have one person each; then as many of them as possible are filled up to the size of the
    first. Of relative frequencies one person is nothing.

    >>> tail_by_hits([2, 2, 5, 1], [5, 2, 4, 3], 3).tolist()
    [3, 1, 1, 2]
    """
    hits, misses = np.asarray(hit), np.asarray(miss)
    if relative:
        return np.asarray(np.maximum(misses - (l - 2) * hits, 0.0))
    # q > l - 2 in whole numbers; with one hit every value has one person
    filled = misses - (l - 1) > (l - 2) * (hits - 1)
    tail = np.where((hits > 1) & filled, misses - (l - 2) * hits, 1)
    return np.where(hits == 1, misses - (l - 2), tail)
