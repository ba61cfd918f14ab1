# SPDX-License-Identifier: Apache-2.0
"""The audit of trees that are released together: a bin is a tuple of leaves and a value of the target.

Every test asks one column and the domain is a product of columns, so two people have the same span in all trees
together exactly when they have the same span in each: groups are the vectors of their spans.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.audit.asking import ask, conclude, worst_case
from shoal.audit.columns import stated_columns
from shoal.audit.groups import Spans, group_people, numbered
from shoal.audit.recount import Recount, recount
from shoal.audit.result import SHOWN, Audit, Finding
from shoal.audit.tree_missing import missing_in_trees
from shoal.audit.trees import column_names, compare_people, compare_rows, sensitive_columns, target_is_private
from shoal.audit.whose import more_than_claimed, whose_rows
from shoal.privacy import Requirement, as_requirement, least_people
from shoal.release.ensemble import EnsembleRelease


def audit_ensemble(
    release: EnsembleRelease,
    X: Any,
    y: Any = None,
    *,
    public: Collection[str] | None = None,
    privacy: Requirement | int | None = None,
    person: str | None = None,
) -> Audit:
    """Recount the joint groups of released trees from the rows. The parameters are those of `audit`."""
    requirement = release.requirement if privacy is None else as_requirement(privacy)
    whose = whose_rows(release.trees[0], X, person, named=column_names(release.trees[0]), public=public)
    counted = [recount(tree, X, y, public, whose) for tree in release.trees]
    first = counted[0]
    spans = joint_spans([each.spans for each in counted])
    known = release.target in first.public
    groups = group_people(spans, first.target.codes, first.target.n_codes, target_is_public=known, person=whose)
    counts_for = groups.n_bins > 1
    parts, failing, findings = ask(
        requirement, sensitive_columns(release.trees[0], first, requirement), groups, counts_for
    )
    findings = _describe(groups.people[failing], counted) + findings
    for number, (tree, each) in enumerate(zip(release.trees, counted, strict=True)):
        findings += [in_tree(finding, number) for finding in compare_rows(tree, each)]
    findings += compare_people(release.trees[0], groups) + more_than_claimed(release.trees[0], whose)
    if len(release.trees) > 1:
        findings.append(worst_case())
    verdict = conclude(
        requirement,
        groups,
        counts_for,
        parts,
        failing,
        findings,
        what=what_ensemble(release),
        target=first.target if target_is_private(release.trees[0], first) else None,
        exact=spans.disjoint and len(release.trees) == 1,
        public=release.public if public is None else tuple(sorted(first.public)),
        sha256=release.sha256,
        columns=stated_columns(
            release.attributes,
            first.public,
            target=release.target,
            sensitive=release.sensitive,
            asked={name for tree in release.trees for name in tree.tested},
            unused=release.unused,
        ),
    )
    k = least_people(requirement)
    return replace(verdict, missing=missing_in_trees(release.trees, first, groups, counts_for, k))


def what_ensemble(release: EnsembleRelease) -> str:
    """The trees as they stand in a sentence."""
    return f"{len(release.trees):,} decision tree{'' if len(release.trees) == 1 else 's'} that answer together"


def joint_spans(spans: list[Spans]) -> Spans:
    """Each row's spans in all trees, as one."""
    of_row = numbered([each.of_row for each in spans], len(spans[0].of_row))
    single = np.ones(len(of_row), dtype=bool)
    for each in spans:
        single &= (each.n_bins == 1)[each.of_row]
    return Spans.numbered(of_row, single, disjoint=all(each.disjoint for each in spans))


def _describe(sizes: Any, counted: list[Recount]) -> list[Finding]:
    """The smallest failing groups; no tree alone sets them apart, so no test is named."""
    findings = []
    for people in np.sort(sizes)[:SHOWN].tolist():
        size = f"A group of {people:,} {'person' if people == 1 else 'people'}"
        findings.append(
            Finding("group-fails", "breach", f"{size}: set apart by {len(counted):,} tree(s) together.", people)
        )
    return findings


def in_tree(finding: Finding, number: int) -> Finding:
    """What was found of one of the trees."""
    return replace(finding, message=f"Tree {number + 1}: {finding.message}", nodes=())
