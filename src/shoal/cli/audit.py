# SPDX-License-Identifier: Apache-2.0
"""``shoal audit``: recount a release's groups and say whether its promise holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from shoal.cli import output
from shoal.cli.options import Data, Json, Release, Report, takes
from shoal.cli.project import Project
from shoal.cli.tables import check_kind, known_to_attacker, read_for, source_of
from shoal.cli.tree import BREACH

if TYPE_CHECKING:
    from shoal.privacy import Requirement
    from shoal.release import TreeRelease


@takes("public", "person", "k", "confidence", "reading")
def audit(project: Project, release: Release, data: Data = None, report: Report = None, as_json: Json = False) -> None:
    """Recount a release's groups: does its promise hold?

    It needs the rows that the release was learned from; exit code 3 means a breach. Asked is what the release
    claims, and what [privacy] of shoal.toml requires besides; -k or --confidence ask something else instead.
    Roles are those of shoal.toml where it names a column, and otherwise the release's.
    """
    from shoal.audit import audit as recount
    from shoal.release import load

    loaded = load(release)
    # a released table can be recounted by itself; anything else needs the rows it was learned from
    alone = loaded.kind == "table" and data is None and project.source is None
    source = None if alone else source_of(project, data)
    output.check_outputs([report], [release, source, project.file])
    if report is not None:
        check_kind(loaded, "audit --report", "tree")
        output.check_report()
    table = None if source is None else read_for(loaded, project, source)
    public = known_to_attacker(loaded, project)
    with output.busy("Counting"):
        person = None if table is None else project.person
        verdict = recount(loaded, table, public=public, privacy=_asked(loaded, project), person=person)
    if report is not None:
        output.write_audit_report(report, loaded, verdict)
    if as_json:
        output.say_json({**verdict.to_json(), "written": output.written})
    else:
        if public is not None and "public" not in project.options:
            output.note(f"{project.file} gives some columns another role than the release does; audited as it says.")
        output.say_audit(verdict)
        for path in output.written:
            output.say(f"wrote {path}")
    if not verdict.holds:
        raise typer.Exit(BREACH)


def _asked(release: TreeRelease, project: Project) -> Requirement:
    required = project.requirement()
    if required is None:
        return release.requirement
    if project.options & {"k", "confidence"}:
        return required
    both: Requirement = release.requirement & required  # type: ignore[operator]
    return both
