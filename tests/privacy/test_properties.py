# SPDX-License-Identifier: Apache-2.0
"""Every requirement against its definition, merged groups, and what makes two requirements one."""

from __future__ import annotations

import copy
import pickle
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.privacy import (
    Closeness,
    Confidence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    SimpleDiversity,
    claims,
    requirement_from_claims,
)

# Numbers as people type them, so that ties happen.
typed = st.decimals(min_value="1.01", max_value=6, places=2).map(float)
MAKERS = {
    KAnonymity: st.builds(KAnonymity, st.integers(1, 60)),
    DistinctDiversity: st.builds(DistinctDiversity, st.integers(2, 6)),
    EntropyDiversity: st.builds(EntropyDiversity, typed | st.integers(2, 5)),
    SimpleDiversity: st.builds(SimpleDiversity, typed | st.integers(2, 5)),
    Confidence: st.builds(Confidence, st.integers(1, 99).map(lambda percent: percent / 100)),
    RecursiveDiversity: st.builds(RecursiveDiversity, typed | st.sampled_from([0.1, 0.5, 1]), st.integers(2, 5)),
    Closeness: st.builds(
        Closeness,
        st.integers(0, 100).map(lambda percent: percent / 100),
        st.sampled_from(["equal", "ordered"]),
    ),
}
MAKERS["hierarchical"] = MAKERS[Closeness].map(
    lambda made: Closeness(made.t, "hierarchical", ((0, 0, 1, 1, 2), (0, 0, 0, 0, 1)))
)
any_requirement = st.one_of(*MAKERS.values())
groups = st.lists(st.integers(0, 12), min_size=5, max_size=5)
large = st.lists(st.integers(0, 10**9), min_size=5, max_size=5)


def entropy_reaches(group, least):
    """Entropy in 60 digits; numbers that agree in 50 are the same (no others are so near, at these sizes)."""
    with localcontext() as context:
        context.prec = 60
        n = Decimal(sum(group))
        nats = sum(-(Decimal(count) / n) * (Decimal(count) / n).ln() for count in group if count)
        return nats - (Decimal(least.numerator) / Decimal(least.denominator)).ln() > Decimal("-1e-50")


def definition(requirement, group):
    """Each requirement, straight from its definition."""
    n = sum(group)
    if n == 0:
        return True
    shares = sorted((Fraction(count, n) for count in group), reverse=True)
    match requirement:
        case KAnonymity(k=k):
            return n >= k
        case DistinctDiversity(l=least):
            return sum(share > 0 for share in shares) >= least
        case EntropyDiversity(l=least):
            return entropy_reaches(group, Fraction(str(least)))
        case SimpleDiversity(l=least):
            return shares[0] <= 1 / Fraction(str(least))
        case Confidence(c=c):
            return shares[0] <= Fraction(str(c))
        case RecursiveDiversity(c=c, l=least):
            return shares[0] < Fraction(str(c)) * sum(shares[least - 1 :], Fraction(0))
    raise AssertionError(requirement)


COUNTED = [maker for maker in MAKERS if maker not in (Closeness, "hierarchical")]  # closeness has its own tests


