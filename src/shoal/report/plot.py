# SPDX-License-Identifier: Apache-2.0
"""A released tree as a picture: `tree_layout` says where, this file draws with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.errors import DataError
from shoal.release import TreeRelease
from shoal.release.show import headline
from shoal.report.draw import CLASS_COLOURS, INK, class_colour
from shoal.report.tree_layout import Measure, Place, TreeLayout, fit, one_line, place_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# in inches, at the natural size: the letters and lines of a printed page
FONT = 8.0  # points
LINE = 0.25
MARGIN = 0.25
GAP = 0.09
TEST = 1.9
BAR, SWATCH, ANSWER = 1.1, 0.13, 1.8
PEOPLE = "people"
LEAST_WIDTH = 6.0
HEAD = 4  # lines above the tree: what it is, classes, heads of the columns
SOFT, LEADER, EMPTY = "#56616e", "#9aa3ad", "#e9edf1"


def plot_tree(release: TreeRelease, ax: Axes | None = None, *, max_leaves: int | None = None) -> Axes:
    """Draw a released tree with matplotlib: the root at the left, and a line for each leaf.

    At the right stand, for each leaf, the share of each class as a bar, its people and the class it answers with, as
    far as the release states them. Tests too long for their line are cut; `TreeRelease.to_text` has them whole.

    Parameters
    ----------
    release
        The tree.
    ax
        Where to draw; letters and lines shrink or grow to its size. None: a new figure as large as the tree needs.
    max_leaves
        Draw at most so many ends; splits that most people go through stay (or, where the release does not say how many,
        those with most leaves below), and what is below the others is folded. None: 200. Below 24 levels everything is
        folded.

    Returns
    -------
    matplotlib.axes.Axes
        Save the picture with ``ax.figure.savefig("tree.png")``.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> from shoal.report import plot_tree
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=300).fit(people, "diabetes")
    >>> ax = plot_tree(tree.release_)
    >>> ax.figure.savefig("tree.png")  # doctest: +SKIP
    """
    if max_leaves is not None and (isinstance(max_leaves, bool) or not isinstance(max_leaves, int) or max_leaves < 1):
        raise DataError(
            "unknown-option", f"plot_tree: max_leaves must be a whole number of at least 1; got {max_leaves!r}."
        )
    measure = _measure()
    layout = place_tree(release, measure, most_width=TEST, gap=GAP, max_leaves=max_leaves)
    title = one_line(headline(release))
    if layout.n_folded:
        title += f"; {layout.n_folded:,} leaves are folded"
    legend = _legend(release, measure)
    answers = {place.number: _answer(release, place, measure) for place in layout.places if place.children is None}
    columns = layout.width + 2 * GAP
    people = _people(release)
    head = "most frequent" if release.weights is None else "predicts"
    at_people = columns + (SWATCH if release.statement == "majority" else BAR)
    if people:
        at_people += 2 * GAP + max(measure(PEOPLE), measure(f"{people[0]:,}"))
    at_answer = at_people + 2 * GAP
    tree_width = at_answer + max(map(measure, [*answers.values(), head]))
    width = max(tree_width, measure(title) * 1.4, sum(room for _, _, room in legend), LEAST_WIDTH) + 2 * MARGIN
    height = (layout.n_ends + HEAD) * LINE + 2 * MARGIN
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=(width, height), dpi=150).add_axes((0, 0, 1, 1))
        scale = 1.0
    else:
        frame = ax.get_window_extent()
        scale = min(frame.width / width, frame.height / height) / ax.figure.dpi
    ax.set_xlim(-MARGIN, width - MARGIN)
    ax.set_ylim(layout.n_ends * LINE + MARGIN, -HEAD * LINE - MARGIN)
    ax.set_aspect("equal", anchor="NW")
    ax.set_axis_off()
    pen = _Pen(ax, scale)
    pen.write(0, -3.6 * LINE, title, size=1.2, weight="bold")
    x = 0.0
    for colour, name, room in legend:
        pen.box(x, -2.75 * LINE, SWATCH, SWATCH, colour)
        pen.write(x + 0.2, -2.5 * LINE, name)
        x += room
    if people:
        pen.write(at_people, -0.8 * LINE, PEOPLE, align="right", colour=SOFT)
    pen.write(at_answer, -0.8 * LINE, head, colour=SOFT)
    _draw_branches(pen, people, layout)
    for place in layout.places:
        if place.children is None:
            _draw_bar(pen, release, place, columns)
            y = (place.y + 0.5) * LINE
            if people:
                pen.write(at_people, y, f"{people[place.number]:,}", align="right")
            pen.write(at_answer, y, answers[place.number])
    pen.done()
    return ax


def _people(release: TreeRelease) -> list[int]:
    """How many people are in each node; nothing where the release does not say."""
    return release.counts.sum(axis=1).tolist() if release.statement == "counts" else []


def _draw_branches(pen: _Pen, people: list[int], layout: TreeLayout) -> None:
    """Lines, the thicker the more people go along, with their tests above them."""
    for place in layout.places:
        y = (place.y + 0.5) * LINE
        pen.line((place.left, y), (place.x, y), 0.7 + (2.3 * people[place.number] / max(people[0], 1) if people else 0))
        if place.test:
            pen.write(place.left + GAP, y - 0.035, place.test, stand="bottom")
        if place.children is not None:
            first, last = ((line + 0.5) * LINE for line in place.children)
            pen.line((place.x, first), (place.x, last), 0.7)
        else:
            pen.line((place.x, y), (layout.width + GAP, y), 0.6, LEADER, ":")


def _draw_bar(pen: _Pen, release: TreeRelease, place: Place, x: float) -> None:
    """The classes of a leaf, or of the leaves folded there; a patch where only the predicted one is stated."""
    y, high = (place.y + 0.5) * LINE, 0.6 * LINE
    if release.statement == "majority":
        pen.box(x, y - SWATCH / 2, SWATCH, SWATCH, class_colour(int(release.answers[place.number])))
        return
    stated = _stated(release, place)
    pen.box(x, y - high / 2, BAR, high, EMPTY)
    done = 0.0
    for position, part in enumerate(stated):
        if part:
            pen.box(x + BAR * done / sum(stated), y - high / 2, BAR * part / sum(stated), high, class_colour(position))
            done += part


def _stated(release: TreeRelease, place: Place) -> list[float]:
    """People by class or their shares; nothing where leaves are folded that state shares."""
    if release.statement == "counts":
        return list(map(float, release.counts[place.number]))
    return list(release.nodes[place.number].shares or ())


def _answer(release: TreeRelease, place: Place, measure: Measure) -> str:
    """The class an end answers with and its share there."""
    answer, stated = int(release.answers[place.number]), _stated(release, place)
    share = " (nobody)" if stated else ""
    if sum(stated):  # 100 % only where it is everybody: rounding must not say what is not so
        all_of_it = stated[answer] == sum(stated)
        share = f" {100 if all_of_it else min(99, round(100 * stated[answer] / sum(stated)))} %"
    if place.folded:
        share += f", {place.folded:,} leaves"
    return fit(one_line(release.classes[answer]), measure, ANSWER - measure(share)) + share


def _legend(release: TreeRelease, measure: Measure) -> list[tuple[str, str, float]]:
    """Colour, name and room of each class that has a colour of its own, and of the others together."""
    names = [one_line(name) for name in release.classes[: len(CLASS_COLOURS)]]
    if len(release.classes) > len(names):
        names.append(f"{len(release.classes) - len(names):,} others")
    names = [fit(name, measure, ANSWER) for name in names]
    return [(class_colour(i), name, 0.2 + measure(name) + 0.25) for i, name in enumerate(names)]


def check_matplotlib(what: str) -> None:
    """Refuse to draw where matplotlib is not installed, and say what brings it."""
    try:
        import matplotlib  # noqa: F401  # asked for by itself: its parts may be loaded while it is not
    except ImportError:
        raise DataError(
            "no-matplotlib", f"{what} needs matplotlib, which is not installed. Try: pip install shoal[plots]."
        ) from None


def _measure() -> Measure:
    """How wide a text is in inches."""
    check_matplotlib("plot_tree")
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=FONT)

    def measure(text: str) -> float:
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
        return float(width) / 72

    return measure


class _Pen:
    """Draws in inches of the natural size, and scales letters and lines to the axes at hand."""

    def __init__(self, ax: Axes, scale: float) -> None:
        self.ax = ax
        self.scale = scale
        self.lines: list[Any] = []
        self.boxes: list[Any] = []

    def write(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 1,
        align: Any = "left",
        stand: Any = "center_baseline",
        weight: str = "normal",
        colour: str = INK,
    ) -> None:
        # names may hold a $, which would start a formula
        self.ax.text(
            x,
            y,
            text,
            fontsize=FONT * size * self.scale,
            ha=align,
            va=stand,
            weight=weight,
            color=colour,
            parse_math=False,
        )

    def line(
        self, start: tuple[float, float], end: tuple[float, float], width: float, colour: str = SOFT, style: str = "-"
    ) -> None:
        self.lines.append(([start, end], width * self.scale, colour, style))

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        self.boxes.append(([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], colour))

    def done(self) -> None:
        """Put the lines and boxes on the axes, all at once: many single ones are slow."""
        from matplotlib.collections import LineCollection, PolyCollection

        # lists: a pair of styles in a tuple would be taken for one dash pattern
        paths, widths, colours, styles = map(list, zip(*self.lines, strict=True))
        self.ax.add_collection(
            LineCollection(paths, linewidths=widths, colors=colours, linestyles=styles, capstyle="butt", zorder=1),
            autolim=False,
        )
        corners, fills = zip(*self.boxes, strict=True)
        self.ax.add_collection(PolyCollection(corners, facecolors=fills, edgecolors="none", zorder=1), autolim=False)
