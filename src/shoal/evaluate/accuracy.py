# SPDX-License-Identifier: Apache-2.0
"""How well a model predicts untouched rows when all it has learned from is a generalised table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.data.frames import to_table
from shoal.data.table import Column, Table, smallest_dtype
from shoal.data.target import as_categorical, with_target
from shoal.errors import DataError
from shoal.release import Attribute, Interval, TableRelease
from shoal.release.generalised import Generalised

Draw = Callable[[int], NDArray[np.float64]]  # so many values of a cell: codes, or numbers; missing is nan


def learned_accuracy(
    release: TableRelease,
    test: Any,
    y: Any = None,
    *,
    learner: Literal["c45"] | Any = "c45",
    draws: int = 3,
    random_state: int = 0,
) -> float:
    """The share of test rows that a model predicts rightly which has learned from a released table.

    The same for every method, global recodings and local ones: the model learns from exact rows that are drawn from the
    published ones (`drawn_rows`), and predicts the test rows as they are.

    Parameters
    ----------
    release
        The released table; it must have a target.
    test
        Rows that had no part in it, with exact values in its columns.
    y
        The target's values of the test rows, or the name of its column, where it is not the release's.
    learner
        ``"c45"``: Shoal's C4.5 tree, without a promise of its own. Or a scikit-learn classifier, of which a clone is
        taught: it is given numbers as they are and each value of a category as a column of its own.
    draws
        How many exact rows are drawn of each published one.
    random_state
        Of the draws. Published rows are sorted first, so that their order makes no difference.

    Notes
    -----
    A test row could also be recoded as the table was, but only where the method is a function of values, and a learner
    would have to know what the cells have in common. Drawn rows need neither. What a cell leaves open is drawn evenly,
    so it tells the learner nothing.

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.anonymize import TreeAnonymizer
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> train, test = people.take(np.arange(4000)), people.take(np.arange(4000, 5000))
    >>> release = TreeAnonymizer(privacy=100).fit(train, "diabetes").release_
    >>> 0.7 < learned_accuracy(release, test) < 0.9
    True
    """
    if release.target is None:
        raise DataError("no-target", "This table has no target, so there is nothing to learn.")
    rows = drawn_rows(release, draws=draws, random_state=random_state)
    kinds = {name: column.kind for name, column in rows.items()}
    own = to_table(test, kinds=kinds, only=[*kinds, *([y] if isinstance(y, str) else [])])
    asked = with_target(own, y, release.target)
    # numbers that the test rows have as categories, because they were read so, are learned as such
    rows = Table(
        as_categorical(column) if column.kind == "numeric" and asked[name].kind == "categorical" else column
        for name, column in rows.items()
    )
    truth = asked[release.target]
    missing = int((truth.codes == len(truth.values)).sum())
    if missing:
        raise DataError(
            "target-missing", f"The target {truth.name!r} is missing in {missing} row(s). Remove them first."
        )
    if learner == "c45":
        said = _by_tree(rows, release.target, asked.drop([release.target]))
    else:
        said = _by_estimator(learner, rows, release.target, asked)
    right = np.array(truth.names, dtype=object)[truth.codes] == said
    return float(right.mean())


def drawn_rows(release: TableRelease, *, draws: int = 1, random_state: int = 0) -> Table:
    """Exact rows as the published ones allow them: of each cell a value that it stands for, each equally likely.

    Private columns are exact already. Missing is one of the values of a category; of a cell of numbers that may be
    missing too it is drawn half of the time. A column whose hierarchy lists its numbers one by one is one of numbers
    again.

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.anonymize import TreeAnonymizer
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> release = TreeAnonymizer(privacy=1500).fit(people, "diabetes").release_
    >>> drawn_rows(release, draws=2)
    <Table: 10000 rows, 3 columns>
    """
    if isinstance(draws, bool) or not isinstance(draws, (int, np.integer)) or draws < 1:
        raise DataError("draws", f"draws must be a whole number of at least 1; got {draws!r}.")
    rng = np.random.default_rng(random_state)
    order = np.lexsort([column.codes for column in reversed(list(release.rows.values()))])
    rows = release.rows.take(np.repeat(order, draws))
    return Table(
        _drawn(release.attribute(name), release.generalised[name], column, rng)
        if name in release.generalised
        else column
        for name, column in rows.items()
    )


def _drawn(attribute: Attribute, cells: tuple[Generalised, ...], column: Column, rng: np.random.Generator) -> Column:
    drawn = np.empty(len(column))
    by_cell = np.argsort(column.codes, kind="stable")
    parts = np.split(by_cell, np.cumsum(np.bincount(column.codes, minlength=len(cells)))[:-1])
    of_cell = _of_numbers if attribute.type == "numeric" else _of_categories
    for cell, part in zip(cells, parts, strict=True):
        if len(part):
            drawn[part] = of_cell(attribute, cell, rng)(len(part))
    missing = np.isnan(drawn)
    if attribute.type == "categorical" and attribute.labels not in ("integer", "number"):
        codes = np.where(missing, len(attribute.values), drawn).astype(smallest_dtype(len(attribute.values) + 1))
        return Column(attribute.name, "categorical", codes, attribute.values, missing=bool(missing.any()))
    if attribute.type == "categorical":
        numbers = np.array([*map(float, attribute.values), np.nan])
        drawn = numbers[np.where(missing, len(attribute.values), drawn).astype(np.int64)]
    values, place = np.unique(drawn[~missing], return_inverse=True)
    codes = np.full(len(drawn), len(values), dtype=np.int64)
    codes[~missing] = place
    return Column(
        attribute.name,
        "numeric",
        codes.astype(smallest_dtype(len(values) + 1)),
        values,
        missing=bool(missing.any()),
        integer=attribute.integer or attribute.labels == "integer",
    )


def _of_categories(attribute: Attribute, cell: Generalised, rng: np.random.Generator) -> Draw:
    position = {value: code for code, value in enumerate(attribute.values)}
    codes: list[float] = [position[value] for value in (attribute.values if cell.is_all else cell.values)]
    if cell.missing or (cell.is_all and attribute.missing):
        codes.append(math.nan)
    return lambda n: rng.choice(np.array(codes, dtype=np.float64), n)


def _of_numbers(attribute: Attribute, cell: Generalised, rng: np.random.Generator) -> Draw:
    assert attribute.bounds is not None
    low, high = attribute.bounds
    if attribute.integer:  # as many whole numbers as the width of what is left
        low, high = math.ceil(low) - 1, math.floor(high)
    ends = [(low, high)] if cell.is_all else [_within(part, low, high, attribute.integer) for part in cell.intervals]
    share = 0.5 if cell.missing or (cell.is_all and attribute.missing) else 0.0
    if not ends:
        return lambda n: np.full(n, np.nan)
    above, at_most = np.array(ends, dtype=np.float64).T
    width = np.maximum(at_most - above, 0)
    chance = width / width.sum() if width.sum() else np.full(len(width), 1 / len(width))

    def draw(n: int) -> NDArray[np.float64]:
        part = rng.choice(len(ends), n, p=chance)
        # from the top down, because an interval holds its upper end and not its lower one
        numbers = at_most[part] - rng.random(n) * width[part]
        numbers = np.ceil(numbers) if attribute.integer else numbers
        return np.where(rng.random(n) < share, np.nan, numbers)

    return draw


def _within(part: Interval, low: float, high: float, whole: bool) -> tuple[float, float]:
    """The ends of an interval within the bounds."""
    above, at_most = low if part.above is None else part.above, high if part.at_most is None else part.at_most
    if whole:
        above, at_most = math.floor(above), math.floor(at_most)
    first = min(max(above, low), high)
    return first, max(min(at_most, high), first)


def _by_tree(rows: Table, target: str, test: Table) -> NDArray[Any]:
    from shoal.trees import AnonymousTreeClassifier

    tree = AnonymousTreeClassifier(privacy=1, variant="c45", unknown="ancestor").fit(rows, target)
    labels = tree.release_.attribute(target).values
    answers = tree.release_.answers[tree.release_.apply(test, unknown="ancestor")]
    said: NDArray[Any] = np.array(labels, dtype=object)[answers]
    return said


def _by_estimator(estimator: Any, rows: Table, target: str, test: Table) -> NDArray[Any]:
    from sklearn.base import clone

    names = [name for name in rows if name != target]
    taught = clone(estimator).fit(_matrix(rows, rows, names), rows[target].codes)
    said: NDArray[Any] = np.array(rows[target].names, dtype=object)[taught.predict(_matrix(rows, test, names))]
    return said


def _matrix(known: Table, rows: Table, names: list[str]) -> NDArray[np.float64]:
    """Numbers as they are, missing ones as the mean; of categories a column for each value that was there to learn."""
    columns = []
    for name in names:
        column = rows[name]
        if known[name].kind == "numeric":
            own = known[name]
            mean = float(np.average(own.numbers, weights=own.counts()[: len(own.numbers)])) if len(own.numbers) else 0.0
            columns.append(np.append(column.numbers, mean)[column.codes])
        else:
            texts = np.array([*column.names, None], dtype=object)[column.codes]
            columns.extend((texts == value).astype(np.float64) for value in known[name].names)
    return np.column_stack(columns)
