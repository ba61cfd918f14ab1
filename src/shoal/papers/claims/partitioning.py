# SPDX-License-Identifier: Apache-2.0
"""Checks of what Matatov et al. claim of partitionings."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from shoal.papers.registry import Outcome, Points, X, check, depends, fails, holds, unmeasured

SIGNIFICANT = 0.05


@check("beats-baseline")
def beats_baseline(points: Points, *, series: str, tables: Sequence[str]) -> Outcome:
    """Of each table, some level above 1 is more accurate than the original columns, for all learners."""
    above: list[str] = []
    below: list[str] = []
    for panel in points.panels():
        if panel.split(",")[0] in tables:
            own = points.of(series, panel)
            levels = [value for x, value in own.items() if x not in ("baseline", 1)]
            if "baseline" not in own or not levels:
                continue
            best = max(levels)
            told = f"{panel} {own['baseline']:.2f} to {best:.2f}"
            (above if best > own["baseline"] else below).append(told)
    if not above and not below:
        return unmeasured()
    told = f"Above the baseline: {'; '.join(above) or 'none'}." + (f" Not: {'; '.join(below)}." if below else "")
    if not below:
        return holds(told)
    return depends(told) if len(above) > len(below) else fails(told)


@check("no-gain")
def no_gain(points: Points, *, series: str, x: X, panels: Sequence[str], tests: str) -> Outcome:
    """Nothing at this place or beyond it is significantly above one setting, in any of these panels.

    `tests`: the panel of the p-values, whose series are called by panel and series. One claim, many tests: each is
    asked at the level divided by their number, or chance alone would find a gain.
    """
    gains, p_of_gains = {}, []
    for panel in panels:
        usual = points.of(series, panel).get(x)
        for name in points.series(panel):
            p_values = points.of(f"{panel}, {name}", tests)
            for place, value in points.of(name, panel).items():
                if usual is not None and place in p_values and float(place) >= float(x):
                    setting = f"{panel}, {name} × {place}"
                    gains[setting] = value - usual
                    p_of_gains += [p_values[place]] if value > usual else []
    if not gains:
        return unmeasured()
    best = max(gains, key=lambda setting: gains[setting])
    single, together = (sum(p < SIGNIFICANT / n for p in p_of_gains) for n in (1, len(gains)))
    told = f"The most that is gained is {gains[best]:+.2f} points ({best}). Of {len(gains)} settings {together} are "
    told += f"significantly better, {single} if each were the only one that is tested."
    return fails(told) if together else holds(told)


@check("reaches")
def reaches(points: Points, *, series: str, panel: str, levels: Sequence[float], low: float, high: float) -> Outcome:
    """The accuracy of a frontier at each of some levels lies between two numbers."""
    found = {level: value for level in levels if (value := _at_level(points, series, panel, level)) is not None}
    if not found:
        return unmeasured()
    told = "It is " + ", ".join(f"{value:.2f} at level {level:,.0f}" for level, value in found.items()) + "."
    return holds(told) if all(low <= value <= high for value in found.values()) else fails(told)


@check("step")
def step(points: Points, *, series: str, panel: str, before: float, after: float, low: float, high: float) -> Outcome:
    """What is lost on a frontier between two levels lies between two numbers."""
    one, two = (_at_level(points, series, panel, level) for level in (before, after))
    if one is None or two is None:
        return unmeasured()
    told = f"From {one:.2f} at level {before:,.0f} to {two:.2f} at {after:,.0f}: {one - two:.2f} points."
    return holds(told) if low <= one - two <= high else fails(told)


@check("gap-grows")
def gap_grows(
    points: Points,
    *,
    first: str,
    second: str,
    panels: Sequence[Sequence[str]] = ((),),
    places: Sequence[Sequence[X]] = ((),),
) -> Outcome:
    """The first series less the second, on average, is larger in the last group of panels or places than in the first.

    An empty group is all of them.
    """
    gaps = [
        [
            points.of(first, panel)[x] - points.of(second, panel)[x]
            for panel in panel_group or points.panels()
            for x in points.of(first, panel)
            if x in points.of(second, panel) and (not place_group or x in place_group)
        ]
        for panel_group, place_group in ((panels[0], places[0]), (panels[-1], places[-1]))
    ]
    if not all(gaps):
        return unmeasured()
    low, high = map(fmean, gaps)
    where = [" and ".join(map(str, group)) for group in ((panels[0] or places[0]), (panels[-1] or places[-1]))]
    told = f"{first} less {second} is {low:+.2f} on average at {where[0]}; {high:+.2f} at {where[1]}."
    return holds(told) if high > low else fails(told)


def _at_level(points: Points, series: str, panel: str, level: float) -> float | None:
    """The highest accuracy at or beyond a level."""
    own = points.of(series, panel)
    return max((value for x, value in own.items() if float(x) >= level), default=None)
