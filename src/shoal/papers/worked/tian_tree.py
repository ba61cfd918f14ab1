# SPDX-License-Identifier: Apache-2.0
"""The tree that Tian et al. (2012) work with: Fig. 5, which ATP turns into Fig. 7 and Fig. 3.

The figures are pictures. Their text names ten leaves, and of those below b it says what is known: d, e and g; two paths
that we take for k and m, B = b3 with C = c1 and D < d5; and of f and h what is estimated, so that l has the other ten
people of f and n the other three of h. Ours are which classes the misses have, and all of i, o and p: chosen so that
what the text says of them comes out, and that what is merged has as many hits by counting as by the estimate.
"""

from __future__ import annotations

from shoal.privacy import RecursiveDiversity
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.trees.atp import ByHits, Hits, hits_of

CLASSES = ("S1", "S2", "S3", "S4", "S5")
DIVERSE = RecursiveDiversity(3, 3)
KNOWLEDGE = ByHits(DIVERSE, len(CLASSES))
NAMES = "abcdefghijklmnop"  # of the nodes, level by level


def fig5() -> TreeRelease:
    """The tree before pruning."""
    a = Attribute("A", "public", "categorical", values=("a1", "a2"))
    b = Attribute("B", "public", "categorical", values=("b1", "b2", "b3", "b4", "b5"))
    c = Attribute("C", "public", "categorical", values=("c1", "c2", "c3"))
    d = Attribute("D", "public", "numeric", bounds=(0, 9), integer=True)
    target = Attribute("class", "private", "categorical", values=CLASSES)
    below_d5 = Interval(None, 4), Interval(4, None)
    nodes = (
        Node("A", (_to("b", "a1"), _to("c", "a2"))),
        Node("B", (_to("d", "b1"), _to("e", "b2"), _to("f", "b3"), _to("g", "b4"), _to("h", "b5"))),
        Node("C", (_to("i", "c1"), _to("j", "c2", "c3"))),
        Node(counts=(3, 0, 0, 0, 0)),  # d (S1, 3, 0)
        Node(counts=(0, 5, 3, 1, 0)),  # e (S2, 5, 4)
        Node("C", (_to("k", "c1"), _to("l", "c2", "c3"))),  # f (S3, 5, 9)
        Node(counts=(2, 2, 2, 6, 2)),  # g (S4, 6, 8)
        Node(
            "D", tuple(Branch(NAMES.index(name), intervals=(part,)) for name, part in zip("mn", below_d5, strict=True))
        ),
        Node(counts=(2, 2, 2, 2, 0)),  # i, simply 3-diverse
        Node("B", (_to("o", "b1", "b2"), _to("p", "b3", "b4", "b5"))),  # j
        Node(counts=(1, 0, 1, 0, 2)),  # k (S5, 2, 2)
        Node(counts=(2, 2, 4, 1, 1)),  # l
        Node(counts=(2, 2, 2, 1, 0)),  # m (S1, 2, 5)
        Node(counts=(1, 0, 0, 1, 1)),  # n
        Node(counts=(0, 0, 3, 0, 0)),  # o, which fails
        Node(counts=(4, 4, 4, 4, 4)),  # p, which passes
    )
    return TreeRelease("class", (a, b, c, d, target), ({"requirement": "k-anonymity", "k": 1},), nodes)


def _to(name: str, *values: str) -> Branch:
    return Branch(NAMES.index(name), values)


def fig7() -> dict[str, Hits]:
    """What is known of every node after the depth-first traversal, by its name: class, hits and misses."""
    release = fig5()
    told = hits_of(release.counts)
    for number in reversed(range(len(NAMES))):
        below = [told[branch.node] for branch in release.nodes[number].branches]
        if below:
            told[number] = KNOWLEDGE.together(below)
    return dict(zip(NAMES, told, strict=True))
