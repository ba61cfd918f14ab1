# SPDX-License-Identifier: Apache-2.0
"""The experiments of Matatov et al.: a small run, how features are ranked, and the page of what was measured."""

import json
from pathlib import Path

import numpy as np
import pytest

from shoal import to_table
from shoal.papers.dmpd import Unit, plain_accuracy
from shoal.papers.dmpd_data import rank_features, read_study
from shoal.papers.dmpd_published import LEVELS, TABLE_1
from shoal.papers.dmpd_tables import PARTS, Measured, merge_parts, page_part, ranks, top_of

ROOT = Path(__file__).parents[2]


def test_features_are_ranked_by_the_roots_of_trees_without_those_before():
    """The class is `b`; `a` says it four times in five, `c` says nothing at all."""
    b = np.arange(200) % 2
    a = np.where(np.arange(200) % 5 == 0, 1 - b, b)
    c = (np.arange(200) // 2) % 2
    rows = to_table({"c": c.astype(str), "a": a.astype(str), "b": b.astype(str), "class": b.astype(str)})
    assert rank_features(rows, "class", 2) == ("b", "a")
    assert rank_features(rows, "class", 9) == ("b", "a", "c")


def test_a_plain_model_is_judged_on_rows_it_has_not_seen():
    train = to_table({"a": ["x", "x", "x", "y", "y", "y"], "class": ["0", "0", "0", "1", "1", "1"]})
    test = to_table({"a": ["x", "y", "y", "z"], "class": ["0", "1", "0", "0"]})
    assert plain_accuracy(train, test, "class", "bayes") == 0.75  # what is unknown is the first class here


@pytest.mark.parametrize(
    ("name", "rows", "first"),
    [
        ("credit", 653, "A9"),
        ("vote", 232, "physician-fee-freeze"),
        ("german", 1000, "checking_status"),
        ("heart", 270, "thal"),
        ("pima", 768, "glucose"),
        ("nursery", 12_958, "health"),
    ],
)
def test_tables_have_the_rows_and_the_first_feature_of_the_study(shoal_data, name, rows, first):
    study = read_study(shoal_data, name)
    assert study.rows.n_rows == rows
    assert study.ranking[0] == first
    one, other = study.halves(3)
    assert sorted([*one[0], *one[1]]) == list(range(rows))
    np.testing.assert_array_equal(one[0], other[1])


@pytest.mark.parametrize("table", ["vote", "pima", "heart", "cmc", "credit", "german", "wisconsin"])
def test_the_papers_accuracies_are_multiples_of_one_over_ten_halves(table):
    """How we know which rows it used: 653 of Credit, 232 of Vote, and the diagnostic Wisconsin data (569)."""
    rows = {"vote": 232, "pima": 768, "heart": 270, "cmc": 1473, "credit": 653, "german": 1000, "wisconsin": 569}
    ten_halves = 10 * (rows[table] // 2 - 1)
    for learner in ("c45", "bayes"):
        for printed in TABLE_1[table, learner][1:]:
            assert abs(100 * round(printed * ten_halves / 100) / ten_halves - printed) < 0.00501


def test_a_small_unit_measures_every_method_and_goes_into_one_file(shoal_data, tmp_path):
    unit = Unit("vote", 5, "bayes", 0)
    lines = unit.run(shoal_data, {"population": 6, "generations": 2})
    again = Unit("vote", 5, "bayes", 0, "cuts").run(shoal_data, {"population": 6, "generations": 2})
    asked = [("baseline", 0), *(("dmpd", k) for k in (1, 10, 20, 30, 50))]
    asked += [(method, k) for method in ("tds", "tdr") for k in (10, 20, 30, 50)]
    assert sorted((line["method"], line.get("k", 0)) for line in lines) == sorted(2 * asked)
    for line in lines:
        assert 0.5 < line["accuracy"] <= 1
        assert line["method"] != "dmpd" or line["level"] >= line["k"]
    # vote has no numbers, so it does not matter what rows they are cut by
    mine = [line["accuracy"] for line in lines if line["method"] == "dmpd"]
    assert mine == [line["accuracy"] for line in again]
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / f"{unit.name}.json").write_text(json.dumps({"versions": {}, "lines": lines}))
    merge_parts(tmp_path / "parts", tmp_path / "all.json")
    measured = Measured.read(tmp_path / "all.json")
    assert measured.repetitions("vote") == 1
    assert measured.cells["vote", 5, "bayes", "dmpd", 10].shape == (1, 2)
    assert measured.mean("vote", 5, "bayes", "dmpd", 10) == pytest.approx(50 * sum(mine[1::5]), abs=1e-3)
    assert measured.mean("vote", 9, "bayes", "dmpd", 10) is None


def test_a_mark_needs_five_repetitions_and_a_difference():
    high = np.full((5, 2), 0.9)
    low = high - 0.1 + np.arange(10).reshape(5, 2) / 1000
    measured = Measured({("a",): high, ("b",): low, ("c",): low[:4]})
    assert measured.better(("a",), ("b",)) == 1
    assert measured.better(("b",), ("a",)) == -1
    assert measured.better(("a",), ("a",)) == measured.better(("a",), ("c",)) == measured.better(("a",), ("d",)) == 0


def test_ranks_are_over_the_cases_that_all_three_methods_have():
    cells = {
        ("t", 5, "c45", method, k): np.full((5, 2), value)
        for k in (10, 20)
        for method, value in (("dmpd", 0.9), ("tds", 0.8), ("tdr", 0.7))
    }
    cells["t", 5, "c45", "dmpd", 1] = np.full((5, 2), 0.9)
    n, friedman, _ = ranks(Measured(cells))
    assert n == 2
    assert friedman.ranks.tolist() == [1, 2, 3]


def test_the_page_shows_what_was_measured():
    measured = Measured.read(ROOT / "benchmarks" / "results" / "dmpd.json")
    page = (ROOT / "docs" / "explanation" / "partitioning-measured.md").read_text()
    for name, make in PARTS:
        assert page_part(page, name) == make(measured), "bring it up to date: benchmarks/dmpd.py --page"


def test_the_printed_tables_agree_with_each_other():
    assert set(LEVELS) == {table for table, _ in TABLE_1}
    assert {table: top_of(table) for table in LEVELS}["pima"] == 8
