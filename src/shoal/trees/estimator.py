# SPDX-License-Identifier: Apache-2.0
"""What Shoal's estimators share: how rows and targets come in, by name or by position."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from shoal.data.frames import is_source, not_2d, to_table
from shoal.data.table import Kind, Table
from shoal.data.target import name_of
from shoal.errors import DataError
from shoal.release.tree import Unknown


class RowsEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Rows as scikit-learn users give them: arrays, data frames of any library, or a `Table`."""

    n_features_in_: int
    _features: list[str]

    def _remember(self, X: Any, features: list[str]) -> None:
        """The columns that were given, by name where they had names."""
        self.n_features_in_ = len(features)
        self._features = features
        if not isinstance(X, np.ndarray):
            self.feature_names_in_ = np.array(features, dtype=object)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Arrays as scikit-learn checks them; tables and data frames as they are."""
        if isinstance(X, Table) or type(X) is dict or hasattr(type(X), "columns") or is_source(X):
            return X
        if not hasattr(X, "toarray") and (ndim := np.asarray(X).ndim) != 2:
            raise not_2d(ndim)  # scikit-learn's own words would show cells
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class ShoalEstimator(RowsEstimator):
    """An estimator that predicts by its release.

    A subclass sets `release_`, `n_features_in_`, `_features` (the names of the columns it was given) and, where they
    had names, `feature_names_in_`.
    """

    release_: Any
    unknown: Unknown

    def predict(self, X: Any) -> NDArray[Any]:
        """The answer for each row: the most likely class, or a regressor's number."""
        check_is_fitted(self)
        answer: NDArray[Any] = self.release_.predict(self._named(X), unknown=self.unknown)
        return answer

    def _shares(self, X: Any) -> NDArray[np.float64]:
        """The share of each class, in the order of `classes_`."""
        check_is_fitted(self)
        shares: NDArray[np.float64] = self.release_.predict_proba(self._named(X), unknown=self.unknown)
        return shares[:, np.argsort(self.release_.labels, kind="stable")]

    @property
    def _kinds(self) -> Mapping[str, Kind]:
        """How the columns of rows to predict are to be read."""
        kinds: Mapping[str, Kind] = self.release_.kinds
        return kinds

    def _named(self, X: Any) -> Any:
        """Rows to predict, by the names of fit; where one of the two had none, by position."""
        X = self._checked(X, reset=False)
        if isinstance(X, np.ndarray):
            return to_table(X, names=self._features, kinds=self._kinds, only=self._kinds)
        if hasattr(self, "feature_names_in_"):
            return X
        table = to_table(X)
        if len(table) != self.n_features_in_ or set(self._features) <= set(table):
            return table
        return Table(replace(table[old], name=new) for old, new in zip(table, self._features, strict=True))


def target_name(estimator: str, names: Collection[str], y: Any) -> tuple[str, list[str]]:
    """The name of the target, given as values or as the name of its column, and the names of the other columns."""
    if y is None:
        raise DataError(
            "no-target",
            f"This {estimator} estimator requires y to be passed, but the target y is None. "
            "Give its values, or the name of its column in X.",
        )
    in_table = isinstance(y, str)
    target = y if in_table else name_of(y)
    if not in_table and target in names:
        raise DataError(
            "target-twice",
            f"X has a column {target!r} too, and learning the target from itself is no learning. "
            f"Drop it from X, or give y={target!r}.",
        )
    return target, [name for name in names if name != target]


def checked_target(y: Any) -> Any:
    """A target, if it can be one of a classifier; the name of a column is one."""
    if isinstance(y, str):
        return y
    if isinstance(y, (np.ndarray, list, tuple)):
        y = column_or_1d(y, warn=True)
    values = np.asarray(y)
    # missing values are refused later, by their number; scikit-learn would stumble over them here
    if values.ndim == 1 and not (values.dtype.kind == "f" and np.isnan(values).any()):
        check_classification_targets(values)
    return y
