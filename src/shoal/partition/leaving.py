# SPDX-License-Identifier: Apache-2.0
"""From a chosen partitioning to what leaves: its projections, or their trees, checked against all that was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.anonymize.cells import ColumnMap
from shoal.errors import PromiseError
from shoal.partition.c45 import C45Tree
from shoal.partition.learners import Model
from shoal.partition.partitioning import Partitioning
from shoal.partition.prepare import projection_maps
from shoal.partition.publish import check_more, publish_projections, publish_trees
from shoal.partition.study import Study
from shoal.partition.suppress import groups_to_leave_out, groups_with_new_classes
from shoal.release import EnsembleRelease, ProjectionsRelease

if TYPE_CHECKING:
    from shoal.partition.estimator import PartitionedClassifier


def publish_study(
    asked: PartitionedClassifier, study: Study, models: Sequence[Model], subsets: Sequence[tuple[int, ...]]
) -> ProjectionsRelease | EnsembleRelease:
    """The audited release of some subsets of the features, or of the models that were learned from them."""
    if asked.publish == "trees":
        trees = [model for model in models if isinstance(model, C45Tree)]
        release = publish_trees(study.prepared, trees, study.requirement)
        _check_more(asked, study, release)
        return release
    if study.left_out is None:
        return _projected(asked, study, subsets, None)
    public = set(study.prepared.quasi)
    known = [[feature for feature in own if feature in public] for own in subsets]
    codes = list(study.prepared.encode(study.table, "missing"))
    nobody = np.zeros_like(study.left_out)
    try:  # rows whose groups are large enough without the columns that are not published come back
        return _projected(asked, study, subsets, groups_to_leave_out(codes, known, study.k, nobody))
    except PromiseError:  # some of them have a class that their group did not have: then without the whole group
        new = groups_with_new_classes(codes, study.table[study.target].codes, known, ~study.left_out)
        fewer = groups_to_leave_out(codes, known, study.k, new)
        if not new.any() or int(fewer.sum()) > study.prepared.task.budget:
            raise
        return _projected(asked, study, subsets, fewer)


def would_leave(asked: PartitionedClassifier, study: Study, partitioning: Partitioning) -> bool:
    """Whether what a search found would pass its audit: published for a trial, and thrown away."""
    subsets = partitioning.features
    if not subsets:
        return True
    try:
        publish_study(asked, study, [study.judge.learner.fit(own) for own in subsets], subsets)
    except PromiseError:
        return False
    return True


def _projected(
    asked: PartitionedClassifier, study: Study, subsets: Sequence[tuple[int, ...]], left_out: NDArray[np.bool_] | None
) -> ProjectionsRelease:
    maps: dict[str, ColumnMap] = {}
    for own in subsets:
        maps.update(projection_maps(study.prepared, own))
    # what a hierarchy lists is the domain of its column
    listed = {name: each.values for name, each in study.prepared.task.hierarchies.items() if each.values}
    named = [[study.prepared.names[i] for i in own] for own in subsets]
    release = publish_projections(
        study.table,
        study.target,
        named,
        privacy=study.claimed([name for own in named for name in own]),
        public=study.prepared.task.public,
        maps=maps,
        domain={**listed, **(asked.domain or {})},
        left_out=left_out if left_out is not None and left_out.any() else None,
        overlapping=asked.overlapping,
        reproducible=asked.reproducible,
    )
    _check_more(asked, study, release)
    return release


def _check_more(asked: PartitionedClassifier, study: Study, release: ProjectionsRelease | EnsembleRelease) -> None:
    check_more(release, study.table, each=asked.each, open_classes=asked.open_classes, others=asked.other_public)
