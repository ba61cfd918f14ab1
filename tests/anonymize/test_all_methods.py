# SPDX-License-Identifier: Apache-2.0
"""What every method keeps, whichever it is: the promise by a naive count, the order of columns and rows, its bytes.

scikit-learn's own checks are beside the tests of each method.
"""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import shoal.anonymize
from helpers.recount import agrees, distance, entropy, published_groups
from shoal import audit, load, load_sample
from shoal.anonymize.base import TableAnonymizer
from shoal.errors import DataError, PromiseError
from shoal.privacy import (
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    SimpleDiversity,
)

# every method, with the options that make it another one; a method that is not there yet is left out
NODES = {"max_seconds": None, "max_nodes": 300}
OPTIONS = {
    "TreeAnonymizer": [{}],
    "TopDownSpecialization": [{}],
    "TopDownRefinement": [{}],
    "Mondrian": [{}, {"criterion": "gain"}, {"relaxed": True}],
    "Incognito": [{}, {"suppress": 0.2}],
    "KOptimize": [NODES, {**NODES, "suppress": 0.2}],
    "OneDimensional": [{}, {"order": "idistance"}],
    "ClusterAnonymizer": [{"random_state": 0}],
}
SAME = {*NODES, "random_state"}  # options that make no other method
# what they make of a value depends on other rows, so that they have no transform
LOCAL = {"Mondrian relaxed", "OneDimensional", "OneDimensional idistance", "ClusterAnonymizer"}
NEEDS_NUMBERS = {"ClusterAnonymizer"}  # a missing number has no distance

METHODS = {
    " ".join([name, *(str(key if value is True else value) for key, value in options.items() if key not in SAME)]): (
        getattr(shoal.anonymize, name),
        options,
    )
    for name, variants in OPTIONS.items()
    if hasattr(shoal.anonymize, name)
    for options in variants
}
every_method = pytest.mark.parametrize("name", METHODS)


def test_no_method_is_forgotten():
    found = {name for name in shoal.anonymize.__all__ if isinstance(getattr(shoal.anonymize, name), type)}
    assert {name for name in found if issubclass(getattr(shoal.anonymize, name), TableAnonymizer)} <= set(OPTIONS)


def made(name, privacy, **more):
    method, options = METHODS[name]
    return method(privacy, **{**options, **more})


# ---------------------------------------------------------------- what is promised, group by group


def at_least(k):
    return lambda group, whole: group.total() >= k


def distinct(l):  # noqa: E741 - the literature's name
    return lambda group, whole: len(group) >= l


def mixed(l):  # noqa: E741
    return lambda group, whole: entropy(group) >= math.log2(l) - 1e-9


def simple(l):  # noqa: E741
    return lambda group, whole: Fraction(max(group.values()), group.total()) <= 1 / Fraction(str(l))


def recursive(c, l):  # noqa: E741
    def keeps(group, whole):
        counts = sorted(group.values(), reverse=True)
        return counts[0] < Fraction(str(c)) * sum(counts[l - 1 :])

    return keeps


def close(t):
    return lambda group, whole: distance(group, whole, ordered=False) <= t + 1e-9


PROMISES = {
    "k": (KAnonymity(3), [at_least(3)]),
    "distinct": (DistinctDiversity(2), [distinct(2)]),
    "entropy": (EntropyDiversity(1.5), [mixed(1.5)]),
    "simple": (SimpleDiversity(1.4), [simple(1.4)]),
    "recursive": (RecursiveDiversity(3, 2), [recursive(3, 2)]),
    "t": (Closeness(0.3), [close(0.3)]),
    "together": (KAnonymity(2) & DistinctDiversity(2) & Closeness(0.4), [at_least(2), distinct(2), close(0.4)]),
}


@st.composite
def tables(draw):
    """A few people: numbers with gaps, words, a private number and an illness."""
    n = draw(st.integers(5, 24))
    row = st.tuples(
        st.sampled_from([18, 20, 20, 21, 33, 47, 52, 90, None]),
        st.sampled_from(["A", "B", "C", None]),
        st.integers(0, 3),
        st.sampled_from(["flu", "cold", "none"]),
    )
    rows = draw(st.lists(row, min_size=n, max_size=n))
    frame = pd.DataFrame(rows, columns=["age", "town", "visits", "ill"])
    assume(frame["age"].notna().any() and frame["town"].notna().any() and frame["ill"].nunique() > 1)
    return frame


def rows_for(name, frame):
    return frame.assign(age=frame["age"].fillna(20)) if name in NEEDS_NUMBERS else frame


ROLES = {"public": ["age", "town"], "domain": {"visits": (0, 3)}, "reproducible": True}


def fitted(name, privacy, frame, **more):
    """A method fitted to a table, or None where it says that the promise cannot be kept."""
    method = made(name, privacy, **{**ROLES, **more})
    try:
        return method.fit(frame, "ill")
    except PromiseError as impossible:
        assert impossible.code in ("impossible", "table-too-small")
        return None


