# SPDX-License-Identifier: Apache-2.0
"""Growing with private columns besides the target: public tests above, private tests below.

Where every public test stands above every private one, a person's span is all that lies below the last public test: the
people of that node are the group, whatever private tests follow. So public tests are decided as if there were no
private columns, and private tests are free. Had a private test come first, the public tests of its branches would split
the same people in several ways, and groups would be where these overlap.

How much public tests are worth shows only when the private ones are there. So a tree of private tests is grown in every
node of the public tree, from the bottom, and takes the place of the node's public subtree where that is not expected to
make fewer errors.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from shoal.engines import Engine
from shoal.privacy import KAnonymity
from shoal.release.parse import MAX_DEPTH
from shoal.trees.prune import SLACK, leaf_costs, prune
from shoal.trees.rounds import Rounds
from shoal.trees.score import Score
from shoal.trees.split import GrownNode
from shoal.trees.veto import Veto

# Of the expected errors below public tests, in pruning by cost. Private columns are few, so that there is less to find
# by chance, and their tests are free to go down to single values, where 0.1 takes away what pays.
CONFIDENCE = 0.15

Place = tuple[list[GrownNode], int]  # a node: the list it stands in, and where


class PublicFirst:
    """Grow and prune a tree in which no public test stands below a private one.

    Parameters
    ----------
    veto
        The requirement; its only sensitive column is the target.
    least_people
        People that any group has that keeps the requirement.
    pruning
        How expected errors are counted, and how the private trees are pruned (see `prune`).
    """

    def __init__(
        self,
        engine: Engine,
        score: Score,
        veto: Veto,
        *,
        least_people: int,
        pruning: Literal["cost"] | float,
        grouping: str | None = None,
        max_depth: int = MAX_DEPTH,
    ) -> None:
        self._engine = engine
        self._pruning = pruning
        public = [f for f, feature in enumerate(engine.features) if feature.public]
        private = [f for f, feature in enumerate(engine.features) if not feature.public]
        self._public = Rounds(
            engine, score, veto, least_people=least_people, grouping=grouping, max_depth=max_depth, features=public
        )
        anything = Veto(KAnonymity(1), [])
        self._private = Rounds(
            engine, score, anything, least_people=1, grouping=grouping, max_depth=max_depth, features=private
        )

    def grow(self) -> list[GrownNode]:
        """The whole tree, pruned."""
        public = prune(self._public.grow(), self._pruning)
        trees: dict[int, Place] = {}  # of the public nodes where private tests begin: their private trees
        errors = [0.0] * len(public)
        # from the bottom: the engine sorts a node's people anew, so its public subtree must have been looked at
        for depth in range(max(node.depth for node in public), -1, -1):
            here = [number for number, node in enumerate(public) if node.depth == depth]
            starts = [GrownNode(depth, public[number].counts, id=public[number].id) for number in here]
            grown = self._private.grow_from(starts)
            people = self._engine.n_people
            grown = prune(grown, self._pruning, roots=len(starts), n_people=people, confidence=CONFIDENCE)
            expected = _expected_errors(grown, leaf_costs(grown, self._pruning, confidence=CONFIDENCE)[:, 0].tolist())
            for root, number in enumerate(here):
                below = sum(errors[child] for child in public[number].children.values())
                if public[number].split is not None and below + SLACK < expected[root]:
                    errors[number] = below
                else:
                    errors[number], trees[number] = expected[root], (grown, root)
        return _joined(public, trees)


def _expected_errors(grown: list[GrownNode], as_leaf: list[float]) -> list[float]:
    """The errors that are expected below every node."""
    errors = list(as_leaf)
    for number in range(len(grown) - 1, -1, -1):
        if grown[number].split is not None:
            errors[number] = sum(errors[child] for child in grown[number].children.values())
    return errors


def _joined(public: list[GrownNode], trees: dict[int, Place]) -> list[GrownNode]:
    """One tree of the public nodes and the private trees that begin in some of them."""
    joined: list[GrownNode] = []
    waiting: deque[Place] = deque([trees.get(0, (public, 0))])
    while waiting:
        nodes, number = waiting.popleft()
        node = nodes[number]
        children = {}
        for branch, child in node.children.items():
            children[branch] = len(joined) + len(waiting) + 1
            waiting.append(trees.get(child, (nodes, child)) if nodes is public else (nodes, child))
        joined.append(GrownNode(node.depth, node.counts, node.split, children))
    return joined
