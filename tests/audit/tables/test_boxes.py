# SPDX-License-Identifier: Apache-2.0
"""Which groups stand for whom, whether they overlap, and whether people can be shared out: against brute force."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal.audit import _boxes, assigning, audit, boxes
from shoal.audit.boxes import Boxes
from shoal.audit.tables import group_rows
from shoal.data.table import Column, Table
from shoal.release import Attribute, Interval, TableRelease
from shoal.release.generalised import Generalised, atoms_of, covers, runs_of

TOWNS = tuple("ABCDE")
AGES = (0, 9)  # whole numbers
K1 = ({"requirement": "k-anonymity", "k": 1},)


def holds(value, what):
    """Whether a generalised value stands for a town, an age, or None; by the words of the format."""
    if value.is_all:
        return True
    if what is None:
        return value.missing
    if isinstance(what, str):
        return what in value.values
    ends = [(part.above, part.at_most) for part in value.intervals]
    return any((low is None or what > low) and (high is None or what <= high) for low, high in ends)


towns = st.one_of(
    st.just(Generalised("*")),
    st.builds(
        lambda values, missing: Generalised("?", values=tuple(sorted(values)), missing=missing or not values),
        st.sets(st.sampled_from(TOWNS)),
        st.booleans(),
    ),
)
ends = st.integers(-1, 10) | st.sampled_from([2.5, 7.25])
intervals = st.tuples(ends, ends).filter(lambda pair: pair[0] < pair[1]).map(lambda pair: Interval(*pair))
halves = st.one_of(intervals, st.builds(Interval, st.none(), ends), st.builds(Interval, ends, st.none()))
ages = st.one_of(
    st.just(Generalised("*")),
    st.builds(
        lambda parts, missing: Generalised("?", intervals=tuple(parts), missing=missing or not parts),
        st.lists(halves, max_size=3),
        st.booleans(),
    ),
)


def labelled(values):
    return tuple(
        Generalised("*" if value.is_all else f"v{i}", value.values, value.intervals, value.missing)
        for i, value in enumerate(values)
    )


anybody = st.tuples(st.sampled_from([*TOWNS, None]), st.integers(0, 9) | st.none())


@st.composite
def releases(draw):
    """Some published rows with any generalised values, and people who need not fit them."""
    found = {"town": labelled(draw(st.lists(towns, min_size=1, max_size=5, unique_by=lambda v: v)))}
    found["age"] = labelled(draw(st.lists(ages, min_size=1, max_size=5, unique_by=lambda v: v)))
    codes = {name: st.integers(0, len(values) - 1) for name, values in found.items()}
    rows = draw(st.lists(st.tuples(codes["town"], codes["age"], st.integers(0, 1)), min_size=1, max_size=8))
    return release_of(found, rows), rows, draw(st.lists(anybody))


def release_of(found, rows):
    columns = [
        Column(name, "categorical", np.array([row[i] for row in rows], dtype=np.uint8), tuple(v.label for v in values))
        for i, (name, values) in enumerate(found.items())
    ]
    columns.append(Column("ill", "categorical", np.array([row[2] for row in rows], dtype=np.uint8), ("n", "y")))
    attributes = (
        Attribute("town", "public", "categorical", values=TOWNS, missing=True),
        Attribute("age", "public", "numeric", bounds=AGES, integer=True, missing=True),
        Attribute("ill", "private", "categorical", values=("n", "y")),
    )
    return TableRelease("ill", attributes, K1, Table(columns), found)


def table_of(people, ill=None):
    numbers = np.arange(10, dtype=np.float64)
    towns = np.array([len(TOWNS) if town is None else TOWNS.index(town) for town, _ in people], dtype=np.uint8)
    years = np.array([10 if age is None else age for _, age in people], dtype=np.uint8)
    columns = [
        Column("town", "categorical", towns, TOWNS, missing=True),
        Column("age", "numeric", years, numbers, missing=True, integer=True, bounds=AGES),
    ]
    if ill is not None:
        columns.append(Column("ill", "categorical", np.array(ill, dtype=np.uint8), ("n", "y")))
    return Table(columns)


def boxes_of(release, names=("town", "age")):
    groups = group_rows([release.rows[name] for name in names], release.n_rows)
    return Boxes(release, names, groups.example), groups


def fits(release, names, row, person):
    what = dict(zip(("town", "age"), person, strict=True))
    return all(holds(release.generalised[n][int(release.rows[n].codes[row])], what[n]) for n in names)


@pytest.fixture(params=[1, 1024], ids=["many blocks", "one block"])
def small_blocks(request, monkeypatch):
    monkeypatch.setattr(boxes, "BLOCK", request.param)


@given(case=releases().filter(lambda case: case[2]), names=st.sampled_from([("town", "age"), ("age",), ("town",)]))
def test_groups_stand_for_whom_their_words_say(case, names):
    release, _, people = case
    found, groups = boxes_of(release, names)
    if len(found.names) < len(names):  # a column of asterisks tells no groups apart
        names = tuple(found.names)
        found, groups = boxes_of(release, names)
    covering = found.covering(table_of(people))
    cells = {(int(g), int(c)) for g, c in zip(covering.group, covering.cell, strict=True)}
    assert covering.complete
    sets = []
    for i, person in enumerate(people):
        cell = int(covering.cell_of_row[i])
        expected = {g for g, row in enumerate(groups.example) if fits(release, names, int(row), person)}
        assert {g for g, c in cells if c == cell} == expected
        assert covering.n_groups[cell] == len(expected)
        sets.append((frozenset(expected), int(covering.set_of_cell[cell])))
    assert len(set(sets)) == len({s for s, _ in sets}) == len({n for _, n in sets})


@given(case=releases(), names=st.sampled_from([("town", "age"), ("age",), ("town",)]))
@settings(max_examples=120)
def test_overlap_is_of_people_that_there_can_be(case, names):
    release, _, _ = case
    found, groups = boxes_of(release, names)
    everybody = itertools.product([*TOWNS, None], [*range(10), None])
    several = any(sum(fits(release, found.names, int(row), one) for row in groups.example) > 1 for one in everybody)
    if not found.names:
        several = False
    elif len(found.names) < len(names):
        return  # groups that only asterisks tell apart
    assert found.overlap() == several


def test_many_groups_in_blocks_of_64(small_blocks):
    rng = np.random.default_rng(0)
    low = rng.integers(0, 10, (300, 2))
    values = labelled(Generalised("?", intervals=(Interval(a - 1, b),)) for a in range(10) for b in range(a, 10))
    ages_of = {(int(v.intervals[0].above) + 1, int(v.intervals[0].at_most)): i for i, v in enumerate(values)}
    towns_of = labelled(Generalised("?", values=TOWNS[a : b + 1]) for a in range(5) for b in range(a, 5))
    where = {(TOWNS.index(v.values[0]), TOWNS.index(v.values[-1])): i for i, v in enumerate(towns_of)}
    rows = []
    for a, t in low:
        b, u = rng.integers(a, 10), rng.integers(t // 2, 5)
        rows.append((where[t // 2, u], ages_of[a, b], 0))
    release = release_of({"town": towns_of, "age": values}, rows)
    found, groups = boxes_of(release)
    people = list(itertools.product([*TOWNS, None], [*range(10), None]))
    covering = found.covering(table_of(people))
    pairs = {(int(g), int(c)) for g, c in zip(covering.group, covering.cell, strict=True)}
    assert pairs == {
        (g, int(covering.cell_of_row[i]))
        for g, row in enumerate(groups.example)
        for i, person in enumerate(people)
        if fits(release, ("town", "age"), int(row), person)
    }
    assert len(groups) > 128
    assert found.overlap()


def test_boxes_of_a_grid_do_not_overlap(small_blocks):
    values = labelled(Generalised("?", intervals=(Interval(a - 1, a),)) for a in range(10))
    single = labelled(Generalised("?", values=(town,)) for town in TOWNS)
    rows = [(t, a, 0) for t in range(5) for a in range(10)] * 2
    assert not boxes_of(release_of({"town": single, "age": values}, rows))[0].overlap()
    wider = (*values, Generalised("w", intervals=(Interval(3.5, 4.5),)))  # the same whole number in other words
    assert boxes_of(release_of({"town": single, "age": wider}, [*rows, (2, 10, 0)]))[0].overlap()
    nobody = (*values, Generalised("w", intervals=(Interval(4.5, 4.75),)))  # no whole number at all
    assert not boxes_of(release_of({"town": single, "age": nobody}, [*rows, (2, 10, 0)]))[0].overlap()


@given(st.lists(ages, min_size=1, max_size=4), st.lists(towns, min_size=1, max_size=4))
def test_runs_say_what_masks_say(numbers, names):
    for attribute, values in (
        (Attribute("age", "public", "numeric", bounds=AGES, integer=True, missing=True), numbers),
        (Attribute("town", "public", "categorical", values=TOWNS, missing=True), names),
    ):
        atoms = atoms_of(attribute, values)
        masks = covers(atoms, values)
        for kept in (np.ones(atoms.n, dtype=bool), atoms.possible):
            runs = runs_of(atoms, values).within(kept)
            again = np.zeros((len(values), int(kept.sum())), dtype=bool)
            for v in range(len(values)):
                for run in range(runs.start[v], runs.start[v + 1]):
                    again[v, runs.first[run] : runs.end[run]] = True
            assert (again == masks[:, kept]).all()
            alike = (masks[:, None, kept] == masks[None, :, kept]).all(axis=2)
            assert ((runs.kinds[:, None] == runs.kinds[None, :]) == alike).all()


def can_be_shared_out(release, people, ill):
    """Whether some order of the people fits the published rows one by one."""
    n = release.n_rows
    may = [
        [
            fits(release, ("town", "age"), row, person) and int(release.rows["ill"].codes[row]) == value
            for row in range(n)
        ]
        for person, value in zip(people, ill, strict=True)
    ]
    return any(all(may[i][row] for i, row in enumerate(order)) for order in itertools.permutations(range(n)))


@st.composite
def shared_out(draw):
    """A release of up to six rows and as many people, most of whom fit some row."""
    release, rows, _ = draw(releases())
    rows = rows[:6]
    release = release_of(dict(release.generalised), rows)
    everybody = list(itertools.product([*TOWNS, None], [*range(10), None]))
    people, ill = [], []
    for row in range(len(rows)):
        fitting = [one for one in everybody if fits(release, ("town", "age"), row, one)]
        people.append(draw(st.sampled_from(fitting or everybody)))
        ill.append(rows[row][2])
    if draw(st.booleans()):
        i = draw(st.integers(0, len(rows) - 1))
        people[i] = draw(st.sampled_from(everybody))
        ill = draw(st.permutations(ill))
    return release, people, ill


NO_WHOLE_NUMBER = Generalised("v0", intervals=(Interval(7, 7.25),))


@given(shared_out())
@example((release_of({"town": (Generalised("*"),), "age": (NO_WHOLE_NUMBER,)}, [(0, 0, 0)]), [("A", 0)], [0]))
@settings(max_examples=120)
def test_an_audit_decides_whether_the_rows_can_be_those_people(case):
    release, people, ill = case
    table = table_of(people, ill)
    wrong = {finding.code for finding in audit(release, table).findings if finding.severity == "breach"}
    assert (wrong & {"not-covered", "counts-differ"} == set()) == can_be_shared_out(release, people, ill)


def chain(n, last):
    """Groups of one person aged i or i + 1 each; the people are 0, 1, …, and the last one `last`."""
    values = labelled(Generalised("?", intervals=(Interval(i - 1, i + 1),)) for i in range(n))
    release = release_of({"town": (Generalised("*"),), "age": values}, [(0, i, 0) for i in range(n)])
    return release, table_of([("A", i) for i in range(n - 1)] + [("A", last)], [0] * n)


def codes(release, table):
    return Counter(finding.code for finding in audit(release, table).findings)


def test_a_lie_that_no_single_group_shows():
    """Two people aged 0, and only one group for them; every group has people enough, and everybody fits a group."""
    release, table = chain(9, 8)
    assert audit(release, table).holds
    release, table = chain(9, 0)
    assert codes(release, table)["counts-differ"] == 1


def test_too_many_ways_are_said_and_not_sought(monkeypatch):
    release, _ = chain(9, 8)
    values = (*release.generalised["age"], Generalised("w", intervals=(Interval(None, 9),)))
    loose = release_of({"town": (Generalised("*"),), "age": values}, [(0, i, 0) for i in range(9)] + [(0, 9, 0)] * 3)
    people = table_of([("A", i % 9) for i in range(12)], [0] * 12)
    assert audit(loose, people).holds
    assert codes(loose, people)["not-matched"] == 0
    for module, name in ((assigning, "MOST_WAYS"), (assigning, "MOST_CHOICES"), (boxes, "MOST_PAIRS")):
        with monkeypatch.context() as limited:
            limited.setattr(module, name, 1)
            assert codes(loose, people)["not-matched"] == 1
            assert audit(loose, people).holds
            # what needs no search is found all the same
            others = table_of([("A", i % 9) for i in range(12)], [1] + [0] * 11)
            assert not audit(loose, others).holds
            strangers = table_of([(None, None)] + [("A", i % 9) for i in range(11)], [0] * 12)
            assert codes(loose, strangers)["not-covered"] == 1


def test_the_lowest_bit():
    for place in (0, 1, 5, 31, 32, 33, 63):
        word = (np.uint64(1) << np.uint64(place)) | np.uint64(1 << 63)
        assert _boxes._lowest(word) == place
