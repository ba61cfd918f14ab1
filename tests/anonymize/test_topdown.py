# SPDX-License-Identifier: Apache-2.0
"""TDS and TDR against an example worked by hand and against a greedy that recounts everything at every step."""

import math
import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal import Confidence, KAnonymity, audit
from shoal.anonymize import TopDownRefinement, TopDownSpecialization
from shoal.errors import DataError, PromiseError
from shoal.privacy import (
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
    SimpleDiversity,
)

# the people of the paper's introduction: education, sex, hours a week, how many are of class Y and of class N
WORKERS = [
    ("9th", "M", 30, 0, 3),
    ("10th", "M", 32, 0, 4),
    ("11th", "M", 35, 2, 3),
    ("12th", "F", 37, 3, 1),
    ("Bachelors", "F", 42, 4, 2),
    ("Bachelors", "F", 44, 4, 0),
    ("Masters", "M", 44, 4, 0),
    ("Masters", "F", 44, 3, 0),
    ("Doctorate", "F", 44, 1, 0),
]
EDUCATION = {
    "*": {
        "Secondary": {"Junior": ["9th", "10th"], "Senior": ["11th", "12th"]},
        "University": {"Bachelors degree": ["Bachelors"], "Grad school": ["Masters", "Doctorate"]},
    }
}


@pytest.fixture
def workers():
    rows = [(*row[:3], label) for row in WORKERS for label, n in zip("YN", row[3:], strict=True) for _ in range(n)]
    return pd.DataFrame(rows, columns=["education", "sex", "hours", "class"])


def test_each_score_of_the_worked_example(workers):
    """All 34 people at first (21 Y, 13 N, 0.9597 bits); gains and losses are worked out by hand.

    First: education 16 (5 Y) + 18 (16 Y), 0.2716 bits, loses 34 - 16 = 18, 0.0151; sex 16 (6 Y) + 18 (15 Y), 0.1664,
    loses 18, 0.0092; hours at most 35 or more: 12 (2 Y) + 22 (19 Y), 0.3585, loses 22, 0.0163: the best.
    """
    tds = TopDownSpecialization(4, hierarchies={"education": EDUCATION}, reproducible=True).fit(workers, "class")
    expected = [
        ("hours", "*", {"<=36", ">=37"}, 0.3585, 22, 0.3585 / 22),
        # 10 (7 Y) + 12 (all Y); the smallest group had 12
        ("hours", ">=37", {"37-43", ">=44"}, 0.1740, 2, 0.1740 / 2),
        # 7 (all N) + 5 (2 Y); the smallest had 10
        ("hours", "<=36", {"<=33", "34-36"}, 0.2454, 5, 0.2454 / 5),
        # the smallest had 5, and now the 4 of 12th grade are a group
        ("education", "*", {"Secondary", "University"}, 0.2716, 1, 0.2716),
        # from here on nothing is lost, so gains are scores: 7 (all N) + 9 (5 Y)
        ("education", "Secondary", {"Junior", "Senior"}, 0.3385, 0, 0.3385),
        ("sex", "*", {"F", "M"}, 0.1664, 0, 0.1664),
        # 10 (8 Y) + 8 (all Y)
        ("education", "University", {"Bachelors degree", "Grad school"}, 0.1022, 0, 0.1022),
        # 5 (2 Y) + 4 (3 Y)
        ("education", "Senior", {"11th", "12th"}, 0.0911, 0, 0.0911),
        # 4 (3 Y) + 6 (4 Y)
        ("hours", "37-43", {"37-40", "41-43"}, 0.0058, 0, 0.0058),
    ]
    assert [(s.column, s.value, set(s.into), s.loss) for s in tds.steps_] == [(*e[:3], e[4]) for e in expected]
    for step, (*_, gain, _, score) in zip(tds.steps_, expected, strict=True):
        assert step.gain == pytest.approx(gain, abs=6e-5)
        assert step.score == pytest.approx(score, abs=6e-5)
    # junior school and grad school are of one class each: refining them further would not tell anything
    assert tds.release_.verdict.smallest_group == 4
    assert {value.label for value in tds.release_.generalised["education"]} == {
        "Junior",
        "11th",
        "12th",
        "Bachelors",
        "Grad school",
    }
    assert tds.made_hierarchies_ == {
        "sex": "each value, or *",
        "hours": "cut in two where it tells most about the target, again and again",
    }


