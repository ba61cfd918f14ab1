# SPDX-License-Identifier: Apache-2.0
"""The text that Weka's J48 prints of a tree, read into nodes; nothing in it is believed before it is checked.

A line is a branch: as many ``|   `` as it is deep, the attribute, the test and, where it leads to a leaf, the class
with the people in the leaf and those of them with another class::

    outlook = sunny
    |   humidity <= 75: yes (2.0)
    |   humidity > 75: no (3.0)
    outlook = overcast: yes (4.0)
    outlook = rainy: yes (5.0/2.0)

Weka quotes nothing, so a name or a value may hold what reads like a test; the names of columns, where they are known,
say where it begins.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from shoal.audit.foreign import dumps
from shoal.audit.foreign.dumps import refuse
from shoal.errors import ReleaseError

TITLE = re.compile(r"^J48 (un)?pruned tree[ \t]*$", re.MULTILINE)
# how Weka's print begins, whatever comes before the tree; for the first bytes of a file
BEGINS = re.compile(rb"^(=== (Run information|Classifier model)|J48 (un)?pruned tree[ \t\r]*$)", re.MULTILINE)
SIZES = re.compile(r"\A\s*Number of Leaves\s*:\s*(\d{1,9})\s+Size of the tree\s*:\s*(\d{1,9})\s*$", re.MULTILINE)
NUMBER = r"\d+(?:\.\d+)?(?:E\d+)?"
LEAF = re.compile(rf"(.*) \(({NUMBER})(?:/({NUMBER}))?\)")
TEST = re.compile(r"(.+?) (<=|>|=|!=) (.*)")
SIGN = re.compile(r" (<=|>|=|!=) ")
INDENT = "|   "
MOST_NODES = 1_000_000
MOST_LEVELS = 100  # as in a release


@dataclass(frozen=True)
class Leaf:
    """A leaf as it is printed: its class, its people, and those of them who have another class.

    People are no whole numbers where somebody's value was missing: Weka then puts a part of him into every branch.
    """

    label: str
    people: float
    miss: float

    @property
    def hit(self) -> float:
        """The people of the class."""
        return self.people - self.miss


@dataclass(frozen=True)
class Split:
    """A test of one attribute.

    `threshold` is that of a numeric attribute; `ways` lead to what is at most it and above. Otherwise `ways` lead to
    the `values`, in their order, or where `binary` to the only value and to all others.
    """

    attribute: str
    ways: tuple[int, ...]
    threshold: float | None = None
    values: tuple[str, ...] = ()
    binary: bool = False


@dataclass(frozen=True)
class J48Tree:
    """What J48's text says.

    Attributes
    ----------
    nodes
        The tree, level by level from its root.
    sampled
        Whether the text says that a part of the rows was left out to prune by, so that leaves count fewer.
    """

    nodes: tuple[Split | Leaf, ...]
    sampled: bool

    @property
    def leaves(self) -> list[Leaf]:
        """The leaves, in the order of `nodes`."""
        return [node for node in self.nodes if isinstance(node, Leaf)]

    @cached_property
    def tests(self) -> dict[str, list[Split]]:
        """The tests of each attribute."""
        found: dict[str, list[Split]] = {}
        for node in self.nodes:
            if isinstance(node, Split):
                found.setdefault(node.attribute, []).append(node)
        return found


@dataclass(eq=False)
class _Line:
    """A line of the tree: its depth, its text, and the lines below it."""

    depth: int
    text: str
    below: list[_Line]


def parse(text: str, names: Collection[str] = ()) -> J48Tree:
    """Read J48's text, alone or with what Weka prints around it, and refuse what J48 does not print.

    Parameters
    ----------
    text
        The text.
    names
        Names of columns, for attributes whose names hold what reads like a test.

    Examples
    --------
    >>> tree = parse('''J48 pruned tree
    ... ------------------
    ...
    ... age <= 30: no (12.0/1.0)
    ... age > 30: yes (7.0)
    ...
    ... Number of Leaves  : 	2
    ...
    ... Size of the tree : 	3
    ... ''')
    >>> [(leaf.label, leaf.hit, leaf.miss) for leaf in tree.leaves]
    [('no', 11.0, 1.0), ('yes', 7.0, 0.0)]
    """
    dumps.check_size(text)
    text = text.replace("\r\n", "\n")
    titles = list(TITLE.finditer(text))
    if not titles:
        raise ReleaseError("not-a-dump", "This is no text of J48: it has no line 'J48 pruned tree'.")
    if len(titles) > 1:
        raise ReleaseError("several-trees", f"The text has {len(titles)} trees of J48. Keep the one that is meant.")
    head, body = text[: titles[0].start()], text[titles[0].end() :]
    rule, _, body = body.lstrip("\n").partition("\n")
    lines, rest = _lines(body)
    sizes = SIZES.match(rest)
    if not re.fullmatch(r"-+\s*", rule) or sizes is None:
        refuse("the number of leaves and the size of the tree do not follow it")
    # only a name that holds what reads like a test has to be known
    odd = sorted({name for name in (*names, *_named(head)) if SIGN.search(f"{name} ")}, key=len, reverse=True)
    nodes = _nodes(lines, odd)
    if (sum(isinstance(node, Leaf) for node in nodes), len(nodes)) != (int(sizes[1]), int(sizes[2])):
        refuse("it has not as many leaves and nodes as it says")
    _check_paths(nodes)
    options = re.search(r"^(?:Scheme|Options):(.*)$", head, flags=re.MULTILINE)
    return J48Tree(tuple(nodes), sampled=options is not None and "-R" in options[1].split())


def _named(head: str) -> list[str]:
    """The attributes that Weka lists before the tree, if it does."""
    found = re.search(r"^Attributes:.*\n((?:[ \t]+\S.*\n)*)", head, flags=re.MULTILINE)
    return [] if found is None else [line.strip() for line in found[1].splitlines()]


def _lines(body: str) -> tuple[list[str], str]:
    """The lines of the tree, and the text after them: a tree ends with an empty line, and may begin after one."""
    tree, *rest = re.split(r"\n[ \t]*\n", body.removeprefix("\n"), maxsplit=1)
    lines = tree.split("\n", MOST_NODES)
    if len(lines) > MOST_NODES:
        raise ReleaseError("too-large", f"The tree has more than {MOST_NODES:,} nodes.")
    return [line.rstrip() for line in lines], "".join(rest)


def _nodes(lines: Sequence[str], names: Sequence[str]) -> list[Split | Leaf]:
    """The tree of some lines, level by level."""
    if len(lines) == 1 and lines[0].startswith(": "):
        return [_leaf(lines[0])[1]]
    root = _Line(-1, "", [])
    above = [root]
    for line in lines:
        depth = 0
        while line.startswith(INDENT, 4 * depth):
            depth += 1
        if depth >= MOST_LEVELS:
            raise ReleaseError("too-deep", f"The tree is more than {MOST_LEVELS} levels deep.")
        if depth > len(above) - 1:
            refuse("a line is too far to the right")
        own = _Line(depth, line[4 * depth :], [])
        above[depth].below.append(own)
        del above[depth + 1 :]
        above.append(own)
    nodes: list[Split | Leaf] = []
    waiting: list[_Line | Leaf] = [root]
    for each in waiting:
        if isinstance(each, Leaf):
            nodes.append(each)
            continue
        first = len(waiting)
        tests: list[str] = []
        for below in each.below:
            test, leaf = (below.text, None) if below.below else _leaf(below.text)
            tests.append(test)
            waiting.append(below if leaf is None else leaf)
        nodes.append(_split(tests, range(first, len(waiting)), names))
    return nodes


def _leaf(text: str) -> tuple[str, Leaf]:
    """The test that leads to a leaf, and the leaf."""
    test, colon, stated = text.rpartition(": ")
    found = LEAF.fullmatch(stated)
    if found is None or not colon:
        refuse("a branch leads to no leaf and to no further test")
    leaf = Leaf(found[1], float(found[2]), float(found[3] or 0))
    if not math.isfinite(leaf.people) or leaf.miss > leaf.people:
        refuse("a leaf has more people of other classes than it has people")
    return test, leaf


def _split(tests: Sequence[str], ways: Sequence[int], names: Sequence[str]) -> Split:
    """The branches of one node as one test."""
    parts = [_test(test, names) for test in tests]
    attributes, signs, values = ({part[i] for part in parts} for i in range(3))
    if len(attributes) != 1 or len(parts) < 2:
        refuse("the branches of a node do not ask for one attribute")
    attribute, listed = parts[0][0], tuple(part[2] for part in parts)
    if [part[1] for part in parts] == ["<=", ">"] and len(values) == 1:
        return Split(attribute, tuple(ways), threshold=_number(listed[0]))
    if [part[1] for part in parts] == ["=", "!="] and len(values) == 1:
        return Split(attribute, tuple(ways), values=listed[:1], binary=True)
    if signs != {"="} or len(values) < len(parts):
        refuse("the branches of a node do not share out the values of an attribute")
    return Split(attribute, tuple(ways), values=listed)


def _test(text: str, names: Sequence[str]) -> tuple[str, str, str]:
    """An attribute, a sign and a value; a name that is known goes before one that is guessed."""
    for name in names:
        if text.startswith(f"{name} "):
            found = re.fullmatch(r"(<=|>|=|!=) (.*)", text[len(name) + 1 :])
            if found is not None:
                return name, found[1], found[2]
    found = TEST.fullmatch(text)
    if found is None:
        refuse("a branch has no test")
    return found[1], found[2], found[3]


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or "_" in text:
        refuse("a threshold is no number")
    return number


@dataclass(frozen=True)
class _Left:
    """What the tests on a path leave of an attribute: numbers above `low` and at most `high`, or values."""

    low: float = -math.inf
    high: float = math.inf
    without: frozenset[str] = frozenset()
    settled: bool = False  # one value is left


def _check_paths(nodes: Sequence[Split | Leaf]) -> None:
    """Refuse a branch that the tests above it make impossible: J48 sends people both ways of every test."""
    known: list[dict[str, _Left]] = [{} for _ in nodes]
    kinds: dict[str, bool] = {}
    for number, node in enumerate(nodes):
        if isinstance(node, Leaf):
            continue
        left, numeric = known[number].get(node.attribute, _Left()), node.threshold is not None
        if kinds.setdefault(node.attribute, numeric) != numeric:
            refuse("an attribute is asked both for numbers and for values")
        if node.threshold is not None:
            if not left.low < node.threshold < left.high:
                refuse("a test goes one way only")
            sides = [replace(left, high=node.threshold), replace(left, low=node.threshold)]
        else:
            if left.settled or left.without.intersection(node.values):
                refuse("a test goes one way only")
            sides = [_Left(settled=True) for _ in node.values]
            if node.binary:
                sides.append(_Left(without=left.without.union(node.values)))
        for way, side in zip(node.ways, sides, strict=True):
            known[way] = {**known[number], node.attribute: side}
        known[number] = {}
