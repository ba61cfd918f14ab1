# SPDX-License-Identifier: Apache-2.0
"""VLDB'08 Fig. 5: seven patients, age public and the result of an examination private."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from shoal._kernels.spanning import spanning_tree
from shoal.audit import audit
from shoal.audit.clusters.released import ClustersSubject
from shoal.clusters import AnonymousClusters
from shoal.papers.worked import Numbers, worked
from shoal.papers.worked.told import YES, together

NAMES = "ABCDEFG"
# the figure has no coordinates: these give its edges, and from top to bottom its order of points
PATIENTS: Mapping[str, Sequence[float]] = {"age": [1, 1, 2, 7, 8, 6, 9], "result": [3, 1, 2, 2, 5, 6, 7]}
RESULTS = [1, 7]  # the range of the data
K = 3


def patient_clusters(n_clusters: int, *, allow_small: bool = True) -> AnonymousClusters:
    """Clusters along the spanning tree; by the paper's letter one may have a single person."""
    model = AnonymousClusters(
        K, public=["age"], domain={"result": RESULTS}, n_clusters=n_clusters, allow_small=allow_small, scale=False
    )
    return model.fit(dict(PATIENTS))


def _step(n_clusters: int, clusters: Sequence[str], named: str) -> dict[str, float]:
    """The clusters after some edges were removed, and how many people each set of the two newest is linked to."""
    model = patient_clusters(n_clusters)
    labels = model.labels_.tolist()
    subject = ClustersSubject(model.release_)
    table = model.release_.read(dict(PATIENTS))
    spans = [set(subject.group_words(table, ["age"], row)[1]) for row in range(len(NAMES))]
    told = {f"{n_clusters} clusters: {who} is one{YES}": together(NAMES, labels, who) for who in clusters}
    one, two = (labels[NAMES.index(who[0])] for who in clusters)
    for words, numbers in ((f"C{named[0]} only", {one}), (f"C{named[1]} only", {two}), ("either", {one, two})):
        told[f"{n_clusters} clusters: linked to {words}"] = float(spans.count(numbers))
    told[f"{n_clusters} clusters: 3-anonymous{YES}"] = float(audit(model, dict(PATIENTS)).holds)
    return told


@worked("patients")
def patients() -> Numbers:
    """The spanning tree, and the clusters and spans after each of two edges was removed."""
    points = np.column_stack([np.asarray(each, dtype=float) for each in PATIENTS.values()])
    edges = {
        "".join(sorted(NAMES[start] + NAMES[end])): math.sqrt(square)
        for start, end, square in zip(*spanning_tree(points), strict=True)
    }
    return {
        **{f"length of {edge}": length for edge, length in sorted(edges.items())},
        **_step(2, ["ABC", "DEFG"], "23"),
        **_step(3, ["D", "EFG"], "45"),
        "clusters where no centroid may be of fewer than three people": float(
            len(patient_clusters(3, allow_small=False).release_)
        ),
    }
