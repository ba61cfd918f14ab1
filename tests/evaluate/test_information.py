# SPDX-License-Identifier: Apache-2.0
"""Non-uniform entropy, precision, and rows that are left out, by hand and as ARX defines them."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.anonymize import OneDimensional
from shoal.anonymize.method import Recoding, RecodingAnonymizer
from shoal.evaluate import measure_table, non_uniform_entropy, precision

TREE = {"*": {"left": ["a", "b"], "right": {"r1": ["c"], "r2": ["d", "e"]}}}


class OneLevel(RecodingAnonymizer):
    """Every public column at one level of its ladder; small groups are left out."""

    def __init__(self, privacy=2, *, level=0, public=None, hierarchies=None, domain=None, suppress=0.9):
        self.privacy, self.level, self.public, self.domain = privacy, level, public, domain
        self.sensitive, self.person, self.hierarchies = (), None, hierarchies
        self.suppress, self.reproducible = suppress, True

    def _recode(self, task):
        maps = {name: ladder.at(min(self.level, len(ladder) - 1)) for name, ladder in task.ladders.items()}
        columns = [maps[name].recode(task.rows[name]).codes for name in task.public]
        _, group = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
        group = group.reshape(-1)
        left_out = ~task.keeps(group, int(group.max()) + 1)[group]
        return Recoding.of_columns(maps, task.rows, left_out if left_out.any() else None)


@pytest.fixture
def letters():
    return pd.DataFrame({"h": list("aabcdde"), "t": list("ppqqppp")})


def test_entropy_by_hand(letters):
    """{a, a, b} and {c, d, d, e}: H(2/3, 1/3) for three people and H(1/4, 1/2, 1/4) for four."""
    release = OneLevel(level=1, hierarchies={"h": {"*": {"left": ["a", "b"], "right": ["c", "d", "e"]}}})
    release = release.fit(letters, "t").release_
    lost = 3 * (math.log2(3) - 2 / 3) + 4 * 1.5
    most = 2 * 2 * math.log2(7 / 2) + 3 * math.log2(7)
    assert non_uniform_entropy(release, letters) == pytest.approx(lost / most)
    exact = OneLevel(1).fit(letters, "t").release_
    assert non_uniform_entropy(exact, letters) == 0
    everything = OneLevel(7, level=9).fit(letters, "t").release_
    assert non_uniform_entropy(everything, letters) == pytest.approx(1)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 6)), min_size=4, max_size=25),
    st.integers(0, 2),
    st.integers(1, 3),
)
def test_entropy_is_that_of_arx_where_recoding_is_global(rows, level, k):
    """Sum of -log2(n(value) / n(cell)) over cells, n in the original rows; a row that is left out says nothing."""
    frame = pd.DataFrame(rows, columns=["h", "n"]).assign(t="p")
    method = OneLevel(k, level=level, hierarchies={"h": TREE, "n": {"intervals": [2, 4]}}, domain={"n": [0, 6]})
    try:
        release = method.fit(frame, "t").release_
    except ValueError:
        return  # everybody would be left out
    shares = []
    for name in ("h", "n"):
        n = Counter(frame[name])
        most = sum(-math.log2(n[value] / len(frame)) for value in frame[name])
        if not most:
            continue
        cell = method.transform(frame)[name].tolist()
        of_cell = Counter(cell)
        published = Counter(release.to_frame()[name])
        lost = 0.0
        for label, value in {*zip(cell, frame[name], strict=True)}:
            # of the rows with a cell, as many as are published; the others are as good as an asterisk
            part = published[label] / of_cell[label]
            bits = -math.log2(n[value] / of_cell[label])
            lost += part * n[value] * bits
        lost += release.left_out * most / len(frame)
        shares.append(lost / most)
    expected = sum(shares) / len(shares) if shares else 0
    assert non_uniform_entropy(release, frame) == pytest.approx(expected, abs=1e-9)


def test_entropy_of_a_local_recoding_and_of_missing_values():
    frame = pd.DataFrame({"age": [20.0, 20, None, None, 30, None], "t": list("pqpqpq")})
    release = OneDimensional(2).fit(frame, "t").release_
    labels = sorted(cell.label for cell in release.generalised["age"])
    assert labels == ["", "<=25", ">25 or (missing)"]
    most = 1 / 3 * math.log2(3) + 1 / 6 * math.log2(6) + 1 / 2
    mixed = 3 / 4 * math.log2(4 / 3) + 1 / 4 * 2  # one of 30, three missing
    assert non_uniform_entropy(release, frame) == pytest.approx(2 / 6 * mixed / most)


def test_precision_by_hand(letters):
    hierarchies = {"h": TREE}  # a, b, c, {d, e}; {a, b}, {c, d, e}; *: levels 0 to 3
    levels = [OneLevel(1, level=level, hierarchies=hierarchies).fit(letters, "t").release_ for level in range(4)]
    assert sorted(cell.label for cell in levels[1].generalised["h"]) == ["a", "b", "c", "r2"]
    # at level 1 only the three people of {d, e} are generalised: a value that is told exactly has height 0
    heights = [0, 3 / 7 / 3, 2 / 3, 1]
    assert [precision(each, hierarchies) for each in levels] == pytest.approx([1 - height for height in heights])


def test_precision_of_numbers_and_without_levels():
    frame = pd.DataFrame({"age": [20, 21, 30, 37, 38, 52], "t": list("pqpqpq")})
    hierarchies = {"age": {"intervals": [10, 20]}}  # exact, tens, twenties, *: heights 0, 1/3, 2/3, 1
    release = OneDimensional(2, hierarchies=hierarchies).fit(frame, "t").release_
    assert sorted(cell.label for cell in release.generalised["age"]) == ["*", "30-39", "<=29"]
    assert precision(release, hierarchies) == pytest.approx(1 - (1 / 3 + 1 / 3 + 1) / 3)
    # without levels the share of 20 to 52 that is open: 9/32, 9/32 and 1
    assert precision(release) == pytest.approx(1 - (9 / 32 + 9 / 32 + 1) / 3)
    own = OneDimensional(2).fit(frame, "t").release_
    # <=25, 26-37 and >=38 are not intervals of any level but *, nor is 26-37 one of twenties (20-39)
    assert precision(own, hierarchies) == pytest.approx(1 - (1 / 3 + 2 / 3 + 1) / 3)


def test_rows_that_are_left_out_are_counted():
    frame = pd.DataFrame({"town": list("AABBBCD"), "t": list("pqpqqpp")})
    release = OneLevel(2).fit(frame, "t").release_
    assert (release.n_rows, release.left_out) == (5, 2)
    measured = measure_table(release, frame)
    assert measured.cm == 1 + 1 + 2
    assert measured.dm == 4 + 9 + 2 * 7
    assert measured.lm == pytest.approx(2 / 7)
    assert measured.precision == pytest.approx(5 / 7)
    assert measured.average_class_size == pytest.approx(5 / 2 / 2)
    assert measured.left_out == 2
    assert measured.entropy == pytest.approx(2 / 7)
    assert measure_table(release).entropy is None
    assert set(measured.to_json()) >= {"entropy", "precision", "left_out"}
