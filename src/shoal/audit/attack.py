# SPDX-License-Identifier: Apache-2.0
"""The linking attack: what somebody with a table of public values makes of a release (VLDB'08 Def. 6)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components, maximum_flow

from shoal.audit.groups import group_people
from shoal.audit.recount import fit_target, public_names
from shoal.audit.spans import TreeSpans
from shoal.data.frames import Backend, from_columns
from shoal.data.target import as_categorical
from shoal.errors import DataError
from shoal.release import TreeRelease
from shoal.release.statement import states_less

ROUNDS = 500
CLOSE = 1e-9
ANYTHING = "anything"  # what a tree says of an attribute it does not ask for
Shares = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Attack:
    """What an attacker believes of each person after linking public values to a release.

    Attributes
    ----------
    group_of_person, group_sizes
        Each person's group, and how many people share it.
    beliefs
        For each group the probability of each value of the target: the most even one that agrees with the published
        counts and the sizes of all groups. Exact where groups share no leaf.
    certain
        For each group whether the published counts leave only one value of the target to its people.
    conditions
        For each private attribute that the tree asks for, and each group, what the tree says of it and how likely:
        pairs (condition, probability), likeliest first.
    exact
        Whether groups share no leaf, so that beliefs are shares and not estimates.
    """

    target: str
    classes: tuple[str, ...]
    target_is_public: bool
    group_of_person: NDArray[np.int64]
    group_sizes: NDArray[np.int64]
    beliefs: Shares
    certain: NDArray[np.bool_]
    conditions: dict[str, list[list[tuple[str, float]]]]
    exact: bool

    @property
    def confidence(self) -> Shares:
        """For each person the attacker's confidence in his best guess of the target."""
        answer: Shares = self.beliefs.max(axis=1)[self.group_of_person]
        return answer

    def __repr__(self) -> str:
        return f"<Attack: {len(self.group_of_person)} people in {len(self.group_sizes)} groups>"

    def __str__(self) -> str:
        n, sizes = len(self.group_of_person), self.group_sizes
        lines = [
            f"{n:,} people linked to {len(sizes):,} group(s); smallest {int(sizes.min()):,}, "
            f"{int(sizes[sizes == 1].sum()):,} people alone"
        ]
        if self.target_is_public:
            lines.append(f"the target {self.target!r} is public: nothing to learn of it")
        else:
            sure = int(sizes[self.certain].sum())
            lines.append(f"{self.target}: certain for {sure:,} people ({sure / n:.1%})")
            for level in (0.95, 0.9, 0.8):
                believed = int((self.confidence >= level).sum())
                lines.append(f"  believed with at least {level:.0%} of {believed:,} people ({believed / n:.1%})")
        for name, per_group in self.conditions.items():
            told = [pairs[0][1] if pairs[0][0] != ANYTHING else 0.0 for pairs in per_group]
            top = np.array(told)[self.group_of_person]
            lines.append(f"{name}: believed with at least 90% of {int((top >= 0.9).sum()):,} people")
        if not self.exact:
            lines.append("groups share leaves: beliefs are the most even ones that fit the published counts")
        return "\n".join(lines)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """One row a person, in the order of the public table: group, its size, and what is believed."""
        columns: dict[str, Any] = {
            "group": self.group_of_person,
            "group_size": self.group_sizes[self.group_of_person],
        }
        if not self.target_is_public:
            guess = np.array(self.classes)[self.beliefs.argmax(axis=1)]
            columns[f"{self.target}: guess"] = guess[self.group_of_person].tolist()
            columns[f"{self.target}: confidence"] = self.confidence
            columns[f"{self.target}: certain"] = self.certain[self.group_of_person]
        for name, per_group in self.conditions.items():
            texts = np.array([pairs[0][0] for pairs in per_group])
            columns[f"{name}: guess"] = texts[self.group_of_person].tolist()
            columns[f"{name}: confidence"] = np.array([pairs[0][1] for pairs in per_group])[self.group_of_person]
        return from_columns(columns, backend)

    def to_json(self) -> dict[str, Any]:
        """The attack in numbers."""
        return {
            "people": len(self.group_of_person),
            "groups": len(self.group_sizes),
            "smallest_group": int(self.group_sizes.min()),
            "alone": int((self.group_sizes == 1).sum()),
            "target": self.target,
            "certain": None if self.target_is_public else int(self.group_sizes[self.certain].sum()),
            "highest_confidence": None if self.target_is_public else float(self.beliefs.max()),
            "exact": self.exact,
        }


