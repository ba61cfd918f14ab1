# SPDX-License-Identifier: Apache-2.0
"""PartAL: a claim that is written and read like any other, and that no group of people can be asked for."""

from __future__ import annotations

import pytest

from shoal import AnonymousTreeClassifier, KAnonymity, RequirementError, load_sample
from shoal.privacy import (
    And,
    Confidence,
    PartAL,
    asked_of_groups,
    claims,
    least_people,
    needs_values,
    partal_asked,
    people_behind,
    requirement_from_claims,
)


def test_it_is_written_and_read():
    both = PartAL(5) & Confidence(0.9)
    assert claims(both)[0] == {"requirement": "partal", "k": 5}
    assert requirement_from_claims(claims(both)) == both
    assert PartAL(5) != KAnonymity(5)
    assert claims(PartAL(5)) != claims(KAnonymity(5))


@pytest.mark.parametrize("ask", [PartAL(2), PartAL(2) & KAnonymity(2), And((KAnonymity(1), PartAL(1)))])
def test_no_group_can_be_asked_for_it(ask):
    with pytest.raises(RequirementError) as caught:
        ask.holds([[100, 100]])
    assert caught.value.code == "not-of-groups"
    with pytest.raises(RequirementError):
        PartAL(1).measure([[5]])


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "5", None])
def test_k_is_a_whole_number(k):
    with pytest.raises(RequirementError):
        PartAL(k)


def test_its_sentence_says_what_it_is_not():
    for k in (1, 2, 50):
        assert "which is not k-anonymity" in PartAL(k).describe()


def test_it_is_taken_apart():
    assert partal_asked(KAnonymity(9) & PartAL(3)) == 3
    assert partal_asked(KAnonymity(9)) is None
    assert asked_of_groups(PartAL(3)) is None
    assert asked_of_groups(KAnonymity(9) & PartAL(3) & Confidence(0.9)) == KAnonymity(9) & Confidence(0.9)
    assert (needs_values(PartAL(3)), least_people(PartAL(3)), people_behind(PartAL(3))) == (False, 3, 3)


def test_no_miner_promises_it():
    people = load_sample().table.select(["age", "sex", "diabetes"])
    with pytest.raises(RequirementError, match="asked of projections only"):
        AnonymousTreeClassifier(privacy=PartAL(50)).fit(people, "diabetes")
