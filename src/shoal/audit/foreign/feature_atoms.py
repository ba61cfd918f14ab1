# SPDX-License-Identifier: Apache-2.0
"""The finest pieces of a column that the tests of a grove tell apart, found through the model's own features.

Of a categorical column each value is a piece. Of a numeric one a piece is an interval, from above one cut to at most
the next; cuts are where a test changes its mind, to the last bit of a float. Missing, where it can be, comes last.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from shoal.audit.foreign.features import Feature, Numbers, compared, largest_at_most, numbers_column
from shoal.data.table import Column
from shoal.errors import DataError
from shoal.release import Attribute


class FeatureAtoms:
    """The atoms of one column.

    Parameters
    ----------
    attribute
        The column with its stated domain.
    features
        All features that the model makes of the column, by number.
    bounds
        For each tested feature the numbers that its tests compare with, ascending.
    single
        Whether the model rounds to float32 before it compares.

    Attributes
    ----------
    n_known, n
        How many atoms there are without missing, and with it.
    numbers
        For each tested feature its number in every atom, as it is compared; NaN is missing.
    possible
        Which atoms hold a value of the domain that the model takes.
    cuts
        Of a numeric column: where its atoms end, ascending; the last one ends at the upper bound.
    """

    def __init__(
        self, attribute: Attribute, features: Mapping[int, Feature], bounds: Mapping[int, Numbers], single: bool
    ) -> None:
        self.attribute = attribute
        if attribute.type == "categorical":
            self.cuts = np.empty(0)
            values = Column(
                attribute.name, "categorical", np.empty(0, dtype=np.uint8), attribute.values, labels=attribute.labels
            )
            self.n_known = len(attribute.values)
            inside = np.ones(self.n_known, dtype=bool)
        else:
            assert attribute.bounds is not None
            self.cuts = _cuts(features, bounds, *attribute.bounds, single)
            # a test is the same for all numbers of an atom, so its upper end stands for it
            ends = np.append(self.cuts, attribute.bounds[1])
            values = numbers_column(attribute.name, ends)
            self.n_known = len(ends)
            inside = self._holds_a_value(ends)
        self.n = self.n_known + attribute.missing
        found = {number: feature.numbers(values)[: self.n] for number, feature in features.items()}
        refused = np.any([np.isinf(numbers) for numbers in found.values()], axis=0)
        self.possible: NDArray[np.bool_] = np.append(inside, np.ones(int(attribute.missing), dtype=bool)) & ~refused
        self.numbers = {number: compared(found[number], single) for number in bounds}

    def _holds_a_value(self, ends: Numbers) -> NDArray[np.bool_]:
        assert self.attribute.bounds is not None
        if not self.attribute.integer:
            return np.ones(len(ends), dtype=bool)
        low = self.attribute.bounds[0]
        return np.asarray((np.floor(ends) > np.append(-np.inf, ends[:-1])) & (np.floor(ends) >= low))

    def encode(self, column: Column) -> NDArray[np.int32]:
        """The atom of every row; a row whose value is outside the domain, or that the model refuses, is an error."""
        name, attribute = column.name, self.attribute
        if column.kind != attribute.type:
            raise DataError("column-kind", f"Column {name!r} is {column.kind} here but {attribute.type} in the model.")
        if column.kind == "categorical":
            position = {value: atom for atom, value in enumerate(attribute.values)}
            known = np.array([position.get(value, -1) for value in column.names], dtype=np.int32)
        else:
            assert attribute.bounds is not None
            low, high = attribute.bounds
            known = np.searchsorted(self.cuts, column.numbers, side="left").astype(np.int32)
            known[(column.numbers < low) | (column.numbers > high)] = -1
        atoms = np.append(known, self.n - 1 if attribute.missing else -1).astype(np.int32)[column.codes]
        outside = int((atoms < 0).sum())
        if outside:
            raise DataError("outside-domain", f"Column {name!r} has {outside} row(s) outside its declared domain.")
        refused = int((~self.possible[atoms]).sum())
        if refused:
            raise DataError(
                "model-refuses",
                f"The model refuses the value of column {name!r} in {refused} row(s), so it was not trained on them.",
            )
        return atoms


def _cuts(
    features: Mapping[int, Feature], bounds: Mapping[int, Numbers], low: float, high: float, single: bool
) -> Numbers:
    """Where some test of a numeric column changes its mind, or a feature is about to turn."""
    found = [np.empty(0)]
    ends: dict[bytes, Column] = {}  # features with the same breaks are asked with one column, which they remember
    for number, feature in features.items():
        breaks = feature.breaks[(feature.breaks >= low) & (feature.breaks < high)]
        found.append(breaks)
        asked = bounds.get(number, np.empty(0))
        if not len(asked):
            continue
        first = np.concatenate([[low], np.nextafter(breaks, np.inf)])
        last = np.concatenate([breaks, [high]])
        # of the bounds only those between the two ends of a piece are crossed in it
        both = ends.setdefault(breaks.tobytes(), numbers_column(feature.column, np.concatenate([first, last])))
        begin, end = np.searchsorted(asked, compared(feature.numbers(both)[:-1], single), side="left").reshape(2, -1)
        n = np.maximum(end - begin, 0)
        piece = np.repeat(np.arange(len(n)), n)
        which = begin[piece] + np.arange(len(piece)) - np.repeat(np.cumsum(n) - n, n)
        if len(piece):
            found.append(largest_at_most(feature, asked[which], first[piece], last[piece], single))
    cuts = np.unique(np.concatenate(found))
    return cuts[(cuts >= low) & (cuts < high)]
