# SPDX-License-Identifier: Apache-2.0
"""Says of a table's partitionings how private they are, by counting, and how accurate, by learning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import RequirementError
from shoal.partition.encoded import Encoded, stratified_folds
from shoal.partition.learners import BayesFolds, C45Folds, EstimatorFolds, FoldLearner
from shoal.partition.levels import Levels
from shoal.partition.partitioning import Partitioning
from shoal.partition.prepare import Prepared
from shoal.partition.wrapper import Wrapper
from shoal.privacy import Requirement


class TableJudge:
    """A `Judge` of the partitionings of one table.

    Parameters
    ----------
    prepared
        The table, encoded.
    estimator
        ``"c45"``, ``"bayes"``, or a classifier of scikit-learn.
    n_folds
        Accuracy is averaged over so many folds.
    seed
        Of the folds.
    also
        Further sets of features that an attacker may know instead of the public ones.
    each
        What every group of every projection must satisfy besides k; None: nothing.
    together
        What every group of people must satisfy to whoever puts all projections side by side; None: nothing.
    open_classes
        How many classes must be left open for everybody to whoever puts all projections side by side.
    """

    def __init__(
        self,
        prepared: Prepared,
        estimator: Any,
        *,
        n_folds: int,
        seed: int,
        also: Sequence[Sequence[int]] = (),
        each: Requirement | None = None,
        together: Requirement | None = None,
        open_classes: int = 1,
    ) -> None:
        target = prepared.target
        self.n = len(prepared.encoders)
        self.data = Encoded.of(
            list(prepared.codes),
            prepared.n_values,
            target.codes,
            target.n_codes,
            numbers=[each.numbers for each in prepared.encoders],
            missing=[True] * self.n,
        )
        folds = stratified_folds(target.codes, n_folds, np.random.default_rng(seed))
        self.learner = make_learner(estimator, self.data, folds)
        self.levels = Levels(
            list(prepared.codes), prepared.n_values, target.codes, target.n_codes, prepared.quasi, also=also
        )
        self._wrapper = Wrapper(self.learner, target.codes, target.n_codes, folds)
        self._each, self._together, self._open_classes = each, together, open_classes
        self._passed: dict[int, bool] = {}

    def level(self, partitioning: Partitioning) -> int:
        """PartAL."""
        return self.levels.partal(partitioning)

    def partial(self, partitioning: Partitioning) -> int:
        """PAL."""
        return self.levels.pal(partitioning)

    def accuracies(self, partitionings: list[Partitioning]) -> NDArray[np.float64]:
        """Of each, the accuracy of the classifiers of its subsets, combined."""
        return self._wrapper.accuracies(partitionings)

    def demand(self, partitioning: Partitioning) -> bool:
        """Whether a partitioning meets what is asked beyond its level."""
        if self._each is not None and not all(self._kept(mask) for mask in partitioning.subsets):
            return False
        if self._open_classes > 1 and self.levels.open_classes(partitioning) < self._open_classes:
            return False
        # side by side, people are told apart by all their published values
        return self._together is None or self._keeps(self._together, partitioning.used)

    def _kept(self, mask: int) -> bool:
        if mask not in self._passed:
            assert self._each is not None
            self._passed[mask] = self._keeps(self._each, mask)
        return self._passed[mask]

    def _keeps(self, requirement: Requirement, mask: int) -> bool:
        total = np.bincount(self.data.target, minlength=self.data.n_classes)
        return bool(requirement.holds(self.levels.class_counts(mask), total).all())


def make_learner(estimator: Any, data: Encoded, folds: Any) -> FoldLearner:
    """The learner of a name, or of an estimator of scikit-learn."""
    if estimator == "c45":
        return C45Folds(data, folds)
    if estimator == "bayes":
        return BayesFolds(data, folds)
    if isinstance(estimator, (str, type)) or not hasattr(estimator, "predict_proba"):
        name = type(estimator).__name__
        name = {"str": repr(estimator), "type": getattr(estimator, "__name__", "a class")}.get(name, name)
        raise RequirementError(
            "parameter",
            "PartitionedClassifier: estimator must be 'c45', 'bayes' or a classifier of scikit-learn that tells "
            f"probabilities; got {name}.",
        )
    return EstimatorFolds(estimator, data, folds)
