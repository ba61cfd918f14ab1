# SPDX-License-Identifier: Apache-2.0
"""VLDB'08 Table 5 and Fig. 3: six customers and four clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.audit import audit
from shoal.audit.foreign import read_model
from shoal.data import to_table
from shoal.papers.worked import Numbers, worked
from shoal.papers.worked.told import YES, together

NAMES = ["John", "Cathy", "Ben", "Laura", "William", "Lisa"]
ZIP_CODES = ["11001", "11001", "13010", "13010", "14384", "15013"]
INCOMES = [98, 62, 36, 115, 44, 100]  # thousands
AXIS = ["11001", "11022", "13010", "14384", "15012", "15013"]  # zip codes of the figure, at equal distances
STEP = 20.0  # from a zip code to the next, in thousands of income
RANGE = [20, 120]  # of incomes, in the figure
# the figure draws borders and states no centroid: these give its counts and the spans of the text
CENTROIDS = np.array([[0.0, 80.0], [50.0, 105.0], [60.0, 40.0], [100.0, 90.0]])


def clustering() -> tuple[Any, dict[str, list[float]]]:
    """The centroids as scikit-learn's k-means has them, and the rows as it sees them."""
    from sklearn.cluster import KMeans

    rows = {"zip code": [STEP * AXIS.index(code) for code in ZIP_CODES], "income": [float(each) for each in INCOMES]}
    model = KMeans(len(CENTROIDS), n_init=1, random_state=0).fit(np.column_stack(list(rows.values())))
    model.cluster_centers_ = CENTROIDS
    return model, rows


@worked("customers")
def customers() -> Numbers:
    """People and spans of the clusters."""
    model, rows = clustering()
    table, public, domain = to_table(rows), ["zip code"], {"income": RANGE}
    subject, read = read_model(model, table, domain=domain)
    spans = {name: {f"C{each + 1}" for each in subject.group_words(read, public, i)[1]} for i, name in enumerate(NAMES)}
    verdict = audit(model, table, public=public, domain=domain, privacy=2)
    counts = np.bincount(subject.bins(read), minlength=len(CENTROIDS))
    told = {f"C{number + 1}: people": float(people) for number, people in enumerate(counts)}
    for who, clusters in (
        (["John", "Cathy"], {"C1"}),
        (["Ben", "Laura", "William"], {"C2", "C3"}),
        (["Lisa"], {"C3", "C4"}),
    ):
        own = together(NAMES, verdict.groups.of_row.tolist(), who) and all(spans[name] == clusters for name in who)
        told[f"{', '.join(who)}: a span of {' and '.join(sorted(clusters))}, shared by nobody else{YES}"] = float(own)
    at_home = np.array([[STEP * AXIS.index("15013"), income] for income in range(RANGE[0], RANGE[1] + 1)])
    in_c4 = at_home[model.predict(at_home) == 3, 1]
    return told | {
        "2-anonymous" + YES: float(not verdict.fails.any()),  # by spans alone: of centroids of few the audit tells too
        "people who can be in C4": float(sum("C4" in each for each in spans.values())),
        "lowest income in C4 at Lisa's zip code, thousands": float(in_c4.min()),
    }
