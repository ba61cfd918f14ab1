# SPDX-License-Identifier: Apache-2.0
"""What is told of experiments, on a page or in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shoal.papers.data import manifest
from shoal.papers.experiment import PAPERS, Experiment
from shoal.papers.figure import drawn_panels, figure_svg
from shoal.papers.grids import Cell, Grid, grids
from shoal.papers.judge import UNKEPT, Beside, Judged, compare, judge
from shoal.papers.registry import Points
from shoal.papers.runner import Done
from shoal.papers.store import source_sha256

TITLE = "Four papers, reproduced"
EXAMPLES = "worked-example"  # the recipe of what a paper works through by hand


@dataclass(frozen=True)
class Told:
    """An experiment with everything that is said of it."""

    done: Done
    beside: tuple[Beside, ...]
    judged: tuple[Judged, ...]
    grids: tuple[Grid, ...]
    figure: str

    @property
    def experiment(self) -> Experiment:
        """The experiment."""
        return self.done.experiment

    @classmethod
    def of(cls, done: Done) -> Told:
        """Compare, judge and draw what was measured."""
        own, points = done.experiment, done.points
        if points is None:
            return cls(done, (), (), (), "")
        return cls(
            done,
            tuple(compare(own, points)),
            tuple(judge(own, points)),
            tuple(grids(own, points)),
            figure_svg(own, points),
        )


def percentages(told: Sequence[Told]) -> list[Beside]:
    """Published numbers that are per cent; panels that are not drawn have other units."""
    return [
        one
        for each in told
        if "%" in each.experiment.plot.y
        for one in each.beside
        if one.published.panel not in each.experiment.plot.undrawn
    ]


def counts(told: Iterable[Told]) -> tuple[int, int, int, int]:
    """How many claims hold, of those that were measured; published numbers that agree, of those with a tolerance."""
    judged = [one for each in told for one in each.judged if one.outcome.verdict != "not measured"]
    beside = [one for each in told for one in each.beside if one.agrees is not None]
    right = sum(one.outcome.verdict == "holds" for one in judged)
    return right, len(judged), sum(bool(one.agrees) for one in beside), len(beside)


def unmeasured(told: Iterable[Told]) -> tuple[int, int]:
    """How many claims, and published numbers with a tolerance, nothing was measured of; `counts` leaves them out."""
    own = [each for each in told if each.done.points is not None]
    claims = sum(one.outcome.verdict == "not measured" for each in own for one in each.judged)
    numbers = sum(one.ours is None and one.published.tolerance is not None for each in own for one in each.beside)
    return claims, numbers


def unkept(told: Iterable[Told]) -> str:
    """How many claims depend, how many do not hold, and how many of both do not by their paper's own numbers either."""
    judged = [one for each in told for one in each.judged if one.outcome.verdict in UNKEPT]
    depend = sum(one.outcome.verdict == "depends" for one in judged)
    unborne = sum(one.unborne for one in judged)
    said = f"{depend} depend, {len(judged) - depend} do not hold"
    return said + (f"; {unborne} of these {len(judged)} do not by their paper's own numbers either" if unborne else "")


def reasons(one: Judged) -> str:
    """Why a claim does not hold, where it does not."""
    told = one.claim.otherwise if one.outcome.verdict in UNKEPT else ""
    if one.unborne:
        told += f" By the numbers that the paper prints: {one.printed.verdict}. {one.printed.sentence}"
    return told.strip()


def where(each: Told, one: Judged) -> str:
    """Where a claim is made: in a paper, or of which table where it is ours."""
    paper = each.experiment.paper
    return f"{PAPERS[paper][0]}, {each.experiment.place if paper == 'beyond' else one.claim.place}"


def run_words(each: Told) -> str:
    """Said wherever numbers are of a quick run."""
    return "quick run" if each.done.quick and each.done.points is not None else ""


