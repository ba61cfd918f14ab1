# SPDX-License-Identifier: Apache-2.0
"""``shoal repair``: take back as little of a tree or a forest as a requirement needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from shoal.cli import output
from shoal.cli.asking import Question, question
from shoal.cli.options import Data, Json, Report, TrustPickle, Usage, takes
from shoal.cli.project import Project
from shoal.cli.tables import read_data, read_for, source_of
from shoal.cli.things import Thing, open_thing


@takes("k", "confidence", "public", "roles", "sensitive", "person", "reading")
def repair(
    project: Project,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A tree or a forest: a release, a scikit-learn model (.skops), or what Weka prints of a J48 tree.",
        ),
    ],
    data: Data = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the repaired release to this file.")
    ] = None,
    test: Annotated[
        Path | None, typer.Option("--test", metavar="FILE", help="Other rows, to tell what the repair costs on them.")
    ] = None,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Keep also splits and trees that the requirement allows but that do not pay."),
    ] = False,
    method: Annotated[
        Literal["splits", "atp"],
        typer.Option(
            "--method",
            help="splits: put splits back while the promise holds. atp: keep all splits of a single tree and merge "
            "branches that break it.",
        ),
    ] = "splits",
    report: Report = None,
    trust_pickle: TrustPickle = False,
    as_json: Json = False,
) -> None:
    """Take back of a tree or a forest what the promise forbids.

    Splits are collapsed, merged or passed over until every group keeps what -k, --confidence or [privacy] of
    shoal.toml ask for. What leaves asks for the original columns, and is written only if its audit holds.
    """
    from shoal.repair import repair as mend

    with output.busy("Reading"):
        opened = open_thing(model, trust_pickle=trust_pickle)
        _check(opened)
        source = source_of(project, data)
        output.check_outputs([out, report], [model, source, test, project.file])
        if report is not None:
            output.check_report()
        asked = question(opened, project, source)
    with output.busy("Repairing"):
        done = mend(
            asked.what,
            asked.X,
            asked.y,
            test=_test(test, asked, project),
            prune=not keep,
            method=method,
            **_options(asked, project),
        )
    if report is not None:
        output.write_audit_report(report, done.release, done.audit)
    if out is not None:
        output.write_release(out, done.release)
    if as_json:
        output.say_json({"release": done.release.to_json(), **done.to_json(), "written": output.written})
        return
    output.say(str(done.release))
    output.say()
    output.say(str(done))
    output.say()
    output.say_audit(done.audit)
    for path in output.written:
        output.say(f"wrote {path}")


def _check(opened: Thing) -> None:
    """Refuse what cannot be repaired, and say what to do instead."""
    kind = opened.what.kind if opened.kind == "release" else opened.kind
    again = {
        "clusters": "clusters are mined again, with shoal clusters -k",
        "rules": "rules are mined again, with shoal rules -k",
        "table": "a table is made again, with shoal anonymize -k",
        "joint": "a joint model tells what the owners' files tell, and each owner repairs his own",
        "projections": "projections are made again, with shoal partition -k",
    }
    if kind in again:
        raise Usage(f"shoal repair takes a tree or a forest; {again[kind]}.")


def _options(asked: Question, project: Project) -> dict[str, Any]:
    """The arguments of `shoal.repair.repair` that an audit of the same thing would have."""
    if asked.release is not None:
        return {name: asked.options[name] for name in ("privacy", "public", "person")}
    public = [name for name in asked.options["public"] if name != asked.y]
    given = {name: asked.options[name] for name in ("privacy", "domain", "sensitive", "person")}
    return {**given, "public": public, "target_role": project.target_role}


def _test(path: Path | None, asked: Question, project: Project) -> tuple[Any, Any] | None:
    if path is None:
        return None
    rows = read_data(project, path) if asked.release is None else read_for(asked.release, project, path)
    return rows, asked.y
