# SPDX-License-Identifier: Apache-2.0
"""Projections of tiny random tables against joins that are really made and people who are looked at one by one."""

from __future__ import annotations

from itertools import combinations, product

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import audit, to_table
from shoal.audit.rejoined import classes_left
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
    pal = min(fewest(view, [name for name in subset if name in public]) for view, subset in zip(views, subsets))
    sal = None
    for (one, mine), (other, others) in combinations(zip(views, subsets), 2):
        common = [name for name in mine if name in others]
        joined = one.merge(other, on=[*common, "t"])
        seen = [name for name in dict.fromkeys([*mine, *others]) if name in public]
        level = fewest(joined, [*seen, "t"])
        sal = level if sal is None else min(sal, level)
    return pal, sal


def left_for(rows, subsets, public, person) -> set[str]:
    """The classes that are in a person's group of every projection."""
    left = set("klm")
    for subset in subsets:
        seen = [name for name in subset if name in public]
        alike = [
            other
            for other in range(len(rows))
            if all(str(rows[name][other]) == str(rows[name][person]) for name in seen)
        ]
        left &= {rows["t"][other] for other in alike}
    return left


def check(rows, subsets, public, *, overlapping):
    verdict = audit(release_of(rows, subsets, public, overlapping=overlapping), rows)
    assert verdict.holds
    assert (verdict.rejoined.pal, verdict.rejoined.sal) == by_joining(rows, subsets, public)
    left = [left_for(rows, subsets, public, person) for person in range(len(rows))]
    assert verdict.classes_left == min(map(len, left))
    assert verdict.class_certain == sum(len(each) == 1 for each in left)
    seen = [name for name in NAMES if name in public and any(name in subset for subset in subsets)]
    assert verdict.smallest_group == fewest(rows, seen)
    return verdict


@settings(max_examples=60, deadline=None)
@given(projected())
def test_levels_and_certain_classes_are_those_of_the_definitions(drawn):
    check(*drawn, overlapping=False)


@settings(max_examples=40, deadline=None)
@given(projected(overlapping=True))
def test_projections_that_share_columns_are_joined_on_them(drawn):
    check(*drawn, overlapping=True)


@settings(max_examples=40, deadline=None)
@given(projected())
def test_whoever_is_said_to_be_pinned_has_the_same_class_in_every_table_that_looks_alike(drawn):
    rows, subsets, public = drawn
    rows = rows.iloc[:6].reset_index(drop=True)
    verdict = audit(release_of(rows, subsets, public), rows)
    said = {row for each in verdict.pinned if each.column == "t" for row in each.rows.tolist()}

    def told(classes):
        """What is published of the classes: how many of each group of each projection have each."""
        return [
            sorted(zip((tuple(map(str, rows.loc[i, [n for n in s if n in public]])) for i in rows.index), classes))
            for s in subsets
        ]

    true = told(rows["t"])
    possible = [each for each in product("klm", repeat=len(rows)) if told(each) == true]
    certain = {i for i in range(len(rows)) if len({each[i] for each in possible}) == 1}
    assert said <= certain
    left, _ = classes_left([pd.factorize(rows[s].astype(str).agg("|".join, axis=1))[0] for s in subsets], codes(rows))
    assert (left >= 1).all()


def codes(rows):
    return pd.factorize(rows["t"])[0]
