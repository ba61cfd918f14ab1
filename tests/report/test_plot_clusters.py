# SPDX-License-Identifier: Apache-2.0
"""Pictures of clusters: who is marked, what stands where, and that what leaves shows no row."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from shoal import AnonymousClusters, AnonymousTreeClassifier, DataError, ReleaseError, audit, load_sample
from shoal.release import Attribute, ClustersRelease
from shoal.release.encoding import Encoding, Scale
from shoal.report import plot_clusters, report_html
from shoal.report.axes import apart, features_of, principal_plane, scatter
from shoal.report.clusters import clusters_section
from shoal.report.draw import BELOW

from .test_html import Balanced

ALL = 10**6
PAIR = (Attribute("x", "public", "numeric", bounds=(0, 1)), Attribute("y", "public", "categorical", ("a", "b")))


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return load_sample().to_arrow().to_pandas()[["age", "sex", "smoker", "bmi"]].head(1200)


@pytest.fixture(scope="module")
def fitted(people) -> AnonymousClusters:
    domain = {"bmi": [10, 60], "smoker": ["current", "former", "no"]}
    return AnonymousClusters(20, public=["age", "sex"], domain=domain, method="kmeans", random_state=0).fit(people)


@pytest.fixture(scope="module")
def failed(fitted, people):
    """An audit that asks for so much that some groups fail and others do not."""
    sizes = np.unique(audit(fitted, people).groups.people)
    found = audit(fitted, people, privacy=int(sizes[len(sizes) // 2]) + 1)
    assert 0 < found.people_at_risk < found.n_people
    return found


def foreign(people: pd.DataFrame, n: int = 5):
    encode = make_column_transformer((StandardScaler(), ["age", "bmi"]), (OneHotEncoder(), ["sex", "smoker"]))
    return make_pipeline(encode, KMeans(n, n_init=1, random_state=0)).fit(people)


def rings(ax) -> np.ndarray:
    (found,) = [each for each in ax.collections if each.get_gid() == "fails"]
    return np.asarray(found.get_offsets())


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


@given(st.integers(1, 9), st.integers(2, 30), st.integers(0, 10**6))
def test_axes_are_those_of_scikit_learn(n_features, n_rows, seed):
    points = np.random.default_rng(seed).normal(size=(n_rows, n_features)) * np.arange(1, n_features + 1)
    plane = principal_plane(points)
    known = PCA(min(2, n_features, n_rows)).fit(points)
    expected = known.transform(points)
    found = plane.at(points)
    for axis, share in enumerate(known.explained_variance_ratio_):
        assert plane.shares[axis] == pytest.approx(share, abs=1e-9)
        # an axis may point either way; ours points where its largest weight is positive
        np.testing.assert_allclose(np.abs(found[:, axis]), np.abs(expected[:, axis]), atol=1e-6)
        if share > 1e-9:
            assert plane.directions[axis][np.argmax(np.abs(plane.directions[axis]))] > 0


@pytest.mark.parametrize("n_features", [2, 4])
def test_weights_count_a_point_several_times(n_features):
    points = np.array([[0.0, 1.0, 1.0, 3.0], [2.0, 0.0, 1.0, 7.0], [5.0, 5.0, 2.0, 0.0]])[:, :n_features]
    weights = [1, 3, 2]
    once, often = principal_plane(points, weights), principal_plane(np.repeat(points, weights, axis=0))
    np.testing.assert_allclose(once.directions, often.directions)
    np.testing.assert_allclose(once.centre, often.centre)
    assert once.shares == pytest.approx(often.shares)


def test_points_that_do_not_differ_have_no_axis():
    plane = principal_plane(np.ones((4, 3)))
    assert plane.shares == (0, 0)
    assert not plane.at(np.ones((4, 3))).any()


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_labels_part_and_stay_near(seed, n):
    places = np.random.default_rng(seed).integers(0, 6, (n, 2)).astype(float)
    moved = apart(places, 1.0)
    away = np.hypot(*(moved[:, None] - moved[None]).transpose(2, 0, 1))
    assert away[~np.eye(n, dtype=bool)].min(initial=9) > 0.9
    assert np.hypot(*(moved - places).T).max() <= n
    lonely = [i for i in range(n) if (np.hypot(*(places - places[i]).T) < n + 2).sum() == 1]
    np.testing.assert_array_equal(moved[lonely], places[lonely])


def test_exactly_the_people_of_failing_groups_are_marked(fitted, people, failed):
    shown = scatter(fitted, people, failed, ALL)
    np.testing.assert_array_equal(shown.rows, np.arange(len(people)))
    np.testing.assert_array_equal(shown.fails, failed.fails[failed.groups.of_row])
    np.testing.assert_array_equal(shown.cluster, fitted.labels_)
    assert shown.n_rows == len(people)
    ax = plot_clusters(fitted, people, failed)
    marked = {tuple(place) for place in rings(ax)}
    assert marked == {tuple(place) for place in shown.at[shown.fails].round(9)}
    assert f"{failed.people_at_risk:,} of 1,200 people\nare in groups that fail" in legend(ax)


def test_without_a_failing_group_nobody_is_marked(fitted, people):
    for verdict, said in ((None, False), (audit(fitted, people), True)):
        ax = plot_clusters(fitted.release_, people, verdict)
        assert not len(rings(ax))
        assert ("no group fails" in legend(ax)) == said


def test_the_picture_says_that_it_stays_in_house(fitted, people):
    ax = plot_clusters(fitted, people)
    words = [text.get_text() for text in ax.texts]
    assert any(text.startswith("In house only") for text in words)
    assert {str(number) for number in range(len(fitted.release_))} <= set(words)
    assert "1,200 people" in ax.get_title("left")
    for number, size in enumerate(np.bincount(fitted.labels_)):
        assert f"{number}: {size:,} people" in legend(ax)


def test_very_many_rows_are_thinned_and_those_that_fail_come_first(fitted, people, failed):
    at_risk = len(failed.rows_at_risk)
    few, again = (scatter(fitted, people, failed, at_risk + 10) for _ in range(2))
    np.testing.assert_array_equal(few.rows, again.rows)
    assert len(few.rows) == at_risk + 10
    assert set(failed.rows_at_risk) < set(few.rows)
    np.testing.assert_array_equal(few.sizes, np.bincount(fitted.labels_))  # of everybody
    whole = scatter(fitted, people, failed, ALL)
    np.testing.assert_allclose(few.at, whole.at[few.rows])
    assert "30 are drawn" in plot_clusters(fitted, people, max_rows=30).axes.get_title("left")


def test_a_foreign_clustering_and_its_centroid_of_few(people):
    outlier = pd.DataFrame({"age": [4000], "sex": ["Female"], "smoker": ["no"], "bmi": [25.0]})
    rows = pd.concat([people, outlier], ignore_index=True)
    model = foreign(rows)
    verdict = audit(model, rows, public=["age"], privacy=10)
    lonely = int(model.predict(rows)[-1])
    assert (model.predict(rows) == lonely).sum() == 1
    shown = scatter(model, rows, verdict, ALL)
    assert shown.few == {lonely}
    np.testing.assert_array_equal(shown.cluster, model.predict(rows))
    points = np.asarray(model[:-1].transform(rows))
    np.testing.assert_allclose(shown.at, principal_plane(points).at(points))
    assert ("sex", "sex Female") in shown.features
    ax = plot_clusters(model, rows, verdict)
    assert "centroid of too few people" in legend(ax)
    red = [line for line in ax.lines if line.get_marker() == "o" and to_hex(line.get_markeredgecolor()) == BELOW]
    assert len(red) == 1


def test_many_clusters_have_all_their_numbers(people):
    model = foreign(people, 30)
    ax = plot_clusters(model, people)
    assert {str(number) for number in range(30)} <= {text.get_text() for text in ax.texts}
    assert "14 more clusters" in legend(ax)
    looks = {(to_hex(each.get_facecolor()[0]), each.get_paths()[0].vertices.tobytes()) for each in ax.collections[:30]}
    assert len(looks) == 30  # six colours, five shapes


def test_given_axes_are_used_and_odd_names_are_no_formulas():
    rows = {"a $x$ \\frac": [1.0, 2.0, 8.0, 9.0] * 5, "b": ["$p", "q$", "$p", "q$"] * 5}
    model = AnonymousClusters(5, n_clusters=2).fit(pd.DataFrame(rows))
    ax = Figure().add_subplot()
    assert plot_clusters(model, pd.DataFrame(rows), ax=ax) is ax
    FigureCanvasAgg(ax.figure).draw()  # a formula that does not parse would fail here
    assert "a $x$ \\frac" in ax.get_xlabel()


def test_one_column_and_one_cluster_can_be_drawn():
    rows = pd.DataFrame({"age": [1.0, 2, 3, 4] * 5})
    model = AnonymousClusters(20).fit(rows)
    assert len(model.release_) == 1
    FigureCanvasAgg(plot_clusters(model, rows).figure).draw()
    assert "<svg" not in report_html(model.release_, audit(model, rows)).split("The clusters")[1].split("<h2>")[0]


def test_the_release_is_as_it_was(fitted, people, failed):
    before = fitted.release_.sha256, str(fitted.release_), people.copy()
    plot_clusters(fitted, people, failed)
    assert fitted.release_.to_json() == replace(fitted.release_).to_json()
    assert (replace(fitted.release_).sha256, str(fitted.release_)) == before[:2]
    pd.testing.assert_frame_equal(people, before[2])


def test_what_is_no_clustering_is_refused(people):
    tree = AnonymousTreeClassifier(50).fit(people, "smoker").release_
    classes = NearestCentroid().fit(people[["age", "bmi"]], people["sex"])
    for other in (tree, classes, "clusters.json", PCA().fit(people[["age", "bmi"]])):
        with pytest.raises(DataError, match="nearest centroid") as caught:
            plot_clusters(other, people)
        assert caught.value.code == "not-clusters"


def test_an_audit_of_something_else_is_refused(fitted, people, failed):
    other = AnonymousClusters(20, public=["age"], n_clusters=2).fit(people)
    for model, rows in ((other, people), (fitted, people.head(700))):
        with pytest.raises(ReleaseError) as caught:
            plot_clusters(model, rows, failed)
        assert caught.value.code == "audit-of-other"


@pytest.mark.parametrize("wrong", [0, -3, 1.5, True, None])
def test_a_senseless_number_of_rows_is_refused(fitted, people, wrong):
    with pytest.raises(DataError, match="max_rows"):
        plot_clusters(fitted, people, max_rows=wrong)


def test_without_matplotlib_the_extra_is_named(monkeypatch, fitted, people):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DataError, match=r"plot_clusters .*pip install shoal\[plots\]") as caught:
        plot_clusters(fitted, people)
    assert caught.value.code == "no-matplotlib"


def test_the_report_draws_centroids_and_tells_them(fitted, people):
    page = report_html(fitted.release_, audit(fitted, people))
    section = page.split("<h2>The clusters</h2>")[1].split("<h2>")[0]
    assert section.count("<circle") == len(fitted.release_)  # and nothing for a row
    told = Balanced(section)
    for number, size in enumerate(fitted.release_.people):
        assert f"cluster {number}: {size:,} people" in section
        assert f" {number} {size:,} " in told.text
    radii = [float(found) for found in re.findall(r' r="([\d.]+)"', section)]
    assert radii == sorted(radii, reverse=True)
    assert (radii[0] / radii[-1]) ** 2 == pytest.approx(
        max(fitted.release_.people) / min(fitted.release_.people), rel=0.05
    )
    assert "with every centroid and how many people are nearest to it" in page


def test_the_report_draws_from_the_release_alone(fitted, people):
    """Other rows, the same release: the same section."""

    def section(rows: pd.DataFrame) -> str:
        page = report_html(fitted.release_, audit(fitted, rows))
        return page.split("<h2>The clusters</h2>")[1].split("<h2>")[0]

    assert section(people) == section(people.sample(frac=0.5, random_state=0))


def test_an_axis_names_each_column_once():
    features = features_of(Encoding(PAIR, {"x": Scale(), "y": Scale()}))
    plane = principal_plane(np.array([[0.0, 1.0, 0.0], [0.1, 0.0, 1.0]]))
    assert plane.named(features) == ("y a", "")


def test_the_report_says_where_a_centroid_may_be_a_row():
    means = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    release = ClustersRelease(PAIR, (), {"x": Scale(), "y": Scale()}, means, (1, 4))
    assert "Nothing here is of a single row." in clusters_section(release)
    assert "that of one person is his row" in clusters_section(replace(release, small=True))


def test_very_many_clusters_make_no_endless_page():
    n = 3000
    means = np.column_stack([np.linspace(0, 1, n), np.ones(n), np.zeros(n)])
    release = ClustersRelease(PAIR, (), {"x": Scale(), "y": Scale()}, means, tuple(range(1, n + 1)))
    section = clusters_section(release)
    assert "2,500 smaller clusters are not drawn" in section
    assert "2,950 smaller clusters are not listed" in section
    assert len(section) < 200_000
    assert "cluster 2999: 3,000 people" in section


def test_names_in_the_report_are_no_markup():
    names = ("<b>", "&amp;")
    attributes = (Attribute("<i>x", "public", "numeric", bounds=(0, 9)), Attribute("y", "public", "categorical", names))
    means = np.array([[1.0, 1.0, 0.0], [8.0, 0.4, 0.6]])
    scales = {"<i>x": Scale(), "y": Scale()}
    release = ClustersRelease(attributes, ({"requirement": "k-anonymity", "k": 2},), scales, means, (3, 5))
    rows = {"<i>x": [1, 1, 1, 8, 8, 8, 8, 8], "y": ["<b>"] * 5 + ["&amp;"] * 3}
    page = report_html(release, audit(release, rows))
    assert "<i>x" not in page
    assert "&lt;i&gt;x" in page
    Balanced(page)
    assert "y <b> (100%)" in str(release)


def test_a_share_is_everybody_only_where_it_is():
    attributes = (Attribute("y", "public", "categorical", ("a", "b")),)
    means = np.array([[0.999, 0.001], [1.0, 0.0]])
    release = ClustersRelease(attributes, (), {"y": Scale()}, means, (1000, 7))
    assert [release.told(number)["y"] for number in (0, 1)] == ["a (99%)", "a (100%)"]
