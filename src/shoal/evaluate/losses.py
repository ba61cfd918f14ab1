# SPDX-License-Identifier: Apache-2.0
"""How much of its column a generalised cell leaves open."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from shoal.release import Attribute
from shoal.release.generalised import Generalised


def cell_losses(attribute: Attribute, found: Iterable[Generalised]) -> NDArray[np.float64]:
    """The share of a column's domain that each generalised value leaves open besides one value.

    Of a categorical column (values covered - 1) / (values - 1), missing being one of them; of whole numbers the same;
    of other numbers the width covered over the width of the bounds. ``*`` always loses everything.

    >>> from shoal.release import Interval
    >>> age = Attribute("age", "public", "numeric", bounds=(0, 100))
    >>> cell_losses(age, [Generalised("*"), Generalised("<=25", intervals=(Interval(None, 25),))]).tolist()
    [1.0, 0.25]
    """
    return np.array([1.0 if value.is_all else _loss(attribute, value) for value in found])


def _loss(attribute: Attribute, value: Generalised) -> float:
    if attribute.type == "categorical":
        n, of = len(value.values) + value.missing, len(attribute.values) + attribute.missing
        return (n - 1) / (of - 1)
    assert attribute.bounds is not None
    low, high = attribute.bounds
    if attribute.integer:
        low, high = math.ceil(low), math.floor(high)
        n = sum(max(last - first + 1, 0) for first, last in _whole(value, low, high)) + value.missing
        return (n - 1) / (high - low + attribute.missing) if high - low + attribute.missing else 0.0
    width = 0.0
    for interval in value.intervals:
        first = low if interval.above is None else max(low, interval.above)
        last = high if interval.at_most is None else min(high, interval.at_most)
        width += max(last - first, 0.0)
    return width / (high - low) if high > low else 0.0


def _whole(value: Generalised, low: int, high: int) -> Iterable[tuple[int, int]]:
    """The first and last whole number of each interval, within the bounds."""
    for interval in value.intervals:
        first = low if interval.above is None else max(low, math.floor(interval.above) + 1)
        last = high if interval.at_most is None else min(high, math.floor(interval.at_most))
        yield first, last
