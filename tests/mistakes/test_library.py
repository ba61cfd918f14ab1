# SPDX-License-Identifier: Apache-2.0
"""Likely mistakes: each gets one clear sentence, and none shows a cell."""

import pickle

import numpy as np
import pandas as pd
import pytest

from shoal import (
    AnonymousTreeClassifier,
    Confidence,
    DataError,
    EntropyDiversity,
    HierarchyError,
    PromiseError,
    RequirementError,
    RoleError,
    ShoalError,
    attack,
    audit,
)

CANARY = "zqx-canary"


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 200
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "zipcode": rng.choice(["10115", "20095", CANARY], n),
            "disease": rng.choice(["flu", "asthma", CANARY + "-private"], n),
            "risk": rng.choice(["low", "high"], n),
        }
    )


def fit(frame, target="risk", privacy=5, **options):
    return AnonymousTreeClassifier(privacy=privacy, **options).fit(frame, target)


def refused(kind, match, call):
    with pytest.raises(kind, match=match) as refusal:
        call()
    text = str(refusal.value)
    assert CANARY not in text
    assert "\n" not in text
    assert refusal.value.code
    assert str(pickle.loads(pickle.dumps(refusal.value))) == text
    return text


def test_a_misspelt_column_gets_the_near_miss(frame):
    message = r"no column 'zipcod' \(named as public\). Closest: 'zipcode'"
    refused(RoleError, message, lambda: fit(frame, public=["zipcod"]))


def test_all_role_problems_are_told_at_once(frame):
    text = refused(
        RoleError, "Roles: ", lambda: fit(frame, public=["agee", "zipcode", "zipcode"], sensitive=["diseas"])
    )
    assert "'agee'" in text
    assert "'zipcode' is named more than once as public" in text
    assert "'diseas'" in text


def test_one_string_is_no_list_of_columns(frame):
    refused(RoleError, r"Try \['age'\]", lambda: fit(frame, public="age"))


def test_a_target_that_is_not_there(frame):
    refused(DataError, r"No column 'rsk'\. Closest: 'risk'", lambda: fit(frame, target="rsk"))


def test_an_empty_table(frame):
    refused(DataError, "no rows", lambda: fit(frame.head(0)))


def test_k_larger_than_the_table(frame):
    refused(PromiseError, "at least 201 people but the table has 200", lambda: fit(frame, privacy=201))


def test_a_requirement_the_whole_table_breaks(frame):
    refused(PromiseError, "Not even a tree of one leaf", lambda: fit(frame, privacy=Confidence(0.5)))


def test_a_missing_target(frame):
    frame.loc[[3, 7], "risk"] = None
    refused(DataError, r"'risk' is missing in 2 row\(s\)", lambda: fit(frame))
    y = frame["age"].astype(float).where(frame["age"] > 30)
    with pytest.raises(ValueError, match=r"missing|NaN|nan"):
        AnonymousTreeClassifier(privacy=5).fit(frame[["zipcode"]], y)


def test_a_target_of_one_class(frame):
    frame["risk"] = "low"
    refused(DataError, "only one class", lambda: fit(frame))


def test_y_of_another_length(frame):
    refused(DataError, "X has 200 row", lambda: AnonymousTreeClassifier().fit(frame[["age"]], ["a", "b"]))


def test_an_unseen_category(frame):
    tree = fit(frame[["zipcode", "age", "risk"]], privacy=2, variant="id3")
    assert "zipcode" in tree.release_.tested
    frame.loc[:3, "zipcode"] = CANARY + "-new"
    refused(DataError, r"'zipcode' in 4 row\(s\)", lambda: tree.predict(frame))
    assert len(tree.release_.predict(frame, unknown="ancestor")) == 200
    refused(DataError, "unknown must be", lambda: tree.release_.predict(frame, unknown="guess"))


def test_a_column_the_release_asks_for_is_gone(frame):
    tree = fit(frame[["zipcode", "risk"]], privacy=2, variant="id3")
    refused(DataError, r"asks for column\(s\) 'zipcode'", lambda: tree.predict(frame[["risk"]]))
    refused(DataError, r"asks for column\(s\) 'zipcode'", lambda: tree.predict(frame[["age"]]))
    refused(DataError, "No column 'risk'", lambda: audit(tree, frame[["zipcode"]]))


def test_a_column_of_another_kind(frame):
    tree = fit(frame[["age", "risk"]], privacy=2, variant="id3")
    frame["age"] = CANARY
    refused(DataError, "'age'", lambda: tree.predict(frame))


