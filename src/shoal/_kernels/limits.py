# SPDX-License-Identifier: Apache-2.0
"""Which splits leave some span with a part of fewer than k people, from what is kept of every span."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def cut_limits(counts, n_known, least, out):
    """out[s, side]: the cuts of span s that one part of it is too small for, as two ranges (first, end, first, end).

    With codes at most the cut below: first the cuts with some but too few people below, then with too few above. A code
    after n_known is missing, and goes up (side 0) or down (side 1).
    """
    for s in range(counts.shape[0]):
        people = counts[s].sum()
        for side in range(out.shape[1]):
            low = counts[s, n_known] if side == 1 else 0
            out[s, side, :] = n_known - 1
            for cut in range(n_known - 1):
                low += counts[s, cut]
                if low > 0 and out[s, side, 0] > cut:
                    out[s, side, 0] = cut
                if low >= least and out[s, side, 1] > cut:
                    out[s, side, 1] = cut
                if people - low < least and out[s, side, 2] > cut:
                    out[s, side, 2] = cut
                if people == low and out[s, side, 3] > cut:
                    out[s, side, 3] = cut


@njit(cache=True, nogil=True)
def blocked_cuts(limits, first, spans, out):
    """out[cell, cut, side]: whether a cut is blocked by one of the cell's spans, spans[first[cell]:first[cell + 1]]."""
    n_cuts, sides = out.shape[1], out.shape[2]
    change = np.empty(n_cuts + 1, dtype=np.int64)
    for cell in range(out.shape[0]):
        for side in range(sides):
            change[:] = 0
            for i in range(first[cell], first[cell + 1]):
                for end in range(4):
                    change[limits[spans[i], side, end]] += 1 if end % 2 == 0 else -1
            blocking = np.int64(0)
            for cut in range(n_cuts):
                blocking += change[cut]
                out[cell, cut, side] = blocking > 0


@njit(cache=True, nogil=True)
def blocked_halves(counts, order, cell_of, first, spans, least, out):
    """out[node, cut]: whether cutting the codes in the node's own order is blocked by a span of the node's cell."""
    n_codes = order.shape[1]
    for node in range(len(order)):
        out[node, :] = False
        cell = cell_of[node]
        for i in range(first[cell], first[cell + 1]):
            span = spans[i]
            people = np.int64(0)
            for code in range(n_codes):
                people += counts[span, code]
            low = np.int64(0)
            for cut in range(n_codes - 1):
                low += counts[span, order[node, cut]]
                if 0 < low < least or 0 < people - low < least:
                    out[node, cut] = True
