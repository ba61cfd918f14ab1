# SPDX-License-Identifier: Apache-2.0
"""A single tree that somebody else trained, in the form of our own, so that a report can draw it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.audit.foreign import read_model
from shoal.audit.foreign.grove_subject import GroveSubject
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical
from shoal.release import Attribute, Branch, Node, TreeRelease

EVERYBODY = "people"  # the only class where the target is a number
SOME, OTHERS = "some values", "the others"  # what is said of a test that asks a private column


def drawn_tree(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    public: Collection[str],
    domain: Mapping[str, Sequence[Any]] | None = None,
    also: Sequence[str] = (),
) -> TreeRelease | None:
    """The tree of a model that is a single one, with the people of the rows in its leaves; None for any other.

    Nodes have the numbers that an audit's findings name. It is for drawing only: it claims nothing, and of tests that
    ask private columns it says no value, since nobody has decided yet that the model may leave the house.

    Parameters
    ----------
    model, X, y, domain
        As for `audit`.
    public
        The columns whose tests are told.
    also
        Columns of `X` that the model was not given, such as the one that tells people apart.
    """
    subject, table = read_model(model, X, y, domain=domain, also=also)
    if not isinstance(subject, GroveSubject) or not subject.exact or subject.grove.n_trees > 1:
        return None
    target = _classes(subject, table)
    counts = subject.leaf_counts(table, target).tolist()
    nodes = tuple(_node(subject, number, counts[number], public) for number in range(subject.grove.n_nodes))
    stated = [replace(each, role=_role(each.name, public)) for each in subject.domain.values()]
    own = Attribute(target.name, _role(target.name, public), "categorical", values=target.names)
    return TreeRelease(target=target.name, attributes=(*stated, own), claims=(), nodes=nodes)


def _classes(subject: GroveSubject, table: Table) -> Column:
    if subject.target is None or subject.numeric_target:
        name = EVERYBODY if subject.target is None else subject.target
        return Column(name, "categorical", np.zeros(table.n_rows, dtype=np.uint8), (EVERYBODY,))
    return as_categorical(table[subject.target])


def _role(name: str, public: Collection[str]) -> Any:
    return "public" if name in public else "private"


def _node(subject: GroveSubject, number: int, counts: list[int], public: Collection[str]) -> Node:
    grove = subject.grove
    if grove.is_leaf[number]:
        return Node(counts=tuple(counts))
    column, one, other = subject.sides(number)
    if column not in public:
        one, other = Branch(0, values=(SOME,)), Branch(0, values=(OTHERS,))
    left, right = int(grove.left[number]), int(grove.right[number])
    ways = (replace(subject.shown(one), node=left), replace(subject.shown(other), node=right))
    return Node(attribute=column, branches=ways)
