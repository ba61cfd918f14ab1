# SPDX-License-Identifier: Apache-2.0
"""What each step of privacy costs, as a picture: the frontier of one search, or what several searches reached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.partition.pareto import Placed, attainment_surfaces, knees
from shoal.report.draw import BELOW, CLASS_COLOURS, INK
from shoal.report.plot import SOFT, check_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 9
BEST, MEDIAN, WORST = CLASS_COLOURS[2], CLASS_COLOURS[0], CLASS_COLOURS[1]


def plot_frontier(*fronts: Sequence[Placed], ax: Axes | None = None, k: int | None = None) -> Axes:
    """Draw the frontier of accuracy and anonymity level with matplotlib, its knees ringed.

    Parameters
    ----------
    fronts
        The points of a frontier. Of several searches, the points of each: then what all of them reached is drawn, what
        at least half did, and what at least one did, and the knees are those of the half.
    ax
        Where to draw. None: a new figure.
    k
        A level to mark, with the most accurate partitioning that keeps it.

    Returns
    -------
    matplotlib.axes.Axes
        Save the picture with ``ax.figure.savefig("frontier.png")``.

    Examples
    --------
    >>> from shoal.partition.pareto import Corner
    >>> from shoal.report.plot_frontier import plot_frontier
    >>> ax = plot_frontier([Corner(0.86, 3), Corner(0.855, 655), Corner(0.805, 1000)], k=100)
    >>> ax.figure.savefig("frontier.png")  # doctest: +SKIP
    """
    check_matplotlib("plot_frontier")
    surfaces = attainment_surfaces(fronts)
    if k is not None and k > surfaces.median[-1].level:
        raise DataError(
            "no-frontier", f"The frontier ends at the level {surfaces.median[-1].level:,}, so {k:,} is not on it."
        )
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=(8, 4.8), dpi=150, layout="constrained").add_subplot()
    if len(fronts) == 1:
        _steps(ax, surfaces.median, MEDIAN, "best found", width=1.8, marker="o")
    else:
        _band(ax, surfaces.worst, surfaces.best)
        _steps(ax, surfaces.best, BEST, "best: at least one search", style="--")
        _steps(ax, surfaces.median, MEDIAN, "median: at least half of them", width=1.8, marker="o")
        _steps(ax, surfaces.worst, WORST, f"worst: all {len(fronts)} searches", style="-.")
    _mark_knees(ax, surfaces.median)
    if k is not None:
        _mark_level(ax, surfaces.median, k)
    _words(ax, surfaces.best)
    return ax


def _steps(
    ax: Axes, surface: Sequence[Placed], colour: str, label: str, width: float = 1.2, style: str = "-", marker: str = ""
) -> None:
    """A surface: down to each level the accuracy is that of its corner, so lines go left and then up."""
    levels = [1, *(corner.level for corner in surface)]
    accuracies = [surface[0].accuracy, *(corner.accuracy for corner in surface)]
    ax.step(levels, accuracies, where="pre", color=colour, linewidth=width, linestyle=style, label=label)
    ax.plot(levels[1:], accuracies[1:], linestyle="", marker=marker, markersize=3.5, color=colour)


def _band(ax: Axes, worst: Sequence[Placed], best: Sequence[Placed]) -> None:
    levels = np.array(sorted({1, *(corner.level for corner in (*worst, *best))}))
    ax.fill_between(levels, _at(worst, levels), _at(best, levels), step="pre", color=MEDIAN, alpha=0.12, linewidth=0)


def _at(surface: Sequence[Placed], levels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The accuracy of a surface at each level; nothing where it has ended."""
    accuracies = np.array([*(corner.accuracy for corner in surface), np.nan])
    return accuracies[np.searchsorted([corner.level for corner in surface], levels)]


def _mark_knees(ax: Axes, surface: Sequence[Placed]) -> None:
    found = [surface[number] for number in knees(surface)]
    ax.plot(
        [corner.level for corner in found],
        [corner.accuracy for corner in found],
        linestyle="",
        marker="o",
        markersize=11,
        markerfacecolor="none",
        markeredgecolor=INK,
        markeredgewidth=1.3,
        label="knee: further on costs more" if found else None,
    )
    for corner in found:
        _note(ax, corner, (-9, -15))  # under the line, where nothing is


def _mark_level(ax: Axes, surface: Sequence[Placed], k: int) -> None:
    taken = next(corner for corner in surface if corner.level >= k)
    ax.axvline(k, color=BELOW, linewidth=1, linestyle=":", label=f"k = {k:,}")
    ax.plot(taken.level, taken.accuracy, linestyle="", marker="D", markersize=6, color=BELOW)
    if taken not in [surface[number] for number in knees(surface)]:  # else it is named already
        at_the_end = taken.level**2 > surface[-1].level  # on the right half of the axis
        _note(ax, taken, (-7, 8) if at_the_end else (7, 8))


def _note(ax: Axes, corner: Placed, offset: tuple[int, int]) -> None:
    """Name a point, to the left or the right of it."""
    ax.annotate(
        f"level {corner.level:,}: {corner.accuracy:.1%}",
        (corner.level, corner.accuracy),
        xytext=offset,
        textcoords="offset points",
        horizontalalignment="right" if offset[0] < 0 else "left",
        fontsize=SMALL,
        color=INK,
    )


def _words(ax: Any, surface: Sequence[Placed]) -> None:
    from matplotlib.ticker import FuncFormatter, PercentFormatter

    ax.set_xscale("log")
    ax.set_xlim(1, max(surface[-1].level, 2) * 1.3)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda level, _: f"{level:,.0f}"))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=1))
    ax.margins(y=0.12)
    ax.set_xlabel("anonymity level (PartAL: rows that cannot be told apart, not people)", fontsize=SMALL, color=INK)
    ax.set_ylabel("accuracy", fontsize=SMALL, color=INK)
    ax.tick_params(labelsize=SMALL - 1, colors=SOFT)
    ax.grid(True, which="major", linewidth=0.4, alpha=0.5)
    ax.legend(loc="lower left", fontsize=SMALL - 1, frameon=False)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
