# SPDX-License-Identifier: Apache-2.0
"""Incognito: all minimal full-domain generalisations, and the best of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.frequency import FrequencySet, Judge, Map, frequencies
from shoal.anonymize.lattice import Lattice, Node, Walk
from shoal.anonymize.method import Recoding, RecodingAnonymizer
from shoal.anonymize.task import Task
from shoal.data.person import people_by_code
from shoal.errors import RequirementError, closest
from shoal.evaluate import cell_losses, classification_metric
from shoal.release import Attribute
from shoal.release.numbers import Numbers

Measure = Literal["lm", "dm", "cm", "height"]


@dataclass(frozen=True)
class Solution:
    """A minimal generalisation, and what it costs. Rows that are left out count as lost entirely.

    Attributes
    ----------
    levels
        The level of each public column, 0 the finest.
    classes
        How many groups are published.
    smallest
        How many people the smallest of them has.
    left_out
        How many rows are left out.
    height
        The sum of the levels.
    lm
        The average share of its column that a cell leaves open; 1 for each cell of a row that is left out.
    dm
        For each row the size of its group, added up; all rows for one that is left out.
    cm
        Rows outside the majority class of their group, and those that are left out. None without a target.
    """

    levels: Mapping[str, int]
    classes: int
    smallest: int
    left_out: int
    height: int
    lm: float
    dm: int
    cm: int | None


class Incognito(RecodingAnonymizer):
    """Generalise every public column to one level of its hierarchy: of all minimal choices of levels the best.

    A choice of levels is minimal if it keeps the promise and no other that does is finer in some column and coarser in
    none. All of them are found.

    Parameters
    ----------
    privacy
        What every group of rows with the same public cells must keep: a requirement, or k.
    by
        What is least in the solution that is published: ``"lm"`` (loss metric), ``"dm"`` (discernibility), ``"cm"``
        (classification metric, needs a target) or ``"height"`` (the sum of levels).
    public
        The columns an attacker may know; None for all but the target.
    sensitive
        Private columns that a requirement about values is about, besides the target.
    domain
        For some columns the values or bounds that are possible.
    person
        The column that tells people apart, where they may have several rows.
    hierarchies
        How columns generalise: a folder, or a dict from column to file, nested dict or `Hierarchy`. For a column
        without one levels are made.
    suppress
        The share of rows that may be left out: groups that fail are, as long as all their rows are within it.
    numbers
        How `fit_transform` and `transform` write generalised numbers: as ``"intervals"``, ``"ends"`` or
        ``"midpoints"``.
    reproducible
        Sort the published rows instead of shuffling them.

    Attributes
    ----------
    release_
        The audited table.
    solutions_
        All minimal generalisations, measured, the best first.
    solution_
        The one that was published.
    made_hierarchies_
        Of each public column without a hierarchy how its levels were made.
    nodes_
        How many generalisations there are.
    looked_at_
        Of how many of them, and of those of fewer columns, groups were counted.

    Notes
    -----
    Why nothing is missed. Seen by some of its columns, a generalisation is that in which the others are ``*``: a more
    general one. So if passing is kept under generalisation, one that does not pass seen by some columns does not pass.
    It is kept

    - with nothing left out, for every `monotone` requirement: groups are merged with others that hold. All of Shoal's
      are monotone, t-closeness too, as long as the table stays the same;
    - with rows left out, for k and distinct l: there a group that holds, merged with *any* other, holds, so that no
      row fails that did not before.

    For the other requirements with rows left out (a group that fails may spoil the one it is merged with), for those
    about values where people have several rows, and for those of your own that are not monotone, only group sizes are
    used to rule out generalisations: no group holds with fewer people than the requirement needs at least, and
    generalising leaves fewer rows in such groups. All others are counted, from the finest up, but for those above one
    that passed.

    Leaving rows out changes the table that t-closeness compares with. So groups that fail are left out, then those that
    fail against the rest, until no more do.

    Differs from the paper: nodes are visited in the order of their levels instead of their height, and each frequency
    set is rolled up by one column from that of a prefix of the levels; once few nodes of all columns are left, the
    larger sets of columns are passed over. The result is the same.

    The best is the best of the *minimal* generalisations. LM, DM and CM of a table with nothing left out never fall
    under generalisation, so then it is the best of all; with rows left out, a coarser one that leaves out fewer may be
    better.

    References
    ----------
    K. LeFevre, D. J. DeWitt, R. Ramakrishnan, "Incognito: efficient full-domain k-anonymity", SIGMOD 2005, 49-60,
    doi:10.1145/1066157.1066164.

    A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "l-diversity: privacy beyond k-anonymity", ICDE
    2006, doi:10.1109/ICDE.2006.1.

    Examples
    --------
    >>> from shoal import load_sample
    >>> clinic = load_sample()
    >>> people = clinic.to_arrow().select(["age", "sex", "education", "diabetes"])
    >>> hierarchies = {"age": {"intervals": [10, 20, 40]}, "education": clinic.hierarchies["education"]}
    >>> method = Incognito(privacy=50, hierarchies=hierarchies).fit(people, "diabetes")
    >>> for solution in method.solutions_:
    ...     print(dict(solution.levels), solution.classes, solution.smallest)
    {'age': 3, 'sex': 0, 'education': 0} 14 198
    {'age': 1, 'sex': 0, 'education': 3} 10 86
    {'age': 2, 'sex': 1, 'education': 2} 6 81
    {'age': 0, 'sex': 1, 'education': 3} 9 86
    >>> method.release_
    <TableRelease: 5000 rows, 4 columns, 14 groups>
    """

    def __init__(
        self,
        privacy: Any = 10,
        *,
        by: Measure = "lm",
        public: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        domain: Any = None,
        person: str | None = None,
        hierarchies: Any = None,
        suppress: float = 0.0,
        numbers: Numbers = "intervals",
        reproducible: bool = False,
    ) -> None:
        self.privacy, self.by, self.public, self.sensitive = privacy, by, public, sensitive
        self.domain, self.person, self.hierarchies = domain, person, hierarchies
        self.suppress, self.numbers, self.reproducible = suppress, numbers, reproducible

    def _recode(self, task: Task) -> Recoding:
        if self.by not in get_args(Measure):
            known = get_args(Measure)
            raise RequirementError(
                "parameter", f"by must be one of {', '.join(map(repr, known))}.{closest(str(self.by), known)}"
            )
        if self.by == "cm":
            task.classes  # noqa: B018 - refuses where there is none
        lattice = Lattice(task)
        minimal = lattice.minimal()
        found = _Measured(task, lattice)
        self.solutions_ = tuple(sorted((found.solution(node) for node in minimal), key=self._rank))
        self.solution_ = self.solutions_[0]
        self.made_hierarchies_ = {name: ladder.said for name, ladder in task.ladders.items() if ladder.said}
        self.nodes_, self.looked_at_ = int(np.prod(lattice.shape)), lattice.looked_at
        maps = {name: task.ladders[name].at(level) for name, level in self.solution_.levels.items()}
        return Recoding.of_columns(maps, task.rows, found.left_out(self.solution_))

    def _rank(self, solution: Solution) -> tuple[Any, ...]:
        return (getattr(solution, self.by), solution.height, tuple(solution.levels.values()))


class _Measured:
    """What nodes of a lattice cost."""

    def __init__(self, task: Task, lattice: Lattice) -> None:
        self.task, self.lattice, self.judge = task, lattice, Judge(task)
        counted = self.judge.by_value
        if task.target is not None and task.target not in counted:
            counted = (*counted, task.target)
        rows = frequencies(task, lattice.maps(lattice.lowest), counted)
        self.walk = Walk(lattice, rows, tuple(range(len(lattice.shape))))
        self.classes = slice(0, 0)
        if task.target is not None:
            before = counted[: counted.index(task.target)]
            first = 1 + sum(task.rows[name].n_codes for name in before)
            self.classes = slice(first, first + task.classes.n_codes)
        self.losses = [_losses(task, name, maps) for name, maps in zip(lattice.names, lattice.levels, strict=True)]

    def solution(self, node: Node) -> Solution:
        """A node that passes, measured."""
        names, n_rows = self.lattice.names, self.task.n_rows
        found = self.walk.groups(node, n_rows)
        assert found is not None
        fails = self.judge.fails(found)
        rows = found.rows[~fails]
        left_out = n_rows - int(rows.sum())
        losses = [self.losses[j][level][found.codes(j)[~fails]] @ rows for j, level in enumerate(node)]
        by_class = found.counts[~fails, self.classes]
        level_of = dict(zip(names, node, strict=True))
        return Solution(
            levels={name: level_of[name] for name in self.task.public},
            classes=len(rows),
            smallest=int(self._people(found)[~fails].min()),
            left_out=left_out,
            height=sum(node),
            lm=math.fsum(loss + left_out for loss in losses) / (n_rows * max(len(names), 1)),
            dm=int(rows @ rows) + left_out * n_rows,
            cm=None if self.task.target is None else classification_metric(by_class) + left_out,
        )

    def _people(self, found: FrequencySet) -> NDArray[np.int64]:
        if self.task.whose is None:
            return found.rows
        assert found.of_row is not None
        return people_by_code(found.of_row, len(found), self.task.whose)

    def left_out(self, solution: Solution) -> NDArray[np.bool_] | None:
        """The rows that a solution leaves out, if any."""
        if not solution.left_out:
            return None
        node = tuple(solution.levels[name] for name in self.lattice.names)
        found = frequencies(self.task, self.lattice.maps(node), self.judge.by_value, remember=True)
        assert found.of_row is not None
        return self.judge.fails(found)[found.of_row]


def _losses(task: Task, name: str, maps: Sequence[Map]) -> list[NDArray[np.float64]]:
    """At each level of a column the loss of each of its groups."""
    column = task.rows[name]
    attribute = Attribute.of(column, "public")
    every = replace(column, codes=np.arange(column.n_codes))  # each code once
    found = []
    for level, groups in enumerate(maps):
        recoded = task.ladders[name].at(level).recode(every)
        losses = np.zeros(int(groups.max()) + 1)
        losses[groups] = cell_losses(attribute, recoded.found)[recoded.codes]
        found.append(losses)
    return found
