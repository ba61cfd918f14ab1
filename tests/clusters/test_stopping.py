# SPDX-License-Identifier: Apache-2.0
"""When splitting stops: at a number of clusters, where a split gains too little, or where the promise forbids."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from shoal import AnonymousClusters, audit

METHODS = ["mst", "kmeans"]


@pytest.fixture(scope="module")
def people():
    """Four blobs of 80 people each, far apart in age."""
    random = np.random.default_rng(0)
    age = np.repeat([10, 40, 70, 100], 80) + random.integers(0, 12, 320)
    return pd.DataFrame({"age": age, "dose": random.integers(0, 10, 320)})


def inertia(model, rows):
    points = model.release_.encoding.points(model.release_.read(rows))
    return ((points - model.cluster_centers_[model.labels_]) ** 2).sum()


def fitted(people, method, **options):
    return AnonymousClusters(
        20, public=["age"], domain={"dose": [0, 10]}, method=method, random_state=0, **options
    ).fit(people)


@pytest.mark.parametrize("method", METHODS)
def test_it_stops_at_a_number(people, method):
    assert [len(fitted(people, method, n_clusters=n).release_) for n in (1, 2, 3)] == [1, 2, 3]


@pytest.mark.parametrize("method", METHODS)
def test_it_stops_where_a_split_gains_little(people, method):
    sizes = [len(fitted(people, method, min_gain=gain).release_) for gain in (0.6, 0.1, 0.0)]
    assert sizes[0] < sizes[1] < sizes[2], "no limit asks for as many as the promise allows"
    inertias = [inertia(fitted(people, method, n_clusters=n, min_gain=0.1), people) for n in (1, 2, 3)]
    for fewer, more in pairwise(inertias):
        assert fewer - more >= 0.05 * inertias[0]


@pytest.mark.parametrize("method", METHODS)
def test_the_promise_stops_it(people, method):
    many = fitted(people, method, min_gain=0.0)
    assert min(many.release_.people) >= 20
    assert audit(many, people).holds
    strict = AnonymousClusters(
        100, public=["age"], domain={"dose": [0, 10]}, method=method, min_gain=0.0, random_state=0
    ).fit(people)
    assert len(strict.release_) < len(many.release_)


def test_without_a_method_few_rows_are_cut_along_the_tree(people):
    options = {"public": ["age"], "domain": {"dose": [0, 10]}, "random_state": 0}
    chosen = AnonymousClusters(20, **options).fit(people)
    assert chosen.release_.sha256 == AnonymousClusters(20, method="mst", **options).fit(people).release_.sha256


def test_without_a_method_many_rows_are_clustered_by_k_means():
    random = np.random.default_rng(1)
    rows = pd.DataFrame({"age": np.round(random.normal(size=6_000), 5), "dose": random.integers(0, 9, 6_000)})
    options = {"public": ["age"], "domain": {"dose": [0, 10]}, "n_clusters": 2, "random_state": 0}
    chosen = AnonymousClusters(20, **options).fit(rows)
    assert chosen.release_.sha256 == AnonymousClusters(20, method="kmeans", **options).fit(rows).release_.sha256


def test_centroids_that_few_people_forbid_are_moved_a_little():
    """Their numbers are those of the mean, moved by less than a quarter of a standard deviation."""
    random = np.random.default_rng(3)
    n = 3_000
    kind = random.integers(0, 4, n)
    rows = pd.DataFrame(
        {
            "age": np.round(np.array([20, 35, 50, 65])[kind] + 4 * random.normal(size=n), 1),
            "height": np.round(np.array([150, 180, 160, 190])[kind] + 6 * random.normal(size=n), 1),
            "dose": np.round(np.array([1, 5, 9, 3])[kind] + random.normal(size=n), 2),
        }
    )
    model = AnonymousClusters(30, public=["age", "height"], method="kmeans", random_state=0).fit(rows)
    assert audit(model, rows).holds
    means = rows.groupby(model.labels_).mean()
    assert len(means) >= 4
    off = np.abs(means.to_numpy() - model.release_.means) / rows.std().to_numpy()
    assert off.max() < 0.25
    assert off.max() > 0.001, "otherwise nothing was moved, and this shows nothing"
