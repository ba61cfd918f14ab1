# SPDX-License-Identifier: Apache-2.0
"""Shoal: publish what was learned from personal data without giving anybody in it away.

A fish is safe in the shoal. Mine a model that keeps a promise about groups of people, audit one that somebody else
made, and see what an attacker who knows the public columns can tell from it.

The miners, which bring scikit-learn and the compiled kernels along, and what few need are imported when they are first
used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.audit import AnonymisedTable, Attack, Audit, Finding, attack, audit, risks
from shoal.data import Hierarchy, Roles, Table, load_sample, read_table, to_table
from shoal.errors import (
    DataError,
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
    LikelyPartAL,
    PartAL,
    RecursiveDiversity,
    SimpleDiversity,
)
from shoal.release import ClustersRelease, EnsembleRelease, ProjectionsRelease, TableRelease, TreeRelease, load

if TYPE_CHECKING:
    from shoal.anonymize import (
        ClusterAnonymizer,
        Incognito,
        KOptimize,
        Mondrian,
        OneDimensional,
        TopDownRefinement,
        TopDownSpecialization,
        TreeAnonymizer,
    )
    from shoal.audit.foreign.files import load_model
    from shoal.audit.rules import Rules
    from shoal.audit.telling import rank_columns
    from shoal.audit.together.ledger import Ledger
    from shoal.clusters import AnonymousClusters
    from shoal.data import Query
    from shoal.models import AnonymousModel
    from shoal.partition import PartitionedClassifier
    from shoal.release.predict_file import predict_file
    from shoal.rules import AnonymousRules
    from shoal.trees import AnonymousTreeClassifier

__version__ = "0.1.0"

__all__ = [
    "AnonymisedTable",
    "AnonymousClusters",
    "AnonymousModel",
    "AnonymousRules",
    "AnonymousTreeClassifier",
    "Attack",
    "Audit",
    "Closeness",
    "ClusterAnonymizer",
    "ClustersRelease",
    "Confidence",
    "DataError",
    "DistinctDiversity",
    "EnsembleRelease",
    "EntropyDiversity",
    "Finding",
    "Hierarchy",
    "HierarchyError",
    "Incognito",
    "KAnonymity",
    "KOptimize",
    "Ledger",
    "LikelyPartAL",
    "Mondrian",
    "OneDimensional",
    "PartAL",
    "PartitionedClassifier",
    "ProjectionsRelease",
    "PromiseError",
    "Query",
    "RecursiveDiversity",
    "ReleaseError",
    "RequirementError",
    "RoleError",
    "Roles",
    "Rules",
    "ShoalError",
    "SimpleDiversity",
    "Table",
    "TableRelease",
    "TopDownRefinement",
    "TopDownSpecialization",
    "TreeAnonymizer",
    "TreeRelease",
    "attack",
    "audit",
    "load",
    "load_model",
    "load_sample",
    "predict_file",
    "rank_columns",
    "read_table",
    "risks",
    "to_table",
]

_LATER = {
    "AnonymousClusters": "shoal.clusters",
    "AnonymousModel": "shoal.models",
    "AnonymousRules": "shoal.rules",
    "AnonymousTreeClassifier": "shoal.trees",
    "ClusterAnonymizer": "shoal.anonymize",
    "Incognito": "shoal.anonymize",
    "KOptimize": "shoal.anonymize",
    "Ledger": "shoal.audit.together.ledger",
    "Mondrian": "shoal.anonymize",
    "OneDimensional": "shoal.anonymize",
    "PartitionedClassifier": "shoal.partition",
    "Query": "shoal.data.query",
    "Rules": "shoal.audit.rules",
    "TopDownRefinement": "shoal.anonymize",
    "TopDownSpecialization": "shoal.anonymize",
    "TreeAnonymizer": "shoal.anonymize",
    "load_model": "shoal.audit.foreign.files",
    "predict_file": "shoal.release.predict_file",
    "rank_columns": "shoal.audit.telling",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    globals()[name] = getattr(import_module(_LATER[name]), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
