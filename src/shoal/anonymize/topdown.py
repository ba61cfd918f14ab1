# SPDX-License-Identifier: Apache-2.0
"""The engine of TDS and TDR: refine one value after another, the best first, as long as every group keeps the promise.

Groups are segments of one order of the rows. A refinement touches the groups that say the refined value, and only them:
they are parted, and only for their parts are the candidates counted again. Merging groups can only make the smallest
larger, so what a candidate's smallest group has is a running minimum over all parts that were ever counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import parts as kernels
from shoal.anonymize.cells import ColumnMap
from shoal.anonymize.refinable import Refinable, Slots
from shoal.anonymize.task import Task, count_values
from shoal.data.person import people_by_code
from shoal.data.table import count_codes
from shoal.privacy import needs_values

Ids = NDArray[np.int64]
TIE = 1e-9  # scores that are nearer than this, relative to the best, are the same


@dataclass(frozen=True)
class Refinement:
    """A step on the way from ``*`` to what is published, in house.

    Attributes
    ----------
    column, value, into
        Which value of which column was refined, and into what.
    gain
        What that tells about the target: information gain in bits for each row that had the value.
    loss
        How many people fewer the smallest group has for it.
    score
        The gain for each unit of loss; the step had the highest of all that were left.
    """

    column: str
    value: str
    into: tuple[str, ...]
    gain: float
    loss: int
    score: float


def class_counts(task: Task, name: str) -> Ids:
    """Rows of a public column by code and class."""
    column, classes = task.rows[name], task.classes
    return count_values(column.codes, column.n_codes, classes.codes, classes.n_codes, None, task.weights)


class TopDown:
    """Refine the columns of a task greedily.

    Parameters
    ----------
    task, columns
        What is to be anonymised, and its public columns.
    more
        What is added to the loss that a gain is divided by. With 0 a gain without any loss counts as it is.
    """

    def __init__(self, task: Task, columns: Sequence[Refinable], more: int) -> None:
        self.task, self.columns, self.more = task, columns, more
        self.codes = [each.column.codes.astype(np.int32) for each in columns]
        self.order = np.arange(task.n_rows, dtype=np.int32)
        self.weights = np.empty(0, dtype=np.int64) if task.weights is None else task.weights
        most = min(task.n_rows, task.rows.n_people // task.least) + 1  # groups that there can be
        self.starts, self.ends = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
        self.ends[0] = task.n_rows
        self.nodes = np.zeros((len(columns), most), dtype=np.int32)  # the value of each column that each group says
        self.n_groups = 1
        self.smallest = task.n_people
        everybody = np.zeros(1, dtype=np.int64)
        for place in range(len(columns)):
            self._judge(place, everybody)

    def run(self) -> list[Refinement]:
        """Take the best candidate as long as there is one."""
        steps = []
        while (best := self._best()) is not None:
            steps.append(best[2])
            self._take(*best[:2])
        return steps

    def _best(self) -> tuple[int, int, Refinement] | None:
        """The candidate with the highest score: its column, its number, and what it does."""
        found = []
        for place, column in enumerate(self.columns):
            live = np.flatnonzero(column.live)
            loss = self.smallest - np.minimum(column.least[live], self.smallest)
            found.append((place, live, loss, column.gain[live] / np.maximum(loss + self.more, 1)))
        top = max((float(score.max(initial=-1.0)) for *_, score in found), default=-1.0)
        if top < 0:
            return None
        place, live, loss, score = next(each for each in found if each[3].max(initial=-1.0) >= top * (1 - TIE))
        at = int(np.argmax(score >= top * (1 - TIE)))
        column, candidate = self.columns[place], int(live[at])
        gain, (value, into) = float(column.gain[candidate]), column.told(candidate)
        step = Refinement(column.column.name, value, into, gain, int(loss[at]), float(score[at]))
        return place, candidate, step

    def _take(self, place: int, candidate: int) -> None:
        """Refine: part the groups that say the value, and count the candidates of their parts again."""
        column = self.columns[place]
        node, slots, n_slots = column.parting(candidate)
        groups = np.flatnonzero(self.nodes[place, : self.n_groups] == node)
        segment, starts, ends = kernels.part_rows(
            self.order, self.starts[groups], self.ends[groups], self.codes[place], slots, n_slots
        )
        self.smallest = min(self.smallest, int(column.least[candidate]))
        column.refine(candidate)
        # the first part of a group takes its place, the others are new
        first = np.append(True, segment[1:] != segment[:-1])
        number = np.empty(len(segment), dtype=np.int64)
        number[first] = groups
        n_new = len(segment) - len(groups)
        number[~first] = np.arange(self.n_groups, self.n_groups + n_new)
        self.n_groups += n_new
        self.starts[number], self.ends[number] = starts, ends
        self.nodes[:, number] = self.nodes[:, groups[segment]]
        says = column.node_of[self.codes[place][self.order[starts]]]
        parted = np.bincount(segment)[segment] > 1
        changed = parted | (says != node)
        self.nodes[place, number] = says
        for each in range(len(self.columns)):
            self._judge(each, number[changed if each == place else parted])

    def _judge(self, place: int, groups: Ids) -> None:
        """Count what the candidates of a column would make of some groups, and drop those that break the promise."""
        column = self.columns[place]
        nodes = self.nodes[place, groups]
        groups = groups[column.live[nodes] if column.one_way else nodes == 0]
        if not len(groups) or not column.live.any():
            return
        if column.one_way:
            segment, _, size, kept = self._count(place, groups, column.slot_of, column.n_slots)
            of_part = self.nodes[place, groups][segment]
            np.minimum.at(column.least, of_part, size)
            column.live[of_part[~kept]] = False
        elif self.task.sizes_decide:
            segment, told, size, _ = self._count(place, groups, column.slot_of, column.n_slots)
            rest = count_codes(segment, len(groups), size)[segment] - size
            np.minimum.at(column.least, told, np.where(rest > 0, np.minimum(size, rest), size))
            column.live &= column.least >= self.task.least
        else:
            for candidate in np.flatnonzero(column.live).tolist():
                _, slots, n_slots = column.parting(candidate)
                _, _, size, kept = self._count(place, groups, slots, n_slots)
                column.least[candidate] = min(column.least[candidate], size.min())
                column.live[candidate] = kept.all()

    def _count(self, place: int, groups: Ids, slots: Slots, n_slots: int) -> tuple[Ids, Ids, Ids, NDArray[np.bool_]]:
        """The parts that some groups would have: the group's place, the slot, the people, whether they keep."""
        starts, ends = self.starts[groups], self.ends[groups]
        simple = self.task.sizes_decide
        n = 0 if simple else int((ends - starts).sum())
        rows, part_of = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        segment, slot, size = kernels.count_parts(
            self.order, starts, ends, self.codes[place], slots, n_slots, self.weights, rows, part_of
        )
        if simple:
            return segment, slot, size, size >= self.task.least
        task = self.task
        whose = None if task.whose is None else task.whose[rows]
        weights = None if task.weights is None else task.weights[rows]
        people = people_by_code(part_of, len(segment), whose, weights)
        if not needs_values(task.requirement):
            return segment, slot, people, task.requirement.holds(people[:, None])
        kept = np.ones(len(segment), dtype=bool)
        for name in task.sensitive:
            column = task.rows[name]
            counts = count_values(part_of, len(segment), column.codes[rows], column.n_codes, whose, weights)
            kept &= task.requirement.holds(counts, task.totals[name])
        return segment, slot, people, kept

    def maps(self) -> dict[str, ColumnMap]:
        """The recoding of every column to what it says now."""
        return {column.column.name: column.recoding() for column in self.columns}
