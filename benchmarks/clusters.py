# SPDX-License-Identifier: Apache-2.0
"""Anonymous clusters of 100,000 people, 4 public and 2 private columns, k = 50: time, memory and silhouette.

python benchmarks/clusters.py [PEOPLE] [mst|kmeans ...]

Each method makes as many clusters as it likes, and then both as many as the one with fewer made. The peer is
scikit-learn's KMeans with as many clusters, fitted in the same run to the same encoded rows. The aims are 60 s, 2 GB
and 90 % of its silhouette. Seconds are of the processor, so that other work on the machine does not count.
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


def measure(rows: pd.DataFrame, method: str, n_clusters: int | None = None) -> tuple[int, str]:
    """How many clusters there are, and one line of the table."""
    began, began_cpu = time.perf_counter(), time.process_time()
    model = AnonymousClusters(50, public=PUBLIC, method=method, n_clusters=n_clusters, random_state=0).fit(rows)
    took, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    points = model.release_.encoding.points(model.release_.read(rows))
    began_cpu = time.process_time()
    n = len(model.release_)
    peer = KMeans(n, n_init=5, random_state=0).fit(points)
    peer_cpu = time.process_time() - began_cpu
    asked = np.random.default_rng(1).choice(len(points), min(ASKED, len(points)), replace=False)
    line = f"{method:8} {n:3} clusters {cpu:6.1f} s ({cpu / peer_cpu:.0f} times KMeans; {took:.1f} s by the clock)"
    if n > 1:
        ours = silhouette_score(points[asked], model.labels_[asked])
        theirs = silhouette_score(points[asked], peer.labels_[asked])
        inertia = ((points - model.cluster_centers_[model.labels_]) ** 2).sum()
        line += f", silhouette {ours:.3f} of {theirs:.3f} ({ours / theirs:.0%}), inertia {inertia / peer.inertia_:.2f}"
    return n, f"{line}, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB at most"


def main() -> None:
    """Print the table."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rows = people(n)
    made = {}
    for method in sys.argv[2:] or ["mst", "kmeans"]:
        made[method], line = measure(rows, method)
        print(line, flush=True)
    fewest = min(made.values())
    for method, own in made.items():
        if own > fewest:
            print(measure(rows, method, fewest)[1], flush=True)


if __name__ == "__main__":
    main()
