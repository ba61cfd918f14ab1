# SPDX-License-Identifier: Apache-2.0
"""Clusterings and nearest centroids audited: the paper's example, models against their own predict, and edge cases."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import BisectingKMeans, KMeans, MiniBatchKMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    StandardScaler,
)

from shoal import audit
from shoal.audit.clusters.cells import NO, UNDECIDED, YES, reach
from shoal.audit.foreign import read_model
from shoal.audit.foreign._private_boxes import private_boxes
from shoal.errors import DataError, ShoalError
from shoal.papers.worked.customers import AXIS, CENTROIDS, INCOMES, NAMES, ZIP_CODES


def paper():
    """Table 5, and centroids that give the spans of Fig. 3, which states none; a zip code weighs as much as 20k."""
    people = pd.DataFrame({"zip": ZIP_CODES, "income": INCOMES})
    places = make_pipeline(OrdinalEncoder(categories=[AXIS]), MinMaxScaler(feature_range=(0, 100)))
    columns = ColumnTransformer([("zip", places, ["zip"]), ("income", "passthrough", ["income"])])
    model = make_pipeline(columns, KMeans(4, n_init=1, random_state=0)).fit(people)
    model[-1].cluster_centers_ = CENTROIDS.copy()
    return model, people


def test_paper_section_4_2() -> None:
    model, people = paper()
    assert np.bincount(model.predict(people)).tolist() == [2, 1, 2, 1]  # C1 (2), C2 (1), C3 (2), C4 (1)
    verdict = audit(model, people, public=["zip"], privacy=2, domain={"income": [20, 120]})
    groups = [set(np.array(NAMES)[verdict.groups.of_row == group]) for group in range(3)]
    assert sorted(map(sorted, groups)) == [["Ben", "Laura", "William"], ["Cathy", "John"], ["Lisa"]]
    assert not verdict.holds
    assert (verdict.smallest_group, verdict.n_exempt) == (1, 1)
    assert verdict.rows_at_risk.tolist() == [NAMES.index("Lisa")]
    (lisa,) = (finding for finding in verdict.findings if finding.code == "group-fails")
    assert lisa.message.startswith("A group of 1 person: can be in cluster 2 or 3 only (of 4, numbered from 0")
    assert lisa.nodes == (2, 3)
    (few,) = (finding for finding in verdict.findings if finding.code == "centroid-of-few")
    assert (few.nodes, few.people) == ((1, 3), 2)


def test_paper_spans_by_name() -> None:
    model, people = paper()
    subject, table = read_model(model, people, domain={"income": [20, 120]})
    said = {name: subject.group_words(table, ["zip"], row)[1] for row, name in enumerate(NAMES)}
    assert said == {"John": (0,), "Cathy": (0,), "Ben": (1, 2), "Laura": (1, 2), "William": (1, 2), "Lisa": (2, 3)}


# ------------------------------------------------------------- brute force: every row of the domain through the model


def frame(rng: np.random.Generator, n: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": rng.integers(20, 30, n),
            "visits": rng.integers(0, 6, n),
            "debt": rng.integers(0, 8, n),
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(["a", "b", "c"], n),
        }
    )


DOMAIN = {"age": [18, 31], "visits": [0, 6], "debt": [0, 9], "sex": ["f", "m"], "job": ["a", "b", "c"]}
VALUES = {
    name: range(ends[0], ends[1] + 1) if len(ends) == 2 and name != "sex" else ends for name, ends in DOMAIN.items()
}


def columns() -> ColumnTransformer:
    return ColumnTransformer(
        [
            ("scaled", StandardScaler(), ["age", "visits"]),
            ("ranged", MinMaxScaler(feature_range=(0, 3)), ["debt"]),
            ("hot", OneHotEncoder(sparse_output=False), ["sex", "job"]),
        ]
    )


def models(seed: int):
    yield KMeans(5, n_init=1, random_state=seed)
    yield MiniBatchKMeans(4, n_init=1, random_state=seed, batch_size=16, max_iter=3)
    yield BisectingKMeans(6, random_state=seed)
    yield NearestCentroid()
    yield NearestCentroid(shrink_threshold=0.4)
    yield NearestCentroid(priors="empirical")


@pytest.mark.parametrize("number", range(6))
def test_spans_are_those_of_every_row_of_the_domain(number: int) -> None:
    """With whole numbers and categories the domain is finite: each of its rows goes through the model's own predict."""

    @settings(max_examples=10, deadline=None)
    @given(st.integers(0, 10**6), st.sets(st.sampled_from(sorted(DOMAIN)), min_size=1, max_size=3))
    def run(seed: int, private: set[str]) -> None:
        rng = np.random.default_rng(seed)
        people = frame(rng, 40)
        classes = rng.choice(["p", "q", "r"], 40)
        final = list(models(seed % 1000))[number]
        model = make_pipeline(columns(), final).fit(people, classes)
        public = [name for name in DOMAIN if name not in private]
        y = classes if isinstance(final, NearestCentroid) else None
        subject, table = read_model(model, people, y, domain=DOMAIN)
        few = np.arange(4)
        state = subject._reach(table.take(few), public)
        hidden = [name for name in DOMAIN if name in private]
        private_rows = pd.DataFrame(list(itertools.product(*(VALUES[name] for name in hidden))), columns=hidden)
        everything = people.loc[few, public].merge(private_rows, how="cross")[list(DOMAIN)]
        classes_of = getattr(final, "classes_", np.arange(len(subject._model.cell_of)))
        answers = np.searchsorted(classes_of, model.predict(everything)).reshape(len(few), -1)
        cells = subject._model.cell_of[answers]  # classes whose centroids shrink to the same one share a cell
        reached = np.array([np.isin(np.arange(state.shape[1]), cells[row]) for row in few])
        decided = state != UNDECIDED  # two single people may tie halfway
        assert np.array_equal((state == YES)[decided], reached[decided])
        assert decided.mean() > 0.8
        own = np.searchsorted(classes_of, model.predict(people))
        assert np.array_equal(subject.bins(table), subject._model.cell_of[own])

    run()


