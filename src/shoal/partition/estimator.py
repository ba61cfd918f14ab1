# SPDX-License-Identifier: Apache-2.0
"""The face that scikit-learn users know: a classifier a subset of columns, and their combination."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from shoal.data.domain import Domain
from shoal.data.frames import to_table
from shoal.data.table import Kind
from shoal.partition.leaving import publish_study, would_leave
from shoal.partition.options import Generation
from shoal.partition.pareto import Frontier, frontier
from shoal.partition.prepare import Unseen
from shoal.partition.search import search
from shoal.partition.study import Study, chosen_point, make_study
from shoal.partition.wrapper import combine
from shoal.privacy import Requirement
from shoal.privacy._parameters import whole
from shoal.release import Attribute
from shoal.trees.estimator import ShoalEstimator

Algorithm = Literal["spea2", "nsga2"]


class PartitionedClassifier(ClassifierMixin, ShoalEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Columns in several projections, one classifier on each, and their answers combined (DMPD) [1]_.

    A genetic search looks for the partitioning of the columns that classifies best, of those whose projections keep
    the level k (`PartAL`): each of them alone is k-anonymous, and every row of two of them joined again is there k
    times. No hierarchy is needed. Each fit ends with an independent audit.

    PartAL is weaker than k-anonymity: it counts rows that are joined again, not people. The audit says what an attacker
    can tell from all projections together, and `open_classes` or a requirement in `privacy` make the search keep more.

    Parameters
    ----------
    estimator
        The classifier of each projection: ``"c45"``, ``"bayes"``, or one of scikit-learn that tells probabilities.
    privacy
        The level: a whole number k means ``PartAL(k)``. With ``PartAL(k) & KAnonymity(5)`` and the like, the rest is
        asked of groups of people to whoever puts all projections side by side.
    public
        The columns an attacker may know; the others are private. None: every column but the target is public.
    domain
        The values or bounds of columns that are known beforehand, by column.
    hierarchies
        For columns that may be generalised within projections a `Hierarchy`, or what `load_hierarchies` takes. Before
        the search, each becomes as coarse as it must for all its values to have k rows, and no coarser.
    population, generations, crossover, mutation
        Of the genetic search: see `GeneticOptions`. `mutation` may be a dict from column to probability.
    folds
        How many folds the accuracy of a partitioning is averaged over.
    level_in_fitness
        Let partitionings below the level have offspring, the better the nearer they are to it. False is the paper's
        fitness, which asks for the level of single projections only: faster, and often less accurate.
    each
        What every group of every projection alone must satisfy besides k, such as ``EntropyDiversity(1.5)``.
    open_classes
        How many classes must stay open for everybody to whoever puts all projections side by side; 2 means that
        nobody's class is certain.
    level_aware
        Put public numbers in intervals of at least k rows, and not only by what they tell of the class.
    suppress
        The share of rows that may be left out so that more columns can be published.
    overlapping
        Whether a column may be in several projections.
    publish
        ``"projections"``: the rows of each. ``"trees"``: the C4.5 trees in their place, for ``estimator="c45"``.
    partitioning
        The columns of each projection, where they are to be these; None: search for them.
    other_public
        Further sets of columns that an attacker may know instead of `public`. The level holds against each.
    chances
        For private columns the probability that an attacker knows them after all, each by itself: such as
        ``{"bmi": 0.2}``. The level then holds, with a probability of at least `certainty`, for whoever knows some of
        them besides the public columns, and the release claims that, too (`LikelyPartAL`). What is claimed of public
        columns stays as it is. None: nobody knows any.
    certainty
        Of the level where there are `chances`; 1: whatever an attacker knows of them.
    max_seconds
        End the search after this time.
    progress
        Called with a `Generation` after each.
    unseen
        What `predict` does with a category that fit did not see: ``"error"``, or ``"missing"``: take it as missing.
    reproducible
        Sort the rows of projections instead of shuffling them: the same bytes every time.
    random_state
        Seeds the folds and the search.

    Attributes
    ----------
    release_ : ProjectionsRelease, EnsembleRelease or None
        All that may leave the house, with the audit's verdict. None where no column can be published.
    partitioning_ : tuple of tuples of str
        The columns of each projection, the target left aside.
    level_ : int
        Its PartAL, as the search counted it; with `chances`, that which is kept with the certainty asked for. Rows that
        come back once it is clear which columns are published may change it, but not to below k.
    accuracy_ : float
        What the search measured of it, over its folds. The best of many, so a little too high.
    found_ : Found or None
        What the search says of itself; None where there was none.
    classes_ : ndarray
        The classes.
    n_features_in_ : int
        How many columns it was given.
    feature_names_in_ : ndarray
        Their names, where they had any.

    References
    ----------
    .. [1] N. Matatov, L. Rokach, O. Maimon, "Privacy-preserving data mining: A feature set partitioning approach",
       Information Sciences 180 (2010), 2696-2720, doi:10.1016/j.ins.2010.03.011.

    Examples
    --------
    >>> from shoal import PartitionedClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "bmi", "diabetes"])
    >>> model = PartitionedClassifier(privacy=50, public=["age", "sex"], generations=5, random_state=0)
    >>> model = model.fit(people, "diabetes")
    >>> model.level_ >= 50, model.release_.verdict.holds
    (True, True)
    >>> model.predict(people).shape
    (5000,)
    """

    def __init__(
        self,
        estimator: Any = "c45",
        privacy: Requirement | int = 10,
        *,
        public: Sequence[str] | None = None,
        domain: Domain | None = None,
        hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        population: int = 50,
        generations: int = 100,
        crossover: float = 0.9,
        mutation: float | Mapping[str, float] | None = None,
        folds: int = 5,
        level_in_fitness: bool = True,
        each: Requirement | None = None,
        open_classes: int = 1,
        level_aware: bool = False,
        suppress: float = 0.0,
        overlapping: bool = False,
        other_public: Sequence[Sequence[str]] = (),
        chances: Mapping[str, float] | None = None,
        certainty: float = 1.0,
        publish: Literal["projections", "trees"] = "projections",
        partitioning: Sequence[Sequence[str]] | None = None,
        max_seconds: float | None = None,
        progress: Callable[[Generation], None] | None = None,
        unseen: Unseen = "error",
        reproducible: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.privacy = privacy
        self.public = public
        self.domain = domain
        self.hierarchies = hierarchies
        self.population = population
        self.generations = generations
        self.crossover = crossover
        self.mutation = mutation
        self.folds = folds
        self.level_in_fitness = level_in_fitness
        self.each = each
        self.open_classes = open_classes
        self.level_aware = level_aware
        self.suppress = suppress
        self.overlapping = overlapping
        self.other_public = other_public
        self.chances = chances
        self.certainty = certainty
        self.publish = publish
        self.partitioning = partitioning
        self.max_seconds = max_seconds
        self.progress = progress
        self.unseen = unseen
        self.reproducible = reproducible
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> PartitionedClassifier:
        """Search for a partitioning, publish its projections, audit them, and learn from them.

        Parameters
        ----------
        X
            The rows, one a person: a data frame, an Arrow table, a NumPy array or a `Table`.
        y
            The target's values, or the name of its column in `X`.
        """
        study = self._study(X, y)
        point, self.found_ = chosen_point(self, study), None
        if point is None:
            self.found_ = search(
                study.judge,
                study.k,
                options=study.options,
                level_in_fitness=self.level_in_fitness,
                demand=study.judge.demand,
                confirm=partial(would_leave, self, study) if study.withholdable else None,
                progress=self.progress,
            )
            point = self.found_.best
        subsets = point.partitioning.features
        self.partitioning_ = point.partitioning.named(study.prepared.names)
        self.level_, self.accuracy_ = point.level, point.accuracy
        self._prepared = study.prepared
        self._models = [study.judge.learner.fit(features) for features in subsets]
        self.release_ = publish_study(self, study, self._models, subsets) if subsets else None
        counts = study.prepared.target.counts()
        self._prior = counts / counts.sum()
        # scikit-learn wants classes in ascending order, whatever order a declared domain gives them
        labels = Attribute.of(study.prepared.target, "private").own_values
        self._order = np.argsort(labels, kind="stable")
        self.classes_ = labels[self._order]
        self._remember(X, study.features)
        return self

    def frontiers(self, X: Any, y: Any = None, *, runs: int = 1, algorithm: Algorithm = "spea2") -> list[Frontier]:
        """Of each of some independent searches the partitionings of which none is more accurate and more private.

        Nothing is fitted or published. To publish one of them, give its columns as `partitioning`. The runs have other
        seeds and the same folds, and what one has learned the next need not learn again.
        """
        whole("PartitionedClassifier.frontiers", "runs", runs, least=1)
        study = self._study(X, y)
        seeds = np.random.default_rng(study.options.seed).integers(2**31, size=runs).tolist()
        return [
            frontier(
                study.judge,
                options=replace(study.options, seed=seed),
                demand=study.judge.demand,
                algorithm=algorithm,
                progress=self.progress,
            )
            for seed in seeds
        ]

    def predict(self, X: Any) -> NDArray[Any]:
        """The most likely class of each row."""
        shares = self.predict_proba(X)
        found: NDArray[Any] = self.classes_[np.argmax(shares, axis=1)]
        return found

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, in the order of `classes_`."""
        check_is_fitted(self)
        codes = self._prepared.encode(to_table(self._named(X)), self.unseen)
        shares = combine([model.probabilities(list(codes)) for model in self._models], self._prior)
        return np.broadcast_to(shares, (codes.shape[1], shares.shape[1]))[:, self._order]

    @property
    def _kinds(self) -> Mapping[str, Kind]:
        return {name: self._prepared.task.rows[name].kind for name in self._prepared.names}

    def _study(self, X: Any, y: Any) -> Study:
        return make_study(self, to_table(self._checked(X, reset=True)), y)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
