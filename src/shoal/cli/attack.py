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
from shoal.cli.tables import known_to_attacker, read_data, read_for, source_of
from shoal.cli.things import Thing, open_thing


@takes("public", "roles", "sensitive", "reading")
def attack(
    project: Project,
    thing: Annotated[Path, typer.Argument(metavar="THING", help="A release, or a fitted model as of shoal audit.")],
    public_data: Annotated[
        Path,
        typer.Argument(metavar="PUBLIC_DATA", help="What an attacker holds: one row a person, public columns."),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FILE",
            help="The rows it was learned from, if it is no tree of ours; the source in shoal.toml if left out.",
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

    Links the people of the table to the release as an attacker would, and says what he believes of them. A released
    tree says how many people are in each leaf. Anything else does not say it of every group, so for it the attacker is
    given the histogram of every group, from the rows it was learned from: an upper bound.
    """
    output.check_outputs([out], [thing, public_data, data, project.file])
    with output.busy("Linking"):
        rows = None if data is None else str(data)
        found = _linked(open_thing(thing, trust_pickle=trust_pickle), project, public_data, rows)
    if out is not None:
        output.write_text(out, output.csv_text(found.to_frame(backend="pyarrow")))
    if as_json:
        output.say_json({**found.to_json(), "written": output.written})
        return
    output.say(str(found))
    for path in output.written:
        output.say(f"wrote {path}")


def _linked(opened: Thing, project: Project, public_data: Path, data: str | None) -> Any:
    from shoal.audit.linking import link

    if opened.kind in ("table", "rules"):
        raise Usage("shoal attack takes a release, or a fitted model; this is a table, or rules.")
    if opened.kind == "release":
        return _of_release(opened.what, project, public_data, data)
    asked = question(opened, project, source_of(project, data), requires=False)
    options = {name: asked.options[name] for name in ("public", "domain", "sensitive")}
    return link(asked.what, read_data(project, public_data), asked.X, asked.y, **options)


def _of_release(release: Any, project: Project, public_data: Path, data: str | None) -> Any:
    from shoal.audit import attack as on_tree
    from shoal.audit.linking import link
    from shoal.audit.together.subjects import as_subject

    if release.kind == "tree":
        people = read_for(release, project, public_data)
        return on_tree(release, people, public=known_to_attacker(release, project))
    rows = read_for(release, project, source_of(project, data))
    people = read_for(release, project, public_data)
    subject = as_subject(release)
    public = known_to_attacker(release, project)
    if public is None:
        public = [name for name, role in subject.roles.items() if role == "public" and name in rows]
    return link(subject, people, rows, public=public)
