# SPDX-License-Identifier: Apache-2.0
"""What supports tell is what all tables with these supports have in common."""

from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal import Confidence
from shoal.audit.rules import Rules
from shoal.audit.rules import counts as rule_counts
from shoal.errors import DataError

ITEMS = "abc"
BASKETS = [frozenset(basket) for size in range(4) for basket in combinations(ITEMS, size)]
SIDES = [(left, right) for left in BASKETS for right in BASKETS if right and not left & right]


def have(table, items) -> int:
    return sum(items <= basket for basket in table)


def figures(table, left, right) -> tuple[float, float]:
    return have(table, left | right) / len(table), have(table, left | right) / have(table, left)


def rounded(share: float, decimals: int | None) -> float:
    return share if decimals is None else round(share, decimals)


def agrees(table, left, right, published, decimals) -> bool:
    if not have(table, left):
        return False
    both = Fraction(have(table, left | right))
    exact = (both / len(table), both / have(table, left))
    off = Fraction(1, 10**9) if decimals is None else Fraction(1, 2 * 10**decimals)
    return all(abs(share - Fraction(str(told))) <= off for share, told in zip(exact, published, strict=True))


@given(
    st.lists(st.sampled_from(BASKETS), min_size=1, max_size=5),
    st.lists(st.sampled_from(SIDES), min_size=1, max_size=3),
    st.frozensets(st.sampled_from(ITEMS)),
    st.sampled_from([None, 1]),
)
@settings(max_examples=60)
def test_bounds_are_those_of_all_tables(table, sides, public, decimals):
    assume(all(have(table, left) for left, _ in sides))
    told = [tuple(rounded(share, decimals) for share in figures(table, *rule)) for rule in sides]
    rules = Rules.from_frame(
        {
            "antecedents": [left for left, _ in sides],
            "consequents": [right for _, right in sides],
            "support": [support for support, _ in told],
            "confidence": [confidence for _, confidence in told],
        },
        decimals=decimals,
    )
    populations = rules.populations(len(table), public=public)
    assert populations.complete

    parts = sorted({side & public for left, right in sides for side in (left, left | right)}, key=sorted)
    seen: dict[tuple[bool, ...], list[int]] = {}
    tables = [
        other
        for other in combinations_with_replacement(BASKETS, len(table))
        if all(agrees(other, *rule, numbers, decimals) for rule, numbers in zip(sides, told, strict=True))
    ]
    for other in tables:
        groups = [tuple(part <= basket for part in parts) for basket in other]
        for group in {*seen, *groups}:
            # a group that no table before had was empty in all of these
            seen.setdefault(group, [0] * tables.index(other)).append(groups.count(group))
    expected = sorted((min(sizes), max(sizes)) for sizes in seen.values())
    assert sorted((group.low, group.high) for group in populations.groups) == expected


def rules_of(*rows, **options) -> Rules:
    names = ("antecedents", "consequents", "support", "confidence", "lift")
    return Rules.from_frame(dict(zip(names, zip(*rows, strict=True), strict=False)), **options)


def test_rounding_leaves_room():
    exact = rules_of((["a"], ["x"], 0.02, 0.8))
    assert exact.populations(1000, public=["a"]).groups[0].people == 25
    loose = rules_of((["a"], ["x"], 0.02, 0.8), decimals=2)
    group = loose.populations(1000, public=["a"]).groups[0]
    # 15 to 25 people have both by the support, but 15 and 25 are 80 % of no whole number, also when rounded
    assert (group.low, group.high) == (20, 30)
    assert group.people is None
    assert str(group) == "20 to 30 have 'a': 16 to 24 of them 'x'"
    assert loose.populations(1000, public=["a"]).verdict(20).answer == "holds"
    assert loose.populations(1000, public=["a"]).verdict(21).answer == "cannot tell"
    assert loose.populations(1000, public=["a"]).verdict(31).answer == "fails"


