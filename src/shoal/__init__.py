# SPDX-License-Identifier: Apache-2.0
"""Shoal: publish what was learned from personal data without giving anybody in it away.

A fish is safe in the shoal. Mine a model that keeps a promise about groups of people, audit one that somebody else
made, and see what an attacker who knows the public columns can tell from it.

The miners, which bring scikit-learn and the compiled kernels along, are imported when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.audit import Attack, Audit, Finding, attack, audit
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
    RecursiveDiversity,
    SimpleDiversity,
)
from shoal.release import TableRelease, TreeRelease, load

if TYPE_CHECKING:
    from shoal.anonymize import TreeAnonymizer
    from shoal.models import AnonymousModel
    from shoal.trees import AnonymousTreeClassifier

__version__ = "0.1.0"

__all__ = [
    "AnonymousModel",
    "AnonymousTreeClassifier",
    "Attack",
    "Audit",
    "Closeness",
    "Confidence",
    "DataError",
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
    "TableRelease",
    "TreeAnonymizer",
    "TreeRelease",
    "attack",
    "audit",
    "load",
    "load_sample",
    "read_table",
    "to_table",
]

_MINERS = {
    "AnonymousModel": "shoal.models",
    "AnonymousTreeClassifier": "shoal.trees",
    "TreeAnonymizer": "shoal.anonymize",
}


def __getattr__(name: str) -> Any:
    if name not in _MINERS:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    globals()[name] = getattr(import_module(_MINERS[name]), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
