# SPDX-License-Identifier: Apache-2.0
"""``shoal partition``: publish columns in several projections that keep a level when they are joined again."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import output
from shoal.cli.asking import as_level
from shoal.cli.options import Data, Json, Report, Usage, takes
from shoal.cli.partitioned import best_of, frontier_told, publish, say_frontier, watched
from shoal.cli.project import Project
from shoal.cli.tables import read_data, resolve_roles, source_of

if TYPE_CHECKING:
    from shoal.data import Table
    from shoal.partition.pareto import Frontier
    from shoal.privacy import Requirement


class Learner(StrEnum):
    """What is learned of each projection."""

    c45 = "c45"
    bayes = "bayes"


class Demand(StrEnum):
    """What is asked beyond PartAL, of whoever puts all projections side by side."""

    open = "open"
    k_anonymity = "k-anonymity"


@takes("k", "confidence", "public", "roles", "hierarchies", "reading")
def partition(
    project: Project,
    data: Data = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write the release to this .json file, its projections beside it."
        ),
    ] = None,
    learn: Annotated[
        Learner, typer.Option("--learn", metavar="c45|bayes", help="The classifier of each projection.")
    ] = Learner.c45,
    population: Annotated[int, typer.Option(metavar="N", help="Partitionings in a generation.")] = 50,
    generations: Annotated[int, typer.Option(metavar="N", help="Generations of the search.")] = 100,
    folds: Annotated[int, typer.Option(metavar="N", help="Folds that an accuracy is averaged over.")] = 5,
    max_seconds: Annotated[
        float | None, typer.Option(metavar="S", help="End the search after the generation that is done by then.")
    ] = None,
    demand: Annotated[
        Demand | None,
        typer.Option(
            metavar="open|k-anonymity",
            help="Ask for more than PartAL: that all projections together leave everybody's class open, or that they "
            "are k-anonymous together.",
        ),
    ] = None,
    suppress: Annotated[
        float,
        typer.Option(
            "--suppress", metavar="SHARE", help="The share of rows that may be left out, so that more columns fit."
        ),
    ] = 0.0,
    level_aware: Annotated[
        bool, typer.Option("--level-aware", help="Put public numbers in intervals of at least k rows.")
    ] = False,
    overlapping: Annotated[bool, typer.Option("--overlapping", help="Let a column be in several projections.")] = False,
    chance: Annotated[
        list[str] | None,
        typer.Option(
            "--chance",
            metavar="COLUMN=P",
            help="A private column that an attacker knows after all with this probability, such as bmi=0.2. May be "
            "repeated.",
        ),
    ] = None,
    certainty: Annotated[
        float | None,
        typer.Option(
            "--certainty",
            metavar="P",
            help="With --chance: how probable it must be that the level is kept. Default: 1.",
        ),
    ] = None,
    trees: Annotated[
        bool,
        typer.Option(
            "--trees",
            help="Publish the C4.5 trees of the projections in place of their rows. No hierarchy is used then.",
        ),
    ] = False,
    pareto: Annotated[
        bool,
        typer.Option("--pareto", help="Search for all levels at once, and show what each step of privacy costs."),
    ] = False,
    runs: Annotated[int, typer.Option("--runs", metavar="N", help="With --pareto: so many independent searches.")] = 1,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="With --pareto: draw the frontier to this .png, .svg or .pdf file."
        ),
    ] = None,
    reproducible: Annotated[
        bool, typer.Option("--reproducible", help="Sort the rows instead of shuffling them: the same bytes every time.")
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of folds and search.")] = 0,
    report: Report = None,
    as_json: Json = False,
) -> None:
    """Publish columns in several projections, and learn from each.

    Each projection has the target. No hierarchy is needed. What is kept is PartAL: each projection alone is
    k-anonymous, and each row of two of them joined again is there k times. That is weaker than k-anonymity, and the
    audit says what it leaves open. Nothing is written unless the audit holds. Ctrl-C ends the search with the best that
    was found.
    """
    source = source_of(project, data)
    output.check_outputs([out, plot, report], [source, project.file])
    if plot is not None:
        if not pareto:
            raise Usage("--plot draws the frontier: say --pareto too.")
        output.check_plot(plot)
    if runs != 1 and not pareto:
        raise Usage("--runs is an option of --pareto.")
    for name, given, least in (
        ("population", population, 2),
        ("generations", generations, 1),
        ("folds", folds, 2),
        ("runs", runs, 1),
    ):
        if given < least:
            raise Usage(f"--{name} must be a whole number of at least {least}; got {given}.")
    if max_seconds is not None and not max_seconds > 0:
        raise Usage(f"--max-seconds must be a positive number; got {max_seconds}.")
    if certainty is not None and not chance:
        raise Usage("--certainty is of what an attacker knows by chance: say --chance too.")
    if report is not None:
        output.check_report()
    options: dict[str, Any] = {
        "estimator": learn.value,
        "population": population,
        "generations": generations,
        "folds": folds,
        "max_seconds": max_seconds,
        "open_classes": 2 if demand is Demand.open else 1,
        "suppress": suppress,
        "level_aware": level_aware,
        "overlapping": overlapping,
        "chances": _chances(chance or []),
        "certainty": 1.0 if certainty is None else certainty,
        "publish": "trees" if trees else "projections",
        "reproducible": reproducible,
        "random_state": seed,
    }
    k, requirement = _promise(project, demand, need_k=not pareto)
    table = read_data(project, source)
    roles = resolve_roles(project, table)
    if roles.target_role == "public":
        raise Usage("shoal partition publishes a private target with every projection: leave it out of --public.")
    rows = table.drop(roles.identifier)
    features = [name for name in rows.names if name != roles.target]
    if out is not None and not trees:  # a file for every projection, and there are no more of these than columns
        output.check_outputs([out.with_suffix(f".{number + 1}.csv") for number in range(len(features))], [source])
    options["public"] = list(roles.public)
    options["domain"] = {name: values for name, values in project.domain.items() if name in rows}
    options["hierarchies"] = None if trees else _hierarchies(project, rows, roles.target)
    fronts: list[Frontier] = []
    if pareto:
        from shoal.partition import PartitionedClassifier
        from shoal.partition.pareto import point_for

        with watched(generations * runs) as progress:
            search = PartitionedClassifier(privacy=requirement, progress=progress, **options)
            fronts = search.frontiers(rows, roles.target, runs=runs)
        chosen = point_for(best_of(fronts), k).partitioning
        options["partitioning"] = chosen.named(features)
    made = None
    if not pareto or out is not None or report is not None:
        made = publish(rows, roles.target, requirement, options, generations)
        if report is not None:
            output.write_audit_report(report, made.release, made.verdict)
        if out is not None:
            output.write_parts(out, made.release)
    if plot is not None:
        from shoal.report.plot_frontier import plot_frontier

        draw = [each.points for each in fronts]
        output.write_picture(plot, lambda: plot_frontier(*draw, k=k if project.privacy.get("k") else None).figure)
    if as_json:
        frontier = {"frontier": frontier_told(fronts, features)} if fronts else {}
        output.say_json({**frontier, **({} if made is None else made.to_json()), "written": output.written})
        return
    if fronts:
        say_frontier(fronts, features)
    if made is not None:
        made.say()
    for path in output.written:
        output.say(f"wrote {path}")


def _promise(project: Project, demand: Demand | None, *, need_k: bool) -> tuple[int, Requirement]:
    """The level, and all that is required: k of the project is a level here, the rest is asked of groups."""
    from shoal.privacy import PartAL, partal_asked

    asked = project.requirement()
    if asked is None:
        if need_k:
            raise Usage("No promise: say which level to keep, with -k 10 or [privacy] k in shoal.toml.")
        return 1, PartAL(1)
    level = as_level(asked)
    k = partal_asked(level)
    if k is None:
        k, level = 1, PartAL(1) & level
    both: Requirement = level & asked  # type: ignore[operator]
    return k, both if demand is Demand.k_anonymity else level


def _chances(given: list[str]) -> dict[str, float]:
    """The probability of each column that an attacker knows by chance."""
    found: dict[str, float] = {}
    for each in given:
        name, _, text = each.rpartition("=")
        try:
            chance = float(text)
        except ValueError:
            chance = float("nan")
        if not name or name in found or not 0 < chance <= 1:
            raise Usage(
                "--chance names a column, each once, and a probability above 0 and at most 1, such as bmi=0.2; "
                f"got {each!r}."
            )
        found[name] = chance
    return found


def _hierarchies(project: Project, rows: Table, target: str) -> dict[str, Any] | None:
    from shoal.data import load_hierarchies

    found = load_hierarchies(project.hierarchies, rows.names, project.folder)
    return {name: each for name, each in found.items() if name != target} or None
