# SPDX-License-Identifier: Apache-2.0
"""What generalisation has cost a table: CM, LM, DM, the average class size and more."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shoal.data.table import count_codes
from shoal.evaluate.information import non_uniform_entropy, precision
from shoal.evaluate.losses import cell_losses
from shoal.privacy import least_people
from shoal.release import TableRelease


@dataclass(frozen=True)
class TableMetrics:
    """The usual measures of a generalised table; the less, the more it has kept, but for its precision.

    Attributes
    ----------
    n_groups
        How many groups there are.
    cm
        Classification metric: people outside the majority class of their group, and all who are left out. None without
        a target.
    lm
        Loss metric: the average share of its column that a public cell leaves open, from 0 (exact) to 1 (``*``). The
        cells of rows that are left out count 1.
    dm
        Discernibility metric: for each person the size of his group, or of the whole table where he is left out, added
        up.
    average_class_size
        The average size of a group over the size that the requirement asks for at least. Rows that are left out are in
        none.
    precision
        One minus the average height of a cell in its hierarchy, from 0 (``*``) to 1 (exact).
    entropy
        Non-uniform entropy: the share of what the original columns told that is lost. None without the original rows.
    left_out
        How many rows are not published.
    """

    n_groups: int
    cm: int | None
    lm: float
    dm: int
    average_class_size: float
    precision: float
    entropy: float | None
    left_out: int

    def to_json(self) -> dict[str, Any]:
        """The measures as plain JSON."""
        return {
            "groups": self.n_groups,
            "cm": self.cm,
            "lm": self.lm,
            "dm": self.dm,
            "average_class_size": self.average_class_size,
            "precision": self.precision,
            "entropy": self.entropy,
            "left_out": self.left_out,
        }


def measure_table(
    release: TableRelease,
    original: Any = None,
    *,
    hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None = None,
) -> TableMetrics:
    """All measures of a released table.

    Parameters
    ----------
    release
        The released table.
    original
        The rows it was made from, for the non-uniform entropy; all else is measured from what is published.
    hierarchies
        Those it was made with, for the precision; without one a cell is as high as the share that it leaves open.

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.anonymize import TreeAnonymizer
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> measured = measure_table(TreeAnonymizer(privacy=1500).fit(people, "diabetes").release_)
    >>> measured.n_groups, measured.average_class_size
    (2, 1.6666666666666667)
    """
    stored = release.stored
    people = count_codes(release.stored_groups, release.n_groups, stored.weights)
    cm = None
    if release.target is not None:
        target = stored[release.target]
        key = release.stored_groups * target.n_codes + target.codes
        counts = count_codes(key, len(people) * target.n_codes, stored.weights).reshape(len(people), -1)
        cm = classification_metric(counts, release.left_out)
    losses = [
        (cell_losses(release.attribute(name), release.generalised[name]), stored[name].counts())
        for name in release.public
    ]
    return TableMetrics(
        n_groups=len(people),
        cm=cm,
        lm=loss_metric(losses, release.left_out),
        dm=discernibility_metric(people, release.left_out),
        average_class_size=average_class_size(people, least_people(release.requirement)),
        precision=precision(release, hierarchies),
        entropy=None if original is None else non_uniform_entropy(release, original),
        left_out=release.left_out,
    )


def classification_metric(counts: ArrayLike, left_out: int = 0) -> int:
    """CM: people outside the majority class of their group (groups × classes), and all who are left out.

    References
    ----------
    V. S. Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002, 279-288,
    doi:10.1145/775047.775089.

    A. Friedman, R. Wolff, A. Schuster, "Providing k-anonymity in data mining", VLDB Journal 17 (2008),
    789-804, Sect. 6.2, doi:10.1007/s00778-006-0039-5. Not divided by the number of people there.

    R. J. Bayardo, R. Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005, 217-228,
    doi:10.1109/ICDE.2005.42, has the rows that are left out.

    Examples
    --------
    >>> classification_metric([[3, 0], [1, 2], [0, 3], [2, 1]])
    2
    >>> classification_metric([[3, 0], [1, 2]], left_out=4)
    5
    """
    by_class = np.asarray(counts, dtype=np.int64)
    return int((by_class.sum(axis=1) - by_class.max(axis=1)).sum()) + left_out


def discernibility_metric(sizes: ArrayLike, left_out: int = 0) -> int:
    """DM: the sum of squared group sizes; a row that is left out costs as much as the original table has rows.

    References
    ----------
    R. J. Bayardo, R. Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005, 217-228,
    doi:10.1109/ICDE.2005.42.

    Examples
    --------
    >>> discernibility_metric([3, 3, 3, 3])
    36
    >>> discernibility_metric([3, 3], left_out=4)
    58
    """
    people: list[int] = np.asarray(sizes, dtype=np.int64).tolist()
    return sum(size * size for size in people) + left_out * (sum(people) + left_out)


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


def loss_metric(columns: Iterable[tuple[ArrayLike, ArrayLike]], left_out: int = 0) -> float:
    """LM: the average loss of a cell, over columns of equal weight.

    Parameters
    ----------
    columns
        For each public column the loss of each of its generalised values, and how many rows have it.
    left_out
        How many rows are left out: each of their cells loses everything.

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
    >>> loss_metric([([0.0], [6])], left_out=2)
    0.25
    """
    each = []
    for losses, counts in columns:
        people = np.asarray(counts, dtype=np.int64)
        each.append(float((np.asarray(losses, dtype=np.float64) @ people + left_out) / (people.sum() + left_out)))
    return math.fsum(each) / len(each) if each else 0.0
