# SPDX-License-Identifier: Apache-2.0
"""Several requirements at once, a user's own among them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import RequirementError
from shoal.privacy import (
    And,
    Closeness,
    Confidence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Requirement,
    RequirementBase,
    as_requirement,
    claims,
    least_people,
    needs_values,
    requirement_from_claims,
)

A, B, C = KAnonymity(5), Confidence(0.9), DistinctDiversity(2)
simple = st.sampled_from([A, B, C, EntropyDiversity(1.5), Closeness(0.2), KAnonymity(7)])


class Own:
    """All that a user's own requirement must have. Not hashable, on purpose."""

    monotone = False
    __hash__ = None

    def holds(self, counts, total=None):
        return np.asarray(counts).sum(axis=1) % 2 == 0

    def describe(self):
        return "every group can be paired up"


def test_the_conjunction_holds_where_all_parts_do():
    counts = np.array([[3, 2], [20, 1], [1, 1], [5, 0], [0, 0]])
    both = A & B
    np.testing.assert_array_equal(both.holds(counts), A.holds(counts) & B.holds(counts))
    assert both.holds(counts).tolist() == [True, False, False, False, True]
    assert both.describe() == f"{A.describe()}, and {B.describe()}"
    assert both.least_people == 5
    assert both.needs_values
    assert not (A & KAnonymity(7)).needs_values
    assert both.monotone


@given(first=simple, second=simple, third=simple)
def test_associative(first, second, third):
    left, right = (first & second) & third, first & (second & third)
    assert left == right
    assert hash(left) == hash(right)
    assert repr(left) == repr(right)
    assert pickle.loads(pickle.dumps(left)) == left


def test_flattened_and_without_duplicates():
    assert ((A & B) & (B & C)).parts == (A, B, C)
    assert And((A, And((B, A)), C)).parts == (A, B, C)
    assert And([A, B]) == And((A, B))
    one = A & A
    assert one is A


def test_the_total_reaches_every_part():
    close = A & Closeness(0.1)
    assert close.holds([[5, 5]], [50, 50]).all()
    assert not close.holds([[5, 5]], [90, 10]).any()


def test_no_one_measure_and_no_one_claim():
    with pytest.raises(RequirementError, match=r"\.parts") as refusal:
        (A & B).measure([[1, 2]])
    assert refusal.value.code == "measure"
    with pytest.raises(RequirementError, match="to_claims"):
        (A & B).to_claim()
    assert (A & B).to_claims() == claims(A & B) == [A.to_claim(), B.to_claim()]


@pytest.mark.parametrize("parts", [(), [], None, A, (A, 5), (A, KAnonymity), ("k",)], ids=str)
def test_what_is_no_conjunction(parts):
    with pytest.raises(RequirementError, match="And: parts must be"):
        And(parts)


def test_not_without_end():
    with pytest.raises(RequirementError, match="at most 32"):
        And(tuple(KAnonymity(k) for k in range(1, 40)))


@pytest.mark.parametrize("other", [5, 0.5, None, "k", KAnonymity])
def test_only_requirements_are_joined(other):
    with pytest.raises(TypeError):
        A & other
    with pytest.raises(TypeError):
        other & A


def test_a_users_own_joins_from_either_side():
    own = Own()
    for both in (A & own, own & A):
        assert isinstance(both, And)
        assert set(map(type, both.parts)) == {KAnonymity, Own}
        assert both.holds([[3, 3], [4, 3], [1, 1]]).tolist() == [True, False, False]
        assert not both.monotone
        assert both.needs_values
        assert both.least_people == 5
        assert {"requirement": "stated", "text": own.describe()} in claims(both)
    assert (A & own) & own == A & own


@pytest.mark.parametrize("answer", [True, np.array(True), np.array([True]), np.array([1, 1]), [[True, True]], None])
def test_a_users_own_must_answer_for_each_group(answer):
    own = Own()
    own.holds = lambda counts, total=None: answer
    with pytest.raises(RequirementError, match="one bool a group"):
        (A & own).holds([[5, 5], [6, 6]])


# as_requirement


@pytest.mark.parametrize("k", [50, np.int64(50), np.uint8(50)])
def test_an_integer_is_k(k):
    assert as_requirement(k) == KAnonymity(50)


def test_a_requirement_is_itself():
    own = Own()
    for requirement in (A, B, A & B, own):
        assert as_requirement(requirement) is requirement
        assert isinstance(requirement, Requirement)
    assert (least_people(own), needs_values(own)) == (1, True)


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        (True, r"KAnonymity\(50\)"),
        (np.bool_(True), r"KAnonymity\(50\)"),
        (0.9, r"Confidence\(0.9\)"),
        (50.0, r"KAnonymity\(k\)"),
        (np.float64(50), r"KAnonymity\(k\)"),
        (None, r"KAnonymity\(50\)"),
        ("50", r"KAnonymity\(50\)"),
        ([A, B], "joining requirements with &"),
        ({"k": 50}, r"KAnonymity\(50\)"),
        (KAnonymity, r"the class KAnonymity. Try KAnonymity\("),
        (object(), "holds, monotone and describe"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_requirement(wrong, hint):
    with pytest.raises(RequirementError, match=hint) as refusal:
        as_requirement(wrong)
    assert refusal.value.code == "requirement"


def test_a_k_that_makes_no_sense():
    with pytest.raises(RequirementError, match="KAnonymity: k must be an integer of at least 1; got 0"):
        as_requirement(0)


def test_a_users_own_is_looked_at_before_it_is_used():
    class Narrow(Own):
        def holds(self, counts):
            return super().holds(counts)

    class Vague(Own):
        monotone = "yes"

    class Silent(Own):
        describe = "a text, not a method"

    for wrong in (Narrow(), Vague(), Silent()):
        with pytest.raises(RequirementError, match="needs methods holds"):
            as_requirement(wrong)


def test_inheriting_gives_the_rest():
    class Even(RequirementBase):
        name = "even"

        def holds(self, counts, total=None):
            return np.asarray(counts).sum(axis=1) % 2 == 0

        def measure(self, counts, total=None):
            return np.asarray(counts).sum(axis=1) % 2

        def describe(self):
            return "every group can be paired up"

        def to_claim(self):
            return {"requirement": self.name}

    even = Even()
    # a stranger could not read its own claim back, so the release states its words
    assert claims(A & even) == [A.to_claim(), {"requirement": "stated", "text": "every group can be paired up"}]
    again = requirement_from_claims(claims(A & even))
    assert again.describe() == (A & even).describe()
    with pytest.raises(RequirementError, match="in words only"):
        again.holds([[5, 5]])
    assert (even.monotone, even.needs_values, even.least_people) == (True, True, 1)


def test_a_subclass_does_not_borrow_the_claim_of_its_base():
    """One whose own `holds` says yes to everything was once claimed, and saved, as k-anonymity."""

    class Lenient(KAnonymity):
        def holds(self, counts, total=None):
            return np.ones(len(counts), dtype=bool)

        def describe(self):
            return "anything goes"

    assert claims(Lenient(50)) == [{"requirement": "stated", "text": "anything goes"}]
