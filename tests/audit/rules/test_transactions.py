# SPDX-License-Identifier: Apache-2.0
"""Transactions in the forms people keep them in, and audits of them."""

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shoal import Confidence, audit, to_table
from shoal.audit.foreign import read_model
from shoal.audit.rules import Rules
from shoal.audit.rules.transactions import read_transactions
from shoal.errors import DataError, RequirementError, RoleError

BASKETS = [["milk", "bread"], ["milk"], [], ["rye", "milk", "rye"]]
CODES = {"bread": [1, 0, 0, 0], "milk": [1, 1, 0, 1], "rye": [0, 0, 0, 1]}
LONG = {"basket": [7, 7, 3, 9, 12, 12, 12], "item": ["milk", "bread", "milk", None, "rye", "milk", "rye"]}


def codes(table) -> dict[str, list[int]]:
    return {name: table[name].codes.tolist() for name in sorted(table)}


def rule(left=("milk",), right=("rye",), support=0.25, confidence=1 / 3) -> Rules:
    return Rules.from_frame(
        {"antecedents": [left], "consequents": [right], "support": [support], "confidence": [confidence]}
    )


@pytest.mark.parametrize(
    "data",
    [
        BASKETS,
        tuple(map(tuple, BASKETS)),
        list(map(frozenset, BASKETS)),
        pd.Series(BASKETS),
        pl.Series(BASKETS),
        CODES,
        pd.DataFrame(CODES),
        pd.DataFrame(CODES).astype(bool),
        pl.DataFrame(CODES).cast(pl.Boolean),
        pa.table(CODES),
        to_table(CODES),
    ],
)
def test_lists_and_columns(data):
    table = read_transactions(data)
    assert codes(table) == CODES
    assert table.n_rows == 4
    assert read_transactions(table) is table
    assert set(table) == set(CODES)
    assert table["milk"].names == ("False", "True")
    assert table.select(["milk", "rye"]).names == ["milk", "rye"]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_long_frames_also_with_empty_transactions(make):
    table = read_transactions(make(LONG))
    assert codes(table.take(np.array([1, 0, 2, 3]))) == CODES  # by number of the basket: 3, 7, 9, 12


def test_items_that_are_numbers():
    assert set(read_transactions({"user": [10001, 10001, 10002], "area": [1000, 1001, 1000]})) == {"1000", "1001"}
    assert set(read_transactions([[1000, 1001], [1000]])) == {"1000", "1001"}


def test_nobody_has_anything():
    table = read_transactions([[], []])
    assert (len(table), table.n_rows) == (0, 2)
    verdict = audit(rule(support=0.0, confidence=0.0), table, public=["milk"], privacy=2)
    assert {finding.code for finding in verdict.findings} == {"items-unknown", "counts-differ"}
    assert verdict.smallest_group is None


def test_a_person_may_have_several_transactions():
    long = pd.DataFrame(
        {
            "who": ["x", "x", "x", "y", "z", "z"],
            "basket": [1, 1, 2, 3, 4, 5],
            "item": ["milk", "rye", "milk", "milk", "milk", "bread"],
        }
    )
    rules = rule(support=0.2, confidence=0.25)
    verdict = audit(rules, long, public=["milk"], privacy=3, person="who")
    assert verdict.holds
    assert verdict.n_people == 3
    assert verdict.smallest_group == 3  # four transactions with milk, of three people
    assert any("of 5 transactions" in finding.message for finding in verdict.findings)
    assert not audit(rules, long, public=["milk"], privacy=4, person="who").holds
    wide = pd.DataFrame({"who": ["x", "x", "y", "z", "z"], "milk": [1, 1, 1, 1, 0], "rye": [1, 0, 0, 0, 0]})
    assert audit(rules, wide, public=["milk"], privacy=3, person="who").smallest_group == 3
    # each person one transaction: the person names it
    pairs = long[["who", "item"]]
    verdict = audit(rule(support=1 / 3, confidence=1 / 3), pairs, public=["milk"], privacy=3, person="who")
    assert verdict.holds
    assert verdict.n_people == 3


def test_a_transaction_of_two_people_is_refused():
    long = {"who": ["x", "y"], "basket": [1, 1], "item": ["milk", "rye"]}
    with pytest.raises(DataError, match="several people"):
        audit(rule(), long, public=["milk"], privacy=2, person="who")


@pytest.mark.parametrize(
    "data",
    [
        ["milk", "bread"],
        [{"milk": 1}],
        [1, 2],
        {"milk": [0, 1], "age": [30, 40], "rye": [0, 1]},
        {"milk": [0, None], "rye": [0, 1], "bread": [1, 1]},
        {"a": [2, 3], "b": [4, 5], "c": [6, 7]},
    ],
)
def test_what_is_no_transactions_is_refused(data):
    with pytest.raises(DataError) as error:
        read_transactions(data)
    assert error.value.code == "not-transactions"


