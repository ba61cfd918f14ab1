# SPDX-License-Identifier: Apache-2.0
"""``shoal attack``: what somebody with a public table learns from a release or a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import output
from shoal.cli.asking import question
from shoal.cli.options import Json, TrustPickle, Usage, takes
from shoal.cli.project import Project
from shoal.cli.tables import check_kind, known_to_attacker, read_data, read_for, source_of
from shoal.cli.things import Thing, open_thing


@takes("public", "roles", "sensitive", "reading")
def attack(
    project: Project,
    thing: Annotated[
        Path, typer.Argument(metavar="THING", help="A release of a tree, or a fitted model as of shoal audit.")
    ],
    public_data: Annotated[
        Path,
        typer.Argument(metavar="PUBLIC_DATA", help="What an attacker holds: one row a person, public columns."),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FILE",
            help="The rows that a model was trained on; the source in shoal.toml if left out.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write one row a person, in the order of the table, as CSV.",
        ),
    ] = None,
    trust_pickle: TrustPickle = False,
    as_json: Json = False,
) -> None:
    """See what somebody with a public table learns from a release.

    Links the people of the table to the release as an attacker would, and says what he believes of them. A release
    says how many people are in each leaf. A model that somebody else trained does not, so for it the attacker is given
    the histogram of every group, from the rows it was trained on: an upper bound.
    """
    output.check_outputs([out], [thing, public_data, data, project.file])
    opened = open_thing(thing, trust_pickle=trust_pickle)
    if opened.kind == "model":
        found = _of_model(opened, project, public_data, data)
    else:
        found = _of_release(opened, project, public_data)
    if out is not None:
        output.write_text(out, output.csv_text(found.to_frame(backend="pyarrow")))
    if as_json:
        output.say_json({**found.to_json(), "written": output.written})
        return
    output.say(str(found))
    for path in output.written:
        output.say(f"wrote {path}")


def _of_release(opened: Thing, project: Project, public_data: Path) -> Any:
    from shoal.audit import attack as link

    if opened.kind != "release":
        raise Usage("shoal attack takes a release of a tree, or a fitted model; this is a table, or rules.")
    check_kind(opened.what, "attack", "tree")
    table = read_for(opened.what, project, public_data)
    with output.busy("Linking"):
        return link(opened.what, table, public=known_to_attacker(opened.what, project))


def _of_model(opened: Thing, project: Project, public_data: Path, data: Path | None) -> Any:
    from shoal.audit.linking import link

    asked = question(opened, project, source_of(project, data), requires=False)
    options = {name: asked.options[name] for name in ("public", "domain", "sensitive")}
    with output.busy("Linking"):
        return link(asked.what, read_data(project, public_data), asked.X, asked.y, **options)
