# SPDX-License-Identifier: Apache-2.0
"""The miner against plain enumeration, which shares no code with it: rules, groups, and sets of rules."""

from itertools import chain, combinations, product

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import AnonymousRules, Rules, audit
from shoal.audit.rules import read_transactions
from shoal.errors import PromiseError
from shoal.privacy import Confidence, EntropyDiversity, KAnonymity
from shoal.rules.best import best
from shoal.rules.choice import Choice
from shoal.rules.mine import Counter, mine
from shoal.rules.pairs import compatible
from shoal.rules.problem import Problem, signature

ITEMS = ("a", "b", "c", "x", "y")
PUBLIC = ("a", "b", "c")
PRIVATE = ("x", "y")

baskets = st.lists(st.sets(st.sampled_from(ITEMS)), min_size=4, max_size=24).filter(
    lambda lists: set(chain(*lists)) == set(ITEMS)
)


def subsets(items):
    items = sorted(items)
    return [frozenset(c) for size in range(len(items) + 1) for c in combinations(items, size)]


def mined_plainly(lists, least, confidence):
    found = {}
    for both in subsets(ITEMS):
        people = sum(both <= basket for basket in lists)
        for before in subsets(both):
            if not before or before == both or both <= set(PUBLIC) or people < least:
                continue
            with_antecedent = sum(before <= basket for basket in lists)
            if people >= confidence * with_antecedent:
                found[before, both - before] = (people, with_antecedent)
    return found


def state(rule, basket):
    before, after = rule
    return 0 if not before <= basket else 2 if after <= basket else 1


def span(rules, basket):
    """The bins that every choice of private items brings about, by the definition."""
    public = basket & set(PUBLIC)
    return frozenset(tuple(state(rule, public | chosen) for rule in rules) for chosen in subsets(PRIVATE))


def keeps(rules, lists, k):
    spans = [span(rules, basket) for basket in lists]
    return all(len(each) == 1 or spans.count(each) >= k for each in spans)


@settings(max_examples=40, deadline=None)
@given(baskets, st.integers(1, 4), st.sampled_from([0.0, 0.4, 0.5, 1.0]))
def test_all_rules_that_name_something_private_are_mined(lists, least, confidence):
    counter = Counter(read_transactions(lists), None)
    found = mine(counter, PUBLIC, least, confidence)
    assert len(found) == len({(rule.antecedent, rule.consequent) for rule in found})
    assert {(rule.antecedent, rule.consequent): (rule.people, rule.antecedent_people) for rule in found} == (
        mined_plainly(lists, least, confidence)
    )
    for rule in found:
        assert rule.consequent_people == sum(rule.consequent <= basket for basket in lists)


@settings(max_examples=40, deadline=None)
@given(baskets, st.integers(2, 5), st.sampled_from(["lift", "confidence_support", "number"]))
def test_what_is_released_keeps_k_by_the_definition(lists, k, value):
    miner = AnonymousRules(privacy=k, public_items=PUBLIC, min_support=2, min_confidence=0.4, value=value, merge=False)
    plain = mined_plainly(lists, 2, 0.4)
    uncertain = {
        rule: counts for rule, counts in plain.items() if not (rule[0] <= set(PUBLIC) and counts[0] == counts[1])
    }
    alone = [rule for rule in uncertain if keeps([rule], lists, k)]
    try:
        release = miner.fit(lists).release_
    except PromiseError:
        assert not alone
        return
    kept = {
        (frozenset(rule.antecedent), frozenset(rule.consequent)): (rule.people, rule.antecedent_people)
        for rule in release.rules
    }
    assert kept.items() <= uncertain.items()
    assert keeps(list(kept), lists, k)
    report = miner.report_
    assert (report.mined, report.certain) == (len(plain), len(plain) - len(uncertain))
    assert report.safe_alone == len(alone) >= report.kept == len(kept)
    # nothing that would still fit was dropped, and each dropped rule is blamed on a group that is too small
    assert not any(keeps([*kept, rule], lists, k) for rule in uncertain if rule not in kept)
    assert len(report.dropped) == len(plain) - len(kept)
    assert all(each.people < k for each in report.dropped)
    if value == "number":
        assert report.kept >= report.greedy


