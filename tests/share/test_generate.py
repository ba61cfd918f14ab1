# SPDX-License-Identifier: Apache-2.0
"""Pseudo-data fills every path exactly (Prop. 18), and its values are what the path leaves open."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.strategies import cases, trees
from shoal.errors import DataError
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.release.generalised import Generalised
from shoal.share import Marginal, Path, paths_of, pseudo_data, pseudo_data_from_rules, uniform_data
from shoal.share.draw import Drawer


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from(["uniform", "middle", "end"]), st.sampled_from(["counts", "hits"]))
def test_every_row_satisfies_its_path_and_every_path_is_filled(data, numbers, classes):
    release = data.draw(trees(data.draw(cases())))
    people = release.counts[list(release.leaves)]
    rows = pseudo_data(release, numbers=numbers, classes=classes, random_state=1)
    reached = release.apply(rows.table)
    assert np.array_equal(np.bincount(reached, minlength=len(release.nodes))[list(release.leaves)], people.sum(axis=1))
    if classes == "counts":
        codes = rows.table[release.target].codes
        for leaf in release.leaves:
            got = np.bincount(codes[reached == leaf], minlength=len(release.classes))
            assert got.tolist() == release.counts[leaf].tolist()


def test_the_highest_of_random_numbers_stays_in_its_cell():
    class Highest:
        def random(self, n):
            return np.full(n, np.nextafter(1.0, 0.0))

    letters = Attribute("A", "public", "categorical", values=("a", "b", "c"))
    cells = [Generalised("", values=(value,)) for value in letters.values]
    assert Drawer(letters, cells, None).draw(np.arange(3), "uniform", Highest()).codes.tolist() == [0, 1, 2]


def example():
    """The path A = a1, B in {b4, b5} of Examples 19 and 20, with eight hits and 16 misses."""
    a = Attribute("A", "public", "categorical", values=("a1", "a2"))
    b = Attribute("B", "public", "categorical", values=("b1", "b2", "b3", "b4", "b5"))
    c = Attribute("C", "public", "categorical", values=("c1", "c2", "c3"))
    d = Attribute("D", "public", "categorical", values=tuple(f"d{i}" for i in range(10)))
    target = Attribute("class", "private", "categorical", values=tuple(f"S{i}" for i in range(1, 6)))
    nodes = (
        Node("A", (Branch(1, ("a1",)), Branch(2, ("a2",)))),
        Node("B", (Branch(3, ("b1", "b2", "b3")), Branch(4, ("b4", "b5")))),
        Node(counts=(0, 0, 0, 0, 0)),
        Node(counts=(0, 0, 0, 0, 0)),
        Node(counts=(9, 4, 3, 8, 0)),  # 8 hits of S4, 16 misses; which classes those are is not told
    )
    return TreeRelease("class", (a, b, c, d, target), ({"requirement": "k-anonymity", "k": 1},), nodes)


def test_example_19_the_template_of_a_path():
    path = paths_of(example())[-1]
    assert {name: cell.values for name, cell in path.box.items()} == {"A": ("a1",), "B": ("b4", "b5")}


def test_example_20_the_rows_of_a_path():
    nodes = example().nodes
    told = (*nodes[:4], Node(counts=(4, 4, 4, 8, 4)))  # as hits and misses: (S4, 8, 16)
    release = TreeRelease("class", example().attributes, example().claims, told)
    rows = pseudo_data(release, classes="hits", random_state=0).to_frame()
    assert len(rows) == 24
    assert rows["class"].value_counts().to_dict() == {"S4": 8, "S1": 4, "S2": 4, "S3": 4, "S5": 4}
    assert set(rows["A"]) == {"a1"}
    assert set(rows["B"]) == {"b4", "b5"}
    many = pseudo_data(release, 24_000, classes="hits", random_state=0).to_frame()
    for column, values in (("B", 2), ("C", 3), ("D", 10)):
        share = many[column].value_counts(normalize=True)
        assert len(share) == values
        assert share.between(0.9 / values, 1.1 / values).all()


def test_a_wanted_number_of_rows_is_shared_out_exactly():
    rows = pseudo_data(example(), 1001, random_state=0)
    assert rows.table.n_rows == 1001
    assert rows.table["class"].counts().tolist() == [375, 167, 125, 334, 0]  # 1001 * (9, 4, 3, 8) / 24


def test_marginals_say_how_often_open_values_come():
    marginal = Marginal((Generalised("", values=("c1",)), Generalised("", values=("c2", "c3"))), (800, 200))
    rows = pseudo_data(example(), 10_000, marginals={"C": marginal}, random_state=0).to_frame()
    share = rows["C"].value_counts(normalize=True)
    assert share["c1"] == pytest.approx(0.8, abs=0.02)
    assert share["c2"] == pytest.approx(0.1, abs=0.02)


def test_marginals_of_numbers_are_cut_to_what_a_path_leaves():
    age = Attribute("age", "public", "numeric", bounds=(0, 99), integer=True)
    ill = Attribute("ill", "private", "categorical", values=("no", "yes"))
    branches = (Branch(1, intervals=(Interval(None, 39),)), Branch(2, intervals=(Interval(39, None),)))
    nodes = (Node("age", branches), Node(counts=(500, 0)), Node(counts=(0, 500)))
    release = TreeRelease("ill", (age, ill), ({"requirement": "k-anonymity", "k": 1},), nodes)
    cells = [Generalised("", intervals=(Interval(*ends),)) for ends in [(None, 29), (29, 49), (49, None)]]
    rows = pseudo_data(release, marginals={"age": Marginal(tuple(cells), (300, 100, 0))}, random_state=0).to_frame()
    assert (rows["age"][rows["ill"] == "no"] <= 29).mean() == pytest.approx(300 / 350, abs=0.05)
    assert rows["age"][rows["ill"] == "yes"].between(40, 49).all()


def test_rows_are_labelled_by_the_tree_in_basegen():
    release = example()
    rows = uniform_data(release, 500, random_state=0)
    assert set(rows.to_frame()["A"]) == {"a1", "a2"}
    assert np.array_equal(rows.table["class"].codes, release.answers[release.apply(rows.table)])


def test_disjoint_rules_make_rows_and_others_are_refused():
    attributes = example().attributes
    young, old = Path({"A": Generalised("", values=("a1",))}, (2, 0, 0, 0, 0)), Path({}, (0, 3, 0, 0, 0))
    other = Path({"A": Generalised("", values=("a2",))}, (0, 3, 0, 0, 0))
    rows = pseudo_data_from_rules([young, other], attributes, "class", random_state=0).to_frame()
    assert rows.groupby("A")["class"].agg(set).to_dict() == {"a1": {"S1"}, "a2": {"S2"}}
    with pytest.raises(DataError, match="Rules 1 and 2 can be satisfied by the same row"):
        pseudo_data_from_rules([young, old], attributes, "class")


def test_rows_are_marked_as_nobodys():
    rows = pseudo_data(example(), random_state=0)
    assert b"pseudo-data" in rows.to_frame("pyarrow").schema.metadata[b"shoal"]
    assert "pseudo-data" in rows.to_frame().attrs["shoal"]
    with pytest.raises(DataError, match="number of rows"):
        pseudo_data(example(), 0)