def test_refinement_tells_one_value_at_a_time(workers):
    """Without a taxonomy. First Masters: 7 (all Y) and 27 others (14 Y), 0.1664 bits, loses 34 - 7, 0.1664 / 28.

    10th tells more, 0.1821 bits (4, all N, and 30 others, 21 Y), but loses 30: 0.1821 / 31 is less. In the end 12th
    cannot be told, though 4 people have it, because one Doctorate would be left alone.
    """
    tdr = TopDownRefinement(3, public=["education"], domain={"sex": list("FM"), "hours": (30, 44)})
    tdr.fit(workers, "class")
    assert [(s.value, s.into[0], s.into[1], s.loss) for s in tdr.steps_] == [
        ("*", "Masters", "(other)", 27),
        ("(other)", "Bachelors", "(other)", 0),  # 10 (8 Y) of 27
        ("(other)", "10th", "(other)", 3),  # 4 (all N) of 17 (6 Y)
        ("(other)", "9th", "(other)", 1),  # 3 (all N) of 13 (6 Y)
        ("(other)", "11th", "(other)", 0),  # 5 (2 Y) of 10 (6 Y)
    ]
    gains = [0.1664, 0.1419, 0.1752, 0.2488, 0.1245]
    assert [step.gain for step in tdr.steps_] == pytest.approx(gains, abs=6e-5)
    losses = [27, 0, 3, 1, 0]
    scores = [gain / (loss + 1) for gain, loss in zip(gains, losses, strict=True)]
    assert [step.score for step in tdr.steps_] == pytest.approx(scores, abs=6e-5)
    cells = {cell.label: cell.values for cell in tdr.release_.generalised["education"]}
    assert cells["(other)"] == ("12th", "Doctorate")
    assert tdr.made_hierarchies_ == {"education": "kept back, and told value by value"}


# --- a naive twin: every number from the rows, at every step ---

TAXONOMY = {"P": ["p1", "p2"], "Q": ["R", "S"], "R": ["r1", "r2"], "S": [], "*": ["P", "Q"]}
SPEC = {"*": {"P": ["p1", "p2"], "Q": {"R": ["r1", "r2"], "S": ["s"]}}}
LEAVES = {"S": ["s"], "Q": ["r1", "r2", "s"], "*": ["p1", "p2", "r1", "r2", "s"]}
GRID = {(): (4,), (4,): (2, 4, 6)}  # cuts of a level -> those of the next
DIGITS = range(10)


@dataclass
class Value:
    """A value of the cut: what it is called (of categories), which raw values it has, and what it can become."""

    name: str
    members: frozenset
    ways: list  # lists of Values


def taxonomy(name):
    members = frozenset(LEAVES.get(name, TAXONOMY.get(name) or [name]))
    children = TAXONOMY.get(name, [])
    return Value(name, members, [[taxonomy(child) for child in children]] if children else [])


def digits(present, cuts=(), low=-1, high=9):
    """Numbers by a hierarchy of cuts."""
    members = frozenset(v for v in present if v is not None and low < v <= high)
    finer = GRID.get(cuts)
    ends = [low, *[cut for cut in finer or () if low < cut < high], high]
    if finer is None or len(ends) == 2:
        return Value("", members, [])
    return Value("", members, [[digits(present, finer, a, b) for a, b in pairwise(ends)]])


def with_missing(value, present):
    """The root of numbers, of which some are missing: these come apart at once."""
    if None not in present:
        return value
    parts = value.ways[0] if value.ways else [value]
    return Value("", frozenset(present), [[*parts, Value("", frozenset([None]), [])]])


def n_people(rows):
    return len({row["who"] for row in rows})


def shares(rows):
    return [sum(row["class"] == label for row in rows) / len(rows) for label in "YN"]


def entropy(rows):
    return -sum(p * math.log2(p) for p in shares(rows) if p > 0) if rows else 0.0


class Naive:
    def __init__(self, rows, keeps, more, kept_back):
        self.rows, self.keeps, self.more, self.kept_back = rows, keeps, more, kept_back
        numbers, others = ({row[name] for row in rows} for name in "nm")
        free = Value("", frozenset(numbers - {None}), [])
        flat = [[Value(v, frozenset(v), []) for v in "wxyz"]]
        self.cut = {
            "a": [taxonomy("*")],
            "b": [Value("*", frozenset("wxyz"), [] if kept_back else flat)],
            "n": [with_missing(free, numbers)],
            "m": [with_missing(digits(others), others)],
        }

    def having(self, column, members):
        return [row for row in self.rows if row[column] in members]

    def gain(self, column, value, parts):
        whole = self.having(column, value.members)
        each = [self.having(column, part.members) for part in parts]
        return entropy(whole) - sum(len(rows) / len(whole) * entropy(rows) for rows in each)

    def ways(self, column, value):
        """All that a value can become."""
        rows = self.having(column, value.members)
        if len({row["class"] for row in rows}) < 2:
            return []
        there = sorted({row[column] for row in rows} - {None})
        if column == "n" and not value.ways:
            cuts = [
                [Value("", frozenset(there[:i]), []), Value("", frozenset(there[i:]), [])] for i in range(1, len(there))
            ]
            gains = [self.gain(column, value, parts) for parts in cuts]
            return [next(parts for parts, g in zip(cuts, gains, strict=True) if g >= max(gains) - 1e-9)] if cuts else []
        if column == "b" and self.kept_back and value.name in ("*", "(other)") and len(value.members) > 1:
            return [[Value(v, frozenset(v), []), Value("(other)", value.members - {v}, [])] for v in there]
        return value.ways

    def groups(self, cut):
        """The rows of each group."""
        number = {c: {v: i for i, value in enumerate(cut[c]) for v in value.members} for c in "abnm"}
        found = {}
        for row in self.rows:
            found.setdefault(tuple(number[c][row[c]] for c in "abnm"), []).append(row)
        return list(found.values())

    def smallest(self, groups):
        return min(map(n_people, groups))

    def candidates(self):
        before = self.smallest(self.groups(self.cut))
        found = []
        for column, values in self.cut.items():
            for value in values:
                for parts in self.ways(column, value):
                    after = {**self.cut, column: [v for v in values if v is not value] + parts}
                    groups = self.groups(after)
                    if not all(self.keeps(group) for group in groups):
                        continue
                    gain, loss = self.gain(column, value, parts), before - self.smallest(groups)
                    score = gain / (loss + 1) if self.more else gain / loss if loss else gain
                    found.append((column, value, parts, gain, loss, score, after))
        return found


