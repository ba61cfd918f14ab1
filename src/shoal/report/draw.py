# SPDX-License-Identifier: Apache-2.0
"""Pictures as inline SVG: shapes carry their own colours, so that they survive printing and old browsers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from shoal.report.layout import Histogram, ShareBar

# told apart by people who see colours differently (Okabe and Ito), and by their order
CLASS_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
OTHER_COLOUR = "#9aa3ad"
BELOW, ABOVE, INK, FAINT = "#b3261e", "#3a6ea5", "#1d2733", "#c9d1d9"

_WIDTH, _HEIGHT = 920, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 10, 26, 52


def class_colour(position: int) -> str:
    """The colour of a class; those after the sixth share one."""
    return CLASS_COLOURS[position] if position < len(CLASS_COLOURS) else OTHER_COLOUR


def class_bar(stated: Sequence[float], width: int = 90, height: int = 11) -> str:
    """The classes of a node, their people or shares, as one thin bar."""
    whole = sum(stated)
    parts = [
        f'<svg class="bar" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'aria-hidden="true"><rect width="{width}" height="{height}" fill="#e9edf1"/>'
    ]
    done = 0.0
    for position, part in enumerate(stated):
        if part:
            x, w = width * done / whole, width * part / whole
            colour = class_colour(position)
            parts.append(f'<rect x="{x:.2f}" width="{w:.2f}" height="{height}" fill="{colour}"/>')
            done += part
    parts.append("</svg>")
    return "".join(parts)


@dataclass(frozen=True)
class _Drawn:
    """A bar as it is drawn."""

    label: str
    height: int
    title: str
    colour: str


def histogram_svg(shown: Histogram, *, below_is_bad: bool) -> str:
    """Bars by group size; those below k stand out, in colour and by the line at k."""
    bars = [
        _Drawn(
            bar.label,
            bar.groups,
            f"{bar.label} people: {bar.groups:,} group(s), {bar.people:,} people",
            BELOW if below_is_bad and shown.k is not None and bar.high < shown.k else ABOVE,
        )
        for bar in shown.bars
    ]
    line = None if shown.k is None or shown.k_before is None else (shown.k_before, f"required: {shown.k:,}")
    return _bars_svg(bars, "How many groups there are of each size", "people in the group", "groups", line)


def shares_svg(shown: Sequence[ShareBar]) -> str:
    """Bars by how sure the attacker is; those of whom he is certain stand out."""
    bars = [
        _Drawn(
            bar.label,
            bar.people,
            f"{'all of the group' if bar.certain else f'{bar.low} to {bar.high} %'}: {bar.people:,} people",
            BELOW if bar.certain else ABOVE,
        )
        for bar in shown
    ]
    about = "How many people are in groups of which the most frequent value has each share"
    return _bars_svg(bars, about, "share of the most frequent value in the group, from", "people", None)


def _bars_svg(bars: Sequence[_Drawn], about: str, below: str, beside: str, line: tuple[int, str] | None) -> str:
    """Bars from left to right, with names for both axes; `line` stands before one of them and says something."""
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    step = wide / max(len(bars), 1)
    top = _nice_top(max((bar.height for bar in bars), default=0))
    parts = [
        f'<svg class="histogram" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{about}" font-family="inherit" font-size="12">'
    ]
    for value in sorted({0, top // 2, top} if top > 1 else {0, top}):
        y = _TOP + high - high * value / top
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{FAINT}"/>'
            + _label(_LEFT - 8, y + 4, f"{value:,}", "end")
        )
    # every label if there is room for it, else every second or third
    room = max(len(bar.label) for bar in bars) * 6.6 + 8 if bars else 1
    every = max(1, -(-int(room) // max(int(step), 1)))
    for i, bar in enumerate(bars):
        x = _LEFT + i * step
        height = high * bar.height / top
        if bar.height:
            parts.append(
                f'<rect x="{x + step * 0.08:.1f}" y="{_TOP + high - height:.1f}" width="{step * 0.84:.1f}" '
                f'height="{height:.1f}" fill="{bar.colour}"><title>{escape(bar.title)}</title></rect>'
            )
        if i % every == 0:
            parts.append(_label(x + step / 2, _TOP + high + 17, bar.label, "middle"))
    parts.append(_label(_LEFT + wide / 2, _HEIGHT - 10, below, "middle"))
    parts.append(_label(_LEFT - 8, 13, beside, "end"))
    if line is not None:
        before, text = line
        x = _LEFT + before * step
        side, dx = ("end", -6) if x > _WIDTH * 0.8 else ("start", 6)
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="6" y2="{_TOP + high}" stroke="{INK}" stroke-width="1.5" '
            f'stroke-dasharray="5 4"/>{_label(x + dx, 15, text, side, bold=True)}'
        )
    parts.append("</svg>")
    return "".join(parts)


def _label(x: float, y: float, text: str, anchor: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}"{weight}>{escape(text)}</text>'


def _nice_top(tallest: int) -> int:
    """A round number at or above the tallest bar that can be halved."""
    if tallest <= 1:
        return 1
    power: int = 10 ** (len(str(tallest)) - 1)
    return next(times * power for times in (1, 2, 4, 6, 8, 10) if times * power >= tallest)
