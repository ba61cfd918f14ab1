# SPDX-License-Identifier: Apache-2.0
"""Nodes and branches of a released tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from shoal.release.domain import MISSING, Interval, plain

MOST_LISTED = 4  # values that a condition names


@dataclass(frozen=True)
class Branch:
    """One way out of a node: some values, or some intervals, perhaps with missing; and the node it leads to.

    `label` is a name for the values taken together, such as one from a hierarchy; it is for readers only.
    """

    node: int
    values: tuple[str, ...] = ()
    intervals: tuple[Interval, ...] = ()
    missing: bool = False
    label: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The branch as plain JSON."""
        entry: dict[str, Any] = {}
        if self.label is not None:
            entry["label"] = self.label
        if self.values:
            entry["values"] = list(self.values)
        if len(self.intervals) == 1 and self.intervals[0] != Interval(None, None):
            entry.update(_ends(self.intervals[0]))
        elif self.intervals:
            entry["intervals"] = [_ends(interval) for interval in self.intervals]
        if self.missing:
            entry["missing"] = True
        entry["node"] = self.node
        return entry

    def condition(self) -> str:
        """The branch's test in words, to stand after the attribute's name."""
        if self.intervals:
            parts = [str(interval) for interval in self.intervals]
        elif self.label is not None and len(self.values) > 1:
            parts = [f"= {self.label}"]
        elif len(self.values) > MOST_LISTED:
            parts = [f"= {self.values[0]}, {self.values[1]} or {len(self.values) - 2} others"]
        elif self.values:
            parts = ["= " + (", ".join(self.values[:-1]) + " or " if self.values[:-1] else "") + self.values[-1]]
        else:
            parts = []
        if self.missing:
            parts.append(MISSING)
        return " or ".join(parts)


def all_but(values: Sequence[str], domain: Sequence[str]) -> str | None:
    """A name for more values than are listed, where they are all of a domain but one; else None.

    >>> all_but("abdef", "abcdef")
    'all but c'
    """
    if len(values) <= MOST_LISTED or len(values) != len(domain) - 1:
        return None
    return f"all but {next(value for value in domain if value not in values)}"


@dataclass(frozen=True)
class Node:
    """A split (an attribute and its branches) or a leaf.

    A leaf has `counts`, how many people of each class. Where a release states less, a leaf has `shares` of the classes
    or nothing, and every node has its `answer`, the class it predicts by its place.
    """

    attribute: str | None = None
    branches: tuple[Branch, ...] = field(default=())
    counts: tuple[int, ...] | None = None
    shares: tuple[float, ...] | None = None
    answer: int | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether this is a leaf."""
        return self.attribute is None

    def to_json(self, classes: Sequence[str]) -> dict[str, Any]:
        """The node as plain JSON."""
        if self.counts is not None:
            return {"counts": dict(zip(classes, self.counts, strict=True))}
        entry: dict[str, Any] = {}
        if self.attribute is not None:
            entry |= {"attribute": self.attribute, "branches": [branch.to_json() for branch in self.branches]}
        if self.shares is not None:
            entry["shares"] = dict(zip(classes, map(plain, self.shares), strict=True))
        if self.answer is not None:
            entry["predict"] = classes[self.answer]
        return entry


def renumber(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Number the nodes level by level from the root, so that every branch leads to a higher number."""
    order = [0]
    for number in order:
        order.extend(branch.node for branch in nodes[number].branches)
    new = {old: position for position, old in enumerate(order)}
    return tuple(
        replace(nodes[old], branches=tuple(replace(branch, node=new[branch.node]) for branch in nodes[old].branches))
        for old in order
    )


def _ends(interval: Interval) -> dict[str, Any]:
    entry = {}
    if interval.above is not None:
        entry["above"] = plain(interval.above)
    if interval.at_most is not None:
        entry["at_most"] = plain(interval.at_most)
    return entry
