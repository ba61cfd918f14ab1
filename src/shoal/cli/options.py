# SPDX-License-Identifier: Apache-2.0
"""The options that several verbs share, each declared once.

A verb that is marked with `takes` gets the options of the groups it names, and receives what they and
``shoal.toml`` say together as one `Project`.
"""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from shoal.cli.project import Project, find_project
from shoal.errors import ShoalError

Verb = Callable[..., None]
ROLES = ("public", "private", "identifier")
NAME = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([^,]*?))\s*(?:,|$)')


class Usage(ShoalError):
    """Something was not said that had to be: exit code 2, like any other wrong use."""

    def __init__(self, message: str) -> None:
        super().__init__("usage", message)


class Engine(StrEnum):
    """Where counts come from."""

    memory = "memory"
    stream = "stream"
    spark = "spark"


EngineOption = Annotated[
    Engine,
    typer.Option(
        "--engine",
        metavar="memory|stream|spark",
        help="Hold the rows in memory; read them in batches: for many; or look at them where Spark has them.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Release = Annotated[Path, typer.Argument(metavar="RELEASE", help="A release file, such as tree.json.")]
Data = Annotated[str | None, typer.Argument(metavar="DATA", help="The table; the source in shoal.toml if left out.")]
Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write the audit as an HTML page to this file."),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw the rows of the clustering, groups that fail marked, as .png, .svg or .pdf: for use in house.",
    ),
]
TrustPickle = Annotated[
    bool,
    typer.Option(
        "--trust-pickle",
        help="Open a pickle or joblib file. Opening one runs whatever its maker put into it, with all your rights: "
        "only for files that you made yourself.",
    ),
]

_Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="The project file; shoal.toml of this folder if there is one."),
]
_Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing", metavar="TEXT", help="What stands for a missing value; repeatable. Otherwise '' and '?'."
    ),
]
_Numeric = Annotated[list[str] | None, typer.Option("--numeric", metavar="COLUMNS", help="Columns to read as numbers.")]
_Categorical = Annotated[
    list[str] | None, typer.Option("--categorical", metavar="COLUMNS", help="Columns to read as categories.")
]
_Target = Annotated[str | None, typer.Option("--target", metavar="COLUMN", help="The column to predict.")]
_Public = Annotated[
    list[str] | None, typer.Option("--public", metavar="COLUMNS", help="The columns an attacker may know.")
]
_Private = Annotated[
    list[str] | None,
    typer.Option("--private", metavar="COLUMNS", help="The columns an attacker does not know."),
]
_Identifier = Annotated[
    list[str] | None, typer.Option("--identifier", metavar="COLUMNS", help="The columns never to use.")
]
_Sensitive = Annotated[
    list[str] | None,
    typer.Option("--sensitive", metavar="COLUMNS", help="Private columns whose values must not become certain."),
]
_Person = Annotated[
    str | None,
    typer.Option(
        "--person", metavar="COLUMN", help="The column that tells people apart, where they have several rows."
    ),
]
_Hierarchies = Annotated[
    str | None,
    typer.Option("--hierarchies", metavar="FOLDER", help="A folder with a hierarchy file for each of some columns."),
]
_K = Annotated[int | None, typer.Option("-k", metavar="N", help="People that every group must have at least.")]
_Confidence = Annotated[
    float | None,
    typer.Option("--confidence", metavar="C", help="An attacker's highest certainty about the target, such as 0.9."),
]

_GROUPS: dict[str, dict[str, Any]] = {
    "project": {"config": _Config},
    "reading": {"config": _Config, "missing": _Missing, "numeric": _Numeric, "categorical": _Categorical},
    "public": {"public": _Public},
    "roles": {"target": _Target, "private": _Private, "identifier": _Identifier},
    "sensitive": {"sensitive": _Sensitive},
    "person": {"person": _Person},
    "hierarchies": {"hierarchies": _Hierarchies},
    "k": {"k": _K},
    "confidence": {"confidence": _Confidence},
}
Group = Literal["project", "reading", "public", "roles", "sensitive", "person", "hierarchies", "k", "confidence"]


