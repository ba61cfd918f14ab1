# SPDX-License-Identifier: Apache-2.0
"""Checks that most claims need: order, differences, thresholds, and nearness to what was published."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

from shoal.papers.registry import Outcome, Points, X, check, depends, fails, holds, unmeasured

INFINITE = float("inf")
SHOWN = 3  # examples in a sentence
MOST = 0.5  # of the places: a claim that holds in fewer does not hold


@check("as-published")
def as_published(points: Points, *, series: Sequence[str] | None = None, places: Sequence[X] | None = None) -> Outcome:
    """Our numbers are within the tolerance of the published ones: of all series and places, or of those named."""
    pairs = []
    for each in points.published:
        ours = points.of(each.series, each.panel).get(each.x)
        asked = (series is None or each.series in series) and (places is None or each.x in places)
        if asked and ours is not None and each.tolerance is not None:
            pairs.append((each, ours))
    near = sum(bool(each.agrees(ours)) for each, ours in pairs)
    worst = max(pairs, key=lambda pair: abs(pair[1] - pair[0].value), default=None)
    if worst is None:
        return unmeasured()
    far = worst[1] - worst[0].value
    told = f"{near} of {len(pairs)} numbers are as near as asked; the farthest is {far:+.4g} off."
    if far == 0:
        told = "It is as printed." if len(pairs) == 1 else f"The {len(pairs)} numbers are as printed."
    return _part(near, len(pairs), told)


@check("order")
def order(
    points: Points,
    *,
    series: Sequence[str],
    panels: Sequence[str] | None = None,
    slack: float = 0.0,
    most: float = 1.0,
    after: float = -INFINITE,
    places: Sequence[X] | None = None,
) -> Outcome:
    """At each place every series is at or above the next one, highest first; `slack` is how far below it may be.

    It holds where at least `most` of all comparisons do. `after`: only places beyond this number; `places`:
    only these.
    """
    right = total = 0
    wrong: list[str] = []
    for panel in _panels(points, panels):
        for first, second in pairwise(series):
            one, two = points.of(first, panel), points.of(second, panel)
            for x in [x for x in one if x in two and (places is None or x in places)]:
                if not _beyond(x, after):
                    continue
                total += 1
                if one[x] >= two[x] - slack:
                    right += 1
                else:
                    wrong.append(f"{_at(panel, x)}{first} {one[x]:.4g}, {second} {two[x]:.4g}")
    told = f"{right} of {total} comparisons are in this order"
    told += f"; not {_some(wrong)}." if wrong else "."
    return _part(right, total, told, most=most)


@check("mean-difference")
def mean_difference(
    points: Points,
    *,
    first: str,
    second: str,
    low: float = -INFINITE,
    high: float = INFINITE,
    panels: Sequence[str] | None = None,
) -> Outcome:
    """The first series less the second, averaged over the places that both have, lies between two numbers."""
    gaps = [
        points.of(first, panel)[x] - points.of(second, panel)[x]
        for panel in _panels(points, panels)
        for x in points.of(first, panel)
        if x in points.of(second, panel)
    ]
    if not gaps:
        return unmeasured()
    told = f"{first} less {second} is {fmean(gaps):+.2f} on average, from {min(gaps):+.2f} to {max(gaps):+.2f}."
    return holds(told) if low <= fmean(gaps) <= high else fails(told)


@check("zero-from")
def zero_from(points: Points, *, series: str, x: float, panel: str = "") -> Outcome:
    """A series is zero from a place on, and nowhere before it."""
    own = points.of(series, panel)
    if not own:
        return unmeasured()
    zero = [place for place, value in own.items() if value == 0]
    told = f"{series} is zero at {', '.join(map(str, zero)) or 'no place'} of {', '.join(map(str, own))}."
    return holds(told) if zero == [place for place in own if float(place) >= x] else fails(told)


@check("bounds")
def bounds(
    points: Points,
    *,
    series: Sequence[str],
    low: float = -INFINITE,
    high: float = INFINITE,
    places: Sequence[X] | None = None,
    panels: Sequence[str] | None = None,
    most: float = 1.0,
) -> Outcome:
    """Every value of some series, or at some places of them, lies between two numbers."""
    found = [
        (x, value)
        for panel in _panels(points, panels)
        for name in series
        for x, value in points.of(name, panel).items()
        if places is None or x in places
    ]
    if not found:
        return unmeasured()
    values = [value for _, value in found]
    inside = sum(low <= value <= high for value in values)
    told = f"{inside} of {len(values)} values are; they run from {min(values):.4g} to {max(values):.4g}."
    if len(values) == 1:
        where = f" ({found[0][0]})" if isinstance(found[0][0], str) else ""
        told = f"It is {values[0]:.4g}{where}."
    return _part(inside, len(values), told, most=most)


@check("total")
def total(
    points: Points,
    *,
    series: str,
    places: Sequence[X],
    low: float = -INFINITE,
    high: float = INFINITE,
    panel: str = "",
) -> Outcome:
    """The sum of a series over some places, all of which must be there, lies between two numbers."""
    own = points.of(series, panel)
    if any(x not in own for x in places):
        return unmeasured()
    found = sum(own[x] for x in places)
    told = f"It is {found:.4g}."
    return holds(told) if low <= found <= high else fails(told)


@check("ends-lower")
def ends_lower(
    points: Points, *, series: Sequence[str], first: X, panels: Sequence[str] | None = None, most: float = 1.0
) -> Outcome:
    """Each series is lower at its last place than at `first`; it holds where at least `most` of them are."""
    right, told = 0, []
    for panel in _panels(points, panels):
        for name in series:
            own = points.of(name, panel)
            if first in own and len(own) > 1:
                last = list(own)[-1]
                right += own[last] < own[first]
                told.append(f"{panel + ': ' if panel else ''}{name} {own[first]:.4g} to {own[last]:.4g}")
    return _part(right, len(told), f"{right} of {len(told)} do: {_some(told)}.", most=most)


@check("same-at")
def same_at(points: Points, *, series: Sequence[str], x: X, panels: Sequence[str] | None = None) -> Outcome:
    """All series have the same value at one place."""
    found = [[points.of(name, panel).get(x) for name in series] for panel in _panels(points, panels)]
    whole = [values for values in found if None not in values]
    right = sum(len(set(values)) == 1 for values in whole)
    return _part(right, len(whole), f"They are the same in {right} of {len(whole)} panels.")


@check("first")
def first(
    points: Points,
    *,
    series: str,
    others: Sequence[str],
    panels: Sequence[str] | None = None,
    slack: float = 0.0,
    most: float = 1.0,
    after: float = -INFINITE,
) -> Outcome:
    """A series is at or above all others, at each place that they share; `slack` is how far below it may be.

    `after`: only places beyond this number.
    """
    return _foremost(points, series, others, panels, slack, most, after, sign=1)


@check("last")
def last(
    points: Points,
    *,
    series: str,
    others: Sequence[str],
    panels: Sequence[str] | None = None,
    slack: float = 0.0,
    most: float = 1.0,
) -> Outcome:
    """A series is at or below all others, at each place that they share."""
    return _foremost(points, series, others, panels, slack, most, -INFINITE, sign=-1)


def _foremost(
    points: Points,
    series: str,
    others: Sequence[str],
    panels: Sequence[str] | None,
    slack: float,
    most: float,
    after: float,
    *,
    sign: int,
) -> Outcome:
    right, total, wrong = 0, 0, []
    for panel in _panels(points, panels):
        for x, value in points.of(series, panel).items():
            if not _beyond(x, after):
                continue
            rest = {name: points.of(name, panel)[x] for name in others if x in points.of(name, panel)}
            ahead = [name for name, other in rest.items() if sign * (other - value) > slack]
            total += bool(rest)
            right += bool(rest) and not ahead
            wrong += [f"{_at(panel, x)}{series} {value:.4g}, {name} {rest[name]:.4g}" for name in ahead]
    told = f"It is at {right} of {total} places" + (f"; not {_some(wrong)}." if wrong else ".")
    return _part(right, total, told, most=most)


def _part(right: int, total: int, told: str, most: float = 1.0) -> Outcome:
    """Holds in enough of all places, depends in more than half of them, else it does not."""
    if total == 0:
        return unmeasured()
    if right >= most * total:
        return holds(told)
    return depends(told) if right > MOST * total else fails(told)


def _panels(points: Points, panels: Sequence[str] | None) -> Sequence[str]:
    return points.panels() if panels is None else panels


def _beyond(x: X, after: float) -> bool:
    """Whether a place is beyond a number; one that is no number always is."""
    return isinstance(x, str) or x > after


def _at(panel: str, x: X) -> str:
    return f"{panel + ', ' if panel else ''}at {x}: "


def _some(told: Sequence[str]) -> str:
    """The first few of many."""
    more = len(told) - SHOWN
    return "; ".join(told[:SHOWN]) + (f"; and {more} more" if more > 0 else "")
