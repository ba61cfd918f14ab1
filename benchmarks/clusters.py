# SPDX-License-Identifier: Apache-2.0
"""Anonymous clusters of 100,000 people, 4 public and 2 private columns, k = 50: time, memory and silhouette.

python benchmarks/clusters.py [PEOPLE] [mst|kmeans ...]

The peer is scikit-learn's KMeans with as many clusters,
fitted in the same run to the same encoded rows. The aims are 60 s, 2 GB and 90 % of its silhouette.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from shoal import AnonymousClusters

PUBLIC = ["age", "height", "income", "visits"]
COLUMNS = [*PUBLIC, "dose", "marker"]
SPREAD = np.array([5, 4, 6, 2, 3, 2])
RANGE = np.array([30, 20, 40, 10, 15, 8])
BLOBS = 6
ASKED = 5_000  # rows that the silhouette is taken over


def people(n: int) -> pd.DataFrame:
    """Blobs that overlap, with one decimal."""
    random = np.random.default_rng(0)
    centres = random.uniform(-1, 1, (BLOBS, len(COLUMNS))) * RANGE
    rows = centres[random.integers(BLOBS, size=n)] + random.normal(size=(n, len(COLUMNS))) * SPREAD
    return pd.DataFrame(np.round(rows, 1), columns=COLUMNS)


def measure(rows: pd.DataFrame, method: str) -> str:
    """One line of the table."""
    began = time.perf_counter()
    model = AnonymousClusters(50, public=PUBLIC, method=method, random_state=0).fit(rows)
    took = time.perf_counter() - began
    points = model.release_.encoding.points(model.release_.read(rows))
    began = time.perf_counter()
    peer = KMeans(len(model.release_), n_init=5, random_state=0).fit(points)
    peer_took = time.perf_counter() - began
    asked = np.random.default_rng(1).choice(len(points), min(ASKED, len(points)), replace=False)
    line = f"{method:8} {len(model.release_):3} clusters {took:6.1f} s ({took / peer_took:.0f} times KMeans)"
    if len(model.release_) > 1:
        ours = silhouette_score(points[asked], model.labels_[asked])
        theirs = silhouette_score(points[asked], peer.labels_[asked])
        inertia = ((points - model.cluster_centers_[model.labels_]) ** 2).sum()
        line += f", silhouette {ours:.3f} of {theirs:.3f} ({ours / theirs:.0%}), inertia {inertia / peer.inertia_:.2f}"
    return f"{line}, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB at most"


def main() -> None:
    """Print the table."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rows = people(n)
    for method in sys.argv[2:] or ["mst", "kmeans"]:
        print(measure(rows, method), flush=True)


if __name__ == "__main__":
    main()
