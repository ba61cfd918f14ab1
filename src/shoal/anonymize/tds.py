# SPDX-License-Identifier: Apache-2.0
"""Top-down specialisation: from ``*`` down the taxonomies, as far as the promise allows, for learning a target."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from shoal.anonymize.method import Recoding, RecodingAnonymizer
from shoal.anonymize.refinable import Bits, Ranges, Refinable, Taxonomy, Values
from shoal.anonymize.task import Task
from shoal.anonymize.topdown import Refinement, TopDown, class_counts
from shoal.data.domain import Domain
from shoal.privacy import Requirement
from shoal.release.numbers import Numbers

CUT = "cut in two where it tells most about the target, again and again"
TOLD = "kept back, and told value by value"


class TopDownSpecialization(RecodingAnonymizer):
    """Generalise a table for learning its target, from the top of every taxonomy downwards (TDS).

    Every public value starts as ``*``. Step by step one value of one column is replaced by its parts, everywhere in the
    table: by its children in the hierarchy, or a range of numbers by two. The step that tells most about the target for
    each person that the smallest group loses comes first. The end is reached when no step is left that keeps the
    promise.

    Parameters
    ----------
    privacy
        What every group must keep; a number is that k of k-anonymity.
    public
        The columns to generalise; every column but the target unless said. All others are published exactly.
    sensitive
        Private columns beside the target that a requirement about values is about.
    domain
        For a column its declared values or bounds.
    person
        The column that tells people apart, where they may have several rows. Gains are about rows, groups about people.
    hierarchies
        A folder, or a dict from column to hierarchy. Numbers without one are cut in two where that tells most about the
        target. Categories without one are joined by how often they go with the target's first class.
    numbers
        How `fit_transform` and `transform` write generalised numbers: as ``"intervals"``, ``"ends"`` or
        ``"midpoints"``. The release has intervals.
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
    steps_ : tuple of Refinement
        What was refined, in this order, with its gain, its loss and its score. For use in house.
    made_hierarchies_ : dict
        How each public column without a hierarchy was generalised.

    Notes
    -----
    The score of a step is its information gain (bits a row that has the value) divided by how many people the smallest
    group of the table loses; without a loss it is the gain itself. A step is taken only where rows of more than one
    class have the value ("beneficial") and all groups after it keep the requirement ("valid"). The last condition
    serves every requirement. A step that was refused once is not tried again: what its groups would be only gets
    smaller. (With a requirement about values *and* several rows a person, or a requirement of your own that is not
    monotone, a step might have become possible again; then the table is more general than it had to be.)

    Counts are incremental, as in the paper: a step touches the groups that say its value, and only those are counted
    again, so the time grows with the rows times the depth of what is published.

    Differs from the paper: one requirement for all public columns together instead of several sets of them; cuts of
    numbers are the roundest between two neighbouring values; a missing value is a value of its own, which comes apart
    from numbers before they are cut; a child that is all of its parent is stepped over; ties go to the first column,
    and in it to the value that came up first.

    References
    ----------
    B. C. M. Fung, K. Wang, P. S. Yu, "Top-down specialization for information and privacy preservation", ICDE 2005,
    205-216, doi:10.1109/ICDE.2005.143.

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.anonymize import TopDownSpecialization
    >>> clinic = load_sample()
    >>> people = clinic.to_arrow().select(["age", "sex", "education", "diabetes"])
    >>> tds = TopDownSpecialization(500, hierarchies={"education": clinic.hierarchies["education"]})
    >>> tds.fit_transform(people, "diabetes").column_names
    ['age', 'sex', 'education', 'diabetes']
    >>> tds.release_.verdict.smallest_group >= 500
    True
    >>> tds.steps_[0].column, tds.steps_[0].value, tds.steps_[0].into
    ('age', '*', ('<=47', '>=48'))
    """

    needs_target = True
    _more = 0  # what is added to a loss before a gain is divided by it
    _keeps_back = False  # whether categories without a hierarchy are told one at a time

    steps_: tuple[Refinement, ...]
    made_hierarchies_: dict[str, str]

    def __init__(
        self,
        privacy: Requirement | int = 10,
        *,
        public: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        domain: Domain | None = None,
        person: str | None = None,
        hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None = None,
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
        self.numbers = numbers
        self.reproducible = reproducible
        self.engine = engine

    def _recode(self, task: Task) -> Recoding:
        bits, self.made_hierarchies_ = Bits(task.rows.n_people), {}
        engine = TopDown(task, [self._refinable(task, name, bits) for name in task.public], self._more)
        self.steps_ = tuple(engine.run())
        return Recoding.of_columns(engine.maps(), task.rows, None)

    def _refinable(self, task: Task, name: str, bits: Bits) -> Refinable:
        """How a column is refined; where nobody said how, note it."""
        column, hierarchy, counts = task.rows[name], task.hierarchies.get(name), class_counts(task, name)
        if hierarchy is None and column.kind == "numeric":
            self.made_hierarchies_[name] = CUT
            return Ranges(column, counts, bits)
        if hierarchy is None and self._keeps_back:
            self.made_hierarchies_[name] = TOLD
            return Values(column, counts, bits)
        ladder = task.ladder(name)
        if ladder.said is not None:
            self.made_hierarchies_[name] = ladder.said
        return Taxonomy(ladder, counts, bits)
