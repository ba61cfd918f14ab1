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
from shoal.privacy import NOT_K_ANONYMITY, Requirement, partal_asked
from shoal.release.domain import Attribute
from shoal.release.files import write_json
from shoal.release.tree import TreeRelease, Unknown
from shoal.release.verdict import Verdict, check_writable, fingerprint, verdict_of

Combine = Literal["mean", "bayes"]


@dataclass(frozen=True, eq=False)
class EnsembleRelease:
    """Trees that answer together, what they state of their leaves, and what is claimed.

    The claim is about all trees together: a bin is a tuple of leaves, one of each tree, and a value of the target. The
    release states how many people are in each leaf of each tree and nothing of the tuples, so an audit that counts
    tuples is the worst case. Trees that were learned from projections may claim `shoal.privacy.PartAL` instead, which
    is about leaves joined again by class, and not about people.

    Parameters
    ----------
    trees
        The trees. Target, attributes, claims and whatever else a release says are the same in all of them.
    verdict
        The audit's word on exactly this content. `save` refuses to write without it.
    combine
        ``"mean"``: the shares of the trees are averaged. ``"bayes"``: their product over the share of the class in the
        table to the power of one less than there are trees, each share with Laplace's correction.

    References
    ----------
    N. Matatov, L. Rokach and O. Maimon, "Privacy-preserving data mining: A feature set partitioning approach",
    Information Sciences 180(14), 2010, Equation 1, doi:10.1016/j.ins.2010.03.011.
    """

    trees: tuple[TreeRelease, ...]
    verdict: Verdict | None = None
    combine: Combine = "mean"

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
        """What the trees say together of each class, classes in the order of `classes`."""
        table = self.read(X)
        if self.combine == "bayes":
            return self._bayes(table, unknown)
        total = np.zeros((table.n_rows, len(self.classes)))
        for tree in self.trees:
            total += tree.predict_proba(table, unknown=unknown)
        return total / len(self.trees)

    def _bayes(self, table: Table, unknown: Unknown) -> NDArray[np.float64]:
        """Equation 1, in logarithms; a class that nobody has is impossible."""
        everybody = self.trees[0].counts[0]
        with np.errstate(divide="ignore"):
            prior = np.log(everybody / everybody.sum())
        total = np.zeros((table.n_rows, len(self.classes)))
        for tree in self.trees:
            corrected = tree.believed + 1
            shares = np.log(corrected / corrected.sum(axis=1, keepdims=True))
            total += shares[tree.apply(table, unknown=unknown)]
        there = everybody > 0
        total[:, there] -= (len(self.trees) - 1) * prior[there]
        total[:, ~there] = -np.inf
        answer = np.exp(total - total.max(axis=1, keepdims=True))
        return np.asarray(answer / answer.sum(axis=1, keepdims=True))

    def predict(self, X: Any, *, unknown: Unknown = "error") -> NDArray[Any]:
        """The class that all trees together find likeliest, in the type the target had."""
        answer: NDArray[Any] = self.trees[0].labels[self.predict_proba(X, unknown=unknown).argmax(axis=1)]
        return answer

    def __str__(self) -> str:
        how = "are averaged" if self.combine == "mean" else "are multiplied (naive Bayes)"
        head = f"{len(self.trees):,} trees for {self.target!r}; their shares {how}"
        if self._notice:
            head += f"\n{NOT_K_ANONYMITY}"
        return "\n\n".join([head, *(f"tree {i + 1}\n{tree}" for i, tree in enumerate(self.trees))])

    def __repr__(self) -> str:
        leaves = sum(len(tree.leaves) for tree in self.trees)
        return f"<EnsembleRelease of {self.target!r}: {len(self.trees)} trees, {leaves} leaves>"

    def to_json(self) -> dict[str, Any]:
        """The release as plain JSON, without the audit's verdict."""
        bodies = [tree.to_json() for tree in self.trees]
        frame = {key: value for key, value in bodies[0].items() if key != "nodes"}
        return {
            **frame,
            "kind": self.kind,
            **self._notice,
            **({} if self.combine == "mean" else {"combine": self.combine}),
            "trees": [{"nodes": body["nodes"]} for body in bodies],
        }

    @property
    def _notice(self) -> dict[str, str]:
        """What a claim of PartAL is not, where there is one."""
        return {} if partal_asked(self.requirement) is None else {"notice": NOT_K_ANONYMITY}

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
