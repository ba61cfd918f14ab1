# SPDX-License-Identifier: Apache-2.0
"""``shoal tree``: mine a decision tree that keeps the promise."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import output
from shoal.cli.options import Data, Engine, EngineOption, Json, Report, Usage, takes
from shoal.cli.project import Project
from shoal.cli.tables import open_data, resolve_roles, source_of

if TYPE_CHECKING:
    from shoal.audit import Audit
    from shoal.data import Roles, Table
    from shoal.data.sources import Source
    from shoal.data.spark_source import SparkSource
    from shoal.release import TreeRelease

BREACH = 3


class Variant(StrEnum):
    """The papers' trees."""

    id3 = "id3"
    c45 = "c45"


class Grouping(StrEnum):
    """How a column of categories is split."""

    levels = "levels"
    halves = "halves"
    merge = "merge"


class Statement(StrEnum):
    """What a release says of its leaves."""

    counts = "counts"
    shares = "shares"
    majority = "majority"


@takes("k", "confidence", "public", "roles", "person", "hierarchies", "reading")
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
    grouping: Annotated[
        Grouping | None,
        typer.Option(
            metavar="levels|halves|merge",
            help="A branch a value, two groups of values, or a branch a value with small ones merged.",
        ),
    ] = None,
    min_gain: Annotated[
        float, typer.Option(metavar="GAIN", help="What a split must gain at least, over all people.")
    ] = 0.0,
    class_weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="balanced|CLASS=WEIGHT",
            help="How much people of each class count in learning: 'balanced', or once for each class.",
        ),
    ] = None,
    lookahead: Annotated[
        bool, typer.Option("--lookahead", help="Choose splits together with those right below them; takes longer.")
    ] = False,
    statement: Annotated[
        Statement,
        typer.Option(
            metavar="counts|shares|majority",
            help="What to say of the leaves: people of each class, shares of classes, or only the predicted class.",
        ),
    ] = Statement.counts,
    engine: EngineOption = Engine.memory,
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
    weights = _class_weight(class_weight)
    if project.requirement() is None:
        raise Usage("No promise: say how many people a group must have, with -k 10 or [privacy] k in shoal.toml.")
    table = open_data(project, source, project.kinds, engine)
    roles = resolve_roles(project, table)
    with output.busy("Mining"):
        release, verdict = mine(
            project,
            table,
            roles,
            max_leaves=max_leaves,
            max_depth=max_depth,
            variant=None if variant is None else variant.value,
            grouping=None if grouping is None else grouping.value,
            min_gain=min_gain,
            class_weight=weights,
            lookahead=int(lookahead),
            statement=statement.value,
            engine=engine.value,
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


def _class_weight(given: list[str] | None) -> str | dict[str, float] | None:
    """The weights of classes as they were written."""
    if not given:
        return None
    if given == ["balanced"]:
        return "balanced"
    pairs = [text.rpartition("=") for text in given]
    try:
        weights = {label: float(weight) for label, equals, weight in pairs if equals}
    except ValueError:
        weights = {}
    if len(weights) < len(given):
        raise Usage("--class-weight is 'balanced', or CLASS=WEIGHT once for each class, such as yes=5.")
    return weights


def mine(
    project: Project, table: Table | Source | SparkSource, roles: Roles, **options: Any
) -> tuple[TreeRelease, Audit]:
    """The tree of a project's table, grown with some options of `AnonymousTreeClassifier`, and an audit of it."""
    from shoal.audit import audit
    from shoal.data import Table, load_hierarchies
    from shoal.trees import AnonymousTreeClassifier

    person = project.person
    hierarchies = load_hierarchies(project.hierarchies, table.names, project.folder)
    if isinstance(table, Table):
        table = table.drop(name for name in roles.identifier if name != person)
    model = AnonymousTreeClassifier(
        privacy=project.requirement(),  # type: ignore[arg-type]
        public=roles.public,
        target_role=roles.target_role,
        sensitive=roles.sensitive,
        domain={name: values for name, values in project.domain.items() if name not in roles.identifier},
        person=person,
        hierarchies={name: each for name, each in hierarchies.items() if name in roles.features},
        **options,
    ).fit(table, roles.target)
    return model.release_, audit(model.release_, table, person=person, engine=options.get("engine", "memory"))
