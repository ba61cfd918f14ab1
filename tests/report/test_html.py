# SPDX-License-Identifier: Apache-2.0
"""The page itself: what it says first, that it needs nothing, that nothing in it is markup by accident."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from importlib import metadata

import numpy as np
import pytest

from shoal import AnonymousTreeClassifier, Confidence, KAnonymity, ReleaseError, audit, load_sample
from shoal.report import report_html, write_report

VOID = {"meta", "br", "img", "link", "input", "hr"}


class Balanced(HTMLParser):
    """Reads a page and remembers its text, its tags and whether they nest."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], [], [], []
        self.deepest = 0
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
            self.deepest = max(self.deepest, len(self.open))

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def people():
    return load_sample().table.select(["age", "sex", "education", "smoker", "diabetes"])


@pytest.fixture(scope="module")
def release(people):
    tree = AnonymousTreeClassifier(
        variant="id3", privacy=100, public=["age", "sex", "education"], hierarchies={"age": {"intervals": [10, 20, 40]}}
    )
    return tree.fit(people, "diabetes").release_


def test_the_verdict_comes_first_and_in_words(release, people):
    good = Balanced(report_html(release, audit(release, people))).text
    bad = Balanced(report_html(release, audit(release, people, privacy=2000))).text
    assert "The promise holds" in good[:300]
    assert "Breach: the promise does not hold" in bad[:300]
    assert "Do not publish" in bad


def test_it_says_who_the_attacker_is_and_what_he_learns(release, people):
    page = Balanced(report_html(release, audit(release, people))).text
    assert "He knows, of everybody in the table: age, sex and education." in page
    assert "He does not know: smoker and diabetes." in page
    assert "upper bounds" in page
    only_public = people.drop(["smoker"])
    plain = AnonymousTreeClassifier(privacy=500, variant="id3").fit(only_public, "diabetes").release_
    assert "Both numbers are exact" in report_html(plain, audit(plain, only_public))


def test_other_roles_and_other_claims_than_the_release_states_are_told(release, people):
    known = ["age", "sex", "education", "smoker"]
    page = report_html(release, audit(release, people, public=known, privacy=KAnonymity(2) & Confidence(0.9)))
    assert "The auditor took smoker as public" in page
    assert "instead of what the release itself claims (k-anonymity with k = 100)" in page


def test_a_public_target_has_nothing_to_learn(people):
    tree = AnonymousTreeClassifier(privacy=100, variant="id3", public=["age", "sex", "education"], target_role="public")
    release = tree.fit(people, "diabetes").release_
    assert "nothing to learn about it" in report_html(release, audit(release, people))


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("shares", "with the shares of the classes in every leaf"),
        ("majority", "with the class that every leaf predicts"),
    ],
)
def test_a_release_that_states_less_is_reported_as_such(release, people, statement, words):
    less = replace(release, weights=(1.0, 2.0)).stating(statement)
    page = report_html(less, audit(less, people))
    said = Balanced(page).text
    assert words in said
    assert "the release states no counts, and they are computed for an attacker who even knows" in said
    assert "weights no 1, yes 2" in said
    tree = page[page.index("<h2>The tree</h2>") : page.index("<h2>What the promise does not cover</h2>")]
    people_of = {f"{count:,}" for count in release.counts.sum(axis=1) if count >= 100}
    assert not any(f">{count}<" in tree or f" {count}<" in tree for count in people_of)
    assert ('class="bar"' in tree) == (statement == "shares")
    leaf = release.leaves[0]
    lie = replace(less.nodes[leaf], answer=1 - less.nodes[leaf].answer)
    wrong = replace(less, nodes=(*less.nodes[:leaf], lie, *less.nodes[leaf + 1 :]))
    assert "Check that these are the very rows" in report_html(wrong, audit(wrong, people))


def test_guilty_nodes_are_marked_and_linked(release, people):
    found = audit(release, people, privacy=2000)
    named = [number for finding in found.findings for number in finding.nodes]
    page = report_html(release, found)
    assert named
    assert page.count("named in a breach") == len(set(named))
    for number in named:
        assert f'href="#node-{number}"' in page
        assert f'id="node-{number}"' in page
    assert "What to try next" in page


def test_rows_that_are_not_those_of_the_release(release, people):
    found = audit(release, people.take(np.arange(4000)))
    assert "Check that these are the very rows" in report_html(release, found)


def test_the_page_needs_nothing_from_outside_and_runs_nothing(release, people):
    page = report_html(release, audit(release, people))
    parsed = Balanced(page)
    assert not {"script", "link", "iframe", "img", "object"} & set(parsed.tags)
    assert not any(name.startswith("on") or name in ("src", "srcset") for name, _ in parsed.attributes)
    assert all(value.startswith("#") for name, value in parsed.attributes if name == "href")
    assert "http" not in page
    assert "@import" not in page
    assert "url(" not in page


def test_names_and_values_are_escaped():
    rng = np.random.default_rng(3)
    bad = "<script>alert(1)</script>&\"'"
    rows = {
        f"col {bad}": [f"v{i} {bad}" for i in rng.integers(0, 3, 400)],
        "other": rng.integers(0, 50, 400),
        f"target {bad}": [f"c{i} {bad}" for i in rng.integers(0, 2, 400)],
    }
    release = AnonymousTreeClassifier(privacy=5, variant="id3").fit(rows, f"target {bad}").release_
    for k in (5, 300):
        page = report_html(release, audit(release, rows, privacy=k))
        assert "<script" not in page
        assert "script" not in Balanced(page).tags
        assert bad in Balanced(page).text


def test_same_input_same_bytes_and_the_fingerprint_is_there(release, people):
    first, second = (report_html(release, audit(release, people)) for _ in range(2))
    assert first == second
    assert release.sha256 in first
    assert f"Shoal {metadata.version('shoal')}" in first


def test_a_large_deep_tree_stays_readable():
    rng = np.random.default_rng(0)
    rows = {
        "x": rng.normal(size=6000).round(4),
        "z": rng.integers(0, 40, 6000),
        "y": rng.integers(0, 9, 6000),
    }
    release = AnonymousTreeClassifier(privacy=1, variant="id3").fit(rows, "y").release_
    assert len(release.nodes) > 2000
    page = report_html(release, audit(release, rows))
    parsed = Balanced(page)
    assert "nodes are not shown here" in parsed.text
    assert parsed.deepest < 200
    assert page.count('id="node-') <= 2000


def test_an_audit_of_another_release_is_refused(release, people):
    other = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes").release_
    with pytest.raises(ReleaseError) as refusal:
        report_html(release, audit(other, people))
    assert refusal.value.code == "audit-of-other"


def test_it_is_written_whole_or_not_at_all(release, people, tmp_path):
    found = audit(release, people)
    file = tmp_path / "audit.html"
    write_report(file, release, found)
    assert file.read_text(encoding="utf-8") == report_html(release, found)
    with pytest.raises(ReleaseError):
        write_report(tmp_path / "no folder" / "audit.html", release, found)
    assert [path.name for path in tmp_path.iterdir()] == ["audit.html"]
