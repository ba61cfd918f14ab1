# SPDX-License-Identifier: Apache-2.0
"""A clustering as a picture for use in house: `axes` says where, this file draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit import Audit
from shoal.errors import DataError
from shoal.release import ClustersRelease
from shoal.report.axes import Scatter, apart, scatter
from shoal.report.draw import BELOW, CLASS_COLOURS, INK
from shoal.report.plot import SOFT, check_matplotlib
from shoal.report.words import NBSP

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 5000
MARKERS = "os^DvP*X"  # where colours are used up, the next shape begins
LISTED = 16  # clusters in the legend
DOT, WIDEST = 14.0, 260.0  # areas in square points: of one row, and of very many that are alike
SMALL, LARGE = 8, 10
LABEL = 0.045  # of the width, the least distance of two numbers


def plot_clusters(
    clusters: Any, X: Any, audit: Audit | None = None, ax: Axes | None = None, *, max_rows: int = MOST_ROWS
) -> Axes:
    """Draw the rows of a clustering on their two principal axes with matplotlib: **for use in house only**.

    Every dot is a row, or several that are alike: the picture shows private values, and no audit is about it. Of what
    may leave, `write_report` draws the centroids. Colours are clusters, numbers are centroids. Given an audit, people
    of groups that break a requirement have a red ring, and so have centroids that too few people stand behind.

    Parameters
    ----------
    clusters
        A `ClustersRelease`, a fitted `AnonymousClusters`, or a clustering of scikit-learn that an audit reads in full:
        k-means, alone or at the end of a pipeline.
    X
        The rows, as they were given to the audit.
    audit
        The audit of this clustering with these rows. None: nobody is marked.
    ax
        Where to draw. None: a new figure.
    max_rows
        Of more rows than this, so many are drawn, which are the same each time; those of groups that fail come first.

    Returns
    -------
    matplotlib.axes.Axes
        Save the picture with ``ax.figure.savefig("clusters.png")``.

    Examples
    --------
    >>> from shoal import AnonymousClusters, audit, load_sample
    >>> from shoal.report import plot_clusters
    >>> people = load_sample().table.select(["age", "sex", "bmi"])
    >>> clusters = AnonymousClusters(privacy=50, public=["age", "sex"], random_state=0).fit(people)
    >>> ax = plot_clusters(clusters, people, audit(clusters, people))
    >>> ax.figure.savefig("clusters.png")  # doctest: +SKIP
    """
    if isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 1:
        raise DataError(
            "unknown-option", f"plot_clusters: max_rows must be a whole number of at least 1; got {max_rows!r}."
        )
    check_matplotlib("plot_clusters")
    shown = scatter(clusters, X, audit, max_rows)
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=(8, 5.4), dpi=150, layout="constrained").add_subplot()
    _draw_rows(ax, shown)
    _draw_centroids(ax, shown)
    unit = "rows" if _several_rows(clusters, audit) else "people"
    _draw_words(ax, shown, audit, unit)
    return ax


def _several_rows(clusters: Any, audit: Audit | None) -> bool:
    release = getattr(clusters, "release_", clusters)
    return (isinstance(release, ClustersRelease) and release.several_rows) or (
        audit is not None and audit.unit == "people"
    )


def _draw_rows(ax: Axes, shown: Scatter) -> None:
    """A dot for rows that are alike, the larger the more there are; rings around those whose group fails."""
    alike = np.column_stack([shown.at.round(9), shown.cluster, shown.fails])
    dots, rows = np.unique(alike, axis=0, return_counts=True)
    areas = np.minimum(DOT * rows, WIDEST)
    order = np.argsort(-areas, kind="stable")  # small dots above large ones
    dots, areas = dots[order], areas[order]
    x, y, cluster, fails = dots[:, 0], dots[:, 1], dots[:, 2], dots[:, 3] > 0
    for number in range(len(shown.sizes)):
        own = cluster == number
        ax.scatter(
            x[own],
            y[own],
            s=areas[own],
            color=_colour(number),
            marker=_marker(number),
            alpha=0.55,
            linewidths=0,
            zorder=1,
            rasterized=True,  # in an SVG, thousands of dots would be megabytes
        )
    ax.scatter(
        x[fails],
        y[fails],
        s=areas[fails] + 25,
        facecolors="none",
        edgecolors=BELOW,
        linewidths=0.9,
        zorder=2,
        gid="fails",
    )


def _draw_centroids(ax: Axes, shown: Scatter) -> None:
    """A cross at every centroid, its number there or, where they are crowded, nearby."""
    width, height = np.ptp(np.vstack([shown.at, shown.centroids]), axis=0)
    labels = apart(shown.centroids, LABEL * max(width, 1.5 * height))
    for number, ((x, y), (cross_x, cross_y)) in enumerate(zip(labels, shown.centroids, strict=True)):
        edge = BELOW if number in shown.few else _colour(number)
        ax.plot([x, cross_x], [y, cross_y], color=INK, linewidth=0.8, zorder=3)
        ax.plot(cross_x, cross_y, color=BELOW if number in shown.few else INK, marker="+", markersize=7, zorder=3)
        ax.plot(x, y, marker="o", markersize=13, color="white", markeredgecolor=edge, markeredgewidth=1.8, zorder=4)
        ax.text(x, y, str(number), fontsize=SMALL - 1, ha="center", va="center_baseline", color=INK, zorder=5)


def _draw_words(ax: Axes, shown: Scatter, audit: Audit | None, unit: str) -> None:
    """What the picture is, what the axes mean, and what colours and rings stand for."""
    from matplotlib.lines import Line2D

    n = len(shown.sizes)
    drawn = "" if len(shown.rows) == shown.n_rows else f"; {len(shown.rows):,} are drawn"
    ax.set_title(
        f"{n:,} {'cluster' if n == 1 else 'clusters'} of {shown.n_rows:,} {unit}{drawn}\n",
        fontsize=LARGE,
        weight="bold",
        color=INK,
        loc="left",
    )
    said = "In house only: a dot is a row, or several that are alike."
    ax.text(0, 1.02, said, transform=ax.transAxes, fontsize=SMALL, color=BELOW)
    names = shown.plane.named(shown.features)
    told = [
        f"{100 * share:.0f}{NBSP}% of the variance: {name}"
        for share, name in zip(shown.plane.shares, names, strict=True)
    ]
    # names may hold a $, which would start a formula
    ax.set_xlabel(f"1st axis, {told[0]}", fontsize=SMALL, color=SOFT, parse_math=False)
    ax.set_ylabel(f"2nd axis, {told[1]}", fontsize=SMALL, color=SOFT, parse_math=False)
    ax.tick_params(labelsize=SMALL, colors=SOFT)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(SOFT)
    ax.set_aspect("equal", adjustable="datalim")
    entries = [
        Line2D([], [], linestyle="", marker=_marker(i), markersize=6, color=_colour(i), label=f"{i}: {size:,} {unit}")
        for i, size in enumerate(shown.sizes[:LISTED].tolist())
    ]
    if n > LISTED:
        entries.append(Line2D([], [], linestyle="", label=f"{n - LISTED:,} more clusters"))
    if shown.few:
        label = "centroid of too few people"
        entries.append(Line2D([], [], linestyle="", marker="+", markersize=7, color=BELOW, label=label))
    if audit is not None and not audit.people_at_risk:
        entries.append(Line2D([], [], linestyle="", label="no group fails"))
    elif audit is not None:
        label = f"{audit.people_at_risk:,} of {audit.n_people:,} people\nare in groups that fail"
        ring = Line2D([], [], linestyle="", marker="o", markersize=8, color="none", markeredgecolor=BELOW, label=label)
        entries.append(ring)
    ax.legend(
        handles=entries, loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=SMALL, frameon=False, labelcolor=INK
    )


def _colour(number: int) -> str:
    return CLASS_COLOURS[number % len(CLASS_COLOURS)]


def _marker(number: int) -> str:
    return MARKERS[number // len(CLASS_COLOURS) % len(MARKERS)]
