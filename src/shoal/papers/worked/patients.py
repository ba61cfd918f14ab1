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


def _step(parts: Mapping[str, str], n_clusters: int) -> dict[str, float]:
    """Of the two newest of some clusters, by the paper's names: who is in each, and how many are linked to which."""
    model = patient_clusters(n_clusters)
    labels = model.labels_.tolist()
    subject, table = ClustersSubject(model.release_), model.release_.read(dict(PATIENTS))
    spans = [set(subject.group_words(table, ["age"], row)[1]) for row in range(len(NAMES))]
    step = f"{n_clusters} clusters: "
    number = {name: labels[NAMES.index(who[0])] for name, who in parts.items()}
    told = {f"{step}{who} is one{YES}": together(NAMES, labels, who) for who in parts.values()}
    told |= {f"{step}linked to {name} only": float(spans.count({own})) for name, own in number.items()}
    told[f"{step}linked to {' or '.join(parts)}"] = float(spans.count(set(number.values())))
    told[f"{step}3-anonymous{YES}"] = float(audit(model, dict(PATIENTS)).holds)
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
        **_step({"C2": "ABC", "C3": "DEFG"}, 2),
        **_step({"C4": "D", "C5": "EFG"}, 3),
        "clusters where no centroid may be of fewer than three people": float(
            len(patient_clusters(3, allow_small=False).release_)
        ),
    }
