# SPDX-License-Identifier: Apache-2.0
"""The face that scikit-learn users know: a classifier a subset of columns, and their combination."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from shoal.anonymize.cells import ColumnMap
from shoal.anonymize.task import make_task
from shoal.data.domain import Domain
from shoal.data.frames import to_table
from shoal.data.table import Kind, Table
from shoal.errors import DataError, PromiseError, RequirementError, closest
from shoal.partition.c45 import C45Tree
from shoal.partition.judge import TableJudge
from shoal.partition.options import Generation, GeneticOptions, Point
from shoal.partition.pareto import Frontier, frontier
from shoal.partition.partitioning import Partitioning
from shoal.partition.prepare import Prepared, Unseen, prepare, projection_maps
from shoal.partition.publish import check_more, publish_projections, publish_trees
from shoal.partition.search import search
from shoal.partition.suppress import groups_to_leave_out, groups_with_new_classes, rows_to_leave_out
from shoal.partition.wrapper import combine
from shoal.privacy import KAnonymity, PartAL, Requirement, asked_of_groups, partal_asked
from shoal.privacy._parameters import whole
from shoal.release import Attribute, EnsembleRelease, ProjectionsRelease
from shoal.trees.estimator import ShoalEstimator, checked_target, target_name

Algorithm = Literal["spea2", "nsga2"]


@dataclass(frozen=True, eq=False)
class _Study:
    """A table, read and encoded, and who judges its partitionings."""

    table: Table
    target: str
    features: list[str]
    prepared: Prepared
    judge: TableJudge
    requirement: Requirement
    k: int
    left_out: NDArray[np.bool_] | None
    options: GeneticOptions


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
        Let partitionings below the level have offspring, the better the nearer they are to it.
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
        Its PartAL, as the search counted it. Rows that come back once it is clear which columns are published may
        change it, but not to below k.
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
        level_in_fitness: bool = False,
        each: Requirement | None = None,
        open_classes: int = 1,
        level_aware: bool = False,
        suppress: float = 0.0,
        overlapping: bool = False,
        other_public: Sequence[Sequence[str]] = (),
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
        point, self.found_ = self._chosen(study), None
        if point is None:
            self.found_ = search(
                study.judge,
                study.k,
                options=study.options,
                level_in_fitness=self.level_in_fitness,
                demand=study.judge.demand,
                progress=self.progress,
            )
            point = self.found_.best
        subsets = point.partitioning.features
        self.partitioning_ = point.partitioning.named(study.prepared.names)
        self.level_, self.accuracy_ = point.level, point.accuracy
        self._prepared = study.prepared
        self._models = [study.judge.learner.fit(features) for features in subsets]
        self.release_ = self._published(study, subsets) if subsets else None
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

    def _study(self, X: Any, y: Any) -> _Study:
        """Read and check everything, and encode the rows that are kept."""
        self._check_publish()
        folds = whole("PartitionedClassifier", "folds", self.folds, least=2)
        requirement = PartAL(self.privacy) if isinstance(self.privacy, (int, np.integer)) else self.privacy
        k = partal_asked(requirement)
        if k is None:
            raise RequirementError("requirement", "Projections claim PartAL: give PartAL(k), or a whole number for it.")
        together = asked_of_groups(requirement)
        table = to_table(self._checked(X, reset=True))
        target, features = target_name("PartitionedClassifier", table, y)
        task, given = make_task(
            table,
            checked_target(y),
            privacy=KAnonymity(k) if together is None else KAnonymity(k) & together,
            public=self.public,
            sensitive=(),
            domain=self.domain,
            person=None,
            hierarchies=self.hierarchies,
            suppress=self.suppress,
        )
        if not features:
            raise DataError("no-features", "There is no column beside the target to learn from.")
        at_least = k if self.level_aware else 1
        prepared, left_out = prepare(task, k, at_least=at_least), None
        if task.budget:
            left_out = rows_to_leave_out(list(prepared.codes), prepared.n_values, prepared.quasi, k, task.budget)
            if left_out.any():
                prepared = prepare(replace(task, rows=task.rows.take(~left_out)), k, at_least=at_least)
            else:
                left_out = None
        seed = self._seed()
        judge = TableJudge(
            prepared,
            self.estimator,
            n_folds=folds,
            seed=seed,
            also=[[_place(name, prepared.names) for name in names] for names in self.other_public],
            each=self.each,
            together=together,
            # whoever asks anything of groups of people is not served by projections that tell somebody's class
            open_classes=max(
                whole("PartitionedClassifier", "open_classes", self.open_classes, least=1), 1 + (together is not None)
            ),
        )
        options = GeneticOptions(
            population=self.population,
            generations=self.generations,
            crossover=self.crossover,
            mutation=self._mutation(prepared.names),
            overlapping=self.overlapping,
            seed=seed,
            max_seconds=self.max_seconds,
        )
        return _Study(given, target, features, prepared, judge, requirement, k, left_out, options)

    def _seed(self) -> int:
        try:
            return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        except ValueError:
            raise RequirementError(
                "parameter",
                "PartitionedClassifier: random_state must be a whole number from 0 to 2**32 - 1, a RandomState or "
                f"None; got {self.random_state!r}.",
            ) from None

    def _check_publish(self) -> None:
        if self.publish not in ("projections", "trees"):
            raise RequirementError(
                "parameter", f"PartitionedClassifier: publish must be 'projections' or 'trees'; got {self.publish!r}."
            )
        if self.publish == "trees" and (
            self.estimator != "c45" or self.suppress or self.overlapping or self.hierarchies is not None
        ):
            raise RequirementError(
                "parameter",
                "PartitionedClassifier: publish='trees' needs estimator='c45', nobody left out, no overlapping and no "
                "hierarchies.",
            )

    def _chosen(self, study: _Study) -> Point | None:
        """The partitioning that was given, if it keeps what is asked; None where one is to be searched for."""
        if self.partitioning is None:
            return None
        names = study.prepared.names
        given = Partitioning.of(len(names), [[_place(name, names) for name in own] for own in self.partitioning])
        if not self.overlapping and sum(map(len, self.partitioning)) > given.used.bit_count():
            raise DataError("not-a-partitioning", "A column is in two projections though overlapping is off.")
        level = study.judge.level(given)
        if level < study.k or not study.judge.demand(given):
            raise PromiseError(
                "no-partitioning",
                f"The given projections have the level {level:,}; {study.requirement.describe()} is asked"
                f"{'' if level < study.k else ', and not all of that is kept'}. Ask for less, or let it search.",
            )
        return Point(given, float(study.judge.accuracies([given])[0]), level)

    def _mutation(self, names: Sequence[str]) -> float | list[float] | None:
        if not isinstance(self.mutation, Mapping):
            return self.mutation
        for name in self.mutation:
            _place(name, names)
        return [float(self.mutation.get(name, 1 / len(names))) for name in names]

    def _published(self, study: _Study, subsets: Sequence[tuple[int, ...]]) -> ProjectionsRelease | EnsembleRelease:
        if self.publish == "trees":
            trees = [model for model in self._models if isinstance(model, C45Tree)]
            release = publish_trees(study.prepared, trees, study.requirement)
            self._check_more(study, release)
            return release
        if study.left_out is None:
            return self._projected(study, subsets, None)
        public = set(study.prepared.quasi)
        known = [[feature for feature in own if feature in public] for own in subsets]
        codes = list(study.prepared.encode(study.table, "missing"))
        nobody = np.zeros_like(study.left_out)
        try:  # rows whose groups are large enough without the columns that are not published come back
            return self._projected(study, subsets, groups_to_leave_out(codes, known, study.k, nobody))
        except PromiseError:  # some of them have a class that their group did not have: then without the whole group
            new = groups_with_new_classes(codes, study.table[study.target].codes, known, ~study.left_out)
            fewer = groups_to_leave_out(codes, known, study.k, new)
            if not new.any() or int(fewer.sum()) > study.prepared.task.budget:
                raise
            return self._projected(study, subsets, fewer)

    def _projected(
        self, study: _Study, subsets: Sequence[tuple[int, ...]], left_out: NDArray[np.bool_] | None
    ) -> ProjectionsRelease:
        maps: dict[str, ColumnMap] = {}
        for own in subsets:
            maps.update(projection_maps(study.prepared, own))
        # what a hierarchy lists is the domain of its column
        listed = {name: each.values for name, each in study.prepared.task.hierarchies.items() if each.values}
        release = publish_projections(
            study.table,
            study.target,
            self.partitioning_,
            privacy=study.requirement,
            public=study.prepared.task.public,
            maps=maps,
            domain={**listed, **(self.domain or {})},
            left_out=left_out if left_out is not None and left_out.any() else None,
            overlapping=self.overlapping,
            reproducible=self.reproducible,
        )
        self._check_more(study, release)
        return release

    def _check_more(self, study: _Study, release: ProjectionsRelease | EnsembleRelease) -> None:
        check_more(release, study.table, each=self.each, open_classes=self.open_classes, others=self.other_public)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _place(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise DataError("no-column", f"There is no column {name!r} to project on.{closest(name, names)}")
    return list(names).index(name)
