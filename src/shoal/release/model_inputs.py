# SPDX-License-Identifier: Apache-2.0
"""What a wrapped model is told of a person: numbers that depend on the group and on private columns alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column, Table
from shoal.errors import DataError, closest
from shoal.release.domain import Attribute, Interval
from shoal.release.tree import TreeRelease

Numbers = NDArray[np.float64]
Ids = NDArray[np.int64]

MOST_COLUMNS = 256  # groups with a column of their own, the largest first; the others differ by what follows
MOST_VALUES = 64  # categories of an attribute that get a column each
NO_NUMBER = -1.0  # a missing number, outside the scale from 0 to 1


class ModelInputs:
    """The numbers for a model, made from a tree of groups and the private columns that the model takes.

    Of the group: a column for each group (1 for its people), and for each attribute of the tree what the path to the
    group allows: the middle of the numbers, or an equal share for each category. Of a private number: its place between
    the stated bounds, and whether it is missing. Of a private category: a column for each value.

    Attributes
    ----------
    leaves
        The node of each group: the leaves that somebody is in.
    group_of_node
        The group that answers for each node. A leaf that nobody is in and an inner node are answered by the largest
        group below them or, where there is none, below the nearest node above.
    by_group
        What the model is told of each group.
    """

    def __init__(self, groups: TreeRelease, columns: Sequence[Attribute]) -> None:
        people = groups.counts.sum(axis=1)
        self.columns = tuple(columns)
        self.leaves = np.array([leaf for leaf in groups.leaves if people[leaf]], dtype=np.int64)
        self.people: Ids = people[self.leaves]
        self.group_of_node = _answering(groups, people, self.leaves)
        largest = np.sort(np.argsort(-self.people, kind="stable")[:MOST_COLUMNS])
        self.by_group = np.column_stack(
            [np.eye(len(self.leaves))[:, largest], _middles(groups)[self.leaves], _allowed(groups)[self.leaves]]
        )

    @property
    def width(self) -> int:
        """How many numbers the model is told."""
        own = [1 + a.missing if a.type == "numeric" else len(a.values) + a.missing for a in self.columns]
        return int(self.by_group.shape[1]) + sum(own)

    def matrix(self, table: Table, group: Ids, *, accept_unknown: bool = False) -> Numbers:
        """One row of numbers a person; a value outside the domain is refused or, if accepted, tells nothing."""
        absent = [a.name for a in self.columns if a.name not in table]
        if absent:
            names = ", ".join(map(repr, absent))
            raise DataError("no-column", f"The release asks for column(s) {names}.{closest(absent[0], table)}")
        parts = [self.by_group[group]]
        unknown = {}
        for attribute in self.columns:
            by_code, outside = _by_code(attribute, table[attribute.name])
            codes = table[attribute.name].codes
            if outside.any() and (n := int(outside[codes].sum())):
                unknown[attribute.name] = n
            parts.append(by_code[codes])
        if unknown and not accept_unknown:
            where = ", ".join(f"{name!r} in {n} row(s)" for name, n in unknown.items())
            raise DataError(
                "unseen-value",
                f"Values outside the release's declared domain: {where}. Try unknown='ancestor', or map them first.",
            )
        return np.concatenate(parts, axis=1)


def _by_code(attribute: Attribute, column: Column) -> tuple[Numbers, NDArray[np.bool_]]:
    """The numbers for each code of a column, missing last, and which codes the domain does not have."""
    if column.kind != attribute.type:
        raise DataError(
            "column-kind",
            f"Column {column.name!r} is {column.kind} here but {attribute.type} in the release. "
            f"Read it with kinds={{{column.name!r}: {attribute.type!r}}}.",
        )
    outside = np.zeros(len(column.values) + 1, dtype=bool)
    outside[-1] = not attribute.missing
    if attribute.type == "numeric":
        assert attribute.bounds is not None
        low, high = attribute.bounds
        scaled = (np.clip(column.numbers, low, high) - low) / ((high - low) or 1.0)
        # a missing that the domain does not have must not look extreme
        numbers = np.append(scaled, NO_NUMBER if attribute.missing else 0.5)[:, None]
        if attribute.missing:
            numbers = np.column_stack([numbers, np.arange(len(numbers)) == len(scaled)])
        return numbers, outside
    position = {value: i for i, value in enumerate(attribute.values)}
    own = np.array([position.get(value, -1) for value in column.names] + [len(position)], dtype=np.int64)
    outside[:-1] = own[:-1] < 0
    width = len(position) + attribute.missing
    # one row more: all zeros, for what the domain does not have
    return np.eye(width + 1)[np.where(outside, width, own), :width], outside


def _answering(groups: TreeRelease, people: Ids, leaves: Ids) -> Ids:
    group = np.full(len(groups.nodes), -1, dtype=np.int64)
    size = np.zeros(len(groups.nodes), dtype=np.int64)
    group[leaves], size[leaves] = np.arange(len(leaves)), people[leaves]
    for number in range(len(groups.nodes) - 1, -1, -1):
        for branch in groups.nodes[number].branches:
            if size[branch.node] > size[number]:
                group[number], size[number] = group[branch.node], size[branch.node]
    for number, node in enumerate(groups.nodes):
        for branch in node.branches:
            if group[branch.node] < 0:
                group[branch.node] = group[number]
    return group


def _middles(groups: TreeRelease) -> Numbers:
    """For each node and numeric attribute of the tree, the middle of what the path allows, between 0 and 1."""
    asked = [groups.attribute(name) for name in groups.tested]
    place = {a.name: j for j, a in enumerate(a for a in asked if a.type == "numeric")}
    bounds = np.array([groups.attribute(name).bounds for name in place], dtype=np.float64).reshape(-1, 2)
    low = np.tile(bounds[:, 0], (len(groups.nodes), 1))
    high = np.tile(bounds[:, 1], (len(groups.nodes), 1))
    for number, node in enumerate(groups.nodes):
        for branch in node.branches:
            child = branch.node
            low[child], high[child] = low[number], high[number]
            if branch.intervals:
                j = place[str(node.attribute)]
                starts = [low[child, j] if part.above is None else part.above for part in branch.intervals]
                ends = [high[child, j] if part.at_most is None else part.at_most for part in branch.intervals]
                # of several pieces, from the start of the first to the end of the last
                low[child, j], high[child, j] = max(low[child, j], min(starts)), min(high[child, j], max(ends))
    width = bounds[:, 1] - bounds[:, 0]
    middles: Numbers = ((low + high) / 2 - bounds[:, 0]) / np.where(width > 0, width, 1.0)
    return middles


def _allowed(groups: TreeRelease) -> Numbers:
    """For each node and category of the tree's attributes, an equal share if the path allows it, 0 if not."""
    asked = [groups.attribute(name) for name in groups.tested]
    asked = [a for a in asked if a.type == "categorical" and len(a.values) <= MOST_VALUES]
    parts = []
    for attribute in asked:
        place = {value: j for j, value in enumerate(attribute.values)}
        allowed = np.ones((len(groups.nodes), len(place)))
        for number, node in enumerate(groups.nodes):
            for branch in node.branches:
                allowed[branch.node] = allowed[number]
                if node.attribute == attribute.name:
                    own = np.zeros(len(place))
                    own[[place[value] for value in branch.values]] = 1.0
                    allowed[branch.node] *= own
        parts.append(allowed / np.maximum(allowed.sum(axis=1, keepdims=True), 1.0))
    return np.concatenate([np.zeros((len(groups.nodes), 0)), *parts], axis=1)


def class_intervals(cuts: tuple[float, ...]) -> tuple[str, ...]:
    """The names of the classes that cuts make of a number.

    >>> class_intervals((10.0, 20.5))
    ('at most 10', 'above 10, at most 20.5', 'above 20.5')
    """
    ends = [None, *cuts, None]
    return tuple(str(Interval(low, high)) for low, high in pairwise(ends))


def classed(column: Column, cuts: tuple[float, ...]) -> Column:
    """A number as target, as the class that it falls into."""
    code_of = np.searchsorted(np.array(cuts), column.numbers, side="left")
    return Column(column.name, "categorical", code_of[column.codes], class_intervals(cuts))


def in_order(shares: NDArray[np.float64], of: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities by the order of `labels`; a class that the model never saw has none."""
    place = {label: i for i, label in enumerate(of.tolist())}
    padded = np.column_stack([shares, np.zeros(len(shares))])
    return padded[:, [place.get(label, -1) for label in labels.tolist()]]