def said(column, label, present):
    """What a label means: a name, or which of the numbers that are there."""
    if column in "ab":
        return label
    if label in ("", "(missing)"):
        return frozenset([None])
    if label in ("*", "any number"):
        return frozenset(v for v in present if v is not None or label == "*")
    ends = re.fullmatch(r"(?:<=(\d+)|>=(\d+)|(\d+)-(\d+)|(\d+))", label).groups()
    low = next((int(end) for end in (ends[1], ends[2], ends[4]) if end is not None), 0)
    high = next((int(end) for end in (ends[0], ends[3], ends[4]) if end is not None), 9)
    return frozenset(v for v in present if v is not None and low <= v <= high)


def named(column, value):
    return value.name if column in "ab" else value.members


REQUIREMENTS = {
    "2 people": (2, lambda rows: n_people(rows) >= 2),
    "3 people": (3, lambda rows: n_people(rows) >= 3),
    "both classes": (
        KAnonymity(2) & DistinctDiversity(2),
        lambda rows: n_people(rows) >= 2 and len({row["class"] for row in rows}) == 2,
    ),
    "entropy": (EntropyDiversity(1.5), lambda rows: entropy(rows) >= math.log2(1.5) - 1e-12),
    "confidence": (Confidence(0.8), lambda rows: max(shares(rows)) <= 0.8 + 1e-12),
}

ROW = st.tuples(
    st.sampled_from(LEAVES["*"]),
    st.sampled_from("xyz"),
    st.one_of(st.integers(0, 9), st.sampled_from([1, 2, 8])),
    st.integers(0, 9),
    st.sampled_from("YN"),
    st.integers(0, 9),
)
TABLES = st.builds(
    lambda rows, missing, several: (rows, missing, several),
    st.lists(ROW, min_size=4, max_size=14),
    st.sets(st.tuples(st.integers(0, 13), st.sampled_from("nm")), max_size=3),
    st.booleans(),
)


def rows_of(table, names):
    cells, missing, several = table
    rows = [dict(zip(["a", "b", "n", "m", "class", "who"], each, strict=True)) for each in cells]
    for i, row in enumerate(rows):
        row["row"] = i
        if not several or "people" not in names:  # one with several classes is counted in a way of its own
            row["who"] = i
        row |= {name: None for place, name in missing if place == i}
    return rows


@pytest.mark.parametrize("method", [TopDownSpecialization, TopDownRefinement])
@pytest.mark.parametrize("names", REQUIREMENTS)
@settings(max_examples=30)
@given(table=TABLES)
@example(table=([("p1", "x", 1, 1, "Y", 0), ("p1", "x", 1, 1, "N", 1), ("s", "y", 1, 9, "Y", 2)] * 2, set(), False))
def test_the_same_steps_as_a_greedy_that_recounts_everything(method, names, table):
    rows = rows_of(table, names)
    requirement, keeps = REQUIREMENTS[names]
    kept_back = method is TopDownRefinement
    hierarchies = {"a": SPEC, "m": {"cuts": [[2, 4, 6], [4]]}} | ({} if kept_back else {"b": list("wxyz")})
    domain = {"m": (0, 9), "b": list("wxyz"), "class": ["N", "Y"]}
    fitted = method(requirement, hierarchies=hierarchies, domain=domain, person="who", reproducible=True)
    naive = Naive(rows, keeps, fitted._more, kept_back)
    frame = pd.DataFrame(rows).drop(columns="row").astype({"n": float, "m": float})
    if not keeps(rows):
        with pytest.raises(PromiseError):
            fitted.fit(frame, "class")
        return
    out = fitted.fit_transform(frame, "class")
    for step in fitted.steps_:
        found = naive.candidates()
        present = {row[step.column] for row in rows}
        value = said(step.column, step.value, present)
        into = {said(step.column, label, present) for label in step.into} - {frozenset()}
        (own,) = [
            each
            for each in found
            if each[0] == step.column
            and named(step.column, each[1]) == value
            and {named(step.column, part) for part in each[2]} - {frozenset()} == into
        ]
        assert (step.gain, step.score) == pytest.approx((own[3], own[5]), abs=1e-6)
        assert step.loss == own[4]
        assert own[5] >= max(candidate[5] for candidate in found) - 1e-6
        naive.cut = own[6]
    assert naive.candidates() == []  # nothing that could be told is kept back
    published = out.groupby(["a", "b", "n", "m"], dropna=False).groups.values()
    expected = {frozenset(row["row"] for row in group) for group in naive.groups(naive.cut)}
    assert {frozenset(index) for index in published} == expected
    assert audit(fitted.release_, frame, person="who").holds


