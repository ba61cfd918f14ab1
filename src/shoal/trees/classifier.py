# SPDX-License-Identifier: Apache-2.0
"""The face that scikit-learn users know."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from shoal.data.domain import Domain
from shoal.data.frames import to_table
from shoal.data.hierarchy import Hierarchy, load_hierarchies
from shoal.data.roles import Roles, TargetRole
from shoal.data.table import Columns
from shoal.data.target import with_target
from shoal.engines import RowsElsewhere, open_rows
from shoal.errors import DataError, RequirementError
from shoal.privacy import Requirement, as_requirement, people_behind
from shoal.release.statement import Statement
from shoal.release.tree import Unknown
from shoal.trees.estimator import ShoalEstimator, checked_target, target_name
from shoal.trees.features import MAX_CODES
from shoal.trees.mine import mine_tree
from shoal.trees.options import check_options
from shoal.trees.score import Criterion
from shoal.trees.weights import ClassWeight

# criterion, grouping, pruning and search of each variant
VARIANTS: dict[str | None, tuple[Criterion, str, str | float, bool]] = {
    "id3": ("gain", "levels", "none", False),
    "c45": ("ratio", "levels", 0.25, False),
    None: ("gini", "halves", "cost", True),
}


def _states_shares(self: AnonymousTreeClassifier) -> bool:
    """Whether there is a predict_proba; scikit-learn tells the refusal as the reason."""
    if self.statement == "majority":
        raise DataError("no-probabilities", "With statement='majority' there are only predicted classes. Try predict.")
    return True


class AnonymousTreeClassifier(ClassifierMixin, ShoalEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A decision tree that ties nobody in its rows to a private fact by fewer than k people.

    The tree grows by what splits gain and never makes a split after which some group of people, told apart by what an
    attacker may know, breaks the requirement (kADET, [1]_ [2]_). Each fit ends with an independent audit.

    Parameters
    ----------
    privacy
        What every group must satisfy: a requirement such as ``KAnonymity(50) & Confidence(0.9)``, or a whole number k.
    public
        The columns an attacker may know; the other columns are private. None: every column but the target is public.
    target_role
        ``"private"`` unless an attacker may know the target too.
    sensitive
        Private columns besides the target that diversity requirements are asked of.
    domain
        The values or bounds of columns that are known beforehand, by column. Of a private numeric column without
        declared bounds, values are clipped at round numbers with enough people at or beyond them.
    person
        The column that tells people apart, where they may have several rows. Every row is learned from, and every
        group has enough different people. The column itself is never used to learn, and nothing of it is released.
    hierarchies
        How values generalise: a folder of files, or a dict from column to path, nested dict or `Hierarchy`.
    criterion
        What a split gains: ``"gain"`` (information gain), ``"gini"``, or ``"ratio"`` (gain ratio among columns of at
        least average gain, with C4.5's rules about numeric cuts, few people and missing values). None: as the variant
        has it.
    strict
        Ask the requirement of single-bin spans too, as [2]_ does; [1]_ shows that those tell nothing private.
    max_depth, max_leaves
        Stop at this many levels below the root, or with this many leaves that somebody is in; None: as far as the
        promise allows. With `max_leaves`, splits that gain most are made first.
    grouping
        How a categorical column is split. ``"levels"``: a branch a value, or a group of its hierarchy, as in the
        papers. ``"halves"``: without a hierarchy in two groups of values with like classes, so that rare values need
        not stand alone. ``"merge"``: a branch a value, but the smallest group of values is merged with the one nearest
        in the hierarchy, else with the one whose merging loses least gain, until the promise allows the split; values
        that fewer than five people of a node have are merged first, whatever their classes. None: as the variant has
        it.
    pruning
        What becomes a leaf again after growing: ``"cost"``, a subtree that neither saves errors, as error-based pruning
        at 0.05 expects them, nor 2·log₂(people) bits for each leaf it adds; a number up to 0.5, C4.5's error-based
        pruning with that confidence factor; ``"none"``. None: as the variant has it. Pruning only merges groups, so it
        needs a monotone requirement; all of Shoal's are.
    min_gain
        What a split must gain at least: the gain of its people together over all people of the table, in bits, or in
        Gini's index with ``criterion="gini"`` (scikit-learn's ``min_impurity_decrease``).
    class_weight
        How much people of each class count in what splits gain, in pruning and in answers: ``"balanced"``, as much as
        there are fewer of them; or a dict from each class to a positive number. Only ratios matter; they are rounded to
        1/27,720 of the heaviest class. The release states them; those of ``"balanced"`` tell how often each class
        occurs. Groups are counted in people whatever their weight.
    lookahead
        1: choose a split by what it gains together with the best splits right below it. Of each column the best split
        is tried and, where it cuts in two, the most even one: at most 12 a node. Takes many times as long.
    search
        Whether to look beyond the highest gain. With the target alone private, the splits of the largest nodes (a
        quarter of the table and more) are chosen by the trees that would grow below them; this needs splits in two, so
        no hierarchies, and is not done for more than 1,048,576 people, where it hardly changes a tree for the better.
        With other private columns, a tree is grown in which public tests stand above private ones;
        for up to 200,000 people one in order of gain as well, and the one that is expected to make fewer errors is
        taken; this needs pruning. There is no search with `max_leaves`, `lookahead`, `class_weight`, a public target or
        other sensitive columns. None: as the variant has it.
    max_codes
        Numeric columns of at most this many distinct numbers are cut between any two of them; others at this many
        quantiles, and the release says so.
    statement
        What the release says of its leaves: ``"counts"``, how many people of each class; ``"shares"``, the share of
        each class; or ``"majority"``, only the class that is predicted, so that there is no `predict_proba`. Groups and
        predictions are the same.
    unknown
        What `predict` does with a category that the declared domain does not have: ``"error"``, or ``"ancestor"``:
        answer from the node that asks for it.
    variant
        ``"id3"``: as in the papers (information gain, a branch a value, nothing pruned). ``"c45"``: the papers' C4.5
        (gain ratio, a branch a value, error-based pruning at 0.25). None: what did best in our measurements (Gini,
        halves, pruning by cost, search).
    engine
        Where counts come from: ``"memory"``, ``"stream"`` for rows that do not fit into it, or ``"spark"`` for rows on
        a cluster (see `fit`). The release is the same.
    random_state
        Accepted because every estimator has one. The tree uses no randomness.

    Attributes
    ----------
    release_ : TreeRelease
        All that may leave the house, with the audit's verdict.
    classes_ : ndarray
        The classes.
    n_features_in_ : int
        How many columns it was given.
    feature_names_in_ : ndarray
        Their names, where they had any.

    Notes
    -----
    Differs from [1]_ and [2]_: the one queue is ordered by the gain of all people in a node together; ties go to the
    earlier column, then to the earlier value; a branch that nobody can take leads to an empty leaf whose prediction is
    its parent's; a numeric column without a hierarchy is split in two at a round number between neighbouring values.
    The default variant goes beyond both.

    References
    ----------
    .. [1] A. Friedman, R. Wolff, A. Schuster, "Providing k-anonymity in data mining", VLDB Journal 17 (2008),
       789-804, doi:10.1007/s00778-006-0039-5.
    .. [2] A. Friedman, A. Schuster, R. Wolff, "k-Anonymous Decision Tree Induction", PKDD 2006, LNCS 4213, 151-162,
       doi:10.1007/11871637_18.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> clinic = load_sample()
    >>> people = clinic.table.select(["age", "sex", "education", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=200).fit(people, "diabetes")
    >>> tree.release_.verdict.smallest_group >= 200
    True
    >>> tree.predict(people).shape
    (5000,)
    """

    def __init__(
        self,
        privacy: Requirement | int = 10,
        *,
        public: Sequence[str] | None = None,
        target_role: TargetRole = "private",
        sensitive: Sequence[str] = (),
        domain: Domain | None = None,
        person: str | None = None,
        hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        criterion: Criterion | None = None,
        grouping: Literal["levels", "halves", "merge"] | None = None,
        pruning: Literal["cost", "none"] | float | None = None,
        search: bool | None = None,
        strict: bool = False,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_gain: float = 0.0,
        class_weight: ClassWeight = None,
        lookahead: Literal[0, 1] = 0,
        max_codes: int = MAX_CODES,
        statement: Statement = "counts",
        unknown: Unknown = "error",
        variant: Literal["id3", "c45"] | None = None,
        engine: Literal["memory", "stream", "spark"] = "memory",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.privacy = privacy
        self.public = public
        self.target_role = target_role
        self.sensitive = sensitive
        self.domain = domain
        self.person = person
        self.hierarchies = hierarchies
        self.criterion = criterion
        self.grouping = grouping
        self.pruning = pruning
        self.search = search
        self.strict = strict
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_gain = min_gain
        self.class_weight = class_weight
        self.lookahead = lookahead
        self.max_codes = max_codes
        self.statement = statement
        self.unknown = unknown
        self.variant = variant
        self.engine = engine
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> AnonymousTreeClassifier:
        """Learn the tree and audit it.

        Parameters
        ----------
        X
            The rows, one a person unless `person` is given: a data frame, an Arrow table, a NumPy array, a `Table`, or
            the path of a file or of a folder of Parquet files. With ``engine="spark"``, a Spark DataFrame, the path of
            a folder of Parquet, Delta or Iceberg files, or the name of a table.
        y
            The target's values, or the name of its column in `X`.
        """
        check_options(self)
        as_requirement(self.privacy)
        if self.engine == "memory":
            X = self._checked(X, reset=True)
            whole, y = to_table(X), checked_target(y)
            target, features = target_name("AnonymousTreeClassifier", whole.names, y)
            whole = with_target(whole, y, target)
            roles = self._roles(whole.names, target)
            self._mine(whole, roles, load_hierarchies(self.hierarchies, roles.features))
            self._remember(X, features)
            return self
        if not isinstance(y, str):
            raise DataError(
                "target-name", f"With engine={self.engine!r}, name the target's column of X: fit(X, 'income')."
            )
        if self.person is not None:
            raise RequirementError(
                "person-engine", f"Several rows a person need engine='memory'; engine={self.engine!r} takes none."
            )
        with open_rows(self.engine, X) as rows:
            target, features = target_name("AnonymousTreeClassifier", rows.names, y)
            roles = self._roles(rows.names, target)
            hierarchies = load_hierarchies(self.hierarchies, roles.features)
            table = rows.count(
                [*roles.features, target],
                coarse=[name for name in roles.features if name not in hierarchies and name not in roles.sensitive],
                people=people_behind(as_requirement(self.privacy)),
                max_codes=self.max_codes,
            )
            self._mine(with_target(table, y, target), roles, hierarchies, rows)
        self._remember(X, features)
        return self

    def _roles(self, names: Sequence[str], target: str) -> Roles:
        return Roles.resolve(
            names,
            target=target,
            public=self.public,
            identifier=[] if self.person is None else [self.person],
            target_role=self.target_role,
            sensitive=self.sensitive,
        )

    def _mine(
        self, table: Columns, roles: Roles, hierarchies: Mapping[str, Hierarchy], rows: RowsElsewhere | None = None
    ) -> None:
        self.release_ = mine_tree(
            table,
            roles,
            as_requirement(self.privacy),
            domain=self.domain,
            hierarchies=hierarchies,
            strict=self.strict,
            **self._manner(),
            max_depth=self.max_depth,
            max_leaves=self.max_leaves,
            class_weight=self.class_weight,
            max_codes=self.max_codes,
            statement=self.statement,
            person=self.person,
            rows=rows,
        )
        # scikit-learn wants classes in ascending order, whatever order a declared domain gives them
        self.classes_ = np.sort(self.release_.labels)

    @available_if(_states_shares)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of each class where a row ends, in the order of `classes_`."""
        return self._shares(X)

    def _manner(self) -> dict[str, Any]:
        """How to grow: criterion, grouping and pruning as given, or as the variant has them."""
        of_variant = VARIANTS[self.variant]
        grouping = of_variant[1] if self.grouping is None else self.grouping
        pruning = of_variant[2] if self.pruning is None else self.pruning
        return {
            "criterion": of_variant[0] if self.criterion is None else self.criterion,
            "grouping": None if grouping == "levels" else grouping,
            "pruning": None if pruning == "none" else pruning,
            "min_gain": float(self.min_gain),
            "lookahead": int(self.lookahead),
            "search": of_variant[3] if self.search is None else self.search,
        }
