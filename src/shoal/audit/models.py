# SPDX-License-Identifier: Apache-2.0
"""The audit of a model over groups.

Everything such a model gets is a function of the group and of its inputs. So at worst its bins are group × inputs ×
target, and a person's span is his group with every value of what the attacker does not know.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.audit.asking import ask, conclude
from shoal.audit.columns import stated_columns
from shoal.audit.groups import Groups, split_groups
from shoal.audit.recount import Recount, recount
from shoal.audit.result import Audit, Finding
from shoal.audit.tree_missing import missing_in_trees
from shoal.audit.trees import (
    column_names,
    compare_people,
    compare_rows,
    describe_groups,
    sensitive_columns,
    target_is_private,
)
from shoal.audit.whose import more_than_claimed, whose_rows
from shoal.data.domain import clip, declare_values
from shoal.data.frames import to_table
from shoal.data.table import Column, Table
from shoal.errors import DataError, closest
from shoal.privacy import Requirement, as_requirement, least_people
from shoal.release import Attribute, ModelRelease
from shoal.release.model_file import keeps_rows
from shoal.release.model_inputs import classed


def audit_model(
    release: ModelRelease,
    X: Any,
    y: Any = None,
    *,
    public: Collection[str] | None = None,
    privacy: Requirement | int | None = None,
    person: str | None = None,
) -> Audit:
    """Recount the groups of a released model from the rows, and see that the group is all it knows of public columns.

    A group is exempt only where target and inputs are all known to the attacker. The parameters are those of `audit`.
    """
    requirement = release.requirement if privacy is None else as_requirement(privacy)
    whose = whose_rows(release, X, person, named=column_names(release.groups), public=public)
    table, number = _read(release, X, y)
    counted = recount(release.groups, table, None if number is not None else y, public, whose)
    n_groups = len(counted.groups)
    counted = replace(counted, groups=_groups(release, table, number, counted))
    groups = counted.groups
    counts_for = groups.n_bins > 1
    sensitive = sensitive_columns(release.groups, counted, requirement)
    parts, failing, findings = ask(requirement, sensitive, groups, counts_for)
    findings = describe_groups(release.groups, counted, failing) + findings
    findings += compare_rows(release.groups, counted) + _look_inside(release, table.n_rows)
    findings += compare_people(release.groups, groups) + more_than_claimed(release, whose)
    verdict = conclude(
        requirement,
        groups,
        counts_for,
        parts,
        failing,
        findings,
        what="a model over groups of people",
        target=counted.target if target_is_private(release.groups, counted) else None,
        exact=counted.disjoint,
        public=release.public if public is None else tuple(sorted(counted.public)),
        sha256=release.sha256,
        columns=stated_columns(
            release.groups.attributes,
            counted.public,
            target=release.target,
            sensitive=release.sensitive,
            asked={*release.groups.tested, *release.inputs},
            unused=release.groups.unused,
        ),
    )
    missing = missing_in_trees([release.groups], counted, groups, counts_for, least_people(requirement))
    if missing is not None and len(groups) > n_groups:  # told further apart, by what the model is given
        missing = replace(missing, smallest=None, below=None)
    return replace(verdict, missing=missing)


def _read(release: ModelRelease, X: Any, y: Any) -> tuple[Table, Column | None]:
    """The rows, and the target where it is a number: then the table has it by its class."""
    kinds: dict[str, Any] = dict(release.kinds)
    name = y if isinstance(y, str) else release.target
    kinds[name] = "categorical" if release.cuts is None else "numeric"
    table = to_table(X, kinds=kinds, only=kinds)
    if release.cuts is None:
        return table, None
    if y is None or isinstance(y, str):
        number = replace(table[name], name=release.target)
    else:
        number = to_table({release.target: np.asarray(y).ravel()}, kinds={release.target: "numeric"})[release.target]
    if number.kind != "numeric":
        raise DataError("not-numeric", f"The target {name!r} holds categories; the release predicts numbers.")
    if number.missing:
        n = int((number.codes == len(number.values)).sum())
        raise DataError("target-missing", f"The target {name!r} is missing in {n} row(s). Remove them first.")
    if len(number) != table.n_rows:
        raise DataError(
            "target-length", f"X has {table.n_rows} row(s) but y has {len(number)}. Give one value of y a row."
        )
    others = [column for column in table.values() if column.name not in (name, release.target)]
    return Table([*others, classed(number, release.cuts)]), number


def _groups(release: ModelRelease, table: Table, number: Column | None, counted: Recount) -> Groups:
    """The groups over bins of the model: split by inputs that the attacker knows, widened by those he does not."""
    groups = counted.groups
    for name in release.inputs:
        if name in counted.public:
            groups = split_groups(groups, as_stated(release, table, name))
        elif has_choice(release.attribute(name)):
            groups = replace(groups, n_bins=groups.n_bins * 2)
    if number is not None and release.target in counted.public:
        groups = split_groups(groups, number)
    return groups


def has_choice(attribute: Attribute) -> bool:
    """Whether the domain has more than one value: a value nobody has makes a bin reachable all the same."""
    if attribute.bounds is not None:
        return attribute.missing or attribute.bounds[0] < attribute.bounds[1]
    return len(attribute.values) + attribute.missing > 1


def as_stated(release: ModelRelease, table: Table, name: str) -> Column:
    """An input in the terms of the release: what it takes for the same is the same."""
    if name not in table:
        raise DataError("no-column", f"The release asks for column(s) {name!r}.{closest(name, table)}")
    attribute, column = release.attribute(name), table[name]
    if column.kind != attribute.type:
        raise DataError(
            "column-kind",
            f"Column {name!r} is {column.kind} here but {attribute.type} in the release. "
            f"Read it with kinds={{{name!r}: {attribute.type!r}}}.",
        )
    n = int((column.codes == len(column.values)).sum())
    if n and not attribute.missing:
        raise DataError("unseen-value", f"Values outside the release's declared domain: {name!r} in {n} row(s).")
    if attribute.bounds is not None:
        return clip(column, *attribute.bounds)
    return declare_values(column, attribute.values)


def _look_inside(release: ModelRelease, n_rows: int) -> list[Finding]:
    """Public columns that reach the model past the group, and rows that it holds."""
    findings = [
        Finding(
            "public-input",
            "breach",
            f"The model takes {name!r}, which is public, as it is: people of one group can be told apart by it.",
            release.n_people,
        )
        for name in release.inputs
        if name in release.public
    ]
    kept = keeps_rows(release.estimator, n_rows) if release.file is not None else None
    if kept is not None:
        findings.append(
            Finding(
                "stores-rows",
                "breach",
                f"The model's file keeps rows it was fitted on ({kept}): private values, person by person.",
                release.n_people,
            )
        )
    return findings
