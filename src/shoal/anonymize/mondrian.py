# SPDX-License-Identifier: Apache-2.0
"""Mondrian: cut the space of public values into regions, as long as every part keeps the promise."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.cells import Recoded
from shoal.anonymize.method import Recoding, RecodingAnonymizer
from shoal.anonymize.regions import Regions, cut_regions
from shoal.anonymize.scale import NumberScale, Scale, TreeScale
from shoal.anonymize.task import Task
from shoal.data.domain import Domain
from shoal.data.table import Table
from shoal.errors import RequirementError
from shoal.privacy import Requirement
from shoal.release.numbers import Numbers

Criterion = Literal["width", "gain"]


class Mondrian(RecodingAnonymizer):
    """Generalise a table by cutting the space of its public columns into regions, column after column.

    Everybody is one region at first. A region is cut by one column: numbers at one of them, categories into the
    children of their node of the hierarchy. A cut is made only if all its parts that have people keep the requirement,
    and cutting ends when there is no such cut. What is published of a person is his region, so different regions say
    different things of the same column: recoding is multi-dimensional.

    Parameters
    ----------
    privacy
        What every group must keep: a requirement, or k.
    public
        The columns to generalise; by default all but the target.
    sensitive
        Private columns that a requirement about values is about, besides the target.
    domain
        Declared values or bounds of columns.
    person
        The column that tells people apart, where they may have several rows. Groups then have enough different people.
    hierarchies
        How columns generalise. A hierarchy of numbers says where they may be cut: at the cuts of its finest level.
        Without one, numbers are cut anywhere and categories by a ladder that is made; `made_hierarchies_` says how.
    relaxed
        People at the median may go to either side of a cut, so that both are equally large ("relaxed" partitioning).
        Regions then overlap, and what a value becomes depends on the other rows: `transform` cannot recode new ones,
        and people must have one row each.
        ``False``: each value is on one side ("strict").
    criterion
        ``"width"``: cut the column in which the region is widest, at the median, as in the first paper. ``"gain"``: the
        cut that gains most information about the target, wherever it is (InfoGain Mondrian, the second paper); it needs
        a target.
    numbers
        How `fit_transform` and `transform` write generalised numbers: as ``"intervals"``, ``"ends"`` or
        ``"midpoints"``.
    reproducible
        Sort the published rows by what is published of them. By default their order is drawn from the operating system.
    engine
        Where rows are: ``"memory"``; ``"stream"`` to read a file, a folder, a dataset or a query in batches, however
        many rows there are; ``"spark"`` for a Spark DataFrame, or a path or table that Spark reads. What is published
        is the same, its rows always sorted; it is `release_`, as `fit_transform` then hands none back. Columns have at
        most 4 million different rows together (``SHOAL_MOST_GROUPS`` in the environment says otherwise), and the target
        is named.

    Attributes
    ----------
    release_ : TableRelease
        All that may leave the house, with the audit's verdict.
    made_hierarchies_ : dict
        How the columns that came without a hierarchy are cut, in words.
    n_features_in_ : int
        How many columns it was given.
    feature_names_in_ : ndarray
        Their names, where they had any.

    Notes
    -----
    A strict region cannot be cut any further: no cut of any column, be it at the median or not, leaves every part with
    what it must keep. With a requirement that is `monotone`, as all of Shoal's are, nothing is lost by never making a
    cut that fails: no further cuts of its parts could mend it. With one of your own that is not, they could. Every
    group keeps it in any case.

    A width is the share of the column's bounds between the lowest and the highest number in a region; of categories it
    is the share of values that the node leaves open. The first of several equal columns is cut.

    Missing numbers have a place of their own beyond the highest, so a region may say ``>50 or (missing)``. A missing
    category is a value like others.

    Where people have several rows and the requirement asks for their values, at most 64 cuts of a region are looked at
    by each column, the nearest to the median first (with ``"gain"`` the best first).

    Differs from the first paper: the published cell is the region, not the range of values that people in it have,
    because the ends of that range are somebody's values. Only where k people of a region share its highest or lowest
    number is it narrowed to that, and a node of a hierarchy to the child that all its people are in. A cut is the
    roundest number between the two values that it parts. The median is not the only cut that is tried: when it fails,
    the nearest one to it that is allowed is made. Differs from the second paper: regions in which nothing can be gained
    are cut on, by width.

    References
    ----------
    K. LeFevre, D. J. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006,
    doi:10.1109/ICDE.2006.101.

    K. LeFevre, D. J. DeWitt, R. Ramakrishnan, "Workload-aware anonymization", KDD 2006, 277-286,
    doi:10.1145/1150402.1150435.

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.anonymize import Mondrian
    >>> people = load_sample().to_arrow().select(["age", "sex", "education", "diabetes"])
    >>> mondrian = Mondrian(privacy=1000)
    >>> mondrian.fit_transform(people, "diabetes").slice(0, 1).to_pylist()
    [{'age': '<=47', 'sex': 'Male', 'education': '*', 'diabetes': 'no'}]
    >>> mondrian.release_.verdict.smallest_group >= 1000
    True
    >>> mondrian.transform(people.select(["age", "sex", "education"]).slice(1, 1)).to_pylist()
    [{'age': '<=47', 'sex': 'Female', 'education': '*'}]
    """

    def __init__(
        self,
        privacy: Requirement | int = 10,
        *,
        public: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        domain: Domain | None = None,
        person: str | None = None,
        hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        relaxed: bool = False,
        criterion: Criterion = "width",
        numbers: Numbers = "intervals",
        reproducible: bool = False,
        engine: Literal["memory", "stream", "spark"] = "memory",
    ) -> None:
        self.privacy = privacy
        self.public = public
        self.sensitive = sensitive
        self.domain = domain
        self.person = person
        self.hierarchies = hierarchies
        self.relaxed = relaxed
        self.criterion = criterion
        self.numbers = numbers
        self.reproducible = reproducible
        self.engine = engine

    def _recode(self, task: Task) -> Recoding:
        self._check(task)
        classes = task.classes.name if self.criterion == "gain" else None
        self.made_hierarchies_: dict[str, str] = {}
        if not task.public:
            return Recoding({}, again=_nothing)
        scales = [self._scale(task, name) for name in task.public]
        regions = cut_regions(task, task.public, scales, relaxed=self.relaxed, classes=classes)
        columns = _cells(regions, regions.of_row)
        # where people at a median are on both sides, a value does not tell the region
        return Recoding(columns, again=None if self.relaxed else partial(_again, regions.without_rows()))

    def _check(self, task: Task) -> None:
        if self.criterion not in get_args(Criterion):
            raise RequirementError(
                "parameter", f"Mondrian: criterion must be 'width' or 'gain'; got {self.criterion!r}."
            )
        if not isinstance(self.relaxed, (bool, np.bool_)):
            raise RequirementError("parameter", f"Mondrian: relaxed must be True or False; got {self.relaxed!r}.")
        if not self.relaxed:
            return
        if self.engine != "memory":
            raise RequirementError(
                "parameter",
                "Mondrian: a relaxed cut puts people who say the same on both sides, and engine="
                f"{self.engine!r} holds them as one. Try relaxed=False or engine='memory'.",
            )
        if self.criterion == "gain":
            raise RequirementError(
                "parameter",
                "Mondrian: a relaxed cut is one at the median, so it cannot be chosen by gain. "
                "Try relaxed=False or criterion='width'.",
            )
        if not task.requirement.monotone:
            raise RequirementError(
                "not-monotone",
                "Mondrian: relaxed regions may come to say the same and are one group then, and this requirement need "
                f"not hold for two groups together that keep it ({task.requirement.describe()}). Try relaxed=False.",
            )
        if task.whose is not None:
            raise RequirementError(
                "overlapping-groups",
                "Mondrian: relaxed regions overlap, so nobody could check how many different people are in one where "
                "people have several rows. Try relaxed=False, or one row a person.",
            )

    def _scale(self, task: Task, name: str) -> Scale:
        """How a public column can be cut: numbers anywhere or at the cuts of their hierarchy, categories by theirs."""
        column, hierarchy = task.rows[name], task.hierarchies.get(name)
        if column.kind == "numeric":
            if hierarchy is None:
                self.made_hierarchies_[name] = "cut at any round number"
                return NumberScale(column, None)
            cuts = hierarchy.bind(column).cuts
            assert cuts is not None
            return NumberScale(column, cuts[0])
        ladder = task.ladder(name)
        if ladder.said is not None:
            self.made_hierarchies_[name] = ladder.said
        return TreeScale.of(ladder)


def _nothing(_: Table) -> dict[str, Recoded]:
    """Where there is no public column, nothing is recoded."""
    return {}


def _again(regions: Regions, table: Table) -> dict[str, Recoded]:
    """The cells of the regions that other rows are in."""
    return _cells(regions, regions.find(table))


def _cells(regions: Regions, leaf: NDArray[np.int64]) -> dict[str, Recoded]:
    """What is published of each public column for rows in some leaves."""
    number = np.zeros(len(regions.column), dtype=np.int64)
    number[regions.leaves] = np.arange(len(regions.leaves))
    states = regions.states[regions.leaves]
    pairs = zip(regions.names, regions.scales, strict=True)
    return {name: scale.recoded(states[:, c].astype(np.int64), number[leaf]) for c, (name, scale) in enumerate(pairs)}
