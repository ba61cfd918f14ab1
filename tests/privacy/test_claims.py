# SPDX-License-Identifier: Apache-2.0
"""Claims written, read back, and forged."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import RequirementError
from shoal.privacy import (
    Closeness,
    Confidence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    Requirement,
    SimpleDiversity,
    claims,
    requirement_from_claims,
)

WRITTEN = [
    (KAnonymity(50), {"requirement": "k-anonymity", "k": 50}),
    (DistinctDiversity(3), {"requirement": "distinct-l-diversity", "l": 3}),
    (EntropyDiversity(1.526), {"requirement": "entropy-l-diversity", "l": 1.526}),
    (SimpleDiversity(2), {"requirement": "simple-l-diversity", "l": 2.0}),
    (RecursiveDiversity(3, 2), {"requirement": "recursive-l-diversity", "c": 3.0, "l": 2}),
    (Confidence(0.9), {"requirement": "confidence", "c": 0.9}),
    (Closeness(0.2), {"requirement": "t-closeness", "t": 0.2, "distance": "equal"}),
    (Closeness(0.2, "ordered"), {"requirement": "t-closeness", "t": 0.2, "distance": "ordered"}),
    (
        Closeness(0.2, "hierarchical", ((0, 0, 1), (0, 0, 0))),
        {
            "requirement": "t-closeness",
            "t": 0.2,
            "distance": "hierarchical",
            "hierarchy": [[0, 0, 1], [0, 0, 0]],
        },
    ),
]


@pytest.mark.parametrize(("requirement", "claim"), WRITTEN, ids=[repr(one) for one, _ in WRITTEN])
def test_written_and_read(requirement, claim):
    assert requirement.to_claim() == claim
    assert claims(requirement) == [claim]
    assert requirement_from_claims(json.loads(json.dumps([claim], allow_nan=False))) == requirement


def test_all_at_once():
    everything = WRITTEN[0][0]
    for requirement, _ in WRITTEN[1:]:
        everything = everything & requirement
    stated = claims(everything)
    assert stated == [claim for _, claim in WRITTEN]
    assert requirement_from_claims(stated) == everything
    assert requirement_from_claims(stated + stated) == everything


def test_equal_requirements_are_written_alike():
    assert json.dumps(claims(SimpleDiversity(2))) == json.dumps(claims(SimpleDiversity(2.0)))


def test_a_claim_is_a_copy():
    close = WRITTEN[-1][0]
    close.to_claim()["hierarchy"][0][0] = 7
    assert close.hierarchy == ((0, 0, 1), (0, 0, 0))


K = {"requirement": "k-anonymity", "k": 5}


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        (None, "must be a list of 1 to 32 objects; got None"),
        ({}, "must be a list"),
        (K, "must be a list"),
        ((K,), "must be a list"),
        ("k-anonymity", "must be a list"),
        ([], "got 0"),
        ([K] * 33, "got 33"),
        ([K] * 100_000, "got 100000"),
        ([5], "Claim 1: must be an object"),
        ([K, [K]], "Claim 2: must be an object"),
        ([{1: 2}], "Claim 1: must be an object"),
        ([{}], "requirement None is not known"),
        ([{"requirement": 5}], "requirement 5 is not known"),
        ([{"requirement": ["k-anonymity"]}], "requirement a list is not known"),
        ([{"requirement": "and", "parts": []}], "is not known"),
        ([{"requirement": "K-Anonymity", "k": 5}], "is not known"),
        ([{"requirement": "k-anonymty", "k": 5}], "Closest: 'k-anonymity'"),
        ([{"requirement": "x" * 10**7}], "is not known"),
        ([{"requirement": "k-anonymity"}], "k-anonymity needs 'k'"),
        ([{"requirement": "recursive-l-diversity", "l": 2}], "needs 'c'"),
        ([K | {"l": 2}], "has no 'l'"),
        ([K | {"self": 2}], "has no 'self'"),
        ([K | {"x" * 10**6: 2}], "has no 'xxx"),
        ([K | {"k": None}], "'k' is null"),
        ([K | {"k": True}], "got True"),
        ([K | {"k": 5.0}], "got 5.0"),
        ([K | {"k": "5"}], "got '5'"),
        ([K | {"k": 0}], "at least 1"),
        ([K | {"k": [5]}], "got a list"),
        ([K | {"k": 10**5000}], "a very long integer"),
        ([K | {"k": math.nan}], "got nan"),
        ([{"requirement": "confidence", "c": math.nan}], "got nan"),
        ([{"requirement": "confidence", "c": math.inf}], "got inf"),
        ([{"requirement": "confidence", "c": True}], "got True"),
        ([{"requirement": "confidence", "c": "0.9"}], "got '0.9'"),
        ([{"requirement": "confidence", "c": 10**5000}], "a very long integer"),
        ([{"requirement": "t-closeness", "t": 0.2}], "needs 'distance'"),
        ([{"requirement": "t-closeness", "t": 0.2, "distance": "equal", "hierarchy": None}], "is null"),
        ([{"requirement": "t-closeness", "t": 0.2, "distance": "equal", "hierarchy": [[0]]}], "no use"),
        (
            [{"requirement": "t-closeness", "t": 0.2, "distance": "hierarchical"}],
            "one tuple of integers a level",
        ),
        (
            [
                {
                    "requirement": "t-closeness",
                    "t": 0.2,
                    "distance": "hierarchical",
                    "hierarchy": [[0]] * 10**5,
                }
            ],
            "at most 32 levels",
        ),
        (
            [
                {
                    "requirement": "t-closeness",
                    "t": 0.2,
                    "distance": "hierarchical",
                    "hierarchy": [[0] * 10**6],
                }
            ],
            "at most 10000 values",
        ),
        (
            [{"requirement": "t-closeness", "t": 0.2, "distance": "hierarchical", "hierarchy": [[0, [0]]]}],
            "no integer",
        ),
    ],
    # Some are too long to print.
    ids=lambda value: value if isinstance(value, str) and len(value) < 60 else "",
)
def test_forged_claims_are_refused(stated, why):
    with pytest.raises(RequirementError, match=why) as refusal:
        requirement_from_claims(stated)
    assert refusal.value.code == "claim"
    assert len(str(refusal.value)) < 400


keys = st.sampled_from(["requirement", "k", "l", "c", "t", "distance", "hierarchy", "self", "name", ""]) | st.text()
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from([claim["requirement"] for _, claim in WRITTEN] + ["equal", "ordered", "hierarchical"])
)
json_values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


def read_or_refuse(stated):
    requirement = None
    try:
        requirement = requirement_from_claims(stated)
    except RequirementError as refusal:
        code = refusal.code
    else:
        code = None
    if requirement is None:
        assert code == "claim"
        return
    assert isinstance(requirement, Requirement)
    assert requirement_from_claims(claims(requirement)) == requirement
    assert requirement.describe()
    json.dumps(claims(requirement), allow_nan=False)


@given(stated=json_values | st.lists(json_values, max_size=3))
def test_anything_is_read_or_refused(stated):
    read_or_refuse(stated)


@given(data=st.data())
def test_a_claim_with_one_thing_changed_is_read_or_refused(data):
    claim = dict(data.draw(st.sampled_from([claim for _, claim in WRITTEN])))
    claim[data.draw(st.sampled_from(sorted(claim)) | keys)] = data.draw(json_values)
    read_or_refuse([claim])
