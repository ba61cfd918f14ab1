# SPDX-License-Identifier: Apache-2.0
"""The clusters of a report, as released: drawn from the release alone, so that nothing of a row can be in it."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from shoal.release import ClustersRelease
from shoal.report.axes import apart, features_of, principal_plane
from shoal.report.draw import ABOVE, FAINT, INK
from shoal.report.words import NBSP, number, people_of

WIDE, LOW, HIGH = 920, 160, 420  # the picture, in pixels
EDGE = 58  # room around the places of centroids
LARGEST, SMALLEST = 36.0, 4.0  # radius of the largest cluster, and the least
BESIDE = 19.0  # pixels between the numbers of two clusters
MOST_DRAWN, MOST_CLUSTERS = 500, 50  # clusters in the picture, and in the table; the largest
MOST_COLUMNS = 8  # that a cluster is described by


def clusters_section(release: ClustersRelease) -> str:
    """The whole section: centroids on their two principal axes where there are several, and a line for each."""
    single = "Nothing here is of a single row."
    if release.small:
        single = "Few people may stand behind a centroid: that of one person is his row."
    parts = [
        '<h2>The clusters</h2><p class="soft">As released: how many people are nearest to each centroid, and its means '
        f"and shares. The columns that set it most apart from everybody come first. {single}</p>"
    ]
    if len(release) > 1:
        parts.append(centroids_svg(release))
        caption = "The centroids on their two principal axes. The area of a circle says how many people are nearest."
        parts.append(f'<p class="soft small">{caption}{_left_out(len(release) - MOST_DRAWN, "drawn")}</p>')
    parts.append(_table(release))
    return "".join(parts)


def centroids_svg(release: ClustersRelease) -> str:
    """Centroids on their two principal axes; the area of a circle says how many people are nearest."""
    people = np.array(release.people)
    plane = principal_plane(release.centroids, np.maximum(people, 1))
    at = plane.at(release.centroids)
    span = np.maximum(np.ptp(at, axis=0), 1e-9)
    scale = min((WIDE - 2 * EDGE) / span[0], (HIGH - 2 * EDGE) / span[1])
    high = max(LOW, span[1] * scale + 2 * EDGE)
    # a pixel is as far to the right as it is up; the first axis from left to right, the second upwards
    places = (at - at.min(axis=0) - span / 2) * scale * [1, -1] + [WIDE / 2, (high - 10) / 2]
    radii = np.maximum(SMALLEST, LARGEST * np.sqrt(people / max(1, people.max())))
    labels = apart(places, BESIDE)
    shapes, texts = [], []
    for i in np.argsort(-people, kind="stable")[:MOST_DRAWN].tolist():
        (x, y), (label_x, label_y) = places[i], labels[i]
        title = escape(f"cluster {i}: {people_of(int(people[i]))}; {_apart_words(release, i)}")
        shapes.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radii[i]:.1f}" fill="{ABOVE}" fill-opacity=".3" stroke="{ABOVE}">'
            f"<title>{title}</title></circle>"
        )
        beside = radii[i] < BESIDE / 2  # no room for the number inside
        if beside:
            label_x, label_y = label_x + radii[i] + 8, label_y - radii[i]
        elif np.hypot(label_x - x, label_y - y) > radii[i]:
            texts.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{label_x:.1f}" y2="{label_y:.1f}" stroke="{INK}"/>')
        texts.append(_text(label_x, label_y + 4, str(i), "middle", "600"))
    names = plane.named(features_of(release.encoding))
    told = [
        f"{100 * share:.0f}{NBSP}% of what sets centroids apart: {name}"
        for share, name in zip(plane.shares, names, strict=True)
    ]
    axes = _text(WIDE - 4, high - 6, f"→ {told[0]}", "end")
    if plane.shares[1]:
        axes += _text(4, 14, f"↑ {told[1]}", "start")
    return (
        f'<svg class="histogram" viewBox="0 0 {WIDE} {high:.0f}" role="img" font-family="inherit" font-size="12" '
        'aria-label="The centroids on their two principal axes, larger where more people are nearest">'
        f'<rect x="0.5" y="0.5" width="{WIDE - 1}" height="{high - 1:.0f}" fill="none" stroke="{FAINT}"/>'
        f"{''.join(shapes)}{''.join(texts)}{axes}</svg>"
    )


def _table(release: ClustersRelease) -> str:
    shown = np.argsort(-np.array(release.people), kind="stable")[:MOST_CLUSTERS].tolist()
    cells = [(f"{i}", f"{release.people[i]:,}", escape(_apart_words(release, i))) for i in sorted(shown)]
    rows = "".join(f"<tr><td class=n>{i}</td><td class=n>{n}</td><td>{text}</td></tr>" for i, n, text in cells)
    head = "<tr><th class=n>Cluster</th><th class=n>People</th><th>Centroid</th></tr>"
    more = f'<p class="soft small">{_left_out(len(release) - MOST_CLUSTERS, "listed")}</p>'
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>{more}"


def _left_out(n: int, done: str) -> str:
    return f" {number(n, 'smaller cluster is', 'smaller clusters are')} not {done}." if n > 0 else ""


def _apart_words(release: ClustersRelease, i: int) -> str:
    """A centroid column by column, those first in which it is farthest from the mean of everybody."""
    weights = np.maximum(np.array(release.people), 1)
    away: Any = (release.centroids[i] - np.average(release.centroids, axis=0, weights=weights)) ** 2
    told = release.told(i)
    names = [each.name for each in release.attributes]
    order = np.argsort([-away[release.encoding.own(n)].sum() for n in range(len(names))], kind="stable")
    kept = [f"{names[n]} {told[names[n]]}" for n in order[:MOST_COLUMNS].tolist()]
    rest = len(names) - len(kept)
    return ", ".join(kept) + (f" and {number(rest, 'other column', 'other columns')}" if rest else "")


def _text(x: float, y: float, text: str, anchor: str, weight: str = "400") -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {where} fill="{INK}" font-weight="{weight}">{escape(text)}</text>'