def test_rare_values_of_an_undeclared_private_column(frame):
    frame.loc[0, "disease"] = CANARY + "-rare"
    refused(
        DataError,
        r"Private column 'disease' has 1 value\(s\).* that fewer than 5 people have",
        lambda: fit(frame, public=["age", "zipcode"]),
    )
    declared = {"disease": sorted(set(frame["disease"]))}
    assert fit(frame, public=["age", "zipcode"], domain=declared).release_.verdict.holds


def test_a_rare_missing_number_of_an_undeclared_private_column(frame):
    frame["pay"] = np.arange(len(frame), dtype=float)
    frame.loc[0, "pay"] = np.nan
    known = ["age", "zipcode", "disease"]
    refused(DataError, "'pay' is missing for fewer than 5 people", lambda: fit(frame, public=known))
    assert fit(frame, public=known, domain={"pay": [0, 1000]}).release_.verdict.holds
    frame.loc[:9, "pay"] = np.nan
    assert fit(frame, public=known).release_.verdict.holds


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        ({"agee": [0, 1]}, "no column 'agee'"),
        ({"age": [0, 50]}, r"row\(s\) outside its declared bounds"),
        ({"age": [0]}, "two bounds"),
        ({"age": ["a", "b"]}, "two numbers"),
        ({"age": [90, 0]}, "low first"),
        ({"age": [0, float("inf")]}, "finite"),
        ({"zipcode": ["10115"]}, "does not list"),
        ({"zipcode": "10115"}, "list of values"),
        ({"zipcode": ["10115", "10115"]}, "every value once"),
        ({"zipcode": []}, "at least one"),
    ],
)
def test_a_domain_that_does_not_fit(frame, domain, message):
    refused(DataError, message, lambda: fit(frame, domain=domain))


def test_a_hierarchy_that_does_not_know_a_value(frame):
    tree = {"*": {"east": ["10115"], "north": ["20095"]}}
    refused((HierarchyError, DataError), "'zipcode' has 1 value", lambda: fit(frame, hierarchies={"zipcode": tree}))


def test_a_row_of_nobody(frame):
    frame["patient"] = [None, None, *(CANARY + str(i // 2) for i in range(len(frame) - 2))]
    refused(DataError, "is missing in 2 row", lambda: fit(frame, person="patient"))


def test_too_few_people_in_many_rows(frame):
    frame["patient"] = [CANARY + str(i % 3) for i in range(len(frame))]
    refused(PromiseError, "of 3 people", lambda: fit(frame, person="patient"))


def test_diversity_of_nothing_private(frame):
    refused(
        RequirementError,
        "needs a private target",
        lambda: fit(frame, privacy=EntropyDiversity(1.2), target_role="public"),
    )


def test_a_numeric_infinity(frame):
    frame["age"] = frame["age"].astype(float)
    frame.loc[0, "age"] = np.inf
    refused(DataError, "'age'", lambda: fit(frame))


def test_auditing_something_else(frame):
    refused(DataError, "got DataFrame", lambda: audit(frame, frame))
    refused(DataError, "got str", lambda: attack("tree.json", frame))


def test_auditing_with_other_rows_is_a_breach_not_a_crash(frame):
    tree = fit(frame)
    verdict = audit(tree, frame.head(150))
    assert not verdict.holds
    assert "counts-differ" in {finding.code for finding in verdict.findings}


def test_a_public_column_the_release_does_not_have(frame):
    tree = fit(frame)
    refused(RoleError, "no attribute 'agee' to be public. Closest: 'age'", lambda: audit(tree, frame, public=["agee"]))


def test_no_private_value_shows_in_anything_printed(frame, tmp_path):
    """Roles say disease is private; it is declared, so its values are domain. Cells of identifiers never appear."""
    frame["name"] = [f"{CANARY}-name-{i}" for i in range(len(frame))]
    tree = fit(frame, person="name")
    verdict = audit(tree, frame)
    for shown in (tree.release_, verdict, verdict.to_json(), tree, attack(tree, frame), tree.release_._repr_html_()):
        assert f"{CANARY}-name" not in str(shown) + repr(shown)
    tree.release_.save(tmp_path / "t.json")
    assert f"{CANARY}-name" not in (tmp_path / "t.json").read_text()


def test_every_error_is_a_value_error():
    for kind in (DataError, HierarchyError, PromiseError, RequirementError, RoleError):
        assert issubclass(kind, ShoalError)
        assert issubclass(kind, ValueError)
