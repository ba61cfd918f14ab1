# SPDX-License-Identifier: Apache-2.0
"""Shoal: publish what was learned from personal data without giving anybody in it away.

A fish is safe in the shoal. Mine a model that keeps a promise about groups of people, audit one that somebody else
made, and see what an attacker who knows the public columns can tell from it.
"""

from shoal.audit import Audit, Finding, attack, audit
from shoal.data import Hierarchy, Roles, Table, load_sample, read_table, to_table
from shoal.errors import (
    DataError,
    DisclosureWarning,
    HierarchyError,
    PromiseError,
    ReleaseError,
    RequirementError,
    RoleError,
    ShoalError,
)
from shoal.privacy import (
    Closeness,
    Confidence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    SimpleDiversity,
)
from shoal.release import TreeRelease, load
from shoal.trees import AnonymousTreeClassifier

__version__ = "0.1.0"

__all__ = [
    "AnonymousTreeClassifier",
    "Audit",
    "Closeness",
    "Confidence",
    "DataError",
    "DisclosureWarning",
    "DistinctDiversity",
    "EntropyDiversity",
    "Finding",
    "Hierarchy",
    "HierarchyError",
    "KAnonymity",
    "PromiseError",
    "RecursiveDiversity",
    "ReleaseError",
    "RequirementError",
    "RoleError",
    "Roles",
    "ShoalError",
    "SimpleDiversity",
    "Table",
    "TreeRelease",
    "attack",
    "audit",
    "load",
    "load_sample",
    "read_table",
    "to_table",
]
