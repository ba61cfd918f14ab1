# SPDX-License-Identifier: Apache-2.0
"""Missing public values, counted a second way.

An audit counts a missing value as a value of its own: the attacker is taken to see that it is missing. The second
figure is for an attacker who knows the value that the table lacks, so that a missing value could match any. A person
then matches everybody whom some filling in of the missing values would put into one group with him.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shoal.audit.groups import Groups, Ids, numbered
from shoal.audit.sets import distinct_sets, incidence
from shoal.data.stack import with_values
from shoal.data.table import Table, count_codes, smallest_dtype

FEW = (
    20_000  # completions that are worked out however few rows there are; else no more than rows, so time about doubles
)
MOST_WORK = 2 * 10**8  # distinct public rows × patterns of missing values that are compared
AT_ONCE = 2**22  # pairs of a set and a person in memory at a time

SpansOf = Callable[[Table], Ids]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class MissingFigure:
    """What changes if a missing public value could match any.

    Attributes
    ----------
    people
        People with a missing public value.
    k
        The group size asked for.
    smallest
        The smallest number of people that anybody could match, himself included; None where it was not worked out,
        mostly as there are too many ways to fill in what is missing.
    below
        People who could match fewer than `k`; None as above.
    """

    people: int
    k: int
    smallest: int | None
    below: int | None

    def __str__(self) -> str:
        people = "1 person" if self.people == 1 else f"{self.people:,} people"
        stated = f"a public value is missing for {people}: counted as a value of its own; if it could match any"
        if self.smallest is None:
            return f"{stated}: not worked out"
        return f"{stated}: smallest group {self.smallest:,}, {self.below:,} people below {self.k:,}"

    def to_json(self) -> dict[str, Any]:
        """The figure as plain JSON."""
        return {"counted_as": "a value of its own", "people": self.people, "k": self.k, "any": self._any()}

    def _any(self) -> dict[str, Any] | None:
        return None if self.smallest is None else {"smallest_group": self.smallest, "people_below": self.below}


def missing_figure(
    table: Table,
    names: Sequence[str],
    groups: Groups,
    counts_for: Mask,
    k: int,
    *,
    spans_of: SpansOf | None = None,
    values: Mapping[str, Sequence[str]] | None = None,
    also: Sequence[str] = (),
    weights: Ids | None = None,
) -> MissingFigure | None:
    """The second figure of an audit; None where no public value is missing.

    Parameters
    ----------
    table
        The audited rows.
    names
        The public columns that tell people apart.
    groups, counts_for
        The groups of these rows, and which of them the promise is about: others are not looked at for who has few
        matches.
    k
        The group size asked for.
    spans_of
        A number for the span of each row of a table like `table`, equal for equal spans. None where people have the
        same span exactly when they agree in all of `names`: then nothing needs to be filled in.
    values
        The values that a missing category could have. By default, and for numbers always, those that occur in the rows.
    also
        Columns without missing values that people must agree in besides.
    weights
        How many people each row stands for, where rows are different and a row is not a person; then nobody has
        several.
    """
    n_rows = table.n_rows if weights is None else int(weights.sum())
    unknown = np.zeros(table.n_rows, dtype=bool)
    for name in names:
        if table[name].missing:
            unknown |= _is_missing(table, name)
    if not unknown.any():
        return None
    people = _people(unknown, groups, weights)
    columns = [*names, *also]
    cell_of_row = numbered([table[name].codes for name in columns], table.n_rows)
    _, example = np.unique(cell_of_row, return_index=True)
    cells = table.take(example)
    who = _who(cell_of_row, groups.person, weights)
    if spans_of is None:
        matches = _by_pattern(cells, names, also, who)
    else:
        sets = _possible_spans(cells, names, spans_of, values or {}, max(FEW, n_rows))
        matches = None if sets is None else _by_common_span(sets, who)
    if matches is None:
        return MissingFigure(people, k, None, None)
    of_row, asked = matches[cell_of_row], counts_for[groups.of_row]
    if not asked.any():
        return None  # nobody whom the promise is about
    below = _people(asked & (of_row < k), groups, weights)
    return MissingFigure(people, k, int(of_row[asked].min()), below)


def _people(chosen: Mask, groups: Groups, weights: Ids | None) -> int:
    """How many people some of the rows are of."""
    if weights is not None:
        return int(weights[chosen].sum())
    return int(chosen.sum()) if groups.person is None else len(np.unique(groups.person[chosen]))


def _is_missing(table: Table, name: str) -> Mask:
    column = table[name]
    return np.asarray(column.codes == len(column.values))


def _who(cell_of_row: Ids, person: Ids | None, weights: Ids | None) -> sparse.csr_array:
    """Who is in each cell: a column a person and one more, or a single column that counts the rows, people then."""
    n_cells = int(cell_of_row.max()) + 1
    if person is None:
        return sparse.csr_array(count_codes(cell_of_row, n_cells, weights).reshape(-1, 1))
    n_people = int(person.max()) + 1
    pairs = np.unique(cell_of_row * n_people + person)
    ones = np.ones(len(pairs), dtype=np.int64)
    return sparse.csr_array((ones, (pairs // n_people, pairs % n_people)), shape=(n_cells, n_people + 1))


def _how_many(who: sparse.csr_array) -> Ids:
    """How many people are in each row of a matrix like that of `_who`."""
    if who.shape[1] == 1:
        return np.asarray(who.toarray(), dtype=np.int64).reshape(-1)
    return np.asarray(np.diff(who.indptr), dtype=np.int64)


def _patterns(cells: Table, names: Sequence[str]) -> tuple[Ids, Mask]:
    """The pattern of missing values of each cell, and for each pattern which columns it lacks."""
    lacks = np.stack([_is_missing(cells, name) for name in names], axis=1)
    of_cell = numbered([lacks[:, i] for i in range(len(names))], cells.n_rows)
    _, first = np.unique(of_cell, return_index=True)
    return of_cell, lacks[first]


def _by_pattern(cells: Table, names: Sequence[str], also: Sequence[str], who: sparse.csr_array) -> Ids | None:
    """For each cell the people of all cells that agree with it wherever neither is missing.

    Cells that lack the same columns are taken together. Two such sets of cells are compared in the columns that both
    have: there, and only there, they have to agree.
    """
    pattern_of_cell, lacks = _patterns(cells, names)
    if len(lacks) * cells.n_rows > MOST_WORK:
        return None
    members = [np.flatnonzero(pattern_of_cell == pattern) for pattern in range(len(lacks))]
    matches = np.zeros(cells.n_rows, dtype=np.int64)
    for pattern, mine in enumerate(members):
        parts = []
        for other, theirs in enumerate(members):
            common = [name for name, gone in zip(names, lacks[pattern] | lacks[other], strict=True) if not gone]
            both = np.concatenate([mine, theirs])
            key = numbered([cells[name].codes[both] for name in (*common, *also)], len(both))
            shape = (int(key.max()) + 1, len(theirs))
            parts.append((key[: len(mine)], incidence(key[len(mine) :], np.arange(len(theirs)), shape) @ who[theirs]))
        size = np.cumsum(sum(np.diff(people.indptr)[key] for key, people in parts))
        for rows in np.split(np.arange(len(mine)), np.flatnonzero(np.diff(size // AT_ONCE)) + 1):
            matches[mine[rows]] = _how_many(sum((people[key[rows]] for key, people in parts[1:]), _first(parts, rows)))
    return matches


def _first(parts: list[tuple[Ids, sparse.csr_array]], rows: Ids) -> sparse.csr_array:
    key, people = parts[0]
    return people[key[rows]]


def _possible_spans(
    cells: Table, names: Sequence[str], spans_of: SpansOf, values: Mapping[str, Sequence[str]], most: int
) -> sparse.csr_array | None:
    """The spans that each cell could have (cells × spans), over all ways to fill in what is missing."""
    filled, choices = cells, {}
    for name in names:
        if _is_missing(cells, name).any():
            column = cells[name].compact()
            if column.kind == "categorical" and name in values:
                column = with_values(column, tuple(values[name]))
            filled = filled.with_column(column)
            # where nobody has any value, missing stays as it is
            choices[name] = np.arange(max(1, len(column.values)))
    pattern_of_cell, lacks = _patterns(filled, names)
    ways = [
        int(np.prod([len(choices[name]) for name, gone in zip(names, pattern, strict=True) if gone], dtype=object))
        for pattern in lacks
    ]
    if sum(n * int((pattern_of_cell == i).sum()) for i, n in enumerate(ways) if n > 1) > most:
        return None
    rows: list[Ids] = []
    codes: dict[str, list[Ids]] = {name: [] for name in choices}
    for i, pattern in enumerate(lacks):
        members = np.flatnonzero(pattern_of_cell == i)
        rows.append(np.repeat(members, ways[i]))
        left = np.tile(np.arange(ways[i]), len(members))
        for name, gone in zip(names, pattern, strict=True):
            if name not in choices:
                continue
            if gone:
                codes[name].append(choices[name][left % len(choices[name])])
                left = left // len(choices[name])
            else:
                codes[name].append(filled[name].codes[rows[-1]].astype(np.int64))
    of_completion = np.concatenate(rows)
    completed = filled.take(of_completion)
    for name, parts in codes.items():
        column = completed[name]
        new = np.concatenate(parts).astype(smallest_dtype(column.n_codes))
        completed = completed.with_column(replace(column, codes=new))
    spans = spans_of(completed)
    n_spans = int(spans.max()) + 1
    pairs = np.unique(of_completion * n_spans + spans)
    return incidence(pairs // n_spans, pairs % n_spans, (cells.n_rows, n_spans))


def _by_common_span(sets: sparse.csr_array, who: sparse.csr_array) -> Ids:
    """For each cell the people of all cells that could have a span that it could have too."""
    kind_of_cell, first = distinct_sets(sets)
    kinds = sets[first]
    of_kind = incidence(kind_of_cell, np.arange(len(kind_of_cell)), (len(first), len(kind_of_cell))) @ who
    matches = np.zeros(len(first), dtype=np.int64)
    step = max(1, AT_ONCE // len(first))
    for start in range(0, len(first), step):
        meets = kinds[start : start + step] @ kinds.T
        meets.data = np.ones_like(meets.data)
        matches[start : start + step] = _how_many(sparse.csr_array(meets @ of_kind))
    return matches[kind_of_cell]
