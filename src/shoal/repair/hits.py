# SPDX-License-Identifier: Apache-2.0
"""A J48 tree pruned without its rows, from the class, the hits and the misses that are printed of each leaf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.audit.foreign.j48 import J48Model
from shoal.audit.foreign.j48_text import J48Tree, Leaf, Split, parse
from shoal.errors import DataError
from shoal.privacy import Requirement, as_requirement, claims
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.trees.atp import Hits, prune_hits


@dataclass(frozen=True, eq=False)
class EstimatedTree:
    """A tree pruned by estimates. **It is no audited release**: with the rows it may fail, and it cannot be saved.

    Attributes
    ----------
    tree
        The tree, which says what it predicts and no counts. Nobody has audited it, so `save` refuses.
    hits
        For each of its nodes the most frequent class, by its place in `tree.classes`, and how many people have it and
        have not, estimated where branches were merged.
    """

    tree: TreeRelease
    hits: tuple[Hits, ...]

    def __str__(self) -> str:
        lines = [
            f"{self.tree.target}: {len(self.tree.leaves)} leaves, (class, hit, miss) estimated; no release, nobody has "
            "audited it"
        ]
        for leaf in self.tree.leaves:
            of_class, hit, miss = self.hits[leaf]
            lines.append(f"{self.tree.describe_node(leaf)}: ({self.tree.classes[of_class]}, {hit}, {miss})")
        return "\n".join(lines)


def prune_by_hits(
    model: J48Model, privacy: Requirement | int, *, target: str = "class", classes: Sequence[str] = ()
) -> EstimatedTree:
    """Merge branches of a J48 tree by what its text says alone, as Tian et al. do (Sect. 4).

    Parameters
    ----------
    model
        What Weka prints of the tree.
    privacy
        What every path must keep: k-anonymity, simple or recursive diversity, or confidence, asked of hits and misses.
    target
        What to call the target; the text does not say.
    classes
        All values of the target, in any order. The text names only those that some leaf predicts, and misses are taken
        to be spread over all others, so leaving some out makes other estimates.

    Returns
    -------
    EstimatedTree
        A tree for looking at. What leaves the house is made by `repair`, which has the rows.

    Notes
    -----
    Where Weka prints parts of people, their numbers are rounded to whole people.

    Examples
    --------
    >>> text = '''J48 pruned tree
    ... ------------------
    ...
    ... town = A: ill (5.0)
    ... town = B: well (9.0/4.0)
    ... town = C: well (20.0/9.0)
    ...
    ... Number of Leaves  : 	3
    ...
    ... Size of the tree : 	4
    ... '''
    >>> print(prune_by_hits(J48Model(text), 6, target="state"))
    state: 2 leaves, (class, hit, miss) estimated; no release, nobody has audited it
    town = A or B: (ill, 9, 5)
    town = C: (well, 11, 9)
    """
    requirement = as_requirement(privacy)
    read = parse(model.text)
    named = tuple(dict.fromkeys([*classes, *(leaf.label for leaf in read.leaves)]))
    _check_classes(read, named)
    attributes = [_attribute(name, tests) for name, tests in read.tests.items()]
    values = {attribute.name: attribute.values for attribute in attributes}
    nodes = [_node(node, values) for node in read.nodes]
    told = [_hits(node, named) for node in read.nodes]
    pruned, hits = prune_hits(nodes, told, attributes, len(named), requirement)
    own = Attribute(target, "private", "categorical", values=named)
    return EstimatedTree(TreeRelease(target, (*attributes, own), tuple(claims(requirement)), pruned), tuple(hits))


def _check_classes(tree: J48Tree, named: Sequence[str]) -> None:
    # the most frequent of some classes has at least its share of all; a hundredth may be rounded away
    short = any(leaf.miss > (len(named) - 1) * (leaf.hit + 0.01) + 0.01 for leaf in tree.leaves)
    if short or len(named) < 2:
        raise DataError(
            "classes-unnamed",
            f"The tree predicts {len(named)} class(es), but its leaves have people of more. Name all with classes=.",
        )


def _attribute(name: str, tests: Sequence[Split]) -> Attribute:
    """A column as far as the tests tell: the values they name, and numbers on both sides of every threshold."""
    if tests[0].threshold is None:
        values = list(dict.fromkeys(value for test in tests for value in test.values))
        if all(test.binary for test in tests):
            values.append("(any other)")
        return Attribute(name, "public", "categorical", values=tuple(values))
    thresholds = [test.threshold for test in tests if test.threshold is not None]
    return Attribute(name, "public", "numeric", bounds=(min(thresholds), max(thresholds) + 1))


def _node(node: Split | Leaf, values: dict[str, tuple[str, ...]]) -> Node:
    if isinstance(node, Leaf):
        return Node()
    if node.threshold is not None:
        ends = (Interval(None, node.threshold), Interval(node.threshold, None))
        branches = [Branch(way, intervals=(end,)) for way, end in zip(node.ways, ends, strict=True)]
    elif node.binary:
        others = tuple(value for value in values[node.attribute] if value not in node.values)
        branches = [Branch(node.ways[0], values=node.values), Branch(node.ways[1], values=others)]
    else:
        branches = [Branch(way, values=(value,)) for way, value in zip(node.ways, node.values, strict=True)]
    return Node(node.attribute, tuple(branches))


def _hits(node: Split | Leaf, named: Sequence[str]) -> Hits:
    if isinstance(node, Split):
        return Hits(0, 0, 0)  # comes from its leaves
    miss = round(node.miss)
    return Hits(named.index(node.label), round(node.people) - miss, miss)
