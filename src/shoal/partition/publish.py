# SPDX-License-Identifier: Apache-2.0
"""From rows and subsets of their columns to projections that may leave the house."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.anonymize.cells import ColumnMap
from shoal.anonymize.method import Recoding, generalise
from shoal.anonymize.settle import make_task
from shoal.audit import Audit, audit
from shoal.audit.told_together import TogetherAudit
from shoal.data.domain import Domain
from shoal.data.frames import to_table
from shoal.data.table import Column, Table
from shoal.errors import DataError, PromiseError, RequirementError, closest
from shoal.partition.c45 import C45Tree
from shoal.partition.prepare import Prepared
from shoal.privacy import KAnonymity, PartAL, Requirement, asked_of_groups, claims, partal_asked
from shoal.release import Attribute, EnsembleRelease, ProjectionsRelease, TreeRelease


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
        The rows that are not published: whole groups of some projection, whatever their class.
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
        if name not in table or (isinstance(y, str) and name == y):
            raise DataError("no-column", f"There is no column {name!r} to project on.{closest(name, table)}")
    task, given = make_task(
        table.select([*names, *([y] if isinstance(y, str) else [])]),  # of other columns nothing is told
        y,
        privacy=alone,
        public=None if public is None else [name for name in public if name in names],
        sensitive=sensitive,
        # of columns that are not published nothing is stated either
        domain={name: stated for name, stated in (domain or {}).items() if name in (*names, y) or name not in table},
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
        raise _withheld("projections", verdict)
    return release.with_audit(verdict)


def publish_trees(prepared: Prepared, trees: Sequence[C45Tree], requirement: Requirement) -> EnsembleRelease:
    """The trees of some projections in place of their rows, audited, or withheld.

    A tree of a projection is a function of it, so it tells no more than its rows would.
    """
    task = prepared.task
    columns = [task.rows[name] for name in prepared.names]
    cuts = {
        i: each.public.cuts
        for i, each in enumerate(prepared.encoders)
        if each.public is not None and columns[i].kind == "numeric"
    }
    nodes = [tree.nodes(columns, {i: ends for i, ends in cuts.items() if ends is not None}) for tree in trees]
    asked = {node.attribute for own in nodes for node in own}
    attributes = tuple(
        Attribute.of(column, "public" if column.name in task.public else "private")
        for column in (*columns, prepared.target)
        if column.name in asked or column.name == task.target
    )
    claimed = tuple(claims(requirement))
    assert task.target is not None
    release = EnsembleRelease(
        tuple(TreeRelease(task.target, attributes, claimed, own) for own in nodes), combine="bayes"
    )
    verdict = audit(release, task.rows)
    if not verdict.holds:
        raise _withheld("trees", verdict)
    return release.with_audit(verdict)


def check_more(
    release: ProjectionsRelease | EnsembleRelease,
    table: Table,
    *,
    each: Requirement | None,
    open_classes: int,
    others: Sequence[Sequence[str]],
) -> None:
    """Audit what was asked besides what the release claims, and withhold it where that fails.

    Parameters
    ----------
    release, table
        What is to be published, and the original rows.
    each
        What every group of every projection alone must satisfy.
    open_classes
        How many classes must be left for everybody.
    others
        Further sets of columns that an attacker may know instead of the public ones.
    """
    what = "projections" if isinstance(release, ProjectionsRelease) else "trees"
    if each is not None and isinstance(release, ProjectionsRelease):
        for one in release.tables:
            alone = audit(one, privacy=each)
            if not alone.holds:
                raise _withheld(what, alone)
    published = {each.name for each in release.attributes}
    sets = [None] if open_classes > 1 else []
    for public in [*sets, *([name for name in names if name in published] for names in others)]:
        verdict = audit(release, table, public=public)
        if not verdict.holds:
            raise _withheld(what, verdict)
        assert isinstance(verdict, TogetherAudit)
        if verdict.classes_left is not None and verdict.classes_left < open_classes:
            raise PromiseError(
                "audit-failed",
                f"The {what} failed their audit and are withheld. They leave somebody {verdict.classes_left:,} "
                f"class(es), and {open_classes:,} are asked for.",
            )


def _withheld(what: str, verdict: Audit) -> PromiseError:
    worst = next(finding for finding in verdict.findings if finding.severity == "breach")
    return PromiseError("audit-failed", f"The {what} failed their audit and are withheld. {worst.message}")


def _map_of(column: Column, cuts: Mapping[str, ArrayLike], maps: Mapping[str, ColumnMap]) -> ColumnMap:
    if column.name in maps:
        return maps[column.name]
    if column.name in cuts:
        return ColumnMap.of_cuts(column, np.asarray(cuts[column.name], dtype=np.float64))
    return ColumnMap.exact(column)