def attack(release: Any, public_table: Any, *, public: Collection[str] | None = None) -> Attack:
    """Link the people of a public table to a release, as an attacker would.

    Parameters
    ----------
    release
        A release, or a fitted model that carries one. It must state counts: attack before stating less.
    public_table
        One row a person, with the public columns the release asks for; private columns are not looked at.
    public
        The columns the attacker knows, if other than the release says.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, attack, load_sample
    >>> people = load_sample().table.select(["age", "sex", "education", "diabetes"])
    >>> release = AnonymousTreeClassifier(privacy=1000).fit(people, "diabetes").release_
    >>> found = attack(release, people.drop(["diabetes"]))
    >>> int(found.group_sizes.min()) >= 1000, found.exact
    (True, True)
    """
    release = getattr(release, "release_", release)
    if not isinstance(release, TreeRelease):
        raise DataError(
            "not-a-release",
            f"attack needs the release of one tree, or a fitted model with one; got {type(release).__name__}. "
            "Try shoal.audit.linking.link.",
        )
    if release.statement != "counts":
        raise states_less(
            release, "Attack the release with counts that it was made from: whoever has less knows no more"
        )
    table = release.read(public_table)
    known = public_names(release, public, public_table)
    tree_spans = TreeSpans(release, known)
    spans = tree_spans.spans(table)
    target_is_public = release.target in known
    if target_is_public:
        target = fit_target(release, as_categorical(table[release.target]))
        groups = group_people(spans, target.codes, len(release.classes), target_is_public=True)
        class_of_group = target.codes[groups.example]
    else:
        groups = group_people(spans, None, len(release.classes), target_is_public=False)
        class_of_group = np.full(len(groups), -1)
    leaves = [tree_spans.leaves_of(int(person)) for person in groups.example]
    weights = _link(release, groups.people, leaves, class_of_group)
    beliefs, certain = _about_target(release, weights, class_of_group)
    return Attack(
        target=release.target,
        classes=release.classes,
        target_is_public=target_is_public,
        group_of_person=groups.of_row,
        group_sizes=groups.people,
        beliefs=beliefs,
        certain=certain,
        conditions={name: _about_private(release, weights, name) for name in tree_spans.private},
        exact=spans.disjoint,
    )


def _link(
    release: TreeRelease, sizes: NDArray[np.int64], leaves: list[list[int]], class_of_group: NDArray[Any]
) -> sparse.csr_array:
    """How likely each group's people are in each leaf (groups × nodes, rows sum to 1; 0 only where it cannot be).

    Fits group sizes and published counts to each other in turn (iterative proportional fitting), from all leaves that
    the counts leave possible equally likely. Where the target is public, each group is fitted to the people of its own
    class only.
    """
    rows = np.repeat(np.arange(len(leaves)), [len(each) for each in leaves])
    columns = np.concatenate([np.array(each) for each in leaves])
    whole = release.counts.sum(axis=1)
    own = np.where(class_of_group[rows] >= 0, release.counts[columns, class_of_group[rows]], whole[columns])
    # one bin is a leaf, or a leaf and a class
    _, first, bins = np.unique(
        columns + (class_of_group[rows] + 1) * len(release.nodes), return_index=True, return_inverse=True
    )
    counts = own[first]
    possible = possible_pairs(rows, bins.reshape(-1), sizes, counts)
    weight = _fit(rows, bins.reshape(-1), sizes, counts, possible.astype(np.float64))
    sums = np.bincount(rows, weight, minlength=len(leaves))
    # people whom no published count leaves room for (another table than the one learned from): all leaves equally
    n_leaves = np.bincount(rows)
    share = np.where(sums[rows] > 0, weight / np.where(sums > 0, sums, 1.0)[rows], 1.0 / n_leaves[rows])
    return sparse.csr_array((share, (rows, columns)), shape=(len(leaves), len(release.nodes)))


