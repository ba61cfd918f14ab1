# SPDX-License-Identifier: Apache-2.0
"""A single foreign tree as a released tree over the table's own columns: what works on those works on it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Literal

from shoal.audit.foreign.grove_subject import GroveSubject
from shoal.audit.groups import Ids
from shoal.data.table import Table
from shoal.data.target import as_categorical
from shoal.errors import DataError
from shoal.privacy import Requirement, as_requirement, claims
from shoal.release import Attribute, TreeRelease
from shoal.release.node import Branch, Node, renumber


def to_tree_release(
    subject: GroveSubject,
    table: Table,
    *,
    privacy: Requirement | int,
    public: Collection[str] | None = None,
    weights: tuple[float, ...] | None = None,
) -> TreeRelease:
    """A tree of one's own columns with the counts of the rows, from a classification tree that somebody else trained.

    Splits that all values of the domain pass the same way are left out. Predictions are those of the counts.

    Parameters
    ----------
    subject
        A single classification tree whose tests ask one column each.
    table
        The rows, target included.
    privacy
        What is claimed of the release; it is not asked here.
    public
        The columns an attacker knows; by default all but the target.
    weights
        What people of each class count for in predictions, where the tree was trained with weights.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from shoal.audit.foreign import read_model
    >>> rows = {"age": [20, 30, 40, 50], "ill": ["no", "no", "yes", "yes"]}
    >>> tree = DecisionTreeClassifier().fit(np.array(rows["age"])[:, None], rows["ill"])
    >>> print(to_tree_release(*read_model(tree, rows, "ill"), privacy=2))
    ill: 2 leaves, 4 people; claimed: every group has at least 2 people
    age at most 35.5: no 2, yes 0
    age above 35.5: no 0, yes 2
    """
    if subject.grove.n_trees != 1 or not subject.exact or subject.target is None or subject.numeric_target:
        raise DataError(
            "not-one-tree",
            f"Only a single classification tree, whose tests ask one column each, becomes a released tree; "
            f"this is {subject.what}.",
        )
    known = set(subject.domain) if public is None else set(public)
    target = as_categorical(table[subject.target])
    nodes = renumber(_nodes(subject, subject.leaf_counts(table, target)))
    tested = {node.attribute for node in nodes}
    attributes = [_as_taken(subject, name, _role(name, known)) for name in subject.domain if name in tested]
    return TreeRelease(
        target=subject.target,
        attributes=(*attributes, Attribute.of(target, _role(subject.target, known))),
        claims=tuple(claims(as_requirement(privacy))),
        nodes=nodes,
        unused={name: _role(name, known) for name in subject.domain if name not in tested},
        weights=weights,
    )


def _role(name: str, known: set[str]) -> Literal["public", "private"]:
    return "public" if name in known else "private"


def _as_taken(subject: GroveSubject, name: str, role: Literal["public", "private"]) -> Attribute:
    """The column's domain, without what the model does not take."""
    attribute = replace(subject.domain[name], role=role)
    atoms = subject.tests.atoms[subject.tests.names.index(name)]
    values = tuple(value for value, possible in zip(attribute.values, atoms.possible, strict=False) if possible)
    return replace(attribute, values=values, missing=attribute.missing and bool(atoms.possible[-1]))


def _nodes(subject: GroveSubject, counts: Ids) -> list[Node]:
    """The nodes that somebody can reach, the root first."""
    nodes: list[Node] = []
    stack = [(_next(subject, int(subject.grove.roots[0])), -1, -1)]  # a node, and which branch of which node it is
    while stack:
        number, parent, side = stack.pop()
        if parent >= 0:
            branches = list(nodes[parent].branches)
            branches[side] = replace(branches[side], node=len(nodes))
            nodes[parent] = replace(nodes[parent], branches=tuple(branches))
        if subject.grove.is_leaf[number]:
            nodes.append(Node(counts=tuple(int(n) for n in counts[number])))
            continue
        column, *ways = subject.sides(number)
        stack += [(_next(subject, way.node), len(nodes), side) for side, way in enumerate(ways)]
        nodes.append(Node(attribute=column, branches=tuple(ways)))
    return nodes


def _next(subject: GroveSubject, number: int) -> int:
    """The first node at or below one that sends values both ways, or a leaf."""
    while not subject.grove.is_leaf[number]:
        _, left, right = subject.sides(number)
        if _takes_any(left) and _takes_any(right):
            break
        number = left.node if _takes_any(left) else right.node
    return number


def _takes_any(branch: Branch) -> bool:
    return bool(branch.values or branch.intervals or branch.missing)
