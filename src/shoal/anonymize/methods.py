# SPDX-License-Identifier: Apache-2.0
"""The methods by the names that the command line and the comparison know them by."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from shoal.anonymize.base import TableAnonymizer
from shoal.anonymize.by_clusters import ClusterAnonymizer
from shoal.anonymize.by_tree import TreeAnonymizer
from shoal.anonymize.incognito import Incognito
from shoal.anonymize.k_optimize import KOptimize
from shoal.anonymize.mondrian import Mondrian
from shoal.anonymize.one_dimensional import OneDimensional
from shoal.anonymize.tdr import TopDownRefinement
from shoal.anonymize.tds import TopDownSpecialization
from shoal.errors import RequirementError, closest

METHODS: dict[str, type[TableAnonymizer]] = {
    "tree": TreeAnonymizer,
    "clusters": ClusterAnonymizer,
    "mondrian": Mondrian,
    "tds": TopDownSpecialization,
    "tdr": TopDownRefinement,
    "incognito": Incognito,
    "k-optimize": KOptimize,
    "one-dimensional": OneDimensional,
}
COMMON = (
    "privacy",
    "public",
    "sensitive",
    "domain",
    "person",
    "hierarchies",
    "suppress",
    "numbers",
    "reproducible",
    "engine",
)
TOLD = ("target_role", "progress")  # what the caller says by other means


def own_options(method: str) -> dict[str, Any]:
    """The options of a method beside those that all have, and what they are unless given.

    >>> sorted(own_options("incognito"))
    ['by']
    """
    parameters = inspect.signature(METHODS[method]).parameters
    return {name: each.default for name, each in parameters.items() if name not in (*COMMON, *TOLD)}


def make_method(method: str, common: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> TableAnonymizer:
    """A method with options; one that it does not have is refused.

    `suppress` is one of those that only some methods have: giving any share but 0 to another is refused.
    """
    if method not in METHODS:
        raise RequirementError(
            "method", f"No method {method!r}.{closest(method, METHODS)} There are {', '.join(METHODS)}."
        )
    known = own_options(method)
    for name in options or {}:
        if name not in known:
            has = f"It has {', '.join(known)}." if known else "It has none."
            raise RequirementError("method", f"Method {method} has no option {name!r}. {has}")
    given = dict(common)
    if not can_suppress(method) and given.pop("suppress", 0.0) != 0:
        able = ", ".join(filter(can_suppress, METHODS))
        raise RequirementError("method", f"Method {method} cannot leave rows out (suppress). These can: {able}.")
    if not takes_rows_elsewhere(method) and (engine := given.pop("engine", "memory")) != "memory":
        able = ", ".join(filter(takes_rows_elsewhere, METHODS))
        raise RequirementError(
            "method", f"Method {method} needs the rows in memory, not {engine}. These do not: {able}."
        )
    return METHODS[method](**given, **(options or {}))


def takes_rows_elsewhere(method: str) -> bool:
    """Whether a method takes rows that are not in memory."""
    return method in METHODS and "engine" in inspect.signature(METHODS[method]).parameters


def can_suppress(method: str) -> bool:
    """Whether a method may leave rows out, as its paper allows."""
    return method in METHODS and "suppress" in inspect.signature(METHODS[method]).parameters