def test_lift_tells_how_many_have_the_consequent():
    # 50 of 100 have a, 40 of them x; 60 have x in all
    rules = rules_of((["a"], ["x"], 0.4, 0.8, 0.8 / 0.6))
    by_item = rule_counts.published_counts(rules, 100)
    assert by_item[frozenset("x")] == (60, 60)


def test_figures_that_fit_no_people_are_refused():
    for rules, n in [
        (rules_of((["a"], ["x"], 0.333, 0.5)), 100),
        (rules_of((["a"], ["x"], 0.9, 0.5)), 100),
        # each alone is fine; together more than everybody
        (rules_of((["a"], ["x"], 0.2, 0.5), (["a", "b"], ["x"], 0.3, 0.5)), 100),
    ]:
        with pytest.raises(DataError) as error:
            rules.populations(n, public=["a", "b"])
        assert error.value.code == "figures-contradict"


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "ten"])
def test_people_are_a_whole_number(n):
    with pytest.raises(DataError) as error:
        rules_of((["a"], ["x"], 0.5, 0.5)).populations(n, public=["a"])
    assert error.value.code == "n-people"


def test_values_cannot_be_asked_without_transactions():
    populations = rules_of((["a"], ["x"], 0.5, 0.5)).populations(10, public=["a"])
    assert populations.verdict(Confidence(0.9)).answer == "cannot tell"


def test_all_public_tells_nothing():
    populations = rules_of((["a"], ["x"], 0.5, 0.5)).populations(10, public=["a", "x"])
    assert str(populations.verdict(10)) == "holds: nothing private is told of anybody."


def test_a_confidence_alone_tells_something():
    populations = Rules.from_frame({"antecedent": [["a"]], "consequent": [["x"]], "confidence": [0.8]}).populations(
        100, public=["a"]
    )
    group = max(populations.groups, key=lambda group: not group.exempt)
    # somebody has 'a', or there were no confidence; and 80 % is a whole number of fives only
    assert (group.low, group.high) == (5, 100)
    assert populations.verdict(5).answer == "holds"
    assert populations.verdict(6).answer == "cannot tell"


def test_both_sides_of_a_rule_go_together():
    # of 5 to 100 people with 'a', four of five have 'x': the fifth are 1 to 20, not up to 96
    rules = Rules.from_frame({"antecedent": [["a"]], "consequent": [["x"]], "confidence": [0.8]})
    found = {group.who: (group.low, group.high) for group in rules.populations(100, public=["a", "x"]).groups}
    assert found["have 'a', not 'x'"] == (1, 20)
    assert found["have 'a' and 'x'"] == (4, 80)


def test_many_rules_tell_what_single_sets_and_pairs_tell(monkeypatch):
    monkeypatch.setattr(rule_counts, "MOST_STATES", 3)
    rules = rules_of((["a"], ["x"], 0.5, 0.625), (["a", "b"], ["x"], 0.4, 0.5 / 0.975), (["c"], ["a"], 0.1, 0.5))
    populations = rules.populations(100, public=["a", "b", "c"])
    assert not populations.complete
    found = {group.who: (group.low, group.high, group.exempt) for group in populations.groups}
    assert found["have 'a'"] == (80, 80, False)
    assert found["have 'a' and 'b'"] == (78, 78, False)
    assert found["have 'a', not 'b'"] == (2, 2, False)
    assert found["have 'c'"] == (20, 20, True)
    assert populations.verdict(3).answer == "fails"
    assert populations.verdict(2).answer == "cannot tell"


def test_the_empty_antecedent_is_everybody():
    populations = rules_of(([], ["x"], 0.3, 0.3)).populations(10, public=[])
    (group,) = populations.groups
    assert (group.people, group.exempt, group.shares) == (10, False, {"'x'": (3, 3)})


def test_long_lists_are_cut():
    rules = rules_of(*(([f"i{number}"], ["x"], 0.5, 0.5 + number / 1000) for number in range(0, 250, 5)), decimals=2)
    lines = str(rules.populations(1000, public=[f"i{number}" for number in range(250)])).splitlines()
    assert len(lines) == 22
    assert lines[-1].endswith("more")
    assert len(set(chain(lines))) == 22