def takes(*groups: Group) -> Callable[[Verb], Verb]:
    """Give a verb the options of some groups; it receives a `Project` as its parameter `project`."""
    shared = {name: option for group in groups for name, option in _GROUPS[group].items()}

    def with_options(verb: Verb) -> Verb:
        own = inspect.signature(verb, eval_str=True)

        @functools.wraps(verb)
        def call(**given: Any) -> None:
            project = with_given(
                find_project(given.pop("config")), {name: given.pop(name) for name in shared if name in given}
            )
            verb(project=project, **given)

        parameters = [each for name, each in own.parameters.items() if name != "project"]
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
            for name, option in shared.items()
        ]
        call.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return call

    return with_options


def names(given: Iterable[str]) -> tuple[str, ...]:
    """Column names from a repeatable, comma-separated option; a name with a comma is in quotes, as it is printed.

    >>> names(["age, sex", "zip"])
    ('age', 'sex', 'zip')
    >>> names(['soap, "tea, green"'])
    ('soap', 'tea, green')
    """
    found = (match for text in given for match in NAME.finditer(text))
    return tuple(name for quoted, plain in (match.groups() for match in found) if (name := _unquoted(quoted) or plain))


def _unquoted(text: str | None) -> str | None:
    try:
        return None if text is None else str(json.loads(text))
    except ValueError:  # some other use of a backslash
        return text


def with_given(project: Project, given: dict[str, Any]) -> Project:
    """The project with what was given on the command line instead of what the file says."""
    # an option that was not given is None or, if it is repeatable, may be empty
    given = {name: value for name, value in given.items() if value is not None and value != []}
    change: dict[str, Any] = {"options": frozenset(given)}
    if "person" in given:
        change["person"] = given["person"]
    if "missing" in given:
        change["missing"] = tuple(given["missing"])
    if "sensitive" in given:
        change["sensitive"] = names(given["sensitive"])
    if "hierarchies" in given:
        change |= {"hierarchies": given["hierarchies"], "folder": Path()}
    kinds = dict(project.kinds)
    kinds |= dict.fromkeys(names(given.get("numeric", ())), "numeric")
    kinds |= dict.fromkeys(names(given.get("categorical", ())), "categorical")
    twice = set(names(given.get("numeric", ()))) & set(names(given.get("categorical", ())))
    if twice:
        raise Usage(f"Column {sorted(twice)[0]!r} is named both in --numeric and in --categorical.")
    privacy = dict(project.privacy)
    privacy |= {name: given[name] for name in ("k", "confidence") if name in given}
    return replace(project, **change, **_roles(project, given), kinds=kinds, privacy=privacy)


def _roles(project: Project, given: dict[str, Any]) -> dict[str, Any]:
    """What changes about the roles. A column that an option names leaves the lists of the file."""
    said: dict[str, Any] = {role: names(given[role]) for role in ROLES if role in given}
    target: str | None = given.get("target", project.target)
    moved: set[str | None] = {name for each in said.values() for name in each}
    if "target" in given:
        moved.add(target)
    if "person" in given:
        moved.add(given["person"])
    lists: dict[str, tuple[str, ...] | None] = {}
    for role in ROLES:
        listed = getattr(project, role)
        lists[role] = None if listed is None else tuple(name for name in listed if name not in moved)
    if "target" in given and project.target not in (None, target, *moved):
        # the file's target keeps its role, as an ordinary column
        role = project.target_role
        if lists[role] is not None:
            lists[role] = (*(lists[role] or ()), str(project.target))
    for role, other in (("public", "private"), ("private", "public")):
        if role in said and other not in said:
            lists[other] = None  # naming one list leaves the rest to the other
    return {**lists, **said, "target": target}
