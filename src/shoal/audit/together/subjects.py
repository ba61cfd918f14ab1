# SPDX-License-Identifier: Apache-2.0
"""Which subject a release is."""

from __future__ import annotations

from typing import Any

from shoal.audit.together.released import Released
from shoal.audit.together.released_models import ReleasedClusters, ReleasedEnsemble, ReleasedModel, ReleasedTree
from shoal.audit.together.released_tables import ReleasedProjections, ReleasedTable
from shoal.audit.together.rules import ReleasedRules
from shoal.errors import DataError
from shoal.release import (
    ClustersRelease,
    EnsembleRelease,
    ModelRelease,
    ProjectionsRelease,
    RulesRelease,
    TableRelease,
    TreeRelease,
)


def as_subject(release: Any) -> Released:
    """A release of ours as a subject.

    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> subject = as_subject(AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes").release_)
    >>> subject.what, subject.columns
    ('a decision tree of 2 leaves', ('age', 'diabetes'))
    """
    if isinstance(release, TreeRelease):
        return ReleasedTree(release)
    if isinstance(release, EnsembleRelease):
        return ReleasedEnsemble(release)
    if isinstance(release, ClustersRelease):
        return ReleasedClusters(release)
    if isinstance(release, ModelRelease):
        return ReleasedModel(release)
    if isinstance(release, TableRelease):
        return ReleasedTable(release)
    if isinstance(release, ProjectionsRelease):
        return ReleasedProjections(release)
    if isinstance(release, RulesRelease):
        return ReleasedRules(release)
    raise DataError("not-a-release", f"This needs a release or a model that carries one; got {type(release).__name__}.")
