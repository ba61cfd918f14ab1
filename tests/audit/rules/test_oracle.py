# SPDX-License-Identifier: Apache-2.0
"""Spans of rules are those of Definition 5: every person with every set of private items."""

from dataclasses import dataclass
from itertools import chain, combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import audit
from shoal.audit.foreign import read_model
from shoal.audit.rules import Rules
from shoal.audit.rules import spans as rule_spans

ITEMS = "abcde"


@dataclass
class Case:
    rules: list[tuple[frozenset[str], frozenset[str]]]
    baskets: list[frozenset[str]]
    public: frozenset[str]
    fixed: dict[str, bool]  # private items that are always there, or never

    @property
    def made(self) -> Rules:
        sides = list(zip(*self.rules, strict=True))
        return Rules.from_frame(
            {"antecedents": sides[0], "consequents": sides[1], "confidence": [0.5] * len(self.rules)}
        )

    @property
    def frame(self) -> dict[str, list[bool]]:
        return {item: [item in basket for basket in self.baskets] for item in ITEMS}

    @property
    def domain(self) -> dict[str, list[bool]]:
        return {item: [there] for item, there in self.fixed.items()}


@st.composite
def cases(draw, *, fixing: bool = True) -> Case:
    rules = []
    for _ in range(draw(st.integers(1, 5))):
        side = [draw(st.sampled_from(["neither", "neither", "left", "right"])) for _ in ITEMS]
        left = frozenset(item for item, where in zip(ITEMS, side, strict=True) if where == "left")
        right = frozenset(item for item, where in zip(ITEMS, side, strict=True) if where == "right")
        spare = draw(st.sampled_from(ITEMS))
        rules.append((left - {spare}, right | {spare}) if not right else (left, right))
    public = frozenset(draw(st.sets(st.sampled_from(ITEMS))))
    private = sorted(set(ITEMS) - public)
    fixed = draw(st.dictionaries(st.sampled_from(private), st.booleans())) if private and fixing else {}
    subsets = st.frozensets(st.sampled_from(ITEMS))
    baskets = draw(st.lists(subsets, min_size=1, max_size=8))
    always, never = ({item for item in fixed if fixed[item] is there} for there in (True, False))
    return Case(rules, [(basket | always) - never for basket in baskets], public, fixed)


def state(rules, basket) -> tuple[int, ...]:
    return tuple(0 if not left <= basket else 1 if not right <= basket else 2 for left, right in rules)


def span(case: Case, basket: frozenset[str]) -> frozenset[tuple[int, ...]]:
    private = [item for item in ITEMS if item not in case.public]
    choices = [[case.fixed[item]] if item in case.fixed else [False, True] for item in private]
    return frozenset(
        state(case.rules, (basket & case.public) | {item for item, there in zip(private, flags, strict=True) if there})
        for flags in product(*choices)
    )


def same_partition(one, other) -> bool:
    return len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))


@given(cases())
@settings(max_examples=200)
def test_spans_are_those_of_the_definition(case: Case):
    subject, table = read_model(case.made, case.frame, domain=case.domain)
    spans = subject.spans(table, case.public)
    expected = [span(case, basket) for basket in case.baskets]
    assert same_partition(expected, spans.of_row.tolist())
    assert [len(bins) for bins in expected] == spans.n_bins[spans.of_row].tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rule_spans, "MOST_GROUPS", 0)  # as where there are too many groups to count the bins of each
        coarse = subject.spans(table, case.public)
    assert [min(len(bins), 2) for bins in expected] == coarse.n_bins[coarse.of_row].tolist()
    if spans.disjoint:
        assert len(set(chain.from_iterable(set(expected)))) == sum(map(len, set(expected)))


@given(cases(fixing=False))
@settings(max_examples=80)
def test_bins_are_joint_states(case: Case):
    subject, table = read_model(case.made, case.frame)
    assert same_partition([state(case.rules, basket) for basket in case.baskets], subject.bins(table).tolist())
    everything = chain.from_iterable(combinations(ITEMS, size) for size in range(len(ITEMS) + 1))
    assert case.made.n_bins == len({state(case.rules, frozenset(basket)) for basket in everything})


@given(cases(), st.integers(1, 4))
@settings(max_examples=60)
def test_verdict_is_claim_3(case: Case, k: int):
    spans = [span(case, basket) for basket in case.baskets]
    holds = all(spans.count(own) >= k or len(own) == 1 for own in spans)
    # no support is given, and 50 % confidence is not that of the baskets: only groups are looked at here
    verdict = audit(case.made, case.frame, public=case.public, privacy=k, domain=case.domain)
    assert (not verdict.fails.any()) == holds
    assert verdict.n_groups == len(set(spans))
    assert verdict.n_exempt == sum(len(own) == 1 for own in set(spans))


@given(cases(fixing=False), cases(fixing=False))
@settings(max_examples=80)
def test_rules_are_separable(one: Case, other: Case):
    """Two sets of rules together have equal spans exactly where each has."""
    both = Case(one.rules + other.rules, one.baskets, one.public, {})
    alone = [
        (span(one, basket), span(Case(other.rules, one.baskets, one.public, {}), basket)) for basket in one.baskets
    ]
    subject, _ = read_model(one.made, one.frame)
    assert subject.separable
    assert same_partition([span(both, basket) for basket in one.baskets], alone)
