# SPDX-License-Identifier: Apache-2.0
"""Repair: collapse as little of a tree or a forest as a requirement needs, and release what is left."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.audit import Audit, audit
from shoal.data.domain import clip, declare_domain, declare_values
from shoal.data.roles import Roles
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical, with_target
from shoal.errors import DataError, PromiseError
from shoal.privacy import Requirement, as_requirement, least_people, needs_values
from shoal.release import EnsembleRelease, TreeRelease
from shoal.repair.promise import Promise
from shoal.repair.prune import prune as prune_tree
from shoal.repair.prune import worth_keeping
from shoal.repair.publish import publish
from shoal.repair.regrow import Kept, Regrowth
from shoal.repair.source import GroveTrees, ReleasedTrees, Source


@dataclass(frozen=True, eq=False)
class Repair:
    """A repaired model and what the repair cost.

    Attributes
    ----------
    release
        What may leave: a `TreeRelease`, or an `EnsembleRelease` for a forest. It carries its audit.
    audit
        The audit of the release.
    before
        The audit of the model as it was, for the same requirement and attacker.
    trees, leaves
        Of the model and of the release.
    accuracy
        On the rows, of the model and of the release.
    test_accuracy
        The same on the test rows; None where there are none.
    """

    release: TreeRelease | EnsembleRelease
    audit: Audit
    before: Audit
    trees: tuple[int, int]
    leaves: tuple[int, int]
    accuracy: tuple[float, float]
    test_accuracy: tuple[float, float] | None

    def __str__(self) -> str:
        lines = [
            f"before: {self._verdict(self.before)}; {_number(self.leaves[0], 'leaf', 'leaves')}"
            + (f" in {_number(self.trees[0], 'tree', 'trees')}" if self.trees[0] > 1 else ""),
            f"after:  {self._verdict(self.audit)}; {_number(self.leaves[1], 'leaf', 'leaves')}"
            + (f" in {_number(self.trees[1], 'tree', 'trees')}" if self.trees[0] > 1 else ""),
            f"accuracy on the rows: {_cost(*self.accuracy)}",
        ]
        if self.test_accuracy is not None:
            lines.append(f"accuracy on the test rows: {_cost(*self.test_accuracy)}")
        return "\n".join(lines)

    @staticmethod
    def _verdict(audit: Audit) -> str:
        return f"{'holds' if audit.holds else 'BREACH'}, smallest group {audit.smallest_group}"

    def __repr__(self) -> str:
        return f"<Repair: {self.leaves[0]} leaves to {self.leaves[1]}>"

    def to_json(self) -> dict[str, Any]:
        """The repair in numbers."""
        return {
            "before": self.before.to_json(),
            "after": self.audit.to_json(),
            "trees": list(self.trees),
            "leaves": list(self.leaves),
            "accuracy": list(self.accuracy),
            "test_accuracy": None if self.test_accuracy is None else list(self.test_accuracy),
        }


def _number(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _cost(before: float, after: float) -> str:
    return f"{before:.1%} before, {after:.1%} after ({100 * (after - before):+.1f} points)"
