# SPDX-License-Identifier: Apache-2.0
"""What leaves the house.

A release is a model, how many people are in each of its bins, the declared domain and what is claimed. Each kind has
its file: plain, versioned JSON that loads without any miner. This folder may import `shoal.data` and `shoal.privacy`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from shoal.errors import ReleaseError
from shoal.release.clusters import ClustersRelease
from shoal.release.domain import Attribute, Interval
from shoal.release.ensemble import EnsembleRelease
from shoal.release.files import read_json
from shoal.release.joint import JointRelease, parse_joint
from shoal.release.model import ModelRelease
from shoal.release.node import Branch, Node
from shoal.release.parse import parse_tree
from shoal.release.parse_clusters import parse_clusters
from shoal.release.parse_ensemble import parse_ensemble
from shoal.release.parse_model import parse_model
from shoal.release.parse_projections import parse_projections
from shoal.release.parse_rules import parse_rules
from shoal.release.parse_table import parse_table
from shoal.release.projections import ProjectionsRelease
from shoal.release.rules import RulesRelease
from shoal.release.table import TableRelease
from shoal.release.tree import TreeRelease
from shoal.release.verdict import Verdict

__all__ = [
    "Attribute",
    "Branch",
    "ClustersRelease",
    "EnsembleRelease",
    "Interval",
    "JointRelease",
    "ModelRelease",
    "Node",
    "ProjectionsRelease",
    "RulesRelease",
    "TableRelease",
    "TreeRelease",
    "Verdict",
    "load",
]

_KINDS: dict[str, Callable[[dict[str, Any], Path], Any]] = {
    "tree": lambda body, folder: parse_tree(body),
    "ensemble": lambda body, folder: parse_ensemble(body),
    "joint": lambda body, folder: parse_joint(body),
    "clusters": lambda body, folder: parse_clusters(body),
    "model": parse_model,  # where it takes private columns, the fitted model is in a file beside it
    "projections": parse_projections,  # the rows of each are in a file beside it
    "rules": lambda body, folder: parse_rules(body),
    "table": parse_table,  # its rows are in a file beside it
}


def load(path: str | Path) -> Any:
    """Read a release from its file; a broken or hostile one is refused with one sentence.

    A `TreeRelease`, an `EnsembleRelease`, a `ClustersRelease`, a `RulesRelease`, a `TableRelease`, a
    `ProjectionsRelease`, a `ModelRelease` or a `JointRelease`, as the file says.

    >>> load("no-such-file.json")
    Traceback (most recent call last):
    ...
    shoal.errors.ReleaseError: Cannot read 'no-such-file.json': No such file or directory.
    """
    body = read_json(path)
    kind = body.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ReleaseError(
            "other-kind", f"{str(path)!r} is a release of a kind this version does not know; known: {sorted(_KINDS)}."
        )
    try:
        return _KINDS[kind](body, Path(path).parent)
    except ReleaseError as error:
        raise ReleaseError(error.code, f"{str(path)!r}: {error}") from None
