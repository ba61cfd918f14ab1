# SPDX-License-Identifier: Apache-2.0
"""The best that one feature has to offer to many open nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shoal.engines import Engine
from shoal.engines.base import Counts, Ids
from shoal.trees.forms import Form
from shoal.trees.score import Order, Score

CELLS_AT_ONCE = 1 << 17  # counts of one feature looked at in one piece: what a core's cache holds

# the counts and orders of some nodes, and which of all nodes they are -> each one's best gain and position
Best = Callable[[Counts, Order | None, slice], tuple[Counts, Counts]]


@dataclass(frozen=True)
class Offer:
    """The best of one feature for every open node: gains, positions, the values' order (where a form makes one) and the
    splits' own information (where it is asked for)."""

    gains: Counts
    positions: Counts
    order: Order | None
    information: Counts


def offer_of(engine: Engine, score: Score, ids: Ids, f: int, form: Form, best: Best) -> Offer:
    """Count nodes by a feature, some at a time, and take the best of each."""
    step = max(1, CELLS_AT_ONCE // (engine.features[f].n_codes * engine.n_classes))
    gains, positions, information = (np.zeros(len(ids), dtype=np.int64) for _ in range(3))
    orders = []
    for first in range(0, len(ids), step):
        piece = slice(first, min(first + step, len(ids)))
        counts = engine.node_counts(ids[piece], f)
        order = form.order(counts)
        if order is not None:
            orders.append(order)
        gains[piece], positions[piece] = best(counts, order, piece)
        if score.by_ratio:
            information[piece] = score.split_information(form.sizes(counts, positions[piece], order))
    return Offer(gains, positions, np.concatenate(orders) if orders else None, information)
