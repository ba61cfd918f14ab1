# SPDX-License-Identifier: Apache-2.0
"""Methods side by side: what can be learned from what each published, what it has lost, and how long it took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shoal.anonymize.compare import Compared
from shoal.errors import DataError
from shoal.report.draw import CLASS_COLOURS, INK
from shoal.report.plot import SOFT, check_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW, HEAD, WIDTH = 0.34, 1.1, 9.0  # inches
SMALL = 9
ROOM = 1.22  # times the longest bar, so that its number fits beside it


def plot_compared(found: Sequence[Compared]) -> Figure:
    """Draw a comparison of methods with matplotlib: a bar each for accuracy (where there is one), loss and seconds.

    Parameters
    ----------
    found
        What `compare_methods` gave. Methods that made nothing are left out.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.anonymize import compare_methods
    >>> from shoal.report import plot_compared
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> figure = plot_compared(compare_methods(people, "diabetes", methods=["tree", "mondrian"], privacy=500))
    >>> figure.savefig("compared.png")  # doctest: +SKIP
    """
    check_matplotlib("plot_compared")
    from matplotlib.figure import Figure

    made = [each for each in found if each.measures is not None]
    if not made:
        raise DataError("no-rows", "No method made a table, so there is nothing to draw.")
    panels: list[tuple[str, list[float], str]] = []
    if all(each.accuracy is not None for each in made):
        panels.append(("accuracy learned from it", [each.accuracy or 0.0 for each in made], "{:.1%}"))
    panels.append(("loss metric", [each.measures.lm for each in made if each.measures is not None], "{:.3f}"))
    panels.append(("seconds", [each.seconds or 0.0 for each in made], "{:.2f}"))
    figure = Figure(figsize=(WIDTH, HEAD + ROW * len(made)), layout="constrained")
    axes: Any = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for number, (ax, (title, values, form)) in enumerate(zip(axes, panels, strict=True)):
        _bars(ax, title, values, form, CLASS_COLOURS[number])
    axes[0].set_yticks(range(len(made)), [each.method for each in made], fontsize=SMALL, color=INK)
    axes[0].invert_yaxis()
    promise = made[0].release.requirement.describe() if made[0].release is not None else ""
    figure.suptitle(f"Promise: {promise}", fontsize=SMALL + 1, color=INK)
    return figure


def _bars(ax: Any, title: str, values: list[float], form: str, colour: str) -> None:
    places = range(len(values))
    ax.barh(places, values, color=colour, height=0.62)
    for place, value in zip(places, values, strict=True):
        ax.annotate(
            form.format(value),
            (value, place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            color=INK,
        )
    ax.set_title(title, fontsize=SMALL, color=INK, loc="left")
    ax.set_xlim(0, max(max(values), 1e-9) * ROOM)
    ax.tick_params(axis="x", labelsize=SMALL - 1, colors=SOFT)
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
