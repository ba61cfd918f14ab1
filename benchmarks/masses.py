# SPDX-License-Identifier: Apache-2.0
"""Clusters of mammographic masses: the figures and pictures of docs/explanation/clusters-of-patients.md.

Released clusters beside k-means of scikit-learn with as many clusters: what the audit says of both on the same columns,
and their silhouettes (in the distances of the release). Prints the tables of the page; with --pictures it draws them.

python benchmarks/masses.py --data FOLDER [--pictures docs/explanation/pictures]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.metrics import silhouette_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from shoal import AnonymousClusters, audit
from shoal.audit import Audit
from shoal.audit.clusters.released import ClustersSubject
from shoal.audit.foreign import read_model
from shoal.audit.subject import Subject
from shoal.data import to_table

SHAPES = ["round", "oval", "lobular", "irregular"]
MARGINS = ["circumscribed", "microlobulated", "obscured", "ill-defined", "spiculated"]
SEVERITIES = ["benign", "malignant"]
DOMAIN = {"bi_rads": [0, 6], "shape": SHAPES, "margin": MARGINS, "severity": SEVERITIES}
PUBLIC = ["age"]
WISHES = [(k, method) for k in (10, 20, 50) for method in ("mst", "kmeans")]
SHOWN = (50, "mst")  # the one that is told at length, and drawn


def patients(folder: Path) -> pd.DataFrame:
    """The complete rows, but for one whose assessment is a slip of the pen (55), with words for codes."""
    rows = pd.read_csv(folder / "mammographic_masses.csv", na_values="?").drop(columns="density").dropna().astype(int)
    rows = rows[rows["bi_rads"] <= 6].reset_index(drop=True)
    for name, words in (("shape", SHAPES), ("margin", MARGINS)):
        rows[name] = rows[name].map(dict(enumerate(words, 1)))
    return rows.assign(severity=rows["severity"].map(dict(enumerate(SEVERITIES))))


@dataclass(frozen=True)
class Pair:
    """Released clusters and k-means with as many, each with its audit and silhouette."""

    ours: AnonymousClusters
    own_audit: Audit
    own_silhouette: float
    free: Any
    free_audit: Audit
    free_silhouette: float

    @property
    def smallest(self) -> int:
        """People in the smallest cluster of k-means."""
        return int(np.bincount(self.free[-1].labels_).min())

    def groups(self, rows: pd.DataFrame) -> list[str]:
        """The groups of both, as lines of the page."""
        foreign, _ = read_model(self.free, rows, domain=DOMAIN)
        ours = groups_by_age(ClustersSubject(self.ours.release_), self.own_audit, rows)
        return [*ours, "", *groups_by_age(foreign, self.free_audit, rows)]


def compare(rows: pd.DataFrame, k: int, method: Any) -> Pair:
    """Both clusterings under one requirement."""
    ours = AnonymousClusters(k, public=PUBLIC, domain=DOMAIN, method=method, random_state=0).fit(rows)
    release = ours.release_
    encode = make_column_transformer(
        (StandardScaler(), ["bi_rads", "age"]), (OneHotEncoder(), ["shape", "margin", "severity"])
    )
    free = make_pipeline(encode, KMeans(len(release), n_init=10, random_state=0)).fit(rows)
    points = release.encoding.points(release.read(rows))
    return Pair(
        ours,
        audit(ours, rows),
        float(silhouette_score(points, ours.labels_)),
        free,
        audit(free, rows, public=PUBLIC, domain=DOMAIN, privacy=k),
        float(silhouette_score(points, free[-1].labels_)),
    )


def comparison(pairs: dict[tuple[int, str], Pair]) -> list[str]:
    """A line of the page's table for every wish."""
    return [
        f"| {k} | `{method}` | {len(pair.ours.release_)} | {pair.own_audit.smallest_group} | "
        f"{pair.own_silhouette:.2f} | {pair.free_silhouette:.2f} | {pair.smallest} | "
        f"{pair.free_audit.smallest_group} | {pair.free_audit.people_at_risk} |"
        for (k, method), pair in pairs.items()
    ]


def groups_by_age(subject: Subject, found: Audit, rows: pd.DataFrame) -> list[str]:
    """A line of the page for every group: ages, the clusters they can be in, people, and malignant masses."""
    table = to_table(rows)
    told = rows.assign(group=found.groups.of_row, malignant=rows["severity"] == "malignant").groupby("group")
    lines = []
    for group, people in sorted(told, key=lambda each: int(each[1]["age"].min())):
        ages = f"{people['age'].min()} to {people['age'].max()}"
        _, clusters = subject.group_words(table, PUBLIC, int(people.index[0]))
        size = f"**{len(people)}**" if found.fails[group] else f"{len(people)}"
        lines.append(f"| {ages} | {', '.join(map(str, clusters))} | {size} | {people['malignant'].sum()} |")
    return lines


def draw(pair: Pair, rows: pd.DataFrame, folder: Path) -> None:
    """The rows of both clusterings, and the centroids as they are released."""
    from matplotlib.figure import Figure

    from shoal.report import plot_clusters
    from shoal.report.clusters import centroids_svg

    for name, clusters, found in (
        ("masses-released", pair.ours, pair.own_audit),
        ("masses-kmeans", pair.free, pair.free_audit),
    ):
        ax = Figure(figsize=(7, 4.6), dpi=110, layout="constrained").add_subplot()
        figure: Any = plot_clusters(clusters, rows, found, ax).figure
        figure.savefig(folder / f"{name}.png")
    alone = centroids_svg(pair.ours.release_).replace(
        "<svg ", '<svg xmlns="http://www.w3.org/2000/svg" style="font-family:sans-serif;background:#fff" ', 1
    )
    (folder / "masses-centroids.svg").write_text(alone + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    rows = patients(options.data)
    pairs = {wish: compare(rows, *wish) for wish in WISHES}
    shown = pairs[SHOWN]
    print(f"{len(rows)} people, {(rows['severity'] == 'malignant').sum()} with a malignant mass\n")
    print(*comparison(pairs), sep="\n")
    print(f"\n{shown.ours.release_}\n\n{shown.own_audit}\n\n{shown.free_audit}\n")
    print(*shown.groups(rows), sep="\n")
    if options.pictures is not None:
        draw(shown, rows, options.pictures)


if __name__ == "__main__":
    main()