@pytest.mark.parametrize("kind", COUNTED, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_against_the_definition(kind, data):
    requirement = data.draw(MAKERS[kind])
    counts = data.draw(st.lists(groups, min_size=1, max_size=8))
    assert requirement.holds(counts).tolist() == [definition(requirement, group) for group in counts]


@pytest.mark.parametrize("kind", [k for k in COUNTED if k is not EntropyDiversity], ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_against_the_definition_in_large_tables(kind, data):
    requirement = data.draw(MAKERS[kind])
    counts = data.draw(st.lists(large, min_size=1, max_size=4))
    assert requirement.holds(counts).tolist() == [definition(requirement, group) for group in counts]


@given(least=st.floats(1.000001, 5), group=groups)
def test_entropy_at_any_threshold(least, group):
    requirement = EntropyDiversity(least)
    assert requirement.holds([group])[0] == definition(requirement, group)


@given(group=groups.filter(any), ulps=st.integers(-3, 3))
def test_entropy_right_at_the_threshold(group, ulps):
    least = float(EntropyDiversity(2).measure([group])[0])
    for _ in range(abs(ulps)):
        least = float(np.nextafter(least, np.inf if ulps > 0 else 0))
    if least > 1:
        requirement = EntropyDiversity(least)
        assert requirement.holds([group])[0] == definition(requirement, group)


@pytest.mark.parametrize("kind", list(MAKERS), ids=str)
@given(data=st.data())
def test_merging_groups_that_hold_gives_one_that_holds(kind, data):
    requirement = data.draw(MAKERS[kind])
    a, b = np.array(data.draw(groups)), np.array(data.draw(groups))
    total = np.array(data.draw(groups.filter(any)))
    if requirement.holds([a, b], total).all():
        assert requirement.holds([a + b], total).all()


@given(first=any_requirement, second=any_requirement, a=groups, b=groups, total=groups.filter(any))
def test_merging_under_both(first, second, a, b, total):
    both = first & second
    assert both.monotone
    if both.holds([a, b], np.array(total)).all():
        assert both.holds([np.add(a, b)], np.array(total)).all()


@given(data=st.data())
def test_the_measure_tells_what_holds(data):
    """Away from ties, whoever compares the measure gets the same answer."""
    requirement = data.draw(any_requirement)
    group, total = data.draw(groups.filter(any)), data.draw(groups.filter(any))
    reached = float(requirement.measure([group], total)[0])
    match requirement:
        case KAnonymity(k=bound) | DistinctDiversity(l=bound) | EntropyDiversity(l=bound) | SimpleDiversity(l=bound):
            above = True
        case Confidence(c=bound) | RecursiveDiversity(c=bound) | Closeness(t=bound):
            above = False
    if abs(reached - bound) > 1e-9:
        assert requirement.holds([group], total)[0] == ((reached > bound) is above)


@given(requirement=any_requirement)
def test_equal_when_equal(requirement):
    for twin in (
        pickle.loads(pickle.dumps(requirement)),
        copy.deepcopy(requirement),
        eval(repr(requirement)),
        requirement_from_claims(claims(requirement)),
    ):
        assert twin == requirement
        assert hash(twin) == hash(requirement)
        assert repr(twin) == repr(requirement)
        assert type(twin) is type(requirement)


def test_different_when_different():
    assert SimpleDiversity(2) != EntropyDiversity(2)
    assert KAnonymity(2) != KAnonymity(3)
    assert DistinctDiversity(2) != KAnonymity(2)


@given(requirement=any_requirement)
def test_frozen(requirement):
    with pytest.raises(AttributeError):
        requirement.k = 1


def partitions(n, most):
    """The ways of writing n as a sum of positive integers of at most `most`, largest first."""
    if n == 0:
        yield []
    for first in range(min(n, most), 0, -1):
        for rest in partitions(n - first, first):
            yield [first, *rest]


SMALL = [
    KAnonymity(4),
    DistinctDiversity(3),
    EntropyDiversity(2.5),
    EntropyDiversity(4),
    SimpleDiversity(3.5),
    Confidence(0.3),
    Confidence(0.2),
    RecursiveDiversity(1, 2),
    RecursiveDiversity(0.4, 2),
    RecursiveDiversity(0.5, 3),
    RecursiveDiversity(3, 4),
    KAnonymity(3) & Confidence(0.21),
]


@pytest.mark.parametrize("requirement", SMALL, ids=repr)
def test_least_people_by_trying_all(requirement):
    width = 8
    for n in range(1, width + 1):
        tried = [part + [0] * (width - len(part)) for part in partitions(n, n)]
        if requirement.holds(tried).any():
            assert requirement.least_people == n
            break
    else:
        pytest.fail("nothing that small holds")
