# SPDX-License-Identifier: Apache-2.0
"""``shoal attack``: what somebody with a public table learns from a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import output
from shoal.cli.options import Json, Release, takes
from shoal.cli.project import Project
from shoal.cli.tables import check_kind, known_to_attacker, read_for


@takes("public", "reading")
def attack(
    project: Project,
    release: Release,
    public_data: Annotated[
        Path,
        typer.Argument(metavar="PUBLIC_DATA", help="What an attacker holds: one row a person, public columns."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write one row a person, in the order of the table, as CSV.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """See what somebody with a public table learns from a release.

    Links the people of the table to the release as an attacker would, and says what he believes of them.
    """
    from shoal.audit import attack as link
    from shoal.release import load

    output.check_outputs([out], [release, public_data, project.file])
    loaded = load(release)
    check_kind(loaded, "attack", "tree")
    table = read_for(loaded, project, public_data)
    with output.busy("Linking"):
        found = link(loaded, table, public=known_to_attacker(loaded, project))
    if out is not None:
        output.write_text(out, output.csv_text(found.to_frame(backend="pyarrow")))
    if as_json:
        output.say_json({**found.to_json(), "written": output.written})
        return
    output.say(str(found))
    for path in output.written:
        output.say(f"wrote {path}")
