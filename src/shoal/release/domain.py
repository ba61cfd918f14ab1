# SPDX-License-Identifier: Apache-2.0
"""What a release says of its columns, and the smallest pieces of a column that a model can tell apart."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column, Kind
from shoal.errors import DataError

if TYPE_CHECKING:
    from shoal.release.node import Branch

MISSING = "(missing)"


@dataclass(frozen=True)
class Attribute:
    """A column as a release states it: its role and its declared domain.

    The domain is what an attacker knows of the column before he sees the model: all values of a categorical column,
    the bounds of a numeric one (whole numbers only where `integer`), and whether a value can be missing.
    `quantiles` says that a miner sought thresholds of a numeric column at its quantiles, not between any two numbers.
    """

    name: str
    role: Literal["public", "private"]
    type: Kind
    values: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    integer: bool = False
    missing: bool = False
    quantiles: bool = False
    labels: Literal["string", "integer", "number", "boolean"] = "string"

    @classmethod
    def of(cls, column: Column, role: Literal["public", "private"]) -> Attribute:
        """The statement of a column whose domain is settled."""
        if column.kind == "categorical":
            return cls(
                column.name, role, "categorical", values=column.names, missing=column.missing, labels=column.labels
            )
        return cls(column.name, role, "numeric", bounds=column.bounds, integer=column.integer, missing=column.missing)

    @cached_property
    def value_set(self) -> frozenset[str]:
        """The values of a categorical column, to look one up."""
        return frozenset(self.values)

    @property
    def own_values(self) -> NDArray[Any]:
        """The values of a categorical column in the type they had."""
        convert: dict[str, Callable[[str], Any]] = {
            "string": str,
            "integer": int,
            "number": float,
            "boolean": lambda text: text == "True",
        }
        return np.array([convert[self.labels](value) for value in self.values])

    def to_json(self) -> dict[str, Any]:
        """The attribute as plain JSON; what is as usual is left out."""
        entry: dict[str, Any] = {"name": self.name, "role": self.role, "type": self.type}
        if self.type == "categorical":
            entry["values"] = list(self.values)
        else:
            assert self.bounds is not None
            entry["bounds"] = [plain(number) for number in self.bounds]
        if self.integer:
            entry["integer"] = True
        if self.missing:
            entry["missing"] = True
        if self.quantiles:
            entry["quantiles"] = True
        if self.labels != "string":
            entry["labels"] = self.labels
        return entry


@dataclass(frozen=True)
class Interval:
    """The numbers above `above` and at most `at_most`; None leaves an end open.

    >>> print(Interval(20.0, 30.0)), print(Interval(None, 5.0))
    above 20, at most 30
    at most 5
    (None, None)
    """

    above: float | None
    at_most: float | None

    def __str__(self) -> str:
        ends = [] if self.above is None else [f"above {plain(self.above)}"]
        if self.at_most is not None:
            ends.append(f"at most {plain(self.at_most)}")
        return ", ".join(ends) or "any number"


def plain(number: float) -> int | float:
    """A number as people write it: 40, not 40.0."""
    return int(number) if float(number).is_integer() and abs(number) < 2**53 else float(number)


MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.(\d+))?Z?)?")


def whole_moment(text: str) -> str:
    """A text; if it is a day or a moment, in one form for all that are the same.

    >>> whole_moment("2021-03-04") == whole_moment("2021-03-04T00:00:00.000Z")
    True
    >>> whole_moment("March")
    'March'
    """
    found = MOMENT.fullmatch(text)
    if found is None:
        return text
    day, time, fraction = found.groups()
    return f"{day}T{time or '00:00:00'}.{(fraction or '').rstrip('0')}"


class Atoms:
    """The finest pieces of an attribute that some tests tell apart: single values, or intervals between thresholds.

    Missing, where it is possible, is the last atom. Routing, spans and feasibility are all computed on atoms.

    Parameters
    ----------
    attribute
        The stated column.
    thresholds
        Every threshold the tests use, for a numeric attribute.
    """

    def __init__(self, attribute: Attribute, thresholds: NDArray[np.float64] | None = None) -> None:
        self.attribute = attribute
        empty = np.empty(0, dtype=np.float64)
        self.thresholds = empty if thresholds is None else np.unique(np.asarray(thresholds, dtype=np.float64))
        self._position = {value: i for i, value in enumerate(attribute.values)}
        # how a moment is written depends on the others of its table, which may all be days
        self._moment = {whole_moment(value): i for i, value in enumerate(attribute.values)}
        self._below = {float(threshold): i + 1 for i, threshold in enumerate(self.thresholds)}
        self.n_known = len(attribute.values) if attribute.type == "categorical" else len(self.thresholds) + 1
        self.n = self.n_known + attribute.missing

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Which atoms hold a value of the domain at all."""
        if self.attribute.type == "categorical":
            return np.ones(self.n, dtype=bool)
        assert self.attribute.bounds is not None
        low, high = self.attribute.bounds
        above = np.concatenate([[-math.inf], self.thresholds])
        at_most = np.concatenate([self.thresholds, [math.inf]])
        top = np.minimum(at_most, high)
        if self.attribute.integer:
            bottom = np.maximum(np.floor(above) + 1, math.ceil(low))
            possible = bottom <= np.floor(top)
        else:
            possible = (above < top) & (low <= top)
        return np.concatenate([possible, np.ones(int(self.attribute.missing), dtype=bool)])

    def of_values(self, values: tuple[str, ...]) -> NDArray[np.int64]:
        """The atoms of some categorical values."""
        return np.array([self._position[value] for value in values], dtype=np.int64)

    def of_interval(self, interval: Interval) -> slice:
        """The atoms of an interval whose ends are among the thresholds."""
        first = 0 if interval.above is None else self._below[interval.above]
        last = self.n_known if interval.at_most is None else self._below[interval.at_most]
        return slice(first, last)

    def of_branch(self, branch: Branch) -> NDArray[np.int64]:
        """The atoms that take a branch; one that is in two of its intervals comes twice."""
        parts = [self.of_values(branch.values)]
        spots = [self.of_interval(interval) for interval in branch.intervals]
        parts += [np.arange(spot.start, spot.stop) for spot in spots]
        if branch.missing:
            parts.append(np.array([self.n - 1]))
        return np.concatenate(parts)

    def encode(self, column: Column) -> NDArray[np.int32]:
        """The atom of every row; −1 where a category is not in the domain, or missing is not.

        A number outside the bounds has an atom all the same: `possible` tells whether it should be there.
        """
        if column.kind != self.attribute.type:
            raise DataError(
                "column-kind",
                f"Column {column.name!r} is {column.kind} here but {self.attribute.type} in the release. "
                f"Read it with kinds={{{column.name!r}: {self.attribute.type!r}}}.",
            )
        if column.kind == "categorical":
            known = [self._position.get(value, self._moment.get(whole_moment(value), -1)) for value in column.names]
            atom_of_code = np.array([*known, -1], dtype=np.int32)
        else:
            known_atoms = np.searchsorted(self.thresholds, column.numbers, side="left")
            atom_of_code = np.append(known_atoms, -1).astype(np.int32)
        if self.attribute.missing:
            atom_of_code[-1] = self.n - 1
        return atom_of_code[column.codes]
