# SPDX-License-Identifier: Apache-2.0
"""Naive Bayes for columns of numbers and of categories side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from shoal.data.frames import to_table
from shoal.data.table import Column, Table
from shoal.data.target import with_target
from shoal.errors import DataError
from shoal.release import Attribute
from shoal.trees.estimator import RowsEstimator, checked_target, target_name

Numbers = NDArray[np.float64]
FARTHEST = 1e100  # standard deviations; its square is still a number


class MixedNaiveBayes(ClassifierMixin, RowsEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Naive Bayes: a normal distribution for each column of numbers, shares for each column of categories.

    Parameters
    ----------
    smoothing
        People added to every category of every class, so that none is impossible; 1 is Laplace's.
    precision
        The least standard deviation of a column of numbers, as a share of its spread over all rows.

    Notes
    -----
    A missing value is passed over: it says nothing. So does a category that was not there in fit.

    References
    ----------
    P. Domingos, M. Pazzani, "On the optimality of the simple Bayesian classifier under zero-one loss", Machine Learning
    29 (1997), 103-130, doi:10.1023/A:1007413511361.

    Examples
    --------
    >>> from shoal import load_sample
    >>> people = load_sample().table
    >>> bayes = MixedNaiveBayes().fit(people, "diabetes")
    >>> bayes.predict(people).shape, bayes.classes_.tolist()
    ((5000,), ['no', 'yes'])
    """

    def __init__(self, *, smoothing: float = 1.0, precision: float = 1e-3) -> None:
        self.smoothing = smoothing
        self.precision = precision

    def fit(self, X: Any, y: Any = None) -> MixedNaiveBayes:
        """Learn from rows and their classes; `y` may be the name of a column of `X`."""
        X = self._checked(X, reset=True)
        y = checked_target(y)
        table = to_table(X)
        name, features = target_name(type(self).__name__, table, y)
        rows = with_target(table, y, name)
        target = rows[name].compact()
        if target.missing:
            raise DataError("target-missing", f"The target {name!r} is missing in some rows. Remove them first.")
        self._remember(X, features)
        people = target.counts().astype(np.float64)
        self.classes_ = own_classes(target)
        self._prior = np.log(people / people.sum())
        parts = {each: self._learn(rows[each], target) for each in features}
        self._parts = {each: part for each, part in parts.items() if part is not None}
        return self

    def _learn(self, column: Column, target: Column) -> tuple[Any, ...] | None:
        """What a column says of the classes; None where it has one number, or none, and so says nothing."""
        n = target.n_codes
        if column.kind == "categorical":
            size = len(column.values)
            key = target.codes.astype(np.int64) * (size + 1) + column.codes
            counts = np.bincount(key, minlength=n * (size + 1)).reshape(n, size + 1)[:, :size] + self.smoothing
            return "categorical", column.names, np.log(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300))
        numbers = np.append(column.numbers, np.nan)[column.codes]
        known = ~np.isnan(numbers)
        own, codes = numbers[known], target.codes[known]
        if not len(own) or own.min() == own.max():
            return None
        # in units of a power of two, which changes no digit, so that no square is too large
        unit = float(np.ldexp(1.0, max(int(np.frexp(np.abs(own).max())[1]), -1000)))
        own = own / unit
        people = np.bincount(codes, minlength=n)
        held = np.maximum(people, 1)
        mean = np.bincount(codes, own, minlength=n) / held
        spread = np.sqrt(np.bincount(codes, (own - mean[codes]) ** 2, minlength=n) / held)
        # a class of which no number is known is taken to be like everybody
        mean, spread = np.where(people > 0, mean, own.mean()), np.where(people > 0, spread, own.std())
        least = max(self.precision * float(own.std()), 1e-12)
        return "numeric", mean, np.maximum(spread, least), unit

    def predict(self, X: Any) -> NDArray[Any]:
        """The most likely class of each row."""
        best = self._scores(X).argmax(axis=1)
        answer: NDArray[Any] = self.classes_[best]
        return answer

    def predict_proba(self, X: Any) -> Numbers:
        """How likely each class is, in the order of `classes_`."""
        scores = self._scores(X)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        normed: Numbers = shares / shares.sum(axis=1, keepdims=True)
        return normed

    def _scores(self, X: Any) -> Numbers:
        check_is_fitted(self)
        table = self._as_fitted(to_table(self._checked(X, reset=False)))
        scores = np.tile(self._prior, (table.n_rows, 1))
        for name, part in self._parts.items():
            column = table[name]
            if part[0] == "categorical":
                _, known, logs = part
                place = {value: code for code, value in enumerate(known)}
                of_code = np.array([*(place.get(value, len(known)) for value in column.names), len(known)])
                scores += np.append(logs, np.zeros((len(logs), 1)), axis=1)[:, of_code[column.codes]].T
            else:
                _, mean, spread, unit = part
                numbers = np.append(column.numbers, np.nan)[column.codes]
                away = np.clip((numbers[:, None] / unit - mean) / spread, -FARTHEST, FARTHEST)
                scores += np.nan_to_num(-0.5 * away**2 - np.log(spread))
        return scores

    def _as_fitted(self, table: Table) -> Table:
        if not hasattr(self, "feature_names_in_") or set(self._features) <= set(table):
            return table
        raise DataError("no-column", f"These rows lack column(s) {sorted(set(self._features) - set(table))}.")


def own_classes(target: Column) -> NDArray[Any]:
    """The classes in the type they had."""
    return Attribute.of(target, "private").own_values
