# SPDX-License-Identifier: Apache-2.0
"""The second figure of a released tree and of a released table, against all pairs of people."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import oracle
from helpers.strategies import cases, trees
from shoal import audit
from shoal.audit.unknowns import MissingFigure
from shoal.data.table import Column, Table
from shoal.release import Attribute, TableRelease
from shoal.release.generalised import Generalised


@st.composite
def trees_of_cases(draw):
    case = draw(cases())
    for i, row in enumerate(case.rows):
        for name in case.roles.public:
            if i == 0 and row[name] is None:
                row[name] = case.domain[name][0]  # a column without any value is no column
            elif i > 0 and draw(st.integers(0, 3)) == 0:
                row[name] = None
    return case, draw(trees(case))


@given(trees_of_cases(), st.integers(1, 4))
@settings(max_examples=100)
def test_a_tree_is_asked_about_every_way_to_fill_in(pair, k):
    case, release = pair
    body = release.to_json()
    asked = {node["attribute"] for node in body["nodes"] if "attribute" in node} & case.public
    found = audit(release, case.table, privacy=k).missing
    lacking = sum(any(row[name] is None for name in asked) for row in case.rows)
    spans = oracle.groups(body, case.rows, case.public)
    choices = {}
    for name in asked:
        values = case.domain[name]
        occurring = {row[name] for row in case.rows} - {None}
        choices[name] = sorted(values if isinstance(values[0], str) else occurring)

    def possible(row):
        gaps = [name for name in asked if row[name] is None]
        ways = itertools.product(*(choices[name] for name in gaps))
        return {oracle.span(body, {**row, **dict(zip(gaps, way, strict=True))}, case.public) for way in ways}

    sets = [possible(row) for row in case.rows]
    matches = [sum(bool(a & b) for b in sets) for a in sets]
    counts_for = [len(each) > 1 for each in spans]
    if not lacking or not any(counts_for):
        assert found is None
        return
    few = [n for n, counts in zip(matches, counts_for, strict=True) if counts]
    assert found == MissingFigure(lacking, k, min(few), sum(n < k for n in few))


def test_a_released_table_says_how_missing_was_counted():
    sex = Attribute("sex", "public", "categorical", values=("f", "m"), missing=True)
    ill = Attribute("ill", "private", "categorical", values=("no", "yes"))
    cells = (Generalised("f", values=("f",)), Generalised("m", values=("m",)), Generalised("", missing=True))
    rows = Table(
        [
            Column("sex", "categorical", np.array([0, 0, 1, 2, 2]), ("f", "m", "")),
            Column("ill", "categorical", np.array([0, 1, 0, 0, 1]), ("no", "yes")),
        ]
    )
    claims = ({"requirement": "k-anonymity", "k": 3},)
    verdict = audit(TableRelease(None, (sex, ill), claims, rows, {"sex": cells}))
    assert verdict.smallest_group == 1
    assert verdict.missing == MissingFigure(people=2, k=3, smallest=3, below=0)
    assert audit(TableRelease(None, (sex, ill), claims, rows.take(np.arange(3)), {"sex": cells})).missing is None
