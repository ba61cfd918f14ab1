# SPDX-License-Identifier: Apache-2.0
"""``shoal ledger``: what was published from a table so far, and what a new release tells together with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import output
from shoal.cli.options import Data, Json, Release, takes
from shoal.cli.project import Project, file_or_address
from shoal.cli.tables import check_kind, read_for_all, roles_said, source_of
from shoal.cli.things import open_release
from shoal.cli.tree import BREACH

if TYPE_CHECKING:
    from shoal.audit.together.joint import JointAudit
    from shoal.audit.together.ledger import Ledger
    from shoal.cli.project import Where

ledger = typer.Typer(
    name="ledger",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Audit a release together with all earlier ones.\n\n"
    'The ledger is a folder ".shoal" beside the table. It is confidential: do not publish it, and back it up.',
)

Accept = Annotated[
    bool,
    typer.Option(
        "--accept-not-proven",
        help="Enter it even if it is not proven that it holds together with the others: it is published anyhow.",
    ),
]


@ledger.command()
@takes("public", "person", "reading")
def add(project: Project, release: Release, data: Data = None, accept: Accept = False, as_json: Json = False) -> None:
    """Audit a release together with all earlier ones, and enter it if the promise holds.

    Asked is what each of the releases claims, of groups that all of them together tell apart. Exit code 3 means that
    it is not proven to hold: then nothing is entered, unless --accept-not-proven is given. Do this before you publish.
    """
    book, verdict, sha256 = _look(project, release, data, enter=True, accept=accept)
    number = next((entry.number for entry in book.entries if entry.release == sha256), None)
    if as_json:
        output.say_json({**verdict.to_json(), "entered": number})
    else:
        output.say_audit(verdict)
        output.say("not entered" if number is None else f"entered as release {number} in {book.path}")
    if not verdict.holds and not accept:
        raise typer.Exit(BREACH)


@ledger.command()
@takes("public", "person", "reading")
def check(project: Project, release: Release, data: Data = None, as_json: Json = False) -> None:
    """Audit a release together with all earlier ones, and write nothing.

    Exit code 3 means that it is not proven that the promise holds.
    """
    _, verdict, _ = _look(project, release, data, enter=False)
    if as_json:
        output.say_json(verdict.to_json())
    else:
        output.say_audit(verdict)
    if not verdict.holds:
        raise typer.Exit(BREACH)


@ledger.command("list")
@takes("project")
def list_(project: Project, data: Data = None, as_json: Json = False) -> None:
    """List what was published from a table so far."""
    book = _open(project, data)
    if as_json:
        output.say_json([entry.to_json() for entry in book.entries])
        return
    if not book.entries:
        output.say("nothing entered yet")
        return
    header = ["release", "added", "what", "people", "verdict", "fingerprint"]
    rows = [[e.number, e.added, e.what, e.people, e.verdict, e.release[:12]] for e in book.entries]
    output.say_table(header, rows, right=["release", "people"])


@ledger.command()
@takes("project")
def verify(project: Project, data: Data = None, as_json: Json = False) -> None:
    """Check that no line and no copy of the ledger was changed or removed."""
    book = _open(project, data)
    book.verify()
    if as_json:
        output.say_json({"releases": len(book.entries), "torn": book.torn, "intact": True})
    else:
        output.say(f"intact: {len(book.entries)} release(s) in {book.path}")


def _folder(project: Project, data: Where | None) -> Path:
    """The folder of the table, named or of the project; else the one we are in."""
    source = project.source if data is None else data
    if isinstance(source, str):
        source = file_or_address(source)
    if isinstance(source, Path):
        return source.parent
    return project.folder  # of a database, the folder of the project file


def _open(project: Project, data: Where | None) -> Ledger:
    from shoal.audit.together.ledger import Ledger

    book = Ledger.open(_folder(project, data))
    if book.torn:
        output.note(
            f"{book.path}: a line of {book.torn} byte(s) was cut off by a crash. It does not count; what it was to "
            "enter must be entered again."
        )
    return book


def _look(
    project: Project, release: Path, data: str | None, *, enter: bool, accept: bool = False
) -> tuple[Ledger, JointAudit, str]:
    """The ledger, the joint audit, and the fingerprint of the release."""
    loaded = open_release(release, "ledger")
    check_kind(loaded, "ledger", "tree", "ensemble", "clusters", "model", "projections", "rules", "table")
    source = source_of(project, data)
    book = _open(project, source)
    with output.busy("Counting"):
        releases = [*(book.release(entry.number) for entry in book.entries), loaded]
        table = read_for_all(releases, project, source)
        public = _public(releases, project)
        if enter:
            verdict = book.add(loaded, table, public=public, person=project.person, accept_not_proven=accept)
        else:
            verdict = book.check(loaded, table, public=public, person=project.person)
    return book, verdict, loaded.sha256


def _public(releases: list[Any], project: Project) -> list[str] | None:
    """What an attacker knows: as --public says, else as the project file says, and the releases of other columns."""
    from shoal.audit.together.subjects import as_subject

    if "public" in project.options:
        return list(project.public or ())
    said = roles_said(project)
    if not said:
        return None
    by_release = [as_subject(release).roles for release in releases]
    names = dict.fromkeys(name for roles in by_release for name in roles)
    found = {name: {said[name]} if name in said else {r[name] for r in by_release if name in r} for name in names}
    if any(len(each) > 1 for each in found.values()):
        return None  # nobody settled it, so the library refuses
    return [name for name, each in found.items() if each == {"public"}]
