# SPDX-License-Identifier: Apache-2.0
"""All experiments as Markdown, with pictures in a folder beside it."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.papers.experiment import PAPERS
from shoal.papers.figure import agreement_svg
from shoal.papers.told import TITLE, UNKEPT, Told, by_experiment, by_paper, counts, how, percentages, told_versions


def page_markdown(told: Sequence[Told], pictures: str) -> str:
    """The page as Markdown; pictures are files of a folder beside it."""
    hold, claims, near, numbers = counts(told)
    parts = [
        f"# {TITLE}",
        f"{hold} of {claims} claims hold; {near} of {numbers} published numbers are as near as their tolerance asks.",
    ]
    if agreement_svg(percentages(told)):
        parts.append(f"![Published numbers against ours]({pictures}/agreement.svg)")
    parts += [by_paper(told).markdown(), by_experiment(told).markdown(), "## Claims", claims_markdown(told)]
    for paper, (name, citation) in PAPERS.items():
        own = [each for each in told if each.experiment.paper == paper]
        if own:
            parts += [f"## {name}", f"{citation}."]
            parts += [part for each in own for part in _experiment_markdown(each, pictures)]
    parts += ["## Measured with", "\n".join(f"- {each}" for each in told_versions(told))]
    return "\n\n".join(parts) + "\n"


def claims_markdown(told: Sequence[Told]) -> str:
    """All claims and what came of them, as one table."""
    lines = ["| where | claim | here |", "|---|---|---|"]
    for each in told:
        for one in each.judged:
            place = f"{PAPERS[each.experiment.paper][0]}, {one.claim.place}"
            lines.append(f"| {place} | {one.claim.says} | {one.outcome.verdict} |")
    return "\n".join(lines)


def _experiment_markdown(each: Told, pictures: str) -> list[str]:
    own = each.experiment
    quick = ", quick run" if each.done.quick and each.done.points is not None else ""
    parts = [f"### {own.title} ({own.place}{quick})", own.claim]
    if each.done.points is None:
        return [*parts, f"Not measured: {each.done.measured} of {each.done.units} units are there."]
    if each.figure:
        parts.append(f"![{own.title}]({pictures}/{own.id}.svg)")
    parts += [grid.markdown() for grid in each.grids]
    for one in each.judged:
        why = f" {one.claim.otherwise}" if one.outcome.verdict in UNKEPT else ""
        parts.append(f"- **{one.outcome.verdict}**: {one.claim.says} {one.outcome.sentence}{why}")
    parts += [f"- {note}" for note in own.notes]
    parts.append("\n".join(f"- {name}: {text}" for name, text in how(each)))
    return parts
