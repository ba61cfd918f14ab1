# SPDX-License-Identifier: Apache-2.0
"""What an owner publishes keeps his promise, whoever his people and whatever his columns are."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import oracle
from helpers.strategies import cases
from shoal import AnonymousTreeClassifier, DistinctDiversity, KAnonymity, SimpleDiversity, audit, load_sample
from shoal.errors import DataError, PromiseError, RequirementError, ShoalError
from shoal.share import pool, publish


@pytest.fixture(scope="module")
def frame():
    return load_sample().to_arrow().to_pandas()


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from(["mine", "full", "atp"]), st.integers(2, 4))
def test_what_is_published_keeps_the_promise_by_the_definition(case, method, k):
    try:
        release = publish(
            case.table,
            "t",
            k,
            public=case.roles.public,
            target_role=case.roles.target_role,
            domain=case.domain,
            method=method,
        )
    except ShoalError:
        return  # fewer people than k, or for merging branches a public target
    body = release.to_json()
    assert oracle.holds(body, case.rows, case.public, k)
    assert {each["name"] for each in body["attributes"]} == set(case.rows[0])
    told = {name for name in body.get("marginals", {}) if name not in case.public}
    assert not told or case.roles.target_role == "private"
    for cells in body.get("marginals", {}).values():
        assert all(cell["people"] == 0 or cell["people"] >= k for cell in cells)
        assert sum(cell["people"] for cell in cells) == len(case.rows)


@pytest.mark.parametrize("method", ["mine", "ldm"])
def test_several_rows_a_person(frame, method):
    visits = frame[["patient", "age", "sex", "diabetes"]].assign(patient=[f"P{i % 2500}" for i in range(len(frame))])
    promise = KAnonymity(30) & DistinctDiversity(2)
    release = publish(visits, "diabetes", promise, person="patient", domain={"age": [0, 120]}, method=method)
    assert release.several_rows
    assert release.people == visits["patient"].nunique()
    assert "patient" not in {each.name for each in release.attributes}
    assert audit(release, visits, person="patient").holds
    assert pool({"one": release}).pseudo_data().table.n_rows == release.people


def test_sensitive_columns_are_covered(frame):
    rows = frame[["age", "sex", "smoker", "diabetes"]]
    for method in ("mine", "atp"):
        release = publish(
            rows,
            "diabetes",
            KAnonymity(40) & SimpleDiversity(1.02),
            public=["age", "sex"],
            sensitive=["smoker"],
            method=method,
        )
        assert release.sensitive == ("smoker",)
        assert audit(release, rows).holds


def test_merging_branches_asks_public_columns_only(frame):
    rows = frame[["age", "sex", "smoker", "bmi", "diabetes"]]
    release = publish(rows, "diabetes", 40, public=["age", "sex"], domain={"bmi": [10, 60]}, method="atp")
    assert set(release.tested) <= {"age", "sex"}
    assert {each.name for each in release.attributes} == set(rows)
    assert {"smoker", "bmi"} <= set(release.marginals)
    assert set(pool({"one": release}).pseudo_data().table.names) == set(rows)


def test_a_full_tree_is_larger(frame):
    rows = frame[["age", "sex", "education", "diabetes"]]
    mined, full = (publish(rows, "diabetes", 40, method=method) for method in ("mine", "full"))
    assert len(full.leaves) > len(mined.leaves)


def test_ldm_is_id3_under_the_requirement(frame):
    rows, domain = frame[["age", "sex", "smoker", "diabetes"]], {"age": [0, 120]}
    promise = KAnonymity(30) & SimpleDiversity(1.05)
    grown = AnonymousTreeClassifier(promise, variant="id3", domain=domain).fit(rows, "diabetes").release_
    assert publish(rows, "diabetes", promise, domain=domain, method="ldm").nodes == grown.nodes


def test_rare_private_values_need_declaring(frame):
    rows = frame[["age", "smoker", "diabetes"]].copy()
    rows.loc[:2, "smoker"] = "pipe"
    with pytest.raises(DataError, match="fewer than 25 people") as refused:
        publish(rows, "diabetes", 25, public=["age"])
    assert "pipe" not in str(refused.value)
    domain = {"smoker": ["current", "former", "no", "pipe"]}
    told = publish(rows, "diabetes", 25, public=["age"], domain=domain).marginals["smoker"]
    assert all(n >= 25 for n in told.counts)


def test_wrong_ways_are_refused(frame):
    rows = frame[["age", "sex", "diabetes"]]
    with pytest.raises(DataError, match="method must be"):
        publish(rows, "diabetes", 25, method="c45")
    with pytest.raises(RequirementError, match="needs a requirement about"):
        publish(rows, "diabetes", 25, method="ldm")
    with pytest.raises(PromiseError):
        publish(rows.iloc[:20], "diabetes", 25)


def test_a_column_of_very_many_categories(frame):
    """More than scikit-learn's boosting takes as categories."""
    rows = frame[["age", "zip", "diabetes"]].assign(zip=[f"z{i % 400}" for i in range(len(frame))])
    release = publish(rows, "diabetes", 25)
    assert len(release.attribute("zip").values) == 400
    shares = pool({"one": release}, "boosting", n_rows=2000).predict_proba(rows.iloc[:10])
    assert np.allclose(shares.sum(axis=1), 1)


def test_classes_that_are_numbers(frame):
    rows = frame[["age", "sex"]].assign(y=(frame["diabetes"] == "yes") + 1)
    owners = {name: publish(part, "y", 50) for name, part in (("a", rows.iloc[:2500]), ("b", rows.iloc[:2500]))}
    for learner in ("tree", "bayes", "rules", "boosting", "bag", "vote"):
        answers = pool(owners, learner).predict(rows.iloc[:50])
        assert answers.dtype.kind == "i"
        assert set(answers) <= {1, 2}
    floats = publish(rows.assign(y=rows["y"] + 0.5), "y", 50)
    assert set(pool({"a": floats}, "bayes").predict(rows)) <= {1.5, 2.5}


def test_a_verdict_is_of_what_leaves(frame):
    release = publish(frame[["age", "sex", "diabetes"]], "diabetes", 50)
    assert release.verdict.sha256 == release.sha256
    assert replace(release, marginals={}).sha256 != release.sha256
