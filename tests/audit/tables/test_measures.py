# SPDX-License-Identifier: Apache-2.0
"""Every measure, against pycanon's numbers, and against the definitions written out."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.audit import measures as module
from shoal.audit.groups import Groups, count_people, numbered
from shoal.audit.measures import measure
from shoal.audit.risk import risk_of
from shoal.data import read_table
from shoal.data.frames import to_table
from shoal.data.table import Table

GOLDEN = json.loads(Path(__file__).with_name("pycanon.json").read_text(encoding="utf-8"))


def groups_of(table: Table, public: list[str], person: np.ndarray | None = None) -> Groups:
    of_row = numbered([table[name].codes for name in public], table.n_rows)
    _, example = np.unique(of_row, return_index=True)
    people = count_people(of_row, len(example), person)
    return Groups(of_row, people, np.full(len(people), 2), example, person)


@pytest.mark.parametrize("stated", GOLDEN["tables"], ids=lambda s: f"{len(s['public'])}-{s['least']}-{s['sensitive']}")
def test_adult_as_pycanon_measures_it(shoal_data, stated):
    adult = read_table(shoal_data / "adult_train.csv.gz", missing=[])
    whole = groups_of(adult, stated["public"])
    table = adult.take(whole.people[whole.of_row] >= stated["least"])
    groups = groups_of(table, stated["public"])
    found = [measure(groups, table[name]) for name in stated["sensitive"]]
    assert (table.n_rows, found[0].k) == (stated["rows"], stated["k"])
    compare_with_pycanon(
        found, [Counter(zip(groups.of_row, table[m.column].codes, strict=True)) for m in found], stated
    )
    assert risk_of(groups.people).prosecutor.highest == pytest.approx(stated["highest_risk"])
    # pycanon's average is over groups, ours over people
    assert (1 / groups.people).mean() == pytest.approx(stated["average_risk"])


def compare_with_pycanon(found, pairs, stated):
    assert max(m.alpha for m in found) == pytest.approx(stated["alpha"])
    assert min(m.distinct_l for m in found) == stated["l"]
    assert max(m.basic_beta for m in found) == pytest.approx(stated["basic_beta"])
    assert max(m.enhanced_beta for m in found) == pytest.approx(stated["enhanced_beta"])
    assert max(m.delta for m in found) == pytest.approx(stated["delta"])
    assert max(m.t for m in found) == pytest.approx(stated["t"])
    # pycanon cuts the fraction off, and 1.9999999999999998 with it
    entropy = min(m.entropy_l for m in found)
    assert stated["entropy_l"] in (math.floor(entropy - 1e-9), math.floor(entropy + 1e-9))
    # and takes the counts of a group from the smallest to the largest where the definition wants the other way
    if stated["c"] is not None:
        assert max(upside_down(each, stated["l"]) for each in pairs) == stated["c"]


def upside_down(pairs, l):  # noqa: E741 - the literature's name
    by_group: dict[int, list[int]] = {}
    for (group, _), n in pairs.items():
        by_group.setdefault(int(group), []).append(n)
    return max(math.floor(min(counts) / sum(sorted(counts)[l - 1 :]) + 1) for counts in by_group.values())


CLINIC = {
    "age": ["[20, 30["] * 3 + ["[30, 40["] * 4 + ["[20, 30["] * 4 + ["*"] * 2,
    "zip": ["130**"] * 3 + ["148**"] * 8 + ["*"] * 2,
    "disease": ["flu", "cold", "flu", "flu", "cold", "ulcer", "cancer", "flu", "cancer", "flu", "flu", "cold", "ulcer"],
    "salary": [3, 4, 5, 6, 11, 8, 6, 7, 9, 9, 3, 10, 3],
}


def test_a_small_clinic_as_pycanon_measures_it():
    table = to_table(CLINIC)
    groups = groups_of(table, ["age", "zip"])
    disease, salary = measure(groups, table["disease"]), measure(groups, table["salary"])
    pairs = [Counter(zip(groups.of_row, table[name].codes, strict=True)) for name in ("disease", "salary")]
    # pycanon 1.3.6 on these very rows
    of_disease = {
        "alpha": 0.75,
        "l": 2,
        "entropy_l": 1,
        "c": 2,
        "basic_beta": 2.25,
        "enhanced_beta": 1.8718021769015913,
        "delta": 1.1786549963416462,
        "t": 0.6153846153846154,
    }
    of_salary = {
        "alpha": 0.5,
        "l": 2,
        "entropy_l": 1,
        "c": 2,
        "basic_beta": 5.5,
        "enhanced_beta": 2.5649493574615367,
        "delta": 1.8718021769015913,
        "t": 0.3076923076923076,
    }
    compare_with_pycanon([disease], pairs[:1], of_disease)
    compare_with_pycanon([salary], pairs[1:], of_salary)
    assert (disease.k, disease.distance, salary.distance) == (2, "equal", "ordered")
    # where pycanon says 1: two values, equally frequent, are worth two
    assert salary.entropy_l == pytest.approx(2)
    # where pycanon says 2: three of four people have the flu
    assert disease.recursive_c == 3
    # the excess of cancer is 2.25, more than -ln(2/13) allows, so no beta is enough
    assert not disease.keeps_enhanced
    assert disease.lacking == 3
    assert disease.certain == 0


tables = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 3)),
    min_size=1,
    max_size=20,
)


@given(tables, st.booleans(), st.sampled_from([2**21, 5]))
@settings(max_examples=150)
def test_the_definitions(rows, numeric, at_once):
    values = [value if numeric else "abcde"[value] for _, value, _ in rows]
    table = to_table({"public": [group for group, _, _ in rows], "private": values})
    groups = groups_of(table, ["public"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "AT_ONCE", at_once)
        found = measure(groups, table["private"])
    present = sorted(set(values))
    p = {v: Fraction(values.count(v), len(values)) for v in present}
    by_group: dict[int, list] = {}
    for (group, _, _), value in zip(rows, values, strict=True):
        by_group.setdefault(group, []).append(value)
    q = [{v: Fraction(each.count(v), len(each)) for v in present} for each in by_group.values()]
    assert found.k == min(map(len, by_group.values()))
    assert found.alpha == pytest.approx(float(max(max(each.values()) for each in q)))
    assert found.distinct_l == min(len(set(each)) for each in by_group.values())
    entropy = [-sum(float(s) * math.log(s) for s in each.values() if s) for each in q]
    assert found.entropy_l == pytest.approx(math.exp(min(entropy)))
    if found.distinct_l == 1:
        assert found.recursive_c is None
    else:
        bounds = []
        for each in by_group.values():
            counts = sorted(Counter(each).values(), reverse=True)
            bounds.append(counts[0] / sum(counts[found.distinct_l - 1 :]))
        assert found.recursive_c == pytest.approx(max(bounds))
    excess = {v: max((each[v] - p[v]) / p[v] for each in q) for v in present}
    beta = max(excess.values())
    assert found.basic_beta == pytest.approx(float(beta))
    assert found.enhanced_beta == pytest.approx(max(min(float(beta), -math.log(p[v])) for v in present))
    if all(abs(float(excess[v]) + math.log(p[v])) > 1e-9 for v in present):
        assert found.keeps_enhanced == all(excess[v] <= -math.log(p[v]) for v in present)
    assert found.delta == pytest.approx(max(abs(math.log(each[v] / p[v])) for each in q for v in present if each[v]))
    assert found.lacking == sum(not all(each.values()) for each in q)
    if numeric:
        m = max(len(present) - 1, 1)
        far = [sum(abs(sum(e[v] - p[v] for v in present[: i + 1])) for i in range(len(present))) / m for e in q]
    else:
        far = [sum(abs(each[v] - p[v]) for v in present) / 2 for each in q]
    assert found.t == pytest.approx(float(max(far)))
    assert found.certain == sum(len(each) for each in by_group.values() if len(set(each)) == 1)


@given(tables)
@settings(max_examples=60)
def test_people_with_several_rows_count_once(rows):
    group, value, person = (np.array(each) for each in zip(*rows, strict=True))
    table = to_table({"public": group, "private": [f"v{v}" for v in value]})
    _, whose = np.unique(person, return_inverse=True)
    found = measure(groups_of(table, ["public"], whose), table["private"])
    members = {g: {p for a, _, p in rows if a == g} for g in set(group.tolist())}
    assert found.k == min(map(len, members.values()))
    has = {g: Counter(v for v, _ in {(v, p) for a, v, p in rows if a == g}) for g in members}
    assert found.alpha == pytest.approx(max(max(has[g].values()) / len(members[g]) for g in members))
    sure = {p for g in members if max(has[g].values()) == len(members[g]) for p in members[g]}
    assert found.certain == len(sure)


def test_a_missing_sensitive_value_counts_as_a_value():
    table = to_table({"public": [1, 1, 2, 2], "private": ["a", None, "a", "a"]})
    found = measure(groups_of(table, ["public"]), table["private"])
    assert (found.distinct_l, found.certain, found.lacking) == (1, 2, 1)
