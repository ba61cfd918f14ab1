# SPDX-License-Identifier: Apache-2.0
"""The numbers of an experiment as tables: ours, the paper's and the difference, for pages and for Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.papers.experiment import Experiment, Published
from shoal.papers.registry import Points, X

MOST_COLUMNS, MOST_LETTERS = 10, 90  # of numbers, and in their headings; a table with more is turned on its side


FACT = "value"  # the series of single facts, which have no other name than their place


@dataclass(frozen=True)
class Cell:
    """A text, and whether it is a difference that is too large."""

    text: str = ""
    off: bool = False


@dataclass(frozen=True)
class Grid:
    """A table; `words` says how many of its columns are words and not numbers."""

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    words: int

    def markdown(self) -> str:
        """The table in Markdown; a difference that is too large is bold.

        >>> print(Grid(("k", "error"), ((Cell("10"), Cell("17.5", off=True)),), 1).markdown())
        | k | error |
        |---|---:|
        | 10 | **17.5** |
        """
        rule = "|" + "|".join("---" if number < self.words else "---:" for number in range(len(self.header))) + "|"
        rows = [[f"**{cell.text}**" if cell.off else cell.text for cell in row] for row in self.rows]
        lines = [list(self.header), *rows]
        return "\n".join([_row(lines[0]), rule, *map(_row, lines[1:])])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def grids(experiment: Experiment, points: Points) -> list[Grid]:
    """The tables of an experiment: panels with the same places share one."""
    together: dict[tuple[X, ...], list[str]] = {}
    panels = dict.fromkeys([*points.panels(), *(each.panel for each in experiment.published)])
    for panel in panels:
        together.setdefault(_places(points, experiment.published, panel), []).append(panel)
    found = []
    for places, own in together.items():
        if len(places) > MOST_COLUMNS or sum(len(_shown(x)) for x in places) > MOST_LETTERS:
            found += [_turned(_grid(experiment, points, places, [panel]), panel) for panel in own]
        else:
            found.append(_grid(experiment, points, places, own))
    return found


def _places(points: Points, published: Sequence[Published], panel: str) -> tuple[X, ...]:
    told = [each.x for each in (*points, *published) if each.panel == panel]
    places = list(dict.fromkeys(told))
    numbers = [x for x in places if not isinstance(x, str)]
    words = [x for x in places if isinstance(x, str)]
    return (*words, *sorted(numbers)) if numbers else tuple(words)


def _grid(experiment: Experiment, points: Points, places: Sequence[X], panels: Sequence[str]) -> Grid:
    lines = []
    decimals = _decimals(experiment, points, places, panels)
    for panel in panels:
        names = [*points.series(panel), *(each.series for each in experiment.published if each.panel == panel)]
        for number, name in enumerate(dict.fromkeys(names)):
            told = {each.x: each for each in experiment.published if (each.series, each.panel) == (name, panel)}
            shown = panel if number == 0 else ""
            lines += _lines(shown, name, points.of(name, panel), told, decimals)
    head = [experiment.plot.x if len(places) > 1 else "", "", *(_shown(x) for x in places)]
    if any(panels):
        head.insert(0, "")
    else:
        lines = [line[1:] for line in lines]
    words = 3 if any(panels) else 2
    if all(line[words - 1].text == "ours" for line in lines):  # nobody else's numbers are in it
        lines = [[*line[: words - 1], *line[words:]] for line in lines]
        head.pop(words - 1)
        words -= 1
    return Grid(tuple(head), tuple(map(tuple, lines)), words)


def _turned(grid: Grid, panel: str) -> Grid:
    """The same table with a line for each place, and a column for each series."""
    named = [" ".join(cell.text for cell in row[1 if panel else 0 : grid.words] if cell.text) for row in grid.rows]
    if named == [f"{FACT} ours", "paper", "difference"]:
        named[0] = "ours"
    lines = [
        (Cell(place), *(row[number] for row in grid.rows))
        for number, place in enumerate(grid.header[grid.words :], grid.words)
    ]
    return Grid((panel or grid.header[0], *named), tuple(lines), 1)


def _decimals(experiment: Experiment, points: Points, places: Sequence[X], panels: Sequence[str]) -> dict[X, int]:
    """How many decimals there are at each place: in a list of single facts whole numbers have none."""
    told = [each for each in (*points, *experiment.published) if each.panel in panels]
    facts = len({each.series for each in told}) == 1 and all(isinstance(x, str) for x in places)
    odd = {each.x for each in told if not float(each.value).is_integer()}
    return {x: 0 if facts and x not in odd else experiment.plot.decimals for x in places}


def _lines(
    panel: str, name: str, ours: dict[X, float], told: dict[X, Published], decimals: Mapping[X, int]
) -> list[list[Cell]]:
    """What we measured of a series; below it what was published, and by how much they differ."""
    lines = []
    if ours:
        shown = (_number(ours.get(x), digits) for x, digits in decimals.items())
        lines.append([Cell(panel), Cell(name), Cell("ours"), *shown])
    if told:
        first = [Cell(), Cell()] if ours else [Cell(panel), Cell(name)]
        shown = (_number(told[x].value if x in told else None, digits) for x, digits in decimals.items())
        lines.append([*first, Cell("paper"), *shown])
    if ours and told:
        gaps = []
        for x, digits in decimals.items():
            both = x in ours and x in told
            gap = signed(ours[x] - told[x].value, digits) if both else ""
            gaps.append(Cell(gap, off=both and told[x].agrees(ours[x]) is False))
        lines.append([Cell(), Cell(), Cell("difference"), *gaps])
    return lines


def _number(value: float | None, decimals: int) -> Cell:
    return Cell("" if value is None else f"{value:,.{decimals}f}".replace("-", "−"))


def signed(gap: float, decimals: int) -> str:
    """A difference with its sign; none has a sign that does not show another digit.

    >>> signed(-0.004, 2), signed(-1.25, 1), signed(1234.0, 0)
    ('0.00', '−1.2', '+1,234')
    """
    text = f"{gap:+,.{decimals}f}".replace("-", "−")
    return text if any(digit in text for digit in "123456789") else text[1:]


def _shown(x: X) -> str:
    return x if isinstance(x, str) else f"{x:,g}" if x < 1e6 else f"{x:,.0f}"
