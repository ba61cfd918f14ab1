# SPDX-License-Identifier: Apache-2.0
"""Owners side by side: an outlier is seen, owners alike are not accused."""

import numpy as np
import pytest

from shoal import load_sample
from shoal.errors import DataError
from shoal.share import compare_owners, publish

DOMAIN = {"age": [0, 120], "sex": ["Female", "Male"], "diabetes": ["no", "yes"]}


@pytest.fixture(scope="module")
def frame():
    return load_sample().to_arrow().to_pandas()[["age", "sex", "diabetes"]]


@pytest.fixture(scope="module")
def alike(frame):
    return {f"o{i}": publish(frame.iloc[i::4], "diabetes", 50, domain=DOMAIN) for i in range(4)}


def test_owners_alike_are_not_accused(alike, frame):
    found = compare_owners(alike)
    assert found.outliers == ()
    assert found.n_rows == 10_000
    assert np.allclose(np.diag(found.disagreement), 0)
    assert np.allclose(found.disagreement, found.disagreement.T)
    for i, owner in enumerate(found.owners):
        own = frame["diabetes"].iloc[i::4].value_counts(normalize=True)
        assert owner.shares == pytest.approx(own.to_dict())
        assert owner.people == 1250


def test_an_owner_with_other_classes_is_seen(alike, frame):
    mostly = frame.iloc[:1250].assign(diabetes=np.where(np.arange(1250) % 3 == 0, "no", "yes"))
    found = compare_owners({**alike, "odd": publish(mostly, "diabetes", 50, domain=DOMAIN)})
    assert found.outliers == ("odd",)
    assert "its classes are" in str(found)


def test_an_owner_who_codes_the_classes_the_other_way_round_is_seen(alike, frame):
    """As often both classes, but a tree that says the contrary."""
    half = frame.iloc[:2000].copy()
    half["diabetes"] = np.where(half["age"] < 50, "no", "yes")
    owners = {f"h{i}": publish(half.iloc[i::4], "diabetes", 20, domain=DOMAIN) for i in range(4)}
    turned = half.iloc[::4].assign(diabetes=lambda rows: rows["diabetes"].map({"no": "yes", "yes": "no"}))
    found = compare_owners({**owners, "turned": publish(turned, "diabetes", 20, domain=DOMAIN)})
    assert "turned" in found.outliers
    assert found.owners[-1].disagreement > 0.5
    assert any("answers otherwise" in why for why in found.owners[-1].outlier)


def test_of_two_nobody_knows_which_is_the_other_one(alike, frame):
    other = publish(frame.iloc[:1250].assign(diabetes=["no", "yes"] * 625), "diabetes", 50, domain=DOMAIN)
    found = compare_owners({"o0": alike["o0"], "other": other})
    assert found.outliers == ()
    assert found.owners[0].class_distance == pytest.approx(found.owners[1].class_distance)
    alone = compare_owners({"o0": alike["o0"]})
    assert alone.owners[0].disagreement is None
    assert alone.to_json()[0]["with"] == {}


def test_the_report_as_json(alike):
    found = compare_owners(alike, n_rows=500, seed=2).to_json()
    assert [entry["owner"] for entry in found] == list(alike)
    for entry in found:
        assert entry["disagreement"] == pytest.approx(np.median(list(entry["with"].values())), abs=1e-5)
        assert sum(entry["classes"].values()) == pytest.approx(1, abs=1e-5)


def test_owners_who_do_not_fit_are_not_compared(alike, frame):
    other = publish(frame, "diabetes", 50, domain={**DOMAIN, "age": [0, 200]})
    with pytest.raises(DataError, match="'age' goes from 0 to 120"):
        compare_owners({"o0": alike["o0"], "other": other})
    assert compare_owners({"o0": alike["o0"], "other": other}, widen=True).n_rows == 10_000
