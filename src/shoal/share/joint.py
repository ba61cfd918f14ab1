# SPDX-License-Identifier: Apache-2.0
"""One model from what several owners published: learned from pseudo-data, or by asking all of their trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.stack import stack
from shoal.data.table import Column, Table
from shoal.errors import DataError
from shoal.release import Attribute, TreeRelease
from shoal.release.checks import MAX_COUNT
from shoal.release.joint import LEARNERS, JointRelease
from shoal.release.tree import Unknown
from shoal.share.agree import agree
from shoal.share.generate import PseudoData, checked_rows, pseudo_data, share_out
from shoal.share.learners import declared_of, learn

Shares = NDArray[np.float64]
MOST_PEOPLE = 5_000_000  # of whom there is a pseudo-row each without being asked for


def pool(
    owners: Mapping[str, TreeRelease],
    learner: str = "tree",
    *,
    n_rows: int | None = None,
    seed: int = 0,
    widen: bool = False,
) -> JointModel:
    """Learn one model from the released trees of several owners.

    Parameters
    ----------
    owners
        What each published, by a name.
    learner
        ``"tree"`` (C4.5), ``"bayes"``, ``"rules"`` (one conjunctive rule) or ``"boosting"``, learned from pseudo-data
        of all owners; ``"bag"``, the shares of their trees averaged by their people; ``"vote"``, the class that most
        people's trees answer.
    n_rows
        How many pseudo-rows to learn from, shared among owners by their people; by default as many as people, and at
        most five million.
    seed
        What the rows are drawn with; the same seed gives the same model.
    widen
        Accept that owners declare different values or bounds, and take the widest. Otherwise that is refused.

    Returns
    -------
    JointModel
        A function of the releases: nothing more can be told from it than from them, so it needs no further check.

    Notes
    -----
    Nobody can see from outside that one person is at several owners. He is then in several releases, and what these
    tell together can be more than each may tell; see the ledger for releases of one table.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> domain = {"age": [0, 120], "sex": ["Female", "Male"]}
    >>> halves = {"north": people.take(np.arange(2500)), "south": people.take(np.arange(2500, 5000))}
    >>> owners = {
    ...     name: AnonymousTreeClassifier(privacy=100, domain=domain).fit(rows, "diabetes").release_
    ...     for name, rows in halves.items()
    ... }
    >>> joint = pool(owners)
    >>> joint
    <JointModel of 'diabetes': 2 owners, learner tree>
    >>> joint.predict({"age": [30, 80], "sex": ["Male", "Male"]}).tolist()
    ['no', 'no']
    """
    if learner not in LEARNERS:
        raise DataError("unknown-option", f"learner must be one of {', '.join(LEARNERS)}; got {learner!r}.")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_COUNT:
        raise DataError("unknown-option", f"seed must be a whole number, not negative; got {seed!r}.")
    agree(owners, widen=widen)
    return JointModel(
        JointRelease(dict(owners), learner, None if n_rows is None else checked_rows(n_rows), seed, widen)
    )


@dataclass(frozen=True, eq=False)
class JointModel:
    """The model of a recipe, learned when it is first asked.

    Attributes
    ----------
    recipe
        The owners' releases and how to learn from them: what is saved.
    """

    recipe: JointRelease

    def __repr__(self) -> str:
        return repr(self.recipe).replace("JointRelease", "JointModel")

    @property
    def target(self) -> str:
        """What is predicted."""
        return self.recipe.target

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns that all owners state, over the widest of their domains."""
        return agree(self.recipe.owners, widen=self.recipe.widen)

    @cached_property
    def _by_name(self) -> dict[str, Attribute]:
        return {each.name: each for each in self.attributes}

    @property
    def declared(self) -> dict[str, list[Any]]:
        """The domain of each feature in the words in which one is declared."""
        return declared_of([each for each in self.attributes if each.name != self.target])

    @property
    def classes(self) -> tuple[str, ...]:
        """The target's values, in the order of every share."""
        return self._by_name[self.target].values

    @property
    def labels(self) -> NDArray[Any]:
        """The target's values in the type they had."""
        return self._by_name[self.target].own_values

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that a prediction is made from."""
        return tuple(each.name for each in self.attributes if each.name != self.target)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The same, under the name by which scikit-learn and an audit ask."""
        return np.array(self.features)

    def pseudo_data(self, n_rows: int | None = None, *, seed: int | None = None) -> PseudoData:
        """Rows of nobody, from all owners' trees by their people; by default as many and the same as learned from."""
        recipe = self.recipe
        names = [each.name for each in self.attributes]  # and a look whether they fit
        people = np.array([release.n_people for release in recipe.owners.values()], dtype=np.int64)
        wanted = n_rows if n_rows is not None else recipe.n_rows
        wanted = checked_rows(min(int(people.sum()), MOST_PEOPLE) if wanted is None else wanted, len(names))
        shares = share_out(people, wanted)
        rng = np.random.default_rng(recipe.seed if seed is None else seed)
        tables = [
            pseudo_data(release, int(n), marginals=release.marginals, random_state=rng).table
            for release, n in zip(recipe.owners.values(), shares, strict=True)
            if n
        ]
        while len(tables) > 1:  # two by two, so that no rows are copied too often
            pairs = [tables[i : i + 2] for i in range(0, len(tables), 2)]
            tables = [stack(pair[0], pair[1], names) if len(pair) == 2 else pair[0] for pair in pairs]
        # no order by owner
        table = tables[0].take(rng.permutation(tables[0].n_rows)).select(names)
        return PseudoData(table, recipe.target, np.full(table.n_rows, -1, dtype=np.int64))

    @cached_property
    def model_(self) -> Any:
        """What was learned from pseudo-data; None where the trees themselves are asked."""
        if self.recipe.learner in ("bag", "vote"):
            return None
        return learn(self.recipe.learner, self.pseudo_data(), self.attributes)

    def predict_proba(self, X: Any, *, unknown: Unknown = "error") -> Shares:
        """How likely each class is, in the order of `classes`; `unknown` as in `predict`."""
        table = self._read(X, unknown)
        if self.model_ is None:
            return self._asked(table, vote=self.recipe.learner == "vote")
        shares = self.model_.predict_proba(table)
        order = {label: place for place, label in enumerate(self.model_.classes_)}
        answer = np.zeros((len(shares), len(self.classes)))
        for place, label in enumerate(self.classes):
            if label in order:  # a class that no pseudo-row has is never answered
                answer[:, place] = shares[:, order[label]]
        return answer

    def predict(self, X: Any, *, unknown: Unknown = "error") -> NDArray[Any]:
        """The most likely class of each row.

        A category that no owner declares is an error, or with ``unknown="ancestor"`` a value that says nothing.
        """
        answer: NDArray[Any] = self.labels[self.predict_proba(X, unknown=unknown).argmax(axis=1)]
        return answer

    def _asked(self, table: Table, *, vote: bool) -> Shares:
        total = np.zeros((table.n_rows, len(self.classes)))
        for release in self.recipe.owners.values():
            place = [self.classes.index(value) for value in release.classes]
            if vote:
                own = np.eye(len(place))[release.answers[release.apply(table, unknown="ancestor")]]
            else:
                own = release.predict_proba(table, unknown="ancestor")
            total[:, place] += release.n_people * own
        shares: Shares = total / total.sum(axis=1, keepdims=True)
        return shares

    def _read(self, X: Any, unknown: Unknown) -> Table:
        if unknown not in ("error", "ancestor"):
            raise DataError("unknown-option", f"unknown must be 'error' or 'ancestor'; got {unknown!r}.")
        table = self.recipe.first.read(X)
        missing = [name for name in self.features if name not in table]
        if missing:
            raise DataError("no-column", f"These rows lack column(s) {', '.join(map(repr, missing))}.")
        if unknown == "error":
            strange = {name: self._strange(table[name]) for name in self.features}
            where = ", ".join(f"{name!r} in {n} row(s)" for name, n in strange.items() if n)
            if where:
                raise DataError(
                    "unseen-value",
                    f"Values that no owner declares: {where}. Try unknown='ancestor', or map them first.",
                )
        return table.select(self.features)

    def _strange(self, column: Column) -> int:
        """In how many rows a column has a category that no owner declares, or is missing where it cannot be."""
        declared = self._by_name[column.name]
        if declared.type == "categorical":
            known = set(declared.values)
            of_code = np.array([*(name not in known for name in column.names), not declared.missing])
        else:
            of_code = np.append(np.zeros(len(column.numbers), dtype=bool), not declared.missing)
        return int(of_code[column.codes].sum())
