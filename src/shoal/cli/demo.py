# SPDX-License-Identifier: Apache-2.0
"""``shoal demo``: everything once, on an invented clinic."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import output
from shoal.cli.options import Json
from shoal.cli.project import NAME, read_project
from shoal.cli.tables import read_data, resolve_roles, source_of
from shoal.cli.tree import mine
from shoal.errors import DataError

MAX_LEAVES = 12  # as many as one looks at with pleasure
TABLE, TREE, REPORT = "clinic.csv", "tree.json", "audit.html"


def demo(
    folder: Annotated[
        Path, typer.Option(metavar="DIR", help="Where to put its files; made if it is not there.")
    ] = Path("demo"),
    as_json: Json = False,
) -> None:
    """Try everything on an invented clinic.

    Mines a k-anonymous tree, audits it, and writes the table, shoal.toml, the release and a report.
    """
    from shoal.data import write_sample

    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "demo"
        write_sample(made)
        project = read_project(made / NAME)
        table = read_data(project, source_of(project, None))
        with output.busy("Mining"):
            release, verdict = mine(project, table, resolve_roles(project, table), max_leaves=MAX_LEAVES)
        files = {path.name: path.read_text(encoding="utf-8") for path in sorted(made.iterdir())}
    _check_ours(folder, files)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError("no-folder", f"Cannot make the folder {str(folder)!r}: {error.strerror}.") from None
    for name, text in files.items():
        output.write_text(folder / name, text)
    output.write_audit_report(folder / REPORT, release, verdict)
    output.write_release(folder / TREE, release)
    if as_json:
        output.say_json({"release": release.to_json(), "audit": verdict.to_json(), "written": output.written})
        return
    output.say(str(release))
    output.say()
    output.say_audit(verdict)
    output.say()
    output.say(f"wrote {', '.join(Path(path).name for path in output.written)} to {folder}")
    shoal = _program(folder)
    output.say(f"What an attacker learns:  cd {folder} && {shoal} attack {TREE} {TABLE}")
    output.say(f"A stronger promise:       cd {folder} && {shoal} tree -k 100 --max-leaves 20 -o tree100.json")


def _program(folder: Path) -> str:
    """How to call this program from a folder: by its name, or where it lies if no search path has it."""
    called = Path(sys.argv[0])
    if called.name == "shoal" and shutil.which("shoal") is None:
        return os.path.relpath(called, folder)
    return "shoal"


def _check_ours(folder: Path, files: dict[str, str]) -> None:
    """Overwrite only in a folder that holds the demo's own table, so that nobody's project file is lost."""
    there = [name for name in (*files, TREE, REPORT) if (folder / name).exists()]
    if not there:
        return
    table = folder / TABLE
    if not table.is_file() or table.read_bytes() != files[TABLE].encode():
        raise DataError(
            "file-exists",
            f"{str(folder)!r} already has {', '.join(there)}, not the demo's own. Choose another --folder.",
        )
