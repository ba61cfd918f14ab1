# SPDX-License-Identifier: Apache-2.0
"""Cut points on numeric columns: round ones, because an exact value in a release is somebody's value.

Everywhere a cut ``c`` puts ``x <= c`` below and ``x > c`` above, so intervals are ``(above, at_most]``.
"""

from shoal.data.discretize.cuts import grid_cuts, interval_labels, quantile_cuts, safe_bounds, within
from shoal.data.discretize.mdl import mdl_cuts
from shoal.data.discretize.rounding import Numbers, round_cuts, roundest, roundest_each

__all__ = [
    "Numbers",
    "grid_cuts",
    "interval_labels",
    "mdl_cuts",
    "quantile_cuts",
    "round_cuts",
    "roundest",
    "roundest_each",
    "safe_bounds",
    "within",
]
