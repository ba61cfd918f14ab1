# SPDX-License-Identifier: Apache-2.0
"""An experiment as one SVG picture: small multiples, ours filled and published numbers hollow beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from shoal.papers.experiment import Experiment, Plot
from shoal.papers.judge import Beside
from shoal.papers.registry import Points, X
from shoal.report.draw import CLASS_COLOURS, FAINT, INK, OTHER_COLOUR

WIDTH = 940
LEFT, RIGHT, TOP, BOTTOM, GAP = 62, 12, 26, 44, 16
HEIGHTS = {1: 330, 2: 270, 3: 216}  # of a panel, by columns
SOFT = "#56616e"
MARKERS = ("circle", "square", "up", "diamond", "down", "cross")
LETTER = 7.0  # about the width of one
LEGEND = 22  # height of a line of the legend
Values = dict[X, float]


@dataclass(frozen=True)
class Axis:
    """Where values are along one side of a panel, from 0 to 1, and what is written there."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def at(self, value: float) -> float:
        """The place of a value."""
        return (value - self.low) / (self.high - self.low)


def drawn_panels(plot: Plot, points: Points) -> list[str]:
    """Panels with a series of at least two points; the others are told in tables only."""
    wanted = [] if plot.table else [panel for panel in points.panels() if panel not in plot.undrawn]
    return [panel for panel in wanted if any(len(points.of(name, panel)) > 1 for name in points.series(panel))]


def figure_svg(experiment: Experiment, points: Points) -> str:
    """The picture of an experiment, or nothing where there is none to draw."""
    panels = drawn_panels(experiment.plot, points)
    if not panels:
        return ""
    columns = min(len(panels), 3)
    wide = (WIDTH - (columns - 1) * GAP) / columns
    high = HEIGHTS[columns]
    names = [name for name in points.series() if any(points.of(name, panel) for panel in panels)]
    legend, used = _legend(names, published=bool(_published(points, panels)))
    rows = math.ceil(len(panels) / columns)
    total = used + rows * (high + GAP) - GAP
    label = f"{experiment.place}: {experiment.title}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="figure" viewBox="0 0 {WIDTH} {total:.0f}" role="img" '
        f'aria-label="{escape(label)}" font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{total:.0f}" fill="#fff"/>',
        legend,
    ]
    for number, panel in enumerate(panels):
        x, y = number % columns * (wide + GAP), used + number // columns * (high + GAP)
        parts.append(f'<g transform="translate({x:.1f} {y:.1f})">')
        parts.append(_panel(points, panel, names, experiment.plot, wide, high, labelled=number % columns == 0))
        parts.append("</g>")
    return "".join((*parts, "</svg>"))


def agreement_svg(beside: Sequence[Beside]) -> str:
    """Every published percentage against ours, with the line where they are the same."""
    own = [each for each in beside if each.ours is not None and each.agrees is not None]
    own = [each for each in own if 0 < each.published.value <= 100 and each.ours is not None and each.ours <= 100]
    if len(own) < 10:
        return ""
    low = math.floor(min(min(each.published.value, each.ours or 0) for each in own) / 10) * 10
    side, left, top = 380, 60, 14
    axis = Axis(low, 100, tuple((tick, f"{tick:g}") for tick in ticks(low, 100)))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="figure narrow" viewBox="0 0 {side + left + 20} {side + 60}" '
        'role="img" aria-label="Published numbers against ours" font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{side + left + 20}" height="{side + 60}" fill="#fff"/>',
    ]
    for value, text in axis.ticks:
        place = axis.at(value) * side
        parts.append(_line(left, top + side - place, left + side, top + side - place, FAINT))
        parts.append(_line(left + place, top, left + place, top + side, FAINT))
        parts.append(_text(left - 7, top + side - place + 4, text, "end"))
        parts.append(_text(left + place, top + side + 17, text, "middle"))
    parts.append(_line(left, top + side, left + side, top, INK, dash="5 4"))
    for each in own:
        x, y = left + axis.at(each.published.value) * side, top + side - axis.at(each.ours or 0) * side
        # told apart without colour as well
        kind, colour = ("circle", CLASS_COLOURS[0]) if each.agrees else ("up", CLASS_COLOURS[5])
        fill = f'fill="{colour}" fill-opacity="0.55"' if each.agrees else f'fill="#fff" stroke="{colour}"'
        parts.append(_marker(x, y, kind, fill))
    parts.append(_text(left + side / 2, top + side + 38, "published, %", "middle"))
    parts.append(f'<g transform="translate(16 {top + side / 2}) rotate(-90)">{_text(0, 0, "ours, %", "middle")}</g>')
    return "".join((*parts, "</svg>"))


