# SPDX-License-Identifier: Apache-2.0
"""Projections of tiny random tables against joins that are really made and people who are looked at one by one."""

from __future__ import annotations

from itertools import combinations, product

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import audit, to_table
from shoal.data.domain import declare_values
from shoal.privacy import PartAL
from shoal.release import Attribute, ProjectionsRelease
from shoal.release.generalised import Generalised

NAMES = ["a", "b", "c", "d"]


@st.composite
def projected(draw, *, overlapping=False):
    """Rows, the subsets they are projected on, and which columns are public."""
    n = draw(st.integers(2, 14))
    cells = st.sampled_from(["x", "y", "z", None] if draw(st.booleans()) else ["x", "y"])
    rows = pd.DataFrame({name: draw(st.lists(cells, min_size=n, max_size=n)) for name in NAMES}, dtype=object)
    rows["t"] = draw(st.lists(st.sampled_from("klm"), min_size=n, max_size=n))
    if overlapping:
        subsets = draw(st.lists(st.sets(st.sampled_from(NAMES), min_size=1), min_size=2, max_size=3))
    else:
        part = draw(st.lists(st.integers(0, 3), min_size=4, max_size=4))
        subsets = [{name for name, p in zip(NAMES, part, strict=True) if p == i} for i in range(3)]
        subsets = [each for each in subsets if each] or [{"a"}]
    public = draw(st.sets(st.sampled_from(NAMES)))
    return rows, [sorted(each) for each in subsets], public


def release_of(rows, subsets, public, *, overlapping=False) -> ProjectionsRelease:
    table = to_table(rows, kinds=dict.fromkeys(rows.columns, "categorical"))
    table = table.with_column(declare_values(table["t"], ("k", "l", "m")))
    attributes, generalised, columns = [], {}, []
    for name in [*NAMES, "t"]:
        column = table[name]
        role = "public" if name in public else "private"
        attributes.append(Attribute.of(column, role))
        if role == "public":
            cells = [Generalised(value, values=(value,)) for value in column.names]
            cells += [Generalised("", missing=True)] if column.missing else []
            generalised[name] = tuple(cells)
            labels = tuple(cell.label for cell in cells)
            columns.append(type(column)(name, "categorical", column.codes, labels))
        else:
            columns.append(column)
    return ProjectionsRelease.of(
        type(table)(columns), "t", attributes, generalised, subsets, PartAL(1), overlapping=overlapping
    )


def fewest(frame: pd.DataFrame, names: list[str]) -> int:
    """The fewest equal rows, missing being a value."""
    if not names:
        return len(frame)
    return int(frame.fillna("missing").groupby(names).size().min())


def by_joining(rows, subsets, public):
    """PAL and SAL from joins that are made."""
    views = [rows[[*subset, "t"]].fillna("missing") for subset in subsets]
    pal = min(
        fewest(view, [name for name in subset if name in public]) for view, subset in zip(views, subsets, strict=True)
    )
    sal = None
    for (one, mine), (other, others) in combinations(zip(views, subsets, strict=True), 2):
        common = [name for name in mine if name in others]
        joined = one.merge(other, on=[*common, "t"])
        level = fewest(joined, [*(name for name in dict.fromkeys([*mine, *others]) if name in public), "t"])
        sal = level if sal is None else min(sal, level)
    return pal, sal


def left_for(rows, subsets, public) -> list[set[str]]:
    """For each person the classes of the rows, of all projections joined again, that have his public values."""
    views = [rows[[*subset, "t"]].fillna("missing").drop_duplicates() for subset in subsets]
    whole = views[0]
    for view in views[1:]:
        whole = whole.merge(view, on=[name for name in view if name in whole])
    seen = [name for name in whole if name in public]
    said = list(zip(whole[seen].itertuples(index=False, name=None), whole["t"], strict=True))
    people = rows[seen].fillna("missing").itertuples(index=False, name=None)
    return [{label for values, label in said if values == person} for person in people]


def check(rows, subsets, public, *, overlapping):
    verdict = audit(release_of(rows, subsets, public, overlapping=overlapping), rows)
    assert verdict.holds
    assert (verdict.rejoined.pal, verdict.rejoined.sal) == by_joining(rows, subsets, public)
    left = left_for(rows, subsets, public)
    if any(len(set(one) & set(other) - public) for one, other in combinations(subsets, 2)):
        # whose rows can be put together by private values is not worked out: it is never more than is said
        assert "linked-by-private" in {finding.code for finding in verdict.findings}
        assert verdict.classes_left <= min(map(len, left))
        assert verdict.class_certain >= sum(len(each) == 1 for each in left)
    else:
        assert verdict.classes_left == min(map(len, left))
        assert verdict.class_certain == sum(len(each) == 1 for each in left)
    seen = [name for name in NAMES if name in public and any(name in subset for subset in subsets)]
    assert verdict.smallest_group == fewest(rows, seen)
    return verdict


@settings(max_examples=50, deadline=None)
@given(projected())
def test_levels_and_certain_classes_are_those_of_the_definitions(drawn):
    check(*drawn, overlapping=False)


@settings(max_examples=30, deadline=None)
@given(projected(overlapping=True))
def test_projections_that_share_columns_are_joined_on_them(drawn):
    check(*drawn, overlapping=True)


@settings(max_examples=30, deadline=None)
@given(projected())
def test_whoever_is_said_to_be_pinned_has_the_same_class_in_every_table_that_looks_alike(drawn):
    rows, subsets, public = drawn
    rows = rows.iloc[:5].reset_index(drop=True)
    verdict = audit(release_of(rows, subsets, public), rows)
    said = {row for each in verdict.pinned if each.column == "t" for row in each.rows.tolist()}

    seen = [[name for name in subset if name in public] for subset in subsets]
    keys = [[tuple(map(str, row)) for row in rows[names].itertuples(index=False)] for names in seen]

    def told(classes):
        """What is published of the classes: how many of each group of each projection have each."""
        return [sorted(zip(key, classes, strict=True)) for key in keys]

    true = told(rows["t"])
    possible = [each for each in product("klm", repeat=len(rows)) if told(each) == true]
    certain = {i for i in range(len(rows)) if len({each[i] for each in possible}) == 1}
    assert said <= certain
