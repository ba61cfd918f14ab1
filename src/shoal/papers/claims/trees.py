# SPDX-License-Identifier: Apache-2.0
"""Checks for the curves of trees: a hump, one series at most another, ours beside a published range."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from shoal.papers.registry import Outcome, Points, X, check, depends, fails, holds, unmeasured


@check("hump")
def hump(points: Points, *, series: str, x: X, panel: str = "") -> Outcome:
    """A series is higher at a place than at the ones right before and after it."""
    own = points.of(series, panel)
    places = list(own)
    if x not in own or not 0 < places.index(x) < len(places) - 1:
        return unmeasured()
    before, after = (places[places.index(x) + step] for step in (-1, 1))
    told = f"{series} is {own[before]:.4g} at {before}, {own[x]:.4g} at {x} and {own[after]:.4g} at {after}."
    return holds(told) if own[before] < own[x] > own[after] else fails(told)


@check("at-most")
def at_most(
    points: Points, *, series: str, other: str, slack: float = 0.0, places: Sequence[X] | None = None, panel: str = ""
) -> Outcome:
    """A series is at most another one, and this much more, at all places or at those named."""
    own, others = points.of(series, panel), points.of(other, panel)
    over = {x: own[x] - others[x] for x in own if x in others and (places is None or x in places)}
    if not over:
        return unmeasured()
    worst = max(over, key=lambda x: over[x])
    told = f"{series} less {other} is at most {over[worst]:+.4g}, at {worst}; allowed are {slack:+.4g}."
    right = sum(value <= slack for value in over.values())
    if right == len(over):
        return holds(told)
    return depends(f"At {right} of {len(over)} places; {told}") if right > len(over) / 2 else fails(told)


@check("similar-or-better")
def similar_or_better(points: Points, *, series: str, lowest: str, highest: str, panel: str = "") -> Outcome:
    """A series of ours is nowhere above a published range, and below it at some place."""
    own = points.of(series, panel)
    low, high = (
        {each.x: each.value for each in points.published if (each.series, each.panel) == (name, panel)}
        for name in (lowest, highest)
    )
    places = [x for x in own if x in low and x in high]
    if not places:
        return unmeasured()
    above, below = (sum(own[x] > high[x] for x in places), sum(own[x] < low[x] for x in places))
    told = f"Of {len(places)} places {series} is below the published range at {below} and above it at {above}."
    return holds(told) if below and not above else fails(told)


@check("best-of-mean")
def best_of_mean(points: Points, *, series: str, others: str, panel: str = "", slack: float = 0.0) -> Outcome:
    """The mean of a series is at least that of every series whose name ends so, less `slack`."""
    own = points.of(series, panel)
    gaps = {}
    for name in points.series(panel):
        theirs = points.of(name, panel)
        places = [x for x in own if x in theirs]
        if name.endswith(others) and places:
            gaps[name] = fmean(own[x] - theirs[x] for x in places)
    if not gaps:
        return unmeasured()
    nearest = min(gaps, key=lambda name: gaps[name])
    right = sum(gap >= -slack for gap in gaps.values())
    behind = f" or at most {slack:g} behind" if slack else ""
    told = f"It is ahead of{behind} {right} of {len(gaps)}; the best of them is {nearest}, with {gaps[nearest]:+.2f}."
    if right == len(gaps):
        return holds(told)
    return depends(told) if right > len(gaps) / 2 else fails(told)


@check("at-least-x")
def at_least_x(points: Points, *, series: Sequence[str], panel: str = "") -> Outcome:
    """Every value of some series is at least its place on the axis: no group is below k."""
    return _against_x(points, series, panel, below=False)


@check("below-x")
def below_x(points: Points, *, series: Sequence[str], panel: str = "") -> Outcome:
    """Every value of some series is below its place on the axis: some group is below k."""
    return _against_x(points, series, panel, below=True)


def _against_x(points: Points, series: Sequence[str], panel: str, *, below: bool) -> Outcome:
    pairs = [(float(x), value) for name in series for x, value in points.of(name, panel).items()]
    if not pairs:
        return unmeasured()
    right = sum((value < x) == below for x, value in pairs)
    told = f"In {right} of {len(pairs)} places; the values run from {min(v for _, v in pairs):.0f}."
    if right == len(pairs):
        return holds(told)
    return depends(told) if right > len(pairs) / 2 else fails(told)
