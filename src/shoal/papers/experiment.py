# SPDX-License-Identifier: Apache-2.0
"""Experiments as their files declare them."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from shoal.errors import DataError, ShoalError, closest
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
        try:
            return list(get_recipe(self.recipe).units(self.asked(quick=quick)))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                "bad-experiment",
                f"The recipe {self.recipe!r} has no use for the parameters of the experiment {self.id!r}: "
                f"{type(error).__name__}, {error}. See the recipe for what it reads.",
            ) from None

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
        return _read(name, text)
    except (tomllib.TOMLDecodeError, ValueError, ShoalError) as error:
        message = f"The experiment {name!r} cannot be read: {str(error).removesuffix('.')}."
        raise DataError("bad-experiment", message) from None


def _read(name: str, text: str) -> Experiment:
    told = tomllib.loads(text)
    _check(told, EXPERIMENT, "it")
    _check(told["plot"], PLOT, "[plot]")
    if told["paper"] not in PAPERS:
        raise ValueError(f"it is of no paper: {told['paper']!r}.{closest(told['paper'], PAPERS)}")
    strange = sorted(set(told.get("quick", {})) - set(told["parameters"]))
    if strange:
        raise ValueError(f"it has quick parameters of no use: {', '.join(strange)}")
    get_recipe(told["recipe"])
    return Experiment(
        id=name,
        **{
            **told,
            "data": tuple(told["data"]),
            "notes": tuple(told.get("notes", ())),
            "plot": Plot(**{**told["plot"], "undrawn": tuple(told["plot"].get("undrawn", ()))}),
            "published": tuple(each for entry in told.get("published", ()) for each in _published(entry)),
            "claims": tuple(map(_claim, told.get("claims", ()))),
        },
    )


WORDS = (list, str)  # a list of texts
NUMBER = (int, float)
# what may stand in a file and of which kind it is; what may be left out ends in a question mark
EXPERIMENT: Mapping[str, Any] = {
    **dict.fromkeys(("paper", "place", "title", "claim", "split", "seeds", "recipe"), str),
    **dict.fromkeys(("data", "notes?"), WORDS),
    **dict.fromkeys(("parameters", "quick?", "plot"), dict),
    **dict.fromkeys(("published?", "claims?"), (list, dict)),
}
PLOT: Mapping[str, Any] = {"x": str, "y": str, "log?": bool, "decimals?": int, "table?": bool, "undrawn?": WORDS}
PUBLISHED: Mapping[str, Any] = {
    **dict.fromkeys(("place", "series", "panel?", "within?"), str),
    "x": (*NUMBER, str, list),
    "value": (*NUMBER, list),
    "tolerance?": NUMBER,
}
CLAIM: Mapping[str, Any] = {"says": str, "place": str, "check": str, "otherwise?": str}


def _check(entry: Mapping[str, Any], kinds: Mapping[str, Any], where: str) -> None:
    """Refuse what is missing, not known or of another kind."""
    known = {name.removesuffix("?"): kind for name, kind in kinds.items()}
    for name in kinds:
        if not name.endswith("?") and name not in entry:
            raise ValueError(f"{where} lacks {name!r}")
    for name, value in entry.items():
        if name not in known:
            raise ValueError(f"{where} has {name!r}, which is not known.{closest(name, known)}")
        kind = known[name]
        of_list = kind in (WORDS, (list, dict))
        right = isinstance(value, list if of_list else kind) and isinstance(value, bool) == (kind is bool)
        if not right or (of_list and not all(isinstance(each, kind[1]) for each in value)):
            raise ValueError(f"{name!r} of {where} is of another kind than it must be")


def _published(entry: Mapping[str, Any]) -> list[Published]:
    _check(entry, PUBLISHED, "a [[published]]")
    if entry.get("within", "both") not in get_args(Side):
        raise ValueError(f"'within' of a [[published]] must be one of {', '.join(get_args(Side))}")
    xs, values = (entry[key] if isinstance(entry[key], list) else [entry[key]] for key in ("x", "value"))
    if len(xs) != len(values):
        raise ValueError(f"a [[published]] of {entry['series']!r} has {len(xs)} x and {len(values)} values")
    if not all(isinstance(x, (*NUMBER, str)) for x in xs) or not all(isinstance(each, NUMBER) for each in values):
        raise ValueError(f"a [[published]] of {entry['series']!r} has something else than numbers")
    rest = {key: value for key, value in entry.items() if key not in ("x", "value")}
    return [Published(x=x, value=float(value), **rest) for x, value in zip(xs, values, strict=True)]


def _claim(entry: Mapping[str, Any]) -> Claim:
    own = {name.removesuffix("?") for name in CLAIM}
    options = {key: value for key, value in entry.items() if key not in own}
    told = {key: value for key, value in entry.items() if key in own}
    _check(told, CLAIM, "a [[claims]]")
    try:
        inspect.signature(get_check(told["check"])).bind(Points([]), **options)
    except TypeError as error:
        raise ValueError(f"the check {told['check']!r} cannot be told so: {error}") from None
    return Claim(options=options, **told)


def _natural(name: str) -> list[Any]:
    """Fig. 9 before Fig. 10.

    >>> _natural("tian12-fig9") < _natural("tian12-fig10")
    True
    """
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
