# SPDX-License-Identifier: Apache-2.0
"""Clusters that keep a promise: a cut is made only where the released centroids keep everybody in a large group."""

from shoal.clusters.estimator import AnonymousClusters

__all__ = ["AnonymousClusters"]
