# SPDX-License-Identifier: Apache-2.0
"""K-Optimize: its optimum is that of all sets of cuts, tried one by one, whatever is promised."""

from dataclasses import replace
from itertools import chain, combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers.recoded import left_out
from helpers.requirements import REQUIREMENTS
from shoal import audit, load_sample
from shoal.anonymize import KOptimize
from shoal.anonymize.cut_search import CutSearch
from shoal.anonymize.k_optimize import _order_of
from shoal.anonymize.settle import make_task
from shoal.errors import DataError, PromiseError
from shoal.evaluate import measure_table
from shoal.privacy import people_behind

NAMES = ["age", "town", "job"]
CLASSES = ["flu", "hiv", "no"]


@st.composite
def tables(draw):
    n = draw(st.integers(3, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ages = rng.choice([20, 35, 90], n).astype(float)
    if draw(st.booleans()):
        ages[rng.random(n) < 0.2] = np.nan
        ages[0] = 20  # a column of nothing but missing values is no column of numbers
    rows = {"age": ages, "town": rng.choice(list("abc"), n), "job": rng.choice(["x", "y", "z"], n, p=[0.6, 0.3, 0.1])}
    return pd.DataFrame({**rows, "who": rng.integers(0, max(2, n - 3), n), "ill": rng.choice(CLASSES, n)})


def orders(table, people, person):
    """The values of each column in their order: numbers then missing; categories by the share of the first class.

    What fewer than `people` have is taken for average.
    """
    ages = sorted({age for age in table["age"] if age == age})
    found = {"age": ages + [None] * bool(table["age"].isna().any())}
    for name in ("town", "job"):
        parts = dict(list(table.groupby(name)))
        told = {value for value, part in parts.items() if (part[person].nunique() if person else len(part)) >= people}
        flu = table[table[name].isin(told)]["ill"] == "flu"
        average = flu.mean() if len(flu) else 0
        share = {value: (part["ill"] == "flu").mean() if value in told else average for value, part in parts.items()}
        found[name] = sorted(share, key=lambda value: (share[value], value))
    return found


def subsets(n):
    return chain.from_iterable(combinations(range(n), size) for size in range(n + 1))


def cheapest(table, kind, person, budget, cost):
    """The least cost of all sets of cuts."""
    rows = [{**row, "age": None if row["age"] != row["age"] else row["age"]} for row in table.to_dict("records")]
    found = orders(table, people_behind(REQUIREMENTS[kind]), person)
    places = {name: {value: i for i, value in enumerate(values)} for name, values in found.items()}
    best = None
    for cuts in product(*(subsets(len(places[name]) - 1) for name in NAMES)):
        groups = {}
        for row in rows:
            cell = tuple(
                sum(cut < places[name][row[name]] for cut in own) for name, own in zip(NAMES, cuts, strict=True)
            )
            groups.setdefault(cell, []).append(row)
        out = left_out(kind, groups, person)
        n_out = sum(len(groups[name]) for name in out)
        if n_out > budget:
            continue
        kept = [group for name, group in groups.items() if name not in out]
        if cost == "dm":
            total = sum(len(group) ** 2 for group in kept) + n_out * len(rows)
        else:
            classes = [[row["ill"] for row in group] for group in kept]
            total = sum(len(each) - max(map(each.count, each)) for each in classes) + n_out
        best = total if best is None else min(best, total)
    return best


@settings(max_examples=50)
@given(
    tables(),
    st.sampled_from(list(REQUIREMENTS)),
    st.booleans(),
    st.sampled_from([0, 0.2, 0.5, 0.95]),
    st.sampled_from(["dm", "cm"]),
    st.sampled_from([0, 1, 3]),
)
def test_the_optimum_is_that_of_all_sets_of_cuts(table, kind, several, suppress, cost, max_nodes):
    person = "who" if several else None
    if not several:
        table = table.drop(columns="who")
    options = {"cost": cost, "person": person, "suppress": suppress, "domain": {"ill": CLASSES}, "reproducible": True}
    method = KOptimize(REQUIREMENTS[kind], **options)
    if left_out(kind, {"all": table.to_dict("records")}, person):
        with pytest.raises(PromiseError):
            method.fit(table, "ill")
        return
    budget = int(suppress * len(table) + 1e-9)
    best = cheapest(table, kind, person, budget, cost)
    out = method.fit_transform(table, "ill")
    assert method.optimal_
    assert (method.cost_, method.bound_) == (best, best)
    assert len(table) - len(out) == method.release_.left_out <= budget
    if person is None:
        published = {cells: [{"ill": value} for value in part["ill"]] for cells, part in out.fillna("").groupby(NAMES)}
        assert not left_out(kind, published, None)
        measured = measure_table(method.release_)  # rows that are left out included
        assert best == (measured.dm if cost == "dm" else measured.cm)
    short = KOptimize(REQUIREMENTS[kind], max_nodes=max_nodes, **options).fit(table, "ill")
    assert short.bound_ <= best <= short.cost_
    assert short.optimal_ == (short.bound_ == short.cost_) or short.cost_ == best


@settings(max_examples=50)
@given(tables(), st.integers(2, 5), st.booleans(), st.integers(0, 2**32 - 1))
def test_all_cuts_weighed_at_once_are_as_each_by_itself(table, k, by_class, seed):
    rows = table.drop(columns="who")
    options = {"public": None, "sensitive": (), "domain": None, "person": None, "hierarchies": None, "suppress": 0.999}
    if k > len(rows):
        return
    task, _ = make_task(rows, "ill", privacy=k, **options)
    search = CutSearch(task, {name: _order_of(task, name).cells for name in task.public}, by_class=by_class)
    rng = np.random.default_rng(seed)
    head = rng.random(len(search.nothing)) < 0.3
    tail = ~head & (rng.random(len(head)) < 0.7)
    search.task = replace(task, budget=len(rows))
    weighed = search.weigh(head, tail)
    for cut in np.flatnonzero(tail):
        more, rest = head.copy(), tail.copy()
        more[cut], rest[cut] = True, False
        assert weighed.cost[cut] == search.cost_of(more)
        assert weighed.bound_with[cut] == search.weigh(more, rest).bound
        assert weighed.bound_with[cut] >= weighed.bound


def test_groups_of_the_hierarchy_keep_their_names_and_its_order():
    towns = {"south": ["s1", "s2", "s3"], "north": ["n1", "n2", "n3"]}
    table = pd.DataFrame({"town": [*["s1", "s1", "s2", "s3", "n1", "n1", "n2", "n3"]] * 2, "ill": ["no", "yes"] * 8})
    method = KOptimize(8, hierarchies={"town": towns}, reproducible=True).fit(table, "ill")
    assert [cell.label for cell in method.release_.generalised["town"]] == ["north", "south"]
    assert method.transform(pd.DataFrame({"town": ["n3", "s1"]}))["town"].tolist() == ["north", "south"]
    assert method.made_hierarchies_ == {}


def test_numbers_are_cut_at_their_hierarchy_or_at_round_numbers():
    table = pd.DataFrame({"age": [20, 21, 22, 23, 47, 48, 49, 90], "ill": ["no", "yes"] * 4})
    labels = [cell.label for cell in KOptimize(4).fit(table, "ill").release_.generalised["age"]]
    assert labels == ["<=30", ">=31"]
    method = KOptimize(2, hierarchies={"age": {"intervals": [40]}}).fit(table, "ill")
    assert [cell.label for cell in method.release_.generalised["age"]] == ["<=39", ">=40"]  # 80 and more is one person


def test_leaving_rows_out_pays_where_they_force_large_groups():
    table = pd.DataFrame({"town": ["a"] * 10 + ["b"] + ["c"] * 10, "ill": ["no", "yes", "no"] * 7})
    assert KOptimize(5).fit(table).release_.left_out == 0
    method = KOptimize(5, public=["town"], suppress=0.1, domain={"ill": ["no", "yes"]}).fit(table)
    # 10² + 11² without, 10² + 10² + 21 with
    assert (method.cost_, method.release_.left_out, method.optimal_) == (221, 0, True)
    assert audit(method.release_, table).holds


def test_the_limit_stops_the_search_and_progress_is_told():
    told = []
    clinic = load_sample().table.select(["age", "sex", "education", "smoker", "diabetes"])
    method = KOptimize(20, max_seconds=None, max_nodes=40, progress=told.append).fit(clinic, "diabetes")
    assert (method.searched_, method.optimal_) == (40, False)
    assert 0 < method.bound_ < method.cost_
    assert (told[-1].nodes, told[-1].cost, told[-1].bound) == (40, method.cost_, method.bound_)
    again = KOptimize(20, max_seconds=None, max_nodes=40).fit(clinic, "diabetes")
    assert (again.cost_, again.bound_) == (method.cost_, method.bound_)
    assert KOptimize(20, max_seconds=0).fit(clinic, "diabetes").cost_ >= method.cost_


def test_many_numbers_are_put_into_intervals_first():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"weight": rng.normal(70, 10, 500).round(3), "ill": rng.choice(["no", "yes"], 500)})
    method = KOptimize(20, max_nodes=5).fit(table, "ill")
    assert "100 intervals" in method.made_hierarchies_["weight"]
    assert len(method.release_.generalised["weight"]) > 5


def test_bad_input_is_one_sentence():
    table = pd.DataFrame({"town": ["n1", "n1"], "ill": ["no", "yes"]})
    with pytest.raises(ValueError, match="cost must be 'dm' or 'cm'"):
        KOptimize(2, cost="lm").fit(table, "ill")
    with pytest.raises(DataError, match="the target y is None"):
        KOptimize(2, cost="cm").fit(table)
    with pytest.raises(ValueError, match="max_seconds must be a number"):
        KOptimize(2, max_seconds="10").fit(table, "ill")


def test_without_public_columns_everybody_is_one_group():
    method = KOptimize(2, public=[]).fit(pd.DataFrame({"ill": ["no", "yes"] * 3}), "ill")
    assert (method.optimal_, method.cost_) == (True, 36)


@parametrize_with_checks([KOptimize(privacy=3, max_seconds=None, max_nodes=5, numbers="midpoints", reproducible=True)])
@pytest.mark.filterwarnings("default")  # some checks warn on purpose
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)
