# SPDX-License-Identifier: Apache-2.0
"""What a report shows and where, without a word of HTML: the bars of the histograms, the nodes of the tree."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.audit import Audit
from shoal.release import TreeRelease

MOST_BARS = 16
MOST_NODES = 2000
MOST_LEVELS = 40  # deeper nodes are counted, not shown: nobody reads them, and browsers stop nesting
ALL_OPEN = 60  # a tree of at most so many nodes is shown unfolded
MOST_SIZES = 6  # smallest sizes of groups that are listed
SHARE_BARS = 20  # bars of shares below 100 %
WIDE = 50  # largest over smallest group from which bars grow in width
_STEPS = (1, 2, 5)


@dataclass(frozen=True)
class Bar:
    """Groups of `low` to `high` people."""

    low: int
    high: int
    groups: int
    people: int

    @property
    def label(self) -> str:
        """The sizes, as people write them."""
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}–{self.high:,}"


@dataclass(frozen=True)
class Histogram:
    """Bars from left to right; `k_before` is how many of them hold groups smaller than k (None: no k)."""

    bars: tuple[Bar, ...]
    k: int | None = None
    k_before: int | None = None


def histogram(sizes: NDArray[np.int64], k: int | None = None) -> Histogram:
    """Group sizes as bars. One edge is always k, so that no bar holds groups on both sides of it.

    Bars are equally wide where sizes are alike, and grow in width where they differ much.

    >>> [(bar.label, bar.groups) for bar in histogram(np.array([3, 4, 5, 5, 9]), k=5).bars]
    [('3', 1), ('4', 1), ('5', 2), ('6', 0), ('7', 0), ('8', 0), ('9', 1)]
    """
    if not len(sizes):
        return Histogram((), k, None if k is None else 0)
    low, high = int(sizes.min()), int(sizes.max())
    if k is not None:  # k must lie on the axis to be marked
        low, high = min(low, k), max(high, k)
    edges = _even(low, high, k) if high < WIDE * low else _growing(low, high, k)
    where = np.searchsorted(np.array(edges), sizes, side="right") - 1
    groups = np.bincount(where, minlength=len(edges) - 1)
    people = np.bincount(where, weights=sizes, minlength=len(edges) - 1)
    bars = tuple(
        Bar(first, after - 1, int(n), int(m))
        for first, after, n, m in zip(edges[:-1], edges[1:], groups, people, strict=True)
    )
    return Histogram(bars, k, None if k is None else sum(bar.high < k for bar in bars))


def _even(low: int, high: int, k: int | None) -> list[int]:
    """Edges one round step apart, k among them; the last is beyond every group."""
    step = _step((high - low + 1) / (MOST_BARS - 1))
    anchor = 0 if k is None else k
    first = anchor + (low - anchor) // step * step
    edges = list(range(first, high + step + 1, step))
    while len(edges) > 2 and edges[-2] > high:
        edges.pop()
    edges[0] = max(edges[0], 1)
    return edges


def _growing(low: int, high: int, k: int | None) -> list[int]:
    """Edges at 1, 2, 5, 10, 20, 50 …, with k in place of the edges that are near it."""
    edges = [step * 10**power for power in range(len(str(high)) + 1) for step in _STEPS]
    first = max(edge for edge in edges if edge <= low)
    last = min(edge for edge in edges if edge > high)
    kept = [edge for edge in edges if first <= edge <= last]
    if k is not None and k not in kept:
        inner = [edge for edge in kept[1:-1] if not 0.75 < edge / k < 1.34]
        kept = sorted({kept[0], *inner, k, kept[-1]})
    return kept


def _step(at_least: float) -> int:
    power: int = 10 ** max(0, math.floor(math.log10(max(at_least, 1))))
    return next(step * power for step in (*_STEPS, 10) if step * power >= at_least)


@dataclass(frozen=True)
class Size:
    """Groups of one size that the promise is about, and how many of them break a requirement."""

    size: int
    groups: int
    people: int
    failing: int


def smallest_sizes(audit: Audit) -> list[Size]:
    """The smallest sizes of groups that are not exempt."""
    people, fails = audit.groups.people[~audit.exempt], audit.fails[~audit.exempt]
    sizes, of_group, groups = np.unique(people, return_inverse=True, return_counts=True)
    failing = np.bincount(of_group.reshape(-1), weights=fails, minlength=len(sizes))
    rows = zip(sizes.tolist(), groups.tolist(), failing.tolist(), strict=True)
    return [Size(size, n, size * n, int(bad)) for size, n, bad in rows][:MOST_SIZES]


def believed(audit: Audit, levels: Sequence[int]) -> list[tuple[int, int]]:
    """For some levels in per cent, the people in groups whose most frequent class has at least that share."""
    assert audit.likeliest is not None
    people = audit.groups.people
    return [(level, audit.groups.people_in(100 * audit.likeliest >= level * people)) for level in levels]


@dataclass(frozen=True)
class ShareBar:
    """People in groups whose most frequent class has a share from `low` to below `high` per cent, or all of it."""

    low: int
    high: int
    people: int

    @property
    def certain(self) -> bool:
        """Whether the group has no other class."""
        return self.low == 100

    @property
    def label(self) -> str:
        """Where it begins."""
        return f"{self.low} %"


def share_bars(audit: Audit) -> tuple[ShareBar, ...]:
    """People by the share of the most frequent class in their group; the last bar are those who are certain."""
    assert audit.likeliest is not None
    # whole numbers: 100 % must be all of a group, not nearly all of it
    where = SHARE_BARS * audit.likeliest // audit.groups.people
    people = np.bincount(where, weights=audit.groups.people, minlength=SHARE_BARS + 1).astype(np.int64)
    first = min(int(where.min()), SHARE_BARS - 1)
    step = 100 // SHARE_BARS
    return tuple(ShareBar(step * i, min(step * (i + 1), 100), int(people[i])) for i in range(first, SHARE_BARS + 1))


@dataclass(frozen=True)
class TreeNode:
    """One node as it is shown.

    Attributes
    ----------
    number, depth, test
        Which node, how deep, and the test that leads to it ("" for the root).
    stated
        People by class, or their shares; empty where the release states neither.
    people
        How many; None where the release does not say.
    guilty
        Whether a breach names it.
    unfolded
        Whether what is below is shown at once.
    children
        How many of its children follow.
    hidden
        How many nodes below it are not shown at all.
    """

    number: int
    depth: int
    test: str
    stated: tuple[float, ...]
    people: int | None
    is_leaf: bool
    guilty: bool
    unfolded: bool
    children: int
    hidden: int


def guilty_nodes(audit: Audit) -> tuple[int, ...]:
    """The nodes that breaches name, ascending."""
    breaches = [finding for finding in audit.findings if finding.severity == "breach"]
    return tuple(sorted({number for finding in breaches for number in finding.nodes}))


def outline(
    release: TreeRelease,
    guilty: Collection[int] = (),
    *,
    most_nodes: int = MOST_NODES,
    most_levels: int = MOST_LEVELS,
) -> Iterator[TreeNode]:
    """The tree in reading order, cut to what can be read.

    Nodes near the root come first, because they are numbered level by level; guilty ones and the way to them
    are shown wherever they stand.
    """
    depth, below = _depths(release)
    small = len(release.nodes) <= ALL_OPEN
    on_the_way: set[int] = set()
    for number in sorted(guilty)[:most_nodes]:
        while number >= 0 and number not in on_the_way:
            on_the_way.add(number)
            number = int(release.parents[number])

    def shown(number: int) -> bool:
        return number < most_nodes and bool(depth[number] <= most_levels)

    stack = [(0, "")]
    while stack:
        number, test = stack.pop()
        node = release.nodes[number]
        branches = [branch for branch in node.branches if shown(branch.node) or branch.node in on_the_way]
        counted = release.statement == "counts"
        stated = tuple(release.counts[number].tolist()) if counted else node.shares or ()
        yield TreeNode(
            number=number,
            depth=int(depth[number]),
            test=test,
            stated=stated,
            people=int(release.counts[number].sum()) if counted else None,
            is_leaf=node.is_leaf,
            guilty=number in guilty,
            unfolded=small or bool(depth[number] < 2) or any(b.node in on_the_way for b in branches),
            children=len(branches),
            hidden=int(below[number] - sum(below[branch.node] + 1 for branch in branches)),
        )
        stack += [(branch.node, f"{node.attribute} {branch.condition()}") for branch in reversed(branches)]


def _depths(release: TreeRelease) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each node its depth, and how many nodes are below it."""
    depth, below = np.zeros((2, len(release.nodes)), dtype=np.int64)
    for number, parent in enumerate(release.parents):
        if parent >= 0:
            depth[number] = depth[parent] + 1
    for number in range(len(release.nodes) - 1, 0, -1):
        below[release.parents[number]] += below[number] + 1
    return depth, below