def test_likely_mistakes():
    with pytest.raises(DataError) as error:
        audit(rule(), BASKETS, [1, 0, 1, 0], public=["milk"], privacy=2)
    assert error.value.code == "no-target"
    with pytest.raises(RoleError):
        audit(rule(), BASKETS, public="milk", privacy=2)
    with pytest.raises(RoleError, match=r"'mlik'.*Closest: 'milk'"):
        audit(rule(), BASKETS, public=["mlik"], privacy=2)
    with pytest.raises(RequirementError):
        audit(rule(), BASKETS, public=["milk"])
    with pytest.raises(RequirementError):
        audit(rule(), BASKETS, public=["milk"], privacy=Confidence(0.9))
    with pytest.raises(DataError, match=r"'ry'.*Closest: 'rye'"):
        audit(rule(), BASKETS, public=["milk"], privacy=Confidence(0.9), sensitive=["ry"])
    with pytest.raises(DataError, match="no item 'ry'"):
        audit(rule(), BASKETS, public=["milk"], privacy=2, domain={"ry": [True]})
    for values in ("yes", [], ["yes", "no"], [2]):
        with pytest.raises(DataError) as error:
            audit(rule(), BASKETS, public=["milk"], privacy=2, domain={"rye": values})
        assert error.value.code == "domain"
    with pytest.raises(DataError, match="1 transaction") as error:
        audit(rule(), BASKETS, public=["milk"], privacy=2, domain={"rye": [False]})
    assert error.value.code == "outside-domain"
    with pytest.raises(DataError) as error:
        read_transactions({"milk": ["milk", "a"], "item": ["milk", "rye"]}, also=["milk"])
    assert error.value.code == "column-twice"


def test_by_default_all_items_are_public_and_nothing_is_told():
    verdict = audit(rule(), BASKETS, privacy=100)
    assert verdict.holds
    assert verdict.smallest_group is None
    assert "public-rules" in {finding.code for finding in verdict.findings}


def test_numbers_of_other_transactions_are_a_breach():
    verdict = audit(rule(support=0.5), BASKETS, public=["milk"], privacy=1)
    assert not verdict.holds
    assert verdict.findings[0].code == "counts-differ"
    assert "rule 1 (milk ⇒ rye)" in verdict.findings[0].message
    assert "rules-tell" not in {finding.code for finding in verdict.findings}
    rounded = Rules.from_frame(
        {"antecedents": [["milk"]], "consequents": [["rye"]], "support": [0.25], "confidence": [0.33]}, decimals=2
    )
    assert audit(rounded, BASKETS, public=["milk"], privacy=1).holds


def test_a_rule_that_never_fails_is_warned_of():
    certain = rule(left=("rye",), right=("milk",), support=0.25, confidence=1.0)
    (finding,) = [f for f in audit(certain, BASKETS, public=["rye"], privacy=1).findings if f.code == "rule-certain"]
    assert (finding.severity, finding.people) == ("warning", 1)
    # not where the consequent is known, nor where nobody can be pointed at
    for public in (["rye", "milk"], ["milk"]):
        codes = {f.code for f in audit(certain, BASKETS, public=public, privacy=1).findings}
        assert "rule-certain" not in codes


def test_public_rules_can_be_left_out():
    rules = Rules.from_frame(
        {"antecedents": [["milk"], ["milk"]], "consequents": [["bread"], ["rye"]], "confidence": [1 / 3, 1 / 3]}
    )
    public = ["milk", "bread"]
    whole = audit(rules, BASKETS, public=public, privacy=3)
    rest = audit(rules.with_private(public), BASKETS, public=public, privacy=3)
    assert (whole.holds, rest.holds) == (False, True)
    with pytest.raises(DataError):
        rules.with_private(["milk", "bread", "rye"])


def test_many_groups_are_not_counted_in_bins():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (500, 9)), columns=list("abcdefghx"))
    rules = Rules.from_frame(
        {"antecedents": list("abcdefgh"), "consequents": ["x"] * 8, "confidence": [0.5] * 8}, decimals=0
    )
    subject, table = read_model(rules, frame)
    spans = subject.spans(table, list("abcdefgh"))
    assert len(spans) > 64
    assert set(spans.n_bins) == {1, 2}
    words, nodes = subject.group_words(table, list("abcdefgh"), 0)
    assert words.startswith("they ")
    assert "alone sets them apart" in words
    assert nodes == ()


@pytest.fixture(scope="module")
def groceries(shoal_data) -> pd.DataFrame:
    return pd.read_csv(shoal_data / "groceries_long.csv")


def mined(long: pd.DataFrame, support: float) -> pd.DataFrame:
    from mlxtend.frequent_patterns import association_rules, fpgrowth

    baskets = pd.crosstab(long.iloc[:, 0], long.iloc[:, 1]).astype(bool)
    return association_rules(fpgrowth(baskets, min_support=support, use_colnames=True), min_threshold=0.3)


def test_groceries(groceries):
    rules = Rules.from_frame(mined(groceries, 0.01))
    assert len(rules) > 100
    private = {"whole milk", "yogurt"}
    public = [item for item in rules.items if item not in private]
    verdict = audit(rules, groceries, public=public, privacy=10)
    assert verdict.n_people == 9835
    assert "counts-differ" not in {finding.code for finding in verdict.findings}
    assert not verdict.holds
    # groups by plain enumeration: what of the rules' public parts a basket has
    parts = sorted({side - private for rule in rules for side in (rule.antecedent, rule.both)}, key=sorted)
    baskets = groceries.groupby("transaction_id")["item"].agg(set)
    keys = pd.Series([tuple(part <= basket for part in parts) for basket in baskets])
    assert sorted(keys.value_counts().tolist()) == verdict.group_sizes.tolist()


def test_msweb_has_numbers_for_items(shoal_data):
    with gzip.open(shoal_data / "msweb_train_long.csv.gz") as file:
        long = pd.read_csv(file)
    rules = Rules.from_frame(mined(long, 0.02))
    verdict = audit(rules, long, public=list(rules.items[1:]), privacy=5, person="user_id")
    assert verdict.n_people == long["user_id"].nunique()
    assert {"counts-differ", "items-unknown"}.isdisjoint(finding.code for finding in verdict.findings)
