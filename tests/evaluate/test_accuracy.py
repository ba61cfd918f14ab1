# SPDX-License-Identifier: Apache-2.0
"""What is learned from a generalised table, tested on rows as they are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from shoal import load_sample
from shoal.anonymize import OneDimensional, TreeAnonymizer
from shoal.data.table import Column, Table
from shoal.errors import DataError
from shoal.evaluate import drawn_rows, learned_accuracy
from shoal.release import Attribute, Interval, TableRelease
from shoal.release.generalised import Generalised


def release_of(attribute, cells, codes, target):
    column = Column(attribute.name, "categorical", np.array(codes), tuple(cell.label for cell in cells))
    values = tuple(sorted(set(target)))
    income = Column("t", "categorical", np.array([values.index(each) for each in target]), values)
    attributes = (attribute, Attribute("t", "private", "categorical", values=values))
    claims = ({"requirement": "k-anonymity", "k": 1},)
    return TableRelease("t", attributes, claims, Table([column, income]), {attribute.name: tuple(cells)})


def drawn(attribute, cells, codes):
    rows = drawn_rows(release_of(attribute, cells, codes, ["p"] * len(codes)), draws=2000)
    column = rows[attribute.name]
    values = [*column.names, None] if column.kind == "categorical" else [*column.numbers.tolist(), None]
    return [values[code] for code in column.codes], column


def shares(values):
    found = pd.Series(values, dtype=object).value_counts(normalize=True, dropna=False)
    return {(None if pd.isna(value) else value): share for value, share in found.items()}


def test_categories_are_drawn_evenly_from_a_cell():
    city = Attribute("city", "public", "categorical", values=("a", "b", "c"), missing=True)
    cells = [Generalised("{a, b}", ("a", "b")), Generalised("{c, (missing)}", ("c",), missing=True), Generalised("*")]
    for number, expected in enumerate(({"a": 0.5, "b": 0.5}, {"c": 0.5, None: 0.5}, dict.fromkeys("abc", 0.25))):
        values, _ = drawn(city, cells, [number])
        found = shares(values)
        assert {value: found[value] for value in expected} == pytest.approx(expected, abs=0.05)
        assert set(found) - {None} == set(expected) - {None}


def test_whole_numbers_are_drawn_from_an_interval_without_its_lower_end():
    age = Attribute("age", "public", "numeric", bounds=(18, 28), integer=True)
    cells = [
        Generalised("19-20", intervals=(Interval(18, 20.5),)),
        Generalised("x", intervals=(Interval(None, 19), Interval(26, None))),
        Generalised("*"),
    ]
    expected = [{19: 0.5, 20: 0.5}, dict.fromkeys((18, 19, 27, 28), 0.25), dict.fromkeys(range(18, 29), 1 / 11)]
    for number, share in enumerate(expected):
        values, column = drawn(age, cells, [number])
        assert shares(values) == pytest.approx(share, abs=0.05)
        assert column.integer


def test_other_numbers_are_drawn_between_the_ends():
    weight = Attribute("w", "public", "numeric", bounds=(40, 90), missing=True)
    cells = [
        Generalised("a", intervals=(Interval(60, 65),)),
        Generalised("b", intervals=(Interval(80, 200),), missing=True),
        Generalised("", missing=True),
        Generalised("*"),
    ]
    values, _ = drawn(weight, cells, [0])
    assert 60 < min(values) < 60.1
    assert 64.9 < max(values) <= 65
    values, _ = drawn(weight, cells, [1])
    known = [value for value in values if value is not None]
    assert len(known) / len(values) == pytest.approx(0.5, abs=0.05)
    assert 80 < min(known) <= max(known) <= 90
    assert set(drawn(weight, cells, [2])[0]) == {None}
    known = [value for value in drawn(weight, cells, [3])[0] if value is not None]
    assert np.mean(known) == pytest.approx(65, abs=1)


def test_listed_numbers_are_numbers_again():
    age = Attribute("age", "public", "categorical", values=("9", "10", "11"), labels="integer")
    values, column = drawn(age, [Generalised("x", ("9", "10"))], [0])
    assert column.kind == "numeric"
    assert shares(values) == pytest.approx({9.0: 0.5, 10.0: 0.5}, abs=0.05)


def test_accuracy_by_hand():
    """Below 5 everybody is p, above q; the test rows know it better in one case of four."""
    n = Attribute("n", "public", "numeric", bounds=(0, 10), integer=True)
    cells = [Generalised("<=5", intervals=(Interval(None, 5),)), Generalised(">5", intervals=(Interval(5, None),))]
    release = release_of(n, cells, [0] * 20 + [1] * 20, ["p"] * 20 + ["q"] * 20)
    test = pd.DataFrame({"n": [0, 5, 6, 10], "t": ["p", "q", "q", "q"]})
    assert learned_accuracy(release, test) == 0.75
    assert learned_accuracy(release, test[["n"]], ["p", "p", "q", "q"]) == 1
    assert learned_accuracy(release, test.rename(columns={"t": "u"}), "u") == 0.75
    assert learned_accuracy(release, test, learner=DecisionTreeClassifier(random_state=0)) == 0.75


def test_groups_of_categories_are_learned_for_each_of_their_values():
    """Cells are drawn, so a value that was never published alone is predicted as its cell is."""
    c = Attribute("c", "public", "categorical", values=tuple("abcdef"))
    cells = [Generalised("x", ("a", "b", "c")), Generalised("y", ("d", "e", "f"))]
    release = release_of(c, cells, [0] * 40 + [1] * 40, ["p"] * 40 + ["q"] * 40)
    test = pd.DataFrame({"c": list("abcdef"), "t": list("pppqqq")})
    for learner in ("c45", DecisionTreeClassifier(random_state=0), GaussianNB()):
        assert learned_accuracy(release, test, learner=learner) == 1
    # a value that was not there to learn is no error
    assert learned_accuracy(release, pd.DataFrame({"c": ["z", "a"], "t": ["p", "p"]})) >= 0.5
    assert learned_accuracy(release, pd.DataFrame({"c": ["z", "a"], "t": ["p", "p"]}), learner=GaussianNB()) >= 0.5


def test_the_order_of_rows_makes_no_difference_and_the_seed_does():
    people = load_sample().table.select(["age", "sex", "bmi", "diabetes"])
    train, test = people.take(np.arange(4000)), people.take(np.arange(4000, 5000))
    releases = [OneDimensional(20).fit(train, "diabetes").release_ for _ in range(2)]
    assert releases[0].to_csv() != releases[1].to_csv()  # shuffled
    first, second = (drawn_rows(release) for release in releases)
    assert all(np.array_equal(first[name].codes, second[name].codes) for name in first)
    other = drawn_rows(releases[0], random_state=1)
    assert not all(np.array_equal(first[name].codes, other[name].codes) for name in first)
    accuracies = {learned_accuracy(release, test) for release in releases}
    assert len(accuracies) == 1
    usual = (np.bincount(test["diabetes"].codes) / test.n_rows).max()
    assert accuracies.pop() > usual - 0.02


def test_drawn_rows_fit_the_cells_they_are_drawn_from():
    people = load_sample().table.select(["age", "sex", "education", "diabetes"])
    release = TreeAnonymizer(200).fit(people, "diabetes").release_
    rows = drawn_rows(release, draws=2)
    assert rows.n_rows == 2 * people.n_rows
    counts = np.bincount(rows["diabetes"].codes)
    assert counts.tolist() == (2 * np.bincount(people["diabetes"].codes)).tolist()


def test_what_cannot_be_measured_is_said():
    people = load_sample().table.select(["age", "sex"])
    release = OneDimensional(50).fit(people).release_
    with pytest.raises(DataError, match="no target"):
        learned_accuracy(release, people)
    with pytest.raises(DataError, match="draws must be"):
        drawn_rows(release, draws=0)
