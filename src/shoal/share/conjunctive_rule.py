# SPDX-License-Identifier: Apache-2.0
"""One rule: a conjunction of tests, and the classes of the rows that satisfy it and of those that do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from shoal.data.discretize import roundest
from shoal.data.frames import to_table
from shoal.data.table import Column, Table
from shoal.data.target import with_target
from shoal.errors import DataError
from shoal.share.naive_bayes import own_classes
from shoal.trees.estimator import RowsEstimator, checked_target, target_name

Mask = NDArray[np.bool_]
TIE = 1e-9  # bits, far below any gain that matters


@dataclass(frozen=True)
class Test:
    """A condition on one column: equal to a value, or at most or above a number."""

    column: str
    value: str | None = None
    at_most: float | None = None
    above: float | None = None

    def __str__(self) -> str:
        if self.value is not None:
            return f"{self.column} = {self.value}"
        return (
            f"{self.column} at most {self.at_most:g}"
            if self.at_most is not None
            else f"{self.column} above {self.above:g}"
        )

    def holds(self, column: Column) -> Mask:
        """Which rows satisfy it; a missing value satisfies nothing."""
        if self.value is not None:
            of_code = np.array([*(name == self.value for name in column.names), False])
        elif self.at_most is not None:
            of_code = np.append(column.numbers <= self.at_most, False)
        else:
            assert self.above is not None
            of_code = np.append(column.numbers > self.above, False)
        return np.asarray(of_code[column.codes])


class ConjunctiveRule(ClassifierMixin, RowsEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A learner of a single conjunctive rule, in the manner of Weka's.

    Tests are added one at a time, the one first that tells most of the target (information gain of the rows that
    satisfy the rule against all others); then the rule is cut back to the tests that pay on rows held out.

    Parameters
    ----------
    folds
        One of so many parts of the rows is held out for cutting back.
    least
        Rows that satisfy the rule must be at least so many.
    random_state
        Which rows are held out.

    References
    ----------
    J. van Zyl, I. Cloete, "Heuristic functions for learning fuzzy conjunctive rules", IEEE SMC 2004, 2332-2337.

    Examples
    --------
    >>> from shoal import load_sample
    >>> rule = ConjunctiveRule().fit(load_sample().table, "diabetes")
    >>> str(rule.tests_[0])
    'age above 44.5'
    """

    def __init__(self, *, folds: int = 3, least: int = 2, random_state: int | None = 0) -> None:
        self.folds = folds
        self.least = least
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> ConjunctiveRule:
        """Learn from rows and their classes; `y` may be the name of a column of `X`."""
        X = self._checked(X, reset=True)
        y = checked_target(y)
        table = to_table(X)
        name, features = target_name(type(self).__name__, table, y)
        rows = with_target(table, y, name)
        target = rows[name].compact()
        if target.missing:
            raise DataError("target-missing", f"The target {name!r} is missing in some rows. Remove them first.")
        self._remember(X, features)
        self.classes_ = own_classes(target)
        held_out = np.zeros(rows.n_rows, dtype=bool)
        order = np.random.default_rng(self.random_state).permutation(rows.n_rows)
        held_out[order[: rows.n_rows // self.folds]] = True
        tests = self._grow(rows.take(~held_out), features, target.take(~held_out))
        tests = _cut_back(tests, rows, target, held_out)
        self.tests_ = tuple(tests)
        inside = _satisfy(self.tests_, rows)
        self._shares = np.stack([_shares(target, inside), _shares(target, ~inside)])
        return self

    def _grow(self, rows: Table, features: list[str], target: Column) -> list[Test]:
        tests: list[Test] = []
        inside, best = np.ones(rows.n_rows, dtype=bool), 0.0
        while len(tests) < len(features) * 4:
            found = [self._best(rows[name], target, inside) for name in features]
            gain, test = max(found, key=lambda each: each[0], default=(0.0, None))
            if test is None or gain <= best + 2 * TIE:
                break
            tests.append(test)
            inside, best = inside & test.holds(rows[test.column]), gain
        return tests

    def _best(self, column: Column, target: Column, inside: Mask) -> tuple[float, Test | None]:
        """The test of one column with the highest gain beside those that a rule has already."""
        n = target.n_codes
        key = column.codes[inside].astype(np.int64) * n + target.codes[inside]
        by_code = np.bincount(key, minlength=(len(column.values) + 1) * n).reshape(-1, n)[: len(column.values)]
        everybody = np.bincount(target.codes, minlength=n)
        if column.kind == "categorical":
            gains = _gains(by_code, everybody, self.least)
            place = int(gains.argmax()) if len(gains) else 0
            return (float(gains[place]), Test(column.name, value=column.names[place])) if len(gains) else (0.0, None)
        below = np.cumsum(by_code, axis=0)[:-1]
        above = by_code.sum(axis=0) - below
        if not len(below):
            return 0.0, None
        low, high = _gains(below, everybody, self.least), _gains(above, everybody, self.least)
        place = int(np.maximum(low, high).argmax())
        # the cut lies between two numbers that rows of the rule have
        there = by_code.sum(axis=1) > 0
        nexts = np.flatnonzero(there[place + 1 :])
        if not len(nexts):
            return 0.0, None
        cut = roundest(float(column.numbers[place]), float(column.numbers[place + 1 + nexts[0]]))
        if low[place] >= high[place]:
            return float(low[place]), Test(column.name, at_most=cut)
        return float(high[place]), Test(column.name, above=cut)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most frequent class of the side of the rule that each row is on."""
        shares = self.predict_proba(X)
        answer: NDArray[Any] = self.classes_[shares.argmax(axis=1)]
        return answer

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of each class on the side of the rule that each row is on."""
        check_is_fitted(self)
        table = to_table(self._checked(X, reset=False))
        inside = _satisfy(self.tests_, table)
        return np.asarray(self._shares[np.where(inside, 0, 1)])


def _satisfy(tests: tuple[Test, ...], table: Table) -> Mask:
    inside = np.ones(table.n_rows, dtype=bool)
    for test in tests:
        inside &= test.holds(table[test.column])
    return inside


def _cut_back(tests: list[Test], rows: Table, target: Column, held_out: Mask) -> list[Test]:
    """The first tests of a rule, as many as are right most often on rows held out; fewer of equals."""
    if not held_out.any():
        return tests
    learn, check = rows.take(~held_out), rows.take(held_out)
    learnt, truth = target.take(~held_out), target.codes[held_out]
    right = []
    for n in range(len(tests) + 1):
        some = tuple(tests[:n])
        inside = _satisfy(some, learn)
        answers = np.array([_shares(learnt, inside).argmax(), _shares(learnt, ~inside).argmax()])
        right.append(int((answers[np.where(_satisfy(some, check), 0, 1)] == truth).sum()))
    return tests[: int(np.argmax(right))]


def _shares(target: Column, rows: Mask) -> NDArray[np.float64]:
    """Shares of the classes among some rows; among all where there is none."""
    counts = np.bincount(target.codes[rows] if rows.any() else target.codes, minlength=target.n_codes)
    return np.asarray(counts / counts.sum())


def _gains(inside: NDArray[np.int64], everybody: NDArray[np.int64], least: int) -> NDArray[np.float64]:
    """The information gain of each way to part everybody in two: some people, given by class, and the rest."""
    rest = everybody - inside
    n = everybody.sum()
    gains = _bits(everybody[None, :])[0] - (_bits(inside) + _bits(rest))
    people = inside.sum(axis=1)
    # a side and its complement gain the same: the one that says something else than what most people have goes first
    usual = inside[:, everybody.argmax()] / np.maximum(people, 1)
    return np.where(people < least, 0.0, gains / n - TIE * usual)


def _bits(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The entropy of each row of counts, times its people."""
    people = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(counts > 0, counts * np.log2(people / counts), 0.0)
    return np.asarray(each.sum(axis=1))
