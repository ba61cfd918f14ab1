# SPDX-License-Identifier: Apache-2.0
"""Learners as the wrapper asks them: out-of-fold class probabilities of any subset of features, for fixed folds.

Each also learns a subset's model on all rows (`fit`), whose `probabilities` answers for new rows in the same codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.partition.c45 import C45Tree, about_features, by_row, fit_c45
from shoal.partition.encoded import Encoded
from shoal.partition.naive_bayes import NaiveBayes, fit_bayes, log_likelihood, log_prior, normalised, value_counts

Probabilities = NDArray[np.float64]


class Model(Protocol):
    """What was learned of a subset of features."""

    def probabilities(self, codes: Sequence[Any]) -> Probabilities:
        """Class probabilities (rows × classes) of rows given as the codes of all features."""
        ...


class FoldLearner(Protocol):
    """Learns on all folds but one and answers for that one; may be asked by several threads at once."""

    def out_of_fold(self, features: tuple[int, ...]) -> Probabilities:
        """Class probabilities (rows × classes), each row's from a model that has not seen it."""
        ...

    def fit(self, features: tuple[int, ...]) -> Model:
        """The model of all rows."""
        ...


class C45Folds:
    """C4.5 as Weka's J48 has it by default, with Laplace-corrected leaf frequencies.

    Parameters
    ----------
    data
        Features and classes.
    folds
        The fold of each row, from 0.

    Examples
    --------
    >>> data = Encoded.of([[0, 0, 0, 0, 1, 1, 1, 1]], [2], [0, 0, 0, 0, 1, 1, 1, 1], 2)
    >>> C45Folds(data, [0, 1, 0, 1, 0, 1, 0, 1]).out_of_fold((0,))[[0, 7]].tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """

    def __init__(self, data: Encoded, folds: Any) -> None:
        from shoal._kernels import c45

        self._data = data
        self._folds = np.asarray(folds, dtype=np.int32)
        self._n_folds = int(self._folds.max()) + 1
        self._codes = by_row(data.codes)
        self._about = about_features(data)
        self._logs = c45.log_table(data.n_rows)

    def out_of_fold(self, features: tuple[int, ...]) -> Probabilities:
        """See `FoldLearner`."""
        from shoal._kernels import c45

        data, own = self._data, np.asarray(features, dtype=np.int64)
        out = np.empty((data.n_rows, data.n_classes))
        c45.out_of_fold(
            self._codes, data.target, self._folds, self._n_folds, own, self._about, data.n_classes, self._logs, out
        )
        return out

    def fit(self, features: tuple[int, ...]) -> C45Tree:
        """See `FoldLearner`."""
        return fit_c45(self._data, features)


class BayesFolds:
    """Naive Bayes as Weka has it by default. What each feature tells is worked out once and then only added up.

    Parameters
    ----------
    data
        Features and classes.
    folds
        The fold of each row, from 0.

    Examples
    --------
    >>> data = Encoded.of([[0, 0, 0, 0, 1, 1, 1, 1]], [2], [0, 0, 0, 0, 1, 1, 1, 1], 2)
    >>> BayesFolds(data, [0, 1, 0, 1, 0, 1, 0, 1]).out_of_fold((0,))[[0, 7]].round(2).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """

    def __init__(self, data: Encoded, folds: Any) -> None:
        self._data = data
        folds = np.asarray(folds, dtype=np.int32)
        every = range(int(folds.max()) + 1)
        self._prior = np.empty((data.n_rows, data.n_classes))
        self._told = np.empty((len(data.codes), data.n_rows, data.n_classes))
        for fold in every:
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            self._prior[test] = log_prior(np.bincount(data.target[train], minlength=data.n_classes))
            for feature, codes in enumerate(data.codes):
                table = log_likelihood(value_counts(data, feature, train), data.numbers[feature])
                self._told[feature, test] = table[np.minimum(codes[test].astype(np.int64), len(table) - 1)]

    def out_of_fold(self, features: tuple[int, ...]) -> Probabilities:
        """See `FoldLearner`."""
        total = self._prior.copy()
        for feature in features:
            total += self._told[feature]
        return normalised(total)

    def fit(self, features: tuple[int, ...]) -> NaiveBayes:
        """See `FoldLearner`."""
        return fit_bayes(self._data, features)


