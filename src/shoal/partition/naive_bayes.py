# SPDX-License-Identifier: Apache-2.0
"""Naive Bayes over codes, as Weka has it by default.

Categories are counted with one more of each (Laplace). Numbers that are not discretised have a normal distribution a
class: they are rounded to the average gap between neighbouring numbers, and a number's probability is that of the
interval it was rounded from. A missing value tells nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from shoal.partition.encoded import Encoded, Numbers

LEAST = 1e-75  # probability of a value, however far it lies from the others
GAP = 0.01  # between numbers where there is only one


def log_prior(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Log probability of each class, by its people and one more."""
    prior: NDArray[np.float64] = np.log((counts + 1) / (counts.sum() + len(counts)))
    return prior


def log_likelihood(counts: NDArray[np.int64], numbers: Numbers | None) -> NDArray[np.float64]:
    """For each value of a feature and each class the log probability of the value, from counts[value, class].

    A last line of zeros stands for a value that is missing or unknown.
    """
    if numbers is None:
        table = np.log((counts + 1) / (counts.sum(axis=0) + len(counts)))
    else:
        table = np.log(np.maximum(_normal(counts, numbers), LEAST))
    return np.vstack([table, np.zeros(counts.shape[1])])


def _normal(counts: NDArray[np.int64], numbers: Numbers) -> NDArray[np.float64]:
    there = numbers[counts.any(axis=1)]
    gap = float(there[-1] - there[0]) / (len(there) - 1) if len(there) > 1 else GAP
    rounded = np.rint(numbers / gap) * gap
    people = counts.sum(axis=0)
    total = rounded @ counts
    mean = total / np.maximum(people, 1)
    spread = np.sqrt(np.abs((rounded**2) @ counts - mean * total) / np.maximum(people, 1))
    spread = np.maximum(np.where(spread > 1e-10, spread, 0.0), gap / 6)
    away = rounded[:, None] - mean
    shares: NDArray[np.float64] = ndtr((away + gap / 2) / spread) - ndtr((away - gap / 2) / spread)
    return shares


def value_counts(data: Encoded, feature: int, rows: NDArray[Any]) -> NDArray[np.int64]:
    """How many of some rows have each known value and class."""
    n_known, codes = int(data.n_known[feature]), data.codes[feature][rows].astype(np.int64)
    known = codes < n_known
    cells = codes[known] * data.n_classes + data.target[rows][known]
    return np.bincount(cells, minlength=n_known * data.n_classes).reshape(n_known, data.n_classes)


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """What was learned of some features: the log prior, and the log likelihood of each feature's values."""

    prior: NDArray[np.float64]
    features: tuple[int, ...]
    tables: tuple[NDArray[np.float64], ...]

    def probabilities(self, codes: Sequence[Any]) -> NDArray[np.float64]:
        """The probability of each class for each row."""
        n_rows = len(codes[0]) if len(codes) else 0
        total = np.tile(self.prior, (n_rows, 1))
        for feature, table in zip(self.features, self.tables, strict=True):
            total += table[np.minimum(np.asarray(codes[feature], dtype=np.int64), len(table) - 1)]
        return normalised(total)


def fit_bayes(data: Encoded, features: Sequence[int], rows: NDArray[Any] | None = None) -> NaiveBayes:
    """Naive Bayes of some features, on all rows or some.

    >>> data = Encoded.of([[0, 0, 0, 1, 1, 1]], [2], [0, 0, 0, 1, 1, 1], 2)
    >>> fit_bayes(data, [0]).probabilities([[0, 1]]).round(1).tolist()
    [[0.8, 0.2], [0.2, 0.8]]
    """
    own = np.arange(data.n_rows) if rows is None else np.asarray(rows)
    prior = log_prior(np.bincount(data.target[own], minlength=data.n_classes))
    tables = tuple(log_likelihood(value_counts(data, feature, own), data.numbers[feature]) for feature in features)
    return NaiveBayes(prior, tuple(features), tables)


def normalised(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities (rows × classes) from logs that lack a constant in each row."""
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    answer: NDArray[np.float64] = shares / shares.sum(axis=1, keepdims=True)
    return answer
