# SPDX-License-Identifier: Apache-2.0
"""From rows and subsets of their columns to projections that may leave the house."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.anonymize.cells import ColumnMap
from shoal.anonymize.method import Recoding, generalise
from shoal.anonymize.task import make_task
from shoal.audit import audit
from shoal.data.domain import Domain
from shoal.data.frames import to_table
from shoal.data.table import Column
from shoal.errors import DataError, PromiseError, RequirementError, closest
from shoal.privacy import KAnonymity, PartAL, Requirement, asked_of_groups, partal_asked
from shoal.release import ProjectionsRelease


def publish_projections(
    X: Any,
    y: Any,
    subsets: Sequence[Sequence[str]],
    *,
    privacy: Requirement | int,
    public: Sequence[str] | None = None,
    cuts: Mapping[str, ArrayLike] | None = None,
    maps: Mapping[str, ColumnMap] | None = None,
    sensitive: Sequence[str] = (),
    domain: Domain | None = None,
    left_out: NDArray[np.bool_] | None = None,
    overlapping: bool = False,
    reproducible: bool = False,
) -> ProjectionsRelease:
    """Project the rows on some subsets of columns, the target with each, audit them, and withhold what fails.

    Parameters
    ----------
    X, y
        The rows, one a person, and the target's values or the name of its column in `X`.
    subsets
        The columns of each projection, the target left aside.
    privacy
        `PartAL`, perhaps with requirements about groups, which are asked of all projections together. A whole number k
        means ``PartAL(k)``, which is not k-anonymity.
    public
        The columns an attacker may know; by default all but the target.
    cuts
        Between which numbers public numeric columns are told apart; one that is not named is published as it is.
    maps
        How other public columns are recoded; by default as they are.
    sensitive, domain
        Private columns that requirements about values cover, and declared values or bounds of columns.
    left_out
        The rows that are not published: whole groups, or classes of groups, of some projection.
    overlapping, reproducible
        As in `ProjectionsRelease.of`.

    Examples
    --------
    >>> from shoal import load_sample
    >>> people = load_sample().table
    >>> release = publish_projections(people, "diabetes", [["age", "bmi"], ["sex", "education"]], privacy=20,
    ...                               public=["age", "sex", "education"], cuts={"age": [40, 60]})
    >>> release
    <ProjectionsRelease of 'diabetes': 2 projections, 5000 rows, PartAL 20>
    """
    requirement = PartAL(privacy) if isinstance(privacy, int | np.integer) else privacy
    k, of_groups = partal_asked(requirement), asked_of_groups(requirement)
    if k is None:
        raise RequirementError("requirement", "Projections claim PartAL: give PartAL(k), or a whole number for it.")
    if not subsets:
        raise DataError("no-projection", "There is no subset of columns to publish, so nothing is released.")
    alone: Requirement = KAnonymity(k) if of_groups is None else KAnonymity(k) & of_groups
    names = list(dict.fromkeys(name for subset in subsets for name in subset))
    table = to_table(X)
    for name in (*names, *(public or ())):
        if name not in table or name == y:
            raise DataError("no-column", f"There is no column {name!r} to project on.{closest(name, table)}")
    unpublished = set(table.names) - {*names, y} if isinstance(y, str) else set(table.names) - set(names)
    task, given = make_task(
        table.select([*names, *([y] if isinstance(y, str) else [])]),  # of other columns nothing is told
        y,
        privacy=alone,
        public=None if public is None else [name for name in public if name in names],
        sensitive=sensitive,
        domain=None if domain is None else {name: own for name, own in domain.items() if name not in unpublished},
        person=None,
        hierarchies=None,
    )
    assert task.target is not None
    recoding = Recoding.of_columns(
        {name: _map_of(task.rows[name], cuts or {}, maps or {}) for name in task.public}, task.rows, left_out
    )
    made, _ = generalise(task, recoding, [*names, task.target])
    release = ProjectionsRelease.of(
        made.rows if left_out is None else made.rows.take(~left_out),
        task.target,
        made.attributes,
        made.generalised,
        subsets,
        requirement,
        sensitive=made.sensitive,
        left_out=0 if left_out is None else int(left_out.sum()),
        overlapping=overlapping,
        reproducible=reproducible,
    )
    verdict = audit(release, given)
    if not verdict.holds:
        worst = next(finding for finding in verdict.findings if finding.severity == "breach")
        raise PromiseError("audit-failed", f"The projections failed their audit and are withheld. {worst.message}")
    return release.with_audit(verdict)


def _map_of(column: Column, cuts: Mapping[str, ArrayLike], maps: Mapping[str, ColumnMap]) -> ColumnMap:
    if column.name in maps:
        return maps[column.name]
    if column.name in cuts:
        return ColumnMap.of_cuts(column, np.asarray(cuts[column.name], dtype=np.float64))
    return ColumnMap.exact(column)
