# SPDX-License-Identifier: Apache-2.0
"""The learners in the box, taught with pseudo-data; each answers shares of classes for rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Table
from shoal.release import Attribute
from shoal.share.conjunctive_rule import ConjunctiveRule
from shoal.share.generate import PseudoData
from shoal.share.naive_bayes import MixedNaiveBayes
from shoal.trees import AnonymousTreeClassifier

Shares = NDArray[np.float64]
MOST_CATEGORIES = 255


def learn(learner: str, rows: PseudoData, attributes: Sequence[Attribute]) -> Any:
    """Teach one of the learners; where all rows are of one class, that is the answer."""
    target = replace(rows.table[rows.target], labels="string")
    labels = np.array(target.names, dtype=object)[target.codes]
    if (labels == labels[0]).all():
        return _OneClass(labels[:1])
    if learner == "boosting":
        return _boosting().fit(rows.table.drop([rows.target]), labels)
    features = [each for each in attributes if each.name != rows.target]
    return _make(learner, features).fit(rows.table.with_column(target), rows.target)


def declared_of(attributes: Sequence[Attribute]) -> dict[str, list[Any]]:
    """Domains in the words in which they are declared: values, or two bounds."""
    return {
        each.name: list(each.values) if each.type == "categorical" else list(each.bounds or ()) for each in attributes
    }


def _make(learner: str, features: Sequence[Attribute]) -> Any:
    if learner == "tree":
        return AnonymousTreeClassifier(privacy=1, variant="c45", domain=declared_of(features), unknown="ancestor")
    return MixedNaiveBayes() if learner == "bayes" else ConjunctiveRule()


class _Encoded:
    """A scikit-learn classifier behind an encoding of columns: numbers as they are, categories by their place."""

    def __init__(self, make: Callable[[list[bool]], Any]) -> None:
        self._make = make

    def fit(self, table: Table, labels: NDArray[Any]) -> _Encoded:
        self._values = {name: column.names for name, column in table.items() if column.kind == "categorical"}
        self._names = table.names
        # more categories than scikit-learn takes are numbers to it
        few = [name in self._values and len(self._values[name]) <= MOST_CATEGORIES for name in table]
        self._model = self._make(few).fit(self._numbers(table), labels)
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


class _OneClass:
    """The answer where every row is of one class."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes_ = classes

    def predict_proba(self, table: Table) -> Shares:
        return np.ones((table.n_rows, 1))


def _boosting() -> _Encoded:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return _Encoded(lambda categories: HistGradientBoostingClassifier(categorical_features=categories, random_state=0))
