# SPDX-License-Identifier: Apache-2.0
"""The published class nearest to new rows, beside a search that tries every class."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.anonymize.nearest import nearest_class
from shoal.data import Table, to_table
from shoal.data.table import Column
from shoal.errors import DataError
from shoal.release import Attribute, Interval, TableRelease
from shoal.release.generalised import Generalised

AGE = Attribute("age", "public", "numeric", bounds=(0.0, 100.0), missing=True)
TOWN = Attribute("town", "public", "categorical", values=("A", "B", "C"))


def made(ages, towns, rows):
    """A release of some (age cell, town cell) pairs."""
    ages = [Generalised(f"a{i}", **cell) if cell else Generalised("*") for i, cell in enumerate(ages)]
    towns = [Generalised(f"t{i}", **cell) if cell else Generalised("*") for i, cell in enumerate(towns)]
    codes = np.array(rows, dtype=np.uint8).reshape(-1, 2)
    columns = [
        Column("age", "categorical", codes[:, 0].copy(), tuple(cell.label for cell in ages)),
        Column("town", "categorical", codes[:, 1].copy(), tuple(cell.label for cell in towns)),
    ]
    return TableRelease(None, (AGE, TOWN), (), Table(columns), {"age": tuple(ages), "town": tuple(towns)})


def new_rows(ages, towns):
    return to_table(pd.DataFrame({"age": np.array(ages, dtype=float), "town": towns}))


TWO = ({"intervals": (Interval(None, 30.0),)}, {"intervals": (Interval(30.0, 60.0),)})


def test_by_hand():
    release = made(TWO, [{"values": ("A",)}, {"values": ("B", "C")}], [[0, 0], [1, 1]])
    rows = new_rows([20, 40, 29, 31, 95, np.nan, 30, 45.2], ["A", "C", "B", "A", "B", "B", "D", "D"])
    # 29 in B: 1 by its town from the first, 0.01 by its age from the second
    assert nearest_class(release, rows).tolist() == [0, 1, 1, 0, 1, 1, 0, 1]


def test_of_two_that_fit_the_one_that_says_more_is_taken():
    release = made(({}, *TWO), [{}, {"values": ("A",)}], [[0, 0], [1, 0], [2, 1]])
    assert nearest_class(release, new_rows([10, 50, 50, 70], ["A", "A", "B", "B"])).tolist() == [1, 2, 0, 0]


def test_the_open_end_of_an_interval_is_outside():
    release = made(TWO, [{}], [[0, 0], [1, 0]])
    assert nearest_class(release, new_rows([30, 30.001], ["A", "A"])).tolist() == [0, 1]


def test_what_is_not_there_or_of_another_kind_is_refused():
    release = made(TWO, [{}], [[0, 0], [1, 0]])
    with pytest.raises(DataError, match="No column 'age'"):
        nearest_class(release, to_table({"town": ["A"]}))
    with pytest.raises(DataError, match="is categorical here but numeric"):
        nearest_class(release, to_table({"age": ["x"], "town": ["A"]}))


age_cells = st.sampled_from(
    [
        {},
        {"missing": True},
        {"intervals": (Interval(None, 20.0),)},
        {"intervals": (Interval(20.0, 50.0),)},
        {"intervals": (Interval(10.0, 20.0), Interval(70.0, None)), "missing": True},
        {"intervals": (Interval(50.0, None),)},
    ]
)
town_cells = st.sampled_from([{}, {"values": ("A",)}, {"values": ("B", "C")}, {"values": ("A", "C")}])
pairs = st.tuples(st.sampled_from([0.0, 10, 20, 20.5, 50, 69, 70, 100, 130, np.nan]), st.sampled_from("ABCD"))


@settings(max_examples=100)
@given(
    st.lists(age_cells, min_size=1, max_size=4, unique_by=str),
    st.lists(town_cells, min_size=1, max_size=3, unique_by=str),
    st.data(),
    st.lists(pairs, min_size=1, max_size=6),
)
def test_none_is_nearer_and_none_that_is_as_near_says_more(ages, towns, data, rows):
    everything = [[a, t] for a in range(len(ages)) for t in range(len(towns))]
    chosen = data.draw(st.lists(st.sampled_from(everything), min_size=1, max_size=6))
    release = made(ages, towns, chosen)
    found = nearest_class(release, new_rows([row[0] for row in rows], [row[1] for row in rows]))
    groups = {int(g): chosen[i] for i, g in enumerate(release.groups)}
    for (age, town), number in zip(rows, found.tolist(), strict=True):
        ranked = {}
        for g, (a, t) in groups.items():
            far, loss = age_far(ages[a], age) + town_far(towns[t], town), age_loss(ages[a]) + town_loss(towns[t])
            ranked[g] = (round(far, 7), round(loss, 7), g)
        assert number == min(ranked, key=ranked.get)


def age_far(cell, age):
    if not cell:
        return 0
    if np.isnan(age):
        return 0 if cell.get("missing") else 1
    shares = [1.0]
    for each in cell.get("intervals", ()):
        low, high = -np.inf if each.above is None else each.above, np.inf if each.at_most is None else each.at_most
        shares.append(0.0 if low < age <= high else max((low - age) / 100, (age - high) / 100, 1e-6))
    return min(shares)


def town_far(cell, town):
    return 0 if not cell or town in cell["values"] else 1


def age_loss(cell):
    if not cell:
        return 1
    ends = [(each.above or 0, 100 if each.at_most is None else each.at_most) for each in cell.get("intervals", ())]
    return sum(high - low for low, high in ends) / 100


def town_loss(cell):
    return (len(cell["values"]) - 1) / 2 if cell else 1
