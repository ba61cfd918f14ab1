# SPDX-License-Identifier: Apache-2.0
"""How columns become the numbers between which distances are taken, stated so that anybody can redo it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column, Table
from shoal.errors import DataError
from shoal.release.domain import Attribute, plain

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """How one column is encoded.

    A numeric column is one feature, (number - centre) / scale. A categorical column has a feature for each value:
    1 / scale for the value that a row has and 0 for the others.
    """

    centre: float = 0.0
    scale: float = 1.0

    def to_json(self, attribute: Attribute) -> dict[str, Any]:
        """The scale of a column as plain JSON."""
        if attribute.type == "categorical":
            return {"scale": plain(self.scale)}
        return {"centre": plain(self.centre), "scale": plain(self.scale)}


class Encoding:
    """The features of some columns, in order: one a numeric column, one a value of a categorical column.

    Parameters
    ----------
    attributes
        The columns.
    scales
        The scale of each, by name.
    """

    def __init__(self, attributes: Sequence[Attribute], scales: Mapping[str, Scale]) -> None:
        self.attributes = tuple(attributes)
        self.scales = dict(scales)
        widths = [1 if each.type == "numeric" else len(each.values) for each in self.attributes]
        self.starts = np.cumsum([0, *widths])
        self.centres = np.repeat([self.scales[each.name].centre for each in self.attributes], widths)
        self.factors = np.repeat([1 / self.scales[each.name].scale for each in self.attributes], widths)

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return int(self.starts[-1])

    def own(self, number: int) -> slice:
        """Where the features of the attribute of some number are."""
        return slice(int(self.starts[number]), int(self.starts[number + 1]))

    def plain_numbers(self, number: int, column: Column) -> Floats:
        """For each entry of a column's dictionary, and last for missing, its features before they are scaled.

        Numbers beyond the stated bounds count as the bound. NaN stands for what cannot be encoded.
        """
        attribute = self.attributes[number]
        if attribute.type == "numeric":
            assert attribute.bounds is not None
            return np.append(np.clip(column.numbers, *attribute.bounds), np.nan)[:, None]
        place = {value: i for i, value in enumerate(attribute.values)}
        known = np.array([*(place.get(value, -1) for value in column.names), -1])
        return np.where((known < 0)[:, None], np.nan, known[:, None] == np.arange(len(place)))

    def numbers(self, number: int, column: Column) -> Floats:
        """For each entry of a column's dictionary, and last for missing, its features."""
        return self.scaled(self.plain_numbers(number, column), self.own(number))

    def scaled(self, numbers: Floats, features: slice = slice(None)) -> Floats:
        """Means or shares as features."""
        return np.asarray((numbers - self.centres[features]) * self.factors[features])

    def points(self, table: Table) -> Floats:
        """The features of every row."""
        points = np.empty((table.n_rows, self.n_features))
        for number, attribute in enumerate(self.attributes):
            column = table[attribute.name]
            points[:, self.own(number)] = self.numbers(number, column)[column.codes]
        refused = np.isnan(points)
        if refused.any():
            at = [each.name for n, each in enumerate(self.attributes) if refused[:, self.own(n)].any()]
            raise DataError(
                "cannot-encode",
                f"{int(refused.any(axis=1).sum())} row(s) cannot be placed: missing (NaN), or a value that the release "
                f"does not know, in column(s) {', '.join(map(repr, at))}. Fill them in, or leave these rows out.",
            )
        return points
