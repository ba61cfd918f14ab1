# SPDX-License-Identifier: Apache-2.0
"""The groups that stand for the public columns: leaves of a k-anonymous tree that asks for nothing private."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.domain import Domain, check_sensitive
from shoal.data.hierarchy import Hierarchy
from shoal.data.person import Ids, whose_rows
from shoal.data.roles import Roles
from shoal.data.table import Column, Table
from shoal.errors import RequirementError
from shoal.privacy import And, KAnonymity, Requirement, claims, needs_values, parts_of
from shoal.release import Attribute, Node, TreeRelease
from shoal.release.node import renumber
from shoal.trees.mine import mine_tree
from shoal.trees.people import by_value
from shoal.trees.publish import count_people
from shoal.trees.spans import root_refusal


def mine_groups(
    table: Table,
    roles: Roles,
    requirement: Requirement,
    *,
    domain: Domain,
    hierarchies: Mapping[str, Hierarchy],
    options: Mapping[str, Any],
    person: str | None = None,
) -> TreeRelease:
    """Mine the tree of groups, and state the private columns with it.

    The tree is mined from the public columns and the target alone. Where the target is public and there are private
    columns, groups are counted class by class. A group that breaks the requirement for another sensitive column is
    merged with its neighbours until none does.
    """
    public_target = roles.target_role == "public"
    asked = _asked(requirement, roles)
    own = Roles(public=roles.public, private=(), target=roles.target, target_role=roles.target_role)
    names = (*roles.public, roles.target)
    whose = None if person is None else whose_rows(table[person])
    tree = mine_tree(
        table.select([*names, *([] if person is None else [person])]),
        own,
        asked,
        domain={name: values for name, values in domain.items() if name in names},
        hierarchies={name: hierarchy for name, hierarchy in hierarchies.items() if name in roles.public},
        # with private columns even a span of one leaf and one class has several bins
        strict=public_target and bool(roles.private),
        person=person,
        **options,
    )
    private = tuple(Attribute.of(table[name], "private") for name in roles.private)
    tree = replace(
        tree,
        attributes=(*(a for a in tree.attributes if a.name != tree.target), *private, tree.attribute(tree.target)),
        claims=tuple(claims(requirement)),
        sensitive=roles.sensitive,
        verdict=None,
    )
    values = tuple(part for part in parts_of(requirement) if needs_values(part))
    if values and roles.sensitive:
        tree = _merged(tree, table, And(values), public_target, whose)
    return tree


def _asked(requirement: Requirement, roles: Roles) -> Requirement:
    """What the miner is to ask: of a public target only sizes, for its values are no secret."""
    if roles.target_role == "private":
        return requirement
    if needs_values(requirement) and not roles.sensitive:
        raise RequirementError(
            "nothing-sensitive",
            "A requirement about private values needs a private target or a private column named as sensitive.",
        )
    sizes = tuple(part for part in parts_of(requirement) if not needs_values(part))
    return And(sizes) if len(sizes) > 1 else sizes[0] if sizes else KAnonymity(1)


def _merged(tree: TreeRelease, table: Table, asked: Requirement, public_target: bool, whose: Ids | None) -> TreeRelease:
    """The tree without the splits under which some group breaks what is asked of a sensitive column."""
    ends = tree.apply(table)
    kept = np.ones(len(tree.nodes), dtype=bool)
    for name in tree.sensitive:
        check_sensitive(table[name])
        column = table[name].compact() if table[name].kind == "numeric" else table[name]
        kept &= _kept(tree, ends, table[tree.target], column, asked, public_target, whose)
    nodes = list(tree.nodes)
    for number in range(len(nodes) - 1, -1, -1):
        children = [branch.node for branch in nodes[number].branches]
        if all(kept[child] for child in children):
            kept[number] |= bool(children)
        else:
            nodes[number] = Node(counts=tuple(int(n) for n in tree.counts[number]))
    if not kept[0]:
        raise root_refusal(tree.n_people)
    merged = replace(tree, nodes=renumber(nodes))
    return merged if whose is None else count_people(merged, table, whose)


def _kept(
    tree: TreeRelease,
    ends: Ids,
    target: Column,
    column: Column,
    asked: Requirement,
    public_target: bool,
    whose: Ids | None,
) -> NDArray[np.bool_]:
    """Whether the people of each node, class by class where the target is public, keep what is asked of a column."""
    n_classes = target.n_codes if public_target else 1
    class_of = target.codes.astype(np.int64) if public_target else np.zeros(len(ends), dtype=np.int64)
    size = len(tree.nodes) * n_classes
    counts = np.zeros((size, column.n_codes), dtype=np.int64)
    total = column.counts()
    for nodes in _by_depth(tree, ends):
        rows = np.flatnonzero(nodes >= 0)
        sets, codes = nodes[rows] * n_classes + class_of[rows], column.codes[rows].astype(np.int64)
        if whose is None:
            counts += np.bincount(sets * column.n_codes + codes, minlength=counts.size).reshape(counts.shape)
        else:
            counts += by_value(sets, size, whose[rows], codes, column.n_codes)
    if whose is not None:
        everybody = np.zeros(len(ends), dtype=np.int64)
        total = by_value(everybody, 1, whose, column.codes.astype(np.int64), column.n_codes)[0]
    kept = asked.holds(counts, total).reshape(len(tree.nodes), n_classes)
    return np.asarray(kept.all(axis=1))


def _by_depth(tree: TreeRelease, ends: Ids) -> Iterator[Ids]:
    """The nodes that rows pass, one array for each depth; −1 where a row ends above."""
    depth = np.zeros(len(tree.nodes), dtype=np.int64)
    for number in range(1, len(tree.nodes)):
        depth[number] = depth[tree.parents[number]] + 1
    at = ends.copy()
    for level in range(int(depth.max()), -1, -1):
        here = depth[at] == level
        yield np.where(here, at, -1)
        at = np.where(here & (level > 0), tree.parents[at], at)
