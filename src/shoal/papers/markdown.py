# SPDX-License-Identifier: Apache-2.0
"""All experiments as Markdown, with pictures in a folder beside it."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.papers.experiment import PAPERS
from shoal.papers.figure import agreement_svg
from shoal.papers.grids import Cell, Grid
from shoal.papers.told import (
    TITLE,
    Told,
    by_paper,
    caption,
    counts,
    cpu_seconds,
    how,
    in_short,
    percentages,
    reasons,
    run_words,
    told_time,
    told_versions,
    unkept,
    unmeasured,
    where,
)


def page_markdown(told: Sequence[Told], pictures: str) -> str:
    """The page as Markdown; pictures are files of a folder beside it."""
    hold, claims, near, numbers = counts(told)
    silent, alone = unmeasured(told)
    more = f" Not measured: {silent} more claims and {alone} more numbers." if silent or alone else ""
    quick = sum(bool(run_words(each)) for each in told)
    parts = [
        f"# {TITLE}",
        f"{hold} of {claims} claims hold, {unkept(told)}; {near} of {numbers} published numbers are as near as their "
        f"tolerance asks.{more}{f' {quick} of {len(told)} experiments are of a quick run.' if quick else ''}",
    ]
    if agreement_svg(percentages(told)):
        parts.append(f"![Published numbers against ours]({pictures}/agreement.svg)")
    parts += [by_paper(told).markdown(), in_short(told).markdown(), "## Claims", claims_markdown(told)]
    for paper, (name, citation) in PAPERS.items():
        own = [each for each in told if each.experiment.paper == paper]
        if own:
            parts += [f"## {name}", f"{citation}."]
            parts += [part for each in own for part in _experiment_markdown(each, pictures)]
    measured = [
        *told_versions(told),
        f"{told_time(cpu_seconds(told))} of CPU in all, what experiments share counted once",
    ]
    parts += ["## Measured with", "\n".join(f"- {each}" for each in measured)]
    return "\n\n".join(parts) + "\n"


def claims_markdown(told: Sequence[Told]) -> str:
    """All claims and what came of them, as one table."""
    rows = []
    for each in told:
        quick = f" ({run_words(each)})" if run_words(each) else ""
        rows += [(where(each, one), one.claim.says, one.outcome.verdict + quick) for one in each.judged]
    return Grid(("where", "claim", "here"), tuple(tuple(map(Cell, row)) for row in rows), 3).markdown()


def _experiment_markdown(each: Told, pictures: str) -> list[str]:
    own = each.experiment
    quick = f", {run_words(each)}" if run_words(each) else ""
    parts = [f"### {own.title} ({own.place}{quick})", own.claim]
    if each.done.points is None:
        return [*parts, f"Not measured: {each.done.measured} of {each.done.units} units are there."]
    if each.figure:
        parts += [f"![{own.title}]({pictures}/{own.id}.svg)", caption(each)]
    parts += [grid.markdown() for grid in each.grids]
    judged = []
    for one in each.judged:
        why = f" Why: {reasons(one)}" if reasons(one) else ""
        judged.append(f"**{one.outcome.verdict}**: {one.claim.says} ({one.claim.place}) {one.outcome.sentence}{why}")
    measured = [f"{name}: {text}" for name, text in how(each)]
    for head, lines in (("Claims:", judged), ("Notes:", own.notes), ("How it was measured:", measured)):
        if lines:
            parts += [head, "\n".join(f"- {line}" for line in lines)]
    return parts
