# SPDX-License-Identifier: Apache-2.0
"""How alike two models are: the classes that they answer, and the paths of their trees."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from shoal.errors import DataError


def class_match(one: ArrayLike, other: ArrayLike) -> float:
    """The share of rows that two models classify alike.

    References
    ----------
    H. Tian, W. Zhang, S. Xu, P. Sharkey, "A knowledge model sharing based approach to privacy-preserving data mining",
    Transactions on Data Privacy 5 (2012), 433-467, Sect. 7.1.

    Examples
    --------
    >>> class_match(["a", "b", "a", "c"], ["a", "b", "c", "c"])
    0.75
    """
    first, second = np.asarray(one), np.asarray(other)
    if first.shape != second.shape or not first.size:
        raise DataError("ragged-table", "class_match needs two lists of answers of the same length, and not empty.")
    return float((first == second).mean())


def path_match(one: Iterable[Mapping[str, Hashable]], other: Iterable[Mapping[str, Hashable]]) -> float:
    """The share of paths that two trees have in common, of all that either has.

    Parameters
    ----------
    one, other
        The paths of each tree: for each column that a path asks for what it leaves open (`shoal.share.Path.box`). In
        which order it asks does not matter, nor what its leaf answers.

    References
    ----------
    H. Tian, W. Zhang, S. Xu, P. Sharkey, "A knowledge model sharing based approach to privacy-preserving data mining",
    Transactions on Data Privacy 5 (2012), 433-467, Sect. 7.1.

    Examples
    --------
    >>> small = [{"sex": "f"}, {"sex": "m"}]
    >>> path_match(small, [{"sex": "f"}, {"sex": "m", "age": "old"}, {"sex": "m", "age": "young"}])
    0.25
    """
    first, second = ({frozenset(path.items()) for path in paths} for paths in (one, other))
    if not first or not second:
        raise DataError("no-rows", "path_match needs trees with at least one path.")
    return len(first & second) / len(first | second)