@pytest.mark.parametrize("n_private", [1, 2, 3])
def test_continuous_columns_beside_categories_and_gaps(n_private: int) -> None:
    """Nowhere that trying finds is left out, and the model itself agrees with every point that proves a cluster."""
    rng = np.random.default_rng(n_private)
    people = pd.DataFrame(rng.normal(50, 10, (80, 4)), columns=["w", "a", "b", "c"]).assign(
        job=rng.choice(["x", "y", "z"], 80), sex=rng.choice(["f", "m"], 80)
    )
    people.loc[::7, "a"] = np.nan
    scale = make_pipeline(SimpleImputer(strategy="constant", fill_value=300.0), StandardScaler())
    encode = ColumnTransformer(
        [("hot", OneHotEncoder(sparse_output=False), ["job", "sex"]), ("scale", scale, ["a", "b", "c", "w"])]
    )
    model = make_pipeline(encode, KMeans(9, n_init=1, random_state=0)).fit(people)
    private = ["a", "b", "c"][:n_private]
    subject, table = read_model(model, people)
    known = [name for name in people if name not in [*private, "job"]]
    points = np.full((80, 9, 9), np.nan)
    boxes = private_boxes(subject.features, subject.domain, known)
    assert len(boxes) == 2  # with a, and without
    assert all(len(box.starts) == 3 for box in boxes)
    state = reach(subject._model.cells, subject._points(table, known), boxes, points)
    assert np.array_equal(state, subject._reach(table, known))
    assert set(np.unique(state)) == {NO, YES}
    rows, cells = np.nonzero((state == YES) & ~np.isnan(points).any(axis=2))
    assert len(rows) > 100
    assert np.array_equal(model[-1].predict(points[rows, cells]), cells)
    for row in range(20):
        tried = people.loc[[row] * 1500].reset_index(drop=True)
        for name in private:
            tried[name] = rng.uniform(people[name].min(), people[name].max(), 1500)
        tried["job"] = rng.choice(["x", "y", "z"], 1500)
        tried.loc[:300, "a"] = np.nan
        assert set(model.predict(tried)) <= set(np.flatnonzero(state[row] == YES))


def test_everything_public_is_the_model_itself() -> None:
    people = frame(np.random.default_rng(0), 200)
    model = make_pipeline(columns(), KMeans(7, n_init=1, random_state=0)).fit(people)
    verdict = audit(model, people, privacy=2)
    _, groups = np.unique(model.predict(people), return_inverse=True)
    assert np.array_equal(verdict.size_of_row, np.bincount(groups)[groups])
    assert verdict.smallest_group is None
    assert verdict.n_exempt == 7


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("final", [KMeans, MiniBatchKMeans, BisectingKMeans, NearestCentroid])
def test_bins_agree_with_predict_in_either_precision(final, kind) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(500, 3)).astype(kind)
    classes = rng.integers(0, 3, 500)
    model = final().fit(rows, classes)
    subject, table = read_model(model, rows, classes if final is NearestCentroid else None)
    expected = model.predict(rows)
    assert np.array_equal(subject.bins(table), expected)
    spans = subject.spans(table, subject.domain)
    assert (spans.n_bins == 1).all()


