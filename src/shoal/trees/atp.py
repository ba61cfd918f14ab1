# SPDX-License-Identifier: Apache-2.0
"""Anonymity-guided tree pruning (ATP): branches of a tree that break a requirement are merged with their siblings."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError, PromiseError
from shoal.privacy import Requirement, as_requirement, claims, needs_values
from shoal.privacy.hits import holds_by_hits
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.release.node import all_but

Counts = NDArray[np.int64]
By = Literal["counts", "hits"]


@dataclass(frozen=True)
class ByCounts:
    """What is known of a node: how many people of each class it has."""

    requirement: Requirement
    total: Counts

    def together(self, parts: Sequence[Counts]) -> Counts:
        """Their sum."""
        added = parts[0]
        for part in parts[1:]:
            added = added + part
        return added

    def passes(self, told: Sequence[Counts]) -> list[bool]:
        """Whether the counts of each of some nodes keep the requirement."""
        answers: list[bool] = self.requirement.holds(np.array(told), self.total).tolist()
        return answers

    def size(self, told: Counts) -> int:
        """Everybody counted."""
        return int(told.sum())

    def purity(self, told: Counts) -> float:
        """The largest count over all."""
        return float(told.max() / max(told.sum(), 1))


class Hits(NamedTuple):
    """The most frequent class of a node, by its place, and how many people have it and have not."""

    of_class: int
    hit: int
    miss: int


@dataclass(frozen=True)
class ByHits:
    """What is known of a node: its most frequent class, hits and misses; what they hide is estimated (Eq. 2 and 3)."""

    requirement: Requirement
    n_classes: int

    def together(self, parts: Sequence[Hits]) -> Hits:
        """Misses are taken to be spread evenly over the other classes; the winner's people are rounded up."""
        others = max(self.n_classes - 1, 1)  # of a single class there are no misses
        # times the number of other classes, so that nothing is rounded before the end
        hits = [sum(part.miss for part in parts)] * self.n_classes
        for part in parts:
            hits[part.of_class] += others * part.hit - part.miss
        most = max(hits)
        hit = -(-most // others)
        return Hits(hits.index(most), hit, sum(part.hit + part.miss for part in parts) - hit)

    def passes(self, told: Sequence[Hits]) -> list[bool]:
        """Whether hits and misses of each of some nodes keep the requirement."""
        hit, miss = [each.hit for each in told], [each.miss for each in told]
        answers: list[bool] = holds_by_hits(self.requirement, hit, miss).tolist()
        return answers

    def size(self, told: Hits) -> int:
        """Hits and misses."""
        return told.hit + told.miss

    def purity(self, told: Hits) -> float:
        """hit / (hit + miss)."""
        return told.hit / max(told.hit + told.miss, 1)


Knowledge = ByCounts | ByHits
# a node's children ask whether some nodes would pass, and say in the end what has become of them
Merging = Generator[list[Any], list[bool], "list[_Child]"]


@dataclass(eq=False, slots=True)
class _Child:
    """A child of a node: what leads to it, what is known of it, and its subtree (None: it is a leaf)."""

    branches: list[Branch]
    counts: Any
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
    _check(release, requirement)
    counts = release.counts
    rows = list(counts)
    knowledge: Knowledge = ByCounts(requirement, counts[0])
    told: list[Any] = rows
    if by == "hits":
        knowledge, told = ByHits(requirement, len(release.classes)), hits_of(counts)
    root = _pruned(release.nodes, rows, told, knowledge)
    if not root.passes:
        raise impossible(requirement, by)
    attributes = {attribute.name: attribute for attribute in release.attributes}

    def stated(child: _Child) -> dict[str, Any]:
        return {"counts": tuple(child.counts.tolist())} if child.subtree is None else {}

    nodes = _as_nodes(root, attributes, stated)
    return replace(release, nodes=nodes, claims=tuple(claims(requirement)), verdict=None)


def prune_hits(
    nodes: Sequence[Node],
    told: Sequence[Hits],
    attributes: Iterable[Attribute],
    n_classes: int,
    requirement: Requirement,
) -> tuple[tuple[Node, ...], list[Hits]]:
    """Prune a tree of which only hits and misses are known: the nodes, which state what they answer, and their hits.

    `told` has an entry for every node; those of leaves are looked at.
    """
    knowledge = ByHits(requirement, n_classes)
    root = _pruned(nodes, [0] * len(nodes), told, knowledge)
    if not root.passes:
        raise impossible(requirement, "hits")
    found: list[Hits] = []

    def stated(child: _Child) -> dict[str, Any]:
        found.append(child.told)
        return {"answer": child.told.of_class}

    return _as_nodes(root, {attribute.name: attribute for attribute in attributes}, stated), found


def hits_of(counts: Counts) -> list[Hits]:
    """Of counts by class the first of the most frequent classes, its people and the others."""
    best, size = counts.argmax(axis=1), counts.sum(axis=1)
    hit = counts.max(axis=1)
    return [Hits(*each) for each in zip(best.tolist(), hit.tolist(), (size - hit).tolist(), strict=True)]


def impossible(requirement: Requirement, by: By) -> PromiseError:
    """The refusal of a requirement that everybody together breaks."""
    what = f"Not even everybody together keeps the requirement ({requirement.describe()})"
    if by == "hits":
        return PromiseError(
            "impossible", f"{what}, as far as hits and misses can tell. Ask for less, or give the rows."
        )
    consequence = ", so no tree can" if requirement.monotone else ""
    return PromiseError("impossible", f"{what}{consequence}. Ask for less.")


def _check(release: TreeRelease, requirement: Requirement) -> None:
    private = [name for name in release.tested if release.attribute(name).role == "private"]
    if private:
        raise DataError(
            "private-tests",
            "Merging branches is for trees that ask public columns only; this one asks private "
            f"{', '.join(map(repr, private))}. Use the other method of shoal repair.",
        )
    if release.attribute(release.target).role == "public":
        raise DataError("private-tests", "The target of this tree is public, so its paths tell nothing private.")
    if release.several_rows:
        raise DataError(
            "several-rows",
            "Merging branches is for rows that are one person each. Use the other method of shoal repair.",
        )
    if release.sensitive and needs_values(requirement):
        raise DataError(
            "several-sensitive",
            "Merging branches looks at the values of the target only, not at those of further sensitive columns. Use "
            "the other method of shoal repair.",
        )


def _pruned(nodes: Sequence[Node], counts: Sequence[Any], told: Sequence[Any], knowledge: Knowledge) -> _Child:
    """The tree, every node settled after its children; nodes of one height are settled together."""
    leaves = [number for number, node in enumerate(nodes) if node.is_leaf]
    passing = knowledge.passes([told[number] for number in leaves])
    done = {n: _Child([], counts[n], told[n], passes) for n, passes in zip(leaves, passing, strict=True)}
    levels = _by_height(nodes)
    known = list(told)  # of every node before anything is merged
    for number in (number for level in levels for number in level):
        known[number] = knowledge.together([known[branch.node] for branch in nodes[number].branches])
    for level in levels:
        merging: dict[int, Merging] = {}
        for number in level:
            children = []
            for branch in nodes[number].branches:
                child = done.pop(branch.node)
                child.branches = [branch]
                children.append(child)
            merging[number] = _merged(children, knowledge)
        for number, children in _side_by_side(merging, knowledge).items():
            if len(children) == 1:
                children[0].branches = []
                done[number] = children[0]
            else:
                attribute = nodes[number].attribute
                done[number] = _Child([], counts[number], known[number], True, children, attribute)
    return done[0]


def _by_height(nodes: Sequence[Node]) -> list[list[int]]:
    """The splits of a tree, those with leaves below them only first; a branch leads to a higher number."""
    height = [0] * len(nodes)
    levels: list[list[int]] = []
    for number in range(len(nodes) - 1, -1, -1):
        if nodes[number].branches:
            height[number] = own = 1 + max(height[branch.node] for branch in nodes[number].branches)
            levels += [[] for _ in range(own - len(levels))]
            levels[own - 1].append(number)
    return levels


def _side_by_side(merging: Mapping[int, Merging], knowledge: Knowledge) -> dict[int, list[_Child]]:
    """What becomes of the children of many nodes. What all of them ask next is asked at once, since asking costs."""
    done: dict[int, list[_Child]] = {}
    answers: dict[int, Any] = dict.fromkeys(merging)
    while answers:
        asked: dict[int, list[Any]] = {}
        for number, answer in answers.items():
            try:
                asked[number] = merging[number].send(answer)
            except StopIteration as end:
                done[number] = end.value
        passing = iter(knowledge.passes([each for some in asked.values() for each in some]) if asked else [])
        answers = {number: [next(passing) for _ in some] for number, some in asked.items()}
    return done


def _merged(children: list[_Child], knowledge: Knowledge) -> Merging:
    """The children of one node, merged until all of them pass or one is left."""
    while len(children) > 1 and not all(child.passes for child in children):
        failing = [place for place, child in enumerate(children) if not child.passes]
        chosen = max(failing, key=lambda place: knowledge.purity(children[place].told))
        while not children[chosen].passes and len(children) > 1:
            one = children[chosen]
            siblings = [place for place in range(len(children)) if place != chosen]
            unions = [knowledge.together([one.told, children[place].told]) for place in siblings]
            enough = yield unions
            # by the first rule that some satisfy, then by the next among those, and so on
            ranks = [
                (not enough[i], children[place].passes, knowledge.size(children[place].told))
                for i, place in enumerate(siblings)
            ]
            best = min(range(len(siblings)), key=ranks.__getitem__)
            other = children[siblings[best]]
            children[chosen] = _Child(
                [*one.branches, *other.branches], one.counts + other.counts, unions[best], enough[best]
            )
            del children[siblings[best]]
            chosen -= siblings[best] < chosen
    return children


def _as_nodes(
    root: _Child, attributes: Mapping[str, Attribute], stated: Callable[[_Child], dict[str, Any]]
) -> tuple[Node, ...]:
    """A settled tree as nodes, level by level; `stated` says what a node has besides its test."""
    nodes: list[Node] = []
    waiting = deque([root])
    while waiting:
        child = waiting.popleft()
        branches: list[Branch] = []
        if child.subtree is not None:
            assert child.attribute is not None
            attribute, first = attributes[child.attribute], len(nodes) + 1 + len(waiting)
            branches = [_one_branch(each.branches, attribute, first + i) for i, each in enumerate(child.subtree)]
            waiting.extend(child.subtree)
        nodes.append(Node(child.attribute, tuple(branches), **stated(child)))
    return tuple(nodes)


def _one_branch(parts: list[Branch], attribute: Attribute, node: int) -> Branch:
    """Branches that lead to the same child as one: a set of values, or of intervals."""
    if len(parts) == 1:
        return Branch(node, parts[0].values, parts[0].intervals, parts[0].missing, parts[0].label)
    values = {value for part in parts for value in part.values}
    listed = tuple(value for value in attribute.values if value in values)
    return Branch(
        node,
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
