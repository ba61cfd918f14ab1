# SPDX-License-Identifier: Apache-2.0
"""Checks of what Matatov et al. claim of partitionings."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.papers.registry import Outcome, Points, X, check, depends, fails, holds

NOTHING = "Nothing of it was measured."


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
        return depends(NOTHING)
    told = f"Above the baseline: {'; '.join(above) or 'none'}." + (f" Not: {'; '.join(below)}." if below else "")
    if not below:
        return holds(told)
    return depends(told) if len(above) > len(below) else fails(told)


@check("no-gain")
def no_gain(points: Points, *, series: str, x: X, slack: float, panels: Sequence[str]) -> Outcome:
    """Nothing in these panels is above one setting by more than `slack`."""
    gains = {
        f"{panel}, {name} × {place}": value - points.of(series, panel)[x]
        for panel in panels
        if x in points.of(series, panel)
        for name in points.series(panel)
        for place, value in points.of(name, panel).items()
    }
    if not gains:
        return depends(NOTHING)
    best = max(gains, key=lambda name: gains[name])
    told = f"The most that is gained is {gains[best]:+.2f} points ({best})."
    return holds(told) if gains[best] <= slack else fails(told)


@check("reaches")
def reaches(points: Points, *, series: str, panel: str, level: float, low: float, high: float) -> Outcome:
    """The accuracy of a frontier at a level lies between two numbers."""
    value = _at_level(points, series, panel, level)
    if value is None:
        return depends(NOTHING)
    told = f"At level {level:,.0f} it is {value:.2f}."
    return holds(told) if low <= value <= high else fails(told)


@check("step")
def step(points: Points, *, series: str, panel: str, before: float, after: float, low: float, high: float) -> Outcome:
    """What is lost on a frontier between two levels lies between two numbers."""
    one, two = (_at_level(points, series, panel, level) for level in (before, after))
    if one is None or two is None:
        return depends(NOTHING)
    told = f"From {one:.2f} at level {before:,.0f} to {two:.2f} at {after:,.0f}: {one - two:.2f} points."
    return holds(told) if low <= one - two <= high else fails(told)


def _at_level(points: Points, series: str, panel: str, level: float) -> float | None:
    """The highest accuracy at or beyond a level."""
    own = points.of(series, panel)
    return max((value for x, value in own.items() if float(x) >= level), default=None)