# ---------------------------------------------------------------------------------------------- ties, and what is left


def two_clusters(centroids, rows: pd.DataFrame):
    centroids = np.array(centroids, dtype=float)
    model = KMeans(len(centroids), init=centroids, n_init=1, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows)
    model.cluster_centers_ = centroids
    return model


def test_undecided_people_are_split_by_public_values_and_counted() -> None:
    """On the border between two centroids: people who differ in a column that the model hardly looks at."""
    rows = pd.DataFrame({"x": [5.0] * 4 + [1.0] * 4, "z": [0.0, 0.0, 1.0, 1.0] * 2, "p": np.arange(8) / 7})
    model = two_clusters([[0, 0.5, 0.5], [10, 0.5, 0.5]], rows)
    verdict = audit(model, rows, public=["x", "z"], privacy=3)
    assert sorted(verdict.group_sizes) == [2, 2, 4]
    assert not verdict.exact
    (note,) = (finding for finding in verdict.findings if finding.code == "finer-groups")
    assert note.people == 4
    assert "4 people" in note.message
    words = [finding.message for finding in verdict.findings if finding.code == "group-fails"]
    assert (
        words
        == ["A group of 2 people: can perhaps be in cluster 0 or 1 (of 2, numbered from 0 as the model does)."] * 2
    )
    assert verdict.n_exempt == 1  # the four at 1 are in cluster 0 whatever p is


def test_equal_centroids_are_one_cluster() -> None:
    rows = pd.DataFrame({"x": [0.0, 0.0, 9.0, 9.0], "p": [0.0, 1.0, 0.0, 1.0]})
    model = two_clusters([[0, 0.5], [9, 0.5], [0, 0.5]], rows)
    verdict = audit(model, rows, public=["x"], privacy=2)
    assert verdict.holds
    assert verdict.n_groups == 2
    assert not [finding for finding in verdict.findings if finding.code == "finer-groups"]


