# SPDX-License-Identifier: Apache-2.0
"""From a grown tree in codes to the release that people read."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.data.person import people_by_code
from shoal.data.roles import Roles
from shoal.data.table import Columns, Table
from shoal.engines import Feature
from shoal.engines.base import Ids
from shoal.errors import RequirementError
from shoal.privacy import Requirement, claims
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.release.answers import are_weights
from shoal.release.statement import Statement
from shoal.trees.split import GrownNode, Split

Mask = NDArray[np.bool_]


def publish(
    grown: Sequence[GrownNode],
    features: Sequence[Feature],
    table: Columns,
    roles: Roles,
    requirement: Requirement,
    *,
    declared: Collection[str],
    weights: Sequence[float] | None = None,
    statement: Statement = "counts",
    person: Ids | None = None,
) -> TreeRelease:
    """State a grown tree in values and numbers.

    Of the columns, those are stated that the tree asks for, that the promise is about, or whose domain was declared:
    what was found in the rows of any other is nobody's business. Branches exist for values that the path to a node
    still allows; those that nobody can take lead to one empty leaf.

    `weights` are those of the target's classes in predictions, by code; `statement` is what is said of the leaves.
    Where `person` says whose row each is, leaves count different people of each class.
    """
    if weights is not None and not are_weights(weights, table[roles.target].n_codes):
        raise RequirementError(
            "parameter", "The weights must be one number for each class, none below 1e-9 or above 1e9."
        )
    asked = {features[node.split.feature].name for node in grown if node.split is not None}
    stated = asked | {roles.target} | set(roles.sensitive) | set(declared)
    at_quantiles = {feature.name for feature in features if feature.quantiles}
    attributes = tuple(
        replace(
            Attribute.of(column, "public" if roles.of(name) == "public" else "private"), quantiles=name in at_quantiles
        )
        for name, column in table.items()
        if name in stated
    )
    n_classes = table[roles.target].n_codes
    nodes = [Node()]
    # first in, first out: nodes are numbered level by level, and a branch leads to a higher number
    waiting: deque[tuple[int, int, dict[int, Mask]]] = deque([(0, 0, {})])
    while waiting:
        number, at, allowed = waiting.popleft()
        node = grown[at]
        if node.split is None:
            nodes[number] = Node(counts=tuple(node.counts.tolist()))
            continue
        f = node.split.feature
        feature = features[f]
        branch_of = node.split.branch_of(feature)
        here = allowed.get(f, np.ones(feature.n_codes, dtype=bool))
        branches = []
        unclaimed = here.copy()
        for branch, child in node.children.items():
            codes = here & (branch_of == branch)
            unclaimed &= ~codes
            branches.append(_branch(len(nodes), codes, feature, table, node.split, branch))
            waiting.append((len(nodes), child, {**allowed, f: codes}))
            nodes.append(Node())
        if unclaimed.any():
            branches.append(_branch(len(nodes), unclaimed, feature, table, node.split, None))
            nodes.append(Node(counts=(0,) * n_classes))
        nodes[number] = Node(attribute=feature.name, branches=tuple(branches))
    release = TreeRelease(
        target=roles.target,
        attributes=attributes,
        claims=tuple(claims(requirement)),
        nodes=tuple(nodes),
        sensitive=roles.sensitive,
        unused={name: "public" if name in roles.public else "private" for name in roles.features if name not in stated},
        weights=None if weights is None else tuple(map(float, weights)),
    )
    if person is not None:
        assert isinstance(table, Table)
        release = count_people(release, table, person)
    return release.stating(statement)


def count_people(release: TreeRelease, table: Table, person: Ids) -> TreeRelease:
    """The release with the different people of each leaf and class instead of their rows."""
    n_people, n_classes = int(person.max()) + 1, len(release.classes)
    bins = release.apply(table) * n_classes + table[release.target].codes
    counts = people_by_code(bins, len(release.nodes) * n_classes, person).reshape(-1, n_classes)
    nodes = tuple(
        replace(node, counts=tuple(own.tolist())) if node.is_leaf else node
        for node, own in zip(release.nodes, counts, strict=True)
    )
    return replace(release, nodes=nodes, several_rows=True, people=n_people)


def _branch(child: int, codes: Mask, feature: Feature, table: Columns, split: Split, group: int | None) -> Branch:
    """A branch for a set of codes; `group` is their number among the split's branches, None for what is left over."""
    missing = bool(feature.missing and codes[-1])
    column = table[feature.name]
    known = codes[: feature.n_known]
    if column.kind == "categorical":
        assert feature.levels is not None
        values = tuple(column.names[code] for code in np.flatnonzero(known))
        label = None
        if group is not None and split.level and values:
            label = feature.levels.labels[split.level][group]
        return Branch(child, values=values, missing=missing, label=label)
    if split.cut is not None:
        assert feature.cuts is not None
        cut = float(feature.cuts[split.cut])
        interval = Interval(None, cut) if group == 0 else Interval(cut, None)
        return Branch(child, intervals=(interval,) if known.any() else (), missing=missing)
    assert feature.levels is not None
    assert feature.levels.cuts is not None
    return Branch(child, intervals=_intervals(known, feature.levels.cuts[0]), missing=missing)


def _intervals(known: Mask, cuts: NDArray[np.float64]) -> tuple[Interval, ...]:
    """Runs of neighbouring codes as intervals; the outermost ends stay open."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
    runs = edges.reshape(-1, 2)
    return tuple(
        Interval(
            None if first == 0 else float(cuts[first - 1]),
            None if end == len(known) else float(cuts[end - 1]),
        )
        for first, end in runs
    )
