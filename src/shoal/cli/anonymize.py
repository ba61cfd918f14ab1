# SPDX-License-Identifier: Apache-2.0
"""``shoal anonymize``: publish the data itself, generalised until the promise holds."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import output
from shoal.cli.options import Data, Json, Usage, takes
from shoal.cli.project import Project
from shoal.cli.tables import read_data, resolve_roles, source_of
from shoal.cli.tree import BREACH

if TYPE_CHECKING:
    from shoal.data import Roles, Table
    from shoal.evaluate import TableMetrics
    from shoal.release import TableRelease


class Method(StrEnum):
    """How a table is generalised."""

    tree = "tree"


@takes("k", "confidence", "public", "roles", "person", "hierarchies", "reading")
def anonymize(
    project: Project,
    data: Data = None,
    method: Annotated[
        Method, typer.Option(metavar="tree", help="How to generalise: by the spans of a decision tree.")
    ] = Method.tree,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the release to this JSON file, its rows beside it."),
    ] = None,
    data_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the rows to this CSV file, in the same folder; otherwise named as the release."
        ),
    ] = None,
    reproducible: Annotated[
        bool, typer.Option("--reproducible", help="Sort the rows instead of shuffling them: the same bytes every time.")
    ] = False,
    max_leaves: Annotated[int | None, typer.Option(metavar="N", help="Stop at this many leaves of the tree.")] = None,
    max_depth: Annotated[int | None, typer.Option(metavar="N", help="Stop at this many levels of the tree.")] = None,
    as_json: Json = False,
) -> None:
    """Publish a table itself, generalised until the promise holds.

    Only public columns are generalised; private ones are published as they are, identifiers never. The promise
    comes from -k, --confidence and [privacy] of shoal.toml. Nothing is written unless the audit holds; rows are
    shuffled.
    """
    from shoal.audit import audit
    from shoal.evaluate import measure_table

    source = source_of(project, data)
    rows_file = _beside(out, data_file)
    output.check_outputs([out, rows_file], [source, project.file])
    if project.requirement() is None:
        raise Usage("No promise: say how many people a group must have, with -k 10 or [privacy] k in shoal.toml.")
    table = read_data(project, source)
    roles = resolve_roles(project, table)
    with output.busy("Generalising"):
        release = _by_tree(project, table, roles, max_leaves=max_leaves, max_depth=max_depth, sort=reproducible)
        verdict = audit(release, table, privacy=project.requirement(), person=project.person)
    measured = measure_table(release)
    if verdict.holds and out is not None and rows_file is not None:
        release.save(out, rows_file.name)
        output.written.extend([str(out), str(rows_file)])
    if as_json:
        body = {"release": release.to_json(None if rows_file is None else rows_file.name), "audit": verdict.to_json()}
        output.say_json({**body, "measures": measured.to_json(), "written": output.written})
    else:
        output.say(str(release))
        output.say()
        output.say_audit(verdict)
        output.say()
        output.say(_told(measured))
        for path in output.written:
            output.say(f"wrote {path}")
    if not verdict.holds:
        raise typer.Exit(BREACH)


def _beside(out: Path | None, data_file: Path | None) -> Path | None:
    """The file of rows: in the folder of the release, because the release names it and no folder."""
    if out is None:
        if data_file is not None:
            raise Usage("--data-file needs -o: the rows are written beside their release.")
        return None
    rows = out.with_suffix(".csv") if data_file is None else data_file
    if rows.parent.resolve() != out.parent.resolve():
        raise Usage("--data-file must be in the folder of the release: the two belong together.")
    if rows.name == out.name:
        raise Usage("The release and its rows need two files: let -o end in .json, or name --data-file.")
    return rows


def _told(measured: TableMetrics) -> str:
    return (
        f"groups {measured.n_groups:,}; classification metric {measured.cm:,}; "
        f"loss metric {measured.lm:.4f}; discernibility {measured.dm:,}; "
        f"average class size {measured.average_class_size:.2f} k"
    )


def _by_tree(
    project: Project, table: Table, roles: Roles, *, max_leaves: int | None, max_depth: int | None, sort: bool
) -> TableRelease:
    from shoal.anonymize import TreeAnonymizer
    from shoal.data import load_hierarchies

    hierarchies = load_hierarchies(project.hierarchies, table.names, project.folder)
    anonymizer = TreeAnonymizer(
        privacy=project.requirement(),  # type: ignore[arg-type]
        public=roles.public,
        target_role=roles.target_role,
        sensitive=roles.sensitive,
        domain={name: values for name, values in project.domain.items() if name not in roles.identifier},
        person=project.person,
        hierarchies={name: each for name, each in hierarchies.items() if name in roles.features},
        max_depth=max_depth,
        max_leaves=max_leaves,
        reproducible=sort,
    )
    return anonymizer.fit(
        table.drop(name for name in roles.identifier if name != project.person), roles.target
    ).release_
