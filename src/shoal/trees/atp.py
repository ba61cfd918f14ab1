# SPDX-License-Identifier: Apache-2.0
"""Anonymity-guided tree pruning (ATP): branches of a tree that break a requirement are merged with their siblings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError, PromiseError
from shoal.privacy import Requirement, as_requirement, claims
from shoal.privacy.hits import holds_by_hits
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.release.node import all_but, renumber

Counts = NDArray[np.int64]
By = Literal["counts", "hits"]


@dataclass(frozen=True)
class ByCounts:
    """What is known of a node: how many people of each class it has."""

    requirement: Requirement
    total: Counts

    def of_leaf(self, counts: Counts) -> Counts:
        """The counts."""
        return counts

    def together(self, parts: Sequence[Counts]) -> Counts:
        """Their sum."""
        added: Counts = np.sum(parts, axis=0)
        return added

    def passes(self, told: Counts) -> bool:
        """Whether the counts keep the requirement."""
        return bool(self.requirement.holds(told[None, :], self.total)[0])

    def size(self, told: Counts) -> int:
        """Everybody counted."""
        return int(told.sum())

    def purity(self, told: Counts) -> float:
        """The largest count over all."""
        return float(told.max() / max(told.sum(), 1))


@dataclass(frozen=True)
class Hits:
    """The most frequent class of a node, by its place, and how many people have it and have not."""

    of_class: int
    hit: int
    miss: int


@dataclass(frozen=True)
class ByHits:
    """What is known of a node: its most frequent class, hits and misses; what they hide is estimated (Eq. 2 and 3)."""

    requirement: Requirement
    n_classes: int

    def of_leaf(self, counts: Counts) -> Hits:
        """The first of the most frequent classes."""
        best = int(counts.argmax())
        return Hits(best, int(counts[best]), int(counts.sum() - counts[best]))

    def together(self, parts: Sequence[Hits]) -> Hits:
        """Misses are taken to be spread evenly over the other classes; the winner's people are rounded up."""
        others = self.n_classes - 1
        misses = sum(part.miss for part in parts)
        # times the number of other classes, so that nothing is rounded before the end
        hits = np.full(self.n_classes, misses, dtype=object)
        for part in parts:
            hits[part.of_class] += others * part.hit - part.miss
        best = int(np.argmax(hits))
        hit = -(-int(hits[best]) // others)
        return Hits(best, hit, sum(part.hit + part.miss for part in parts) - hit)

    def passes(self, told: Hits) -> bool:
        """Whether hits and misses keep the requirement."""
        return bool(holds_by_hits(self.requirement, [told.hit], [told.miss])[0])

    def size(self, told: Hits) -> int:
        """Hits and misses."""
        return told.hit + told.miss

    def purity(self, told: Hits) -> float:
        """hit / (hit + miss)."""
        return told.hit / max(told.hit + told.miss, 1)


Knowledge = ByCounts | ByHits


@dataclass(eq=False)
class _Child:
    """A child of a node: what leads to it, what is known of it, and its subtree (None: it is a leaf)."""

    branches: list[Branch]
    counts: Counts
    told: Any
    passes: bool
    subtree: list[_Child] | None = None
    attribute: str | None = None


def prune_by_merging(release: TreeRelease, privacy: Requirement | int, *, by: By = "counts") -> TreeRelease:
    """Merge branches of a tree, from its leaves upwards, until every path keeps a requirement.

    Parameters
    ----------
    release
        A tree with the counts of its leaves, all of whose tests ask public columns, for there a path is a group. It
        need not keep any promise, nor be audited.
    privacy
        What every path must keep; a whole number k means `KAnonymity(k)`.
    by
        ``"counts"``: paths are judged by how many people of each class they have. ``"hits"``: as in the paper, by the
        most frequent class, its people and the rest alone; the result may then fail an audit.

    Returns
    -------
    TreeRelease
        Not audited yet. Where nothing is left to ask, it is a single leaf.

    Raises
    ------
    PromiseError
        If not even everybody together keeps the requirement: then no tree can.

    Notes
    -----
    Of a node's children that fail, the purest is merged with siblings, one at a time, until it passes: with one that
    makes it pass (Rule 1), among those with one that fails as well (Rule 2), among those with the smallest (Rule 3),
    and the first of equals. A merged subtree becomes a leaf. A node with one child left becomes that leaf. Paths that
    pass and are not needed by a sibling stay as they are.

    References
    ----------
    H. Tian, W. Zhang, S. Xu, P. Sharkey, "A knowledge model sharing based approach to privacy-preserving data mining",
    Transactions on Data Privacy 5 (2012), 433-467, Sect. 4.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "smoker", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=2).fit(people, "diabetes").release_
    >>> pruned = prune_by_merging(tree, 400)
    >>> len(pruned.leaves) < len(tree.leaves), int(pruned.counts[list(pruned.leaves)].sum(axis=1).min()) >= 400
    (True, True)
    """
    requirement = as_requirement(privacy)
    if by not in ("counts", "hits"):
        raise DataError("unknown-option", f"by must be 'counts' or 'hits'; got {by!r}.")
    _check(release)
    counts = release.counts
    knowledge: Knowledge
    if by == "counts":
        knowledge = ByCounts(requirement, counts[0])
    else:
        knowledge = ByHits(requirement, len(release.classes))
    root = _pruned(release, counts, knowledge)
    if not root.passes:
        raise PromiseError(
            "impossible",
            f"Not even everybody together keeps the requirement ({requirement.describe()}), so no tree can. "
            "Ask for less.",
        )
    nodes = renumber(_joined(_state(root), release))
    return replace(release, nodes=nodes, claims=tuple(claims(requirement)), verdict=None)


def _check(release: TreeRelease) -> None:
    private = [name for name in release.tested if release.attribute(name).role == "private"]
    if private:
        raise DataError(
            "private-tests",
            "Merging branches is for trees that ask public columns only; this one asks private "
            f"{', '.join(map(repr, private))}. Use the other method of shoal repair.",
        )
    if release.attribute(release.target).role == "public":
        raise DataError("private-tests", "The target of this tree is public, so its paths tell nothing private.")


def _pruned(release: TreeRelease, counts: Counts, knowledge: Knowledge) -> _Child:
    """The tree, every node settled after its children."""
    done: dict[int, _Child] = {}
    for number in reversed(range(len(release.nodes))):
        node = release.nodes[number]
        if node.is_leaf:
            told: Any = knowledge.of_leaf(counts[number])
            done[number] = _Child([], counts[number], told, knowledge.passes(told))
            continue
        children = []
        for branch in node.branches:
            child = done.pop(branch.node)
            child.branches = [branch]
            children.append(child)
        # what is known of a node comes from its children as they were before any was merged
        told = knowledge.together([child.told for child in children])
        children = _merged(children, knowledge)
        if len(children) == 1:
            done[number] = replace(children[0], branches=[])
        else:
            done[number] = _Child([], counts[number], told, True, children, node.attribute)
    return done[0]


def _merged(children: list[_Child], knowledge: Knowledge) -> list[_Child]:
    """The children of one node, merged until all of them pass or one is left."""
    while len(children) > 1 and any(not child.passes for child in children):
        failing = [child for child in children if not child.passes]
        chosen = max(failing, key=lambda child: knowledge.purity(child.told))
        while not chosen.passes and len(children) > 1:
            sibling = _sibling(chosen, [child for child in children if child is not chosen], knowledge)
            children = [child for child in children if child is not sibling]
            place = next(i for i, child in enumerate(children) if child is chosen)
            chosen = _union(chosen, sibling, knowledge)
            children[place] = chosen
    return children


def _sibling(chosen: _Child, siblings: list[_Child], knowledge: Knowledge) -> _Child:
    """The sibling to merge with: by the first rule that some satisfy, then by the next among those, and so on."""
    enough = [child for child in siblings if _union(chosen, child, knowledge).passes]
    left = enough or siblings
    failing = [child for child in left if not child.passes]
    left = failing or left
    return min(left, key=lambda child: knowledge.size(child.told))


def _union(one: _Child, other: _Child, knowledge: Knowledge) -> _Child:
    told: Any = knowledge.together([one.told, other.told])
    passes = knowledge.passes(told)
    return _Child([*one.branches, *other.branches], one.counts + other.counts, told, passes)


def _state(root: _Child) -> list[Node]:
    """A settled tree as nodes, branches not joined yet."""
    nodes = [Node()]
    waiting = [(0, root)]
    while waiting:
        number, child = waiting.pop()
        if child.subtree is None:
            nodes[number] = Node(counts=tuple(child.counts.tolist()))
            continue
        branches: list[Branch] = []
        for each in child.subtree:
            branches += [replace(branch, node=len(nodes)) for branch in each.branches]
            waiting.append((len(nodes), each))
            nodes.append(Node())
        nodes[number] = Node(attribute=child.attribute, branches=tuple(branches))
    return nodes


def _joined(nodes: Sequence[Node], release: TreeRelease) -> list[Node]:
    """Nodes whose branches to the same child are one: a set of values, or of intervals."""
    answer = []
    for node in nodes:
        if node.attribute is None:
            answer.append(node)
            continue
        attribute = release.attribute(node.attribute)
        ways: dict[int, list[Branch]] = {}
        for branch in node.branches:
            ways.setdefault(branch.node, []).append(branch)
        answer.append(replace(node, branches=tuple(_one_branch(each, attribute) for each in ways.values())))
    return answer


def _one_branch(parts: list[Branch], attribute: Attribute) -> Branch:
    if len(parts) == 1:
        return parts[0]
    values = {value for part in parts for value in part.values}
    listed = tuple(value for value in attribute.values if value in values)
    return Branch(
        parts[0].node,
        values=listed,
        intervals=_one_set([interval for part in parts for interval in part.intervals]),
        missing=any(part.missing for part in parts),
        label=all_but(listed, attribute.values) if listed else None,
    )


def _one_set(intervals: list[Interval]) -> tuple[Interval, ...]:
    """Intervals in order, those that touch joined."""
    ordered = sorted(intervals, key=lambda each: -np.inf if each.above is None else each.above)
    found: list[Interval] = []
    for each in ordered:
        if found and found[-1].at_most is not None and found[-1].at_most == each.above:
            found[-1] = Interval(found[-1].above, each.at_most)
        else:
            found.append(each)
    return tuple(found)
