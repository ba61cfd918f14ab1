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
from shoal.partition.partitioning import Partitioning, features_of, mask_of
from shoal.partition.prepare import Prepared
from shoal.partition.wrapper import Wrapper
from shoal.privacy import LikelyPartAL, Requirement


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
    likely
        What an attacker may know by chance. Then a level is the PartAL that is kept with its certainty; its k is for
        others to compare. None: nothing.
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
        likely: LikelyPartAL | None = None,
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
        self._likely, self._names = likely, prepared.names
        self._draws: dict[int, list[tuple[int, int]]] = {}
        self._kept_of: dict[Partitioning, int] = {}

    def level(self, partitioning: Partitioning) -> int:
        """PartAL; where an attacker knows something by chance, that which is kept with the certainty asked for."""
        if self._likely is None:
            return self.levels.partal(partitioning)
        if partitioning not in self._kept_of:  # up to 256 levels each, and a search asks again
            draws = self._drawn(self._likely, partitioning.used)
            levels = ((self.levels.partal(partitioning, more), weight) for more, weight in draws)
            self._kept_of[partitioning] = self._likely.kept(levels)
        return self._kept_of[partitioning]

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

    def _drawn(self, likely: LikelyPartAL, used: int) -> list[tuple[int, int]]:
        """What an attacker may know by chance of the features in use, as masks, and the weight of each."""
        place = {name: i for i, name in enumerate(self._names)}
        mask = used & mask_of(place[name] for name in likely.columns)
        if mask not in self._draws:
            own = likely.draws([self._names[i] for i in features_of(mask)])
            self._draws[mask] = [(mask_of(place[name] for name in names), weight) for names, weight in own]
        return self._draws[mask]

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
