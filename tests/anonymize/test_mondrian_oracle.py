# SPDX-License-Identifier: Apache-2.0
"""Strict and relaxed Mondrian on tiny tables, held against the definitions by trying everything.

Nothing here is shared with the library but the requirements: regions are read from the release, cuts are enumerated.
"""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal import KAnonymity
from shoal.anonymize import Mondrian
from shoal.errors import PromiseError
from shoal.privacy import Closeness, DistinctDiversity, EntropyDiversity, RecursiveDiversity, SimpleDiversity

TREE = {"*": {"north": ["A", "B"], "south": {"far": ["C"], "near": ["D", "E"]}}}
NODES = {"ABCDE": ["AB", "CDE"], "AB": ["A", "B"], "CDE": ["C", "DE"], "DE": ["D", "E"]}  # and their children
NAMES = ["age", "town", "visits"]
AGE, TOWN, VISITS, ILL = range(4)
REQUIREMENTS = [
    KAnonymity(2),
    KAnonymity(3),
    DistinctDiversity(2),
    EntropyDiversity(1.5),
    SimpleDiversity(1.4),
    RecursiveDiversity(2.0, 2),
    Closeness(0.3),
    KAnonymity(3) & DistinctDiversity(2),
]
age = st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, math.inf])  # infinite: missing
row = st.tuples(age, st.sampled_from("ABCDE"), st.integers(0, 3), st.sampled_from("xyz"))
tables = st.lists(row, min_size=4, max_size=24)


def frame(rows, names=(*NAMES, "ill")):
    table = pd.DataFrame(rows, columns=list(names))
    return table.assign(age=table["age"].replace(math.inf, math.nan).astype(float))


def fit(rows, requirement, **options):
    """A fitted anonymiser, what it says of each row, and the groups of rows of which it says the same."""
    mondrian = Mondrian(
        requirement,
        domain={"town": list("ABCDE"), "age": [0, 6]},
        hierarchies={"town": TREE},
        reproducible=True,
        **options,
    )
    try:
        out = mondrian.fit_transform(frame(rows), "ill")
    except PromiseError:
        assume(False)  # not even everybody together keeps the requirement
    said = labels(out)
    groups = {}
    for i, each in enumerate(said):
        groups.setdefault(each, []).append(i)
    return mondrian, said, groups


def labels(out):
    return list(zip(*(out[name].fillna("").tolist() for name in NAMES), strict=True))


def keeps(requirement, rows, some):
    """Whether some rows keep a requirement, counting their values one by one."""
    ills = [row[ILL] for row in rows]
    own = [ills[i] for i in some]
    kinds = sorted(set(ills))
    counts, total = ([each.count(kind) for kind in kinds] for each in (own, ills))
    return bool(requirement.holds(np.array([counts]), np.array(total))[0])


def stands_for(cell, value):
    """Whether a published cell stands for a value."""
    if cell.is_all:
        return True
    if value == math.inf:
        return cell.missing
    if isinstance(value, str):
        return value in cell.values
    above = [-math.inf if each.above is None else each.above for each in cell.intervals]
    at_most = [math.inf if each.at_most is None else each.at_most for each in cell.intervals]
    return any(low < value <= high for low, high in zip(above, at_most, strict=True))


def meanings(release):
    return [{cell.label: cell for cell in release.generalised[name]} for name in NAMES]


def allowed_cuts(requirement, rows, some, town):
    """Every cut of some rows, those of a region with a node of the tree, that leaves all parts kept."""
    for c in (AGE, VISITS):
        for cut in sorted({rows[i][c] for i in some})[:-1]:
            parts = [[i for i in some if (rows[i][c] <= cut) == side] for side in (True, False)]
            if all(keeps(requirement, rows, part) for part in parts):
                yield c, cut
    parts = [[i for i in some if rows[i][TOWN] in child] for child in NODES.get(town, ())]
    if parts and all(keeps(requirement, rows, part) for part in parts if part):
        yield TOWN, town


@settings(max_examples=120)
@given(tables, st.sampled_from(REQUIREMENTS), st.sampled_from(["width", "gain"]))
def test_strict_regions_keep_the_promise_partition_the_domain_and_cannot_be_cut(rows, requirement, criterion):
    mondrian, _, groups = fit(rows, requirement, criterion=criterion)
    cells = meanings(mondrian.release_)
    regions = {}
    for said, group in groups.items():
        assert keeps(requirement, rows, group)
        regions[said] = [of[label] for of, label in zip(cells, said, strict=True)]
        assert all(stands_for(*pair) for i in group for pair in zip(regions[said], rows[i], strict=False))
        town = "".join(regions[said][TOWN].values) or "ABCDE"
        assert list(allowed_cuts(requirement, rows, group, town)) == []
    # every point of the domain is in at most one published region, and the recoding of new rows finds that one
    between = [] if mondrian.release_.attribute("age").integer else [0.5, 3.5]  # no ages where all are whole
    ages = [0.0, 2.0, 3.0, 6.0, *between, *([math.inf] if any(row[AGE] == math.inf for row in rows) else [])]
    points = list(itertools.product(ages, "ABCDE", range(4)))
    found = labels(mondrian.transform(frame(points, NAMES)))
    for point, label in zip(points, found, strict=True):
        inside = [said for said, region in regions.items() if all(map(stands_for, region, point))]
        assert inside == [label] if label in regions else inside == []


