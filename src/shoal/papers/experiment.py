# SPDX-License-Identifier: Apache-2.0
"""Experiments as their files declare them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from shoal.errors import DataError, closest
from shoal.papers.registry import Measured, Point, Points, Unit, X, get_check, get_recipe

# what `paper` may say: the paper in short, and as it is cited
PAPERS = {
    "vldb08": (
        "VLDB'08",
        "A. Friedman, R. Wolff, A. Schuster, Providing k-anonymity in data mining, VLDB J. 17 (2008)",
    ),
    "pkdd06": ("PKDD'06", "A. Friedman, A. Schuster, R. Wolff, k-Anonymous decision tree induction, PKDD 2006"),
    "tian12": (
        "Tian et al.",
        "H. Tian, W. Zhang, S. Xu, P. Sharkey, A knowledge model sharing based approach to privacy-preserving data "
        "mining, Transactions on Data Privacy 5 (2012)",
    ),
    "dmpd": (
        "DMPD",
        "N. Matatov, L. Rokach, O. Maimon, Privacy-preserving data mining: a feature set partitioning approach, "
        "Information Sciences 180 (2010)",
    ),
    "beyond": ("Beyond", "Beyond the papers: their methods beside what one would take today"),
}
Side = Literal["both", "below", "above"]


@dataclass(frozen=True)
class Published:
    """A number that a paper prints, with its place, and how far ours may be from it.

    Without a tolerance it is only shown beside ours: of another setting, or not precise.
    """

    series: str
    x: X
    value: float
    place: str
    tolerance: float | None = None
    panel: str = ""
    within: Side = "both"

    def agrees(self, ours: float) -> bool | None:
        """Whether our number is as near as the file allows; None where there is no tolerance.

        >>> Published("DMPD", 50, 83.0, "Table 1", 1.0, within="below").agrees(85.0)
        True
        """
        if self.tolerance is None:
            return None
        over = ours - self.value
        slack = self.tolerance + 1e-9
        return (over >= -slack or self.within == "above") and (over <= slack or self.within == "below")


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper in our own words, and the check of it.

    Attributes
    ----------
    says, place
        The claim, and where the paper makes it.
    check, options
        The name of the check, and what it is told.
    otherwise
        What explains it where it does not hold here.
    """

    says: str
    place: str
    check: str
    options: Mapping[str, Any]
    otherwise: str = ""


@dataclass(frozen=True)
class Plot:
    """How the points are shown.

    Attributes
    ----------
    x, y
        Words for the axes.
    log
        Whether x is on a logarithmic scale.
    decimals
        Of numbers in tables.
    table
        Tables only, no picture.
    undrawn
        Panels that are told in tables only.
    """

    x: str
    y: str
    log: bool = False
    decimals: int = 2
    table: bool = False
    undrawn: tuple[str, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """A table or figure, as its file declares it; see `shoal.papers` for the format."""

    id: str
    paper: str
    place: str
    title: str
    claim: str
    data: tuple[str, ...]
    split: str
    seeds: str
    recipe: str
    parameters: Mapping[str, Any]
    plot: Plot
    quick: Mapping[str, Any] = field(default_factory=dict)
    published: tuple[Published, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()

    def asked(self, *, quick: bool) -> dict[str, Any]:
        """The parameters of a whole or a quick run."""
        return {**self.parameters, **self.quick} if quick else dict(self.parameters)

    def units(self, *, quick: bool) -> list[Unit]:
        """Everything that has to be measured."""
        return list(get_recipe(self.recipe).units(self.asked(quick=quick)))

    def points(self, measured: Sequence[Measured], *, quick: bool) -> Points:
        """The numbers that were measured, with the published ones beside."""
        found = get_recipe(self.recipe).points(self.asked(quick=quick), measured)
        return Points([Point(each.series, each.x, float(each.value), each.panel) for each in found], self.published)


def all_experiments() -> dict[str, Experiment]:
    """Every experiment by its id, paper by paper."""
    return dict(_all())


@cache
def _all() -> tuple[tuple[str, Experiment], ...]:
    found = []
    for file in files("shoal.papers").joinpath("experiments").iterdir():
        if file.name.endswith(".toml"):
            name = file.name.removesuffix(".toml")
            found.append(read_experiment(name, file.read_text(encoding="utf-8")))
    order = list(PAPERS)
    found.sort(key=lambda each: (order.index(each.paper), _natural(each.id)))
    return tuple((each.id, each) for each in found)


def get_experiments(ids: Iterable[str]) -> list[Experiment]:
    """The experiments of some ids."""
    known = all_experiments()
    for name in ids:
        if name not in known:
            raise DataError(
                "no-experiment", f"There is no experiment {name!r}.{closest(name, known)} See shoal papers list."
            )
    return [known[name] for name in dict.fromkeys(ids)]


def read_experiment(name: str, text: str) -> Experiment:
    """An experiment from the text of its file; anything missing or unknown in it is told.

    Raises
    ------
    DataError
        With the code ``bad-experiment``.
    """
    try:
        told = tomllib.loads(text)
        own = {
            **told,
            "data": tuple(told["data"]),
            "notes": tuple(told.get("notes", ())),
            "plot": Plot(**{**told["plot"], "undrawn": tuple(told["plot"].get("undrawn", ()))}),
            "published": tuple(each for entry in told.get("published", ()) for each in _published(entry)),
            "claims": tuple(map(_claim, told.get("claims", ()))),
        }
        experiment = Experiment(id=name, **own)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise DataError("bad-experiment", f"The experiment {name!r} cannot be read: {error}.") from None
    if experiment.paper not in PAPERS:
        raise DataError("bad-experiment", f"The experiment {name!r} is of no paper: {experiment.paper!r}.")
    strange = sorted(set(experiment.quick) - set(experiment.parameters))
    if strange:
        raise DataError("bad-experiment", f"The experiment {name!r} has quick parameters of no use: {strange}.")
    get_recipe(experiment.recipe)
    for claim in experiment.claims:
        get_check(claim.check)
    return experiment


def _published(entry: Mapping[str, Any]) -> list[Published]:
    xs, values = (entry[key] if isinstance(entry[key], list) else [entry[key]] for key in ("x", "value"))
    rest = {key: value for key, value in entry.items() if key not in ("x", "value")}
    return [Published(x=x, value=float(value), **rest) for x, value in zip(xs, values, strict=True)]


def _claim(entry: Mapping[str, Any]) -> Claim:
    own = {key: entry[key] for key in ("says", "place", "check")}
    options = {key: value for key, value in entry.items() if key not in (*own, "otherwise")}
    return Claim(**own, options=options, otherwise=entry.get("otherwise", ""))


def _natural(name: str) -> list[Any]:
    """Fig. 9 before Fig. 10.

    >>> _natural("tian12-fig9") < _natural("tian12-fig10")
    True
    """
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
