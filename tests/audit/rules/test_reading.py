# SPDX-License-Identifier: Apache-2.0
"""Rules from frames and files, and what is refused."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.audit.rules import Rules
from shoal.audit.rules.figures import Share
from shoal.audit.rules.reading import parse_items
from shoal.errors import DataError

BASKETS = pd.DataFrame({"milk": [1, 1, 1, 0], "bread": [1, 1, 0, 0], "rye, dark": [1, 0, 1, 1]}).astype(bool)


def mined(baskets: pd.DataFrame) -> pd.DataFrame:
    from mlxtend.frequent_patterns import association_rules, fpgrowth

    found = fpgrowth(baskets, min_support=0.25, use_colnames=True)
    return association_rules(found, metric="confidence", min_threshold=0.5)


def sides(rules: Rules) -> set[tuple[frozenset[str], frozenset[str]]]:
    return {(rule.antecedent, rule.consequent) for rule in rules}


def test_mlxtend_frame_and_the_file_pandas_writes_of_it(tmp_path):
    frame = mined(BASKETS)
    rules = Rules.from_frame(frame)
    assert sides(rules) == set(zip(frame["antecedents"], frame["consequents"], strict=True))
    assert len(rules) == len(frame) > 5
    frame.to_csv(tmp_path / "rules.csv")
    assert Rules.read(tmp_path / "rules.csv").sha256 == rules.sha256
    frame.to_csv(tmp_path / "rounded.csv", index=False, float_format="%.2f")
    assert Rules.read(tmp_path / "rounded.csv").sha256 != rules.sha256
    assert sides(Rules.read(tmp_path / "rounded.csv", decimals=2)) == sides(rules)


def test_items_that_are_numbers(tmp_path):
    baskets = BASKETS.set_axis([1000, 1001, 1002], axis=1)
    frame = mined(baskets)
    assert Rules.from_frame(frame).items == ("1000", "1001", "1002")
    frame.to_csv(tmp_path / "rules.csv")
    assert Rules.read(tmp_path / "rules.csv").items == ("1000", "1001", "1002")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_frames_as_spark_makes_them(make):
    rules = Rules.from_frame(
        make(
            {
                "antecedent": [["milk"], ["milk", "bread"]],
                "consequent": [["bread"], ["rye"]],
                "confidence": [0.75, 0.5],
                "lift": [1.5, 1.0],
                "support": [0.3, 0.1],
            }
        )
    )
    assert sides(rules) == {
        (frozenset({"milk"}), frozenset({"bread"})),
        (frozenset({"milk", "bread"}), frozenset({"rye"})),
    }
    assert rules.rules[0].consequent_support is not None
    assert rules.rules[0].consequent_support.counts(1000) == (500, 500)


def test_a_frame_of_spark_is_asked_for_pandas():
    class Spark:
        def toPandas(self):
            return pd.DataFrame({"antecedent": [["a"]], "consequent": [["b"]], "confidence": [1.0]})

    (rule,) = Rules.from_frame(Spark())
    assert str(rule) == "a ⇒ b"
    assert rule.support is None


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("milk", {"milk"}),
        (" milk , bread ", {"milk", "bread"}),
        ("", set()),
        ("frozenset({'milk', \"rye's\"})", {"milk", "rye's"}),
        ("frozenset()", set()),
        ("frozenset({np.str_('milk'), np.int64(7)})", {"milk", "7"}),
        ("{'milk', 'bread'}", {"milk", "bread"}),
        ("{1, 2}", {"1", "2"}),
        ("('milk',)", {"milk"}),
        ('["milk", "rye, dark"]', {"milk", "rye, dark"}),
        ("['milk', 'rye, dark']", {"milk", "rye, dark"}),
        ("[1, 2.0]", {"1", "2"}),
    ],
)
def test_sets_of_items_as_text(text, items):
    assert parse_items(text, ",") == items


@pytest.mark.parametrize(
    "text",
    [
        "milk,,bread",
        "frozenset({open('x')})",
        "frozenset({'a'}, {'b'})",
        "frozenset(__import__('os').listdir())",
        "{'a': 1}",
        "{x}",
        "{'a'} | {'b'}",
        "{lambda: 1}",
        "[[1]]",
        "[null]",
        "{(1, 2)}",
        "frozenset({'a'",
        "np.array(['a'])",
        "[" * 3000 + "]" * 3000,
        "(" * 3000,
        "{" + "'a'," * 5000 + "}",
        "{f'{x}'}",
        "{None}",
        "{-'a'}",
        "{np.str_(x='a')}",
        "{os.system('a')}",
    ],
)
def test_what_is_no_set_is_refused_and_never_run(text):
    if text.startswith("np."):
        assert parse_items(text, ",") == {text}  # plain text: one item of that name
        return
    with pytest.raises(ValueError):
        parse_items(text, ",")


@given(st.frozensets(st.text(max_size=6) | st.integers(), max_size=4))
@settings(max_examples=200)
def test_what_python_writes_is_read_back(items):
    assert parse_items(repr(items), ",") == {str(item) for item in items}


@given(st.text(max_size=30))
@settings(max_examples=200)
def test_any_text_is_read_or_refused(text):
    try:
        parse_items(text, ";")
    except ValueError as error:
        assert type(error) is ValueError


def test_another_separator(tmp_path):
    (tmp_path / "rules.csv").write_text("antecedent,consequent,confidence\na;b,c,0.5\n", encoding="utf-8")
    assert sides(Rules.read(tmp_path / "rules.csv", separator=";")) == {(frozenset("ab"), frozenset("c"))}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("antecedents,consequents\na,b\n", "'confidence'"),
        ("consequents,confidence\na,0.5\n", "'antecedents' or 'antecedent'"),
        ("antecedents,consequents,confidence\n", "no rules"),
        ("antecedents,consequents,confidence\na,b,c,0.5\n", "Row 1"),
        ("antecedents,consequents,confidence\na,b,0.5\na,,0.5\n", "row 2: there are no consequents"),
        ("antecedents,consequents,confidence\na,b,0.5\na,a,0.5\n", "row 2: an item is on both sides"),
        ("antecedents,consequents,confidence\na,b,1.5\n", "row 1: confidence is no share"),
        ("antecedents,consequents,confidence\na,b,\n", "row 1: there is no confidence"),
        ("antecedents,consequents,confidence\na,b,high\n", "row 1: confidence is no share"),
        ("antecedents,consequents,confidence\na,b,1e999999999\n", "row 1: confidence is no share"),
        ("antecedents,consequents,confidence\na,b,-0.1\n", "row 1: confidence is no share"),
        ("antecedents,consequents,confidence,lift\na,b,0.5,x\n", "row 1: lift is no number"),
        ("antecedents,consequents,confidence\n{open('f')},b,0.5\n", "row 1: antecedents is no set of items"),
        ("antecedents,consequents,confidence\n" + "a,,0.5\n" * 9, "9 row.s. are no rules.*and 6 more"),
    ],
)
def test_bad_files_are_refused_in_words(tmp_path, text, message):
    (tmp_path / "rules.csv").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message) as error:
        Rules.read(tmp_path / "rules.csv")
    assert error.value.code == "bad-rules"


def test_a_file_that_is_no_text(tmp_path):
    (tmp_path / "rules.csv").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(DataError) as error:
        Rules.read(tmp_path / "rules.csv")
    assert error.value.code == "bad-rules"


def test_bad_frames():
    with pytest.raises(DataError, match="row 1: antecedents is no set"):
        Rules.from_frame({"antecedents": [3], "consequents": [["b"]], "confidence": [0.5]})
    with pytest.raises(DataError, match="Cannot read rules from 'int'"):
        Rules.from_frame(3)
    for decimals in (-1, 1.5, True, 13):
        with pytest.raises(DataError) as error:
            Rules.from_frame({}, decimals=decimals)
        assert error.value.code == "decimals"


@given(st.integers(1, 10**7), st.data())
@settings(max_examples=200)
def test_a_computed_share_is_one_count(n, data):
    count = data.draw(st.integers(0, n))
    assert Share.of(count / n).counts(n) == (count, count)
    assert Share.of(np.float64(count) / n).counts(n) == (count, count)


@given(st.integers(1, 5000), st.integers(0, 5), st.data())
@settings(max_examples=200)
def test_a_rounded_share_covers_its_count(n, decimals, data):
    count = data.draw(st.integers(0, n))
    low, high = Share.of(round(count / n, decimals), decimals).counts(n)
    assert 0 <= low <= count <= high <= n
    assert high - low <= math.ceil(n / 10**decimals)
