# SPDX-License-Identifier: Apache-2.0
"""The base of every method that recodes public columns: what goes in, what comes out, what may leave."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shoal.anonymize.base import Generalisation, TableAnonymizer, backend_of, publish_elsewhere, publish_table
from shoal.anonymize.cells import ColumnMap, Recoded
from shoal.anonymize.nearest import nearest_class
from shoal.anonymize.settle import make_task, settle, task_elsewhere
from shoal.anonymize.task import Task
from shoal.data.frames import from_columns, to_table
from shoal.data.grouped import most_groups
from shoal.data.table import Column, Table, smallest_dtype
from shoal.data.target import as_categorical, with_target
from shoal.engines import open_rows
from shoal.errors import DataError
from shoal.release import Attribute, TableRelease
from shoal.release.generalised import Generalised, atoms_of, runs_of, usual_label, with_labels
from shoal.release.numbers import number_columns
from shoal.release.table import frame_columns

Recode = Callable[[Table], Mapping[str, Recoded]]


@dataclass(frozen=True, eq=False)
class Recoding:
    """What a method makes of its task.

    Attributes
    ----------
    columns
        Every public column as it is published, row by row.
    left_out
        The rows that are left out, within the task's budget; None where none is.
    again
        The same recoding for other rows, where it is a function of their values; None where it is not.
    """

    columns: Mapping[str, Recoded]
    left_out: NDArray[np.bool_] | None = None
    again: Recode | None = None

    @classmethod
    def of_columns(cls, maps: Mapping[str, ColumnMap], rows: Table, left_out: NDArray[np.bool_] | None) -> Recoding:
        """A recoding column by column (global, single-dimensional)."""
        return cls(_recode_columns(maps, rows), left_out, partial(_recode_columns, maps))


def _recode_columns(maps: Mapping[str, ColumnMap], table: Table) -> Mapping[str, Recoded]:
    return {name: each.recode(table[name]) for name, each in maps.items()}


class RecodingAnonymizer(TableAnonymizer):
    """A method that turns public values into more general ones.

    A subclass stores its parameters, among them `privacy`, `public`, `sensitive`, `domain`, `person`, `hierarchies` and
    `reproducible`, and where its paper allows it `suppress`; and it makes a `Recoding` of a `Task` in `_recode`.
    """

    privacy: Any
    public: Any
    sensitive: Any
    domain: Any
    person: str | None
    hierarchies: Any
    reproducible: bool
    needs_target = False

    @abstractmethod
    def _recode(self, task: Task) -> Recoding:
        """Generalise the public columns so that every group of rows that say the same keeps the requirement."""

    def _generalise(self, X: Any, y: Any) -> tuple[Generalisation, TableRelease]:
        if self.engine != "memory":
            return self._generalise_elsewhere(X, y)
        X = self._checked(X, reset=True)
        task, given = make_task(
            X,
            y,
            privacy=self.privacy,
            public=self.public,
            sensitive=self.sensitive,
            domain=self.domain,
            person=self.person,
            hierarchies=self.hierarchies,
            suppress=getattr(self, "suppress", 0.0),
        )
        self._remember(X, [name for name in given.names if name != task.target or isinstance(y, str)])
        recoding = self._recode(task)
        made, self._labels = generalise(task, recoding, task.rows.names)
        self._again = recoding.again
        release = publish_table(made, task.requirement, given, reproducible=self.reproducible, person=self.person)
        return made, release

    def _generalise_elsewhere(self, X: Any, target: str | None) -> tuple[Generalisation, TableRelease]:
        """The same for rows that are elsewhere: the method sees the different rows, and how many people have each."""
        with open_rows(self.engine, X) as rows:
            names = list(rows.names)
            counted = rows.count(names, coarse=(), people=0, max_codes=0)
            given = counted if target is None else with_target(counted, target, target)
            settled = settle(
                given.like(given[name] for name in names),
                target,
                privacy=self.privacy,
                public=self.public,
                sensitive=self.sensitive,
                domain=self.domain,
                person=None,
                hierarchies=self.hierarchies,
            )
            most = most_groups()
            task = task_elsewhere(settled, lambda columns: rows.grouped(columns, most))
            recoding = self._recode(task)
            made, self._labels = generalise(task, recoding, names)
            self._again = recoding.again
            release = publish_elsewhere(made, task.requirement, rows.settled(settled.given))
        self._remember(X, names)
        return made, release

    def transform(self, X: Any) -> Any:
        """The same recoding of other rows: public values as texts, all other columns as they are.

        For use in house. New rows were not there when groups were counted, so nothing is promised about them.
        """
        check_is_fitted(self)
        if self._again is None:
            raise DataError(
                "local-recoding",
                f"What {type(self).__name__} made of a value depends on the other rows, so it cannot be applied to new "
                "ones. Use nearest_class to find the published class nearest to each.",
            )
        table = self._as_fitted(to_table(self._checked(X, reset=False)))
        recoded = self._again(table)
        cells = {
            name: [replace(cell, label=self._labels[name].get(cell, usual_label(cell))) for cell in each.found]
            for name, each in recoded.items()
        }
        return self._as_frame(X, table, cells, {name: each.codes for name, each in recoded.items()})

    def _as_fitted(self, table: Table) -> Table:
        """New rows, with columns of numbers whose hierarchy lists their values read as these."""
        kinds = self.release_.kinds
        return Table(
            as_categorical(column) if kinds.get(name) == "categorical" and column.kind == "numeric" else column
            for name, column in table.items()
        )

    def nearest_class(self, X: Any) -> Any:
        """The public columns of the published class that is nearest to each of other rows, as a data frame.

        For recodings that are no function of values. A row that a class stands for is at distance 0 of it; otherwise
        numbers are as far as the nearest that the cell stands for, in shares of the column's bounds, and all other
        values 1. Of several classes that are equally near, the one that says most is taken. For use in house: nothing
        is promised about new rows.
        """
        check_is_fitted(self)
        release = self.release_
        table = self._as_fitted(to_table(self._checked(X, reset=False)))
        _, example = np.unique(release.groups, return_index=True)
        rows = release.rows.select(release.public).take(example[nearest_class(release, table)])
        columns = frame_columns(rows, release.public)
        attributes = [release.attribute(name) for name in release.public]
        return from_columns(number_columns(self.numbers, columns, rows, attributes, release.generalised), backend_of(X))


def generalise(
    task: Task, recoding: Recoding, names: Sequence[str]
) -> tuple[Generalisation, dict[str, dict[Generalised, str]]]:
    """Some columns of a task as they are published, and what each cell of a public one is called."""
    columns: dict[str, Column] = {}
    attributes: list[Attribute] = []
    generalised: dict[str, tuple[Generalised, ...]] = {}
    labels: dict[str, dict[Generalised, str]] = {}
    for name in names:
        column = task.rows[name] if name in task.public else task.published(name, recoding.left_out)
        attribute = Attribute.of(column, "public" if name in task.public else "private")
        if name in task.public:
            recoded = recoding.columns[name]
            labelled, codes = _labelled(attribute, recoded)
            labels[name] = dict(zip(recoded.found, (cell.label for cell in labelled), strict=True))
            generalised[name], found = _used(name, labelled, codes, recoding.left_out)
            columns[name] = replace(found, weights=task.weights)
        else:
            columns[name] = column
        attributes.append(attribute)
    sensitive = tuple(name for name in task.sensitive if name != task.target and name in columns)
    rows = Table(columns.values())
    made = Generalisation(task.target, tuple(attributes), rows, generalised, sensitive, recoding.left_out)
    return made, labels


def _labelled(attribute: Attribute, recoded: Recoded) -> tuple[tuple[Generalised, ...], NDArray[np.int64]]:
    """The cells with their labels, and the codes of the rows: where two cells mean the same, only one is used.

    Of whole numbers, above 38 and up to 41 is up to 41.5 as well; one meaning must have one label.
    """
    atoms = atoms_of(attribute, recoded.found)
    kinds = runs_of(atoms, recoded.found).within(atoms.possible).kinds
    first: dict[int, int] = {}
    for i in sorted(range(len(kinds)), key=lambda i: (not recoded.found[i].is_all, _place(recoded.found[i]))):
        first.setdefault(int(kinds[i]), i)
    used = np.array([first[int(kind)] for kind in kinds], dtype=np.int64)
    own = np.unique(used)
    labelled = dict(
        zip(own.tolist(), with_labels(attribute, [recoded.found[i] for i in own], recoded.names), strict=True)
    )
    return tuple(labelled[i] for i in used.tolist()), used[recoded.codes]


def _used(
    name: str, labelled: tuple[Generalised, ...], codes: NDArray[np.int64], left_out: NDArray[np.bool_] | None
) -> tuple[tuple[Generalised, ...], Column]:
    """The cells that some published row has, in the order of what they stand for, and the column in their codes."""
    kept = codes if left_out is None else codes[~left_out]
    there = np.flatnonzero(np.bincount(kept, minlength=len(labelled)))
    order = sorted(there.tolist(), key=lambda i: _place(labelled[i]))
    position = np.zeros(len(labelled), dtype=np.int64)  # a row that is left out has any cell: it is not published
    position[order] = np.arange(len(order))
    found = tuple(labelled[i] for i in order)
    new = position[codes].astype(smallest_dtype(len(found)))
    return found, Column(name, "categorical", new, tuple(cell.label for cell in found))


def _place(cell: Generalised) -> tuple[Any, ...]:
    """Where a cell is listed: never by who came first in the table."""
    first = cell.intervals[0] if cell.intervals else None
    low = -np.inf if first is None or first.above is None else first.above
    high = np.inf if first is None or first.at_most is None else first.at_most
    only_missing = cell.missing and not cell.values and not cell.intervals
    return (cell.is_all, only_missing, low, high, cell.values, cell.missing)