def test_a_step_that_is_no_line_is_a_bound() -> None:
    """A continuous private column through quantiles cannot be worked out: people are split by public values."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.integers(0, 3, 60), "p": rng.normal(size=60)})
    encode = ColumnTransformer([("q", QuantileTransformer(n_quantiles=20), ["p"]), ("x", "passthrough", ["x"])])
    model = make_pipeline(encode, KMeans(3, n_init=1, random_state=0)).fit(rows)
    verdict = audit(model, rows, public=["x"], privacy=2)
    assert not verdict.exact
    assert verdict.n_groups == 3
    assert verdict.n_exempt == 0
    public = audit(model, rows, public=["p"], privacy=2)  # x is whole and enumerated, p is known
    assert not [finding for finding in public.findings if finding.code == "finer-groups"]


def test_bins_of_whole_numbers_are_enumerated() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.integers(0, 3, 60), "p": rng.integers(0, 40, 60)})
    cut = KBinsDiscretizer(4, encode="onehot-dense", quantile_method="averaged_inverted_cdf")
    encode = ColumnTransformer([("q", cut, ["p"]), ("x", "passthrough", ["x"])])
    model = make_pipeline(encode, KMeans(3, n_init=1, random_state=0)).fit(rows)
    subject, table = read_model(model, rows)
    state = subject._reach(table, ["x"])
    for row in range(10):
        everything = pd.DataFrame({"x": rows["x"][row], "p": np.arange(rows["p"].min(), rows["p"].max() + 1)})
        assert set(np.flatnonzero(state[row] == YES)) == set(model.predict(everything))
        assert set(np.unique(state[row])) <= {NO, YES}


def test_a_missing_private_value_is_filled_in_as_the_model_does() -> None:
    """The mean fills the gap, which is no whole number, and leads to a cluster that no whole number reaches."""
    rows = pd.DataFrame({"x": [0.0, 1.0, 0.0, 1.0], "p": [0.0, 1.0, np.nan, 1.0]})
    scale = make_pipeline(SimpleImputer(strategy="constant", fill_value=0.5), MinMaxScaler())
    encode = ColumnTransformer([("x", "passthrough", ["x"]), ("p", scale, ["p"])])
    model = make_pipeline(encode, KMeans(3, init=np.array([[0.5, 0], [0.5, 0.5], [0.5, 1]]), n_init=1)).fit(rows)
    model[-1].cluster_centers_ = np.array([[0.5, 0.0], [0.5, 0.5], [0.5, 1.0]])
    subject, table = read_model(model, rows)
    assert subject._reach(table, ["x"]).tolist() == [[YES, YES, YES]] * 4
    whole, table = read_model(model, rows.dropna())
    assert whole._reach(table, ["x"]).tolist() == [[YES, NO, YES]] * 3


def test_a_model_that_takes_no_gaps_says_so() -> None:
    rows = pd.DataFrame({"x": [0.0, 1.0, 3.0], "p": [0.0, 1.0, 2.0]})
    model = KMeans(2, n_init=1).fit(rows)
    rows.loc[1, "p"] = np.nan
    with pytest.raises(DataError, match="1 of the rows") as error:
        audit(model, rows, public=["x"], privacy=2)
    assert error.value.code == "model-refuses"


# ---------------------------------------------------------------------------------------------------------- findings


def test_a_centroid_of_few_counts_people_not_rows() -> None:
    rows = pd.DataFrame({"x": [0.0, 0.1, 0.2, 9.0, 9.1, 9.2], "who": ["a", "b", "c", "d", "d", "d"]})
    model = KMeans(2, n_init=1, random_state=0).fit(rows[["x"]])
    by_row = audit(model, rows[["x"]], privacy=3)
    assert by_row.holds
    by_person = audit(model, rows, privacy=3, person="who")
    (few,) = (finding for finding in by_person.findings if finding.code == "centroid-of-few")
    assert few.people == 1
    assert "fewer than 3 people" in few.message
    assert not by_person.holds


def test_a_mean_of_a_class_counts_the_class() -> None:
    """The centroid of a class stands for its people, not for those who happen to be near."""
    rows = pd.DataFrame({"x": [0.0, 0.1, 0.2, 0.3, 9.0, 9.1, 9.2, 0.15]})
    y = np.array(["a"] * 4 + ["b"] * 3 + ["c"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NearestCentroid().fit(rows, y)
    found = audit(model, rows, y, privacy=2).findings
    (few,) = (finding for finding in found if finding.code == "centroid-of-few")
    assert few.nodes == (2,)
    assert "class 'c'" in few.message
    with pytest.raises(DataError) as error:
        audit(model, rows, privacy=2)
    assert error.value.code == "target-unnamed"


def test_a_centroid_that_is_a_row() -> None:
    """A row in place of a mean is found out; a mean that falls on a row is not blamed."""
    rows = pd.DataFrame({"x": [0.0, 1.0, 2.0, 10.0, 11.0, 15.0], "p": [0.0, 1.0, 2.0, 0.0, 5.0, 1.0]})
    model = two_clusters([[1, 1], [12, 2]], rows)
    assert not [f for f in audit(model, rows, public=["x"], privacy=2).findings if f.code == "centroid-is-a-row"]
    model.cluster_centers_ = np.array([[1.0, 1.0], [11.0, 5.0]])
    (found,) = (f for f in audit(model, rows, public=["x"], privacy=2).findings if f.code == "centroid-is-a-row")
    assert found.nodes == (1,)
    assert found.severity == "breach"


def test_labels_in_the_file_are_warned_of() -> None:
    model, people = paper()
    found = {f.code: f for f in audit(model, people, public=["zip"], privacy=2, domain={"income": [20, 120]}).findings}
    assert (found["stores-labels"].severity, found["stores-labels"].people) == ("warning", 6)
    del model[-1].labels_
    codes = [f.code for f in audit(model, people, public=["zip"], privacy=2).findings]
    assert "stores-labels" not in codes


# ------------------------------------------------------------------------------------------------- what is read and how


def test_what_is_not_the_nearest_centroid_is_a_black_box() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 3))
    classes = rng.integers(0, 2, 50)
    mixed = make_pipeline(PCA(2), KMeans(2, n_init=1)).fit(rows)
    assert "black box" in audit(mixed, rows, privacy=2).what
    city = NearestCentroid(metric="manhattan").fit(rows, classes)
    assert "black box" in audit(city, rows, classes, privacy=2).what
    one = BisectingKMeans(1).fit(rows)
    assert audit(one, rows, public=["x0"], privacy=2).smallest_group is None


def test_words_name_no_private_value() -> None:
    model, people = paper()
    text = str(audit(model, people, public=["zip"], privacy=2, domain={"income": [20, 120]}))
    for number in [*people["income"], 120]:
        assert str(number) not in text


def test_unknown_domains_are_refused() -> None:
    model, people = paper()
    with pytest.raises(ShoalError):
        audit(model, people, public=["zip"], privacy=2, domain={"income": [50, 120]})
