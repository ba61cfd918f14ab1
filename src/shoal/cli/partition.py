# SPDX-License-Identifier: Apache-2.0
"""``shoal partition``: publish columns in several projections that keep a level when they are joined again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import output
from shoal.cli.asking import as_level
from shoal.cli.options import Data, Json, Report, Usage, takes
from shoal.cli.project import Project
from shoal.cli.tables import read_data, resolve_roles, source_of
from shoal.errors import PromiseError

if TYPE_CHECKING:
    from shoal.audit import Audit
    from shoal.data import Table
    from shoal.partition import PartitionedClassifier
    from shoal.partition.options import Generation, Point
    from shoal.partition.pareto import Frontier
    from shoal.privacy import Requirement
    from shoal.release import EnsembleRelease, ProjectionsRelease


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
    options["public"] = list(roles.public)
    options["domain"] = {name: values for name, values in project.domain.items() if name in rows}
    options["hierarchies"] = None if trees else _hierarchies(project, rows, roles.target)
    fronts: list[Frontier] = []
    if pareto:
        from shoal.partition import PartitionedClassifier
        from shoal.partition.pareto import point_for

        with _watched(generations * runs) as progress:
            search = PartitionedClassifier(privacy=requirement, progress=progress, **options)
            fronts = search.frontiers(rows, roles.target, runs=runs)
        chosen = point_for(_best_of(fronts), k).partitioning
        options["partitioning"] = chosen.named([name for name in rows.names if name != roles.target])
    made = None
    if not pareto or out is not None or report is not None:
        made = _publish(rows, roles.target, requirement, options, generations)
        if report is not None:
            output.write_audit_report(report, made.release, made.verdict)
        if out is not None:
            output.write_parts(out, made.release)
    if plot is not None:
        from shoal.report.plot_frontier import plot_frontier

        draw = [each.points for each in fronts]
        output.write_picture(plot, lambda: plot_frontier(*draw, k=k if project.privacy.get("k") else None).figure)
    if as_json:
        frontier = {"frontier": _frontier_told(fronts)} if fronts else {}
        output.say_json({**frontier, **({} if made is None else made.to_json()), "written": output.written})
        return
    if fronts:
        _say_frontier(fronts)
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


def _hierarchies(project: Project, rows: Table, target: str) -> dict[str, Any] | None:
    from shoal.data import load_hierarchies

    found = load_hierarchies(project.hierarchies, rows.names, project.folder)
    return {name: each for name, each in found.items() if name != target} or None


def _best_of(fronts: list[Frontier]) -> tuple[Point, ...]:
    """The frontier of several searches together."""
    from shoal.partition.pareto import non_dominated

    return non_dominated([point for each in fronts for point in each.points])


@dataclass(frozen=True)
class _Made:
    """What was published, and its audit."""

    model: PartitionedClassifier
    release: ProjectionsRelease | EnsembleRelease
    verdict: Audit

    def say(self) -> None:
        output.say(str(self.release))
        output.say()
        found = self.model.found_
        if found is not None:
            ended = "; interrupted" if found.interrupted else ""
            output.say(f"{found.looked_at:,} partitionings looked at, {found.judged:,} of them learned from{ended}")
        level, accuracy = self.model.level_, self.model.accuracy_
        output.say(f"level (PartAL) {level:,}; accuracy {accuracy:.4f}, as the search measured it")
        output.say()
        output.say_audit(self.verdict)

    def to_json(self) -> dict[str, Any]:
        return {
            "release": self.release.to_json(),
            "audit": self.verdict.to_json(),
            "level": self.model.level_,
            "accuracy": self.model.accuracy_,
            "projections": self.model.partitioning_,
            "interrupted": self.model.found_ is not None and self.model.found_.interrupted,
        }


def _publish(rows: Table, target: str, requirement: Requirement, options: dict[str, Any], generations: int) -> _Made:
    from shoal.audit import audit
    from shoal.partition import PartitionedClassifier

    with _watched(generations) as progress:
        model = PartitionedClassifier(privacy=requirement, progress=progress, **options).fit(rows, target)
    if model.release_ is None:
        raise PromiseError(
            "nothing-to-release",
            "No projection that keeps what is asked predicts better than always saying the most frequent class, so "
            "nothing is released. Ask for less, or allow rows to be left out (--suppress 0.01).",
        )
    return _Made(model, model.release_, audit(model.release_, rows))


@contextlib.contextmanager
def _watched(generations: int) -> Iterator[Any]:
    """What a search reports to: a bar with the best so far, where somebody is looking."""
    if not output.somebody_looks():
        yield None
        return
    done = 0
    with output.bar("Searching", generations) as move:

        def progress(now: Generation) -> None:
            nonlocal done
            done += 1
            best = now.best
            told = "nothing valid yet" if best is None else f"best {best.accuracy:.4f} at level {best.level:,}"
            move(done, told)

        yield progress


def _say_frontier(fronts: list[Frontier]) -> None:
    lines = [
        (each["level"], each["accuracy"], len(each["projections"]), "knee" if each["knee"] else "")
        for each in _frontier_told(fronts)
    ]
    header = ("level", "accuracy", "projections", "")
    output.say_table(header, lines, right=header[:3])
    if any(each.interrupted for each in fronts):
        output.say("The search was interrupted; this is what it had found.")
    output.say()


def _frontier_told(fronts: list[Frontier]) -> list[dict[str, Any]]:
    from shoal.partition.pareto import knees

    points = _best_of(fronts)
    bent = set(knees(points))
    return [
        {"level": each.level, "accuracy": each.accuracy, "projections": each.partitioning.features, "knee": i in bent}
        for i, each in enumerate(points)
    ]
