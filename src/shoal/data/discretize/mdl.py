# SPDX-License-Identifier: Apache-2.0
"""Cut points on a numeric column that tell most about a class: Fayyad and Irani's recursive minimal entropy cuts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.data.discretize.rounding import Numbers, roundest_each

Counts = NDArray[np.int64]

_SAME = 1e-12  # entropies this near are one: sums of logarithms in another order differ by less


def mdl_cuts(values: ArrayLike, target: NDArray[Any], *, at_least: int = 1, rounded: bool = False) -> Numbers:
    """Where a class changes along a column of numbers, as far as the minimum description length says it does.

    The cut that leaves the least entropy of the class is made where it pays for its own description, then each
    side is cut the same way. Of several equally good cuts the lowest is taken.

    Parameters
    ----------
    values
        A number for every row; ``nan`` is missing, and such rows have no say.
    target
        The class of every row.
    at_least
        How many rows every interval must keep. Of the cuts that leave as many on both sides the best is then taken,
        and the same price is asked for it. With k here, no interval of the column has fewer than k rows.
    rounded
        Whether a cut is the roundest number between its two neighbouring values rather than their mean. The same rows
        are on each side. A release takes round cuts: a mean of two values tells of both.

    Returns
    -------
    numpy.ndarray
        The cuts, ascending; none where nothing is worth a cut, which Weka calls ``All``.

    Notes
    -----
    As Weka's supervised ``Discretize`` does by default (Witten and Frank): the price of a cut is of as many
    candidates as there are rows less one, and the cuts are means of neighbours. `at_least` is ours.

    References
    ----------
    U. Fayyad, K. Irani, "Multi-interval discretization of continuous-valued attributes for classification
    learning", IJCAI 1993, pp. 1022-1027.

    I. Witten, E. Frank, "Data Mining: Practical Machine Learning Tools and Techniques", 2nd ed., 2005,
    Sect. 7.2.

    Examples
    --------
    >>> import numpy as np
    >>> age = [17, 18, 19, 20, 21, 33, 35, 38, 41, 44]
    >>> mdl_cuts(age, np.array(list("nnnnnyyyyy")))
    array([27.])
    >>> mdl_cuts(age, np.array(list("nnnnnyyyyy")), rounded=True)
    array([30.])
    >>> mdl_cuts(age, np.array(list("nynynynyny")))
    array([], dtype=float64)
    """
    if at_least < 1:
        raise ValueError("mdl_cuts needs at least one row in an interval.")
    numbers = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(numbers)
    if not known.any():
        return np.empty(0, dtype=np.float64)
    points, point = np.unique(numbers[known], return_inverse=True)
    classes, code = np.unique(target[known], return_inverse=True)
    cells = np.bincount(point.reshape(-1) * len(classes) + code.reshape(-1), minlength=len(points) * len(classes))
    above = _gaps(cells.reshape(len(points), len(classes)), at_least)
    low, high = points[above - 1], points[above]
    if rounded:
        return roundest_each(low, high)
    with np.errstate(over="ignore"):
        middle = (low + high) / 2
    return np.where(middle < high, middle, low)  # where no number lies between, or their sum is too large for one


def _gaps(counts: Counts, at_least: int) -> Counts:
    """After how many points each cut comes, from counts of points × classes."""
    reached = np.concatenate([np.zeros((1, counts.shape[1]), dtype=np.int64), np.cumsum(counts, axis=0)])
    # x times its logarithm, for every number of rows there can be
    weight = np.arange(int(reached[-1].sum()) + 1, dtype=np.float64)
    weight[1:] *= np.log2(weight[1:])
    found: list[int] = []
    stretches = [(0, len(counts))]
    while stretches:
        start, end = stretches.pop()
        cut = _best(reached[start : end + 1] - reached[start], weight, at_least)
        if cut is not None:
            found.append(start + cut)
            stretches += [(start, start + cut), (start + cut, end)]
    return np.sort(np.array(found, dtype=np.int64))


def _best(reached: Counts, weight: Numbers, at_least: int) -> int | None:
    """After how many points a stretch is best cut, or None where that is not worth its price.

    `reached` are the counts of classes up to each point, first none and last all.
    """
    whole = reached[-1]
    below, above = reached[1:-1], whole - reached[1:-1]
    people = int(whole.sum())
    allowed = np.minimum(below.sum(axis=1), above.sum(axis=1)) >= at_least
    if not allowed.any():
        return None
    prior, left, right = (_disorder(counts, weight) for counts in (whole[np.newaxis], below, above))
    after = np.where(allowed, left + right, np.inf)
    cut = int(np.argmax(after <= after.min() + _SAME * people))
    gain = float(prior[0] - after[cut])
    spared = _labels(whole, prior[0]) - _labels(below[cut], left[cut]) - _labels(above[cut], right[cut])
    price = math.log2(people - 1) + math.log2(3 ** int(np.count_nonzero(whole)) - 2) - spared
    return cut + 1 if gain > max(price, 0.0) + _SAME * people else None


def _labels(counts: Counts, disorder: float) -> float:
    """How many classes occur, times their entropy: what it costs to say which class is which."""
    return float(np.count_nonzero(counts) * disorder / counts.sum())


def _disorder(counts: Counts, weight: Numbers) -> Numbers:
    """Rows times the entropy of their classes in bits, for every row of counts."""
    disorder: Numbers = weight[counts.sum(axis=1)] - weight[counts].sum(axis=1)
    return disorder
