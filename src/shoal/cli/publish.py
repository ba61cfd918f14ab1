# SPDX-License-Identifier: Apache-2.0
"""``shoal publish``: one owner's file, from which others can learn."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import output
from shoal.cli.options import Data, Json, Report, Usage, takes
from shoal.cli.project import Project
from shoal.cli.tables import read_data, resolve_roles, source_of

ONE_LEAF = (
    "The tree is a single leaf: beside distributions, it tells how many people are of each class and nothing more. Try "
    "another --method, more people or a weaker requirement."
)


class Method(StrEnum):
    """How an owner's tree is made."""

    mine = "mine"
    full = "full"
    atp = "atp"
    ldm = "ldm"


@takes("k", "confidence", "public", "roles", "sensitive", "person", "hierarchies", "reading")
def publish(
    project: Project,
    data: Data = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the owner's file here.")
    ] = None,
    method: Annotated[
        Method,
        typer.Option(
            metavar="mine|full|atp|ldm",
            help="The tree that predicts best by itself; one grown as far as the promise allows, for others to "
            "average (shoal pool --learn bag); C4.5's with branches merged; or ID3's grown under a diversity "
            "requirement.",
        ),
    ] = Method.mine,
    no_marginals: Annotated[
        bool, typer.Option("--no-marginals", help="Do not tell how each column is distributed.")
    ] = False,
    report: Report = None,
    as_json: Json = False,
) -> None:
    """Publish a tree of your rows for others to learn from.

    The file states every column with its domain, how many people of each class are in each leaf, and how each column is
    distributed, in cells of at least k people. Declare the domain under [domain] of shoal.toml, the same at every
    owner. Nothing is written unless the audit holds.
    """
    from shoal.audit import audit
    from shoal.data import load_hierarchies
    from shoal.share import publish as make

    source = source_of(project, data)
    output.check_outputs([out, report], [source, project.file])
    if report is not None:
        output.check_report()
    requirement = project.requirement()
    if requirement is None:
        raise Usage("No promise: say how many people a group must have, with -k 10 or [privacy] k in shoal.toml.")
    table = read_data(project, source)
    roles = resolve_roles(project, table)
    person = project.person
    hierarchies = load_hierarchies(project.hierarchies, table.names, project.folder)
    table = table.drop(name for name in roles.identifier if name != person)
    with output.busy("Mining"):
        release = make(
            table,
            roles.target,
            requirement,
            public=roles.public,
            target_role=roles.target_role,
            sensitive=roles.sensitive,
            domain={name: values for name, values in project.domain.items() if name not in roles.identifier},
            person=person,
            hierarchies={name: each for name, each in hierarchies.items() if name in roles.features},
            method=method.value,
            marginals=not no_marginals,
        )
        verdict = audit(release, table, person=person)
    if report is not None:
        output.write_audit_report(report, release, verdict)
    if out is not None:
        output.write_release(out, release)
    if as_json:
        output.say_json({"release": release.to_json(), "audit": verdict.to_json(), "written": output.written})
        return
    output.say(str(release))
    if release.marginals:
        output.say(f"distributions of {', '.join(release.marginals)}")
    if len(release.nodes) == 1:
        output.say(ONE_LEAF, "yellow")
    output.say()
    output.say_audit(verdict)
    for path in output.written:
        output.say(f"wrote {path}")
