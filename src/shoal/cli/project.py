# SPDX-License-Identifier: Apache-2.0
"""The project file, ``shoal.toml``: what every verb would otherwise have to be told."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shoal.errors import ShoalError, closest

if TYPE_CHECKING:
    from shoal.data.query import Query
    from shoal.privacy import Requirement

    Where = Path | Query | str  # a file, rows of a database, or an address that Spark reads

NAME = "shoal.toml"
MAX_BYTES = 4 * 2**20

Check = tuple[Callable[[Any], bool], str]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_whole(value) or isinstance(value, float)


def _is_numbers(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))


_TEXT: Check = (_is_text, "a string")
_COLUMN: Check = (_is_text, "a column name")
_COLUMNS: Check = (_is_texts, "a list of column names")
_WHOLE: Check = (_is_whole, "a whole number")
_NUMBER: Check = (_is_number, "a number")
_ROLE: Check = (lambda value: value in ("public", "private"), "'public' or 'private'")

KEYS: dict[str, dict[str, Check]] = {
    "data": {
        "source": _TEXT,
        "query": _TEXT,
        "missing": (_is_texts, "a list of strings"),
        "delimiter": _TEXT,
        "encoding": _TEXT,
        "decimal": _TEXT,
        "numeric": _COLUMNS,
        "categorical": _COLUMNS,
        "person": _COLUMN,
    },
    "roles": {
        "identifier": _COLUMNS,
        "public": _COLUMNS,
        "private": _COLUMNS,
        "target": _COLUMN,
        "target_role": _ROLE,
        "sensitive": _COLUMNS,
    },
    "privacy": {
        "k": _WHOLE,
        "confidence": _NUMBER,
        "distinct": _WHOLE,
        "entropy": _NUMBER,
        "simple": _NUMBER,
        "recursive": (_is_numbers, "two numbers [c, l]"),
        "closeness": _NUMBER,
    },
}
BY_COLUMN = ("hierarchies", "domain")


@dataclass(frozen=True)
class Project:
    """What is known of the data, the roles and the promise, from ``shoal.toml`` and from options.

    Relative paths of hierarchies start at `folder`; `source` is already a path from the working folder, a query to a
    database, or an address such as ``s3://…``. `options` has the names of what was given on the command line.
    """

    file: Path | None = None
    folder: Path = Path()
    source: Where | None = None
    missing: tuple[str, ...] | None = None
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    kinds: Mapping[str, Literal["numeric", "categorical"]] = field(default_factory=dict)
    person: str | None = None
    identifier: tuple[str, ...] = ()
    public: tuple[str, ...] | None = None
    private: tuple[str, ...] | None = None
    target: str | None = None
    target_role: Literal["public", "private"] = "private"
    sensitive: tuple[str, ...] = ()
    hierarchies: str | Mapping[str, Any] | None = None
    domain: Mapping[str, list[Any]] = field(default_factory=dict)
    privacy: Mapping[str, Any] = field(default_factory=dict)
    options: frozenset[str] = frozenset()

    def requirement(self) -> Requirement | None:
        """Everything that [privacy] asks for, or None where it asks for nothing."""
        from functools import reduce
        from operator import and_

        from shoal import privacy

        make: dict[str, Callable[[Any], Requirement]] = {
            "k": privacy.KAnonymity,
            "confidence": privacy.Confidence,
            "distinct": privacy.DistinctDiversity,
            "entropy": privacy.EntropyDiversity,
            "simple": privacy.SimpleDiversity,
            "recursive": lambda given: privacy.RecursiveDiversity(*given),
            "closeness": privacy.Closeness,
        }
        parts: list[Any] = [make[name](given) for name, given in self.privacy.items()]
        return reduce(and_, parts) if parts else None


def find_project(config: Path | None) -> Project:
    """The project file that was named, or the one of the working folder, or nothing known."""
    if config is not None:
        return read_project(config)
    return read_project(Path(NAME)) if Path(NAME).is_file() else Project()


def read_project(path: Path) -> Project:
    """Read a project file; whatever is not understood is refused."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _refuse(f"{str(path)!r} is too large for a project file.")
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise _refuse(f"There is no project file {str(path)!r}. Try: shoal init FILE.") from None
    except OSError as error:
        raise _refuse(f"Cannot read the project file {str(path)!r}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise _refuse(f"The project file {str(path)!r} is not UTF-8 text.") from None
    return parse_project(text, path)


def parse_project(text: str, path: Path) -> Project:
    """The project that a file's text describes."""
    try:
        body = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        # its own words may quote the file, so only the place is passed on
        line = re.search(r"at line (\d+)", str(error))
        where = f"at line {line[1]}" if line else "at its end"
        raise _refuse(f"{str(path)!r} is not valid TOML {where}.") from None
    name = str(path)
    _check_sections(body, name)
    data, roles = body.get("data", {}), body.get("roles", {})
    twice = sorted(set(data.get("numeric", ())) & set(data.get("categorical", ())))
    if twice:
        raise _refuse(f"{name}: column {twice[0]!r} is named both in data.numeric and in data.categorical.")
    return Project(
        file=path,
        folder=path.parent,
        source=_source(data, path),
        missing=_tuple(data.get("missing")),
        delimiter=data.get("delimiter"),
        encoding=data.get("encoding"),
        decimal=data.get("decimal"),
        kinds={
            **dict.fromkeys(data.get("numeric", ()), "numeric"),
            **dict.fromkeys(data.get("categorical", ()), "categorical"),
        },
        person=data.get("person"),
        identifier=_tuple(roles.get("identifier")) or (),
        public=_tuple(roles.get("public")),
        private=_tuple(roles.get("private")),
        target=roles.get("target"),
        target_role=roles.get("target_role", "private"),
        sensitive=_tuple(roles.get("sensitive")) or (),
        hierarchies=body.get("hierarchies"),
        domain=body.get("domain", {}),
        privacy=body.get("privacy", {}),
    )


def _source(data: dict[str, Any], path: Path) -> Where | None:
    """Where the rows are: a file from the project's folder, or a database and a query."""
    from shoal.data.query import DUCKDB, Query, is_database

    source, query = data.get("source"), data.get("query")
    if not is_database(source):
        if query is not None:
            raise _refuse(f"{path!s}: data.query needs a database as data.source, such as 'postgresql://host/name'.")
        return None if source is None else file_or_address(source, path.parent)
    assert isinstance(source, str)
    if query is None:
        raise _refuse(f"{path!s}: a database as data.source needs data.query, such as 'SELECT * FROM people'.")
    if source.startswith(DUCKDB) and source != DUCKDB:
        source = DUCKDB + str(path.parent / source.removeprefix(DUCKDB))
    return Query(source, query)


def file_or_address(text: str, folder: Path = Path()) -> Path | str:
    """A file from some folder on; an address, such as ``s3://…``, is left as it is."""
    return text if "://" in text else folder / text


def _check_sections(body: dict[str, Any], name: str) -> None:
    sections = (*KEYS, *BY_COLUMN)
    for section, entries in body.items():
        if section not in sections:
            known = ", ".join(f"[{each}]" for each in sections)
            raise _refuse(f"{name}: unknown section or key {section!r}; there are {known}.{closest(section, sections)}")
        if not isinstance(entries, dict):
            raise _refuse(f"{name}: {section} must be a section, [{section}], with keys below it.")
        for key, value in entries.items():
            if section == "domain" and not isinstance(value, list):
                raise _refuse(f"{name}: domain.{key} must be a list of values or two bounds [low, high].")
            if section in BY_COLUMN:
                continue
            if key not in KEYS[section]:
                raise _refuse(f"{name}: unknown key {section}.{key}.{closest(key, KEYS[section])}")
            fits, wanted = KEYS[section][key]
            if not fits(value):
                raise _refuse(f"{name}: {section}.{key} must be {wanted}; got {_kind(value)}.")


def _kind(value: Any) -> str:
    """What a value is, without the value."""
    names = {
        bool: "true or false",
        str: "a string",
        int: "a whole number",
        float: "a number",
        dict: "a section",
    }
    if isinstance(value, list):
        kinds = {_kind(each) for each in value}
        return f"a list with {', '.join(sorted(kinds))}" if kinds else "an empty list"
    return names.get(type(value), "a date or time")


def _tuple(values: list[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _refuse(message: str) -> ShoalError:
    return ShoalError("project", message)
