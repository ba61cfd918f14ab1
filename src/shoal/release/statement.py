# SPDX-License-Identifier: Apache-2.0
"""How much a released tree says of its leaves: counts, shares, or only the class it predicts (VLDB'08, Sect. 3).

The spans are the same whatever is said. A release that says less gives every node the class it predicts, because that
cannot be told from rounded shares; splits have no shares, because with those of the leaves below they would tell how
many people are in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError, ReleaseError
from shoal.release import checks
from shoal.release.node import Node
from shoal.release.verdict import carried

if TYPE_CHECKING:
    from shoal.release.tree import TreeRelease

Statement = Literal["counts", "shares", "majority"]
STATEMENTS: tuple[Statement, ...] = ("counts", "shares", "majority")  # each says less than the one before
PARTS = 1000  # shares are stated in thousandths
WORDS = {"shares": "shares of the classes", "majority": "predicted classes"}


def statement_of(nodes: Sequence[Node]) -> Statement:
    """What all leaves say alike; nodes that say different things are refused."""
    said: Statement = next((_said(node) for node in nodes if node.is_leaf), "counts")
    for number, node in enumerate(nodes):
        if node.is_leaf and _said(node) != said:
            checks.refuse(f"nodes[{number}]", f"states {_said(node)} but a leaf before it {said}: only one is allowed")
        if (node.answer is None) != (said == "counts"):
            checks.refuse(
                f"nodes[{number}]",
                "must not have predict where leaves have counts" if said == "counts" else "lacks 'predict'",
            )
    return said


def _said(node: Node) -> Statement:
    if node.counts is not None:
        return "counts"
    return "majority" if node.shares is None else "shares"


def in_thousandths(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The shares of classes (rows of counts) in whole thousandths that add up to 1000.

    The largest remainders are rounded up, so each is less than a thousandth from the truth, and a class without people
    has none.

    >>> in_thousandths(np.array([[1, 1, 1], [2402, 117, 0]])).tolist()
    [[334, 333, 333], [954, 46, 0]]
    """
    low, rest = np.divmod(PARTS * counts, counts.sum(axis=1, keepdims=True))
    rank = np.argsort(np.argsort(-rest, axis=1, kind="stable"), axis=1, kind="stable")
    thousandths: NDArray[np.int64] = low + (rank < PARTS - low.sum(axis=1, keepdims=True))
    return thousandths


def stating(release: TreeRelease, statement: Statement) -> TreeRelease:
    """The same tree, saying less of its leaves; it predicts the same, and a verdict goes along.

    Parameters
    ----------
    statement
        ``"shares"``: the share of each class, in thousandths, and no number of people. ``"majority"``: only the class
        that each node predicts. ``"counts"``, how many people of each class, is what a miner makes.

    Notes
    -----
    The groups and so the promise do not change. A leaf that nobody is in states what it answers with: the shares of
    the nearest node above that somebody is in.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> release = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes").release_
    >>> print(release.stating("shares"))
    diabetes: 2 leaves, shares of the classes; claimed: every group has at least 1500 people
    age at most 47.5: no 95.4%, yes 4.6%
    age above 47.5: no 63.8%, yes 36.2%
    """
    if statement not in STATEMENTS:
        raise DataError(
            "unknown-option", f"stating: statement must be 'counts', 'shares' or 'majority'; got {statement!r}."
        )
    if statement == release.statement:
        return release
    if STATEMENTS.index(statement) < STATEMENTS.index(release.statement):
        raise states_less(release, f"No {statement} can be made from these; take the release they were made from")
    shares = in_thousandths(release.believed) / PARTS if statement == "shares" else None
    nodes = tuple(
        replace(
            node,
            counts=None,
            shares=None if shares is None or not node.is_leaf else tuple(shares[number].tolist()),
            answer=answer,
        )
        for number, (node, answer) in enumerate(zip(release.nodes, release.answers.tolist(), strict=True))
    )
    less = replace(release, nodes=nodes, people=None, marginals={}, verdict=None)  # those count people, too
    return replace(less, verdict=carried(release.verdict, release.sha256, less.sha256))


def states_less(release: TreeRelease, what: str) -> ReleaseError:
    """The refusal of what needs numbers of people."""
    said = WORDS[release.statement]
    return ReleaseError("states-less", f"This release states only {said}, and no numbers of people. {what}.")