def _panel(
    points: Points, panel: str, names: Sequence[str], plot: Plot, wide: float, high: float, *, labelled: bool
) -> str:
    """One of the small multiples."""
    ours = {name: points.of(name, panel) for name in names}
    theirs = _published(points, [panel])
    places = list(dict.fromkeys(x for own in ours.values() for x in own))
    values = [value for own in (*ours.values(), *theirs.values()) for value in own.values()]
    across, positions = _across(places, plot)
    up = _up(values)
    width, height = wide - LEFT - RIGHT, high - TOP - BOTTOM
    parts = [_text(LEFT, 14, panel, "start", bold=True)] if panel else []
    for value, text in up.ticks:
        y = TOP + height * (1 - up.at(value))
        parts += [_line(LEFT, y, LEFT + width, y, FAINT), _text(LEFT - 6, y + 4, text, "end")]
    shown = -math.inf
    for place, text in across.ticks:
        x = LEFT + width * across.at(place)
        parts.append(_line(x, TOP + height, x, TOP + height + 4, SOFT))
        half = len(text) * LETTER / 2
        if x - half > shown + 4:  # no label over another
            parts.append(_text(x, TOP + height + 17, text, "middle"))
            shown = x + half
    parts.append(_line(LEFT, TOP + height, LEFT + width, TOP + height, SOFT))
    parts.append(_text(LEFT + width / 2, high - 8, plot.x, "middle", colour=SOFT))
    if labelled:
        middle = TOP + height / 2
        parts.append(f'<g transform="translate(11 {middle:.1f}) rotate(-90)">{_text(0, 0, plot.y, "middle", SOFT)}</g>')

    def at(own: Values) -> list[tuple[float, float]]:
        inside = {positions[x]: value for x, value in own.items() if x in positions}
        return [(LEFT + width * across.at(x), TOP + height * (1 - up.at(inside[x]))) for x in sorted(inside)]

    for name, own in theirs.items():
        parts.append(_series(at(own), names.index(name), hollow=True))
    for number, name in enumerate(names):
        parts.append(_series(at(ours[name]), number, hollow=False, title=name))
    return "".join(parts)


def _published(points: Points, panels: Iterable[str]) -> dict[str, Values]:
    """Published numbers of series that we have as well."""
    found: dict[str, Values] = {}
    for each in points.published:
        if each.panel in panels and points.of(each.series, each.panel):
            found.setdefault(each.series, {})[each.x] = each.value
    return found


def _across(places: Sequence[X], plot: Plot) -> tuple[Axis, dict[X, float]]:
    """The axis below: of numbers, or of places side by side."""
    numbers = [float(x) for x in places if not isinstance(x, str)]
    if len(numbers) < len(places):
        side_by_side = {x: float(number) for number, x in enumerate(places)}
        return Axis(-0.5, len(places) - 0.5, tuple((side_by_side[x], _short(x)) for x in places)), side_by_side
    if plot.log:
        positions = {x: math.log10(max(float(x), 1e-9)) for x in places}
        low, high = min(positions.values()), max(positions.values())
        powers = range(math.floor(low), math.ceil(high) + 1)
        marks = tuple((float(p), f"{10**p:,g}") for p in powers if low <= p <= high)
    else:
        positions = {x: float(x) for x in places}
        low, high = min(numbers), max(numbers)
        few = len(places) <= 8
        marks = tuple((float(x), _short(x)) for x in sorted(numbers)) if few else ()
        marks = marks or tuple((tick, _short(tick)) for tick in ticks(low, high))
    room = (high - low or 1) * 0.05
    return Axis(low - room, high + room, marks), positions