def _fit(
    rows: NDArray[Any], bins: NDArray[Any], sizes: NDArray[np.int64], counts: NDArray[np.int64], weight: Shares
) -> Shares:
    for _ in range(ROUNDS):
        before = weight
        sums = np.bincount(bins, weight, minlength=len(counts))
        weight = weight * np.divide(counts, sums, out=np.zeros(len(counts)), where=sums > 0)[bins]
        sums = np.bincount(rows, weight, minlength=len(sizes))
        weight = weight * np.divide(sizes, sums, out=np.zeros(len(sizes)), where=sums > 0)[rows]
        if np.abs(weight - before).max() <= CLOSE * max(1.0, float(sizes.max())):
            break
    return weight


def possible_pairs(
    groups: NDArray[Any], bins: NDArray[Any], sizes: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Of pairs of a group and a bin of its span: in which can somebody be, given all sizes and counts?

    A way to place everybody is a flow from groups to bins. A pair without flow can have some in another placing exactly
    if it lies on a cycle of what the flow leaves room for, so one maximum flow and its strong components decide all
    pairs. Where no placing agrees with the counts (other people than the release's), every pair of a bin with people
    stays possible.
    """
    n, m = len(sizes), len(counts)
    source, sink = n + m, n + m + 1
    starts = np.concatenate([np.full(n, source), groups, n + np.arange(m)])
    ends = np.concatenate([np.arange(n), n + bins, np.full(m, sink)])
    room = np.concatenate([sizes, np.minimum(sizes[groups], counts[bins]), counts])
    populated: NDArray[np.bool_] = counts[bins] > 0
    if int(sizes.sum()) != int(counts.sum()) or room.sum() >= 2**31:
        return populated
    graph = sparse.csr_array((room.astype(np.int32), (starts, ends)), shape=(n + m + 2, n + m + 2))
    found = maximum_flow(graph, source, sink)
    if found.flow_value != int(sizes.sum()):
        return populated
    flow = np.asarray(found.flow[groups, n + bins]).reshape(-1)
    # residual arcs between groups and bins: any pair may take more, and one with flow may give some back
    back = flow > 0
    arcs = (np.concatenate([groups, (n + bins)[back]]), np.concatenate([n + bins, groups[back]]))
    residual = sparse.csr_array((np.ones(len(arcs[0]), dtype=np.int8), arcs), shape=(n + m, n + m))
    _, part = connected_components(residual, connection="strong")
    together: NDArray[np.bool_] = part[groups] == part[n + bins]
    return back | together


def _about_target(
    release: TreeRelease, weights: sparse.csr_array, class_of_group: NDArray[Any]
) -> tuple[Shares, NDArray[np.bool_]]:
    """The probability of each class for each group, and whether only one is possible."""
    counts = release.counts
    people = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, people, out=np.full(counts.shape, 1.0 / counts.shape[1]), where=people > 0)
    beliefs = np.asarray(weights @ shares)
    reachable = (weights != 0).astype(np.int64)
    possible = np.asarray(reachable @ (counts > 0).astype(np.int64)) > 0
    known = class_of_group >= 0
    beliefs[known] = np.eye(counts.shape[1])[class_of_group[known]]
    return beliefs, (possible.sum(axis=1) == 1) | known


def _about_private(release: TreeRelease, weights: sparse.csr_array, name: str) -> list[list[tuple[str, float]]]:
    """What the tree says of a private attribute where each group's people may be."""
    said = []
    for leaf in release.leaves:
        tests = [branch.condition() for attribute, branch in release.path(leaf) if attribute == name]
        said.append(" and ".join(tests) or ANYTHING)
    texts = sorted(set(said))
    position = {text: i for i, text in enumerate(texts)}
    of_leaf = sparse.csr_array(
        (np.ones(len(said)), (np.array(release.leaves), np.array([position[text] for text in said]))),
        shape=(len(release.nodes), len(texts)),
    )
    table = (weights @ of_leaf).toarray()
    answer = []
    for row in table:
        order = np.argsort(-row, kind="stable")
        answer.append([(texts[i], float(row[i])) for i in order if row[i] > 0])
    return answer