# --- every requirement, people with several rows, missing values ---


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "town": rng.choice(["A", "B", "C", "D", "E"], n, p=[0.4, 0.3, 0.2, 0.06, 0.04]),
            "job": rng.choice(["j1", "j2", "j3"], n),
            "illness": rng.choice(["none", "flu", "rare"], n, p=[0.5, 0.4, 0.1]),
            "who": rng.integers(0, 300, n),
        }
    )
    risk = (frame["age"] > 50).astype(int) + (frame["town"] == "A") + rng.integers(0, 2, n)
    frame["ill"] = np.where(risk > 1, "yes", "no")
    frame.loc[rng.choice(n, 40, replace=False), "age"] = np.nan
    frame.loc[rng.choice(n, 30, replace=False), "town"] = None
    return frame


SERVED = [
    KAnonymity(5),
    DistinctDiversity(3),
    EntropyDiversity(1.6),
    SimpleDiversity(1.2),
    RecursiveDiversity(4, 2),
    Closeness(0.4),
    Confidence(0.9),
    KAnonymity(10) & Closeness(0.45) & DistinctDiversity(2),
]


@pytest.mark.parametrize("method", [TopDownSpecialization, TopDownRefinement])
@pytest.mark.parametrize("person", [None, "who"])
@pytest.mark.parametrize("requirement", SERVED, ids=lambda r: r.describe())
def test_every_requirement_is_served(people, method, person, requirement):
    rows = people if person else people.drop(columns="who")
    if requirement == DistinctDiversity(3):
        rows = rows.rename(columns={"ill": "illness", "illness": "ill"})  # one with three classes
    fitted = method(
        requirement,
        public=["age", "town", "job"],
        sensitive=["illness"] if "ill" in rows and rows["ill"].nunique() == 2 else [],
        domain={"illness": sorted(rows["illness"].unique())},
        person=person,
    ).fit(rows, "ill")
    assert fitted.steps_  # not everything is *
    verdict = audit(fitted.release_, rows, person=person)
    assert verdict.holds
    assert fitted.release_.n_rows == len(rows)


@pytest.mark.parametrize("method", [TopDownSpecialization, TopDownRefinement])
def test_new_rows_are_recoded_alike(people, method):
    rows = people.drop(columns=["who", "illness"])
    fitted = method(8)
    out = fitted.fit_transform(rows, "ill")
    again = fitted.transform(rows.drop(columns="ill"))
    pd.testing.assert_frame_equal(again, out.drop(columns="ill"))
    sizes = out.groupby(["age", "town", "job"], dropna=False).size()
    assert sizes.min() >= 8
    assert len(sizes) > 1


def test_the_order_of_rows_does_not_matter(people):
    rows = people.drop(columns=["who", "illness"])
    shuffled = rows.sample(frac=1, random_state=1)
    for method in (TopDownSpecialization, TopDownRefinement):
        one, other = (method(8, reproducible=True).fit(r, "ill").release_ for r in (rows, shuffled))
        assert one.sha256 == other.sha256


def test_a_larger_k_takes_a_stop_earlier_or_elsewhere(people):
    rows = people.drop(columns=["who", "illness"])
    groups = [len(TopDownSpecialization(k).fit(rows, "ill").steps_) for k in (5, 50, 300)]
    assert groups[0] > groups[1] > groups[2]


def test_a_target_is_needed_and_a_column_of_one_value_is_no_problem(people):
    with pytest.raises(DataError, match="requires y to be passed"):
        TopDownSpecialization(5).fit(people)
    rows = people[["age", "ill"]].assign(same="x")
    fitted = TopDownRefinement(5).fit(rows, "ill")
    assert {step.column for step in fitted.steps_} == {"age"}
