# SPDX-License-Identifier: Apache-2.0
"""Tables that somebody else anonymised, alone and against the rows, with covering by enumeration as the oracle."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.audit import AnonymisedTable, audit, risks
from shoal.errors import DataError, HierarchyError, RoleError, ShoalError
from shoal.privacy import Confidence, DistinctDiversity, KAnonymity

CITIES = {"*": {"north": ["aa", "ab"], "south": ["ba", "bb"]}}

# every cell as it is written, and what it means
AGES = {
    "*": lambda x: True,
    "[0, 2)": lambda x: x in (0, 1),
    "[1-3]": lambda x: x in (1, 2, 3),
    "2-3": lambda x: x in (2, 3),
    ">0": lambda x: x > 0,
    "<=1": lambda x: x <= 1,
    "3+": lambda x: x == 3,
    "{0, 2}": lambda x: x in (0, 2),
    **{str(n): (lambda x, n=n: x == n) for n in range(4)},
}
TOWNS = {
    "*": lambda x: True,
    "a*": lambda x: x[0] == "a",
    "*b": lambda x: x[1] == "b",
    "b*": lambda x: x[0] == "b",
    "north": lambda x: x in ("aa", "ab"),
    "south": lambda x: x in ("ba", "bb"),
    "{aa, bb}": lambda x: x in ("aa", "bb"),
    **{town: (lambda x, town=town: x == town) for town in ("aa", "ab", "ba", "bb")},
}
ILLS = ("flu", "cold")

person = st.tuples(st.integers(0, 3), st.sampled_from(("aa", "ab", "ba", "bb")), st.sampled_from(ILLS))
originals = st.lists(person, min_size=1, max_size=9)


def frame(rows, names=("age", "town", "ill")):
    return pd.DataFrame(rows, columns=list(names))


def codes(verdict):
    return [finding.code for finding in verdict.findings]


@given(originals, st.data(), st.integers(1, 4))
@settings(max_examples=150)
def test_people_are_grouped_by_the_published_groups_they_fit(rows, data, k):
    published = []
    for age, town, ill in rows:
        published.append(
            (
                data.draw(st.sampled_from([cell for cell, fits in AGES.items() if fits(age)])),
                data.draw(st.sampled_from([cell for cell, fits in TOWNS.items() if fits(town)])),
                ill,
            )
        )
    table = AnonymisedTable(frame(published), hierarchies={"town": CITIES})
    verdict = audit(table, frame(rows), privacy=k, sensitive=["ill"])
    groups = sorted({row[:2] for row in published})
    fits = [frozenset(g for g in groups if AGES[g[0]](row[0]) and TOWNS[g[1]](row[1])) for row in rows]
    size = Counter(fits)
    assert verdict.size_of_row.tolist() == [size[each] for each in fits]
    assert len({(a, b) for a, b in zip(fits, verdict.groups.of_row, strict=True)}) == len(size) == verdict.n_groups
    assert verdict.smallest_group == min(size.values())
    assert verdict.holds == (min(size.values()) >= k)
    assert not {"not-covered", "counts-differ", "left-out"} & set(codes(verdict))
    equal = min(Counter(row[:2] for row in published).values())
    assert ("overlapping-groups" in codes(verdict)) == (equal != min(size.values()))
    alone = audit(table, privacy=k, sensitive=["ill"])
    assert alone.smallest_group == equal
    assert alone.group_sizes.tolist() == sorted(Counter(row[:2] for row in published).values())


@given(
    originals,
    st.lists(
        st.tuples(st.sampled_from(sorted(AGES)), st.sampled_from(sorted(TOWNS)), st.sampled_from(ILLS)),
        min_size=1,
        max_size=9,
    ),
)
@settings(max_examples=150)
def test_whom_no_published_row_covers(rows, published):
    table = AnonymisedTable(frame(published), hierarchies={"town": CITIES})
    everybody = frame([*rows, *((0, town, "flu") for town in ("aa", "ab", "ba", "bb"))])
    verdict = audit(table, everybody, privacy=1, sensitive=["ill"])
    bare = [
        not any(AGES[a](age) and TOWNS[t](town) for a, t, _ in published)
        for age, town in zip(everybody["age"], everybody["town"], strict=True)
    ]
    said = {finding.code: finding.people for finding in verdict.findings}
    if len(published) != len(everybody) and "left-out" not in said:
        assert "counts-differ" in said
    assert said.get("not-covered", said.get("left-out", 0)) == sum(bare)
    # they are in no group, so nothing of them can be told
    assert all(verdict.groups.n_bins[verdict.groups.of_row[bare]] == 1)


ROWS = [(21, "13053", "flu"), (23, "13068", "cold"), (31, "14850", "flu"), (38, "14853", "ulcer")]
CELLS = [
    ("[20, 30)", "130**", "flu"),
    ("[20, 30)", "130**", "cold"),
    ("30-39", "148**", "flu"),
    ("30-39", "148**", "ulcer"),
]
NAMES = ("age", "zip", "ill")


def test_a_true_table_holds():
    verdict = audit(AnonymisedTable(frame(CELLS, NAMES)), frame(ROWS, NAMES), privacy=2, sensitive=["ill"])
    assert verdict.holds
    assert verdict.smallest_group == 2
    assert verdict.what == "a table of 4 rows that somebody anonymised"
    assert not verdict.findings


@pytest.mark.parametrize("place", range(4))
def test_a_changed_private_value_is_noticed(place):
    rows = [row if i != place else (*row[:2], "cancer") for i, row in enumerate(CELLS)]
    verdict = audit(AnonymisedTable(frame(rows, NAMES)), frame(ROWS, NAMES), privacy=2, sensitive=["ill"])
    assert "counts-differ" in codes(verdict)
    assert not verdict.holds


def test_a_false_cell_is_noticed():
    rows = [*CELLS[:3], ("40-49", "148**", "ulcer")]
    verdict = audit(AnonymisedTable(frame(rows, NAMES)), frame(ROWS, NAMES), privacy=1, sensitive=["ill"])
    assert not verdict.holds
    assert "counts-differ" in codes(verdict)


def test_rows_that_were_left_out_are_noted():
    verdict = audit(AnonymisedTable(frame(CELLS[:2], NAMES)), frame(ROWS, NAMES), privacy=2, sensitive=["ill"])
    assert verdict.holds
    (finding,) = verdict.findings
    assert (finding.code, finding.severity, finding.people) == ("left-out", "note", 2)


def test_overlapping_intervals_are_worse_than_equal_cells_say():
    people = frame([(22, "a"), (27, "b"), (27, "c"), (33, "d")], ("age", "ill"))
    cells = frame([("20-30", "a"), ("20-30", "b"), ("25-35", "c"), ("25-35", "d")], ("age", "ill"))
    table = AnonymisedTable(cells)
    assert audit(table, privacy=2, sensitive=["ill"]).holds
    verdict = audit(table, people, privacy=2, sensitive=["ill"])
    assert (verdict.holds, verdict.smallest_group) == (False, 1)
    said = next(finding for finding in verdict.findings if finding.code == "overlapping-groups")
    assert said.severity == "warning"
    assert "smallest group has 2 people" in said.message
    assert "it has 1, as groups overlap and some people fit groups that no others fit" in said.message
    assert verdict.rows_at_risk.tolist() == [0, 3]


def test_overlapping_intervals_are_better_than_equal_cells_say():
    people = frame([(22, "a"), (22, "b"), (22, "c")], ("age", "ill"))
    cells = frame([("20-25", "a"), ("20-30", "b"), ("20-30", "c")], ("age", "ill"))
    verdict = audit(AnonymisedTable(cells), people, privacy=3, sensitive=["ill"])
    assert (verdict.holds, verdict.smallest_group) == (True, 3)
    assert [(f.code, f.severity) for f in verdict.findings] == [("overlapping-groups", "note")]


def test_suppressed_rows_are_noted_and_cells_of_them_could_match_any():
    cells = frame([("20-29", "a"), ("20-29", "b"), ("*", "c")], ("age", "ill"))
    verdict = audit(AnonymisedTable(cells), privacy=2, sensitive=["ill"])
    assert codes(verdict).count("suppressed-rows") == 1
    assert (verdict.smallest_group, verdict.missing.people, verdict.missing.smallest) == (1, 1, 3)
    assert "A group of 1 person: nothing is said of them." in str(verdict)
    own = audit(AnonymisedTable(cells, suppressed=["any"]), privacy=2, sensitive=["ill"])
    assert own.missing is None


def test_an_empty_cell_may_be_a_suppressed_one():
    people = frame([("f", "a"), ("m", "b"), ("m", "c")], ("sex", "ill"))
    cells = frame([(None, "a"), ("m", "b"), ("m", "c")], ("sex", "ill"))
    assert "not-covered" in codes(audit(AnonymisedTable(cells), people, privacy=1, sensitive=["ill"]))
    verdict = audit(AnonymisedTable(cells, suppressed=["*", ""]), people, privacy=1, sensitive=["ill"])
    assert verdict.holds
    assert verdict.group_sizes.tolist() == [1, 2]
    alone = audit(AnonymisedTable(cells, suppressed=["*", ""]), privacy=1, sensitive=["ill"])
    assert (alone.missing.people, alone.missing.smallest) == (1, 3)


def test_missing_is_a_value_like_others_in_both_tables():
    people = frame([("f", "a"), (None, "b"), (None, "c")], ("sex", "ill"))
    verdict = audit(AnonymisedTable(people), people, privacy=1, sensitive=["ill"])
    assert verdict.holds
    assert verdict.group_sizes.tolist() == [1, 2]
    assert (verdict.missing.people, verdict.missing.smallest) == (2, 3)


def test_columns_that_say_nothing_of_anybody():
    people = frame([(1, "x", "a"), (2, "y", "b")], ("age", "name", "ill"))
    cells = frame([("*", "*", "a"), ("*", "*", "b")], ("age", "name", "ill"))
    verdict = audit(AnonymisedTable(cells), people, privacy=2, sensitive=["ill"])
    assert (verdict.holds, verdict.smallest_group) == (True, 2)
    alone = audit(AnonymisedTable(cells), privacy=2, sensitive=["ill"])
    assert alone.holds
    assert alone.missing is None


def test_without_a_private_column_nothing_can_be_told():
    cells = frame([("20-29", "130**"), ("30-39", "148**")], ("age", "zip"))
    verdict = audit(AnonymisedTable(cells), privacy=2)
    assert (verdict.holds, verdict.smallest_group) == (True, None)
    people = frame([(21, "13001"), (35, "14801")], ("age", "zip"))
    assert audit(AnonymisedTable(cells), people, privacy=2).smallest_group is None


def test_numbers_with_masks_are_read_as_text():
    people = frame([(13053, "a"), (13068, "b"), (14850, "c")], ("zip", "ill"))
    cells = frame([("130**", "a"), ("130**", "b"), ("14850", "c")], ("zip", "ill"))
    verdict = audit(AnonymisedTable(cells), people, privacy=1, sensitive=["ill"])
    assert verdict.holds
    assert verdict.group_sizes.tolist() == [1, 2]


def test_values_and_groups_of_sensitive_columns():
    table = AnonymisedTable(frame(CELLS, NAMES))
    assert audit(table, privacy=DistinctDiversity(2), sensitive=["ill"]).holds
    assert not audit(table, privacy=KAnonymity(2) & Confidence(0.4), sensitive=["ill"]).holds
    flu = frame([(a, z, "flu" if a == "30-39" else i) for a, z, i in CELLS], NAMES)
    verdict = audit(AnonymisedTable(flu), privacy=2, sensitive=["ill"])
    assert verdict.holds
    assert [(f.code, f.people) for f in verdict.findings] == [("value-certain", 2)]
    assert verdict.measures[0].certain == 2
    assert verdict.to_json()["measures"][0]["distinct_l"] == 1


def test_people_with_several_rows():
    visits = frame([(1, "a", "x"), (1, "a", "y"), (2, "a", "x"), (3, "b", "y")], ("who", "town", "ill"))
    verdict = audit(AnonymisedTable(visits), privacy=2, sensitive=["ill"], person="who", public=["town"])
    assert verdict.group_sizes.tolist() == [1, 2]
    against = audit(
        AnonymisedTable(visits.drop(columns="who")), visits, privacy=2, sensitive=["ill"], person="who", public=["town"]
    )
    assert against.group_sizes.tolist() == [1, 2]
    shorter = AnonymisedTable(visits.drop(columns="who").iloc[:3])
    found = audit(shorter, visits, privacy=1, sensitive=["ill"], person="who", public=["town"])
    assert "counts-differ" in codes(found)


def test_a_file(tmp_path):
    path = tmp_path / "clinic.csv"
    path.write_text('age,zip,ill\n"[20, 30[",130**,flu\n"[20, 30[",130**,cold\n*,*,flu\n', encoding="utf-8")
    table = AnonymisedTable(path)
    assert repr(table) == "<AnonymisedTable: 3 rows, 3 columns>"
    verdict = audit(table, privacy=2, sensitive=["ill"])
    assert verdict.smallest_group == 1
    assert verdict.public == ("age", "zip")
    assert verdict.sha256 == AnonymisedTable(path).sha256 != AnonymisedTable(frame(CELLS, NAMES)).sha256


@pytest.mark.parametrize(
    ("call", "error", "code"),
    [
        (lambda: audit(AnonymisedTable(frame(CELLS, NAMES)), frame(ROWS, NAMES)), ShoalError, "no-requirement"),
        (lambda: audit(AnonymisedTable(frame(CELLS, NAMES)), privacy=2, public="age"), RoleError, "roles"),
        (lambda: audit(AnonymisedTable(frame(CELLS, NAMES)), privacy=2, public=["agee"]), RoleError, "roles"),
        (lambda: audit(AnonymisedTable(frame(CELLS, NAMES)), y="ill", privacy=2), DataError, "no-target"),
        (
            lambda: audit(AnonymisedTable(frame(CELLS, NAMES)), frame(ROWS, NAMES).drop(columns="zip"), privacy=2),
            DataError,
            "no-column",
        ),
        (lambda: AnonymisedTable(frame(CELLS, NAMES), suppressed="*"), DataError, "suppressed"),
        (
            lambda: AnonymisedTable(frame(CELLS, NAMES), hierarchies={"agee": CITIES}),
            HierarchyError,
            "hierarchy-no-column",
        ),
        (
            lambda: audit(
                AnonymisedTable({"town": ["north", "north"], "ill": ["a", "b"]}),
                {"town": ["aa", "ab"], "ill": ["a", "b"]},
                privacy=2,
                public=["town"],
            ),
            DataError,
            "unknown-label",
        ),
        (lambda: risks(audit(AnonymisedTable(frame(CELLS, NAMES)), privacy=2), threshold=1), DataError, "threshold"),
    ],
)
def test_mistakes_are_told(call, error, code):
    with pytest.raises(error) as caught:
        call()
    assert caught.value.code == code


def test_columns_of_very_many_numbers_are_compared():
    """20,000 different cells over as many pieces: no table of all pairs is made."""
    numbers = np.repeat(np.arange(20_000), 2)
    rows = {"pay": numbers, "ill": ["n", "y"] * 20_000}
    published = AnonymisedTable({**rows, "pay": [f"{number}-{number}" for number in numbers]})
    verdict = audit(published, rows, privacy=2, sensitive=["ill"])
    assert (verdict.holds, verdict.n_groups, verdict.smallest_group) == (True, 20_000, 2)
    assert not audit(published, {**rows, "pay": numbers[::-1] // 2}, privacy=2, sensitive=["ill"]).holds


def test_messages_show_no_private_cell():
    cells = [(a, z, f"secret-{i}") for a, z, i in CELLS]
    rows = [(a, z, f"secret-{i}") for a, z, i in ROWS]
    verdict = audit(AnonymisedTable(frame(cells, NAMES)), frame(rows, NAMES), privacy=9, sensitive=["ill"])
    alone = audit(AnonymisedTable(frame(cells, NAMES)), privacy=9, sensitive=["ill"])
    assert "secret" not in f"{verdict} {verdict.to_json()} {alone} {alone.to_json()}"


def test_risks_of_a_table_and_a_population():
    table = frame([("a", 1), ("a", 2), ("b", 3)], ("town", "ill"))
    verdict = audit(AnonymisedTable(table), privacy=1, sensitive=["ill"])
    assert verdict.risk == risks(verdict)
    assert verdict.risk.prosecutor.highest == 1
    assert verdict.risk.marketer == verdict.risk.prosecutor.average == pytest.approx(2 / 3)
    assert (verdict.risk.prosecutor.above, verdict.risk.unique, verdict.risk.journalist) == (1, 1, None)
    found = risks(verdict, population={"town": ["a"] * 8 + ["b"] * 4 + ["c"]}, threshold=0.2)
    assert (found.journalist.highest, found.journalist.above) == (0.25, pytest.approx(1 / 3))
    assert found.marketer == found.journalist.average == pytest.approx((2 / 8 + 1 / 4) / 3)
    assert "journalist risk: highest 25.00%, average 16.67%" in str(found)
    with pytest.raises(DataError) as caught:
        risks(verdict, population={"town": ["a"]})
    assert caught.value.code == "population-too-small"


def test_a_population_of_exact_rows_for_a_generalised_table():
    people = frame([(21, "a"), (25, "b"), (33, "c")], ("age", "ill"))
    cells = frame([("20-29", "a"), ("20-29", "b"), ("30-39", "c")], ("age", "ill"))
    verdict = audit(AnonymisedTable(cells), people, privacy=1, sensitive=["ill"])
    population = {"age": [*range(20, 30), 31, 33, 35, 39]}
    assert risks(verdict, population=population).journalist.highest == 0.25
    assert np.array_equal(verdict.count_in(population), [10, 4])


def test_a_private_column_may_be_generalised_and_must_be_true():
    people = frame([(21, "a", 10), (25, "b", 20), (33, "c", 30)], ("age", "ill", "salary"))
    cells = frame([("20-29", "a", "10-20"), ("20-29", "b", "10-20"), ("30-39", "c", "*")], ("age", "ill", "salary"))
    verdict = audit(AnonymisedTable(cells), people, privacy=1, public=["age"], sensitive=["ill"])
    assert verdict.holds
    assert verdict.group_sizes.tolist() == [1, 2]
    wrong = audit(
        AnonymisedTable(cells.replace("10-20", "10-15")), people, privacy=1, public=["age"], sensitive=["ill"]
    )
    assert "not-covered" in codes(wrong)
    # a private column alone tells nobody apart, however fine it is
    assert audit(AnonymisedTable(cells), people, privacy=3, public=[], sensitive=["ill"]).smallest_group == 3


def test_a_hierarchy_says_what_its_labels_mean_even_if_they_look_like_numbers():
    people = frame([(89, "a"), (90, "b")], ("age", "ill"))
    cells = frame([("80-89", "a"), ("80-89", "b")], ("age", "ill"))
    assert "not-covered" in codes(audit(AnonymisedTable(cells), people, privacy=2, sensitive=["ill"]))
    meant = AnonymisedTable(cells, hierarchies={"age": {"*": {"80-89": ["89", "90"]}}})
    assert audit(meant, people, privacy=2, sensitive=["ill"]).holds
