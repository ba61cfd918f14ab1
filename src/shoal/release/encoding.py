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

    A numeric column is one feature, (number - centre) / scale. A categorical column has a feature for each value, and
    last for missing where it can be: 1 / scale for the one that a row has and 0 for the others.

    With `levels`, a categorical column has such features for the groups of each level too, and all of them are divided
    by the square root of the number of levels, the values themselves among them. So the squared distance of two values
    is 2 / scale² times the share of levels that tell them apart: it grows as the way between them in the hierarchy
    does. Missing is a group of its own at every level.

    Attributes
    ----------
    centre, scale
        As above; the centre of a categorical column is 0.
    levels
        For each level above the values the group of every value, in their order.
    """

    centre: float = 0.0
    scale: float = 1.0
    levels: tuple[tuple[str, ...], ...] = ()

    def to_json(self, attribute: Attribute) -> dict[str, Any]:
        """The scale of a column as plain JSON."""
        if attribute.type == "numeric":
            return {"centre": plain(self.centre), "scale": plain(self.scale)}
        levels = {"levels": [list(level) for level in self.levels]} if self.levels else {}
        return {"scale": plain(self.scale), **levels}

    def features(self, attribute: Attribute, values: NDArray[np.int64] | None = None) -> Floats:
        """The features of some values of a categorical column, by number; missing comes after all others.

        By default of every value, and last of missing where it can be.

        >>> jobs = Attribute("job", "public", "categorical", values=("cook", "dentist", "doctor"))
        >>> (Scale(levels=(("other", "health", "health"),)).features(jobs) * 2**0.5).round(12)
        array([[1., 0., 0., 1., 0.],
               [0., 1., 0., 0., 1.],
               [0., 0., 1., 0., 1.]])
        """
        groups = self.groups(attribute)
        values = np.arange(len(groups[0])) if values is None else values
        parts = [group[values][:, None] == np.arange(group.max() + 1) for group in groups]
        return np.asarray(np.concatenate(parts, axis=1) * self.factor)

    def groups(self, attribute: Attribute) -> list[NDArray[np.int64]]:
        """For each level, the values themselves first, the number of the group of every value and of missing."""
        found = [np.arange(len(attribute.values) + attribute.missing)]
        for level in self.levels:
            number: dict[str, int] = {}
            group = [number.setdefault(label, len(number)) for label in level] + [len(number)] * attribute.missing
            found.append(np.array(group, dtype=np.int64))
        return found

    @property
    def factor(self) -> float:
        """What a feature of a categorical column is where it is not 0."""
        return float(1 / (self.scale * np.sqrt(len(self.levels) + 1)))


class Encoding:
    """The features of some columns, in order.

    A point has features. What a centroid states are means of numbers and shares of values, with the share of missing
    last where a column can be missing; features follow from these.

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
        self._groups = [
            [np.zeros(1, dtype=np.int64)] if each.type == "numeric" else self.scales[each.name].groups(each)
            for each in self.attributes
        ]
        self._stated = np.cumsum([0, *(len(groups[0]) for groups in self._groups)])
        self._features = np.cumsum([0, *(sum(int(each.max()) + 1 for each in groups) for groups in self._groups)])

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return int(self._features[-1])

    @property
    def n_stated(self) -> int:
        """How many numbers a centroid states."""
        return int(self._stated[-1])

    def own(self, number: int) -> slice:
        """Where the features of the attribute of some number are."""
        return slice(int(self._features[number]), int(self._features[number + 1]))

    def stated(self, number: int) -> slice:
        """Where the mean, or the shares, of the attribute of some number are."""
        return slice(int(self._stated[number]), int(self._stated[number + 1]))

    def numbers(self, number: int, column: Column) -> Floats:
        """For each entry of a column's dictionary, and last for missing, its features.

        Numbers beyond the stated bounds count as the bound. NaN stands for what cannot be encoded.
        """
        attribute = self.attributes[number]
        if attribute.type == "numeric":
            assert attribute.bounds is not None
            return self._scaled_numbers(number, np.append(np.clip(column.numbers, *attribute.bounds), np.nan)[:, None])
        place = {value: i for i, value in enumerate(attribute.values)}
        missing = len(place) if attribute.missing else -1
        known = np.array([*(place.get(value, -1) for value in column.names), missing])
        return np.where((known < 0)[:, None], np.nan, self.scales[attribute.name].features(attribute, known))

    def scaled(self, means: Floats) -> Floats:
        """Means and shares as points."""
        points = np.empty((len(means), self.n_features))
        for number, attribute in enumerate(self.attributes):
            stated = means[:, self.stated(number)]
            if attribute.type == "numeric":
                points[:, self.own(number)] = self._scaled_numbers(number, stated)
                continue
            shares = []
            for group in self._groups[number]:  # the share of a group is that of its values together
                sums = np.zeros((len(means), int(group.max()) + 1))
                np.add.at(sums.T, group, stated.T)
                shares.append(sums)
            points[:, self.own(number)] = np.concatenate(shares, axis=1) * self.scales[attribute.name].factor
        return points

    def means(self, points: Floats) -> Floats:
        """The means and shares of points: what `scaled` makes points of."""
        means = np.empty((len(points), self.n_stated))
        for number, attribute in enumerate(self.attributes):
            scale, stated = self.scales[attribute.name], self.stated(number)
            first = self.own(number).start
            own = points[:, first : first + stated.stop - stated.start]  # the values come before their groups
            numeric = attribute.type == "numeric"
            means[:, stated] = own * scale.scale + scale.centre if numeric else own / scale.factor
        return means

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

    def _scaled_numbers(self, number: int, numbers: Floats) -> Floats:
        scale = self.scales[self.attributes[number].name]
        return np.asarray((numbers - scale.centre) * (1 / scale.scale))