@every_method
@given(frame=tables(), promise=st.sampled_from(sorted(PROMISES)))
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
def test_every_promise_is_kept_by_a_naive_count(name, frame, promise):
    (requirement, asked), frame = PROMISES[promise], rows_for(name, frame)
    method = fitted(name, requirement, frame)
    if method is None:
        whole = Counter(frame["ill"])
        assert not all(keeps(whole, whole) for keeps in asked)  # not even everybody together keep it
        return
    release = method.release_
    published = release.to_frame()
    assert len(published) + release.left_out == len(frame)
    groups = [Counter(row["ill"] for row in rows) for rows in published_groups(published, ["age", "town"]).values()]
    whole = Counter(published["ill"])
    assert all(keeps(group, whole) for group in groups for keeps in asked)
    assert audit(release, frame).holds
    agrees(release)


@every_method
@given(frame=tables())
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
def test_columns_stay_in_order_and_private_cells_as_they_were(name, frame):
    frame = rows_for(name, frame)[["ill", "town", "visits", "age"]]
    method = fitted(name, 2, frame)
    assert method is not None
    release = method.release_
    assert list(release.to_frame()) == list(release.columns) == ["ill", "town", "visits", "age"]
    before, after = Counter(zip(frame["ill"], frame["visits"], strict=True)), release.to_frame()
    assert Counter(zip(after["ill"], after["visits"], strict=True)) <= before
    # the same bytes again; of a local recoding only in the same order of rows, which decides among equals
    for rows in [frame] if name in LOCAL else [frame, frame.iloc[::-1]]:
        again = fitted(name, 2, rows)
        assert again is not None
        assert again.release_.to_csv() == release.to_csv()
        assert again.release_.sha256 == release.sha256


@every_method
@given(frame=tables())
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
def test_what_a_value_became_it_becomes_again(name, frame):
    frame, method = rows_for(name, frame), made(name, 2, **ROLES)
    rows = method.fit_transform(frame, "ill")
    if name in LOCAL:
        with pytest.raises(DataError, match="depends on the other rows"):
            method.transform(frame)
        return
    again = method.transform(frame)
    assert list(again) == list(rows)
    here, there = (Counter(map(repr, each.to_dict("records"))) for each in (rows, again))
    assert here <= there
    assert there.total() - here.total() == method.release_.left_out


# ---------------------------------------------------------------- what may leave


@pytest.fixture(scope="module")
def people():
    rows = load_sample().table.select(["age", "sex", "education", "diabetes"]).take(np.arange(300))
    return pd.DataFrame(
        {
            "who": [f"nr {i}" for i in range(300)],
            "age": rows["age"].numbers[rows["age"].codes],
            "sex": np.array(rows["sex"].names)[rows["sex"].codes],
            "serial": np.arange(300),
            "diabetes": np.array(rows["diabetes"].names)[rows["diabetes"].codes],
        }
    )


@every_method
def test_the_order_of_rows_tells_nothing(name, people):
    options = {"public": ["age", "sex"], "domain": {"serial": (0, 299)}}
    rows = people.drop(columns="who")
    orders = []
    for _ in range(2):
        release = made(name, 5, **options).fit(rows, "diabetes").release_
        orders.append(release.to_frame()["serial"].tolist())
        # nobody is nearer to his old place than by chance: 300 rows are 100 apart on average, give or take 4
        far = np.abs(np.array(orders[-1]) - np.arange(len(orders[-1]))).mean()
        assert 75 < far < 125
    assert orders[0] != orders[1]
    back = made(name, 5, **options).fit_transform(rows, "diabetes")
    assert back["serial"].is_monotonic_increasing  # in house they come back as they were


@every_method
def test_who_it_is_does_not_leave(name, people, tmp_path):
    if name in LOCAL:
        pytest.skip("groups overlap, so nobody could count people with several rows")
    twice = pd.concat([people, people.iloc[:50]], ignore_index=True).drop(columns="serial")
    method = made(name, 5, person="who", reproducible=True).fit(twice, "diabetes")
    release = method.release_
    assert "who" not in release.columns
    release.save(tmp_path / "t.json")
    for path in tmp_path.iterdir():
        assert "nr " not in path.read_text(encoding="utf-8")
    again = load(tmp_path / "t.json")
    assert audit(again, twice, person="who").holds
    whose = method.fit_transform(twice.assign(diabetes=twice["diabetes"]), "diabetes")
    assert "who" not in whose


@every_method
def test_a_larger_table_as_pycanon_measures_it(name, people):
    release = made(name, 8, public=["age", "sex"], domain={"serial": (0, 299)}, sensitive=["serial"]).fit(
        people.drop(columns="who"), "diabetes"
    )
    agrees(release.release_)


@every_method
def test_parameters_are_stored_as_given_and_cloned(name):
    method = made(name, 7, public=["age"], reproducible=True)
    assert clone(method).get_params() == method.get_params()
