# SPDX-License-Identifier: Apache-2.0
"""Mine: feature-set partitioning (DMPD) and its search."""

from shoal.partition.estimator import PartitionedClassifier

__all__ = ["PartitionedClassifier"]
