# SPDX-License-Identifier: Apache-2.0
"""Whole tables: the data itself, generalised until every group keeps the promise.

Rows enter; a `TableRelease` leaves, whose public columns are generalised and whose private columns are exact, audited
against the rows. This folder may import the miners and the audit; neither imports it.
"""

from shoal.anonymize.by_clusters import ClusterAnonymizer
from shoal.anonymize.by_tree import TreeAnonymizer, anonymize_by_tree
from shoal.anonymize.equivalent import tree_from_table
from shoal.anonymize.one_dimensional import OneDimensional

__all__ = ["ClusterAnonymizer", "OneDimensional", "TreeAnonymizer", "anonymize_by_tree", "tree_from_table"]
