# SPDX-License-Identifier: Apache-2.0
"""The audit of a released tree: recount its groups and ask every requirement of each of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.asking import ask, conclude
from shoal.audit.columns import AuditColumn, stated_columns
from shoal.audit.groups import Groups
from shoal.audit.marginals import compare_marginals, tells_private
from shoal.audit.recount import Recount, recount, sensitive_column
from shoal.audit.result import SHOWN, Audit, Finding
from shoal.audit.stated import compare_statement
from shoal.audit.tree_missing import missing_in_pieces, missing_in_trees
from shoal.audit.whose import more_than_claimed, whose_rows
from shoal.data.pieces import Pieces
from shoal.data.table import Column
from shoal.errors import RequirementError
from shoal.privacy import Requirement, as_requirement, least_people, needs_values, parts_of
from shoal.release import TreeRelease


def audit_tree(
    release: TreeRelease,
    X: Any,
    y: Any = None,
    *,
    public: Collection[str] | None = None,
    privacy: Requirement | int | None = None,
    person: str | None = None,
) -> Audit:
    """Recount the groups of a released tree from the rows. The parameters are those of `audit`."""
    requirement = release.requirement if privacy is None else as_requirement(privacy)
    if isinstance(X, Pieces):
        from shoal.audit.pieces import recount_pieces

        whose = None
        counted = recount_pieces(release, X, y, public, about_values=needs_values(requirement))
    else:
        whose = whose_rows(release, X, person, named=column_names(release), public=public)
        counted = recount(release, X, y, public, whose)
    sensitive = sensitive_columns(release, counted, requirement)
    groups = counted.groups
    counts_for = (groups.n_bins > 1) | tells_private(release, counted.public)
    parts, failing, findings = ask(requirement, sensitive, groups, counts_for)
    findings = describe_groups(release, counted, failing) + findings + compare_rows(release, counted)
    findings += compare_people(release, groups) + more_than_claimed(release, whose)
    findings += compare_marginals(release, counted.table, requirement, whose)
    verdict = conclude(
        requirement,
        groups,
        counts_for,
        parts,
        failing,
        findings,
        what=what_tree(release),
        target=counted.target if target_is_private(release, counted) else None,
        exact=counted.disjoint and release.statement == "counts",
        public=release.public if public is None else tuple(sorted(counted.public)),
        sha256=release.sha256,
        columns=tree_columns(release, counted),
    )
    k = least_people(requirement)
    if isinstance(X, Pieces):
        missing = missing_in_pieces(release, counted, X, tells_private(release, counted.public), k)
    else:
        missing = missing_in_trees([release], counted, groups, counts_for, k)
    return replace(verdict, missing=missing)


def tree_columns(release: TreeRelease, counted: Recount) -> tuple[AuditColumn, ...]:
    """What the tree states of its columns, and those that it names and does not use."""
    return stated_columns(
        release.attributes,
        counted.public,
        target=release.target,
        sensitive=release.sensitive,
        asked=release.tested,
        unused=release.unused,
    )


def column_names(release: TreeRelease) -> set[str]:
    """The columns that a tree says something of."""
    return {attribute.name for attribute in release.attributes} | set(release.unused)


def compare_people(release: TreeRelease, groups: Groups) -> list[Finding]:
    """Another number of people than the release states."""
    if release.people is None or release.people == groups.n_people:
        return []
    return [
        Finding(
            "counts-differ",
            "breach",
            f"The release states {release.people:,} people and these rows have {groups.n_people:,}: other rows, or a "
            "changed file.",
            groups.n_people,
        )
    ]


def what_tree(release: TreeRelease) -> str:
    """The tree as it stands in a sentence."""
    n = len(release.leaves)
    return f"a decision tree of {n:,} lea{'f' if n == 1 else 'ves'}"


def target_is_private(release: TreeRelease, counted: Recount) -> bool:
    return release.target not in counted.public


def sensitive_columns(release: TreeRelease, counted: Recount, requirement: Requirement) -> list[Column | None]:
    """The columns whose values the requirement is about; [None] where group sizes are all it asks."""
    if not any(needs_values(part) for part in parts_of(requirement)):
        return [None]
    columns: list[Column | None] = [counted.target] if target_is_private(release, counted) else []
    names = [name for name in release.sensitive if name not in counted.public]
    columns += [sensitive_column(release, counted.table[name]) for name in names]
    if not columns:
        raise RequirementError(
            "nothing-sensitive",
            "A requirement about private values needs a private target or a private column named as sensitive.",
        )
    return columns


def describe_groups(release: TreeRelease, counted: Recount, failing: NDArray[np.bool_]) -> list[Finding]:
    """The smallest failing groups in words, and the public tests that set them apart."""
    numbers = np.flatnonzero(failing)
    numbers = numbers[np.argsort(counted.groups.people[numbers], kind="stable")][:SHOWN]
    findings = []
    for number in numbers:
        leaves = counted.tree_spans.leaves_of(int(counted.groups.example[number]))
        guilty = _public_tests_above(release, counted, leaves)
        people = int(counted.groups.people[number])
        findings.append(
            Finding(
                "group-fails",
                "breach",
                f"A group of {people:,} {'person' if people == 1 else 'people'}: {_told_by(release, counted, leaves)}. "
                + (f"Set apart by node(s) {', '.join(map(str, guilty))}." if guilty else "No split sets them apart."),
                people,
                guilty,
            )
        )
    return findings


def _told_by(release: TreeRelease, counted: Recount, leaves: list[int]) -> str:
    """The public tests on the way to a group's leaves: what its people have in common for an outsider."""
    tests = dict.fromkeys(
        f"{attribute} {branch.condition()}"
        for leaf in leaves
        for attribute, branch in release.path(leaf)
        if attribute in counted.public
    )
    words = list(tests)[:SHOWN] + ([f"{len(tests) - SHOWN} more tests"] if len(tests) > SHOWN else [])
    return " and ".join(words) or "everybody"


def _public_tests_above(release: TreeRelease, counted: Recount, leaves: list[int]) -> tuple[int, ...]:
    """For each leaf the nearest node above that asks a public attribute: undoing it would widen the group."""
    guilty = set()
    for leaf in leaves:
        node = int(release.parents[leaf])
        while node >= 0 and release.nodes[node].attribute not in counted.public:
            node = int(release.parents[node])
        if node >= 0:
            guilty.add(node)
    return tuple(sorted(guilty))


def compare_rows(release: TreeRelease, counted: Recount) -> list[Finding]:
    """Rows that the release's domain denies, and statements that are not those of the rows."""
    denied = [
        Finding(
            "outside-domain",
            "breach",
            f"{n:,} row(s) have a value of {name!r} that the release declares impossible, so its spans are not to be "
            "trusted. Declare the domain as it is.",
            n,
        )
        for name, n in counted.outside.items()
    ]
    return denied + compare_statement(release, counted.bins)
