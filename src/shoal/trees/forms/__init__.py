# SPDX-License-Identifier: Apache-2.0
"""The ways in which one feature can split a node.

A form lists *positions*: the levels of a hierarchy, the cuts of an ordered feature, the cuts of a categorical one
whose values are put in order of the node's own classes, or the stages at which its values are merged. For counts of
many nodes at once it tells what each position gains, and for sets of people which positions keep a requirement; a
position of a node becomes a `Split`.
"""

from __future__ import annotations

from shoal.engines import Feature
from shoal.trees.forms.base import Form
from shoal.trees.forms.cuts import Cuts, Halves
from shoal.trees.forms.levels import KnownLevels, Levels
from shoal.trees.forms.merges import Merges
from shoal.trees.score import Score

__all__ = ["Cuts", "Form", "Halves", "KnownLevels", "Levels", "Merges", "form_of"]


def form_of(feature: Feature, score: Score, grouping: str | None) -> Form | None:
    """The form of a feature, or None where it cannot split at all."""
    if feature.n_known < 2 and not (feature.levels is not None and feature.n_codes > 1):
        return None
    if feature.levels is None:
        return Cuts(feature, score)
    if grouping == "merge" and feature.levels.cuts is None:
        return Merges(feature, score)
    # a hierarchy that the user gave is kept to; only values that nobody has grouped are grouped here
    if grouping == "halves" and feature.levels.cuts is None and len(feature.levels) == 1:
        return Halves(feature, score)
    return KnownLevels(feature, score) if score.by_ratio and feature.missing else Levels(feature, score)