def _up(values: Sequence[float]) -> Axis:
    """The axis on the left: round numbers around all values."""
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 1, high + 1
    room = (high - low) * 0.08
    low, high = (0.0 if low >= 0 > low - room else low - room), high + room
    step = _step(low, high)
    return Axis(low, high, tuple((tick, f"{tick:,.{_digits(step)}f}") for tick in ticks(low, high)))


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high, about five of them.

    >>> ticks(17.2, 19.4)
    [17.5, 18.0, 18.5, 19.0]
    """
    step = _step(low, high)
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 10) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _step(low: float, high: float) -> float:
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= rough * 0.999)


def _digits(step: float) -> int:
    return max(0, -math.floor(math.log10(step) + 1e-9))


def _short(x: X) -> str:
    return x if isinstance(x, str) else f"{x:,g}" if x < 1e6 else f"{x:.0e}"


def _legend(names: Sequence[str], *, published: bool) -> tuple[str, float]:
    """The names of all series with their markers, in as many lines as they need; and how high that is."""
    parts, x, y = [], 6.0, 14.0
    entries = [(name, number, False) for number, name in enumerate(names)]
    entries += [("hollow, dashed: as published", 0, True)] if published else []
    for name, number, hollow in entries:
        long = 32 + len(name) * LETTER + 20
        if x + long > WIDTH and x > 6:
            x, y = 6.0, y + LEGEND
        parts.append(_series([(x, y - 4), (x + 24, y - 4)], number, hollow=hollow))
        parts.append(_text(x + 32, y, name, "start"))
        x += long
    return "".join(parts), y + 14


def _colour(number: int) -> str:
    return CLASS_COLOURS[number] if number < len(CLASS_COLOURS) else OTHER_COLOUR


def _series(places: Sequence[tuple[float, float]], number: int, *, hollow: bool, title: str = "") -> str:
    """A line through places with a marker at each."""
    if not places:
        return ""
    colour = _colour(number)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dash = ' stroke-dasharray="4 3" stroke-opacity="0.7"' if hollow else ""
    parts = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{1.2 if hollow else 1.7}"{dash}/>']
    fill = f'fill="#fff" stroke="{colour}" stroke-width="1.4"' if hollow else f'fill="{colour}"'
    parts += [_marker(x, y, MARKERS[number % len(MARKERS)], fill) for x, y in places]
    about = f"<title>{escape(title)}</title>" if title else ""
    return f"<g>{about}{''.join(parts)}</g>"


def _marker(x: float, y: float, kind: str, fill: str) -> str:
    r = 3.4
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" {fill}/>'
    if kind == "square":
        return (
            f'<rect x="{x - r * 0.9:.1f}" y="{y - r * 0.9:.1f}" width="{r * 1.8:.1f}" height="{r * 1.8:.1f}" {fill}/>'
        )
    corners = {
        "up": ((0, -1.2), (1.1, 0.9), (-1.1, 0.9)),
        "down": ((0, 1.2), (1.1, -0.9), (-1.1, -0.9)),
        "diamond": ((0, -1.3), (1.1, 0), (0, 1.3), (-1.1, 0)),
        "cross": ((-1.2, -0.4), (1.2, -0.4), (1.2, 0.4), (-1.2, 0.4)),
    }[kind]
    path = " ".join(f"{x + r * dx:.1f},{y + r * dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{path}" {fill}/>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashed}/>'


def _text(x: float, y: float, text: str, anchor: str, colour: str = INK, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{weight}>{escape(text)}</text>'