@settings(max_examples=40, deadline=None)
@given(baskets, st.integers(2, 5))
def test_merged_rules_keep_k_by_the_definition_too(lists, k):
    miner = AnonymousRules(privacy=k, public_items=PUBLIC, min_support=2, min_confidence=0.4)
    try:
        release = miner.fit(lists).release_
    except PromiseError:
        return
    named = {name for rule in release.rules for name in (*rule.antecedent, *rule.consequent)}
    either = {name: set(name.split(" or ")) for name in named if " or " in name}
    assert all(items <= set(PUBLIC) for items in either.values())
    wider = [basket | {name for name, items in either.items() if items & basket} for basket in lists]
    rules = [(frozenset(rule.antecedent), frozenset(rule.consequent)) for rule in release.rules]

    def wide_span(basket):
        public = basket & {*PUBLIC, *either}
        return frozenset(tuple(state(rule, public | chosen) for rule in rules) for chosen in subsets(PRIVATE))

    spans = [wide_span(basket) for basket in wider]
    assert all(len(each) == 1 or spans.count(each) >= k for each in spans)
    for rule, (before, after) in zip(release.rules, rules, strict=True):
        assert rule.antecedent_people == sum(before <= basket for basket in wider)
        assert rule.people == sum(before | after <= basket for basket in wider)


@settings(max_examples=15, deadline=None)
@given(baskets, st.integers(2, 5))
def test_the_choice_is_about_as_good_as_any(lists, k):
    """Of at most seven kinds of rules, no set that keeps k is worth more."""
    counter = Counter(read_transactions(lists), None)
    rules = mine(counter, PUBLIC, 2, 0.4)
    kinds = list(dict.fromkeys(signature(rule, frozenset(PUBLIC)) for rule in rules))[:7]
    rules = [rule for rule in rules if signature(rule, frozenset(PUBLIC)) in kinds]
    choice = Choice(counter, frozenset(PUBLIC), KAnonymity(k), ())
    chosen = choice.of(rules, np.ones(len(rules)))
    problem = Problem(counter, kinds, KAnonymity(k), ())
    most = 0
    for taken in product([False, True], repeat=len(kinds)):
        together = [number for number, take in enumerate(taken) if take]
        if not problem.failing(*problem.groups(together)).any():
            most = max(most, sum(signature(rule, frozenset(PUBLIC)) in [kinds[i] for i in together] for rule in rules))
    assert chosen.greedy <= len(chosen.kept) == chosen.most == most


