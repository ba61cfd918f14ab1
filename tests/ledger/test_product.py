# SPDX-License-Identifier: Apache-2.0
"""Joint spans are those of Definition 5, taken of tuples of bins and enumerated over the whole domain."""

import itertools
from collections.abc import Collection
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import oracle
from shoal import to_table
from shoal.audit.groups import Ids, Spans
from shoal.audit.subject import Subject
from shoal.audit.together.joint import audit_together
from shoal.audit.together.product import Product
from shoal.audit.together.subjects import as_subject
from shoal.data.table import Table
from shoal.release import Attribute
from shoal.release.parse import parse_tree

DOMAIN: dict[str, list[Any]] = {"a": ["p", "q"], "b": ["p", "q", "r"], "c": [0, 1, 2], "d": ["p", "q"], "e": ["u", "v"]}
NARROW: dict[str, list[Any]] = {**DOMAIN, "b": ["p", "q"], "c": [0, 1]}
Row = dict[str, Any]


def attribute(name: str, public: Collection[str], domain: dict[str, list[Any]]) -> dict[str, Any]:
    role = "public" if name in public else "private"
    values = domain[name]
    if isinstance(values[0], str):
        return {"name": name, "role": role, "type": "categorical", "values": values}
    return {"name": name, "role": role, "type": "numeric", "bounds": [values[0], values[-1]], "integer": True}


@st.composite
def trees(draw: st.DrawFn, rows: list[Row], public: Collection[str], domain: dict[str, list[Any]]) -> dict[str, Any]:
    """A random tree with any column as target, as its file; a path may ask a column twice."""
    target = draw(st.sampled_from([name for name in domain if isinstance(domain[name][0], str)]))
    features = [name for name in domain if name != target]
    nodes: list[dict[str, Any]] = [{}]
    for number in range(9):
        if number >= len(nodes) or (number and draw(st.booleans())):
            continue
        name = draw(st.sampled_from(features))
        first = len(nodes)
        if isinstance(domain[name][0], str):
            cut = draw(st.integers(1, len(domain[name]) - 1))
            ways: list[dict[str, Any]] = [{"values": domain[name][:cut]}, {"values": domain[name][cut:]}]
        else:
            cut = draw(st.sampled_from([0.5, 1.5]))
            ways = [{"at_most": cut}, {"above": cut}]
        nodes[number] = {"attribute": name, "branches": [{**way, "node": first + i} for i, way in enumerate(ways)]}
        nodes += [{}, {}]
    body: dict[str, Any] = {
        "format": "shoal-release/1",
        "kind": "tree",
        "target": target,
        "attributes": [attribute(name, public, domain) for name in domain],
        "claims": [{"requirement": "k-anonymity", "k": draw(st.integers(1, 4))}],
        "nodes": nodes,
    }
    ends = [oracle.model(body, row) for row in rows]
    for number, node in enumerate(nodes):
        if not node:
            node["counts"] = {value: ends.count((number, value)) for value in domain[target]}
    return body


@st.composite
def several(draw: st.DrawFn, both: bool = False) -> tuple[list[Row], set[str], list[dict[str, Any]]]:
    """People, what an attacker knows, and two or three trees; where `both`, some of these state a narrower domain."""
    person = st.fixed_dictionaries({name: st.sampled_from(v) for name, v in (NARROW if both else DOMAIN).items()})
    rows = draw(st.lists(person, min_size=1, max_size=14))
    public = draw(st.sets(st.sampled_from(list(DOMAIN))))
    domains = [draw(st.sampled_from([DOMAIN, NARROW] if both else [DOMAIN])) for _ in range(draw(st.integers(2, 3)))]
    return rows, public, [draw(trees(rows, public, domain)) for domain in domains]


def joint_span(
    bodies: list[dict[str, Any]], row: Row, public: set[str], domain: dict[str, list[Any]] = DOMAIN
) -> frozenset[Any]:
    """All tuples of bins that private values can lead to, targets included."""
    hidden = [name for name in DOMAIN if name not in public]
    guesses = itertools.product(*(domain[name] for name in hidden))
    rows = ({**row, **dict(zip(hidden, guess, strict=True))} for guess in guesses)
    return frozenset(tuple(oracle.model(body, each) for body in bodies) for each in rows)


def table_of(rows: list[Row]) -> Table:
    return to_table({name: [row[name] for row in rows] for name in DOMAIN})


def partition(keys: Collection[Any]) -> set[frozenset[int]]:
    found: dict[Any, set[int]] = {}
    for i, key in enumerate(keys):
        found.setdefault(key, set()).add(i)
    return {frozenset(each) for each in found.values()}


@given(several())
@settings(max_examples=100)
def test_joint_groups_are_those_of_the_definition(case):
    rows, public, bodies = case
    subjects = [as_subject(parse_tree(body)) for body in bodies]
    product = Product(subjects, table_of(rows), public, [None] * len(subjects))
    everything = range(len(subjects))
    spans = product.spans(everything)
    expected = [joint_span(bodies, row, public) for row in rows]
    assert product.exact(everything)
    assert partition(spans.of_row.tolist()) == partition(expected)
    assert (spans.n_bins[spans.of_row] == 1).tolist() == [len(each) == 1 for each in expected]
    # who tells nothing private: every span is a single bin
    constant = [all(len(joint_span([body], row, public)) == 1 for row in rows) for body in bodies]
    assert product.telling == [i for i, each in enumerate(constant) if not each]


