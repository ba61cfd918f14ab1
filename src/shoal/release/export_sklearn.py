# SPDX-License-Identifier: Apache-2.0
"""A released tree with the face of a fitted scikit-learn classifier. Importing this file imports scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from shoal.data.frames import to_table
from shoal.data.table import Table
from shoal.errors import DataError

if TYPE_CHECKING:
    from shoal.release.tree import TreeRelease, Unknown


def _states_shares(model: ReleasedTreeClassifier) -> bool:
    """Whether there are probabilities; scikit-learn shows the error as the cause of its own."""
    model.release.shares  # noqa: B018  # refuses where there are none
    return True


class ReleasedTreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A released tree as a classifier that is fitted from the start; `TreeRelease.to_sklearn` makes one.

    Data frames are read by the names of their columns. An array has no names, so its columns must be all those of
    `feature_names_in_`, in that order.

    Parameters
    ----------
    release
        The tree.
    unknown
        What happens to a value outside the declared domain: ``"error"``, or ``"ancestor"`` to answer as the node that
        asks for it.

    Attributes
    ----------
    classes_ : ndarray
        The classes in sorted order, which is that of the columns of `predict_proba`.
    n_features_in_ : int
        How many columns the release knows, besides the target.
    feature_names_in_ : ndarray
        Their names.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> release = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes").release_
    >>> make_pipeline(FunctionTransformer(), release.to_sklearn()).predict([[70]]).tolist()
    ['no']
    """

    def __init__(self, release: TreeRelease, *, unknown: Unknown = "error") -> None:
        self.release = release
        self.unknown = unknown

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted: metrics of scikit-learn count on it."""
        return np.sort(self.release.labels)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The columns the release knows, besides the target."""
        names = [attribute.name for attribute in self.release.attributes if attribute.name != self.release.target]
        return np.array(names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """How many columns that is."""
        return len(self.release.attributes) - 1

    def fit(self, X: Any, y: Any = None) -> ReleasedTreeClassifier:
        """Do nothing: what was released is not learned anew. Pipelines and scikit-learn's checks call it."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most frequent class where a row ends, by the weights."""
        return self.release.predict(self._named(X), unknown=self.unknown)

    @available_if(_states_shares)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of each class where a row ends, by its weight, classes in the order of `classes_`.

        There is none where the release states only predicted classes.
        """
        shares = self.release.predict_proba(self._named(X), unknown=self.unknown)
        return shares[:, np.argsort(self.release.labels)]

    def _named(self, X: Any) -> Any:
        """Columns with names as they are; columns without take the release's."""
        if isinstance(X, Table | Mapping) or hasattr(type(X), "columns"):
            return X
        names = self.feature_names_in_.tolist()
        kinds = {name: kind for name, kind in self.release.kinds.items() if name in names}
        try:
            return to_table(X, kinds=kinds, names=names)
        except DataError as error:
            if error.code != "names":
                raise
        raise DataError(
            "names",
            f"ReleasedTreeClassifier: columns without names must be the {len(names)} of feature_names_in_, in that "
            "order; X has more or fewer.",
        )

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> ReleasedTreeClassifier:
        # a clone that had to be fitted again never could be; the release cannot change, so it is shared
        return ReleasedTreeClassifier(self.release, unknown=self.unknown)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
