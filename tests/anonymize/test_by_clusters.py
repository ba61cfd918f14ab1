# SPDX-License-Identifier: Apache-2.0
"""Tables generalised by the groups of a clustering."""

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers.local_recoding import EXPECTED_FAILURES, LOCAL
from shoal import Confidence, KAnonymity, PromiseError, audit, load
from shoal.anonymize import ClusterAnonymizer
from shoal.errors import DataError, RequirementError
from shoal.privacy import Closeness, DistinctDiversity, EntropyDiversity, RecursiveDiversity, SimpleDiversity

SERVED = [
    KAnonymity(3),
    DistinctDiversity(2),
    EntropyDiversity(1.5),
    SimpleDiversity(1.5),
    Confidence(0.7),
    RecursiveDiversity(2, 2),
    Closeness(0.3),
    KAnonymity(4) & Confidence(0.8),
]


@parametrize_with_checks(
    [ClusterAnonymizer(privacy=3, n_clusters=3, random_state=0, reproducible=True)],
    expected_failed_checks=lambda estimator: {**EXPECTED_FAILURES, "check_estimators_nan_inf": LOCAL},
)
@pytest.mark.filterwarnings("default")  # some checks warn on purpose
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture
def blobs():
    """Three places, far from each other; the first is of p only."""
    rng = np.random.default_rng(0)
    place = np.repeat([0, 100, 200], 20)
    x, y = place + rng.integers(0, 10, 60), place + rng.integers(0, 10, 60)
    target = np.where(place == 0, "p", rng.choice(["p", "q"], 60))
    return pd.DataFrame({"x": x, "y": y, "t": target})


def test_groups_are_the_clusters_where_all_is_public(blobs):
    method = ClusterAnonymizer(5, random_state=0, min_gain=0.05)
    out = method.fit_transform(blobs, "t")
    assert len(method.clusters_) == 3
    assert out.groupby(["x", "y"]).size().tolist() == [20, 20, 20]
    assert sorted(set(out["x"])) == ["51-150", "<=50", ">=151"]
    assert (out["t"] == blobs["t"]).all()


def test_a_group_that_is_not_mixed_enough_is_joined_with_the_nearest(blobs):
    out = ClusterAnonymizer(KAnonymity(5) & Confidence(0.9), random_state=0, min_gain=0.05).fit_transform(blobs, "t")
    groups = out.groupby(["x", "y"])["t"].agg(list)
    assert sorted(map(len, groups)) == [20, 40]  # the first two places, and the third
    joined = out[blobs["x"] < 150]
    assert joined["x"].nunique() == 1


def test_spans_with_private_columns(blobs):
    frame = blobs.assign(z=np.repeat([0, 1, 50], 20))
    method = ClusterAnonymizer(5, public=["x"], domain={"y": [0, 300], "z": [0, 60]}, random_state=0)
    out = method.fit_transform(frame, "t")
    assert method.release_.private == ("y", "t", "z")
    assert out["y"].tolist() == frame["y"].tolist()
    assert out.groupby("x").size().min() >= 5
    assert audit(method.release_, frame).holds


@st.composite
def tables(draw):
    n = draw(st.integers(4, 16))
    columns = {
        "n": st.integers(0, 9),
        "c": st.sampled_from("xyz"),
        "m": st.sampled_from([0.5, 1.5, 7.25]),
        "t": st.sampled_from("pqr"),
    }
    return pd.DataFrame({name: draw(st.lists(each, min_size=n, max_size=n)) for name, each in columns.items()})


@pytest.mark.parametrize("requirement", SERVED, ids=lambda each: each.describe())
@settings(max_examples=8, deadline=None)
@given(frame=tables(), private=st.booleans())
def test_every_requirement_is_kept_or_impossible(requirement, frame, private):
    options = {"public": ["n", "c"], "domain": {"m": [0, 10]}} if private else {}
    method = ClusterAnonymizer(requirement, random_state=0, **options)
    try:
        out = method.fit_transform(frame, "t")
    except PromiseError as problem:
        assert problem.code in ("impossible", "table-too-small")
        return
    groups = defaultdict(list)
    for row in out.to_dict("records"):
        groups[tuple(row[name] for name in method.release_.public)].append(row["t"])
    values = sorted(set(frame["t"]))
    total = np.array([(frame["t"] == value).sum() for value in values])
    for told in groups.values():
        count = Counter(told)
        assert requirement.holds(np.array([[count[value] for value in values]]), total)[0]
    assert audit(method.release_, frame, privacy=requirement).holds


def test_missing_is_one_more_category(blobs):
    frame = blobs.assign(c=[None, "u", "v"] * 20)
    method = ClusterAnonymizer(5, n_clusters=2, random_state=0).fit(frame, "t")
    assert audit(method.release_, frame).holds
    assert any(cell.missing or cell.is_all for cell in method.release_.generalised["c"])


def test_it_saves_and_loads_and_clones(blobs, tmp_path):
    method = ClusterAnonymizer(5, n_clusters=2, random_state=0).fit(blobs, "t")
    method.release_.save(tmp_path / "t.json")
    assert load(tmp_path / "t.json").sha256 == method.release_.sha256
    assert clone(method).get_params() == method.get_params()
    assert len(method.clusters_) == 2


def test_what_it_cannot_serve_is_said(blobs):
    with pytest.raises(DataError, match="missing number has no distance"):
        ClusterAnonymizer(2).fit(blobs.assign(x=[None, *blobs["x"][1:]]), "t")
    with pytest.raises(RequirementError, match="groups that overlap"):
        ClusterAnonymizer(2, person="who").fit(blobs.assign(who=[0, *range(59)]), "t")
    with pytest.raises(RequirementError, match="method must be"):
        ClusterAnonymizer(2, method="dbscan").fit(blobs, "t")
    with pytest.raises(DataError, match="nearest_class"):
        ClusterAnonymizer(5, random_state=0).fit(blobs, "t").transform(blobs)
    release = ClusterAnonymizer(5, public=[], domain={"x": [0, 300], "y": [0, 300]}).fit(blobs, "t").release_
    assert release.public == ()
