# SPDX-License-Identifier: Apache-2.0
"""Where each node of a tree stands in a picture, without a word of matplotlib.

The root is at the left. Every end has a line of its own, and an inner node stands halfway between its first and its
last child. So two nodes of one level are at least a line apart, and no line to an end crosses another part of the tree.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from shoal.release import Branch, Interval, TreeRelease
from shoal.release.domain import plain

MOST_LEAVES = 200  # a taller picture opens in no viewer, and nobody reads it
MOST_LEVELS = 24
MOST_VALUES = 6  # of one branch, before the rest is only counted
LEAST_NAME = 8  # letters of a column's name that stay, if a test is too long

Measure = Callable[[str], float]


@dataclass(frozen=True)
class Place:
    """One node in the picture.

    Attributes
    ----------
    number
        Which node.
    x, left
        Where it stands, and where the line that leads to it starts (that is where its parent stands).
    y
        Its line; 0 is the topmost, halves are between two.
    test
        The test that leads to it, short enough for its line ("" for the root).
    children
        The topmost and the lowest line of its children; None for an end.
    folded
        How many leaves an end stands for that are not shown; 0 for a leaf.
    """

    number: int
    x: float
    left: float
    y: float
    test: str
    children: tuple[float, float] | None
    folded: int


@dataclass(frozen=True)
class TreeLayout:
    """The places in reading order, how many ends there are, and how wide the tree is."""

    places: tuple[Place, ...]
    n_ends: int
    width: float

    @property
    def n_folded(self) -> int:
        """How many leaves are not shown."""
        return sum(place.folded for place in self.places)


def place_tree(
    release: TreeRelease,
    measure: Measure = len,
    *,
    most_width: float = 26,
    gap: float = 1,
    max_leaves: int | None = None,
) -> TreeLayout:
    """Give every node its place; widths are in the unit of `measure`.

    Parameters
    ----------
    release
        The tree.
    measure
        How wide a text is.
    most_width
        Longer tests are shortened to this.
    gap
        Room before and after a test.
    max_leaves
        Fold the tree to this many ends, keeping those splits that most people go through; None: 200.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> release = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes").release_
    >>> [(place.test, place.left, place.x, place.y) for place in place_tree(release).places]
    [('', 0, 1, 0.5), ('age ≤ 47.5', 1, 13, 0.0), ('age > 47.5', 1, 13, 1.0)]
    """
    depth, opened, leaves = _open(release, MOST_LEAVES if max_leaves is None else max_leaves)
    order = list(_reading_order(release, opened))
    tests = {0: ""}
    for number in order:
        node = release.nodes[number]
        for branch in node.branches if number in opened else ():
            tests[branch.node] = short_test(node.attribute or "", branch, measure, most_width)
    ends = [number for number in order if number not in opened]
    y = {number: float(line) for line, number in enumerate(ends)}
    spans: dict[int, tuple[float, float]] = {}
    for number in sorted(opened, reverse=True):  # children have higher numbers
        lines = [y[branch.node] for branch in release.nodes[number].branches]
        spans[number] = (lines[0], lines[-1])
        y[number] = (lines[0] + lines[-1]) / 2
    edges = [gap]
    for level in range(1, max(depth[number] for number in order) + 1):
        widest = max(measure(tests[number]) for number in order if depth[number] == level)
        edges.append(edges[-1] + widest + 2 * gap)
    places = tuple(
        Place(
            number=number,
            x=edges[depth[number]],
            left=edges[depth[number] - 1] if depth[number] else 0,
            y=y[number],
            test=tests[number],
            children=spans.get(number),
            folded=0 if number in opened or release.nodes[number].is_leaf else leaves[number],
        )
        for number in order
    )
    return TreeLayout(places, len(ends), edges[-1])


def _open(release: TreeRelease, most: int) -> tuple[list[int], set[int], list[int]]:
    """The depth of each node, the splits that are shown, and the leaves below each node.

    Of the splits that could be shown next, the one that most people go through comes first; where a release does not
    say how many, the one with most leaves below.
    """
    depth, leaves = [0] * len(release.nodes), [0] * len(release.nodes)
    for number, parent in enumerate(release.parents.tolist()):
        depth[number] = depth[parent] + 1 if parent >= 0 else 0
    for number in range(len(release.nodes) - 1, -1, -1):
        node = release.nodes[number]
        leaves[number] = 1 if node.is_leaf else sum(leaves[branch.node] for branch in node.branches)
    size = release.counts.sum(axis=1).tolist() if release.statement == "counts" else leaves
    opened: set[int] = set()
    n_ends = 1
    queue = [(-size[0], 0)]
    while queue:
        _, number = heapq.heappop(queue)
        branches = release.nodes[number].branches
        if not branches or depth[number] >= MOST_LEVELS or n_ends + len(branches) - 1 > most:
            continue
        opened.add(number)
        n_ends += len(branches) - 1
        for branch in branches:
            heapq.heappush(queue, (-size[branch.node], branch.node))
    return depth, opened, leaves


def _reading_order(release: TreeRelease, opened: set[int]) -> Iterator[int]:
    stack = [0]
    while stack:
        number = stack.pop()
        yield number
        if number in opened:
            stack += [branch.node for branch in reversed(release.nodes[number].branches)]


# -------------------------------------------------------------------- short words


def short_test(name: str, branch: Branch, measure: Measure, most: float) -> str:
    """A branch's test in signs rather than words, cut where it must be: values first, then the column's name.

    >>> short_test("age", Branch(1, intervals=(Interval(20.0, 30.0),), missing=True), len, 40)
    'age > 20 & ≤ 30 or missing'
    >>> short_test("occupation", Branch(1, values=("Builder", "Clerk", "Driver", "Farmer")), len, 26)
    'occupation = Builder +3'
    """
    name = one_line(name)
    *longer, shortest = _conditions(branch)
    for condition in longer:
        if measure(f"{name} {condition}") <= most:
            return f"{name} {condition}"
    kept = fit(name, measure, max(most - measure(f" {shortest}"), measure(name[:LEAST_NAME] + "…")))
    # values often differ at their ends only, and "or missing" stands there
    return f"{kept} {fit(shortest, measure, most - measure(kept + ' '), tail=0.4)}"


def fit(text: str, measure: Measure, most: float, tail: float = 0) -> str:
    """A text cut so that it is at most so wide; `tail` is the part of what stays that comes from its end.

    >>> fit("Vocational school", len, 11), fit("Vocational school", len, 11, tail=0.4)
    ('Vocational…', 'Vocati…hool')
    """

    def cut(letters: int) -> str:
        last = int(letters * tail)
        return text[: letters - last].rstrip() + "…" + text[len(text) - last :].lstrip()

    if measure(text) <= most:
        return text
    low, high = 0, len(text)
    while low < high:  # the most letters that fit
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure(cut(middle)) <= most else (low, middle - 1)
    return cut(low)


def one_line(text: str) -> str:
    """A text without line breaks and signs that no font has."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _conditions(branch: Branch) -> Iterator[str]:
    """What may stand after the column's name, the longest first."""
    missing = ["missing"] if branch.missing else []
    if branch.intervals:
        yield " or ".join([*map(_interval, branch.intervals), *missing])
    elif branch.label is not None and len(branch.values) > 1:
        yield " or ".join([f"= {one_line(branch.label)}", *missing])
    elif branch.values:
        values = [one_line(value) for value in branch.values]
        for n in range(min(len(values), MOST_VALUES), 0, -1):
            more = f" +{len(values) - n}" if n < len(values) else ""
            yield " or ".join([f"= {', '.join(values[:n])}{more}", *missing])
    else:
        yield "is missing"


def _interval(interval: Interval) -> str:
    ends = [] if interval.above is None else [f"> {plain(interval.above)}"]
    if interval.at_most is not None:
        ends.append(f"≤ {plain(interval.at_most)}")
    return " & ".join(ends) or "any number"
