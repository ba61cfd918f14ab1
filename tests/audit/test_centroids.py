# SPDX-License-Identifier: Apache-2.0
"""Clusterings and nearest centroids audited: the paper's example, models against their own predict, and edge cases."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OrdinalEncoder

from shoal import audit
from shoal.audit.foreign import read_model

NAMES = ["John", "Cathy", "Ben", "Laura", "William", "Lisa"]
ZIPS = ["11001", "11022", "13010", "14384", "15012", "15013"]


def paper():
    """Table 5, and centroids that give the spans of Fig. 3, whose own are not legible: zip codes 20k of income apart."""
    people = pd.DataFrame(
        {"zip": ["11001", "11001", "13010", "13010", "14384", "15013"], "income": [98, 62, 36, 115, 44, 100]}
    )
    places = make_pipeline(OrdinalEncoder(categories=[ZIPS]), MinMaxScaler(feature_range=(0, 100)))
    columns = ColumnTransformer([("zip", places, ["zip"]), ("income", "passthrough", ["income"])])
    model = make_pipeline(columns, KMeans(4, n_init=1, random_state=0)).fit(people)
    model[-1].cluster_centers_ = np.array([[0.0, 80.0], [50.0, 105.0], [60.0, 40.0], [100.0, 90.0]])
    return model, people


def test_paper_section_4_2() -> None:
    model, people = paper()
    assert np.bincount(model.predict(people)).tolist() == [2, 1, 2, 1]  # C1 (2), C2 (1), C3 (2), C4 (1)
    verdict = audit(model, people, public=["zip"], privacy=2, domain={"income": [20, 120]})
    groups = [set(np.array(NAMES)[verdict.groups.of_row == group]) for group in range(3)]
    assert sorted(map(sorted, groups)) == [["Ben", "Laura", "William"], ["Cathy", "John"], ["Lisa"]]
    assert not verdict.holds and verdict.smallest_group == 1 and verdict.n_exempt == 1
    assert verdict.rows_at_risk.tolist() == [NAMES.index("Lisa")]
    (lisa,) = (finding for finding in verdict.findings if finding.code == "group-fails")
    assert lisa.message.startswith("A group of 1 person: can be in cluster 2 or 3 only (of 4, numbered from 0")
    assert lisa.nodes == (2, 3)
    (few,) = (finding for finding in verdict.findings if finding.code == "centroid-of-few")
    assert few.nodes == (1, 3) and few.people == 2


def test_paper_spans_by_name() -> None:
    model, people = paper()
    subject, table = read_model(model, people, domain={"income": [20, 120]})
    said = {name: subject.group_words(table, ["zip"], row)[1] for row, name in enumerate(NAMES)}
    assert said == {"John": (0,), "Cathy": (0,), "Ben": (1, 2), "Laura": (1, 2), "William": (1, 2), "Lisa": (2, 3)}
