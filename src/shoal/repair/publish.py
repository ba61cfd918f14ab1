# SPDX-License-Identifier: Apache-2.0
"""From kept splits to the trees that people read."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from shoal.data.discretize import round_cuts
from shoal.data.roles import Roles
from shoal.data.table import Column, Table
from shoal.privacy import Requirement, claims
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.release.node import all_but
from shoal.repair.regrow import Kept

Numbers = NDArray[np.float64]


def publish(
    trees: list[Kept],
    table: Table,
    roles: Roles,
    requirement: Requirement,
    *,
    declared: Collection[str],
    weights: tuple[float, ...] | None = None,
) -> tuple[TreeRelease, ...]:
    """State repaired trees in values and round numbers, with the people of every leaf.

    Of the columns, those are stated that some tree asks for, that the promise is about, or whose domain was declared.
    `weights` are those of the target's classes in predictions.
    """
    asked: set[str] = set()
    waiting = list(trees)
    while waiting:
        node = waiting.pop()
        asked |= {node.column} if node.column is not None else set()
        waiting += node.children
    cuts = {name: round_cuts(table[name].numbers) for name in asked if table[name].kind == "numeric"}
    stated = asked | {roles.target} | set(roles.sensitive) | set(declared)
    attributes = tuple(
        Attribute.of(column, "public" if roles.of(name) == "public" else "private")
        for name, column in table.items()
        if name in stated
    )
    return tuple(
        TreeRelease(
            target=roles.target,
            attributes=attributes,
            claims=tuple(claims(requirement)),
            nodes=_nodes(root, table, table[roles.target], cuts),
            sensitive=roles.sensitive,
            unused={
                name: "public" if name in roles.public else "private" for name in roles.features if name not in stated
            },
            weights=weights,
        )
        for root in trees
    )


def _nodes(root: Kept, table: Table, target: Column, cuts: Mapping[str, Numbers]) -> tuple[Node, ...]:
    nodes = [Node()]
    # first in, first out: nodes are numbered level by level, and a branch leads to a higher number
    waiting = deque([(0, root)])
    while waiting:
        number, node = waiting.popleft()
        if node.column is None:
            counts = np.bincount(target.codes[node.rows], minlength=target.n_codes)
            nodes[number] = Node(counts=tuple(counts.tolist()))
            continue
        assert node.way_of_code is not None
        branches = []
        for way, child in zip(np.unique(node.way_of_code), node.children, strict=True):
            branches.append(_branch(len(nodes), node.way_of_code == way, table[node.column], cuts.get(node.column)))
            waiting.append((len(nodes), child))
            nodes.append(Node())
        nodes[number] = Node(attribute=node.column, branches=tuple(branches))
    return tuple(nodes)


def _branch(child: int, codes: NDArray[np.bool_], column: Column, cuts: Numbers | None) -> Branch:
    """A branch for a set of codes; `cuts` lie between the numbers of the column."""
    known = codes[: len(column.values)]
    missing = bool(column.missing and codes[-1])
    if cuts is None:
        values = tuple(column.names[code] for code in np.flatnonzero(known))
        return Branch(child, values=values, missing=missing, label=all_but(values, column.names))
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8))).reshape(-1, 2)
    intervals = tuple(
        Interval(
            None if first == 0 else float(cuts[first - 1]),
            None if end == len(known) else float(cuts[end - 1]),
        )
        for first, end in edges
    )
    return Branch(child, intervals=intervals, missing=missing)
