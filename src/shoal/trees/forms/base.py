# SPDX-License-Identifier: Apache-2.0
"""What every form answers."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.trees.score import Order
from shoal.trees.split import Split
from shoal.trees.veto import Veto

Counts = NDArray[np.int64]
RARE = 5  # a value that fewer people of a node have is not looked at by itself


class Form(Protocol):
    """How a feature may split (see the module)."""

    def order(self, counts: Counts) -> Order | None:
        """What a form settles from a node's own counts, if anything: how its values stand or merge (a row a node)."""
        ...

    def gains(self, counts: Counts, order: Order | None) -> Counts:
        """The gain of every position (nodes × positions)."""
        ...

    def kept(self, counts: Counts, order: Order | None, veto: Veto, by: int | None) -> NDArray[np.bool_]:
        """Which positions keep the requirement (sets × positions); `order` may be one for all sets."""
        ...

    def choose(self, gains: Counts, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The position to take among those that are kept (one a node)."""
        ...

    def ranked(self, gains: Counts) -> NDArray[np.intp]:
        """The positions of each node in the order in which `choose` would take them (nodes × positions)."""
        ...

    def sizes(self, counts: Counts, positions: NDArray[np.intp], order: Order | None) -> Counts:
        """People in each part of one position a node, as the gain ratio asks for them (nodes × parts)."""
        ...

    def best(self, counts: Counts, order: Order | None, veto: Veto) -> tuple[Counts, Counts]:
        """For nodes that are spans: each one's best position that keeps the requirement, its gain (0: none) and which.

        The same as `gains`, `kept` and `choose` one after the other.
        """
        ...

    def split(self, f: int, position: int, order: Order | None) -> Split:
        """A position of one node as a split."""
        ...

    def branches(self, positions: NDArray[np.intp], order: Order | None) -> NDArray[np.int32]:
        """The branch of each code, for one position a node (nodes × codes)."""
        ...


def best_of_all(form: Form, counts: Counts, order: Order | None, veto: Veto) -> tuple[Counts, Counts]:
    """`Form.best` for any form: look at all positions, then at what is kept."""
    gains = form.gains(counts, order)
    kept = np.ones(gains.shape, dtype=bool)
    for by in veto.questions:
        kept &= form.kept(veto.asked(counts, by), order, veto, by)
    top = form.choose(gains, kept)
    nodes = np.arange(len(gains))
    return np.where(kept[nodes, top], gains[nodes, top], 0), top
