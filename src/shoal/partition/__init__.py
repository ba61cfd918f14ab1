# SPDX-License-Identifier: Apache-2.0
"""Mine: feature-set partitioning (DMPD) and its search."""

from shoal.partition.estimator import PartitionedClassifier
from shoal.partition.options import GeneticOptions
from shoal.partition.pareto import attainment_surfaces, frontier, knees, point_for
from shoal.partition.partitioning import Partitioning
from shoal.partition.publish import publish_projections
from shoal.partition.search import search

__all__ = [
    "GeneticOptions",
    "PartitionedClassifier",
    "Partitioning",
    "attainment_surfaces",
    "frontier",
    "knees",
    "point_for",
    "publish_projections",
    "search",
]
