# SPDX-License-Identifier: Apache-2.0
"""What experiments are made of: units, points, recipes that measure and checks that judge."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, Protocol, TypeVar

from shoal.errors import DataError, closest
from shoal.papers.data import Data

Verdict = Literal["holds", "does not hold", "depends", "not measured"]
X = float | str
Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Unit:
    """A piece of work that depends on nothing but what it says.

    Attributes
    ----------
    options
        What is to be measured: plain values that JSON can write. Seeds are among them.
    data
        The tables it reads, as the manifest names them.
    weight
        About how many seconds it takes on one core, for the order and the remaining time. No part of what it is.
    """

    options: Mapping[str, Any]
    data: tuple[str, ...]
    weight: float = field(default=1.0, compare=False)


@dataclass(frozen=True)
class Measured:
    """A unit's options, what was measured (plain values), and the CPU seconds it took."""

    options: Mapping[str, Any]
    result: Any
    seconds: float


@dataclass(frozen=True)
class Point:
    """A number of a table or figure: in which panel, of which series, where on the axis."""

    series: str
    x: X
    value: float
    panel: str = ""


class Recipe(Protocol):
    """How an experiment is measured. A class with these, entered with `@recipe("name")`.

    Attributes
    ----------
    sources
        Modules of Shoal, by name, whose code `measure` stands on: when one of them changes, what was measured counts no
        more. The code of `measure` itself always is one of these.
    """

    sources: Sequence[str]

    def units(self, parameters: Parameters) -> Iterable[Unit]:
        """What is to be measured."""

    def measure(self, options: Parameters, data: Data) -> Any:
        """Measure one unit; runs in a process of its own. Plain values that JSON can write."""

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterable[Point]:
        """The numbers of the table or figure, from everything that `units` asked for, in its order."""


@dataclass(frozen=True)
class Outcome:
    """What a check found, and one sentence with the numbers."""

    verdict: Verdict
    sentence: str


def holds(sentence: str) -> Outcome:
    """The claim holds."""
    return Outcome("holds", sentence)


def fails(sentence: str) -> Outcome:
    """The claim does not hold."""
    return Outcome("does not hold", sentence)


def depends(sentence: str) -> Outcome:
    """The claim holds for a part of it only; the sentence says for which."""
    return Outcome("depends", sentence)


def unmeasured() -> Outcome:
    """Nothing that the claim is about was measured, as in a quick run."""
    return Outcome("not measured", "Nothing of it was measured.")


class Points(Sequence[Point]):
    """The points of an experiment, ours and published, as checks ask for them.

    >>> found = Points([Point("ID3", 10, 17.5), Point("ID3", 25, 17.9), Point("TDS", 10, 18.0)])
    >>> found.of("ID3")
    {10: 17.5, 25: 17.9}
    >>> found.series()
    ['ID3', 'TDS']
    """

    def __init__(self, points: Iterable[Point], published: Sequence[Any] = ()) -> None:
        self._points = tuple(points)
        self.published = tuple(published)  # `experiment.Published`

    def __getitem__(self, index: Any) -> Any:
        return self._points[index]

    def __len__(self) -> int:
        return len(self._points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self._points)

    def of(self, series: str, panel: str = "") -> dict[X, float]:
        """The values of one series by their place on the axis."""
        return {each.x: each.value for each in self._points if (each.series, each.panel) == (series, panel)}

    def series(self, panel: str | None = None) -> list[str]:
        """The names of the series, of one panel or of all."""
        return list(dict.fromkeys(each.series for each in self._points if panel in (None, each.panel)))

    def panels(self) -> list[str]:
        """The names of the panels."""
        return list(dict.fromkeys(each.panel for each in self._points))


Check = Callable[..., Outcome]
RECIPES: dict[str, Recipe] = {}
CHECKS: dict[str, Check] = {}
Kind = TypeVar("Kind", bound=type)
Function = TypeVar("Function", bound=Check)


def recipe(name: str) -> Callable[[Kind], Kind]:
    """Enter a class of recipes under a name."""

    def enter(kind: Kind) -> Kind:
        RECIPES[name] = kind()
        return kind

    return enter


def check(name: str) -> Callable[[Function], Function]:
    """Enter a check under a name: a function of `Points` and of what the claim says."""

    def enter(function: Function) -> Function:
        CHECKS[name] = function
        return function

    return enter


def get_recipe(name: str) -> Recipe:
    """The recipe of a name."""
    _find_all()
    return _known(RECIPES, name, "recipe")


def get_check(name: str) -> Check:
    """The check of a name."""
    _find_all()
    return _known(CHECKS, name, "check")


Found = TypeVar("Found")


def _known(entered: Mapping[str, Found], name: str, what: str) -> Found:
    if name not in entered:
        raise DataError("unknown-option", f"There is no {what} {name!r}.{closest(name, entered)}")
    return entered[name]


@cache
def _find_all() -> None:
    """Import every module of recipes and claims, so that they enter themselves."""
    for package in ("shoal.papers.recipes", "shoal.papers.claims"):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
            importlib.import_module(f"{package}.{module.name}")
