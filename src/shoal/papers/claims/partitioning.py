# SPDX-License-Identifier: Apache-2.0
"""Checks of what Matatov et al. claim of partitionings."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from shoal.papers.registry import Outcome, Points, X, check, depends, fails, holds, unmeasured


@check("beats-baseline")
def beats_baseline(points: Points, *, series: str, tables: Sequence[str]) -> Outcome:
    """Of each table, some level above 1 is more accurate than the original columns, for all learners."""
    above: list[str] = []
    below: list[str] = []
    for panel in points.panels():
        if panel.split(",")[0] in tables:
            own = points.of(series, panel)
            if "baseline" not in own:
                continue
            best = max(value for x, value in own.items() if x not in ("baseline", 1))
            told = f"{panel} {own['baseline']:.2f} to {best:.2f}"
            (above if best > own["baseline"] else below).append(told)
    if not above and not below:
        return unmeasured()
    told = f"Above the baseline: {'; '.join(above) or 'none'}." + (f" Not: {'; '.join(below)}." if below else "")
    if not below:
        return holds(told)
    return depends(told) if len(above) > len(below) else fails(told)


@check("no-gain")
def no_gain(points: Points, *, series: str, x: X, slack: float, panels: Sequence[str]) -> Outcome:
    """Nothing at this place or beyond it is above one setting by more than `slack`, in any of these panels."""
    gains = {
        f"{panel}, {name} × {place}": value - points.of(series, panel)[x]
        for panel in panels
        if x in points.of(series, panel)
        for name in points.series(panel)
        for place, value in points.of(name, panel).items()
        if float(place) >= float(x)
    }
    if not gains:
        return unmeasured()
    best = max(gains, key=lambda name: gains[name])
    told = f"The most that is gained is {gains[best]:+.2f} points ({best})."
    return holds(told) if gains[best] <= slack else fails(told)


@check("reaches")
def reaches(points: Points, *, series: str, panel: str, level: float, low: float, high: float) -> Outcome:
    """The accuracy of a frontier at a level lies between two numbers."""
    value = _at_level(points, series, panel, level)
    if value is None:
        return unmeasured()
    told = f"At level {level:,.0f} it is {value:.2f}."
    return holds(told) if low <= value <= high else fails(told)


@check("step")
def step(points: Points, *, series: str, panel: str, before: float, after: float, low: float, high: float) -> Outcome:
    """What is lost on a frontier between two levels lies between two numbers."""
    one, two = (_at_level(points, series, panel, level) for level in (before, after))
    if one is None or two is None:
        return unmeasured()
    told = f"From {one:.2f} at level {before:,.0f} to {two:.2f} at {after:,.0f}: {one - two:.2f} points."
    return holds(told) if low <= one - two <= high else fails(told)


@check("gap-grows")
def gap_grows(points: Points, *, first: str, second: str, panels: Sequence[Sequence[str]]) -> Outcome:
    """The first series less the second, on average, is larger in the last group of panels than in the first."""
    gaps = []
    for group in panels:
        own = [
            points.of(first, panel)[x] - points.of(second, panel)[x]
            for panel in group
            for x in points.of(first, panel)
            if x in points.of(second, panel)
        ]
        if not own:
            return unmeasured()
        gaps.append(fmean(own))
    where = [" and ".join(group) for group in (panels[0], panels[-1])]
    told = f"{first} less {second} is {gaps[0]:+.2f} on average in {where[0]}; {gaps[-1]:+.2f} in {where[1]}."
    return holds(told) if gaps[-1] > gaps[0] else fails(told)


@check("least-at")
def least_at(points: Points, *, series: str, panel: str, x: X) -> Outcome:
    """A series has its least value at one place."""
    own = points.of(series, panel)
    if x not in own:
        return unmeasured()
    told = f"{series}: " + ", ".join(f"{place} {value:.2f}" for place, value in own.items()) + "."
    return holds(told) if own[x] == min(own.values()) else fails(told)


def _at_level(points: Points, series: str, panel: str, level: float) -> float | None:
    """The highest accuracy at or beyond a level."""
    own = points.of(series, panel)
    return max((value for x, value in own.items() if float(x) >= level), default=None)
