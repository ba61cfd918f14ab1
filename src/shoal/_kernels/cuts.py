# SPDX-License-Identifier: Apache-2.0
"""What every single cut would do to groups of rows, all cuts in one pass."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def weigh_cuts(order, starts, cells, low, high, first_cut, counts, least_cost, by_class, k, lost, whole, out):
    """Add to out[c] what cut c would do to the groups: to their cost, to the bound, to the rows left out; is it of use?

    Group e is the pieces order[starts[e] : starts[e + 1]]; in column j it holds the cells from low[e, j] to before
    high[e, j], and first_cut[j] + i is the cut between cells i and i + 1. counts[p] are the rows of piece p. A group
    costs its squared size, or `by_class`, which counts are then by, its rows outside the largest class.
    A group of fewer than k rows is left out, at `lost` for each. least_cost[p] is the least that the rows of piece p
    can cost where they are not left out.

    A cut is of use if it parts a group into two that could both be kept. With `whole` (a group that is kept is kept
    whatever is merged into it) also one that parts a few rows that would be left out from others is of none, if that
    never pays: always in the cost of classes; in that of sizes if the rows left out and twice the others are together
    no more than `lost`, which is all rows. Then merging them costs no more than leaving them out.
    """
    n_values = counts.shape[1]
    widest = 1
    for e in range(len(low)):
        for j in range(low.shape[1]):
            widest = max(widest, high[e, j] - low[e, j])
    held = np.zeros((widest, n_values), dtype=np.int64)
    bound = np.zeros(widest, dtype=np.int64)
    total = np.zeros(n_values, dtype=np.int64)
    left = np.zeros(n_values, dtype=np.int64)
    for e in range(len(low)):
        total[:] = 0
        total_bound = 0
        for i in range(starts[e], starts[e + 1]):
            for v in range(n_values):
                total[v] += counts[order[i], v]
            total_bound += least_cost[order[i]]
        size = total.sum()
        if size < k:
            continue  # it is left out, and so are its parts
        own_cost = size - total.max() if by_class else size * size
        for j in range(low.shape[1]):
            first, width = low[e, j], high[e, j] - low[e, j]
            if width < 2:
                continue
            held[:width] = 0
            bound[:width] = 0
            for i in range(starts[e], starts[e + 1]):
                p = order[i]
                cell = cells[p, j] - first
                for v in range(n_values):
                    held[cell, v] += counts[p, v]
                bound[cell] += least_cost[p]
            left[:] = 0
            n_left, left_bound = 0, 0
            for cell in range(width - 1):
                most_left, most_right = 0, 0
                for v in range(n_values):
                    n_left += held[cell, v]
                    left[v] += held[cell, v]
                    most_left = max(most_left, left[v])
                    most_right = max(most_right, total[v] - left[v])
                left_bound += bound[cell]
                n_right = size - n_left
                if n_left == 0 or n_right == 0:
                    continue
                c = first_cut[j] + first + cell
                if n_left < k:
                    out[c, 0] += n_left * lost
                    out[c, 1] += n_left * lost - left_bound
                    out[c, 2] += n_left
                else:
                    out[c, 0] += n_left - most_left if by_class else n_left * n_left
                if n_right < k:
                    out[c, 0] += n_right * lost
                    out[c, 1] += n_right * lost - (total_bound - left_bound)
                    out[c, 2] += n_right
                else:
                    out[c, 0] += n_right - most_right if by_class else n_right * n_right
                out[c, 0] -= own_cost
                fewer, more = min(n_left, n_right), max(n_left, n_right)
                pays = not by_class and more >= k and fewer + 2 * more > lost
                if not whole or fewer >= k or pays:
                    out[c, 3] = 1
