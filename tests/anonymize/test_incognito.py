# SPDX-License-Identifier: Apache-2.0
"""Incognito: its minimal solutions are those of an exhaustive search, whatever is promised."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers.recoded import left_out
from helpers.requirements import REQUIREMENTS
from shoal import audit, load_sample
from shoal.anonymize import Incognito
from shoal.errors import DataError, PromiseError
from shoal.evaluate import measure_table
from shoal.privacy import KAnonymity

TREES = {
    "town": {"north": ["n1", "n2"], "south": ["s1", "s2"]},
    "job": ["x", "y", "z"],
    "age": {"young": {"child": ["c1", "c2"], "youth": ["u1"]}, "old": {"adult": ["a1", "a2"]}},
}
LEVELS = {  # what a value becomes at each level, written down again
    "town": [str, lambda value: value[0], lambda value: "*"],
    "job": [str, lambda value: "*"],
    "age": [str, lambda value: value[0], lambda value: value[0] == "a", lambda value: "*"],
}
VALUES = {"town": ["n1", "n2", "s1", "s2"], "job": ["x", "y", "z"], "age": ["c1", "c2", "u1", "a1", "a2"]}
NAMES = list(TREES)
OTHER = {"domain": {"ill": ["flu", "hiv", "no"]}}


@st.composite
def tables(draw):
    n = draw(st.integers(3, 16))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    used = {name: values[: draw(st.integers(1, len(values)))] for name, values in VALUES.items()}
    rows = {name: rng.choice(values, n) for name, values in used.items()}
    return pd.DataFrame({**rows, "who": rng.integers(0, max(2, n - 3), n), "ill": rng.choice(["flu", "hiv", "no"], n)})


def groups_at(rows, node):
    groups = {}
    for row in rows:
        groups.setdefault(tuple(LEVELS[name][level](row[name]) for name, level in node.items()), []).append(row)
    return groups


def exhaustive(table, kind, person, budget):
    """Every node that passes without another below, with its groups and those that are left out."""
    rows = table.to_dict("records")
    passing = {}
    for levels in product(*(range(len(LEVELS[name])) for name in NAMES)):
        groups = groups_at(rows, dict(zip(NAMES, levels, strict=True)))
        out = left_out(kind, groups, person)
        if sum(len(groups[name]) for name in out) <= budget:
            passing[levels] = (groups, out)
    return {
        node: found
        for node, found in passing.items()
        if not any(other != node and all(a <= b for a, b in zip(other, node, strict=True)) for other in passing)
    }


@settings(max_examples=60)
@given(tables(), st.sampled_from(list(REQUIREMENTS)), st.booleans(), st.sampled_from([0, 0, 0.2, 0.4]))
def test_minimal_solutions_are_those_of_an_exhaustive_search(table, kind, several, suppress):
    person = "who" if several else None
    if not several:
        table = table.drop(columns="who")
    method = Incognito(
        REQUIREMENTS[kind], hierarchies=TREES, person=person, suppress=suppress, reproducible=True, by="dm", **OTHER
    )
    rows = table.to_dict("records")
    if left_out(kind, {"all": rows}, person):
        with pytest.raises(PromiseError):
            method.fit(table, "ill")
        return
    expected = exhaustive(table, kind, person, int(suppress * len(table) + 1e-9))
    out = method.fit_transform(table, "ill")
    found = {tuple(solution.levels[name] for name in NAMES): solution for solution in method.solutions_}
    assert set(found) == set(expected)
    for node, (groups, outside) in expected.items():
        kept = [group for name, group in groups.items() if name not in outside]
        solution, n_out = found[node], sum(len(groups[name]) for name in outside)
        people = [len({row[person] for row in group}) if person else len(group) for group in kept]
        by_class = [pd.Series([row["ill"] for row in group]).value_counts() for group in kept]
        assert (solution.classes, solution.smallest, solution.left_out) == (len(kept), min(people), n_out)
        assert solution.dm == sum(len(group) ** 2 for group in kept) + n_out * len(rows)
        assert solution.cm == sum(int(counts.sum() - counts.max()) for counts in by_class) + n_out
    assert method.solution_.dm == min(solution.dm for solution in found.values())
    # what was published, counted again; rows come back in their order
    groups, outside = expected[tuple(method.solution_.levels[name] for name in NAMES)]
    gone = {id(row) for name in outside for row in groups[name]}
    all_rows = [row for group in groups.values() for row in group]
    assert len(out) == len(all_rows) - len(gone)
    assert len(out.groupby(NAMES)) == method.solution_.classes
    if person is None and "closeness" not in kind:
        published = {cells: [{"ill": value} for value in part["ill"]] for cells, part in out.groupby(NAMES)}
        assert not left_out(kind, published, None)


class AtMost:
    """A requirement that larger groups break."""

    monotone = False

    def holds(self, counts, total=None):
        return counts.sum(axis=1) <= 4

    def describe(self):
        return "every group has at most 4 people"


def test_a_requirement_that_is_not_monotone_is_searched_to_the_end():
    table = pd.DataFrame({"town": ["n1", "n2", "s1", "s2"], "job": ["x", "x", "y", "z"], "ill": ["no"] * 4})
    method = Incognito(AtMost() & KAnonymity(2), hierarchies={name: TREES[name] for name in ("town", "job")})
    method.set_params(domain={"ill": ["no", "yes"]}).fit(table, "ill")
    assert [dict(each.levels) for each in method.solutions_] == [{"town": 1, "job": 1}]
    # {"town": 2, "job": 0} makes groups of 2, 1 and 1


def test_rows_beyond_the_budget_are_generalised_instead():
    table = pd.DataFrame({"town": ["n1"] * 5 + ["s1"] * 4 + ["s2"], "ill": ["no", "yes"] * 5})
    options = {"hierarchies": {"town": TREES["town"]}, "reproducible": True}
    assert dict(Incognito(2, **options).fit(table, "ill").solution_.levels) == {"town": 1}
    method = Incognito(2, suppress=0.1, **options).fit(table, "ill")
    assert (dict(method.solution_.levels), method.release_.left_out) == ({"town": 0}, 1)
    assert audit(method.release_, table).holds


def test_the_measures_are_those_of_the_released_table():
    clinic = load_sample()
    people = clinic.to_arrow().select(["age", "sex", "education", "smoker", "diabetes"])
    method = Incognito(60, hierarchies={"education": clinic.hierarchies["education"]}, by="cm")
    method.fit(people, "diabetes")
    measured, solution = measure_table(method.release_), method.solution_
    assert (measured.n_groups, measured.cm, measured.dm) == (solution.classes, solution.cm, solution.dm)
    assert measured.lm == pytest.approx(solution.lm)
    assert solution.cm == min(each.cm for each in method.solutions_)


def test_missing_values_are_a_value_and_new_rows_are_recoded_alike():
    table = pd.DataFrame({"age": [20, 21, None, None, 60, 61], "town": ["n1", "n1", None, "n1", "n1", "n1"]})
    table["ill"] = ["no", "yes"] * 3
    method = Incognito(2, reproducible=True, by="dm")
    out = method.fit_transform(table, "ill")
    assert out.groupby(["age", "town"], dropna=False).size().min() >= 2
    again = method.transform(table[["age", "town"]])
    assert again.equals(out[["age", "town"]])


def test_keys_of_several_words_give_the_same_as_short_ones():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"x{i}": rng.choice(["0", "1", "2"], 400, p=[0.6, 0.35, 0.05]) for i in range(9)})
    table["ill"] = rng.choice(["no", "yes"], 400)
    solutions = []
    for n_values in (3, 400):
        trees = {f"x{i}": [str(value) for value in range(n_values)] for i in range(9)}
        found = Incognito(4, hierarchies=trees).fit(table, "ill").solutions_
        solutions.append({(tuple(each.levels.values()), each.classes, each.smallest, each.dm) for each in found})
    assert solutions[0] == solutions[1]
    assert len(solutions[0]) > 5


def test_bad_input_is_one_sentence():
    table = pd.DataFrame({"town": ["n1", "n1"], "ill": ["no", "yes"]})
    with pytest.raises(ValueError, match="by must be one of 'lm', 'dm', 'cm', 'height'"):
        Incognito(2, by="cost").fit(table, "ill")
    with pytest.raises(DataError, match="the target y is None"):
        Incognito(2, by="cm").fit(table)
    wide = pd.DataFrame({f"x{i}": np.arange(40) for i in range(16)})
    with pytest.raises(DataError, match="Incognito looks at up to 1,000,000"):
        Incognito(2).fit(wide)


def test_without_public_columns_everybody_is_one_group():
    table = pd.DataFrame({"ill": ["no", "yes"] * 3})
    method = Incognito(2, public=[]).fit(table, "ill")
    assert (method.solution_.levels, method.solution_.classes, method.solution_.smallest) == ({}, 1, 6)


@parametrize_with_checks(
    [Incognito(privacy=3, numbers="midpoints", reproducible=True)],  # texts cannot be subtracted, as checks do
)
@pytest.mark.filterwarnings("default")  # some checks warn on purpose
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)
