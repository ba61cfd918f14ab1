# SPDX-License-Identifier: Apache-2.0
"""``shoal tree``: mine a decision tree that keeps the promise."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import output
from shoal.cli.options import Data, Json, Report, Usage, takes
from shoal.cli.project import Project
from shoal.cli.tables import read_data, resolve_roles, source_of

if TYPE_CHECKING:
    from shoal.audit import Audit
    from shoal.data import Roles, Table
    from shoal.release import TreeRelease

BREACH = 3


class Variant(StrEnum):
    """The papers' trees."""

    id3 = "id3"
    c45 = "c45"


class Statement(StrEnum):
    """What a release says of its leaves."""

    counts = "counts"
    shares = "shares"
    majority = "majority"


@takes("k", "confidence", "public", "roles", "hierarchies", "reading")
def tree(
    project: Project,
    data: Data = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the release to this file.")
    ] = None,
    max_leaves: Annotated[int | None, typer.Option(metavar="N", help="Stop at this many leaves.")] = None,
    max_depth: Annotated[int | None, typer.Option(metavar="N", help="Stop at this many levels.")] = None,
    variant: Annotated[
        Variant | None,
        typer.Option(metavar="id3|c45", help="Grow as the papers do, instead of as we found best."),
    ] = None,
    statement: Annotated[
        Statement,
        typer.Option(
            metavar="counts|shares|majority",
            help="What to say of the leaves: people of each class, shares of classes, or only the predicted class.",
        ),
    ] = Statement.counts,
    report: Report = None,
    as_json: Json = False,
) -> None:
    """Mine a decision tree that keeps the promise, and audit it.

    The promise comes from -k, --confidence and [privacy] of shoal.toml. Nothing is written unless the audit
    holds.
    """
    source = source_of(project, data)
    output.check_outputs([out, report], [source, project.file])
    if report is not None:
        output.check_report()
    if project.requirement() is None:
        raise Usage("No promise: say how many people a group must have, with -k 10 or [privacy] k in shoal.toml.")
    table = read_data(project, source)
    roles = resolve_roles(project, table)
    with output.busy("Mining"):
        release, verdict = mine(
            project,
            table,
            roles,
            max_leaves=max_leaves,
            max_depth=max_depth,
            variant=variant,
            statement=statement,
        )
    if verdict.holds:
        if report is not None:
            output.write_audit_report(report, release, verdict)
        if out is not None:
            output.write_release(out, release)
    if as_json:
        body = {"release": release.to_json(), "audit": verdict.to_json(), "written": output.written}
        output.say_json(body)
    else:
        output.say(str(release))
        output.say()
        output.say_audit(verdict)
        for path in output.written:
            output.say(f"wrote {path}")
    if not verdict.holds:
        raise typer.Exit(BREACH)


def mine(
    project: Project,
    table: Table,
    roles: Roles,
    *,
    max_leaves: int | None = None,
    max_depth: int | None = None,
    variant: Variant | None = None,
    statement: Statement = Statement.counts,
) -> tuple[TreeRelease, Audit]:
    """The tree of a project's table, and an audit of it."""
    from shoal.audit import audit
    from shoal.data import load_hierarchies
    from shoal.trees import AnonymousTreeClassifier

    person = project.person
    hierarchies = load_hierarchies(project.hierarchies, table.names, project.folder)
    table = table.drop(name for name in roles.identifier if name != person)
    model = AnonymousTreeClassifier(
        privacy=project.requirement(),  # type: ignore[arg-type]
        public=roles.public,
        target_role=roles.target_role,
        sensitive=roles.sensitive,
        domain={name: values for name, values in project.domain.items() if name not in roles.identifier},
        person=person,
        hierarchies={name: each for name, each in hierarchies.items() if name in roles.features},
        max_depth=max_depth,
        max_leaves=max_leaves,
        variant=None if variant is None else variant.value,
        statement=statement.value,
    ).fit(table, roles.target)
    return model.release_, audit(model.release_, table)
