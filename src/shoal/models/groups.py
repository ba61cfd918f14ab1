# SPDX-License-Identifier: Apache-2.0
"""The groups that stand for the public columns: leaves of a k-anonymous tree that asks for nothing private."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.domain import Domain, check_sensitive
from shoal.data.hierarchy import Hierarchy
from shoal.data.roles import Roles
from shoal.data.table import Column, Table
from shoal.errors import RequirementError
from shoal.privacy import And, KAnonymity, Requirement, claims, needs_values, parts_of
from shoal.release import Attribute, Node, TreeRelease
from shoal.release.node import renumber
from shoal.trees.mine import mine_tree
from shoal.trees.spans import root_refusal


def mine_groups(
    table: Table,
    roles: Roles,
    requirement: Requirement,
    *,
    domain: Domain,
    hierarchies: Mapping[str, Hierarchy],
    options: Mapping[str, Any],
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
    tree = mine_tree(
        table.select(names),
        own,
        asked,
        domain={name: values for name, values in domain.items() if name in names},
        hierarchies={name: hierarchy for name, hierarchy in hierarchies.items() if name in roles.public},
        # with private columns even a span of one leaf and one class has several bins
        strict=public_target and bool(roles.private),
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
        tree = _merged(tree, table, And(values), public_target)
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


def _merged(tree: TreeRelease, table: Table, asked: Requirement, public_target: bool) -> TreeRelease:
    """The tree without the splits under which some group breaks what is asked of a sensitive column."""
    ends = tree.apply(table)
    kept = np.ones(len(tree.nodes), dtype=bool)
    for name in tree.sensitive:
        check_sensitive(table[name])
        column = table[name].compact() if table[name].kind == "numeric" else table[name]
        kept &= _kept(tree, ends, table[tree.target], column, asked, public_target)
    nodes = list(tree.nodes)
    for number in range(len(nodes) - 1, -1, -1):
        children = [branch.node for branch in nodes[number].branches]
        if all(kept[child] for child in children):
            kept[number] |= bool(children)
        else:
            nodes[number] = Node(counts=tuple(int(n) for n in tree.counts[number]))
    if not kept[0]:
        raise root_refusal(tree.n_people)
    return replace(tree, nodes=renumber(nodes))


def _kept(
    tree: TreeRelease, ends: NDArray[np.int64], target: Column, column: Column, asked: Requirement, public_target: bool
) -> NDArray[np.bool_]:
    """Whether the people of each node, class by class where the target is public, keep what is asked of a column."""
    n_classes = target.n_codes if public_target else 1
    sets = ends * n_classes + (target.codes if public_target else 0)
    size = len(tree.nodes) * n_classes * column.n_codes
    counts = np.bincount(sets * column.n_codes + column.codes, minlength=size).reshape(len(tree.nodes), -1)
    for number in range(len(tree.nodes) - 1, 0, -1):
        counts[tree.parents[number]] += counts[number]
    by_set = counts.reshape(-1, column.n_codes)
    kept = asked.holds(by_set, column.counts()).reshape(len(tree.nodes), n_classes)
    return np.asarray(kept.all(axis=1))
