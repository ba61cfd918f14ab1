# SPDX-License-Identifier: Apache-2.0
"""What generalisation has cost a table: CM, LM, DM and the average class size."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.privacy import least_people
from shoal.release import Attribute, TableRelease
from shoal.release.generalised import Generalised


@dataclass(frozen=True)
class TableMetrics:
    """The usual measures of a generalised table; the less, the more it has kept.

    Attributes
    ----------
    n_groups
        How many groups there are.
    cm
        Classification metric: people outside the majority class of their group. None without a target.
    lm
        Loss metric: the average share of its column that a public cell leaves open, from 0 (exact) to 1 (``*``).
    dm
        Discernibility metric: for each person the size of his group, added up.
    average_class_size
        The average size of a group over the size that the requirement asks for at least.
    """

    n_groups: int
    cm: int | None
    lm: float
    dm: int
    average_class_size: float

    def to_json(self) -> dict[str, Any]:
        """The measures as plain JSON."""
        return {
            "groups": self.n_groups,
            "cm": self.cm,
            "lm": self.lm,
            "dm": self.dm,
            "average_class_size": self.average_class_size,
        }


def measure_table(release: TableRelease) -> TableMetrics:
    """All measures of a released table, from what it publishes.

    >>> from shoal import load_sample
    >>> from shoal.anonymize import TreeAnonymizer
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> measured = measure_table(TreeAnonymizer(privacy=1500).fit(people, "diabetes").release_)
    >>> measured.n_groups, measured.average_class_size
    (2, 1.6666666666666667)
    """
    people = np.bincount(release.groups)
    cm = None
    if release.target is not None:
        target = release.rows[release.target]
        key = release.groups * target.n_codes + target.codes
        cm = classification_metric(np.bincount(key, minlength=len(people) * target.n_codes).reshape(len(people), -1))
    losses = [
        (cell_losses(release.attribute(name), release.generalised[name]), release.rows[name].counts())
        for name in release.public
    ]
    return TableMetrics(
        n_groups=len(people),
        cm=cm,
        lm=loss_metric(losses),
        dm=discernibility_metric(people),
        average_class_size=average_class_size(people, least_people(release.requirement)),
    )


def classification_metric(counts: ArrayLike) -> int:
    """CM: people outside the majority class of their group (groups × classes).

    References
    ----------
    V. S. Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002, 279-288,
    doi:10.1145/775047.775089.

    A. Friedman, R. Wolff, A. Schuster, "Providing k-anonymity in data mining", VLDB Journal 17 (2008),
    789-804, Sect. 6.2, doi:10.1007/s00778-006-0039-5. Not divided by the number of people there.

    Examples
    --------
    >>> classification_metric([[3, 0], [1, 2], [0, 3], [2, 1]])
    2
    """
    by_class = np.asarray(counts, dtype=np.int64)
    return int((by_class.sum(axis=1) - by_class.max(axis=1)).sum())


def discernibility_metric(sizes: ArrayLike) -> int:
    """DM: the sum of squared group sizes. No row is ever suppressed, so there is no penalty for that.

    References
    ----------
    R. J. Bayardo, R. Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005, 217-228,
    doi:10.1109/ICDE.2005.42.

    Examples
    --------
    >>> discernibility_metric([3, 3, 3, 3])
    36
    """
    return sum(size * size for size in np.asarray(sizes, dtype=np.int64).tolist())


def average_class_size(sizes: ArrayLike, k: int) -> float:
    """C_AVG: the average group size over k; 1 would be as fine as k allows.

    References
    ----------
    K. LeFevre, D. J. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006,
    doi:10.1109/ICDE.2006.101.

    Examples
    --------
    >>> average_class_size([3, 3, 4, 6], 2)
    2.0
    """
    people = np.asarray(sizes, dtype=np.int64)
    return float(people.sum() / len(people) / max(k, 1))


def loss_metric(columns: Iterable[tuple[ArrayLike, ArrayLike]]) -> float:
    """LM: the average loss of a cell, over columns of equal weight.

    Parameters
    ----------
    columns
        For each public column the loss of each of its generalised values, and how many rows have it.

    Notes
    -----
    Differs from the paper: the average over columns, not their sum, so that it lies between 0 and 1.

    References
    ----------
    V. S. Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002, 279-288,
    doi:10.1145/775047.775089.

    Examples
    --------
    >>> loss_metric([([0.0, 1.0], [6, 6]), ([1.0], [12])])
    0.75
    """
    each = []
    for losses, counts in columns:
        people = np.asarray(counts, dtype=np.int64)
        each.append(float(np.asarray(losses, dtype=np.float64) @ people / people.sum()))
    return math.fsum(each) / len(each) if each else 0.0


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
