# SPDX-License-Identifier: Apache-2.0
"""Whole tables: the data itself, generalised until every group keeps the promise.

Rows enter; a `TableRelease` leaves, whose public columns are generalised and whose private columns are exact, audited
against the rows. This folder may import the miners and the audit; neither imports it.
"""

from shoal.anonymize.by_clusters import ClusterAnonymizer
from shoal.anonymize.by_tree import TreeAnonymizer, anonymize_by_tree
from shoal.anonymize.compare import Compared, compare_methods
from shoal.anonymize.equivalent import tree_from_table
from shoal.anonymize.incognito import Incognito
from shoal.anonymize.k_optimize import KOptimize
from shoal.anonymize.mondrian import Mondrian
from shoal.anonymize.nearest import nearest_class
from shoal.anonymize.one_dimensional import OneDimensional
from shoal.anonymize.tdr import TopDownRefinement
from shoal.anonymize.tds import TopDownSpecialization

__all__ = [
    "ClusterAnonymizer",
    "Compared",
    "Incognito",
    "KOptimize",
    "Mondrian",
    "OneDimensional",
    "TopDownRefinement",
    "TopDownSpecialization",
    "TreeAnonymizer",
    "anonymize_by_tree",
    "compare_methods",
    "nearest_class",
    "tree_from_table",
]
