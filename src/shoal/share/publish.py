# SPDX-License-Identifier: Apache-2.0
"""What one owner publishes: an audited tree that states every column, and how single columns are distributed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from shoal.audit import audit
from shoal.data.domain import Domain, declare_domain
from shoal.data.frames import to_table
from shoal.data.hierarchy import load_hierarchies
from shoal.data.person import whose_rows
from shoal.data.roles import Roles, TargetRole
from shoal.data.table import Column, Table
from shoal.data.target import with_target
from shoal.errors import DataError, PromiseError, RequirementError
from shoal.privacy import Requirement, as_requirement, needs_values, people_behind
from shoal.release import Attribute, TreeRelease
from shoal.share.marginals import marginals_of
from shoal.trees import AnonymousTreeClassifier
from shoal.trees.atp import prune_by_merging

Method = Literal["mine", "full", "atp", "ldm"]


_MANNERS: dict[str, dict[str, Any]] = {
    "mine": {},
    "full": {"criterion": "gain", "pruning": "none"},
    "atp": {"variant": "c45"},
    "ldm": {"variant": "id3"},
}


def publish(
    X: Any,
    target: str,
    privacy: Requirement | int = 10,
    *,
    public: Sequence[str] | None = None,
    target_role: TargetRole = "private",
    sensitive: Sequence[str] = (),
    domain: Domain | None = None,
    person: str | None = None,
    hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    method: Method = "mine",
    marginals: bool = True,
) -> TreeRelease:
    """A tree of one owner's rows from which others can learn: audited, with every column and its domain stated.

    Parameters
    ----------
    X
        The rows. Every column but the target and `person` is stated, so leave out what nobody shall hear of.
    target
        The column to predict.
    privacy, public, target_role, sensitive, domain, person, hierarchies
        As of `AnonymousTreeClassifier`. Owners who declare the same domain fit together.
    method
        ``"mine"``: the tree that predicts best by itself of those that keep the promise. ``"full"``: one grown by
        information gain as far as the promise allows, nothing pruned; many such trees, averaged, predict better.
        ``"atp"``: C4.5's tree of the public columns, branches merged until every path keeps the promise. ``"ldm"``:
        ID3's tree, grown under a requirement about the target's values, as the paper's rival.
    marginals
        Whether to tell how each column is distributed, in cells that at least k people are in. Pseudo-data is much more
        like the rows then. With a public target, only public columns are told of.

    Raises
    ------
    PromiseError
        If the audit of what was made does not hold. Nothing leaves then.

    Examples
    --------
    >>> from shoal import load_sample
    >>> people = load_sample().table.select(["age", "sex", "smoker", "diabetes"])
    >>> release = publish(people, "diabetes", 100, domain={"age": [0, 120]})
    >>> [attribute.name for attribute in release.attributes], sorted(release.marginals)
    (['age', 'sex', 'smoker', 'diabetes'], ['age', 'sex', 'smoker'])
    """
    requirement = as_requirement(privacy)
    if method not in get_args(Method):
        raise DataError("unknown-option", f"method must be 'mine', 'full', 'atp' or 'ldm'; got {method!r}.")
    if method == "ldm" and not needs_values(requirement):
        raise RequirementError(
            "nothing-diverse",
            "The method 'ldm' needs a requirement about the target's values, such as SimpleDiversity(2).",
        )
    raw = to_table(X)
    raw = with_target(raw, target, target)
    roles = Roles.resolve(
        raw.names,
        target=target,
        public=public,
        identifier=[] if person is None else [person],
        target_role=target_role,
        sensitive=sensitive,
    )
    known = load_hierarchies(hierarchies, roles.features)
    whose = None if person is None else whose_rows(raw[person])
    table = declare_domain(raw, roles, domain, known, people=people_behind(requirement), person=whose)
    # what the tree may ask; a private column of which only the distribution is told is stated all the same
    asked = [name for name in roles.features if method != "atp" or name in roles.public]
    rows = table.select([*asked, target])
    if person is not None:
        rows = rows.with_column(raw[person])
    tree = AnonymousTreeClassifier(
        1 if method == "atp" else requirement,
        public=[name for name in asked if name in roles.public],
        target_role=target_role,
        sensitive=() if method == "atp" else roles.sensitive,
        domain={name: _declared(table[name]) for name in (*asked, target)},
        person=person,
        hierarchies={name: each for name, each in known.items() if name in asked},
        **_MANNERS[method],
    ).fit(rows, target)
    release: TreeRelease = tree.release_
    if method == "atp":
        release = prune_by_merging(release, requirement)
    told = [name for name in roles.features if roles.target_role == "private" or name in roles.public]
    release = replace(
        release,
        attributes=_all_columns(table, roles, release),
        sensitive=roles.sensitive,
        marginals=marginals_of(table, told, people_behind(requirement), whose, private=roles.private)
        if marginals
        else {},
        verdict=None,
    )
    verdict = audit(release, raw, privacy=requirement, person=person if release.several_rows else None)
    if not verdict.holds:
        worst = next(finding for finding in verdict.findings if finding.severity == "breach")
        raise PromiseError("audit-failed", f"What was made fails its audit and is withheld: {worst.message}")
    return release.with_audit(verdict)


def _declared(column: Column) -> list[Any]:
    """The settled domain of a column, in the words in which it is declared."""
    if column.kind == "categorical":
        return list(column.names)
    assert column.bounds is not None
    return list(column.bounds)


def _all_columns(table: Table, roles: Roles, release: TreeRelease) -> tuple[Attribute, ...]:
    """Every column as the release states it, and those that it never asks for, in the order of the table."""
    stated = {attribute.name: attribute for attribute in release.attributes}
    return tuple(
        stated.get(name) or Attribute.of(column, "public" if roles.of(name) == "public" else "private")
        for name, column in table.items()
    )
