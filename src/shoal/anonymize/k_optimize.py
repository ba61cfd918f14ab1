# SPDX-License-Identifier: Apache-2.0
"""K-Optimize: the cheapest of all ways to cut ordered columns into groups, or the best so far with a bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.cells import ColumnMap
from shoal.anonymize.cut_search import CutSearch, SearchProgress
from shoal.anonymize.frequency import Map, frequencies
from shoal.anonymize.method import Recoding, RecodingAnonymizer
from shoal.anonymize.task import Task
from shoal.data.discretize import quantile_cuts, round_cuts
from shoal.data.table import Column
from shoal.errors import RequirementError, closest
from shoal.release.numbers import Numbers

Cost = Literal["dm", "cm"]
BY_CLASS = "by the share of the first class of "
VALUES = 100  # different numbers of a column that are cut one by one


class KOptimize(RecodingAnonymizer):
    """Cut every public column into ranges of neighbouring values so that the table costs least.

    The values of a column stand in an order: numbers by size, categories as their hierarchy lists them. A set of cuts
    between neighbours generalises the whole table. Of all sets the cheapest is sought; where that takes too long, the
    best so far is published, with a proven bound on what the cheapest could cost.

    Parameters
    ----------
    privacy
        What every group of rows with the same public cells must keep: a requirement, or k. Groups that fail are left
        out, at a cost, within `suppress`.
    cost
        ``"dm"``: for each row the size of its group, and all rows for one that is left out (discernibility metric).
        ``"cm"``: rows outside the majority class of their group, and those that are left out (classification metric;
        needs a target).
    public
        The columns an attacker may know; None for all but the target.
    sensitive
        Private columns that a requirement about values is about, besides the target.
    domain
        For some columns the values or bounds that are possible.
    person
        The column that tells people apart, where they may have several rows.
    hierarchies
        The order of categories: values that are together in a hierarchy stay together, those of one parent are ordered
        by how often the target's first class goes with them. Numbers with a hierarchy are cut at its finest level.
    suppress
        The share of rows that may be left out. Near 1, as in the paper, only the cost decides.
    max_seconds, max_nodes
        When to stop: after so many seconds, or sets of cuts that were looked into. None for never. With `max_nodes`
        and no `max_seconds` the result is the same on every machine.
    progress
        Called with a `SearchProgress` ten times a second.
    numbers
        How `fit_transform` and `transform` write generalised numbers: as ``"intervals"``, ``"ends"`` or
        ``"midpoints"``.
    reproducible
        Sort the published rows instead of shuffling them.

    Attributes
    ----------
    release_
        The audited table.
    optimal_
        Whether no set of cuts costs less.
    cost_
        What the published one costs.
    bound_
        No set of cuts costs less than this; `cost_` itself where that is proven.
    searched_
        How many sets of cuts were looked into.
    made_hierarchies_
        Of each public column without a hierarchy how its values are ordered.

    Notes
    -----
    **Bounds.** More cuts only divide groups. So of all sets that have the cuts H and some of the cuts T: a group of H
    with fewer rows than the requirement needs people stays too small, and its rows are left out; any other row costs at
    least what it would with all of H and T, and in a group of no fewer rows than are needed. That holds for every
    requirement, also where people have several rows, so all are served. A cut of T is dropped for good if sets with it
    cost too much by this bound, or leave out too many rows, or if it is of no use.

    **Useless cuts.** A cut that parts no group of H is of no use. For k and distinct l, where a group that holds takes
    in any other and still holds, neither is one that leaves too small a part of every group it cuts. In CM always: a
    whole group has no more rows outside its largest class than the small part has rows and the other has outside its
    largest class. In DM if both parts are too small, or if the small part and twice the other are no more than the
    table: then (a + b)² ≤ a·n + b², for these parts and for all parts of them. For other requirements such cuts stay.

    Differs from the paper: the set-enumeration tree is walked in its binary form, with and without the cut that makes
    groups cheapest now (its rearrangement of tails); sets with the lowest bound come first, each followed down to where
    nothing is left, so that both the best and the bound improve; and a greedy climb comes before the search. A budget
    may limit the rows left out, and numbers with more than 100 different values are first put into as many intervals of
    about equally many people.

    References
    ----------
    R. J. Bayardo, R. Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005, 217-228,
    doi:10.1109/ICDE.2005.42.

    Examples
    --------
    >>> from shoal import load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> tens = {"age": {"intervals": [10]}}
    >>> method = KOptimize(privacy=500, hierarchies=tens, reproducible=True).fit(people, "diabetes")
    >>> method.optimal_, method.cost_
    (True, 4219066)
    >>> [cell.label for cell in method.release_.generalised["age"]]
    ['<=39', '40-59', '>=60']
    """

    def __init__(
        self,
        privacy: Any = 10,
        *,
        cost: Cost = "dm",
        public: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        domain: Any = None,
        person: str | None = None,
        hierarchies: Any = None,
        suppress: float = 0.0,
        max_seconds: float | None = 10.0,
        max_nodes: int | None = None,
        progress: Callable[[SearchProgress], None] | None = None,
        numbers: Numbers = "intervals",
        reproducible: bool = False,
    ) -> None:
        self.privacy, self.cost, self.public, self.sensitive = privacy, cost, public, sensitive
        self.domain, self.person, self.hierarchies = domain, person, hierarchies
        self.suppress, self.max_seconds, self.max_nodes = suppress, max_seconds, max_nodes
        self.progress, self.numbers, self.reproducible = progress, numbers, reproducible

    def _recode(self, task: Task) -> Recoding:
        self._check(task)
        orders = [_order_of(task, name) for name in task.public]
        search = CutSearch(task, {order.column.name: order.cells for order in orders}, by_class=self.cost == "cm")
        search.run(self.max_seconds, self.max_nodes, self.progress)
        self.optimal_, self.cost_, self.bound_, self.searched_ = search.optimal, search.cost, search.bound, search.nodes
        self.made_hierarchies_ = {order.column.name: order.said for order in orders if order.said is not None}
        chosen = [search.best[first:end] for first, end in pairwise(search.ends)]
        maps = {order.column.name: order.map(cuts) for order, cuts in zip(orders, chosen, strict=True)}
        groups = {order.column.name: order.groups(cuts) for order, cuts in zip(orders, chosen, strict=True)}
        found = frequencies(task, groups, search.judge.by_value, remember=True)
        assert found.of_row is not None
        left_out = search.judge.fails(found)[found.of_row]
        return Recoding.of_columns(maps, task.rows, left_out if left_out.any() else None)

    def _check(self, task: Task) -> None:
        known = get_args(Cost)
        if self.cost not in known:
            raise RequirementError("parameter", f"cost must be 'dm' or 'cm'.{closest(str(self.cost), known)}")
        if self.cost == "cm":
            task.classes  # noqa: B018 - refuses where there is none
        for name in ("max_seconds", "max_nodes"):
            limit = getattr(self, name)
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, (int, float)) or not limit >= 0):
                raise RequirementError("parameter", f"{name} must be a number that is not negative, or None.")


@dataclass(frozen=True, eq=False)
class _Order:
    """A public column with its values in an order, and where it may be cut.

    Attributes
    ----------
    cells
        The cell of each code: values between which no cut is possible share one. Cut i is after cell i.
    ends
        Of a column of numbers the number that each cut lies at; missing values come after all numbers, and a cut before
        them has no number (nan).
    names
        What a hierarchy calls some sets of codes.
    said
        How the order was made, where no hierarchy was given.
    """

    column: Column
    cells: Map
    ends: NDArray[np.float64] | None
    names: dict[bytes, str]
    said: str | None

    def groups(self, cuts: NDArray[np.bool_]) -> Map:
        """The group of each code."""
        groups: Map = np.append(0, np.cumsum(cuts))[self.cells]
        return groups

    def map(self, cuts: NDArray[np.bool_]) -> ColumnMap:
        """The recoding of the column by some cuts."""
        groups = self.groups(cuts)
        if self.ends is None or not cuts.any():
            labels = [self.names.get((groups == group).tobytes(), "") for group in range(int(groups.max()) + 1)]
            return ColumnMap.of_groups(self.column, groups, labels)
        ends = self.ends[cuts]
        made = ColumnMap.of_cuts(self.column, ends[~np.isnan(ends)])
        if not self.column.missing or np.isnan(ends).any():
            return made
        last = replace(made.found[-2], missing=True)  # missing is not cut off from the largest numbers
        return replace(made, found=(*made.found[:-2], last), of_missing=len(made.found) - 2)


def _order_of(task: Task, name: str) -> _Order:
    return _numbers(task, name) if task.rows[name].kind == "numeric" else _categories(task, name)


def _categories(task: Task, name: str) -> _Order:
    """Categories as their hierarchy has them together, then by how often the first class goes with them."""
    column, ladder = task.rows[name], task.ladders[name]
    shares = task.class_shares(name)
    own = np.zeros(column.n_codes) if shares is None else shares.share
    order = np.lexsort(np.stack([np.arange(column.n_codes), own, *ladder.maps[1:]]))
    place = np.empty(column.n_codes, dtype=np.int64)
    place[order] = np.arange(column.n_codes)
    cells = _cut(column, place)[1]
    names = {
        (groups == group).tobytes(): label
        for groups, labels in zip(ladder.maps[1:-1], ladder.labels[1:-1], strict=True)
        for group, label in enumerate(labels)
    }
    said = None if ladder.said is None else "in order of values" if task.target is None else BY_CLASS + task.target
    return _Order(column, cells, None, names if said is None else {}, said)


def _numbers(task: Task, name: str) -> _Order:
    """Numbers by size, then missing."""
    column, hierarchy = task.rows[name], task.hierarchies.get(name)
    counts = column.counts()[: len(column.numbers)]
    there = column.numbers[counts > 0]
    if hierarchy is not None:
        found = hierarchy.bind(column).cuts
        assert found is not None
        ends, said = found[0], None
    elif len(there) <= VALUES:
        ends, said = round_cuts(there), "between any two numbers"
    else:
        ends, said = quantile_cuts(column.numbers, counts, VALUES), f"between {VALUES} intervals of about equal size"
    place = np.searchsorted(ends, column.numbers, side="left")
    place = np.append(place, [len(ends) + 1] * column.missing).astype(np.int64)
    cuts, cells = _cut(column, place)
    return _Order(column, cells, np.append(ends, np.nan)[cuts], {}, said)


def _cut(column: Column, place: Map) -> tuple[Map, Map]:
    """The places after which a cut makes a difference, and the cell of each code between them."""
    there = np.flatnonzero(np.bincount(place[column.counts() > 0]))
    cuts = there[:-1]
    return cuts, np.searchsorted(cuts, place, side="left")
