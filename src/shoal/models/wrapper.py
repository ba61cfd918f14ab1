# SPDX-License-Identifier: Apache-2.0
"""The face that scikit-learn users know: an estimator around an estimator."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from shoal.data.domain import Domain
from shoal.data.roles import TargetRole
from shoal.errors import RequirementError
from shoal.models.mine import Wish, mine_model
from shoal.privacy import Requirement, as_requirement
from shoal.release.tree import Unknown
from shoal.trees.classifier import AnonymousTreeClassifier
from shoal.trees.estimator import ShoalEstimator
from shoal.trees.options import check_options

TREE_OPTIONS = (
    "criterion",
    "grouping",
    "pruning",
    "search",
    "variant",
    "max_depth",
    "max_leaves",
    "min_gain",
    "lookahead",
)


def _tells_shares(self: AnonymousModel) -> bool:
    return is_classifier(self.estimator) and hasattr(self.estimator, "predict_proba")


class AnonymousModel(MetaEstimatorMixin, ShoalEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Any classifier or regressor of scikit-learn, made k-anonymous.

    Public columns reach the estimator only through the group that a k-anonymous tree gives a person, so whatever it
    learns is a function of groups: people of one group cannot be told apart by it. Private columns reach it as they
    are. Each fit ends with an independent audit.

    Parameters
    ----------
    estimator
        The classifier or regressor to fit. It is cloned; this one is left alone.
    privacy
        What every group must satisfy: a requirement such as ``KAnonymity(50) & Confidence(0.9)``, or a whole number k.
        For a regressor, requirements about values are asked of classes that the target is cut into.
    public
        The columns an attacker may know; the other columns are private. None: every column but the target is public.
    target_role
        ``"private"`` unless an attacker may know the target too. A regressor's target is private.
    sensitive
        Private columns besides the target that diversity requirements are asked of.
    domain
        The values or bounds of columns that are known beforehand, by column.
    person
        The column that tells people apart, where they may have several rows. Every row is learned from, and every
        group has enough different people. The column itself is never used to learn, and nothing of it is released.
    hierarchies
        How values generalise: a folder of files, or a dict from column to path, nested dict or `Hierarchy`.
    tree_options
        Options of `AnonymousTreeClassifier` for the tree of groups: any of ``criterion``, ``grouping``, ``pruning``,
        ``search``, ``variant``, ``max_depth``, ``max_leaves``, ``min_gain`` and ``lookahead``. The tree is not pruned
        unless asked for.
    unknown
        What `predict` does with a category that the declared domain does not have: ``"error"``, or ``"ancestor"``:
        answer as for the largest group below the node that asks for it.
    random_state
        Seeds the estimator, and estimators inside it, where they take a seed and have none.

    Attributes
    ----------
    release_ : ModelRelease
        All that may leave the house, with the audit's verdict.
    classes_ : ndarray
        The classes, for a classifier.
    n_features_in_ : int
        How many columns it was given.
    feature_names_in_ : ndarray
        Their names, where they had any.

    Notes
    -----
    Numbers of private columns, and a regressor's target, are told to the estimator coarsely: each is shared by at least
    k people. A model that keeps rows it was fitted on is refused where there are private columns.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from shoal import AnonymousModel, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> model = AnonymousModel(HistGradientBoostingClassifier(), privacy=200).fit(people, "diabetes")
    >>> model.release_.verdict.smallest_group >= 200
    True
    >>> model.predict(people).shape
    (5000,)
    """

    def __init__(
        self,
        estimator: Any,
        privacy: Requirement | int = 10,
        *,
        public: Sequence[str] | None = None,
        target_role: TargetRole = "private",
        sensitive: Sequence[str] = (),
        domain: Domain | None = None,
        person: str | None = None,
        hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        tree_options: Mapping[str, Any] | None = None,
        unknown: Unknown = "error",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.privacy = privacy
        self.public = public
        self.target_role = target_role
        self.sensitive = sensitive
        self.domain = domain
        self.person = person
        self.hierarchies = hierarchies
        self.tree_options = tree_options
        self.unknown = unknown
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> AnonymousModel:
        """Make the groups, fit the estimator on them and on private columns, and audit the release.

        Parameters
        ----------
        X
            The rows, one a person unless `person` is given: a data frame, an Arrow table, a NumPy array or a `Table`.
        y
            The target's values, or the name of its column in `X`.
        """
        wish = Wish(
            estimator=self._checked_estimator(),
            requirement=as_requirement(self.privacy),
            public=self.public,
            target_role=self.target_role,
            sensitive=self.sensitive,
            domain=self.domain,
            person=self.person,
            hierarchies=self.hierarchies,
            tree=self._tree_options(),
            random_state=self.random_state,
        )
        if self.unknown not in ("error", "ancestor"):
            raise RequirementError(
                "parameter", f"AnonymousModel: unknown must be 'error' or 'ancestor'; got {self.unknown!r}."
            )
        X = self._checked(X, reset=True)
        self.release_, features = mine_model(wish, X, y)
        if self.release_.cuts is None:
            # scikit-learn wants classes in ascending order, whatever order a declared domain gives them
            self.classes_ = np.sort(self.release_.labels)
        self._remember(X, features)
        return self

    @available_if(_tells_shares)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, in the order of `classes_`."""
        return self._shares(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of right answers of a classifier, or R² of a regressor."""
        measure = r2_score if is_regressor(self) else accuracy_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def _checked_estimator(self) -> Any:
        given = self.estimator
        fits = not isinstance(given, type) and hasattr(given, "__sklearn_tags__") and hasattr(given, "fit")
        if not fits or not (is_classifier(given) or is_regressor(given)):
            name = given.__name__ if isinstance(given, type) else type(given).__name__
            raise RequirementError(
                "parameter", f"AnonymousModel: estimator must be a classifier or regressor of scikit-learn; got {name}."
            )
        return given

    def _tree_options(self) -> dict[str, Any]:
        options = dict(self.tree_options or {})
        strange = [name for name in options if name not in TREE_OPTIONS]
        if strange:
            raise RequirementError(
                "parameter", f"AnonymousModel: tree_options may have {', '.join(TREE_OPTIONS)}; got {strange[0]!r}."
            )
        # pruning undoes splits after which both sides have the same most frequent class; a model can still use those
        tree = AnonymousTreeClassifier(**{"pruning": "none", **options})
        check_options(tree)
        return {**tree._manner(), "max_depth": tree.max_depth, "max_leaves": tree.max_leaves}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        tags.target_tags.required = True
        return tags