@settings(max_examples=40)
@given(tables, st.sampled_from(REQUIREMENTS), st.randoms(use_true_random=False))
def test_strict_mondrian_is_a_function_of_values(rows, requirement, random):
    mondrian, said, _ = fit(rows, requirement)
    assert labels(mondrian.transform(frame(rows).drop(columns="ill"))) == said
    order = random.sample(range(len(rows)), len(rows))
    assert fit([rows[i] for i in order], requirement)[1] == [said[i] for i in order]


@settings(max_examples=80)
@given(tables, st.sampled_from(REQUIREMENTS))
def test_relaxed_groups_keep_the_promise_and_stand_for_their_rows(rows, requirement):
    mondrian, said, groups = fit(rows, requirement, relaxed=True)
    cells = meanings(mondrian.release_)
    assert all(keeps(requirement, rows, group) for group in groups.values())
    for row, labels_of_row in zip(rows, said, strict=True):
        assert all(stands_for(of[label], value) for of, label, value in zip(cells, labels_of_row, row, strict=False))


@settings(max_examples=50)
@given(st.lists(st.integers(0, 10**6), min_size=6, max_size=60, unique=True), st.integers(2, 6))
def test_relaxed_groups_of_different_numbers_have_from_k_to_2k_minus_1_people(numbers, k):
    sizes = Mondrian(k, relaxed=True).fit_transform(pd.DataFrame({"x": numbers}))["x"].value_counts()
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


@given(st.integers(2, 5), st.integers(1, 8), st.integers(1, 8))
def test_relaxed_cuts_share_out_people_at_the_median(k, low, high):
    """Ties: strict cuts cannot be even, relaxed ones are, so that no group could be cut again."""
    numbers = [1] * low + [2] * (4 * k) + [3] * high
    relaxed = Mondrian(k, relaxed=True).fit_transform(pd.DataFrame({"x": numbers}))["x"]
    assert relaxed.value_counts().min() >= k
    for label, rows in pd.Series(numbers).groupby(relaxed):
        # only regions that are one number wide, or came to say the same, are larger than two groups need be
        assert len(rows) < 2 * k or rows.nunique() == 1, label


def bits(rows, some):
    ills = [rows[i][ILL] for i in some]
    return sum(-math.log2(ills.count(ill) / len(ills)) for ill in ills)


@settings(max_examples=60)
@given(tables, st.integers(2, 4))
def test_the_first_cut_by_gain_is_the_best_that_is_allowed(rows, k):
    """With so large a k that no part can be cut again, what is gained in all is what the first cut gains."""
    rows = rows[: 3 * k - 1]
    assume(len(rows) >= k)
    _, _, groups = fit(rows, KAnonymity(k), criterion="gain")
    everybody = range(len(rows))
    parts = [
        [[i for i in everybody if (rows[i][c] <= cut) == side] for side in (True, False)]
        for c in (AGE, VISITS)
        for cut in {row[c] for row in rows}
    ]
    parts.append([[i for i in everybody if rows[i][TOWN] in child] for child in NODES["ABCDE"]])
    fine = [some for some in parts if all(len(part) >= k for part in some)]
    best = min((sum(bits(rows, part) for part in some) for some in fine), default=bits(rows, everybody))
    assert sum(bits(rows, group) for group in groups.values()) <= best + 1e-5


several = st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 7), st.sampled_from("xy"))


@settings(max_examples=60)
@given(
    st.lists(several, min_size=6, max_size=24),
    st.sampled_from([2, 3, KAnonymity(2) & DistinctDiversity(2), EntropyDiversity(1.4)]),
)
def test_people_with_several_rows_are_counted_once(rows, requirement):
    table = pd.DataFrame(rows, columns=["age", "visits", "who", "ill"])
    try:
        out = Mondrian(requirement, person="who").fit_transform(table, "ill")
    except PromiseError:
        assume(False)
    for _, group in table.groupby([out["age"].fillna(""), out["visits"].fillna("")]):
        if not isinstance(requirement, int):  # the closing audit has counted values
            assert group["who"].nunique() >= 2
            continue
        assert group["who"].nunique() >= requirement
        for name in ("age", "visits"):  # no cut was left that has enough people on both sides
            for cut in sorted(set(group[name]))[:-1]:
                low = group[name] <= cut
                assert min(group["who"][low].nunique(), group["who"][~low].nunique()) < requirement


class Even:
    """Groups of an even number of people; it says of itself that it is not monotone."""

    monotone = False
    needs_values = False
    least_people = 2

    def holds(self, counts, total=None):
        return counts.sum(axis=1) % 2 == 0

    def describe(self):
        return "every group has an even number of people"


def test_a_requirement_that_is_not_monotone_holds_in_every_group():
    table = pd.DataFrame({"x": [1, 2, 3, 4, 5, 5, 6, 7], "ill": list("xyxyxyxy")})
    assert Mondrian(Even()).fit_transform(table, "ill")["x"].value_counts().tolist() == [2, 2, 2, 2]
    with pytest.raises(ValueError, match="two groups together"):
        Mondrian(Even(), relaxed=True).fit(table, "ill")