class EstimatorFolds:
    """Any scikit-learn classifier with `predict_proba`; a fresh clone of it for each fold.

    It is given numbers as they are, the average in place of a missing one, and a column of zeros and ones for each
    category (missing or unknown is none of them): models that add up columns and models that split them can both use
    these, and no order is made up.

    Parameters
    ----------
    estimator
        The classifier; it is cloned, never fitted itself.
    data
        Features and classes.
    folds
        The fold of each row, from 0.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = Encoded.of([[0, 0, 0, 0, 1, 1, 1, 1]], [2], [0, 0, 0, 0, 1, 1, 1, 1], 2)
    >>> learner = EstimatorFolds(LogisticRegression(), data, [0, 1, 0, 1, 0, 1, 0, 1])
    >>> learner.out_of_fold((0,)).argmax(axis=1).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """

    def __init__(self, estimator: Any, data: Encoded, folds: Any) -> None:
        self._estimator = estimator
        self._data = data
        self._folds = np.asarray(folds, dtype=np.int32)
        self._view = _View(data)
        self._blocks = [self._view.block(feature, codes) for feature, codes in enumerate(data.codes)]

    def out_of_fold(self, features: tuple[int, ...]) -> Probabilities:
        """See `FoldLearner`."""
        X = np.hstack([self._blocks[feature] for feature in features])
        out = np.zeros((self._data.n_rows, self._data.n_classes))
        for fold in range(int(self._folds.max()) + 1):
            test = self._folds == fold
            out[test] = self._learned(X[~test], self._data.target[~test], features).answers(X[test])
        return out

    def fit(self, features: tuple[int, ...]) -> EstimatorModel:
        """See `FoldLearner`."""
        X = np.hstack([self._blocks[feature] for feature in features])
        return self._learned(X, self._data.target, features)

    def _learned(self, X: Any, y: Any, features: tuple[int, ...]) -> EstimatorModel:
        from sklearn.base import clone

        return EstimatorModel(clone(self._estimator).fit(X, y), self._view, features)


class _View:
    """How codes look to an estimator."""

    def __init__(self, data: Encoded) -> None:
        self.n_classes = data.n_classes
        self._n_known, self._numbers = data.n_known, data.numbers
        self._average = [
            float(own[codes[codes < len(own)]].mean()) if own is not None and (codes < len(own)).any() else 0.0
            for own, codes in zip(data.numbers, data.codes, strict=True)
        ]

    def block(self, feature: int, codes: Any) -> NDArray[np.float64]:
        """The columns of one feature."""
        n_known, numbers = int(self._n_known[feature]), self._numbers[feature]
        own = np.minimum(np.asarray(codes, dtype=np.int64), n_known)
        if numbers is None:
            return np.eye(n_known + 1, n_known)[own]
        return np.append(numbers, self._average[feature])[own][:, None]


@dataclass(frozen=True, eq=False)
class EstimatorModel:
    """A fitted estimator of some features."""

    estimator: Any
    view: _View
    features: tuple[int, ...]

    def probabilities(self, codes: Sequence[Any]) -> Probabilities:
        """See `Model`."""
        return self.answers(np.hstack([self.view.block(feature, codes[feature]) for feature in self.features]))

    def answers(self, X: Any) -> Probabilities:
        """Class probabilities with a column for every class, also those that the estimator never saw."""
        out = np.zeros((len(X), self.view.n_classes))
        out[:, self.estimator.classes_] = self.estimator.predict_proba(X)
        return out