def caption(each: Told) -> str:
    """What is below a picture.

    A unit of an axis stands behind a comma there, in brackets here.
    """
    own, panels = each.experiment, drawn_panels(each.experiment.plot, each.done.points or Points([]))
    x, y = (f"{text[:-3]} (%)" if text.endswith(", %") else text for text in (own.plot.x, own.plot.y))
    told = f"{PAPERS[own.paper][0]}, {own.place}: {y} by {x}." if x else f"{PAPERS[own.paper][0]}, {own.place}: {y}."
    return told + (" Each panel has scales of its own." if len(panels) > 1 else "")


def cpu_seconds(told: Iterable[Told]) -> float:
    """The CPU seconds of everything that was measured; what experiments share counts once."""
    return sum({kept.key: kept.seconds for each in told for kept in each.done.kept}.values())


def by_paper(told: Sequence[Told]) -> Grid:
    """For each paper: how many experiments were measured, claims that hold, and published numbers that agree."""
    rows = []
    for paper, (name, _) in PAPERS.items():
        own = [each for each in told if each.experiment.paper == paper]
        hold, claims, near, numbers = counts(own)
        measured = sum(each.done.points is not None for each in own)
        if own:
            cells = (
                name,
                f"{measured} of {len(own)}",
                f"{hold} of {claims}",
                f"{near} of {numbers}" if numbers else "",
            )
            rows.append(tuple(map(Cell, cells)))
    return Grid(("paper", "experiments measured", "claims that hold", "published numbers that agree"), tuple(rows), 1)


def in_short(told: Sequence[Told]) -> Grid:
    """For each table and figure: its claim in one line, how many claims hold, and published numbers that agree.

    What a paper works through by hand is one row.
    """
    rows: dict[tuple[str, str], tuple[str, list[Told]]] = {}
    for each in told:
        own = each.experiment
        if own.recipe == EXAMPLES:
            rows.setdefault((own.paper, "examples"), ("", []))[1].append(each)
        else:
            rows[own.paper, own.place] = own.claim, [*rows.get((own.paper, own.place), ("", []))[1], each]
    cells = []
    for (paper, place), (claim, group) in rows.items():
        hold, claims, near, numbers = counts(group)
        worked = "What it works through by hand: " + "; ".join(each.experiment.place for each in group) + "."
        parts = (
            f"{PAPERS[paper][0]}, {place}",
            claim or worked,
            f"{hold} of {claims}" if claims else "",
            f"{near} of {numbers}" if numbers else "",
        )
        cells.append(tuple(map(Cell, parts)))
    return Grid(("where", "what it says", "claims that hold", "numbers that agree"), tuple(cells), 2)


def how(each: Told) -> list[tuple[str, str]]:
    """How an experiment was measured, in named sentences."""
    own, done = each.experiment, each.done
    asked = ", ".join(f"{name} {_plain(value)}" for name, value in own.asked(quick=done.quick).items())
    titles = ", ".join(manifest()[name].title for name in own.data)
    units = f"{done.units} units" if done.units > 1 else "1 unit"
    return [
        ("Data", f"{titles}." if titles else "What the paper prints."),
        ("Split", own.split),
        ("Seeds", own.seeds),
        ("Settings", asked + "."),
        ("Measured", f"{units}, {told_time(done.seconds)} of CPU."),
    ]


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(own)}" for key, own in value.items()) or "as they are"
    return str(value).replace("'", "")


def told_time(seconds: float) -> str:
    """A time as people say it.

    >>> told_time(42), told_time(600), told_time(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def told_versions(told: Sequence[Told]) -> list[str]:
    """The versions of everything that measured, one line for each set of them, with how many units it measured.

    Where the code that recipes call was another then, as in a working copy, the last line says so.
    """
    every = {kept.key: kept for each in told for kept in each.done.kept}
    found = Counter(", ".join(f"{name} {number}" for name, number in kept.versions.items()) for kept in every.values())
    other = sum(kept.source != source_sha256() for kept in every.values())
    said = f"{other:,} of {len(every):,} units were measured when Shoal's code was not yet what it is now"
    return [*(f"{versions} ({units:,} units)" for versions, units in found.most_common()), *([said] if other else [])]
