# SPDX-License-Identifier: Apache-2.0
"""From columns with a settled domain to the features a grower may split on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from shoal.data.discretize import quantile_cuts, round_cuts
from shoal.data.hierarchy import Hierarchy, Levels
from shoal.data.table import Codes, Column, smallest_dtype
from shoal.engines import Feature

MAX_CODES = 1024


def make_feature(
    column: Column, *, public: bool, hierarchies: Mapping[str, Hierarchy], max_codes: int = MAX_CODES
) -> tuple[Feature, Codes]:
    """The feature of a column and the codes it counts.

    A categorical column splits into its values, and into the groups of its hierarchy; a numeric one with a hierarchy
    into its intervals, and without one at round cuts between neighbouring numbers; with more than `max_codes` distinct
    numbers, between quantiles.
    """
    hierarchy = hierarchies.get(column.name)
    if column.kind == "categorical":
        levels = hierarchy.bind(column) if hierarchy is not None else _exact(column)
        return Feature(column.name, public, column.n_codes, column.missing, levels=levels), column.codes
    if hierarchy is not None:
        levels = _coarsen(hierarchy.bind(column), missing=column.missing)
        codes = _recode(column, levels_cuts(levels)[0])
        return Feature(column.name, public, len(levels.labels[0]), column.missing, levels=levels), codes
    counts = column.counts()[: len(column.numbers)]
    present = column.numbers[counts > 0]
    many = len(present) > max_codes
    cuts = quantile_cuts(column.numbers, counts, max_codes) if many else round_cuts(present)
    n_codes = len(cuts) + 1 + column.missing
    feature = Feature(column.name, public, n_codes, column.missing, cuts=cuts, quantiles=many)
    return feature, _recode(column, cuts)


def levels_cuts(levels: Levels) -> tuple[NDArray[np.float64], ...]:
    """The cut points of a numeric hierarchy's levels."""
    assert levels.cuts is not None
    return levels.cuts


def _exact(column: Column) -> Levels:
    labels = (*column.names, *(["(missing)"] if column.missing else []))
    return Levels((np.arange(column.n_codes, dtype=np.int32),), (labels,))


def _recode(column: Column, cuts: NDArray[np.float64]) -> Codes:
    """Codes of a numeric column by the interval between cuts; missing stays last."""
    code_of = np.append(np.searchsorted(cuts, column.numbers, side="left"), len(cuts) + 1)
    return code_of.astype(smallest_dtype(len(cuts) + 2))[column.codes]


def _coarsen(levels: Levels, *, missing: bool) -> Levels:
    """The same levels over the finest intervals instead of over single numbers."""
    cuts = levels_cuts(levels)
    upper = np.append(cuts[0], np.inf)
    maps = []
    for level in cuts:
        group_of = np.searchsorted(level, upper, side="left")
        maps.append(np.append(group_of, [len(level) + 1] * missing).astype(np.int32))
    return Levels(tuple(maps), levels.labels, cuts)
