# SPDX-License-Identifier: Apache-2.0
"""``shoal audit``: what can an outsider tie to whom, and does a promise hold?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import output
from shoal.cli.asking import Question, question
from shoal.cli.options import Data, Engine, EngineOption, Json, Plot, Report, TrustPickle, Usage, takes
from shoal.cli.project import Project
from shoal.cli.tables import source_of
from shoal.cli.things import Thing, open_thing
from shoal.cli.tree import BREACH

if TYPE_CHECKING:
    from shoal.audit import Audit
    from shoal.audit.telling import ColumnRanking
    from shoal.cli.project import Where


@takes("k", "confidence", "public", "roles", "sensitive", "person", "hierarchies", "reading")
def audit(
    project: Project,
    thing: Annotated[
        Path,
        typer.Argument(
            metavar="THING",
            help="A release, a fitted model, a table that claims to be anonymised, or a CSV of association rules.",
        ),
    ],
    data: Data = None,
    columns: Annotated[
        bool, typer.Option("--columns", help="Rank the columns by what each tells, or would tell if it were known.")
    ] = False,
    report: Report = None,
    plot: Plot = None,
    people: Annotated[
        Path | None,
        typer.Option("--people", metavar="FILE", help="Write the rows at risk to this CSV: numbers and counts only."),
    ] = None,
    trust_pickle: TrustPickle = False,
    engine: EngineOption = Engine.memory,
    as_json: Json = False,
) -> None:
    """Recount the groups of anything: does a promise hold?

    THING is a release of Shoal; a scikit-learn model (.skops), a LightGBM or XGBoost model as its library writes it as
    text or JSON; a generalised table (.csv, .parquet); or association rules (a CSV with the columns antecedents and
    consequents). DATA are the rows it was learned from; a table can be audited without them. Exit code 3 means a
    breach.

    Of a release is asked what it claims, and what [privacy] of shoal.toml requires besides; -k or --confidence
    ask something else instead. Anything else claims nothing, so -k, --confidence or [privacy] must say what to ask.
    Roles are those of the options and shoal.toml; where they say nothing, those of a release are its own, and of
    anything else every column but the target is public.
    """
    if engine is not Engine.memory and (columns or people is not None):
        raise Usage("--columns and --people look at every row by itself: leave them out, or take --engine memory.")
    with output.busy("Reading"):
        opened = open_thing(thing, trust_pickle=trust_pickle)
        source = _source(opened, project, data)
        output.check_outputs([report, plot, people], [thing, source, project.file])
        if report is not None:
            output.check_report()
        if plot is not None:
            output.check_plot(plot, opened.what)
        asked = question(opened, project, source, engine=engine)
    with output.busy("Counting"):
        verdict = asked.audit()
        ranking = asked.rank() if columns else None
        if report is not None:
            output.write_audit_report(report, asked.release, verdict, tree=asked.tree(verdict), columns=ranking)
    if plot is not None:
        output.write_clusters_plot(plot, asked.what, asked.features(), verdict)
    if people is not None:
        output.write_text(people, output.csv_text(output.rows_at_risk(verdict)))
    _say(asked, verdict, ranking, as_json)
    if not verdict.holds:
        raise typer.Exit(BREACH)


def _source(opened: Thing, project: Project, data: str | None) -> Where | None:
    """The rows. A table can be recounted by itself; anything else needs what it was learned from."""
    alone = opened.kind == "table" or (opened.kind == "release" and opened.what.kind == "table")
    if data is None and alone and (project.source is None or opened.kind == "table"):
        return None
    if data is None and project.source is None:
        raise Usage(
            "No table: name the rows that it was learned from after it, or as source under [data] of shoal.toml."
        )
    return source_of(project, data)


def _say(asked: Question, verdict: Audit, ranking: ColumnRanking | None, as_json: bool) -> None:
    if as_json:
        told = {} if ranking is None else {"ranking": ranking.to_json()}
        output.say_json({**verdict.to_json(), **told, "written": output.written})
        return
    if asked.note:
        output.note(asked.note)
    output.say_audit(verdict)
    if ranking is not None:
        output.say()
        output.say(str(ranking))
    for path in output.written:
        output.say(f"wrote {path}")
