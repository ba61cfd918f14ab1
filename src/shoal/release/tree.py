# SPDX-License-Identifier: Apache-2.0
"""A decision tree as it leaves the house."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.data.frames import to_table
from shoal.data.table import Table
from shoal.errors import DataError
from shoal.privacy import Requirement, requirement_from_claims
from shoal.release import export, show
from shoal.release.answers import believed, likeliest, people_by_class, shares_of, stated_shares, weighted
from shoal.release.domain import Attribute, plain
from shoal.release.files import FORMAT, write_json
from shoal.release.marginal import Marginal
from shoal.release.node import Branch, Node
from shoal.release.routing import Routing
from shoal.release.statement import WORDS, Statement, statement_of, states_less, stating
from shoal.release.verdict import Verdict, canonical, check_writable, fingerprint, verdict_of

Unknown = Literal["error", "ancestor"]


@dataclass(frozen=True, eq=False)
class TreeRelease:
    """A decision tree, how many people are in each of its bins, its declared domain and what is claimed of it.

    It needs no miner: it loads from its file, prints, predicts and can be audited by anyone who has the rows. It can
    also say less of its bins, see `stating`.

    Parameters
    ----------
    target
        Name of the attribute that the leaves count.
    attributes
        The columns the tree asks for and those with a declared domain, with their roles; the target among them.
    claims
        What is promised, as `shoal.privacy` writes it.
    nodes
        The tree; node 0 is the root, and a branch leads to a node of a higher number.
    sensitive
        Private attributes besides the target that the claims cover too.
    unused
        Names and roles of further columns that the miner could have used: they are known or not, and never asked for.
    weights
        For each class what its people count for in predictions, as `class_weight` of scikit-learn; None: all the same.
        Counts and shares are stated without them.
    several_rows
        Whether people have several rows each. Then every number is one of different people: who is in several leaves,
        or in one with several classes, counts in each.
    people
        With several rows a person: how many different people there are; None where no numbers are stated.
    marginals
        For some columns how their values are distributed: so many people in each of some cells. They are for making
        pseudo-data; predictions do not use them.
    verdict
        The audit's word on exactly this content. `save` refuses to write without it.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> clinic = load_sample()
    >>> people = clinic.table.select(["age", "sex", "diabetes"])
    >>> release = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes").release_
    >>> len(release.leaves) > 1, release.requirement
    (True, KAnonymity(k=1500))
    """

    target: str
    attributes: tuple[Attribute, ...]
    claims: tuple[Mapping[str, Any], ...]
    nodes: tuple[Node, ...]
    sensitive: tuple[str, ...] = ()
    unused: Mapping[str, Literal["public", "private"]] = field(default_factory=dict)
    weights: tuple[float, ...] | None = None
    several_rows: bool = False
    people: int | None = None
    marginals: Mapping[str, Marginal] = field(default_factory=dict)
    verdict: Verdict | None = field(default=None)

    kind = "tree"

    # ---------------------------------------------------------------- what it says

    @property
    def requirement(self) -> Requirement:
        """What the release claims, as a requirement."""
        return requirement_from_claims([dict(claim) for claim in self.claims])

    @cached_property
    def _by_name(self) -> dict[str, Attribute]:
        return {attribute.name: attribute for attribute in self.attributes}

    def attribute(self, name: str) -> Attribute:
        """One attribute by its name."""
        return self._by_name[name]

    @property
    def public(self) -> tuple[str, ...]:
        """The columns an attacker is taken to know, as the release says."""
        asked = tuple(attribute.name for attribute in self.attributes if attribute.role == "public")
        return asked + tuple(name for name, role in self.unused.items() if role == "public")

    @property
    def classes(self) -> tuple[str, ...]:
        """The target's values, in the order of every count."""
        return self.attribute(self.target).values

    @property
    def tested(self) -> tuple[str, ...]:
        """The attributes that some node asks for, in the order they are declared."""
        asked = {node.attribute for node in self.nodes if not node.is_leaf}
        return tuple(attribute.name for attribute in self.attributes if attribute.name in asked)

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The numbers of the leaves."""
        return tuple(i for i, node in enumerate(self.nodes) if node.is_leaf)

    @cached_property
    def parents(self) -> NDArray[np.int64]:
        """The parent of each node; −1 for the root."""
        parents = np.full(len(self.nodes), -1, dtype=np.int64)
        for number, node in enumerate(self.nodes):
            for branch in node.branches:
                parents[branch.node] = number
        return parents

    @cached_property
    def statement(self) -> Statement:
        """What the leaves say: ``"counts"``, ``"shares"``, or only the class they predict (``"majority"``)."""
        return statement_of(self.nodes)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many people of each class are in each node: leaves as released, inner nodes as their sums.

        With several rows a person, a sum counts a person once for each of the leaves below.
        """
        if self.statement != "counts":
            raise states_less(self, "Take the release that states counts")
        return people_by_class(self.nodes, len(self.classes))

    @property
    def n_people(self) -> int:
        """How many people the tree was learned from."""
        if self.people is not None:
            return self.people
        return int(self.counts[0].sum())

    def path(self, number: int) -> list[tuple[str, Branch]]:
        """The tests between the root and a node, as (attribute, branch) pairs."""
        steps: list[tuple[str, Branch]] = []
        while (parent := int(self.parents[number])) >= 0:
            node = self.nodes[parent]
            branch = next(branch for branch in node.branches if branch.node == number)
            assert node.attribute is not None
            steps.append((node.attribute, branch))
            number = parent
        return steps[::-1]

    def describe_node(self, number: int) -> str:
        """Where a node stands, in words."""
        steps = [f"{attribute} {branch.condition()}" for attribute, branch in self.path(number)]
        return " and ".join(steps) or "the root"

    # ---------------------------------------------------------------- what it does

    @cached_property
    def routing(self) -> Routing:
        """The tree as lookup tables over atoms."""
        return Routing(self)

    @cached_property
    def believed(self) -> NDArray[np.int64]:
        """The counts a prediction rests on: a node nobody is in takes those of its nearest ancestor."""
        return believed(self.nodes, self.counts)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of each class that each node answers with, by the weights; NaN for a node that states none."""
        if self.statement == "counts":
            return weighted(self.believed, self.weights)
        if self.statement == "majority":
            raise DataError("no-probabilities", "This release states only predicted classes. Try predict.")
        stated = stated_shares(self.nodes, len(self.classes))
        return stated if self.weights is None else weighted(stated, self.weights)

    @cached_property
    def answers(self) -> NDArray[np.int64]:
        """The class that each node answers with, by its place in `classes`."""
        if self.statement == "counts":
            return likeliest(self.believed, self.weights)
        return np.array([node.answer for node in self.nodes], dtype=np.int64)

    def apply(self, X: Any, *, unknown: Unknown = "error") -> NDArray[np.int64]:
        """The number of the node each row ends in.

        A category outside the declared domain is an error, or with ``unknown="ancestor"`` stops the row at the node
        that asks for it. A number outside the bounds is taken for the nearest bound.
        """
        if unknown not in ("error", "ancestor"):
            raise DataError("unknown-option", f"unknown must be 'error' or 'ancestor'; got {unknown!r}.")
        return self.routing.apply(self.read(X), stop_at_unknown=unknown == "ancestor")

    def predict_proba(self, X: Any, *, unknown: Unknown = "error") -> NDArray[np.float64]:
        """The share of each class where a row ends, classes in the order of `classes`."""
        shares = self.shares  # first, for there may be none
        return shares_of(shares, self.apply(X, unknown=unknown))

    def predict(self, X: Any, *, unknown: Unknown = "error") -> NDArray[Any]:
        """The most frequent class where a row ends, by the weights, in the type the target had."""
        answer: NDArray[Any] = self.labels[self.answers[self.apply(X, unknown=unknown)]]
        return answer

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The target's values in their own type."""
        return self.attribute(self.target).own_values

    def read(self, X: Any, target: str | None = None) -> Table:
        """The columns of a data frame or array that the release knows, read as it knows them.

        `target` names the target's column where it is called otherwise than in the release.
        """
        kinds = dict(self.kinds)
        if target is not None:
            kinds[target] = "categorical"
        return to_table(X, kinds=kinds, only=kinds)

    @property
    def kinds(self) -> dict[str, Literal["numeric", "categorical"]]:
        """How each column is to be read."""
        return {attribute.name: attribute.type for attribute in self.attributes}

    # ---------------------------------------------------------------- how it is shown

    def __str__(self) -> str:
        return show.tree_text(self)

    def __repr__(self) -> str:
        said = f"{self.n_people} people" if self.statement == "counts" else WORDS[self.statement]
        return f"<TreeRelease of {self.target!r}: {len(self.leaves)} leaves, {said}>"

    def _repr_html_(self) -> str:
        return show.tree_html(self)

    to_text = export.to_text
    to_dot = export.to_dot
    to_nested = export.to_nested
    to_sql = export.to_sql
    to_spark = export.to_spark
    to_pmml = export.to_pmml
    to_sklearn = export.to_sklearn

    lines = show.lines
    to_frame = show.to_frame

    # ---------------------------------------------------------------- how it leaves

    def to_json(self) -> dict[str, Any]:
        """The release as plain JSON, without the audit's verdict."""
        return {**self._frame_json(), "nodes": [node.to_json(self.classes) for node in self.nodes]}

    def _frame_json(self) -> dict[str, Any]:
        """All that the release says besides its nodes."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            "target": self.target,
            "attributes": [attribute.to_json() for attribute in self.attributes],
            "claims": [copy.deepcopy(dict(claim)) for claim in self.claims],
            **({"sensitive": list(self.sensitive)} if self.sensitive else {}),
            **({"unused": dict(self.unused)} if self.unused else {}),
            **({"people": self.people} if self.several_rows else {}),
            **(
                {"marginals": {name: each.to_json() for name, each in self.marginals.items()}} if self.marginals else {}
            ),
            **(
                {}
                if self.weights is None
                else {"weights": dict(zip(self.classes, map(plain, self.weights), strict=True))}
            ),
        }

    @property
    def sha256(self) -> str:
        """A fingerprint of everything the release says."""
        return fingerprint(self._frame_json(), nodes=self._nodes_text)

    @cached_property
    def _nodes_text(self) -> str:
        """The nodes as canonical JSON. They are many, and cannot change."""
        return canonical([node.to_json(self.classes) for node in self.nodes])

    stating = stating

    def with_audit(self, audit: Any) -> TreeRelease:
        """The same release carrying the verdict of an audit that looked at exactly this content, claims and roles."""
        verdict = verdict_of(audit, sha256=self.sha256, claims=self.claims, public=self.public)
        return replace(self, verdict=verdict)

    def save(self, path: str | Path) -> None:
        """Write the release; refuse unless its own audit holds for exactly this content.

        The file is written beside its target and renamed into place, so a reader sees the old file or the new one.
        """
        body = self.to_json()
        check_writable(self.verdict, fingerprint(body))
        assert self.verdict is not None
        write_json({**body, "audit": self.verdict.to_json(sizes=self.statement == "counts")}, path)
