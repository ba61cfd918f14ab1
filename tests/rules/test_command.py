# SPDX-License-Identifier: Apache-2.0
"""`shoal rules` as people use it, in an empty folder: every form of baskets, and what is wrong with others."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shoal import AnonymousClusters
from shoal.cli import run

BASKETS = (
    [["bread", "pills"]] * 30
    + [["bread"]] * 20
    + [["eggs", "pills"]] * 8
    + [["eggs"]] * 4
    + [["rolls", "pills"]] * 7
    + [["rolls"]] * 5
)
ITEMS = ("bread", "eggs", "rolls", "pills")
ASKED = ["-k", "10", "--private", "pills", "--min-support", "5"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def long():
    pairs = [(i, item) for i, basket in enumerate(BASKETS) for item in basket]
    return pd.DataFrame(pairs, columns=["basket", "item"])


def wide(kind=int):
    return pd.DataFrame({item: [kind(item in basket) for basket in BASKETS] for item in ITEMS})


def in_columns(**more):
    filled = [(basket + [""] * 3)[:3] for basket in BASKETS]
    return pd.DataFrame(filled, columns=["item1", "item2", "item3"]).assign(**more)


FORMS = {
    "long": long,
    "zeros and ones": wide,
    "true and false": lambda: wide(bool),
    "yes and no": lambda: wide(lambda there: "yes" if there else "no"),
    "columns of items": in_columns,
    "columns of items and a number": lambda: in_columns(number=range(len(BASKETS))),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_csv(form, capsys):
    FORMS[form]().to_csv("baskets.csv", index=False)
    assert run(["rules", "baskets.csv", *ASKED, "-o", "rules.json"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("4 rules about 74 people; claimed: every group has at least 10 people\n")
    assert "pills ⇒ bread: 30 of 45 people" in told
    assert run(["audit", "rules.json", "baskets.csv"]) == 0
    assert run(["audit", "rules.json", "baskets.csv", "-k", "40"]) == 3


@pytest.mark.parametrize("form", ["long", "zeros and ones", "true and false"])
def test_every_form_of_parquet(form, capsys):
    FORMS[form]().to_parquet("baskets.parquet")
    assert run(["rules", "baskets.parquet", *ASKED]) == 0
    assert "eggs ⇒ pills: 8 of 12 people" in capsys.readouterr().out


def test_what_is_told_of_as_json(capsys):
    long().to_csv("baskets.csv", index=False)
    assert run(["rules", "baskets.csv", *ASKED, "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert set(body) == {"release", "report", "written"}
    report = body["report"]
    assert (report["mined"], report["kept"], report["most"], report["greedy"]) == (4, 4, 4, 4)
    assert report["worth"] == report["most_worth"] == report["greedy_worth"]


def test_rules_about_public_items_and_classes_of_numbers(capsys):
    ages = list(range(20, 60))
    frame = pd.DataFrame({"age": ages, "sex": ["f", "m"] * 20, "ill": ["yes" if age > 40 else "no" for age in ages]})
    frame.to_csv("people.csv", index=False)
    asked = ["rules", "people.csv", "--columns", "--private", "ill", "-k", "10", "--min-support", "4"]
    assert run([*asked, "--public-rules", "-o", "rules.json"]) == 0
    assert "about public items alone" in capsys.readouterr().out
    assert json.loads(Path("rules.json").read_text(encoding="utf-8"))["cuts"] == {"age": [29.5, 39.5, 49.5]}
    assert run(["audit", "rules.json", "people.csv"]) == 0
    assert run(["audit", "rules.json", "people.csv", "--public", "age,sex"]) == 0


BAD = {
    "empty file": (None, ASKED, "is empty"),
    "no rows": (lambda: long().iloc[:0], ASKED, "no rows"),
    "no column of items": (lambda: long()[["basket"]], ASKED, "no transactions"),
    "three columns": (lambda: long().assign(price=1.5), ASKED, "no transactions"),
    "a missing cell": (lambda: wide().astype(float).replace({"eggs": 1}, np.nan), ASKED, "missing cells"),
    "no such item": (long, [*ASKED[:2], "--private", "pilz"], "Closest: 'pills'"),
    "no such person": (long, [*ASKED, "--person", "who"], "No column 'who'"),
    "both roles": (long, [*ASKED, "--public", "bread,pills"], "either the public items"),
    "neither role": (long, ASKED[:2], "either the public items"),
    "no promise": (long, ASKED[2:], "No promise"),
    "more people than there are": (long, ["-k", "1000", *ASKED[2:]], "1,000 people, and there are 74"),
    "nothing private": (long, ["-k", "10", "--public", ",".join(ITEMS)], "check which items are private"),
    "half a person": (long, [*ASKED[:-1], "20.5"], "whole number"),
    "no number": (long, [*ASKED[:-1], "nan"], "whole number"),
    "no people": (long, [*ASKED[:-1], "0"], "whole number"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_wrong_is_said_in_one_line(what, capsys):
    make, asked, message = BAD[what]
    if make is None:
        Path("baskets.csv").touch()
    else:
        make().to_csv("baskets.csv", index=False)
    assert run(["rules", "baskets.csv", *asked, "-o", "rules.json"]) in (1, 2)
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert "pd." not in told


def test_a_line_without_an_item_is_a_transaction(capsys):
    lines = pd.concat([long(), pd.DataFrame({"basket": [1000, 1001], "item": [None, None]})])
    lines.to_csv("baskets.csv", index=False)
    assert run(["rules", "baskets.csv", *ASKED]) == 0
    assert "about 76 people" in capsys.readouterr().out


def test_what_cannot_be_repaired_is_said_in_one_line(capsys):
    long().to_csv("baskets.csv", index=False)
    assert run(["rules", "baskets.csv", *ASKED, "-o", "rules.json"]) == 0
    draw = np.random.default_rng(0)
    people = pd.DataFrame({"age": draw.integers(20, 60, 60), "result": draw.integers(0, 9, 60)})
    people.to_csv("people.csv", index=False)
    clusters = AnonymousClusters(privacy=10, public=["age"], domain={"result": [0, 9]}, n_clusters=2).fit(people)
    clusters.release_.save("clusters.json")
    capsys.readouterr()
    for file, rows in (("rules.json", "baskets.csv"), ("clusters.json", "people.csv")):
        assert run(["repair", file, rows, "-k", "20"]) == 2
        told = capsys.readouterr().err
        assert "takes a tree or a forest" in told
        assert f"shoal {file.partition('.')[0]} -k" in told
