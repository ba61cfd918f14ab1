# SPDX-License-Identifier: Apache-2.0
"""How columns become distances: numbers scaled, categories one by one or by hierarchy, missing one category more."""

import json

import numpy as np
import pandas as pd
import pytest

from shoal import AnonymousClusters, DataError, HierarchyError, ReleaseError, audit, load
from shoal.data.frames import to_table
from shoal.release import Attribute
from shoal.release.encoding import Encoding, Scale

JOBS = {"*": {"health": {"doctors": ["dentist", "surgeon"], "nurses": ["nurse"]}, "food": {"kitchen": ["cook"]}}}


def squares(encoding, column):
    """Squared distances between the values of a column, in the order of rows."""
    points = encoding.points(to_table({column: [*encoding.attributes[0].values, None]}))
    return ((points[:, None] - points) ** 2).sum(axis=2)


def test_the_distance_of_categories_is_the_share_of_levels_that_tell_them_apart():
    values = ("dentist", "surgeon", "nurse", "cook")
    levels = (("doctors", "doctors", "nurses", "kitchen"), ("health", "health", "health", "food"))
    job = Attribute("job", "public", "categorical", values=values, missing=True)
    found = squares(Encoding([job], {"job": Scale(levels=levels)}), "job")
    apart = np.array([[0, 1, 2, 3, 3], [1, 0, 2, 3, 3], [2, 2, 0, 3, 3], [3, 3, 3, 0, 3], [3, 3, 3, 3, 0]])
    assert np.allclose(found, 2 * apart / 3)
    assert np.allclose(squares(Encoding([job], {"job": Scale()}), "job"), 2 * (apart > 0))


def test_means_and_shares_become_the_points_they_are_the_means_of():
    random = np.random.default_rng(0)
    jobs = ("dentist", "surgeon", "nurse", "cook")
    attributes = [
        Attribute("age", "public", "numeric", bounds=(0.0, 100.0)),
        Attribute("job", "private", "categorical", values=jobs, missing=True),
    ]
    encoding = Encoding(attributes, {"age": Scale(50, 7), "job": Scale(0, 3, (("d", "d", "n", "k"),))})
    table = to_table({"age": random.integers(0, 100, 50), "job": random.choice([*jobs, None], 50).tolist()})
    mean = encoding.points(table).mean(axis=0, keepdims=True)
    assert np.allclose(encoding.scaled(encoding.means(mean)), mean)
    assert encoding.means(mean).shape == (1, encoding.n_stated) == (1, 6)


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    n = 400
    old = random.random(n) < 0.5
    job = np.where(old, random.choice(["dentist", "surgeon", "nurse"], n), "cook").astype(object)
    job[random.random(n) < 0.1] = None
    return pd.DataFrame({"age": 40 * old + random.integers(20, 40, n), "job": job})


@pytest.mark.parametrize("public", [["age"], ["job"]])
def test_a_release_states_levels_and_missing_and_says_the_same_when_read(people, public, tmp_path):
    model = AnonymousClusters(
        20, public=public, hierarchies={"job": JOBS}, method="kmeans", random_state=0, domain={"age": [0, 100]}
    ).fit(people)
    file = tmp_path / "clusters.json"
    model.release_.save(file)
    body = json.loads(file.read_text(encoding="utf-8"))
    # the nurses are one job, so that their level and the next but one differ for the other jobs alone
    assert body["encoding"]["job"]["levels"] == [
        ["doctors", "doctors", "nurses", "kitchen"],
        ["health", "health", "health", "food"],
    ]
    assert any("missing" in entry for entry in body["clusters"])
    assert "(missing)" in str(model.release_)
    again = load(file)
    assert again.sha256 == model.release_.sha256
    assert (again.predict(people) == model.labels_).all()
    assert audit(again, people).holds


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda body: body["encoding"]["job"]["levels"].append(["health"] * 3), "group of every value"),
        (lambda body: body["encoding"]["job"]["levels"].append(["a", "b", "c", "d"]), "level before together"),
        (lambda body: body["encoding"]["job"].update(levels=[]), "not empty"),
        (lambda body: body["encoding"]["age"].update(levels=[["a"]]), "does not know"),
        (lambda body: body["clusters"][0].update(missing={"age": 0.5}), "does not know"),
        (lambda body: body["clusters"][0].update(missing={"job": 5}), "add up to 1"),
        (lambda body: body["attributes"][0].update(missing=True), "missing values"),
    ],
)
def test_what_is_wrong_is_refused(people, change, message, tmp_path):
    file = tmp_path / "clusters.json"
    AnonymousClusters(20, public=["age"], hierarchies={"job": JOBS}).fit(people).release_.save(file)
    body = json.loads(file.read_text(encoding="utf-8"))
    change(body)
    file.write_text(json.dumps(body), encoding="utf-8")
    with pytest.raises(ReleaseError, match=message):
        load(file)


def test_near_jobs_are_clustered_together():
    """One by one all jobs are equally far from each other; by hierarchy those of one trade are near."""
    trades = {"*": {"health": ["dentist", "nurse"], "food": ["baker", "cook"]}}
    rows = pd.DataFrame({"job": ["dentist", "nurse", "baker", "cook"] * 30})
    model = AnonymousClusters(20, hierarchies={"job": trades}, n_clusters=2, random_state=0, method="kmeans").fit(rows)
    dentist, nurse, baker, cook = model.labels_[:4]
    assert dentist == nurse != baker == cook


def test_a_hierarchy_of_texts_for_numbers_is_refused_and_one_of_numbers_not_looked_at(people):
    with pytest.raises(HierarchyError, match="no such column"):
        AnonymousClusters(20, hierarchies={"Job": JOBS}).fit(people)
    with pytest.raises(HierarchyError, match="categorical"):
        AnonymousClusters(20, hierarchies={"job": {"intervals": [5]}}).fit(people)
    with pytest.raises(DataError, match="declared domain"):
        AnonymousClusters(20, hierarchies={"job": {"*": ["dentist"]}}).fit(people)
    plain = AnonymousClusters(20).fit(people[["age"]])
    assert AnonymousClusters(20, hierarchies={"age": {"intervals": [5]}}).fit(people[["age"]]).release_.sha256 == (
        plain.release_.sha256
    )