@given(several())
@settings(max_examples=100)
def test_the_verdict_is_claim_3_of_the_product(case):
    rows, public, bodies = case
    verdict = audit_together([as_subject(parse_tree(body)) for body in bodies], table_of(rows))
    telling = [b for b in bodies if any(len(joint_span([b], row, public)) > 1 for row in rows)]
    k = max((body["claims"][0]["k"] for body in telling), default=1)

    def holds(chosen: list[dict[str, Any]]) -> bool:
        spans = [joint_span(chosen, row, public) for row in rows]
        return all(spans.count(each) >= k or len(each) == 1 for each in spans)

    assert verdict.holds == holds(telling)
    assert verdict.verdict == ("holds" if verdict.holds else "not proven")
    if not verdict.holds:
        named = [bodies[number - 1] for number in verdict.pair]
        assert not holds(named)
        for fewer in itertools.combinations(named, len(named) - 1):
            assert not fewer or holds(list(fewer))


@given(several(both=True))
@settings(max_examples=100)
def test_releases_that_state_different_domains_are_grouped_finely_enough(case):
    """The joint claim is about values that all releases call possible."""
    rows, public, bodies = case
    subjects = [as_subject(parse_tree(body)) for body in bodies]
    product = Product(subjects, table_of(rows), public, [None] * len(subjects))
    everything = range(len(subjects))
    stated = [{each["name"]: oracle.domain(body, each) for each in body["attributes"]} for body in bodies]
    common = {name: [value for value in DOMAIN[name] if all(value in each[name] for each in stated)] for name in DOMAIN}
    ours = partition(product.spans(everything).of_row.tolist())
    theirs = partition([joint_span(bodies, row, public, common) for row in rows])
    assert all(any(group <= other for other in theirs) for group in ours)
    if product.exact(everything):
        assert ours == theirs


class Score(Subject):
    """Whether a weighted sum of numbers exceeds a threshold: a test of several columns at once."""

    what, exact, separable, sha256 = "a score", True, False, "0"

    def __init__(self, weights: dict[str, int], threshold: int) -> None:
        self.weights, self.threshold = weights, threshold
        self.domain = {name: Attribute(name, "private", "numeric", bounds=(0, 2), integer=True) for name in weights}

    def of(self, row: Row) -> bool:
        return sum(weight * row[name] for name, weight in self.weights.items()) > self.threshold

    def span(self, row: Row, public: Collection[str]) -> frozenset[bool]:
        hidden = [name for name in self.weights if name not in public]
        values = itertools.product(range(3), repeat=len(hidden))
        return frozenset(self.of({**row, **dict(zip(hidden, each, strict=True))}) for each in values)

    def bins(self, table: Table) -> Ids:
        raise NotImplementedError

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        rows = [{n: table[n].numbers[table[n].codes[i]] for n in self.weights} for i in range(table.n_rows)]
        found = [self.span(row, public) for row in rows]
        order = {each: i for i, each in enumerate(dict.fromkeys(found))}
        keys = np.array([order[each] for each in found])
        return Spans.numbered(keys, np.array([len(each) == 1 for each in found]), disjoint=False)


NUMBERS = ["v", "w", "x", "y"]


@given(
    rows=st.lists(st.fixed_dictionaries({n: st.integers(0, 2) for n in NUMBERS}), min_size=1, max_size=16),
    public=st.sets(st.sampled_from(NUMBERS)),
    scores=st.lists(
        st.tuples(st.dictionaries(st.sampled_from(NUMBERS), st.integers(-2, 2), min_size=1), st.integers(-3, 4)),
        min_size=2,
        max_size=3,
    ),
)
@settings(max_examples=100)
def test_tests_of_several_columns_are_grouped_more_finely_or_exactly(rows, public, scores):
    subjects = [Score(weights, threshold) for weights, threshold in scores]
    table = to_table({name: [row[name] for row in rows] for name in NUMBERS})
    product = Product(subjects, table, public, [None] * len(subjects))
    everything = range(len(subjects))
    spans = product.spans(everything)
    hidden = [name for name in NUMBERS if name not in public]
    expected = []
    for row in rows:
        guesses = [
            {**row, **dict(zip(hidden, g, strict=True))} for g in itertools.product(range(3), repeat=len(hidden))
        ]
        expected.append(frozenset(tuple(subject.of(each) for subject in subjects) for each in guesses))
    ours, theirs = partition(spans.of_row.tolist()), partition(expected)
    assert all(any(group <= other for other in theirs) for group in ours)
    if product.exact(everything):
        assert ours == theirs
    assert (spans.n_bins[spans.of_row] == 1).tolist() == [len(each) == 1 for each in expected]


def test_spans_alone_do_not_tell_what_scores_do_together():
    """Both people have the same span in each score; one private number decides both, so the pairs differ."""
    subjects = [Score({"v": 1, "x": 1}, 2), Score({"x": 1}, 1)]
    table = to_table({"v": [1, 2], "x": [0, 0]})
    for subject in subjects:
        assert len(subject.spans(table, {"v"})) == 1
    product = Product(subjects, table, {"v"}, [None, None])
    assert not product.exact([0, 1])
    assert len(product.spans([0, 1])) == 2
