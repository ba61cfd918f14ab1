# SPDX-License-Identifier: Apache-2.0
"""Several trees that answer together, as they leave the house."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Table
from shoal.privacy import Requirement
from shoal.release.domain import Attribute
from shoal.release.files import write_json
from shoal.release.tree import TreeRelease, Unknown
from shoal.release.verdict import Verdict, check_writable, fingerprint, verdict_of


@dataclass(frozen=True, eq=False)
class EnsembleRelease:
    """Trees over the same columns whose shares are averaged, what they state of their leaves, and what is claimed.

    The claim is about all trees together: a bin is a tuple of leaves, one of each tree, and a value of the target. The
    release states how many people are in each leaf of each tree and nothing of the tuples, so an audit that counts
    tuples is the worst case.

    Parameters
    ----------
    trees
        The trees. Target, attributes, claims and whatever else a release says are the same in all of them.
    verdict
        The audit's word on exactly this content. `save` refuses to write without it.
    """

    trees: tuple[TreeRelease, ...]
    verdict: Verdict | None = None

    kind = "ensemble"

    @property
    def target(self) -> str:
        """Name of the attribute that the leaves count."""
        return self.trees[0].target

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The stated columns, the target among them."""
        return self.trees[0].attributes

    def attribute(self, name: str) -> Attribute:
        """One attribute by its name."""
        return self.trees[0].attribute(name)

    @property
    def claims(self) -> tuple[Mapping[str, Any], ...]:
        """What is promised of all trees together."""
        return self.trees[0].claims

    @property
    def requirement(self) -> Requirement:
        """What the release claims, as a requirement."""
        return self.trees[0].requirement

    @property
    def public(self) -> tuple[str, ...]:
        """The columns an attacker is taken to know, as the release says."""
        return self.trees[0].public

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Private attributes besides the target that the claims cover too."""
        return self.trees[0].sensitive

    @property
    def unused(self) -> Mapping[str, Literal["public", "private"]]:
        """Names and roles of further columns, never asked for."""
        return self.trees[0].unused

    @property
    def classes(self) -> tuple[str, ...]:
        """The target's values, in the order of every count."""
        return self.trees[0].classes

    @property
    def n_people(self) -> int:
        """How many people the trees were learned from."""
        return self.trees[0].n_people

    @property
    def several_rows(self) -> bool:
        """Whether people have several rows each, so that every number is one of different people."""
        return self.trees[0].several_rows

    @property
    def kinds(self) -> dict[str, Literal["numeric", "categorical"]]:
        """How each column is to be read."""
        return self.trees[0].kinds

    def read(self, X: Any, target: str | None = None) -> Table:
        """The columns of a data frame or array that the release knows, read as it knows them."""
        return self.trees[0].read(X, target)

    def predict_proba(self, X: Any, *, unknown: Unknown = "error") -> NDArray[np.float64]:
        """The average of the trees' shares of each class, classes in the order of `classes`."""
        table = self.read(X)
        total = np.zeros((table.n_rows, len(self.classes)))
        for tree in self.trees:
            total += tree.predict_proba(table, unknown=unknown)
        return total / len(self.trees)

    def predict(self, X: Any, *, unknown: Unknown = "error") -> NDArray[Any]:
        """The class with the largest average share, in the type the target had."""
        answer: NDArray[Any] = self.trees[0].labels[self.predict_proba(X, unknown=unknown).argmax(axis=1)]
        return answer

    def __str__(self) -> str:
        head = f"{len(self.trees):,} trees for {self.target!r}; their shares are averaged"
        return "\n\n".join([head, *(f"tree {i + 1}\n{tree}" for i, tree in enumerate(self.trees))])

    def __repr__(self) -> str:
        leaves = sum(len(tree.leaves) for tree in self.trees)
        return f"<EnsembleRelease of {self.target!r}: {len(self.trees)} trees, {leaves} leaves>"

    def to_json(self) -> dict[str, Any]:
        """The release as plain JSON, without the audit's verdict."""
        bodies = [tree.to_json() for tree in self.trees]
        frame = {key: value for key, value in bodies[0].items() if key != "nodes"}
        return {**frame, "kind": self.kind, "trees": [{"nodes": body["nodes"]} for body in bodies]}

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of everything the release says."""
        return fingerprint(self.to_json())

    def with_audit(self, audit: Any) -> EnsembleRelease:
        """The same release carrying the verdict of an audit that looked at exactly this content, claims and roles."""
        verdict = verdict_of(audit, sha256=self.sha256, claims=self.claims, public=self.public)
        return replace(self, verdict=verdict)

    def save(self, path: str | Path) -> None:
        """Write the release; refuse unless its own audit holds for exactly this content."""
        check_writable(self.verdict, self.sha256)
        assert self.verdict is not None
        write_json({**self.to_json(), "audit": self.verdict.to_json()}, path)
