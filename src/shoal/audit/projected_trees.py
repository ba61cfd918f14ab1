# SPDX-License-Identifier: Apache-2.0
"""The audit of trees that claim PartAL: one of each projection, published in place of its rows.

A tree that was learned from a projection is a function of it, so it tells no more: people who are alike in the
projection are alike in the tree. What PartAL says of a projection's groups is therefore asked of the tree's, which are
never smaller: PAL of the people who share a span, and SAL of leaves joined again by class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np

from shoal.audit.columns import stated_columns
from shoal.audit.ensembles import in_tree, joint_spans, what_ensemble
from shoal.audit.groups import group_people, numbered
from shoal.audit.recount import recount
from shoal.audit.rejoined import Side, rejoin
from shoal.audit.result import Finding
from shoal.audit.together.joint import tellings
from shoal.audit.together.pinned import pinned
from shoal.audit.together.product import Product
from shoal.audit.together.released_models import ReleasedTree
from shoal.audit.told_together import Counted, TogetherAudit, check_one_row_each, judge
from shoal.audit.trees import column_names, compare_rows, sensitive_columns
from shoal.data.table import Table
from shoal.errors import RequirementError
from shoal.privacy import Requirement, as_requirement, likely_asked
from shoal.release.ensemble import EnsembleRelease


def audit_projected_trees(
    release: EnsembleRelease,
    X: Any,
    y: Any = None,
    *,
    public: Collection[str] | None = None,
    privacy: Requirement | int | None = None,
    person: str | None = None,
) -> TogetherAudit:
    """Recount trees that claim PartAL from the rows. The parameters are those of `audit`."""
    tree = release.trees[0]
    check_one_row_each(tree, X, person, named=column_names(tree), public=public)
    requirement = release.requirement if privacy is None else as_requirement(privacy)
    if likely_asked(requirement):
        raise RequirementError(
            "not-of-groups", "LikelyPartAL can be asked of projections only; of trees learned from them ask for PartAL."
        )
    counted = [recount(tree, X, y, public) for tree in release.trees]
    first = counted[0]
    target, known = first.target, release.target in first.public
    codes = target.codes.astype(np.int64)
    groups = group_people(joint_spans([each.spans for each in counted]), codes, target.n_codes, target_is_public=known)
    of_row = [numbered([each.spans.of_row, *([codes] if known else [])], len(codes)) for each in counted]
    findings = _overlap(release)
    for number, (tree, each) in enumerate(zip(release.trees, counted, strict=True)):
        findings += [in_tree(finding, number) for finding in compare_rows(tree, each)]
    product = Product(
        [ReleasedTree(tree) for tree in release.trees],
        Table(first.table.values()).with_column(target),
        first.public,
        [None] * len(counted),
    )
    return judge(
        requirement,
        Counted(
            rejoined=rejoin([Side(group, codes) for group in of_row]),
            groups=groups,
            of_row=of_row,
            linked=of_row,  # no column is in two trees
            target=None if known else target,
            pinned=pinned(tellings(product, range(len(counted)))),
            named=[tree.tested for tree in release.trees],
        ),
        [each for each in sensitive_columns(release.trees[0], first, requirement) if each is not None],
        findings,
        what=what_ensemble(release),
        part="tree",
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


def _overlap(release: EnsembleRelease) -> list[Finding]:
    """Columns that several trees ask for: then leaves are joined by more than the class."""
    times = Counter(name for tree in release.trees for name in tree.tested)
    several = sorted(name for name, n in times.items() if n > 1)
    if not several:
        return []
    return [
        Finding(
            "trees-overlap",
            "breach",
            f"Several trees ask for {', '.join(map(repr, several))}: PartAL of their leaves is not defined. Learn each "
            "tree from columns of its own, or claim k-anonymity.",
        )
    ]
