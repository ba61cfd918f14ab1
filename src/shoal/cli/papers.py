# SPDX-License-Identifier: Apache-2.0
"""``shoal papers``: every table and figure of the papers, measured here and now beside its published numbers."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import output
from shoal.cli.options import Json, Usage
from shoal.errors import DataError

if TYPE_CHECKING:
    from shoal.papers.experiment import Experiment
    from shoal.papers.runner import Done, Runs, Tell

papers = typer.Typer(
    name="papers",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run the experiments of the papers anew.\n\nEvery table and figure beside its published numbers. "
    "What was measured is kept in a folder, unit by unit: a run that was cut goes on where it was.",
)

DataFolder = Annotated[
    Path | None, typer.Option("--data", envvar="SHOAL_DATA", metavar="DIR", help="The folder of benchmark data.")
]
Results = Annotated[
    Path, typer.Option("--results", envvar="SHOAL_PAPERS", metavar="DIR", help="The folder where results are kept.")
]
FOLDER = Path("shoal-papers")


@papers.command("list")
def list_(as_json: Json = False) -> None:
    """List every table and figure with a one-line claim."""
    from shoal.papers.experiment import PAPERS, all_experiments

    found = list(all_experiments().values())
    if as_json:
        output.say_json([_about(each) for each in found])
        return
    rows = [[each.id, f"{PAPERS[each.paper][0]}, {each.place}", each.claim] for each in found]
    output.say_table(["experiment", "where", "claim"], rows)


@papers.command()
def run(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help="Experiments, as the list names them.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer repetitions and smaller settings: minutes, not hours.")
    ] = False,
    data: DataFolder = None,
    results: Results = FOLDER,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, metavar="N", help="Processes; as many as cores if left out.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure experiments, and tell what comes of each.

    Only what is not in the folder of results yet is measured. With --all, experiments whose data are missing are left
    out and named, and the exit code is 1.
    """
    from shoal.papers.experiment import all_experiments, get_experiments
    from shoal.papers.runner import Runs

    if bool(ids) == everything:
        raise Usage('Name experiments, or give --all. "shoal papers list" shows them.')
    asked = list(all_experiments().values()) if everything else get_experiments(ids or [])
    runs = Runs(results, data)
    there, missing = _with_data(runs, asked)
    if missing and not everything:
        raise missing[0][1]
    if missing:
        _note_missing(runs, [each for each, _ in missing])
    try:
        with _progress() as tell:
            failures = runs.run(there, quick=quick, jobs=jobs, tell=tell)
    except KeyboardInterrupt:
        output.note("interrupted. What was measured is kept: the same command goes on from there.")
        raise
    done = [runs.result(each, quick=quick) for each in there]
    if as_json:
        output.say_json([_result(each) for each in done])
    else:
        for each in done:
            _say(each)
    for failure in failures:
        options = ", ".join(f"{key} {value}" for key, value in failure.planned.unit.options.items())
        output.note(f"not measured: {failure.planned.recipe} ({options}): {failure.why}")
    if missing:
        output.note(f"left out for want of data: {', '.join(each.id for each, _ in missing)}.")
    if failures or missing:
        raise typer.Exit(1)


def _with_data(runs: Runs, asked: list[Experiment]) -> tuple[list[Experiment], list[tuple[Experiment, DataError]]]:
    """Experiments whose data are there, and others with what is missing."""
    there, missing = [], []
    for each in asked:
        try:
            runs.data(each)
            there.append(each)
        except DataError as error:
            missing.append((each, error))
    return there, missing


def _note_missing(runs: Runs, experiments: list[Experiment]) -> None:
    """Say once what is missing or wrong in the data of many experiments."""
    try:
        runs.data(*experiments)
    except DataError as error:
        output.note(str(error))


@contextlib.contextmanager
def _progress() -> Iterator[Tell]:
    """A bar with the remaining time where somebody looks, else a line for each unit on standard error."""
    if not sys.stderr.isatty():
        yield lambda done, total, told: output.note(f"{done / total:.0%} measured: {told}") if told else None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("remaining"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[told]}"),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=600)
    with bar:
        task = bar.add_task("Measuring", total=None, told="")
        yield lambda done, total, told: bar.update(task, completed=done, total=total, told=output.clean(told)[:60])


def _about(experiment: Experiment) -> dict[str, Any]:
    return {
        "id": experiment.id,
        "paper": experiment.paper,
        "place": experiment.place,
        "title": experiment.title,
        "claim": experiment.claim,
        "data": list(experiment.data),
        "claims": [each.says for each in experiment.claims],
    }


def _result(done: Done) -> dict[str, Any]:
    from shoal.papers.judge import compare, judge

    told = {"id": done.experiment.id, "quick": done.quick, "units": done.units, "measured": done.measured}
    if done.points is None:
        return told
    return {
        **told,
        "seconds": round(done.seconds, 1),
        "points": [{"panel": p.panel, "series": p.series, "x": p.x, "value": p.value} for p in done.points],
        "published": [
            {
                "place": each.published.place,
                "panel": each.published.panel,
                "series": each.published.series,
                "x": each.published.x,
                "published": each.published.value,
                "ours": each.ours,
                "agrees": each.agrees,
            }
            for each in compare(done.experiment, done.points)
        ],
        "claims": [
            {"says": each.claim.says, "verdict": each.outcome.verdict, "found": each.outcome.sentence}
            for each in judge(done.experiment, done.points)
        ],
    }


def _say(done: Done) -> None:
    from shoal.papers.judge import compare, judge
    from shoal.papers.told import reasons

    if done.points is None:
        output.say(f"{done.experiment.id}: {done.measured} of {done.units} units measured")
        return
    beside = [each for each in compare(done.experiment, done.points) if each.agrees is not None]
    near = sum(bool(each.agrees) for each in beside)
    quick = ", quick run" if done.quick else ""
    agree = f"; {near} of {len(beside)} published ones agree" if beside else ""
    output.say(f"{done.experiment.id}{quick}: {len(done.points)} numbers{agree}")
    styles = {"holds": "green", "does not hold": "red", "depends": "yellow", "not measured": "dim"}
    for each in judge(done.experiment, done.points):
        output.say(f"  {each.outcome.verdict}: {each.claim.says}", styles[each.outcome.verdict])
        output.say(f"      {each.outcome.sentence}")
        if reasons(each):
            output.say(f"      Why: {reasons(each)}")


@papers.command()
def report(
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="Where to write the page.")] = Path(
        "papers.html"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Show quick runs, also where whole ones are there.")] = False,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Of no use here: a report reads no data.")
    ] = None,
    results: Results = FOLDER,
    as_json: Json = False,
) -> None:
    """Write all results as a page: HTML in one file, and Markdown with its pictures beside it.

    Of each experiment the whole run is shown if it is there, else the quick one.
    """
    from shoal.papers.experiment import all_experiments
    from shoal.papers.page import write_page
    from shoal.papers.runner import Runs

    if out.suffix != ".html":
        raise Usage("The page is HTML: give -o a name that ends in .html.")
    output.check_outputs([out, out.with_suffix(".md")])
    runs = Runs(results)
    done = [runs.result(each, quick=True if quick else None) for each in all_experiments().values()]
    if not any(each.points for each in done):
        raise DataError(
            "no-results", f"No experiment is measured in {str(results)!r} yet. Try: shoal papers run --all --quick."
        )
    output.written.extend(map(str, write_page(out, done)))
    if as_json:
        output.say_json({"results": [_result(each) for each in done], "written": output.written})
        return
    for path in output.written[:2]:
        output.say(f"wrote {path}")
