# SPDX-License-Identifier: Apache-2.0
"""Figure 5 of VLDB'08: seven points, age public, result private."""

import pandas as pd
import pytest

from shoal import AnonymousClusters, audit
from shoal.papers.worked.patients import NAMES, PATIENTS, RESULTS

POINTS = pd.DataFrame(dict(PATIENTS), index=list(NAMES))


def clusters_of(**options):
    model = AnonymousClusters(3, public=["age"], domain={"result": RESULTS}, **options).fit(POINTS)
    found = {}
    for name, label in zip(POINTS.index, model.labels_.tolist(), strict=True):
        found[label] = found.get(label, "") + name
    return model, set(found.values())


@pytest.mark.parametrize("scale", [False, True])
def test_under_the_papers_letter_d_is_a_cluster_of_his_own(scale):
    model, found = clusters_of(n_clusters=3, allow_small=True, scale=scale)
    assert found == {"ABC", "D", "EFG"}
    verdict = audit(model, POINTS)
    assert verdict.holds
    # D, E, F and G share a group: nobody can tell from an age which of the two clusters somebody is in
    assert sorted(verdict.group_sizes.tolist()) == [3, 4]
    assert [(each.code, each.severity) for each in verdict.findings] == [("centroid-of-few", "warning")]


def test_by_default_no_centroid_is_one_persons_row():
    model, found = clusters_of(n_clusters=3)
    assert found == {"ABC", "DEFG"}
    assert audit(model, POINTS).findings == ()


def test_the_domain_decides_what_the_released_rule_may_say():
    """Other points with these lengths: C alone could be nearer to the other centroid of {A, B, C} and {D, E, F, G}."""
    points = {"age": [1, 1, 2, 7, 8, 7, 8], "result": [3, 1, 2, 2, 5, 7, 9]}
    model = AnonymousClusters(3, public=["age"], domain={"result": [1, 9]}, n_clusters=2, scale=False).fit(points)
    assert model.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1]
