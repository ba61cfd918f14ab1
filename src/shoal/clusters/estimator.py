# SPDX-License-Identifier: Apache-2.0
"""The face that scikit-learn users know."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from shoal.clusters.grow import Stop
from shoal.clusters.mine import Wish, mine_clusters
from shoal.data.domain import Domain
from shoal.data.frames import to_table
from shoal.data.hierarchy import load_hierarchies
from shoal.errors import RequirementError
from shoal.privacy import Requirement, as_requirement
from shoal.trees.estimator import ShoalEstimator


class AnonymousClusters(ClusterMixin, ShoalEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Clusters whose centroids tie nobody in the rows to a private fact by fewer than k people.

    It starts with one cluster of everybody and splits clusters as long as the centroids that would be released keep
    the requirement for every group of people, told apart by what an attacker may know [1]_. Each fit ends with an
    audit.

    Parameters
    ----------
    privacy
        What every group must satisfy: a requirement such as ``KAnonymity(50)``, or a whole number k.
    public
        The columns an attacker may know; the other columns are private. None: every column is public.
    n_clusters
        Stop at this many clusters; None: as many as the promise and `min_gain` allow.
    method
        ``"mst"``: cut the longest edge of the minimal spanning tree that may be cut, as in [1]_; with more than 5,000
        distinct rows the search ends after 25 refused edges in a row. ``"kmeans"``: in each round take the centroids
        of k-means with one cluster more, moved by at most a fifth of a standard deviation where few people's groups
        forbid them; or else split in two the cluster whose split lowers inertia most, with or without letting k-means
        move all centroids. None: the spanning tree up to 5,000 distinct rows, k-means beyond.
    min_gain
        By how much a split must lower the inertia at least, as a share of that of one cluster of everybody. 0: every
        split that the promise allows is made, which takes long on many rows.
    scale
        Whether numeric columns are divided by a round number near their standard deviation before distances are taken.
        Two different categories of a column are at a squared distance of 2; missing is a category of its own, but a
        missing number is refused.
    allow_small
        Allow centroids that fewer people than the promise asks stand behind, as [1]_ does. The centroid of one person
        is his row.
    sensitive
        Private columns that diversity requirements are asked of.
    domain
        The values or bounds of columns that are known beforehand, by column. Of a private numeric column without
        declared bounds, values are clipped at round numbers with enough people at or beyond them.
    person
        The column that tells people apart, where they may have several rows.
    hierarchies
        A folder, or a mapping from column to hierarchy. Two categories of a column with a hierarchy are the nearer the
        lower the group that both are in: their squared distance is 2 times the share of levels that tell them apart.
        The hierarchy of a numeric column is not looked at.
    random_state
        Of the starts of 2-means; the spanning tree uses no randomness.

    Attributes
    ----------
    release_ : ClustersRelease
        All that may leave the house, with the audit's verdict.
    labels_ : ndarray
        The cluster of every row; it does not leave the house.
    cluster_centers_ : ndarray
        The centroids as points: columns scaled as the release says (clusters × features).
    n_features_in_ : int
        How many columns it was given.
    feature_names_in_ : ndarray
        Their names, where they had any.

    Notes
    -----
    Differs from [1]_: what is released are centroids, and the nearest one decides, so spans are those of this rule and
    not of the spanning tree's parts. By default no centroid of fewer than k people is released.

    References
    ----------
    .. [1] A. Friedman, R. Wolff, A. Schuster, "Providing k-anonymity in data mining", VLDB Journal 17 (2008),
       789-804, Sect. 5.2, doi:10.1007/s00778-006-0039-5.

    Examples
    --------
    >>> from shoal import AnonymousClusters, load_sample
    >>> people = load_sample().table.select(["age", "sex", "bmi"])
    >>> clusters = AnonymousClusters(privacy=50, public=["age", "sex"], method="kmeans", random_state=0).fit(people)
    >>> clusters.release_.verdict.smallest_group >= 50
    True
    >>> clusters.predict(people).shape
    (5000,)
    """

    def __init__(
        self,
        privacy: Requirement | int = 10,
        *,
        public: Sequence[str] | None = None,
        n_clusters: int | None = None,
        method: Literal["mst", "kmeans"] | None = None,
        min_gain: float = 0.01,
        scale: bool = True,
        allow_small: bool = False,
        sensitive: Sequence[str] = (),
        domain: Domain | None = None,
        person: str | None = None,
        hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.privacy = privacy
        self.public = public
        self.n_clusters = n_clusters
        self.method = method
        self.min_gain = min_gain
        self.scale = scale
        self.allow_small = allow_small
        self.sensitive = sensitive
        self.domain = domain
        self.person = person
        self.hierarchies = hierarchies
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> AnonymousClusters:
        """Find the clusters and audit them.

        Parameters
        ----------
        X
            The rows, one a person unless `person` is given: a data frame, an Arrow table, a NumPy array or a `Table`.
        y
            Not looked at.
        """
        self._check_options()
        requirement = as_requirement(self.privacy)
        X = self._checked(X, reset=True)
        table = to_table(X)
        self.release_ = mine_clusters(
            Wish(
                requirement,
                self.public,
                self.sensitive,
                self.domain,
                load_hierarchies(self.hierarchies, [name for name in table if name != self.person]),
                self.person,
                Stop(self.n_clusters, float(self.min_gain)),
                self.method,
                self.scale,
                self.allow_small,
                self.random_state,
            ),
            table,
        )
        self._remember(X, table.names)
        self.labels_ = self.release_.predict(table)
        self.cluster_centers_ = self.release_.centroids
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The cluster of each row: the number of the nearest centroid."""
        check_is_fitted(self)
        found: NDArray[np.int64] = self.release_.predict(self._named(X))
        return found

    def _check_options(self) -> None:
        n, gain = self.n_clusters, self.min_gain
        if n is not None and (isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1):
            raise RequirementError(
                "parameter",
                f"AnonymousClusters: n_clusters must be a whole number of at least 1, or None; got {n!r}.",
            )
        if isinstance(gain, bool) or not isinstance(gain, (int, float, np.integer, np.floating)) or not 0 <= gain < 1:
            raise RequirementError(
                "parameter", f"AnonymousClusters: min_gain must be a number from 0 to below 1; got {gain!r}."
            )
        if self.method not in ("mst", "kmeans", None):
            raise RequirementError(
                "parameter", f"AnonymousClusters: method must be 'mst', 'kmeans' or None; got {self.method!r}."
            )
        try:
            check_random_state(self.random_state)
        except ValueError:
            raise RequirementError(
                "parameter", "AnonymousClusters: random_state must be a whole number of at least 0, or None."
            ) from None
        for name in ("scale", "allow_small"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise RequirementError("parameter", f"AnonymousClusters: {name} must be True or False.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags
