# SPDX-License-Identifier: Apache-2.0
"""From a project to tables, roles and what an attacker knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from shoal.cli.options import Engine, Usage
from shoal.cli.project import Project, file_or_address
from shoal.errors import DataError, closest

if TYPE_CHECKING:
    from shoal.cli.project import Where
    from shoal.data import Roles, Table
    from shoal.data.sources import Source
    from shoal.data.spark_source import SparkSource
    from shoal.release import TreeRelease

Opened = TypeVar("Opened", bound="Source | SparkSource")
NOBODY = ""  # no column has this name, so it can stand in for a target that was not named


def source_of(project: Project, data: str | None) -> Where:
    """What to read: the file named, or the source of the project file."""
    if data is not None:
        return file_or_address(data)
    if project.source is None:
        raise Usage("No table: name a file, or its source under [data] of shoal.toml. Try: shoal init FILE.")
    return project.source


def check_kind(release: Any, verb: str, *kinds: str) -> None:
    """Refuse a release of a kind that a verb can do nothing with."""
    if release.kind not in kinds:
        raise Usage(f"shoal {verb} takes a release of kind {' or '.join(kinds)}; this one is of kind {release.kind}.")


def read_data(project: Project, source: Where) -> Table:
    """A table, read as the project says."""
    return _read(project, source, project.kinds)


def _read(project: Project, source: Where, kinds: Mapping[str, Any]) -> Table:
    from shoal.data.coded import read_rows
    from shoal.data.read import read_table

    if isinstance(source, Path):
        return read_table(source, kinds=kinds, **_how(project))
    return read_rows(_in_batches(project, source, kinds))


def open_data(
    project: Project, source: Where, kinds: Mapping[str, Any], engine: Engine
) -> Table | Source | SparkSource:
    """Rows for an engine, as the project says; what is not read into memory is without its identifiers."""
    if engine is Engine.memory:
        return _read(project, source, kinds)
    return _on_spark(project, source, kinds) if engine is Engine.spark else _in_batches(project, source, kinds)


def _in_batches(project: Project, source: Where, kinds: Mapping[str, Any]) -> Source:
    from shoal.data.sources import open_source

    if isinstance(source, str):
        raise DataError("no-file", f"{source!r} is no file of this machine. Try --engine spark, or copy it here.")
    how = _how(project) if isinstance(source, Path) else {"missing": project.missing}
    return _without_identifiers(open_source(source, **how), project, kinds)


def _on_spark(project: Project, source: Where, kinds: Mapping[str, Any]) -> SparkSource:
    from shoal.data.query import Query
    from shoal.data.spark_source import spark_source

    if isinstance(source, Query):
        raise Usage("--engine spark reads files and tables that Spark knows, no query to a database: try stream.")
    if isinstance(source, Path):
        # what the project file names may be a table of Spark, which is in no folder
        is_name = not source.exists() and source.parent in (Path(), project.folder)
        source = source.name if is_name else str(source)
    return _without_identifiers(spark_source(source, missing=project.missing), project, kinds)


def _without_identifiers(opened: Opened, project: Project, kinds: Mapping[str, Any]) -> Opened:
    opened.check(project.identifier)
    opened.drop([name for name in project.identifier if name != project.person])
    opened.kinds = {name: kind for name, kind in kinds.items() if name in opened.names}
    return opened


def read_for(release: TreeRelease, project: Project, source: Where) -> Table:
    """A table, read as the release knows its columns; it need not have all of them."""
    return read_for_all([release], project, source)


def read_for_all(releases: Sequence[Any], project: Project, source: Where) -> Table:
    """A table, read as some releases know its columns; what one takes for categories is read as texts."""
    table = _read(project, source, {})
    kinds: dict[str, Any] = {}
    for release in releases:
        own = dict(release.kinds)
        if release.target in own and release.attribute(release.target).labels != "string":
            del own[release.target]  # numbers that are classes: how they are written does not matter
        kinds |= {name: kind for name, kind in own.items() if kind == "categorical" or name not in kinds}
    kinds |= project.kinds
    other = {name: kind for name, kind in kinds.items() if name in table and table[name].kind != kind}
    # only the file's own text says what a cell was before it became a number, hence from the start
    return _read(project, source, other) if other else table


def _how(project: Project) -> dict[str, Any]:
    how = {name: getattr(project, name) for name in ("missing", "delimiter", "encoding", "decimal")}
    return {name: value for name, value in how.items() if value is not None}


def resolve_roles(project: Project, table: Table | Source | SparkSource, *, need_target: bool = True) -> Roles:
    """The role of every column, all problems reported at once."""
    from shoal.data import Roles, Table

    if project.target is None and need_target:
        raise Usage("No target: say which column to predict with --target, or under [roles] of shoal.toml.")
    columns, target = [*table.names], project.target
    if not isinstance(project.source, Path) or not isinstance(table, Table):
        # identifiers are left out when rows are fetched, which looked whether they are there
        columns += [name for name in project.identifier if name not in columns]
    if target is None:
        columns, target = [*columns, NOBODY], NOBODY
    identifier = project.identifier
    if project.person is not None and project.person not in columns:
        raise DataError(
            "no-column", f"No column {project.person!r} to tell people apart.{closest(project.person, columns)}"
        )
    if project.person is not None and project.person not in identifier:
        identifier = (*identifier, project.person)
    return Roles.resolve(
        columns,
        target=target,
        public=project.public,
        private=project.private,
        identifier=identifier,
        target_role=project.target_role,
        sensitive=project.sensitive,
    )


def roles_said(project: Project) -> dict[str, str]:
    """The roles that the project file names."""
    said = dict.fromkeys(project.public or (), "public") | dict.fromkeys(project.private or (), "private")
    if project.target is not None:
        said[project.target] = project.target_role
    return said


def known_to_attacker(release: TreeRelease, project: Project) -> list[str] | None:
    """What an attacker knows: as said by --public, else by the project file, else (None) by the release."""
    if "public" in project.options:
        return list(project.public or ())
    said = roles_said(project)
    roles = {each.name: said.get(each.name, each.role) for each in release.attributes}
    if all(roles[each.name] == each.role for each in release.attributes):
        return None
    return [name for name, role in roles.items() if role == "public"]