@settings(max_examples=40, deadline=None)
@given(
    baskets,
    st.sampled_from([KAnonymity(2), KAnonymity(3), KAnonymity(4), Confidence(0.7), EntropyDiversity(1.4)]),
    st.sampled_from([0, 300, 10**9]),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_no_choice_is_worth_more_than_the_bound(lists, requirement, steps, by_person, random):
    """By going through all sets of at most eight kinds; with enough steps the bound is reached."""
    person = np.arange(len(lists)) // 2 if by_person and isinstance(requirement, KAnonymity) else None
    counter = Counter(read_transactions(lists), person)
    rules = mine(counter, PUBLIC, 1, 0.2)
    kinds = list(dict.fromkeys(signature(rule, frozenset(PUBLIC)) for rule in rules))
    random.shuffle(kinds)
    kinds = kinds[:8]
    value = np.array([random.choice([1.0, 2.0, 2.5]) for _ in kinds])
    problem = Problem(counter, kinds, requirement, ("x",))
    fits = {
        taken: not problem.failing(*problem.groups(np.flatnonzero(taken).tolist())).any()
        for taken in product([False, True], repeat=len(kinds))
    }
    fixed = np.flatnonzero(problem.taken(np.array([0], dtype=np.int64))) if random.random() < 0.3 else np.array([], int)
    greedy = problem.taken(np.concatenate([fixed, np.setdiff1d(np.arange(len(kinds)), fixed)]))
    optimum = max(value @ taken for taken, fit in fits.items() if fit and all(taken[i] for i in fixed))
    found, bound = best(problem, value, greedy, fixed, steps)
    assert fits[tuple(found.tolist())]
    assert found[fixed].all()
    assert value @ greedy <= value @ found <= optimum <= bound + 1e-9
    if steps == 10**9:
        assert value @ found == optimum
        assert bound <= optimum + 1e-9


@settings(max_examples=60, deadline=None)
@given(baskets, st.integers(2, 5), st.randoms(use_true_random=False))
def test_what_may_leave_may_leave_without_some_of_it(lists, k, random):
    """By the definition of spans: the bound rests on it."""
    rules = random.sample(sorted(mined_plainly(lists, 1, 0.2), key=str), k=min(6, len(mined_plainly(lists, 1, 0.2))))
    fewer = [rule for rule in rules if random.random() < 0.6]
    assert keeps(fewer, lists, k) or not keeps(rules, lists, k)


@settings(max_examples=25, deadline=None)
@given(baskets, st.integers(2, 5), st.randoms(use_true_random=False))
def test_the_kernel_and_its_plain_twin_agree(lists, k, random):
    counter = Counter(read_transactions(lists), None)
    rules = mine(counter, PUBLIC, 1, 0.2)
    kinds = list(dict.fromkeys(signature(rule, frozenset(PUBLIC)) for rule in rules))
    random.shuffle(kinds)
    kinds = kinds[:12]
    order = random.sample(range(len(kinds)), k=len(kinds))
    problem = Problem(counter, kinds, KAnonymity(k), ())
    assert problem.compiled
    order = np.array(order, dtype=np.int64)
    kinds_taken, others = order[:2][problem.taken(order[:2])[order[:2]]], order[2:]

    def asked():
        fits = problem.fitting(kinds_taken, others)
        beside = others[fits]
        may = np.ones((len(beside), len(beside)), dtype=bool)
        pairs = problem.fitting_pairs(kinds_taken, beside, may)
        pairs[np.diag_indices(len(beside))] = False
        return problem.taken(order).tolist(), fits.tolist(), pairs.tolist()

    fast, alone = asked(), np.flatnonzero(problem.alone())
    first = compatible(problem, alone)
    problem.compiled = False
    assert fast == asked()
    plain = problem.fitting_pairs(order[:0], alone, np.ones((len(alone), len(alone)), dtype=bool))
    off_diagonal = ~np.eye(len(alone), dtype=bool)
    assert (first == plain)[off_diagonal].all()
    assert (first == compatible(problem, alone)).all()


@settings(max_examples=10, deadline=None)
@given(baskets, st.integers(2, 4), st.integers(2, 6))
def test_people_with_several_baskets_are_counted_once(lists, k, n_people):
    people = [f"p{row % n_people}" for row in range(len(lists))]
    frame = {item: [item in basket for basket in lists] for item in ITEMS} | {"who": people}
    options = {"min_support": 2, "min_confidence": 0.5, "person": "who", "merge": False}
    miner = AnonymousRules(privacy=k, public_items=PUBLIC, **options)
    try:
        release = miner.fit(frame).release_
    except PromiseError:
        return
    rules = [(frozenset(rule.antecedent), frozenset(rule.consequent)) for rule in release.rules]
    spans = [span(rules, basket) for basket in lists]
    for each in set(spans):
        assert len(each) == 1 or len({who for who, own in zip(people, spans, strict=True) if own == each}) >= k
    for rule, (before, after) in zip(release.rules, rules, strict=True):
        having = {who for who, basket in zip(people, lists, strict=True) if before | after <= basket}
        assert rule.people == len(having)
    assert audit(release, frame, person="who").holds


def test_the_rules_are_those_of_mlxtend(shoal_data):
    from mlxtend.frequent_patterns import association_rules, fpgrowth

    long = pd.read_csv(shoal_data / "groceries_long.csv")
    wide = pd.crosstab(long["transaction_id"], long["item"]).astype(bool)
    theirs = Rules.from_frame(
        association_rules(fpgrowth(wide, min_support=0.003, use_colnames=True), min_threshold=0.2)
    )
    private = {"napkins", "hygiene articles", "dental care"}
    counter = Counter(read_transactions(long), None)
    public = [item for item in wide.columns if item not in private]
    ours = mine(counter, public, int(np.ceil(0.003 * len(wide))), 0.2)
    assert {(rule.antecedent, rule.consequent) for rule in ours} == {
        (rule.antecedent, rule.consequent) for rule in theirs.with_private(public)
    }
    assert len(ours) > 50
