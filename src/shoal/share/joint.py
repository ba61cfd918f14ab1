# SPDX-License-Identifier: Apache-2.0
"""One model from what several owners published: learned from pseudo-data, or by asking all of their trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.stack import stack
from shoal.data.table import Table
from shoal.errors import DataError
from shoal.release import TreeRelease
from shoal.release.joint import LEARNERS, JointRelease
from shoal.share.agree import agree
from shoal.share.conjunctive_rule import ConjunctiveRule
from shoal.share.generate import PseudoData, pseudo_data, share_out
from shoal.share.naive_bayes import MixedNaiveBayes
from shoal.trees import AnonymousTreeClassifier

Shares = NDArray[np.float64]


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
        How many pseudo-rows to learn from, shared among owners by their people; by default as many as people.
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
    agree(owners, widen=widen)
    return JointModel(JointRelease(dict(owners), learner, n_rows, seed, widen))


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
    def classes(self) -> NDArray[Any]:
        """The target's values in the type they had."""
        return self.recipe.first.labels

    def pseudo_data(self, n_rows: int | None = None, *, seed: int | None = None) -> PseudoData:
        """Rows of nobody, from all owners' trees by their people."""
        recipe = self.recipe
        agree(recipe.owners, widen=recipe.widen)
        people = np.array([release.n_people for release in recipe.owners.values()], dtype=np.int64)
        wanted = n_rows if n_rows is not None else recipe.n_rows
        shares = people if wanted is None else share_out(people, wanted)
        rng = np.random.default_rng(recipe.seed if seed is None else seed)
        parts = [
            pseudo_data(release, int(n), marginals=release.marginals, random_state=rng)
            for release, n in zip(recipe.owners.values(), shares, strict=True)
            if n
        ]
        names = parts[0].table.names
        tables = [part.table for part in parts]
        while len(tables) > 1:  # two by two, so that no rows are copied too often
            pairs = [tables[i : i + 2] for i in range(0, len(tables), 2)]
            tables = [stack(pair[0], pair[1], names) if len(pair) == 2 else pair[0] for pair in pairs]
        # no order by owner
        table = tables[0].take(rng.permutation(tables[0].n_rows))
        return PseudoData(table, recipe.target, np.full(table.n_rows, -1, dtype=np.int64))

    @cached_property
    def model_(self) -> Any:
        """What was learned from pseudo-data; None where the trees themselves are asked."""
        make = _MAKERS.get(self.recipe.learner)
        return None if make is None else learn(make(), self.pseudo_data())

    def predict_proba(self, X: Any) -> Shares:
        """How likely each class is, in the order of `classes`."""
        if self.model_ is None:
            return self._asked(X, vote=self.recipe.learner == "vote")
        shares = self.model_.predict_proba(self._read(X))
        order = {str(label): place for place, label in enumerate(self.model_.classes_)}
        answer = np.zeros((len(shares), len(self.classes)))
        for place, label in enumerate(self.classes):
            if str(label) in order:  # a class that no pseudo-row has is never answered
                answer[:, place] = shares[:, order[str(label)]]
        return answer

    def predict(self, X: Any) -> NDArray[Any]:
        """The most likely class of each row."""
        answer: NDArray[Any] = self.classes[self.predict_proba(X).argmax(axis=1)]
        return answer

    def _asked(self, X: Any, *, vote: bool) -> Shares:
        total: Shares | None = None
        for release in self.recipe.owners.values():
            weight = float(release.n_people)
            table = release.read(X)
            if vote:
                answers = release.answers[release.apply(table, unknown="ancestor")]
                own = np.eye(len(self.classes))[answers]
            else:
                own = release.predict_proba(table, unknown="ancestor")
            total = weight * own if total is None else total + weight * own
        assert total is not None
        shares: Shares = total / total.sum(axis=1, keepdims=True)
        return shares

    def _read(self, X: Any) -> Any:
        table = self.recipe.first.read(X)
        features = [each.name for each in self.recipe.first.attributes if each.name != self.recipe.target]
        missing = [name for name in features if name not in table]
        if missing:
            raise DataError("no-column", f"These rows lack column(s) {', '.join(map(repr, missing))}.")
        return table.select(features)


def learn(estimator: Any, rows: PseudoData) -> Any:
    """Fit a scikit-learn estimator, or one of Shoal's, to pseudo-data."""
    features = rows.table.drop([rows.target])
    target = rows.table[rows.target]
    labels = np.array(target.names, dtype=object)[target.codes]
    return estimator.fit(features, labels)


class _Encoded:
    """A scikit-learn classifier behind an encoding of columns: numbers as they are, categories by their place."""

    def __init__(self, make: Callable[[list[bool]], Any]) -> None:
        self._make = make

    def fit(self, table: Table, labels: NDArray[Any]) -> _Encoded:
        self._values = {name: column.names for name, column in table.items() if column.kind == "categorical"}
        self._names = table.names
        self._model = self._make([name in self._values for name in table]).fit(self._numbers(table), labels)
        self.classes_ = self._model.classes_
        return self

    def predict_proba(self, table: Table) -> Shares:
        shares: Shares = self._model.predict_proba(self._numbers(table))
        return shares

    def _numbers(self, table: Table) -> Shares:
        columns = []
        for name in self._names:
            column = table[name]
            if name in self._values:
                place = {value: float(code) for code, value in enumerate(self._values[name])}
                of_code = [place.get(value, np.nan) for value in column.names]
            else:
                of_code = column.numbers.tolist()
            columns.append(np.array([*of_code, np.nan])[column.codes])
        return np.column_stack(columns)


def _boosting() -> _Encoded:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return _Encoded(lambda categories: HistGradientBoostingClassifier(categorical_features=categories, random_state=0))


_MAKERS: dict[str, Callable[[], Any]] = {
    "tree": lambda: AnonymousTreeClassifier(privacy=1, variant="c45", unknown="ancestor"),
    "bayes": MixedNaiveBayes,
    "rules": ConjunctiveRule,
    "boosting": _boosting,
}
