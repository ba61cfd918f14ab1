# SPDX-License-Identifier: Apache-2.0
"""How well a partitioning classifies: the naive-Bayes combination of one classifier a subset (Sect. 4.1.2 and 4.1.3).

A subset is learned once, whatever partitionings it is in. What is kept of it are its out-of-fold log odds of every
class against the last, in single precision: a combination is a sum of arrays.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal._threads import side_by_side
from shoal.partition.learners import FoldLearner, Probabilities
from shoal.partition.partitioning import Partitioning, features_of

Odds = NDArray[np.float32]

LEAST = 1e-9  # probability of a class, where a classifier says it is impossible
TIE = 1e-6  # a later class must be better by more than this in log odds
MEMORY = 1 << 30  # bytes of log odds that are kept
PASSES = 100  # over its rows that learning a subset costs at least, as threads reckon


def combine(probabilities: Sequence[Any], prior: Any) -> Probabilities:
    """Class probabilities from one classifier a subset (Eq. 1): their product over the prior to the power of one less.

    Parameters
    ----------
    probabilities
        The class probabilities of each classifier (rows × classes); none: the prior.
    prior
        The share of each class among the people the classifiers were taught on. A class nobody has is never chosen.

    Returns
    -------
    numpy.ndarray
        Rows × classes; every row adds up to one.

    Examples
    --------
    >>> combine([[[0.4, 0.6]], [[0.75, 0.25]]], [0.5, 0.5]).round(2).tolist()
    [[0.67, 0.33]]
    """
    prior = np.atleast_2d(np.asarray(prior, dtype=np.float64))
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior)
    finite = np.where(prior > 0, log_prior, 0.0)
    total = finite * (1 - len(probabilities))
    for own in probabilities:
        total = total + np.log(np.maximum(own, LEAST))
    total = np.where(prior > 0, total, -np.inf)
    shares = np.exp(total - total.max(axis=1, keepdims=True))
    answer: Probabilities = shares / shares.sum(axis=1, keepdims=True)
    return answer


class Wrapper:
    """Accuracies of partitionings, averaged over folds.

    Parameters
    ----------
    learner
        Gives out-of-fold probabilities of a subset, for these folds.
    target
        The class of each row.
    n_classes
        How many classes there are.
    folds
        The fold of each row, from 0.
    memory
        How many bytes of log odds are kept. Subsets that were not asked for the longest are forgotten, and learned
        again when they come back. The default holds 8,900 subsets of Adult (30,162 rows, two classes).

    Examples
    --------
    >>> from shoal.partition.encoded import Encoded
    >>> from shoal.partition.learners import C45Folds
    >>> data = Encoded.of([[0, 0, 0, 0, 1, 1, 1, 1], [0, 1] * 4], [2, 2], [0, 0, 0, 0, 1, 1, 1, 1], 2)
    >>> folds = [0, 0, 1, 1, 0, 0, 1, 1]
    >>> wrapper = Wrapper(C45Folds(data, folds), data.target, 2, folds)
    >>> wrapper.accuracies([Partitioning.of(2, []), Partitioning.of(2, [[0], [1]])]).tolist()
    [0.5, 1.0]
    """

    def __init__(self, learner: FoldLearner, target: Any, n_classes: int, folds: Any, *, memory: int = MEMORY) -> None:
        self._learner = learner
        self._target = np.asarray(target, dtype=np.int64)
        folds = np.asarray(folds, dtype=np.int64)
        by_fold = np.zeros((int(folds.max()) + 1, n_classes), dtype=np.int64)
        np.add.at(by_fold, (folds, self._target), 1)
        taught = by_fold.sum(axis=0) - by_fold
        # a class that nobody has outside the fold is never chosen
        self._possible = (taught > 0)[folds] if (taught == 0).any() else np.empty((0, n_classes), dtype=np.bool_)
        self._prior = np.ascontiguousarray(_odds(np.maximum(taught, 0.5))[:, folds])
        sizes = by_fold.sum(axis=1)
        self._weight = 1.0 / (np.count_nonzero(sizes) * sizes[folds])  # a row's part of the accuracy
        self._odds: OrderedDict[int, Odds] = OrderedDict()
        self._most = max(memory // (4 * max(len(folds), 1) * max(n_classes - 1, 1)), 1)
        self.n_learned = 0

    def accuracies(self, partitionings: Sequence[Partitioning]) -> NDArray[np.float64]:
        """The accuracy of each partitioning: mean over the folds; the empty one answers with the largest class."""
        answers: list[float] = []
        at = 0
        while at < len(partitionings):
            first = at
            needed: dict[int, None] = {}
            # as many partitionings at once as there is room for their subsets
            while at < len(partitionings):
                more = needed | dict.fromkeys(partitionings[at].subsets)
                if len(more) > self._most and at > first:
                    break
                needed, at = more, at + 1
            self._learn(needed)
            answers += [self._accuracy(partitioning) for partitioning in partitionings[first:at]]
        return np.array(answers, dtype=np.float64)

    def _learn(self, masks: Sequence[int] | dict[int, None]) -> None:
        new = [mask for mask in masks if mask not in self._odds]
        for mask in masks:
            if mask in self._odds:
                self._odds.move_to_end(mask)
        while self._odds and len(self._odds) + len(new) > self._most and next(iter(self._odds)) not in masks:
            self._odds.popitem(last=False)
        work = len(new) * len(self._target) * PASSES
        self._odds.update(zip(new, side_by_side(self._odds_of, new, rows=work), strict=True))
        self.n_learned += len(new)

    def _odds_of(self, mask: int) -> Odds:
        return _odds(self._learner.out_of_fold(features_of(mask))).astype(np.float32)

    def _accuracy(self, partitioning: Partitioning) -> float:
        from shoal._kernels.combine import weight_right

        odds = self._prior * (1 - len(partitioning.subsets))
        for mask in partitioning.subsets:
            odds += self._odds[mask]
        return float(weight_right(odds, self._target, self._possible, self._weight, TIE))


def _odds(probabilities: NDArray[Any]) -> NDArray[np.float64]:
    """Log odds of each class against the last (classes but the last × rows)."""
    logs = np.log(np.maximum(probabilities.T, LEAST))
    odds: NDArray[np.float64] = logs[:-1] - logs[-1]
    return odds
