# SPDX-License-Identifier: Apache-2.0
"""The page of any audit: its sections in order, both truths where there are two, and never a cell of the rows."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from shoal import AnonymousModel, AnonymousTreeClassifier, Confidence, KAnonymity, TreeAnonymizer, audit, load_sample
from shoal.audit import Audit
from shoal.audit.foreign.blackbox import BlackBox
from shoal.audit.telling import rank_columns
from shoal.data import to_table
from shoal.report import report_html

from .test_html import Balanced

CANARY = "Xq7Canary"
NUMBER = 987654.25  # a private number that is the largest of its column

SECTIONS = [
    "What the auditor asked for",
    "Who the attacker is",
    "The smallest groups",
    "Who is exposed",
    "How groups are distributed",
    "The tree",
    "What else was noticed",
    "Which columns tell",
    "What to try next",
    "Columns",
    "What the promise does not cover",
]


def rows(n: int = 400) -> Any:
    rng = np.random.default_rng(5)
    pay = rng.integers(1, 9, n) * 100.0
    pay[0] = NUMBER
    note = np.array(["a", "b", "c"], dtype=object)[rng.integers(0, 3, n)]
    note[1] = CANARY
    return to_table(
        {
            "visit": [f"v{i // 2}" for i in range(n)],
            "town": [f"t{i}" for i in rng.integers(0, 5, n)],
            "sex": [f"s{i}" for i in rng.integers(0, 2, n)],
            "pay": pay,
            "note": note.tolist(),
            "ill": [f"c{i}" for i in rng.integers(0, 2, n)],
        }
    )


def black_box(table: Any, target: str | None = "ill", domain: Any = None) -> BlackBox:
    features = table.select(["town", "sex", "pay", "note"])
    return BlackBox("a forest of 3 trees", features, None if target is None else table[target], domain)


def page_of(**options: Any) -> tuple[str, Audit]:
    table = rows()
    subject = black_box(table, domain=options.get("domain"))
    asked = {"public": ["town", "sex"], "privacy": 3, **options}
    found = audit(subject, table, "ill", **asked)
    return report_html(subject, found, columns=rank_columns(subject, table, "ill", **asked)), found


def headings(page: str) -> list[str]:
    return re.findall(r"<h2>(.*?)</h2>", page)


def test_sections_stand_in_the_order_a_signer_reads() -> None:
    page, found = page_of(privacy=60)
    assert not found.holds
    told = headings(page)
    assert told == [name for name in SECTIONS if name != "The tree"]
    table = load_sample().table.select(["age", "sex", "smoker", "diabetes"])
    release = AnonymousTreeClassifier(privacy=100, public=["age", "sex"], variant="id3").fit(table, "diabetes").release_
    told = headings(report_html(release, audit(release, table, privacy=400)))
    assert told == [name for name in SECTIONS if name in told]
    assert "The tree" in told
    assert "What is claimed" in headings(report_html(release, audit(release, table)))


@pytest.mark.parametrize("k", [3, 60])
@pytest.mark.parametrize("sensitive", [(), ("note",)])
def test_no_cell_of_a_private_column_is_on_the_page(k: int, sensitive: tuple[str, ...]) -> None:
    page, found = page_of(privacy=k, sensitive=sensitive)
    assert CANARY not in page
    assert "987" not in page.replace(found.sha256, "")
    assert "v17" not in page


def test_the_page_needs_nothing_from_outside() -> None:
    page, _ = page_of()
    parsed = Balanced(page)
    assert not {"script", "link", "iframe", "img", "object"} & set(parsed.tags)
    assert "http" not in page
    assert "url(" not in page
    assert not [value for name, value in parsed.attributes if name in ("src", "href")]


def test_a_verdict_that_holds_is_followed_by_whose_target_is_certain_and_what_would_stop_it() -> None:
    """Large groups of one class: both are said, in that order."""
    table = to_table({"town": ["x"] * 50 + ["y"] * 50, "ill": ["yes"] * 50 + ["yes", "no"] * 25})
    subject = BlackBox("a tree", table.select(["town"]), table["ill"], None)
    found = audit(subject, table, "ill", privacy=10)
    text = Balanced(report_html(subject, found)).text
    assert found.holds
    holds, certain, stops = (
        text.index("The promise holds"),
        text.index("Even so, 'ill' is certain for up to 50 of 100 people (50.0 %)"),
        text.index("such as Confidence(0.95), does"),
    )
    assert holds < certain < stops < text.index("Who the attacker is")
    assert "KAnonymity(10) & Confidence(0.95)" in text
    asked = audit(subject, table, "ill", privacy=KAnonymity(10) & Confidence(0.95))
    assert not asked.holds
    assert "Even so" not in report_html(subject, asked)


def test_how_sure_the_attacker_is_is_counted_in_whole_numbers() -> None:
    """A group of 1,000 with one exception is not certain, however it is rounded."""
    table = to_table({"town": ["x"] * 1000 + ["y"] * 10, "ill": ["yes"] * 999 + ["no"] + ["yes"] * 10})
    subject = BlackBox("a tree", table.select(["town"]), table["ill"], None)
    page = report_html(subject, audit(subject, table, "ill", privacy=10))
    assert "<title>all of the group: 10 people</title>" in page
    assert "<title>95 to 100 %: 1,000 people</title>" in page
    rows_of = re.findall(r"<td>(\d+ %[^<]*)</td><td class=n>([\d,]+)</td>", page)
    assert rows_of == [("100 %", "10"), ("95 % or more", "1,010"), ("90 % or more", "1,010"), ("80 % or more", "1,010")]


def test_what_is_assumed_is_said() -> None:
    text = Balanced(page_of(domain={"pay": [0, 5000000]})[0]).text
    assert "He knows, of everybody in the table: town and sex." in text
    assert "He does not know: pay, note and ill." in text
    assert "He also has a forest of 3 trees, with every number in its file" in text
    assert "A row is a person: 400 rows are counted as 400 people." in text
    assert "No domain is declared for note and ill" in text
    assert "numbers from 0 to 5,000,000" in text
    assert "Every combination of values of the private columns is taken to be possible." in text
    assert "shoal ledger add" in text


def test_several_rows_a_person_are_told_apart() -> None:
    text = Balanced(page_of(person="visit")[0]).text
    assert "Column 'visit' tells people apart: 400 rows of 200 people. Every count is of different people." in text
    assert "Rows are taken for people" not in text
    assert "tells people apart" in text[text.index("Columns Column Role") :]


def test_a_bound_that_fails_is_not_proven_and_says_what_to_do() -> None:
    page, found = page_of(privacy=60)
    text = Balanced(page).text
    assert text.index("Not proven: the promise may not hold") < 300
    assert "Breach: the promise does not hold" not in text
    assert "grouped more finely" in text
    assert "AnonymousModel" in text
    assert f"{found.people_at_risk:,} people" in text


def test_groups_told_in_the_same_words_are_told_once() -> None:
    page, found = page_of(privacy=60)
    alike = [finding for finding in found.findings if finding.code == "group-fails"]
    assert len(set(alike)) < len(alike)
    assert page.count('<span class="tag bad">breach</span>') == len(set(alike))
    assert "groups like this." in page


def test_no_target_and_a_number_as_target() -> None:
    table = rows()
    alone = black_box(table, None)
    text = Balanced(report_html(None, audit(alone, table, public=["town"], privacy=5))).text
    assert "There is no target and no sensitive column" in text
    assert "By how sure" not in text
    text = Balanced(report_html(None, audit(alone, table, public=["town"], privacy=5, sensitive=["note"]))).text
    assert "Note known for certain nobody" in text
    assert "By how sure the attacker is of note" in text
    number = BlackBox("a regression", table.select(["town", "sex"]), table["pay"], None)
    text = Balanced(report_html(None, audit(number, table, "pay", privacy=5))).text
    assert "The target 'pay' is a number" in text
    assert "987" not in text.replace(number.sha256, "")


def test_released_tables_and_models_have_their_page() -> None:
    people = load_sample().table.select(["age", "sex", "education", "smoker", "diabetes"])
    table = TreeAnonymizer(privacy=100, public=["age", "sex"]).fit(people, "diabetes").release_
    text = Balanced(report_html(table, audit(table, people))).text
    assert "Audit of a table" in text
    assert "with every row of it" in text
    from sklearn.naive_bayes import GaussianNB

    features = people.select(["age", "diabetes"])
    model = AnonymousModel(GaussianNB(), privacy=100).fit(features, "diabetes").release_
    page = report_html(model, audit(model, features))
    assert "Audit of a model over groups of people" in Balanced(page).text
    assert "The tree" in headings(page)


def test_nodes_are_linked_only_where_a_tree_is_drawn() -> None:
    people = load_sample().table.select(["age", "sex", "diabetes"])
    release = AnonymousTreeClassifier(privacy=100, variant="id3").fit(people, "diabetes").release_
    found = audit(release, people, privacy=2000)
    assert 'href="#node-' not in report_html(None, found)
    page = report_html(None, found, tree=release)
    named = {number for finding in found.findings for number in finding.nodes}
    assert named
    assert all(f'href="#node-{number}"' in page and f'id="node-{number}"' in page for number in named)
